package session

import (
	"context"
	"errors"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner"
	"tsdb/sql/catalog"
)

// runWith runs a statement with data-modifying WITH queries over v, which it
// closes: these queries first, each to its end, then the statement, all on the
// same snapshot, so that none sees what another has written but by RETURNING.
func (s *Session) runWith(ctx context.Context, a *analyzed, params []planner.ParamValue, v *view, r Result) (string, error) {
	for _, q := range a.bound.With {
		if err := s.writable(changes[q.Bound.Kind]); err != nil {
			v.close()
			return "", err
		}
	}
	a, v, err := s.lockForAll(ctx, a, v)
	if err != nil {
		return "", s.lockError(err)
	}
	for {
		mark := s.writeTx().Savepoint()
		tag, err := s.runAll(ctx, a, params, v, r)
		v.close()
		if err == nil {
			return tag, nil
		}
		s.writeTx().RollbackTo(mark)
		if !errors.Is(err, table.ErrRowsChanged) || s.isolation() == "repeatable read" {
			return "", s.lockError(err)
		}
		if err := context.Cause(ctx); err != nil {
			return "", err
		}
		if a, v, err = s.renewed(a); err != nil {
			return "", err
		}
	}
}

// changedTables lists the tables that a statement writes.
func changedTables(b *planner.Bound) []*catalog.Table {
	var out []*catalog.Table
	for _, q := range b.With {
		out = append(out, q.Bound.Table)
	}
	if b.Kind != planner.Select {
		out = append(out, b.Table)
	}
	return out
}

// lockForAll is lockForChange for all tables that the statement writes.
func (s *Session) lockForAll(ctx context.Context, a *analyzed, v *view) (*analyzed, *view, error) {
	ctx, stop := s.withLockTimeout(ctx)
	defer stop()
	for {
		again := false
		for _, t := range changedTables(a.bound) {
			waited, err := s.e.locks.write(ctx, s.tx, s.writeTx(), t.OID)
			if err != nil {
				v.close()
				return nil, nil, err
			}
			now, ok := s.catalog().TableByOID(t.OID)
			same := ok && now == t
			if v.shared && !same {
				v.close()
				return nil, nil, table.ErrRowsChanged // REPEATABLE READ
			}
			again = again || !v.shared && (waited || !same)
		}
		if !again {
			return a, v, nil
		}
		v.close()
		var err error
		if a, v, err = s.renewed(a); err != nil {
			return nil, nil, err
		}
	}
}

// runAll runs the WITH queries and the statement once.
func (s *Session) runAll(ctx context.Context, a *analyzed, params []planner.ParamValue, v *view, r Result) (string, error) {
	own := *v
	own.shared, own.queries = true, map[int][]*vector.Batch{} // v is closed by the caller
	var writers []*writer
	write := func(b *planner.Bound) (*writer, error) {
		w := s.newWriter(ctx, b.Table)
		writers = append(writers, w)
		return w, s.changeRows(w, b, params, &own)
	}
	for _, q := range a.bound.With {
		w, err := write(q.Bound)
		if err != nil {
			return "", err
		}
		own.queries[q.ID] = nil
		if w.returning != nil {
			own.queries[q.ID] = w.returning.done
		}
	}
	var last *writer
	var err error
	if a.bound.Kind != planner.Select {
		if last, err = write(a.bound); err != nil {
			return "", err
		}
	}
	for _, w := range writers {
		if err := w.finish(nil); err != nil {
			return "", err
		}
	}
	if last != nil {
		return s.changed(changes[a.bound.Kind], a, last, r)
	}
	return s.selected(ctx, a, params, &own, r)
}
