package session

import (
	"context"
	"errors"
	"slices"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// changes names the statements that change rows.
var changes = map[planner.Kind]string{planner.Insert: "INSERT", planner.Update: "UPDATE", planner.Delete: "DELETE"}

// change runs INSERT, UPDATE or DELETE over v, which it closes, and returns its tag.
//
// Where rows were changed by another transaction after v was taken, READ
// COMMITTED repeats the statement on what is there now. The rows stay locked
// meanwhile, so that each repetition gets further.
func (s *Session) change(ctx context.Context, a *analyzed, params []planner.ParamValue, v *view, r Result) (string, error) {
	w, a, err := s.changeAll(ctx, a, params, v, nil)
	if err != nil {
		return "", err
	}
	return s.changed(changes[a.bound.Kind], a, w, r)
}

// changeAll is change up to the result. profiled, if not nil, is called with the
// cursor of the rows once all are written (EXPLAIN ANALYZE).
func (s *Session) changeAll(ctx context.Context, a *analyzed, params []planner.ParamValue, v *view, profiled func(*cursor)) (*writer, *analyzed, error) {
	if err := s.writable(changes[a.bound.Kind]); err != nil {
		v.close()
		return nil, nil, err
	}
	a, v, err := s.lockForChange(ctx, a, v)
	if err != nil {
		return nil, nil, s.lockError(err)
	}
	for {
		w := s.newWriter(ctx, a.bound.Table)
		w.profiled = profiled
		err := w.finish(s.changeRows(w, a.bound, params, v))
		v.close()
		if err == nil {
			return w, a, nil
		}
		if !errors.Is(err, table.ErrRowsChanged) || s.isolation() == "repeatable read" {
			return nil, nil, s.lockError(err)
		}
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		if a, v, err = s.renewed(a); err != nil {
			return nil, nil, err
		}
	}
}

// changed sends the rows of RETURNING.
func (s *Session) changed(verb string, a *analyzed, w *writer, r Result) (string, error) {
	if w.returning != nil {
		if err := r.Columns(a.cols); err != nil {
			return "", err
		}
		for _, b := range w.returning.done {
			if err := r.Rows(b); err != nil {
				return "", err
			}
		}
	}
	if verb == "INSERT" {
		verb = "INSERT 0"
	}
	return verb + " " + itoa(w.added), nil
}

// lockForChange takes the table's lock, after which its shape stays, and binds
// again if it has another shape than v shows.
func (s *Session) lockForChange(ctx context.Context, a *analyzed, v *view) (*analyzed, *view, error) {
	ctx, stop := s.withLockTimeout(ctx)
	defer stop()
	for {
		t := a.bound.Table
		store := s.writeTx()
		waited, err := s.e.locks.write(ctx, s.tx, store, t.OID)
		if err != nil {
			v.close()
			return nil, nil, err
		}
		cat := s.catalog()
		if now, ok := cat.TableByOID(t.OID); !waited && (v.cat == cat || ok && now == t) {
			return a, v, nil
		} else if v.shared && now != t {
			return nil, nil, table.ErrRowsChanged // REPEATABLE READ
		} else if v.shared {
			return a, v, nil
		}
		v.close()
		if a, v, err = s.renewed(a); err != nil {
			return nil, nil, err
		}
		if a.bound.Table.OID == t.OID {
			return a, v, nil
		}
	}
}

// renewed takes another view and binds the statement again if the catalog changed.
func (s *Session) renewed(a *analyzed) (*analyzed, *view, error) {
	v := s.view()
	if a.cat == v.cat {
		return a, v, nil
	}
	declared := make([]types.OID, len(a.params))
	for i, t := range a.params {
		declared[i] = t.OID
	}
	n, err := s.analyze(a.st, declared, v.cat)
	if err == nil && n.bound.Kind == planner.Explain && a.bound.Kind != planner.Explain {
		n = explained(n, n.bound.Inner) // a is what EXPLAIN ANALYZE runs
	}
	if err == nil && !sameRow(n.cols, a.cols) {
		err = pgerr.New(pgerr.FeatureNotSupported, "cached plan must not change result type")
	}
	if err != nil {
		v.close()
		return nil, nil, err
	}
	return n, v, nil
}

// changeRows runs the statement once.
func (s *Session) changeRows(w *writer, b *planner.Bound, params []planner.ParamValue, v *view) error {
	c := s.functionCtx()
	c.Running = w.ctx
	if b.Returning != nil {
		p, err := s.newRowPlan(v, c, b, b.Returning, params)
		if err != nil {
			return err
		}
		w.returning = &returning{plan: p}
	}
	if err := s.prepareChecks(w, b, params, v, c); err != nil {
		return err
	}
	if err := s.prepareConflict(w, b, params, v, c); err != nil {
		return err
	}
	if b.Bulk != nil {
		return s.insertBulk(w.ctx, w, b.Bulk, v)
	}
	write := w.append
	switch b.Kind {
	case planner.Update:
		write = func(rows *vector.Batch) error {
			if err := w.update(v, b.RowID, rows); err != nil || w.returning == nil {
				return err
			}
			return w.returned(w.stored(rows))
		}
	case planner.Delete:
		write = func(rows *vector.Batch) error { return w.delete(v, b.RowID, rows) }
	}
	return s.changeQuery(w, b, params, v, c, write)
}

// changeQuery hands the rows of the statement's plan to write.
func (s *Session) changeQuery(w *writer, b *planner.Bound, params []planner.ParamValue, v *view, c *functions.Ctx, write func(*vector.Batch) error) error {
	shared := *v
	shared.shared = true // v is closed by the caller
	cur, err := s.open(b, params, &shared, c, w.profiled != nil)
	if err != nil {
		return err
	}
	defer cur.close()
	if err := cur.start(w.ctx); err != nil {
		return err
	}
	if _, err = cur.fetch(w.ctx, 0, write); err == nil && w.profiled != nil {
		w.profiled(cur)
	}
	return err
}

// update replaces rows: the new rows, then the column of their row ids.
func (w *writer) update(v *view, id int, b *vector.Batch) error {
	if err := w.prepare(b.Cols[:id], b.N); err != nil {
		return err
	}
	if err := w.checkViews(&w.out); err != nil {
		return err
	}
	ids := b.Cols[id].Flat(&vector.Vector{})
	old, err := w.rowsBefore(v, ids, false)
	if err != nil {
		return err
	}
	ctx, stop := w.s.withLockTimeout(w.ctx)
	defer stop()
	n, err := w.tx.Update(ctx, v.snap, w.t.Storage.ID, ids, &w.out)
	if err != nil {
		return err
	}
	w.added += n
	if old == nil {
		return nil
	}
	for _, p := range w.refs.in {
		p.updated(old, &w.out)
	}
	return w.refs.written(old, &w.out)
}

// stored returns rows of an update as they were stored: generated columns have
// their values.
func (w *writer) stored(b *vector.Batch) *vector.Batch {
	out := &vector.Batch{Cols: slices.Clone(b.Cols), N: b.N}
	copy(out.Cols, w.out.Cols)
	return out
}

// delete removes the rows whose ids are in column id.
func (w *writer) delete(v *view, id int, b *vector.Batch) error {
	ids := b.Cols[id].Flat(&vector.Vector{})
	old, err := w.rowsBefore(v, ids, true)
	if err != nil {
		return err
	}
	ctx, stop := w.s.withLockTimeout(w.ctx)
	defer stop()
	n, err := w.tx.Delete(ctx, v.snap, w.t.Storage.ID, ids, nil)
	if err != nil {
		return err
	}
	w.added += n
	if old != nil {
		for _, p := range w.refs.in {
			p.removed(old)
		}
	}
	return w.returned(b)
}
