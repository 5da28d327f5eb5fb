package exec_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/exec"
	"tsdb/planner"
	"tsdb/planner/physical"
	"tsdb/rowkey"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// database is a catalog with tables in memory.
type database struct {
	cat     *catalog.Snapshot
	store   *storage
	ctx     *functions.Ctx
	nextID  types.OID
	big     bool // statistics claim many rows, so that plans are parallel
	noPrune bool
}

func newDatabase() *database {
	return &database{cat: catalog.Bootstrap(), store: &storage{tables: map[table.ID]*stored{}, batch: 4096},
		ctx: &functions.Ctx{Clock: func() int64 { return 0 }}, nextID: catalog.FirstUserOID}
}

var typeNames = map[string]types.OID{"int": types.Int4, "bigint": types.Int8, "float": types.Float8, "text": types.Text,
	"numeric": types.Numeric, "ts": types.Timestamp, "tstz": types.TimestampTZ, "date": types.Date, "bool": types.Bool,
	"interval": types.Interval, "small": types.Int2}

var codecs = map[vector.Kind]rowkey.Codec{vector.Bool: rowkey.CodecBool, vector.Int16: rowkey.CodecInt, vector.Int32: rowkey.CodecInt,
	vector.Int64: rowkey.CodecInt, vector.Float64: rowkey.CodecFloat, vector.Bytes: rowkey.CodecBytes}

// table adds a table. Columns are "name type", with ! for NOT NULL; key names
// the columns of the row key; rows are lines of values separated by |, \N for NULL.
func (d *database) table(t testing.TB, name, columns, key, rows string) {
	t.Helper()
	d.nextID += 10
	tab := &catalog.Table{OID: d.nextID, Schema: catalog.PublicOID, Name: name,
		Storage: table.Schema{ID: table.ID(d.nextID), Layout: table.Columnar, Time: -1}}
	batch := &vector.Batch{}
	for i, c := range strings.Split(columns, ",") {
		f := strings.Fields(c)
		oid, ok := typeNames[strings.TrimSuffix(f[1], "!")]
		if !ok {
			t.Fatalf("unknown type %q", f[1])
		}
		typ := types.T(oid)
		tab.Columns = append(tab.Columns, catalog.Column{ID: table.ColumnID(i + 1), AttNum: int16(i + 1), Name: f[0],
			Type: typ, NotNull: strings.HasSuffix(f[1], "!")})
		codec := codecs[typ.Kind()]
		switch oid {
		case types.Numeric:
			codec = rowkey.CodecNumeric
		case types.Interval:
			codec = rowkey.CodecInterval
		case types.Timestamp, types.TimestampTZ, types.Date:
			if tab.Storage.Time < 0 {
				tab.Storage.Time = i
				if oid == types.Date {
					tab.Storage.TimeUnit = table.Days
				}
			}
		}
		tab.Storage.Columns = append(tab.Storage.Columns, table.Column{ID: table.ColumnID(i + 1), Kind: typ.Kind(), Codec: codec})
		batch.Cols = append(batch.Cols, vector.New(typ.Kind(), 0))
	}
	for _, k := range strings.Fields(key) {
		i := tab.ColumnIndex(k)
		tab.Storage.Key = append(tab.Storage.Key, rowkey.Part{Column: i, Codec: tab.Storage.Columns[i].Codec})
	}
	for _, line := range strings.Split(strings.TrimSpace(rows), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		for i, f := range strings.Split(line, "|") {
			if f == `\N` {
				batch.Cols[i].AppendNull()
				continue
			}
			if err := types.ParseText(batch.Cols[i], tab.Columns[i].Type, []byte(f), &d.ctx.Context); err != nil {
				t.Fatalf("%q: %v", f, err)
			}
		}
		batch.N++
	}
	d.cat = d.cat.WithTable(tab)
	d.store.tables[tab.Storage.ID] = &stored{cat: tab, rows: batch}
}

func (d *database) env() *planner.Env {
	return &planner.Env{Catalog: d.cat, SearchPath: []types.OID{catalog.PgCatalogOID, catalog.PublicOID}, Ctx: d.ctx,
		Virtual: func(string, string) catalog.VirtualRelation { return nil },
		Pruning: !d.noPrune,
		Stats: func(id table.ID) table.Stats {
			n := int64(d.store.tables[id].rows.N)
			if d.big {
				n += 1_000_000
			}
			return table.Stats{Rows: n, MinTime: 1, MaxTime: 0}
		}}
}

func (d *database) plan(t testing.TB, query string) physical.Node {
	t.Helper()
	n, err := d.tryPlan(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (d *database) tryPlan(query string) (physical.Node, error) {
	sts, err := sql.Parse(query)
	if err != nil {
		return nil, err
	}
	env := d.env()
	b, err := planner.Bind(env, sts[0], nil)
	if err != nil {
		return nil, err
	}
	return planner.Plan(env, b, b.Root, nil)
}

func (d *database) execEnv(workers int) *exec.Env {
	return &exec.Env{Ctx: d.ctx, Storage: d.store, Budget: exec.NewBudget(1 << 30), Workers: workers}
}

// run executes a plan and returns its rows as lines.
func (d *database) run(env *exec.Env, n physical.Node) ([]string, error) {
	op, err := exec.Build(env, n)
	if err != nil {
		return nil, err
	}
	return d.drain(op, n)
}

func (d *database) drain(op exec.Operator, n physical.Node) (lines []string, err error) {
	defer func() {
		if e := op.Close(); err == nil {
			err = e
		}
	}()
	if err := op.Open(context.Background()); err != nil {
		return nil, err
	}
	for {
		b, err := op.Next()
		if b == nil || err != nil {
			return lines, err
		}
		if b.Rows() == 0 {
			return nil, fmt.Errorf("empty batch")
		}
		lines = append(lines, d.text(n, b.Flat(nil))...)
	}
}

func (d *database) text(n physical.Node, b *vector.Batch) []string {
	cols := n.Columns()
	out := make([]string, b.N)
	for i := range b.N {
		var line []byte
		for c, col := range b.Cols {
			if c > 0 {
				line = append(line, '|')
			}
			if col.IsNull(i) {
				line = append(line, `\N`...)
				continue
			}
			line = types.AppendText(line, cols[c].Type, col.Flat(&vector.Vector{}), i&col.Flat(&vector.Vector{}).Mask(), &d.ctx.Context)
		}
		out[i] = string(line)
	}
	return out
}

// config is one way to run a query that must not change its answer.
type config struct {
	name    string
	batch   int
	sel     bool
	dict    bool
	strict  bool
	orders  bool
	big     bool
	noPrune bool
	workers int
}

var configs = []config{
	{name: "plain", batch: 4096, workers: 1},
	{name: "tiny batches", batch: 1, workers: 1, strict: true},
	{name: "small batches, dictionaries", batch: 3, dict: true, workers: 1, strict: true, orders: true},
	{name: "selections", batch: 2, sel: true, workers: 1},
	{name: "workers", batch: 2, big: true, workers: 3, strict: true},
	{name: "workers, dictionaries, selections", batch: 3, sel: true, dict: true, big: true, workers: 4, orders: true},
	{name: "no pruning", batch: 4096, strict: true, workers: 1, noPrune: true},
}

func (d *database) use(c config) {
	s := d.store
	s.batch, s.sel, s.dict, s.strict, s.orders = c.batch, c.sel, c.dict, c.strict, c.orders
	d.big, d.noPrune = c.big, c.noPrune
}

// check runs a query under every configuration, twice on one operator tree, and
// compares; unless the query orders its rows, they are compared sorted.
func (d *database) check(t *testing.T, query string, want ...string) {
	t.Helper()
	ordered := strings.Contains(query, "ORDER BY")
	if !ordered {
		want = slices.Clone(want)
		slices.Sort(want)
	}
	for _, c := range configs {
		d.use(c)
		n := d.plan(t, query)
		op, err := exec.Build(d.execEnv(c.workers), n)
		if err != nil {
			t.Fatalf("%s: %s: %v", c.name, query, err)
		}
		for range 2 {
			got, err := d.drain(op, n)
			if err != nil {
				t.Fatalf("%s: %s: %v", c.name, query, err)
			}
			if !ordered {
				slices.Sort(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s\n got %q\nwant %q", c.name, query, got, want)
			}
		}
		d.quit(t, query, c)
	}
}

// quit closes the query after one batch: nothing may stay open.
func (d *database) quit(t *testing.T, query string, c config) {
	t.Helper()
	n := d.plan(t, query)
	env := d.execEnv(c.workers)
	op, err := exec.Build(env, n)
	if err != nil {
		t.Fatal(err)
	}
	if err := op.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := op.Next(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	for range 2 {
		if err := op.Close(); err != nil {
			t.Fatalf("%s: close: %v", query, err)
		}
	}
	if left := d.store.opened.Load(); left != 0 {
		t.Fatalf("%s: %s: %d readers left open", c.name, query, left)
	}
	if used := env.Budget.Used(); used != 0 {
		t.Fatalf("%s: %s: %d bytes of the budget left", c.name, query, used)
	}
}
