package session

import (
	"context"
	"errors"
	"slices"

	"tsdb/colstore"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// writer changes rows of one table for one statement.
type writer struct {
	s     *Session
	ctx   context.Context
	t     *catalog.Table
	tx    *colstore.Tx
	mark  int
	added int64 // rows that the command tag counts
	// where, if not nil, says which input line row i of the batch came from.
	where func(i int) string
	// options, if not nil, take the place of the table's conflict mode.
	options   *table.AppendOptions
	upsert    *upsert    // nil: rows whose key exists are storage's matter
	returning *returning // nil: no RETURNING
	checks    []viewCheck
	profiled  func(*cursor)
	rules     *rowRules   // nil: none, or not looked for yet
	ruled     bool        // they were looked for
	refs      *references // nil: no foreign key is concerned, or not looked for yet
	refsReady bool
	flat      []*vector.Vector
	out       vector.Batch
}

// newWriter starts a statement's writes; finish ends them.
func (s *Session) newWriter(ctx context.Context, t *catalog.Table) *writer {
	tx := s.writeTx()
	s.tx.queried = true
	return &writer{s: s, ctx: ctx, t: t, tx: tx, mark: tx.Savepoint(), flat: make([]*vector.Vector, len(t.Columns))}
}

// finish checks foreign keys, and undoes the statement's rows if it failed.
func (w *writer) finish(err error) error {
	if err == nil && w.refs != nil {
		err = w.refs.finish(w.ctx)
	}
	if err != nil {
		w.tx.RollbackTo(w.mark)
	}
	return err
}

// append adds the rows of b, one column per column of the table, no selection.
func (w *writer) append(b *vector.Batch) error {
	if b.N == 0 {
		return nil
	}
	if err := w.prepare(b.Cols, b.N); err != nil {
		return err
	}
	if err := w.checkViews(&w.out); err != nil {
		return err
	}
	if w.upsert != nil {
		return w.upsert.rows(&w.out)
	}
	n, err := w.store(&w.out, w.options)
	if err != nil {
		return err
	}
	w.added += n
	return w.returned(&w.out)
}

// prepare makes w.out the rows of cols, flat, with generated columns computed,
// and checks their NOT NULL columns and the table's checks.
func (w *writer) prepare(cols []*vector.Vector, n int) error {
	w.out.Cols, w.out.N = w.out.Cols[:0], n
	for i, c := range cols {
		if c.Const || c.Dict != nil {
			if w.flat[i] == nil {
				w.flat[i] = &vector.Vector{}
			}
			c = c.Flat(w.flat[i])
		}
		w.out.Cols = append(w.out.Cols, c)
	}
	if !w.ruled {
		var err error
		if w.rules, err = w.s.rowRules(w.s.catalog(), w.t); err != nil {
			return err
		}
		w.ruled = true
	}
	if w.rules == nil {
		return w.checkRow(&w.out, n, "")
	}
	if err := w.rules.generate(&w.out); err != nil {
		return err
	}
	row, name, err := w.rules.violated(&w.out)
	if err != nil {
		return err
	}
	return w.checkRow(&w.out, row, name)
}

// store appends rows that are complete and checked.
func (w *writer) store(b *vector.Batch, o *table.AppendOptions) (n int64, err error) {
	ctx, stop := w.s.withLockTimeout(w.ctx)
	defer stop()
	if o == nil {
		n, err = w.tx.Append(ctx, w.t.Storage.ID, b)
	} else {
		n, err = w.tx.AppendWith(ctx, w.t.Storage.ID, b, *o)
	}
	if err != nil {
		return n, w.located(err)
	}
	return n, w.noteWritten(b)
}

// foreign returns what the statement has to check of foreign keys, nil for none.
func (w *writer) foreign() (*references, error) {
	if !w.refsReady {
		var err error
		if w.refs, err = w.s.references(w.t); err != nil {
			return nil, err
		}
		w.refsReady = true
	}
	return w.refs, nil
}

// noteWritten notes rows for the checks of foreign keys.
func (w *writer) noteWritten(b *vector.Batch) error {
	r, err := w.foreign()
	if r == nil || err != nil {
		return err
	}
	return r.written(nil, b)
}

// rowsBefore returns the rows that are about to be changed, where foreign keys
// ask for them: to delete rows without being referenced does not; nil otherwise.
func (w *writer) rowsBefore(v *view, ids *vector.Vector, deletes bool) (*vector.Batch, error) {
	r, err := w.foreign()
	if r == nil || err != nil || deletes && len(r.in) == 0 {
		return nil, err
	}
	return v.snap.Rows(w.t.Storage.ID, ids)
}

// returned computes RETURNING for rows that have been changed.
func (w *writer) returned(b *vector.Batch) error {
	if w.returning == nil || b.N == 0 {
		return nil
	}
	return w.returning.add(w.ctx, b)
}

// located adds the input line to a duplicate key's error.
func (w *writer) located(err error) error {
	var dup *table.DuplicateKeyError
	if w.where == nil || !errors.As(err, &dup) {
		return err
	}
	e := w.s.uniqueError(dup)
	if dup.Batch == &w.out {
		e.Where = w.where(dup.Row)
	}
	return e
}

// checkRow finds the first row with a NULL in a NOT NULL column, up to bad, the
// first row for which the named check is false, or b.N.
func (w *writer) checkRow(b *vector.Batch, bad int, check string) error {
	row, col := min(bad+1, b.N), -1
	for i := range w.t.Columns {
		v := b.Cols[i]
		if !w.t.Columns[i].NotNull || !v.HasNulls() {
			continue
		}
		for r := 0; r < row; r++ {
			if v.IsNull(r) {
				row, col = r, i
				break
			}
		}
	}
	var e *pgerr.Error
	switch {
	case col >= 0:
		e = w.s.nullViolation(w.t, b, row, col)
	case bad < b.N:
		row = bad
		e = w.s.checkViolation(w.t, b, row, check)
	default:
		return nil
	}
	if w.where != nil {
		e.Where = w.where(row)
	}
	return e
}

func (s *Session) insertBulk(ctx context.Context, w *writer, bulk *planner.BulkInsert, v *view) error {
	c := s.functionCtx()
	target := slices.Clone(bulk.Target)
	for i, skip := range bulk.Overridden {
		if skip {
			target[i] = -1
		}
	}
	f, err := s.newFiller(c, v.cat, w.t, target)
	if err != nil {
		return err
	}
	cols := make([]types.Type, len(bulk.Target))
	for i, t := range bulk.Target {
		cols[i] = w.t.Columns[t].Type
	}
	return bulk.Rows.Read(cols, &c.Context, func(b *vector.Batch) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		full, err := f.fill(b)
		if err != nil {
			return err
		}
		return w.append(full)
	})
}

// filler widens rows of some columns to rows of all columns of a table, with
// defaults or NULL for the others.
type filler struct {
	t      *catalog.Table
	source []int // per column of the table: index in the input, -1: not there
	exprs  []*defaultValue
	nulls  []*vector.Vector
	out    vector.Batch
}

// newFiller prepares for input columns that stand for the table's columns target.
func (s *Session) newFiller(c *functions.Ctx, cat *catalog.Snapshot, t *catalog.Table, target []int) (*filler, error) {
	f := &filler{t: t, source: make([]int, len(t.Columns)), exprs: make([]*defaultValue, len(t.Columns)),
		nulls: make([]*vector.Vector, len(t.Columns))}
	for i := range t.Columns {
		f.source[i] = slices.Index(target, i)
		if f.source[i] >= 0 {
			continue
		}
		if cat.DefaultOf(&t.Columns[i]) == "" {
			n := vector.New(t.Columns[i].Type.Kind(), 1)
			n.AppendNull()
			n.Const = true
			f.nulls[i] = n
			continue
		}
		d, err := s.compileDefault(c, cat, t, i)
		if err != nil {
			return nil, err
		}
		f.exprs[i] = d
	}
	return f, nil
}

// fill returns the full rows of b, valid until the next call.
func (f *filler) fill(b *vector.Batch) (*vector.Batch, error) {
	f.out.Cols, f.out.N = f.out.Cols[:0], b.N
	for i := range f.t.Columns {
		switch {
		case f.source[i] >= 0:
			f.out.Cols = append(f.out.Cols, b.Cols[f.source[i]])
		case f.exprs[i] != nil:
			v, err := f.exprs[i].values(b.N)
			if err != nil {
				return nil, err
			}
			f.out.Cols = append(f.out.Cols, v)
		default:
			f.nulls[i].N = b.N
			f.out.Cols = append(f.out.Cols, f.nulls[i])
		}
	}
	return &f.out, nil
}
