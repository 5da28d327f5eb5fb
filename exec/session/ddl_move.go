package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// move copies the rows into a new storage of the altered shape and drops the
// old one, all in this transaction. A primary key that came or went decides the
// layout anew, as in CREATE TABLE. Readers go on with the old rows until it
// commits; whether writers do, too, followable says.
func (x *alteration) move(ctx context.Context) error {
	snap := x.s.writeTx().Snapshot()
	rows := snap.Stats(x.old.Storage.ID).Rows
	snap.Close()
	err := x.newStorage()
	if err != nil {
		return err
	}
	tx := x.s.writeTx()
	if err := tx.CreateTable(x.t.Storage); err != nil {
		return err
	}
	r, done := x.beginRewrite(rows)
	defer done()
	m := newMover(x)
	m.rules, err = x.generatedRules()
	if err != nil {
		return err
	}
	if x.followable(rows) {
		err = x.follow(ctx, m, r)
	} else {
		r.enter("writing new heap")
		err = x.copyAll(ctx, m)
	}
	if err != nil {
		return err
	}
	r.enter("swapping relation files")
	if err := tx.DropTable(x.old.Storage.ID); err != nil {
		return err
	}
	x.s.tx.local = x.s.tx.local.WithTable(x.t)
	return nil
}

// copyAll copies the rows as this transaction sees them.
func (x *alteration) copyAll(ctx context.Context, m *mover) error {
	return x.scan(ctx, table.ScanRequest{Columns: allOf(x.old)}, x.copier(ctx, m))
}

// copyRows appends what a scan of the old storage reads to the new one.
func (x *alteration) copyRows(ctx context.Context, sc table.Scan, m *mover) error {
	return readAll(ctx, sc, x.copier(ctx, m))
}

// copier appends old rows to the new storage.
func (x *alteration) copier(ctx context.Context, m *mover) func(*vector.Batch) error {
	return func(b *vector.Batch) error {
		rows, err := m.rows(b)
		if err != nil {
			return err
		}
		if err := x.nullsIn(rows); err != nil {
			return err
		}
		x.running.done.Add(int64(rows.N))
		_, err = x.s.writeTx().AppendWith(ctx, x.t.Storage.ID, rows, table.AppendOptions{})
		return x.moveError(err)
	}
}

func allOf(t *catalog.Table) []int {
	out := make([]int, len(t.Columns))
	for i := range out {
		out[i] = i
	}
	return out
}

// newStorage describes the storage that the rows move to.
func (x *alteration) newStorage() error {
	id, err := x.s.e.store.NewID()
	if err != nil {
		return err
	}
	t := x.t
	bucket, unit := t.Storage.Bucket, t.Storage.TimeUnit
	t.Storage.ID, t.Storage.Dropped, t.Storage.Bucket, t.Storage.TimeUnit = table.ID(id), nil, 0, 0
	for i := range t.Constraints {
		if c := &t.Constraints[i]; !c.Primary {
			if c.StoreID, err = x.s.e.store.NewID(); err != nil {
				return err
			}
		}
	}
	if !x.rekeyed {
		t.Storage.Bucket, t.Storage.TimeUnit = bucket, unit
		t.DeriveKeys()
		return nil
	}
	given := map[string]string{}
	for _, o := range t.Options {
		given[o.Name] = o.Value
	}
	if err := x.chooseLayout(given); err != nil {
		return err
	}
	if t.Storage.Layout == table.Columnar {
		t.Storage.Bucket = bucket
	} else if t.Storage.Retention != 0 {
		return retentionNeedsColumnar()
	}
	t.DeriveKeys()
	return nil
}

// mover makes rows of the new shape from rows of the old one.
type mover struct {
	x      *alteration
	source []int            // per new column: the old one, -1: none
	consts []*vector.Vector // of added columns with one value
	flat   vector.Batch
	cols   []vector.Vector
	out    vector.Batch
	rules  *rowRules // generated columns; nil: none
}

func newMover(x *alteration) *mover {
	n := len(x.t.Columns)
	m := &mover{x: x, source: make([]int, n), consts: make([]*vector.Vector, n), cols: make([]vector.Vector, n)}
	for i, c := range x.t.Columns {
		m.source[i] = slices.IndexFunc(x.old.Columns, func(o catalog.Column) bool { return o.ID == c.ID })
		if m.source[i] < 0 {
			m.consts[i] = x.t.Storage.Columns[i].Missing
		}
		x.t.Storage.Columns[i].Missing = nil // no row is older than the column
	}
	return m
}

// rows returns the new rows, flat, valid until the next call.
func (m *mover) rows(b *vector.Batch) (*vector.Batch, error) {
	b = b.Flat(&m.flat)
	m.out.Cols, m.out.N = m.out.Cols[:0], b.N
	for i := range m.source {
		dst := &m.cols[i]
		id := m.x.t.Columns[i].ID
		switch fill, change := m.x.fill[id], m.x.changed[id]; {
		case change != nil:
			v, err := change.prog.Eval(change.env, b)
			if err != nil {
				return nil, err
			}
			m.out.Cols = append(m.out.Cols, v.Flat(dst))
		case m.source[i] >= 0:
			m.out.Cols = append(m.out.Cols, b.Cols[m.source[i]].Flat(dst))
		case fill != nil:
			v, err := fill.values(b.N)
			if err != nil {
				return nil, err
			}
			m.out.Cols = append(m.out.Cols, v.Flat(dst))
		default:
			dst.Reset(m.x.t.Storage.Columns[i].Kind)
			for range b.N {
				if c := m.consts[i]; c != nil {
					dst.AppendFrom(c, 0)
				} else {
					dst.AppendNull()
				}
			}
			m.out.Cols = append(m.out.Cols, dst)
		}
	}
	if m.rules != nil {
		return &m.out, m.rules.generate(&m.out)
	}
	return &m.out, nil
}

// known lists the new columns whose values follow from the old row: copies of
// rows that agree in them may stand for each other.
func (m *mover) known() []int {
	var out []int
	for i := range m.source {
		if m.source[i] >= 0 {
			out = append(out, i)
		}
	}
	return out
}

// nullsIn refuses NULLs in columns that are to be without.
func (x *alteration) nullsIn(b *vector.Batch) error {
	for i := range x.t.Columns {
		if x.t.Columns[i].NotNull && b.Cols[i].HasNulls() {
			return x.s.containsNulls(x.t, i)
		}
	}
	return nil
}

// moveError words a duplicate as the making of an index does.
func (x *alteration) moveError(err error) error {
	var dup *table.DuplicateKeyError
	if !errors.As(err, &dup) {
		return err
	}
	t := x.t
	i := slices.IndexFunc(t.Constraints, func(c catalog.Constraint) bool {
		return c.Primary && dup.Index == 0 || !c.Primary && c.StoreID == dup.Index
	})
	if i < 0 {
		return err
	}
	con := &t.Constraints[i]
	e := pgerr.New(pgerr.UniqueViolation, `could not create unique index "%s"`, con.Name).WithCause(err)
	e.Schema, e.Table, e.Constraint = x.s.schemaName(t.Schema), t.Name, con.Name
	if dup.Batch != nil {
		e.Detail = x.s.keyText(t, con, dup.Batch, dup.Row) + " is duplicated."
	}
	return e
}

// keyText prints the key of a row: Key (a, b)=(1, x).
func (s *Session) keyText(t *catalog.Table, con *catalog.Constraint, b *vector.Batch, row int) string {
	names, vals := make([]string, len(con.Columns)), make([]string, len(con.Columns))
	for i, c := range con.Columns {
		names[i] = t.Columns[c].Name
		vals[i] = s.valueText(t.Columns[c].Type, b.Cols[c], row)
	}
	return "Key (" + strings.Join(names, ", ") + ")=(" + strings.Join(vals, ", ") + ")"
}

// volatile reports whether two evaluations of e in one statement may differ.
func volatile(e scalar.Expr) bool {
	found := false
	scalar.Walk(e, func(e scalar.Expr) bool {
		if c, ok := e.(*scalar.Call); ok && c.Fn.Volatility == functions.Volatile {
			found = true
		}
		return !found
	})
	return found
}
