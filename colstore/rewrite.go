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
//	added, _, _ := rw.Next(ctx, req)        // writers kept out for the time of the call: what is there
//	... copy what added reads ...           // writers go on
//	added, removed, _ := rw.Next(ctx, req)  // writers kept out: what came and what went since
//	... delete the copies of what removed reads, then copy what added reads ...
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

// Flush does most of what Next does first, without keeping writers out.
func (r *Rewrite) Flush(ctx context.Context) error { return r.s.flushTable(ctx, r.id) }

// Next returns scans of the rows that no earlier call returned as added, and of
// those that earlier calls did and that are deleted since; removed is nil if
// there are none. A row that was updated is in both. The caller keeps writers
// out while Next runs, not while the scans are read. They are valid until Close.
//
// Errors: those of Scan and of a flush.
func (r *Rewrite) Next(ctx context.Context, req table.ScanRequest) (added, removed table.Scan, err error) {
	if err := r.s.flushTable(ctx, r.id); err != nil {
		return nil, nil, err
	}
	sn := r.s.Snapshot()
	r.snaps = append(r.snaps, sn)
	src, err := sn.source(r.id)
	if err != nil {
		return nil, nil, err
	}
	removed = r.removed(src, req)
	fresh := *src
	fresh.segs, fresh.dels = nil, nil
	for i, g := range src.segs {
		if _, ok := r.seen[g.id.ID]; !ok {
			r.order = append(r.order, g.id.ID)
			fresh.segs, fresh.dels = append(fresh.segs, g), append(fresh.dels, src.deleted(i))
		}
		r.seen[g.id.ID] = copied{g, src.deleted(i)}
	}
	return r.scan(&fresh, req), removed, nil
}

// removed scans what was handed out and is deleted in src; segments that are
// not there any more have lost every row.
func (r *Rewrite) removed(src *source, req table.ScanRequest) table.Scan {
	now := make(map[uint64]*deletes, len(src.segs))
	for i, g := range src.segs {
		now[g.id.ID] = src.deleted(i)
	}
	gone := *src
	gone.segs, gone.dels, gone.blocks = nil, nil, nil
	left := r.order[:0]
	for _, id := range r.order {
		c := r.seen[id]
		dead, alive := now[id]
		if !alive {
			gone.segs, gone.dels = append(gone.segs, c.seg), append(gone.dels, c.gone)
			delete(r.seen, id)
			continue
		}
		left = append(left, id)
		if since := dead.since(c.gone); since != nil && !since.IsEmpty() {
			others := roaring.Flip(since, 0, uint64(c.seg.info.Rows))
			gone.segs, gone.dels = append(gone.segs, c.seg), append(gone.dels, newDeletes(others, nil))
		}
	}
	r.order = left
	if len(gone.segs) == 0 {
		return nil
	}
	return r.scan(&gone, req)
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
