package colstore

import (
	"context"
	"fmt"
	"math"

	"tsdb/colstore/table"
)

// Flush moves all arrival blocks into segments and returns when it is done.
func (s *Store) Flush() error {
	st := s.acquire()
	var ids []table.ID
	for _, v := range st.tables {
		if len(v.blocks) > 0 {
			ids = append(ids, v.schema.ID)
		}
	}
	st.release()
	for _, id := range ids {
		if err := s.flushTable(context.Background(), id); err != nil {
			return err
		}
	}
	return nil
}

// flushTable turns the blocks that a table has now into segments. Rows that
// are deleted or expired are left out.
func (s *Store) flushTable(ctx context.Context, id table.ID) error {
	s.flushMu.Lock()
	defer s.flushMu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	v := s.freeze(id)
	if v == nil {
		return nil
	}
	in := make([]input, v.frozen)
	for i, b := range v.blocks[:v.frozen] {
		in[i] = input{mem: b.reshape(v.schema), gone: b.gone, dead: b.gone.bitmap()}
	}
	b := s.newBuilder(v.schema, in, ctx.Err)
	b.trace()
	lo, hi := v.times()
	if err := b.build(v.rows, lo, hi); err != nil {
		return fmt.Errorf("flush table %d: %w", id, err)
	}
	for _, g := range b.segs {
		g.info.SeqMin, g.info.SeqMax, g.info.FlushedTo = v.seq, v.seq, v.seq
	}
	if err := s.replace(ctx, v.shared, &replacement{id: id, b: b, frozen: v.frozen, seq: v.seq}); err != nil {
		return fmt.Errorf("flush table %d: %w", id, err)
	}
	s.written.flushed(b)
	s.wakeCompaction()
	return nil
}

// freeze marks all blocks of a table as being flushed and returns that
// version, nil if there is nothing to flush.
func (s *Store) freeze(id table.ID) *version {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	v := s.current.Load().find(id)
	if v == nil {
		return nil
	}
	v.shared.flushWanted.Store(false)
	if len(v.blocks) == 0 {
		return nil
	}
	nv := *v
	nv.frozen = len(v.blocks)
	if v.schema.Unique {
		v.shared.mu.Lock()
		v.active.end = v.ord
		v.shared.mu.Unlock()
		nv.older = append(v.older[:len(v.older):len(v.older)], v.active)
		nv.active = &keyIndex{base: v.ord}
	}
	draft := s.draft()
	draft.put(&nv)
	s.publish(draft)
	return &nv
}

// times returns the bounds of the finite times of a version's segments.
func (v *version) times() (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, g := range v.segs.segs {
		if g.lo <= g.hi && !g.id.Bucket.Special() {
			lo, hi = min(lo, g.lo), max(hi, g.hi)
		}
	}
	return lo, hi
}
