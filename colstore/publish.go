package colstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
)

// replacement is a flush or a compaction that has written its chunks.
type replacement struct {
	id     table.ID
	b      *builder
	frozen int    // blocks that a flush replaces
	seq    uint64 // their newest sequence
	segs   []*seg // segments that a compaction replaces
}

// replace publishes the segments of a build in place of its inputs: one Ingest
// adds their rows and removes the rows of the segments that they replace. Rows
// of the inputs that were deleted since the build began are deleted in the new
// segments, in the same Ingest; the publish lock keeps more from arriving.
func (s *Store) replace(ctx context.Context, shared *tableShared, r *replacement) error {
	shared.publish.Lock()
	defer shared.publish.Unlock()
	v := s.find(r.id)
	if v == nil { // dropped
		s.removeFiles(r.b.files)
		s.discard(r.b.segs)
		return nil
	}
	moved := r.b.relocation(r.id)
	r.carryDeletes(v, moved)
	files, err := s.publishFiles(r)
	if err == nil {
		err = s.ingest(ctx, files)
	}
	if err != nil {
		s.discard(r.b.segs)
		return err
	}
	return s.adopt(r, moved)
}

// find returns the current version of a table without a reference: its
// segments may be given up at any time.
func (s *Store) find(id table.ID) *version { return s.current.Load().find(id) }

// publishFiles writes the segment rows, and makes durable what the Ingest
// relies on.
func (s *Store) publishFiles(r *replacement) ([]string, error) {
	files, n, err := s.segmentRows(r.b.segs, r.segs)
	if err != nil {
		s.removeFiles(r.b.files)
		return nil, err
	}
	r.b.bytes += n
	files = append(files, r.b.files...)
	// Blocks committed without a sync may be in the log's buffer only: if they
	// reached a segment and the log were lost, half a transaction would stay.
	// Removing the segment row with a table's watermark relies on the removal of
	// the arrival blocks below it, which adopt writes under the commit lock.
	s.commitMu.Lock()
	//lint:ignore SA2001 a barrier: what held the lock has written its log records
	s.commitMu.Unlock()
	if err := s.syncWAL(); err != nil {
		s.removeFiles(files)
		return nil, err
	}
	return files, nil
}

// deletedNow returns the deleted rows of input k in version v. A segment that
// the version lists no more lost its last row.
func (r *replacement) deletedNow(v *version, k int) *deletes {
	if k < r.frozen {
		return v.blocks[k].gone
	}
	if i := v.segIndex(r.b.in[k].seg.id.ID); i >= 0 {
		return v.deleted(i)
	}
	all := roaring.New()
	all.AddRange(0, uint64(r.b.in[k].rows()))
	return newDeletes(all, nil)
}

// carryDeletes marks rows of the new segments that were deleted since the build
// began.
func (r *replacement) carryDeletes(v *version, moved *relocation) {
	for k := range r.b.in {
		more := r.deletedNow(v, k).since(r.b.in[k].gone)
		if more == nil || more.IsEmpty() {
			continue
		}
		moved.scatter(&moved.sources[k], more, func(g *seg, row uint32) {
			if g.info.Deleted == nil {
				g.info.Deleted = roaring.New()
			}
			g.info.Deleted.Add(row)
		})
	}
}

// adopt puts the new segments into the table's version. A table dropped
// meanwhile leaves them without an owner.
func (s *Store) adopt(r *replacement, moved *relocation) error {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	v := s.find(r.id)
	if v == nil {
		return s.disown(r.b.segs)
	}
	records := r.records(v)
	nv := *v
	lost := r.lostRows(v)
	nv.rows -= lost
	if r.frozen > 0 {
		nv.blocks = append([]*block(nil), v.blocks[r.frozen:]...)
		nv.frozen, nv.bytes, nv.older = 0, 0, nil
		for _, b := range nv.blocks {
			nv.bytes += b.size
		}
	}
	r.exchange(v, &nv)
	draft := s.draft()
	draft.put(&nv)
	s.moved.add(draft, moved)
	for _, g := range r.segs {
		g.doomed.Store(true)
	}
	s.publish(draft)
	s.written.ExpiredRows.Add(lost)
	for _, g := range r.b.segs {
		g.release()
	}
	if err := s.removeReplaced(r, records); err != nil {
		return err
	}
	// Not before: a flush of the memtable between would leave the removal behind.
	s.sweeper.garbage.Add(v.bytes - nv.bytes)
	return nil
}

// exchange replaces segments in nv.
func (r *replacement) exchange(v, nv *version) {
	old := map[*seg]bool{}
	for _, g := range r.segs {
		old[g] = true
	}
	var segs []*seg
	var dels []*deletes
	some := false
	add := func(g *seg, d *deletes) {
		segs, dels = append(segs, g), append(dels, d)
		some = some || d != nil
	}
	for i, g := range v.segs.segs {
		if !old[g] {
			add(g, v.deleted(i))
		}
	}
	for _, g := range r.b.segs {
		add(g, infoDeletes(g.info))
	}
	if nv.segs, nv.dels = newSegList(segs), dels; !some {
		nv.dels = nil
	}
}

// lostRows returns how many live rows the inputs have that the output has not:
// those that were expired.
func (r *replacement) lostRows(v *version) int64 {
	var n int64
	for k, in := range r.b.in {
		n += in.rows() - int64(r.deletedNow(v, k).count())
	}
	for _, g := range r.b.segs {
		n -= g.info.Rows - int64(infoDeletes(g.info).count())
	}
	return n
}

// records returns the keys of the T records about the inputs.
func (r *replacement) records(v *version) [][]byte {
	var out [][]byte
	for k, in := range r.b.in {
		d := r.deletedNow(v, k)
		if d == nil {
			continue
		}
		bucket := arrivalBucket
		if in.seg != nil {
			bucket = in.seg.id.Bucket
		}
		for _, seq := range d.records {
			out = append(out, recordKey(r.id, bucket, seq))
		}
	}
	return out
}

// removeReplaced deletes the arrival blocks that are in segments now, and the
// records about rows that are named otherwise now. The caller holds the commit
// lock.
func (s *Store) removeReplaced(r *replacement, records [][]byte) error {
	if r.frozen == 0 && len(records) == 0 {
		return nil
	}
	b := s.db.NewBatch()
	defer b.Close()
	if r.frozen > 0 {
		from, to := keys.AppendArrival(nil, uint64(r.id), 0, 0), keys.AppendArrival(nil, uint64(r.id), 0, r.seq+1)
		_ = b.DeleteRange(from, to, nil)
	}
	for _, key := range records {
		_ = b.Delete(key, nil)
	}
	if err := s.db.Apply(b, pebble.NoSync); err != nil {
		return fmt.Errorf("delete replaced rows: %w", err)
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

// segmentRows writes the rows of new segments and the removal of others, one
// sstable per bucket.
func (s *Store) segmentRows(segs, gone []*seg) (files []string, size int64, err error) {
	type change struct {
		g   *seg
		del bool
		key []byte
	}
	var all []change
	for _, g := range segs {
		all = append(all, change{g, false, keys.AppendSegment(nil, g.id)})
	}
	for _, g := range gone {
		all = append(all, change{g, true, keys.AppendSegment(nil, g.id)})
	}
	slices.SortFunc(all, func(x, y change) int { return bytes.Compare(x.key, y.key) })
	for from := 0; from < len(all) && err == nil; {
		w, name, werr := s.newTable(anyLevel)
		if werr != nil {
			err = werr
			break
		}
		files = append(files, name)
		id := all[from].g.id
		for ; from < len(all) && all[from].g.id.Table == id.Table && all[from].g.id.Bucket == id.Bucket; from++ {
			if err != nil {
				continue
			}
			if c := all[from]; c.del {
				err = w.Delete(c.key)
			} else {
				err = w.Set(c.key, c.g.info.Append(nil))
			}
		}
		n, cerr := closeTable(w)
		size += n
		if err == nil {
			err = cerr
		}
	}
	if err != nil {
		s.removeFiles(files)
		return nil, 0, fmt.Errorf("write segment rows: %w", err)
	}
	return files, size, nil
}

// syncWAL makes everything that was committed durable.
func (s *Store) syncWAL() error {
	s.written.LogSyncs.Add(1)
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
	if len(files) == 0 {
		return nil
	}
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
