package colstore

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"tsdb/colstore/table"
)

// Rewrite follows a columnar table whose rows are being copied elsewhere while
// others go on writing. Its segments are not merged meanwhile, so what came and
// what went can be told apart:
//
//	rw, _ := s.Follow(ctx, id)
//	sc, _ := rw.Next(ctx, req)      // writers kept out for the time of the call: what is there
//	... copy what sc reads ...      // writers go on
//	sc, _ = rw.Next(ctx, req)       // writers kept out from here on: what came since
//	sc, _ = rw.Removed(req)         // of what was copied, what is deleted by now
//	rw.Close()
//
// One goroutine uses it.
type Rewrite struct {
	s      *Store
	id     table.ID
	shared *tableShared
	seen   map[uint64]copied
	order  []uint64    // of seen
	snaps  []*Snapshot // keep the files of what was seen; the last is the newest
	closed bool
}

// copied is a segment that Next has handed out, and the rows that were deleted
// from it then.
type copied struct {
	seg  *seg
	gone *deletes
}

// Follow begins to follow a table.
//
// Errors: table.ErrUnknownTable, also for a table that is not columnar; table.ErrBusy if it is followed already.
func (s *Store) Follow(ctx context.Context, id table.ID) (*Rewrite, error) {
	v := s.find(id)
	if v == nil || v.schema.Layout != table.Columnar {
		return nil, table.ErrUnknownTable
	}
	s.compactor.mu.Lock() // what merges the table now is waited for
	defer s.compactor.mu.Unlock()
	if !v.shared.held.CompareAndSwap(false, true) {
		return nil, table.ErrBusy
	}
	r := &Rewrite{s: s, id: id, shared: v.shared, seen: map[uint64]copied{}}
	if err := ctx.Err(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Next returns a scan of the rows that no earlier call returned. The caller
// keeps writers out while it runs, not while the scan is read. The scan is valid
// until Close.
//
// Errors: those of Scan and of a flush.
func (r *Rewrite) Next(ctx context.Context, req table.ScanRequest) (table.Scan, error) {
	if err := r.s.flushTable(ctx, r.id); err != nil {
		return nil, err
	}
	sn := r.s.Snapshot()
	r.snaps = append(r.snaps, sn)
	src, err := sn.source(r.id)
	if err != nil {
		return nil, err
	}
	fresh := *src
	fresh.segs, fresh.dels = nil, nil
	for i, g := range src.segs {
		if _, ok := r.seen[g.id.ID]; ok {
			continue
		}
		r.seen[g.id.ID] = copied{g, src.deleted(i)}
		r.order = append(r.order, g.id.ID)
		fresh.segs, fresh.dels = append(fresh.segs, g), append(fresh.dels, src.deleted(i))
	}
	return r.scan(&fresh, req), nil
}

// Removed returns a scan of the rows that earlier calls of Next returned and
// that were deleted by the time of the last one.
func (r *Rewrite) Removed(req table.ScanRequest) (table.Scan, error) {
	src, err := r.snaps[len(r.snaps)-1].source(r.id)
	if err != nil {
		return nil, err
	}
	now := map[uint64]*deletes{}
	for i, g := range src.segs {
		now[g.id.ID] = src.deleted(i)
	}
	gone := *src
	gone.segs, gone.dels, gone.blocks = nil, nil, nil
	for _, id := range r.order {
		c := r.seen[id]
		rest, alive := now[id]
		keep := c.gone // a segment without a live row is not there any more
		if alive {
			since := rest.since(c.gone)
			if since == nil || since.IsEmpty() {
				continue
			}
			others := roaring.Flip(since, 0, uint64(c.seg.info.Rows))
			keep = newDeletes(others, nil)
		}
		gone.segs, gone.dels = append(gone.segs, c.seg), append(gone.dels, keep)
	}
	return r.scan(&gone, req), nil
}

func (r *Rewrite) scan(src *source, req table.ScanRequest) table.Scan {
	sc := &scan{s: r.s, schema: src.schema, req: req, expired: src.expired}
	sc.prepareFilters()
	sc.plan(src)
	return sc
}

// Close lets the table's segments be merged again.
func (r *Rewrite) Close() {
	if r.closed {
		return
	}
	r.closed = true
	for _, sn := range r.snaps {
		sn.Close()
	}
	r.shared.held.Store(false)
	r.s.wakeCompaction()
}
