package session

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/exec/copyio"
	"tsdb/planner/logical"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// copyCommand runs COPY in all its forms and returns the tag.
func (s *Session) copyCommand(ctx context.Context, st *sql.Statement, n *pg_query.CopyStmt, r Result) (string, error) {
	spec, err := copyOptions(st, n)
	if err != nil {
		return "", err
	}
	if n.IsProgram {
		return "", pgerr.Unsupported("COPY PROGRAM")
	}
	if n.Filename != "" && !s.superuser() {
		return "", filePrivilege(n.IsFrom)
	}
	var rows int64
	if n.IsFrom {
		rows, err = s.copyFrom(ctx, st, n, spec, r)
	} else {
		rows, err = s.copyTo(ctx, st, n, spec, r)
	}
	if err != nil {
		return "", err
	}
	return "COPY " + itoa(rows), nil
}

func filePrivilege(from bool) error {
	what, role := "from", "pg_read_server_files"
	if !from {
		what, role = "to", "pg_write_server_files"
	}
	return pgerr.New(pgerr.InsufficientPrivilege, "must be superuser or have privileges of the %s role to COPY %s a file", role, what).
		WithHint(`Anyone can COPY to stdout or from stdin. psql's \copy command also works for anyone.`)
}

// copyColumns resolves the column list of COPY; none means all that are not
// generated.
func copyColumns(t *catalog.Table, list []*pg_query.Node) ([]int, error) {
	if len(list) == 0 {
		all := make([]int, 0, len(t.Columns))
		for i := range t.Columns {
			if t.Columns[i].Generated == "" {
				all = append(all, i)
			}
		}
		return all, nil
	}
	var out []int
	for _, n := range list {
		name := n.GetString_().GetSval()
		i := t.ColumnIndex(name)
		if i < 0 {
			return nil, pgerr.New(pgerr.UndefinedColumn, `column "%s" of relation "%s" does not exist`, name, t.Name)
		}
		if t.Columns[i].Generated != "" {
			return nil, pgerr.New(pgerr.InvalidColumnReference, `column "%s" is a generated column`, name).
				WithDetail("Generated columns cannot be used in COPY.")
		}
		if slices.Contains(out, i) {
			return nil, pgerr.New(pgerr.DuplicateColumn, `column "%s" specified more than once`, name)
		}
		out = append(out, i)
	}
	return out, nil
}

func (s *Session) copyFrom(ctx context.Context, st *sql.Statement, n *pg_query.CopyStmt, spec *copySpec, r Result) (int64, error) {
	if n.WhereClause != nil {
		return 0, pgerr.Unsupported("COPY FROM ... WHERE")
	}
	if err := s.writable("COPY FROM"); err != nil {
		return 0, err
	}
	t, v, err := s.intoTable(ctx, n.Relation)
	if err != nil {
		return 0, err
	}
	defer v.close()
	target, err := copyColumns(t, n.Attlist)
	if err != nil {
		return 0, err
	}
	cols := make([]copyio.Column, len(target))
	for i, c := range target {
		cols[i] = copyio.Column{Name: t.Columns[c].Name, Type: t.Columns[c].Type}
	}
	if err := spec.resolveForce(cols); err != nil {
		return 0, err
	}
	c := s.functionCtx()
	f, err := s.newFiller(c, v.cat, t, target)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in, done, err := s.copySource(ctx, n.Filename, t.Name, cols, spec, r, &c.Context)
	if err != nil {
		return 0, err
	}
	defer done()
	w := s.newWriter(ctx, t)
	return w.added, w.finish(s.copyRows(ctx, cancel, w, f, in))
}

// intoTable finds and locks the table that COPY FROM fills and takes a view.
func (s *Session) intoTable(ctx context.Context, rv *pg_query.RangeVar) (*catalog.Table, *view, error) {
	for {
		rel, err := s.anyRelation(rv)
		if err == nil {
			err = refuseCopy(rel, "to", "To enable copying to a view, provide an INSTEAD OF INSERT trigger.")
		}
		if err != nil {
			return nil, nil, err
		}
		t := rel.Table
		if err := s.lockTable(ctx, t.OID); err != nil {
			return nil, nil, err
		}
		v := s.view()
		if now, err := s.relation(rv); err == nil && now == t {
			return t, v, nil
		}
		v.close()
	}
}

// copyBuffer gathers what COPY TO writes to a file, large enough that a
// system call costs little per row.
const copyBuffer = 256 << 10

// copySource opens what COPY FROM reads: the client's stream or a file.
func (s *Session) copySource(ctx context.Context, file, rel string, cols []copyio.Column, spec *copySpec, r Result, c *types.Context) (copyio.Reader, func(), error) {
	columnar := spec.o.Format == copyio.Parquet || spec.o.Format == copyio.Arrow
	if file == "" {
		if columnar {
			return nil, nil, pgerr.Unsupported("COPY FROM STDIN in this format").
				WithHint("Put the file on the server and name it, or use csv or binary.")
		}
		stream, err := r.CopyIn(ctx, spec.o.Format == copyio.Binary, len(cols))
		if err != nil {
			return nil, nil, err
		}
		in, err := copyio.NewReader(stream, rel, cols, spec.o, c)
		if err != nil {
			return nil, nil, err
		}
		return &streamReader{in, stream}, func() {}, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, openError(file, "reading", err)
	}
	done := func() { _ = f.Close() } // read only: nothing can be lost
	if st, err := f.Stat(); err == nil && st.IsDir() {
		done()
		return nil, nil, pgerr.New(pgerr.WrongObjectType, `"%s" is a directory`, file)
	}
	var in copyio.Reader
	if columnar {
		in, err = copyio.NewFileReader(f, rel, cols, spec.o.Format)
	} else {
		in, err = copyio.NewReader(f, rel, cols, spec.o, c)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return in, done, nil
}

func openError(file, what string, err error) error {
	code, why := pgerr.IOError, err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		why = pe.Err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, why = pgerr.UndefinedFile, "No such file or directory"
	case errors.Is(err, fs.ErrPermission):
		code, why = pgerr.InsufficientPrivilege, "Permission denied"
	}
	e := pgerr.New(code, `could not open file "%s" for %s: %s`, file, what, why).WithCause(err)
	if what == "reading" {
		return e.WithHint(`COPY FROM instructs the server process to read a file. You may want a client-side facility such as psql's \copy.`)
	}
	return e.WithHint(`COPY TO instructs the server process to write a file. You may want a client-side facility such as psql's \copy.`)
}

// refuseCopy refuses COPY of what is no table.
func refuseCopy(r catalog.Relation, way, hint string) error {
	if r.Kind == catalog.RelTable {
		return nil
	}
	e := pgerr.New(pgerr.WrongObjectType, `cannot copy %s %s "%s"`, way, relationWord(r.Kind), r.Name)
	if r.Kind == catalog.RelView || r.Kind == catalog.RelMaterialized && way == "from" {
		e.Hint = hint
	}
	return e
}

// copyQuery is the SELECT that COPY TO runs.
func (s *Session) copyQuery(st *sql.Statement, n *pg_query.CopyStmt) (*pg_query.Node, error) {
	if n.Query != nil {
		if n.Query.GetSelectStmt() == nil {
			return nil, pgerr.Unsupported("COPY (%s)", commandName(n.Query))
		}
		return n.Query, nil
	}
	var names []string
	if r, err := s.anyRelation(n.Relation); err == nil {
		if err := refuseCopy(r, "from", "Try the COPY (SELECT ...) TO variant."); err != nil {
			return nil, err
		}
		t := r.Table
		cols, err := copyColumns(t, n.Attlist)
		if err != nil {
			return nil, err
		}
		for _, c := range cols {
			names = append(names, t.Columns[c].Name)
		}
	} else if !s.virtual(n.Relation.GetSchemaname(), n.Relation.GetRelname()) {
		return nil, err
	}
	var targets []*pg_query.Node
	for _, name := range names {
		targets = append(targets, columnTarget(pg_query.MakeStrNode(name)))
	}
	if targets == nil {
		targets = []*pg_query.Node{columnTarget(&pg_query.Node{Node: &pg_query.Node_AStar{AStar: &pg_query.A_Star{}}})}
	}
	return &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: &pg_query.SelectStmt{TargetList: targets,
		FromClause:  []*pg_query.Node{{Node: &pg_query.Node_RangeVar{RangeVar: n.Relation}}},
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE}}}, nil
}

func columnTarget(field *pg_query.Node) *pg_query.Node {
	ref := &pg_query.Node{Node: &pg_query.Node_ColumnRef{ColumnRef: &pg_query.ColumnRef{Fields: []*pg_query.Node{field}, Location: -1}}}
	return &pg_query.Node{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: ref, Location: -1}}}
}

func (s *Session) copyTo(ctx context.Context, st *sql.Statement, n *pg_query.CopyStmt, spec *copySpec, r Result) (int64, error) {
	if spec.o.Format == copyio.Parquet || spec.o.Format == copyio.Arrow {
		return 0, pgerr.Unsupported("COPY TO in this format")
	}
	query, err := s.copyQuery(st, n)
	if err != nil {
		return 0, err
	}
	inner := *st
	inner.Node, inner.Bulk = query, nil
	v := s.view()
	a, err := s.analyze(&inner, nil, v.cat)
	if err == nil {
		err = noParameters(a)
	}
	var cols []copyio.Column
	if err == nil {
		cols = copyShape(a.cols)
		err = spec.resolveForce(cols)
	}
	if err != nil {
		v.close()
		return 0, err
	}
	c := s.functionCtx()
	cur, err := s.open(a.bound, nil, v, c, false)
	if err != nil {
		return 0, err
	}
	defer cur.close()
	if err := cur.start(ctx); err != nil {
		return 0, err
	}
	out, err := s.copyTarget(n.Filename, spec, len(cols), r)
	if err != nil {
		return 0, err
	}
	rows, err := writeRows(ctx, cur, copyio.NewWriter(cols, spec.o, &c.Context), out, spec.o.Format)
	if err != nil {
		out.abandon()
		return 0, err
	}
	return rows, out.Close()
}

func copyShape(cols []logical.Column) []copyio.Column {
	out := make([]copyio.Column, len(cols))
	for i, c := range cols {
		out[i] = copyio.Column{Name: c.Name, Type: c.Type}
	}
	return out
}

// writeRows sends the rows of a query, one Write per row.
func writeRows(ctx context.Context, cur *cursor, w copyio.Writer, out io.Writer, format copyio.Format) (int64, error) {
	buf := w.Header(nil)
	if format != copyio.Binary && len(buf) > 0 {
		if _, err := out.Write(buf); err != nil {
			return 0, err
		}
		buf = buf[:0]
	}
	var ends []int
	n, err := cur.fetch(ctx, 0, func(b *vector.Batch) error {
		buf, ends = w.Rows(buf, ends[:0], b)
		at := 0
		for _, end := range ends {
			if _, err := out.Write(buf[at:end]); err != nil {
				return err
			}
			at = end
		}
		buf = buf[:0]
		return nil
	})
	if err != nil {
		return n, err
	}
	if buf = w.Trailer(buf); len(buf) > 0 {
		_, err = out.Write(buf)
	}
	return n, err
}

// copyOut is where COPY TO writes: the client, or a file through a buffer.
type copyOut struct {
	io.WriteCloser
	file *os.File
	buf  *bufio.Writer
}

// Write implements io.Writer.
func (o *copyOut) Write(p []byte) (int, error) {
	if o.buf != nil {
		return o.buf.Write(p)
	}
	return o.WriteCloser.Write(p)
}

// Close ends the stream.
func (o *copyOut) Close() error {
	if o.file == nil {
		return o.WriteCloser.Close()
	}
	err := o.buf.Flush()
	if cerr := o.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return pgerr.New(pgerr.IOError, `could not write file "%s": %s`, o.file.Name(), err).WithCause(err)
	}
	return nil
}

// abandon releases the target after an error; the client learns of it from
// the error itself.
func (o *copyOut) abandon() {
	if o.file != nil {
		_ = o.file.Close()
	}
}

func (s *Session) copyTarget(file string, spec *copySpec, columns int, r Result) (*copyOut, error) {
	if file == "" {
		w, err := r.CopyOut(spec.o.Format == copyio.Binary, columns)
		return &copyOut{WriteCloser: w}, err
	}
	if !filepath.IsAbs(file) {
		return nil, pgerr.New(pgerr.InvalidName, "relative path not allowed for COPY to file")
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, openError(file, "writing", err)
	}
	return &copyOut{file: f, buf: bufio.NewWriterSize(f, copyBuffer)}, nil
}
