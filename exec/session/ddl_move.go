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
// layout anew, as in CREATE TABLE.
func (x *alteration) move(ctx context.Context) error {
	if err := x.newStorage(); err != nil {
		return err
	}
	tx := x.s.writeTx()
	if err := tx.CreateTable(x.t.Storage); err != nil {
		return err
	}
	w := x.s.newWriter(ctx, x.t)
	w.options = &table.AppendOptions{}
	m := newMover(x)
	err := x.scan(ctx, table.ScanRequest{Columns: allOf(x.old)}, func(b *vector.Batch) error {
		rows, err := m.rows(b)
		if err != nil {
			return err
		}
		if err := x.nullsIn(rows); err != nil {
			return err
		}
		_, err = tx.AppendWith(ctx, x.t.Storage.ID, rows, *w.options)
		return x.moveError(err)
	})
	if err != nil {
		return err
	}
	if err := tx.DropTable(x.old.Storage.ID); err != nil {
		return err
	}
	x.s.tx.local = x.s.tx.local.WithTable(x.t)
	return nil
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
		switch fill := m.x.fill[m.x.t.Columns[i].ID]; {
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
	return &m.out, nil
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
