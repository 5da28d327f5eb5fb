package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tsdb/cmd/tsdb/internal/console"
	"tsdb/cmd/tsdb/internal/server"
	"tsdb/colstore"
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

type inspectOptions struct {
	chunks bool
	row    []string
}

func inspectCommand() *cobra.Command {
	var o inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect DIR [TABLE]",
		Short: "Look inside a data directory or a backup",
		Long: `Look inside a data directory that no server has open, or a backup: its tables;
of one table the segments and columns with their bytes per row and encodings;
with --chunks every column of every segment; with --row all that is stored of
the rows with a key, live or deleted. Nothing is changed.`,
		Example: `  tsdb inspect ./tsdb-data
  tsdb inspect ./tsdb-data readings
  tsdb inspect ./tsdb-data readings --row KSEA --row '2024-01-01 00:00:00+00'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("%s takes a directory and at most one table; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return runInspect(args, o, os.Stdout, os.Stderr) },
	}
	cmd.Flags().BoolVar(&o.chunks, "chunks", false, "list every column of every segment (default false)")
	cmd.Flags().StringArrayVar(&o.row, "row", nil, "value of a key column, once per column from the first on; the key may end early (default none)")
	return cmd
}

// inspector is an open directory with the names in it.
type inspector struct {
	*colstore.Offline
	names  *catalog.Snapshot
	out    io.Writer
	report func(colstore.Problem)
}

func runInspect(args []string, o inspectOptions, out, errs io.Writer) (err error) {
	problems := 0
	report := func(p colstore.Problem) {
		problems++
		fmt.Fprintln(errs, "problem:", p.Error())
	}
	d, err := colstore.OpenOffline(args[0], colstore.Options{Memory: offlineMemory}, report)
	if err != nil {
		return server.OpenError(args[0], err)
	}
	defer func() {
		if cerr := d.Close(); err == nil {
			err = cerr
		}
		if err == nil && problems > 0 {
			err = console.ErrFailed
		}
	}()
	names, _, err := catalog.Load(d.Meta)
	if err != nil {
		return fmt.Errorf("reading the catalog: %w", err)
	}
	in := &inspector{d, names, out, report}
	if len(args) == 1 {
		if len(o.row) > 0 || o.chunks {
			return fmt.Errorf("--row and --chunks need a table")
		}
		return in.tables()
	}
	t, err := in.find(args[1])
	if err != nil {
		return err
	}
	switch {
	case len(o.row) > 0:
		return in.row(t, o.row)
	case o.chunks:
		return in.chunks(t)
	}
	return in.table(t)
}

// find returns the table with a name, which may begin with its schema's.
func (in *inspector) find(name string) (*catalog.Table, error) {
	for _, t := range in.all() {
		if name == t.Name || name == in.schema(t)+"."+t.Name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("there is no table %q; without a name all tables are listed", name)
}

func (in *inspector) all() []*catalog.Table {
	if in.names == nil {
		return nil
	}
	return in.names.Tables()
}

func (in *inspector) schema(t *catalog.Table) string {
	if s, ok := in.names.SchemaByOID(t.Schema); ok {
		return s.Name
	}
	return "?"
}

func (in *inspector) print(cols []console.Column, rows [][]string) error {
	_, err := in.out.Write(console.AppendTable(nil, cols, rows))
	return err
}

func numbers(names ...string) []console.Column {
	cols := make([]console.Column, len(names))
	for i, n := range names {
		cols[i] = console.Column{Name: strings.TrimPrefix(n, "-"), Right: !strings.HasPrefix(n, "-")}
	}
	return cols
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

func perRow(bytes, rows int64) string {
	if rows == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(bytes)/float64(rows), 'f', 2, 64)
}

func (in *inspector) tables() error {
	var rows [][]string
	for _, t := range in.all() {
		var n, dead, bytes int64
		segs := in.Segments(t.Storage.ID)
		rest := in.Unflushed(t.Storage.ID, in.report)
		for _, g := range append(slices.Clone(segs), rest) {
			n, dead, bytes = n+g.Rows, dead+g.Deleted, bytes+g.Bytes
		}
		rows = append(rows, []string{in.schema(t), t.Name, t.Storage.Layout.String(), count(n - dead), count(dead), count(int64(len(segs))), count(rest.Rows),
			count(bytes), perRow(bytes, n)})
	}
	return in.print(numbers("-schema", "-table", "-layout", "rows", "deleted", "segments", "rows outside", "bytes", "bytes/row"), rows)
}

func moment(t int64) string {
	if t == math.MaxInt64 {
		return "infinity"
	}
	if t == math.MinInt64 {
		return "-infinity"
	}
	return time.UnixMicro(t).UTC().Format("2006-01-02 15:04:05.999999Z")
}

func (in *inspector) table(t *catalog.Table) error {
	id := t.Storage.ID
	var rows [][]string
	for _, g := range append(in.Segments(id), in.Unflushed(id, in.report)) {
		name, bucket, from, to := count(int64(g.ID)), "", "", ""
		if g.ID == 0 {
			if name = "outside"; g.Rows == 0 {
				continue
			}
		}
		if g.BucketWidth > 0 {
			bucket = moment(g.BucketStart) + " + " + (time.Duration(g.BucketWidth) * time.Microsecond).String()
		}
		if g.MinTime <= g.MaxTime && g.ID != 0 {
			from, to = moment(g.MinTime), moment(g.MaxTime)
		}
		rows = append(rows, []string{name, bucket, from, to, count(g.Rows), count(g.Deleted), count(g.Blocks), count(g.Bytes), perRow(g.Bytes, g.Rows)})
	}
	err := in.print(numbers("segment", "-bucket", "-from", "-to", "rows", "deleted", "blocks", "bytes", "bytes/row"), rows)
	if err != nil {
		return err
	}
	return in.columns(t)
}

// columns sums the chunks up by column.
func (in *inspector) columns(t *catalog.Table) error {
	type sum struct {
		rows, nulls, bytes int64
		encodings          map[string]int64
	}
	var order []string
	sums := map[string]*sum{}
	for _, c := range in.Chunks(t.Storage.ID, in.report) {
		name := columnName(t, uint32(c.Column))
		s := sums[name]
		if s == nil {
			s = &sum{encodings: map[string]int64{}}
			sums[name], order = s, append(order, name)
		}
		s.rows, s.nulls, s.bytes = s.rows+c.Rows, s.nulls+c.Nulls, s.bytes+c.Bytes
		for _, e := range c.Encodings {
			s.encodings[e.Name] += e.Blocks
		}
	}
	var rows [][]string
	for _, name := range order {
		s := sums[name]
		rows = append(rows, []string{name, count(s.rows), count(s.nulls), count(s.bytes), perRow(s.bytes, s.rows), encodings(s.encodings)})
	}
	return in.print(numbers("-column", "rows", "nulls", "bytes", "bytes/row", "-encodings of blocks"), rows)
}

// encodings prints counts, most frequent first.
func encodings(m map[string]int64) string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if m[a] != m[b] {
			return int(m[b] - m[a])
		}
		return strings.Compare(a, b)
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, m[n])
	}
	return strings.Join(names, ", ")
}

// columnName names a stored column; dropped ones and those that no table has
// have no name of their own.
func columnName(t *catalog.Table, id uint32) string {
	for _, c := range t.Columns {
		if uint32(c.ID) == id {
			return c.Name
		}
	}
	switch id {
	case math.MaxUint32:
		return "(sequence)"
	case math.MaxUint32 - 1:
		return "(filter)"
	}
	return fmt.Sprintf("(dropped %d)", id)
}

func (in *inspector) chunks(t *catalog.Table) error {
	var rows [][]string
	for _, c := range in.Chunks(t.Storage.ID, in.report) {
		e := map[string]int64{}
		for _, x := range c.Encodings {
			e[x.Name] += x.Blocks
		}
		rows = append(rows, []string{count(int64(c.Segment)), columnName(t, uint32(c.Column)), count(c.Parts), count(c.Rows), count(c.Nulls),
			count(c.Bytes), perRow(c.Bytes, c.Rows), encodings(e)})
	}
	return in.print(numbers("segment", "-column", "parts", "rows", "nulls", "bytes", "bytes/row", "-encodings of blocks"), rows)
}

// row prints what is stored of the rows whose key begins with the values.
func (in *inspector) row(t *catalog.Table, values []string) error {
	key := t.Storage.Key
	if len(values) > len(key) {
		return fmt.Errorf("the key of table %s has %d columns, not %d", t.Name, len(key), len(values))
	}
	tctx := &types.Context{ExtraFloatDigits: 1}
	var vals []*vector.Vector
	for i, text := range values {
		c := t.Columns[key[i].Column]
		v := vector.New(c.Type.Kind(), 1)
		if err := types.ParseText(v, c.Type, []byte(text), tctx); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		vals = append(vals, v)
	}
	cols := numbers("-where", "segment", "position", "sequence", "-state")
	for _, c := range t.Columns {
		cols = append(cols, console.Column{Name: c.Name})
	}
	var rows [][]string
	err := in.History(t.Storage.ID, vals, func(r colstore.RowVersion) error {
		state := "live"
		if r.Deleted {
			state = "deleted"
		}
		row := []string{r.Where, "", count(r.Position), count(int64(r.Sequence)), state}
		if r.Segment != 0 {
			row[1] = count(int64(r.Segment))
		}
		for i, c := range t.Columns {
			text := ""
			if v := r.Values.Cols[i]; !v.IsNull(0) {
				text = string(types.AppendText(nil, c.Type, v, 0, tctx))
			}
			row = append(row, text)
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return err
	}
	return in.print(cols, rows)
}
