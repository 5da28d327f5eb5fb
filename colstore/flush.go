package colstore

import (
	"context"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
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

// flushTable turns the blocks that a table has now into segments.
func (s *Store) flushTable(ctx context.Context, id table.ID) error {
	s.flushMu.Lock()
	defer s.flushMu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	st := s.acquire()
	v := st.find(id)
	st.release()
	if v == nil {
		return nil
	}
	v.shared.publish.Lock()
	defer v.shared.publish.Unlock()
	if v = s.freeze(id); v == nil {
		return nil
	}
	lo, hi := v.times()
	b, err := s.build(v.schema, v.blocks[:v.frozen], v.rows, lo, hi)
	if err != nil {
		return fmt.Errorf("flush table %d: %w", id, err)
	}
	for _, g := range b.segs {
		g.info.SeqMin, g.info.SeqMax, g.info.FlushedTo = v.seq, v.seq, v.seq
	}
	rows, err := s.segmentRows(b.segs)
	if err != nil {
		s.removeFiles(b.files)
		return fmt.Errorf("flush table %d: %w", id, err)
	}
	// Blocks committed without a sync may be in the log's buffer only: if they
	// reached a segment and the log were lost, half a transaction would stay.
	if err := s.syncWAL(); err != nil {
		s.removeFiles(append(b.files, rows...))
		return err
	}
	if err := s.ingest(ctx, append(b.files, rows...)); err != nil {
		return fmt.Errorf("flush table %d: %w", id, err)
	}
	return s.adopt(v, b.segs)
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
	if v.active.len() > 0 {
		nv.older = append(v.older[:len(v.older):len(v.older)], v.active)
		nv.active = &keyIndex{}
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

// segmentRows writes the segment rows, one sstable per bucket.
func (s *Store) segmentRows(segs []*seg) (files []string, err error) {
	for from := 0; from < len(segs); {
		to := from
		for to < len(segs) && segs[to].id.Table == segs[from].id.Table && segs[to].id.Bucket == segs[from].id.Bucket {
			to++
		}
		w, name, err := s.newTable()
		if err != nil {
			s.removeFiles(files)
			return nil, err
		}
		files = append(files, name)
		for _, g := range segs[from:to] {
			if err == nil {
				err = w.Set(keys.AppendSegment(nil, g.id), g.info.Append(nil))
			}
		}
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			s.removeFiles(files)
			return nil, fmt.Errorf("write segment rows: %w", err)
		}
		from = to
	}
	return files, nil
}

// syncWAL makes everything that was committed durable.
func (s *Store) syncWAL() error {
	err := s.db.LogData(nil, pebble.Sync)
	if failed := s.failed.get(); failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("sync the log: %w", err)
	}
	return nil
}

// ingest publishes sstables in one step; on an error it removes them.
func (s *Store) ingest(ctx context.Context, files []string) error {
	s.ingesting.RLock()
	defer s.ingesting.RUnlock()
	err := s.db.Ingest(context.WithoutCancel(ctx), files)
	if failed := s.failed.get(); failed != nil {
		return failed
	}
	if err != nil {
		s.removeFiles(files)
		return fmt.Errorf("ingest: %w", err)
	}
	return nil
}

// adopt replaces the frozen blocks by the segments made from them. A table
// dropped meanwhile leaves the segments without an owner.
func (s *Store) adopt(frozen *version, segs []*seg) error {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	id := frozen.schema.ID
	v := s.current.Load().find(id)
	if v == nil {
		return s.disown(segs)
	}
	nv := *v
	for _, b := range v.blocks[:frozen.frozen] {
		if b.gone != nil {
			for _, seq := range b.gone.records {
				_ = s.db.Delete(recordKey(id, arrivalBucket, seq), pebble.NoSync)
			}
		}
	}
	nv.blocks = append([]*block(nil), v.blocks[frozen.frozen:]...)
	nv.frozen, nv.bytes = 0, 0
	for _, b := range nv.blocks {
		nv.bytes += b.size
	}
	nv.older = nil
	nv.segs = newSegList(append(append(make([]*seg, 0, len(v.segs.segs)+len(segs)), v.segs.segs...), segs...))
	nv.dels = append(append(make([]*deletes, 0, len(nv.segs.segs)), v.dels...), make([]*deletes, len(nv.segs.segs)-len(v.dels))...)
	draft := s.draft()
	draft.put(&nv)
	s.moved.add(draft, &relocation{table: id, lost: true})
	s.publish(draft)
	for _, g := range segs {
		g.release()
	}
	from, to := keys.AppendArrival(nil, uint64(id), 0, 0), keys.AppendArrival(nil, uint64(id), 0, frozen.seq+1)
	if err := s.db.DeleteRange(from, to, pebble.NoSync); err != nil {
		return fmt.Errorf("delete arrival blocks: %w", err)
	}
	return s.failed.get()
}

// disown deletes the rows of segments that no table lists and queues their
// chunks for sweeping. The caller holds the commit lock.
func (s *Store) disown(segs []*seg) error {
	b := s.db.NewBatch()
	defer b.Close()
	for _, g := range segs {
		_ = b.Delete(keys.AppendSegment(nil, g.id), nil)
	}
	if err := s.db.Apply(b, pebble.NoSync); err != nil {
		return fmt.Errorf("delete segment rows: %w", err)
	}
	s.discard(segs)
	return s.failed.get()
}
