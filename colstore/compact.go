package colstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tsdb/colstore/compaction"
	"tsdb/colstore/table"
)

const (
	// pickRowBytes is what a compaction holds per row of its inputs, with room
	// for the segment that it writes: where each row went.
	pickRowBytes = 16
	// pickRunBytes is what it holds per segment that it reads at once: a decoded
	// block of the key columns and their chunks.
	pickRunBytes = 1 << 20
	minPickRuns  = 8
	maxPickRuns  = 128
	// damagedPause is how long a segment that could not be read is left alone.
	damagedPause = 10 * time.Minute
)

// compactor is the state of compaction: one at a time.
type compactor struct {
	mu      sync.Mutex
	seen    map[uint64]time.Time // when segments were first seen, by id
	damaged map[uint64]time.Time // when segments could not be read
	maxText int64                // bytes of text of a segment; 0: maxSegmentBytes
}

// prune forgets segments that are no more.
func (c *compactor) prune(st *state) {
	live := map[uint64]time.Time{}
	for _, v := range st.tables {
		for _, g := range v.segs.segs {
			if at, ok := c.seen[g.id.ID]; ok {
				live[g.id.ID] = at
			}
		}
	}
	c.seen = live
	for id := range c.damaged {
		if _, ok := live[id]; !ok {
			delete(c.damaged, id)
		}
	}
}

// compactTable carries out what is picked of one table, once, and returns how
// many picks that were. With force every bucket is cold.
func (s *Store) compactTable(ctx context.Context, id table.ID, force bool) (int, error) {
	s.compactor.mu.Lock()
	defer s.compactor.mu.Unlock()
	done := 0
	st := s.acquire()
	defer st.release()
	v := st.find(id)
	if v == nil || v.schema.Layout != table.Columnar || len(v.segs.segs) == 0 || v.shared.held.Load() {
		return 0, nil
	}
	segs, list := s.describe(v)
	for _, p := range compaction.Decide(list, s.pickLimits(v.schema, force)) {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		picked := make([]*seg, len(p.Segments))
		for i, k := range p.Segments {
			picked[i] = segs[k]
		}
		if err := s.compact(ctx, v, p.Reason, picked, force); err != nil {
			return done, fmt.Errorf("compact table %d: %w", id, err)
		}
		done++
	}
	return done, nil
}

func (s *Store) pickLimits(schema *table.Schema, force bool) compaction.Options {
	budget := int64(s.popts.MemTableSize) // a quarter of Options.Memory
	o := compaction.Options{
		SegmentRows: int64(s.segRows),
		MaxRows:     max(budget/pickRowBytes, 2*int64(s.segRows)),
		MaxRuns:     int(min(max(budget/pickRunBytes, minPickRuns), maxPickRuns)),
		Force:       force,
	}
	if o.Expired = s.expiry(schema); o.Expired != noExpiry {
		o.Expires = true
	}
	return o
}

// describe lists the segments that may be picked.
func (s *Store) describe(v *version) ([]*seg, []compaction.Segment) {
	now := s.clock()
	c := &s.compactor
	var segs []*seg
	var list []compaction.Segment
	for i, g := range v.segs.segs {
		first, ok := c.seen[g.id.ID]
		if !ok {
			first = now
			c.seen[g.id.ID] = now
		}
		if at, bad := c.damaged[g.id.ID]; g.pending.Load() || bad && now.Sub(at) < damagedPause {
			continue
		}
		d := compaction.Segment{Bucket: g.id.Bucket, Width: g.info.BucketWidth, ID: g.id.ID, Rows: g.info.Rows, Deleted: int64(v.deleted(i).count()),
			Lo: g.lo, Hi: g.hi, SeqMin: g.info.SeqMin, SeqMax: g.info.SeqMax, Age: now.Sub(first)}
		if g.info.HasKeys {
			d.First, d.Last = g.info.FirstKeys.At(0), g.info.LastKey
		}
		segs, list = append(segs, g), append(list, d)
	}
	return segs, list
}

// compact replaces segments of nested buckets of version v, which the caller holds,
// by what their live rows make.
func (s *Store) compact(ctx context.Context, v *version, why compaction.Reason, segs []*seg, force bool) error {
	cur := s.find(v.schema.ID)
	if cur == nil {
		return nil
	}
	in := make([]input, len(segs))
	for i, g := range segs {
		k := cur.segIndex(g.id.ID)
		if k < 0 {
			return nil // the table was emptied
		}
		in[i] = input{seg: g, gone: cur.deleted(k), dead: cur.deleted(k).bitmap()}
	}
	b := s.newBuilder(cur.schema, in, s.pace(ctx, force))
	b.trace()
	if why != compaction.Drop {
		if err := b.merge(); err != nil {
			s.noteDamage(segs, err)
			return err
		}
	}
	first := segs[0].info
	lo, hi, to := first.SeqMin, first.SeqMax, uint64(0)
	for _, g := range segs {
		lo, hi, to = min(lo, g.info.SeqMin), max(hi, g.info.SeqMax), max(to, g.info.FlushedTo)
	}
	for _, g := range b.segs {
		g.info.SeqMin, g.info.SeqMax, g.info.FlushedTo = lo, hi, to
	}
	if err := s.replace(ctx, cur.shared, &replacement{id: v.schema.ID, b: b, segs: segs}); err != nil {
		return err
	}
	s.written.compacted(b)
	s.log.Debug("compaction", "table", uint64(v.schema.ID), "reason", why.String(), "segments", len(segs), "into", len(b.segs))
	return nil
}

// mostRest bounds a pause of compaction, and so how late it notices Close.
const mostRest = 50 * time.Millisecond

// pace returns what a build asks between its steps. In the background a build
// rests for as long as it worked while rows arrive: whoever loads them needs
// the processor more.
func (s *Store) pace(ctx context.Context, force bool) func() error {
	rows, began := s.written.Rows.Load(), time.Now()
	return func() error {
		if n := s.written.Rows.Load(); !force && n != rows {
			rows = n
			s.rest(min(time.Since(began), mostRest))
		}
		began = time.Now()
		return s.goOn(ctx)
	}
}

// goOn returns why background work has to stop, nil to go on.
func (s *Store) goOn(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if err := s.failed.get(); err != nil {
		return err
	}
	return ctx.Err()
}

// noteDamage leaves segments that cannot be read alone for a while.
func (s *Store) noteDamage(segs []*seg, err error) {
	var c *table.CorruptionError
	if !errors.As(err, &c) {
		return
	}
	for _, g := range segs {
		s.compactor.damaged[g.id.ID] = s.clock()
	}
}
