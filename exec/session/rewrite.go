package session

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"tsdb/colstore"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/pgcatalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

const (
	// followRows is how many rows a table has at least to be copied while others
	// write to it; fewer are moved in a fraction of a second.
	followRows = 200_000
	// lastRound is how many rows may be left to copy while writers wait.
	lastRound = 200_000
	// maxRounds ends the catching up with writers who are faster than the copy:
	// the next round is the last one.
	maxRounds = 8
	// removedRows bounds how many deleted rows are looked for at once in the
	// copies, by the memory that they take.
	removedRows = 1 << 20
)

// rewriting is a table that a session copies into another storage.
type rewriting struct {
	tx    *transaction
	pid   int32
	table *catalog.Table
	total atomic.Int64 // rows to copy, as estimated
	done  atomic.Int64
	phase atomic.Pointer[string]
}

func (r *rewriting) enter(phase string) { r.phase.Store(&phase) }

// rewritten refuses to change a table that another session is rewriting: what
// that one copies would not be what it found.
func (e *Engine) rewritten(oid types.OID, tx *transaction) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.rewrites[oid]; r != nil && r.tx != tx {
		return pgerr.New(pgerr.ObjectInUse, `table "%s" is being rewritten`, r.table.Name).
			WithHint("Wait until the other session is done; tsdb_stat.rewrites shows how far it is.")
	}
	return nil
}

// beginRewrite announces a rewrite; the returned function ends it.
func (x *alteration) beginRewrite(rows int64) (*rewriting, func()) {
	e := x.s.e
	r := &rewriting{tx: x.s.tx, pid: x.s.pid, table: x.old}
	r.total.Store(rows)
	r.enter("initializing")
	e.mu.Lock()
	e.rewrites[x.old.OID] = r
	e.mu.Unlock()
	x.running = r
	return r, func() {
		x.running = nil
		e.mu.Lock()
		delete(e.rewrites, x.old.OID)
		e.mu.Unlock()
	}
}

// ListRewrites implements pgcatalog.RewriteLister.
func (s *Session) ListRewrites() []pgcatalog.Rewrite {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	var out []pgcatalog.Rewrite
	for oid, r := range s.e.rewrites {
		out = append(out, pgcatalog.Rewrite{PID: r.pid, Table: oid, Phase: *r.phase.Load(), Rows: r.done.Load(), Total: r.total.Load()})
	}
	slices.SortFunc(out, func(a, b pgcatalog.Rewrite) int { return cmp.Compare(a.Table, b.Table) })
	return out
}

// followable reports whether the rows can be copied while others write: the
// statement is all of its transaction, so that it may give up the right to
// change the catalog in between. The copy of a row is found again by its
// values, which have to be the same when they are computed again.
func (x *alteration) followable(rows int64) bool {
	tx := x.s.tx
	for _, c := range x.changed {
		if c.volatile {
			return false
		}
	}
	return !tx.block && !tx.several && tx.local == tx.base && len(tx.tables) == 1 &&
		x.old.Storage.Layout == table.Columnar && !x.old.Temp && rows >= x.s.e.followRows
}

// follow copies the rows in rounds. Writers go on but for the last one, which
// copies what came while the one before it ran.
func (x *alteration) follow(ctx context.Context, m *mover, r *rewriting) error {
	rw, err := x.s.e.store.Follow(ctx, x.old.Storage.ID)
	if err != nil {
		return err
	}
	defer rw.Close()
	x.s.yieldCatalog()
	req := table.ScanRequest{Columns: allOf(x.old)}
	for round := 1; ; round++ {
		if err := rw.Flush(ctx); err != nil {
			return err
		}
		if err := x.retake(ctx); err != nil {
			return err
		}
		added, removed, err := rw.Next(ctx, req)
		if err != nil {
			return err
		}
		if round > 1 {
			r.total.Add(added.EstimatedRows())
		}
		last := round > 1 && (added.EstimatedRows() <= lastRound || round == maxRounds)
		if !last {
			r.enter("seq scanning heap")
			x.s.yieldCatalog()
		} else {
			r.enter("writing new heap")
		}
		if removed != nil {
			if err := x.forget(ctx, removed, m); err != nil {
				return err
			}
		}
		if err := x.copyRows(ctx, added, m); err != nil {
			return err
		}
		if last {
			return nil
		}
	}
}

// yieldCatalog gives up the locks on tables and the right to change the
// catalog, of which nothing has been changed yet.
func (s *Session) yieldCatalog() {
	tx := s.tx
	s.e.locks.release(tx)
	tx.base, tx.local, tx.locked = nil, nil, false
	s.e.ddl <- struct{}{}
}

// retake takes back what yieldCatalog gave up.
func (x *alteration) retake(ctx context.Context) error {
	if err := x.s.lockCatalog(ctx); err != nil {
		return err
	}
	if t, ok := x.s.tx.local.TableByOID(x.old.OID); !ok || t != x.old {
		return pgerr.New(pgerr.SerializationFailure, `table "%s" was changed by another session while its rows were copied`, x.old.Name).
			WithHint("Repeat the statement.")
	}
	return x.s.lockTableAlone(ctx, x.old.OID)
}

// readAll calls f with every batch of a scan.
func readAll(ctx context.Context, sc table.Scan, f func(*vector.Batch) error) error {
	r := sc.NewReader()
	defer r.Close()
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		b, err := r.Next()
		if b == nil || err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

// forget deletes the copies of rows that have been deleted since.
func (x *alteration) forget(ctx context.Context, removed table.Scan, m *mover) error {
	d := &forgetting{x: x, want: map[string]int{}, same: m.known()}
	for _, c := range d.same {
		d.shape.Columns = append(d.shape.Columns, x.t.Columns[c])
	}
	err := readAll(ctx, removed, func(b *vector.Batch) error {
		rows, err := m.rows(b)
		if err != nil {
			return err
		}
		d.cols = d.cols[:0]
		for _, c := range d.same {
			d.cols = append(d.cols, rows.Cols[c])
		}
		for i := range rows.N {
			d.key = appendRow(d.key[:0], &d.shape, d.cols, i)
			d.want[string(d.key)]++
		}
		if len(d.want) < removedRows {
			return nil
		}
		return d.run(ctx)
	})
	if err != nil {
		return err
	}
	return d.run(ctx)
}

// forgetting looks for copies of deleted rows.
type forgetting struct {
	x     *alteration
	tx    *colstore.Tx
	sn    *colstore.Snapshot
	want  map[string]int // how many copies of each row are to go
	same  []int          // columns of the new table that say which row it is
	shape catalog.Table  // of these columns
	cols  []*vector.Vector
	flat  vector.Batch
	key   []byte
	sel   []int32
}

// run deletes as many copies of each row as want says, and empties it.
func (d *forgetting) run(ctx context.Context) error {
	if len(d.want) == 0 {
		return nil
	}
	d.tx = d.x.s.writeTx()
	d.sn = d.tx.Snapshot()
	defer d.sn.Close()
	sc, err := d.sn.Scan(d.x.t.Storage.ID, table.ScanRequest{Columns: d.same, RowIDs: true})
	if err != nil {
		return err
	}
	return readAll(ctx, sc, func(b *vector.Batch) error { return d.batch(ctx, b.Flat(&d.flat)) })
}

func (d *forgetting) batch(ctx context.Context, b *vector.Batch) error {
	last := len(b.Cols) - 1
	d.sel = d.sel[:0]
	for i := range b.N {
		d.key = appendRow(d.key[:0], &d.shape, b.Cols[:last], i)
		n, ok := d.want[string(d.key)]
		if !ok {
			continue
		}
		d.sel = append(d.sel, int32(i))
		if n > 1 {
			d.want[string(d.key)] = n - 1
		} else {
			delete(d.want, string(d.key))
		}
	}
	if len(d.sel) == 0 {
		return nil
	}
	_, err := d.tx.Delete(ctx, d.sn, d.x.t.Storage.ID, b.Cols[last], d.sel)
	return err
}
