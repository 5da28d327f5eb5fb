package colstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
)

// formatVersion is the version of the data directory as a whole.
const formatVersion = 1

func appendU64(dst []byte, x uint64) []byte { return binary.BigEndian.AppendUint64(dst, x) }

func tableID(id keys.SegmentID) table.ID { return table.ID(id.Table) }

// recovery gathers what a data directory holds.
type recovery struct {
	s      *Store
	tables map[table.ID]*version
	live   map[keys.SegmentID]bool
	segs   map[table.ID][]*seg
	marks  map[table.ID]uint64 // flushed-to sequence
	dels   map[keys.SegmentID]*deletes
	seq    uint64        // largest seen
	batch  *pebble.Batch // removal of what nobody owns
}

// recover brings the tables up: finish published transactions, then segment
// rows, then the arrival blocks above the watermarks, then sweep.
func (s *Store) recover() error {
	if err := s.emptyStaging(); err != nil {
		return err
	}
	r := &recovery{s: s, tables: map[table.ID]*version{}, live: map[keys.SegmentID]bool{},
		segs: map[table.ID][]*seg{}, marks: map[table.ID]uint64{}, dels: map[keys.SegmentID]*deletes{}, batch: s.db.NewBatch()}
	defer r.batch.Close()
	for _, step := range []func() error{r.format, r.schemas, r.counts, r.pending, r.segmentRows, r.arrivals, r.tombstones, r.chunks} {
		if err := step(); err != nil {
			return err
		}
	}
	if !r.batch.Empty() {
		if err := s.db.Apply(r.batch, pebble.NoSync); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		s.sweeper.garbage.Store(garbageBytes) // files go when the removals leave the memtable
	}
	if err := s.failed.get(); err != nil {
		return err
	}
	r.release()
	st := &state{epoch: &rowEpoch{db: s.db}, trail: &trail{}}
	for id, v := range r.tables {
		v.segs = newSegList(r.segs[id])
		for _, g := range r.segs[id] {
			g.refs.Add(-1) // the reference of recovery itself
			d := r.dels[g.id]
			v.dels = append(v.dels, d)
			v.rows += g.info.Rows - int64(d.count())
			v.shared.raise(g.info.LastKey)
			if g.lo <= g.hi && !g.id.Bucket.Special() {
				v.newest = max(v.newest, g.hi)
			}
		}
		st.put(v)
	}
	s.nextSeq = r.seq + 1
	s.publish(st)
	return nil
}

func (s *Store) emptyStaging() error {
	_ = s.fs.RemoveAll(s.fs.PathJoin(s.dir, checkpointDir)) // of a backup that a crash ended
	dir := s.fs.PathJoin(s.dir, stagingDir)
	if err := s.fs.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create %s: %w", dir, err)
	}
	names, err := s.fs.List(dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	for _, n := range names {
		if err := s.fs.Remove(s.fs.PathJoin(dir, n)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("empty %s: %w", dir, err)
		}
	}
	return nil
}

// each calls f for the keys that start with prefix.
func (r *recovery) each(prefix []byte, f func(key, value []byte) error) error {
	it, err := r.s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keys.AfterPrefix(prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err == nil {
			err = f(it.Key(), value)
		}
		if err != nil {
			_ = it.Close()
			return err
		}
	}
	return it.Close()
}

func (r *recovery) format() error {
	s := r.s
	s.nextID, s.idTop = firstID, firstID
	key := keys.AppendMeta(nil, keys.MetaFormat, nil)
	value, closer, err := s.db.Get(key)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return s.db.Set(key, []byte{formatVersion}, pebble.Sync)
	case err != nil:
		return err
	}
	defer closer.Close()
	if len(value) != 1 || value[0] != formatVersion {
		return fmt.Errorf("format version %v of the data directory is unknown, this program knows %d", value, formatVersion)
	}
	top, closer2, err := s.db.Get(keys.AppendMeta(nil, keys.MetaCounter, nil))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer closer2.Close()
	if len(top) != 8 {
		return &table.CorruptionError{What: "id counter", Why: "it is malformed"}
	}
	s.nextID = binary.BigEndian.Uint64(top)
	s.idTop = s.nextID
	return nil
}

func (r *recovery) schemas() error {
	return r.each(keys.AppendMeta(nil, keys.MetaTable, nil), func(key, value []byte) error {
		id, err := keys.DecodeMetaID(key)
		if err != nil {
			return err
		}
		schema, err := decodeSchema(value)
		if err == nil && uint64(schema.ID) != id {
			err = errors.New("it names another table")
		}
		if err != nil {
			schema = &table.Schema{ID: table.ID(id), Layout: table.Columnar, Time: -1}
			c := &table.CorruptionError{What: fmt.Sprintf("schema of table %d", id), Why: err.Error()}
			if err := r.condemn(schema.ID, c.What, c); err != nil {
				return err
			}
		}
		r.tables[schema.ID] = r.s.newVersion(schema)
		return nil
	})
}

func (r *recovery) counts() error {
	return r.each(keys.AppendMeta(nil, keys.MetaCount, nil), func(key, value []byte) error {
		id, err := keys.DecodeMetaID(key)
		if err != nil {
			return err
		}
		rd := &schemaReader{src: value}
		rows, seq, size := rd.uvarint(), rd.uvarint(), rd.uvarint()
		if rd.bad {
			c := &table.CorruptionError{What: fmt.Sprintf("row count of table %d", id), Why: "it is malformed"}
			return r.condemn(table.ID(id), c.What, c)
		}
		r.seq = max(r.seq, seq)
		if v := r.tables[table.ID(id)]; v != nil {
			v.rows, v.bytes, v.seq = int64(rows), int64(size), seq
		}
		return nil
	})
}

// pending finishes large transactions that committed: it publishes their
// segment rows and removes the record, in one Ingest.
func (r *recovery) pending() error {
	type record struct {
		txn  uint64
		segs []*seg
	}
	var records []record
	err := r.each([]byte{keys.SpacePending}, func(key, value []byte) error {
		txn, err := keys.DecodePending(key)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("commit record %d", txn)
		list, err := segment.DecodePending(value, what)
		if err != nil {
			return err
		}
		r.seq = max(r.seq, txn)
		rec := record{txn: txn}
		for _, p := range list {
			g, err := r.segment(p.Key, p.Row)
			if err != nil {
				return err
			}
			if r.tables[tableID(g.id)] != nil {
				rec.segs = append(rec.segs, g)
			}
		}
		records = append(records, rec)
		return nil
	})
	if err != nil {
		return err
	}
	for _, rec := range records {
		if err := r.s.ingestPending(rec.txn, rec.segs); err != nil {
			return fmt.Errorf("publish transaction %d: %w", rec.txn, err)
		}
	}
	return nil
}

func (r *recovery) segment(key, row []byte) (*seg, error) {
	id, err := keys.DecodeSegment(key)
	if err != nil {
		return nil, err
	}
	info, err := segment.DecodeInfo(row, segmentName(id))
	if err != nil {
		return nil, err
	}
	g := newSeg(id, info, r.s.sweepLater)
	g.refs.Store(1)
	return g, nil
}

func (r *recovery) segmentRows() error {
	return r.eachTable(keys.SpaceSegment, "segment rows", func(key, value []byte) error {
		g, err := r.segment(key, value)
		if err != nil {
			return err
		}
		id := tableID(g.id)
		r.live[g.id] = true
		r.dels[g.id] = infoDeletes(g.info)
		r.segs[id] = append(r.segs[id], g)
		r.marks[id] = max(r.marks[id], g.info.FlushedTo)
		r.seq = max(r.seq, g.info.SeqMax, g.info.FlushedTo)
		return nil
	}, nil)
}

// tombstones applies the records of deleted rows; those about rows that are no
// more are swept.
func (r *recovery) tombstones() error {
	byID := map[uint64]keys.SegmentID{}
	for id := range r.live {
		byID[id.ID] = id
	}
	return r.eachTable(keys.SpaceTombstone, "deleted rows", func(key, value []byte) error {
		id, seq, err := keys.DecodeTombstone(key)
		if err != nil {
			return err
		}
		r.seq = max(r.seq, seq)
		t, err := segment.DecodeTombstone(value, fmt.Sprintf("record %d of deleted rows of table %d", seq, id))
		if err != nil {
			return err
		}
		v := r.tables[table.ID(id)]
		if r.s.condemned[table.ID(id)] != nil {
			return nil
		}
		if t.Segment != 0 {
			sid, ok := byID[t.Segment]
			if !ok {
				return r.batch.Delete(key, nil)
			}
			d := r.dels[sid].union(t.Rows)
			var records []uint64
			if d != nil {
				records = d.records
			}
			r.dels[sid] = newDeletes(d.bitmap(), append(records[:len(records):len(records)], seq))
			return nil
		}
		if !r.deleteArrivals(v, t.Arrivals, seq) {
			return r.batch.Delete(key, nil)
		}
		return nil
	}, nil)
}

// deleteArrivals applies a record about arrival blocks, all of which are in one
// block in memory or in segments already; false if all are in segments.
func (r *recovery) deleteArrivals(v *version, rows []segment.ArrivalRow, seq uint64) bool {
	found := false
	for _, a := range rows {
		i := sort.Search(len(v.blocks), func(i int) bool { return v.blocks[i].runs[0].seq > a.Sequence }) - 1
		if a.Sequence <= r.marks[v.schema.ID] || i < 0 {
			continue
		}
		b := v.blocks[i]
		k := sort.Search(len(b.runs), func(k int) bool { return b.runs[k].seq >= a.Sequence })
		if k == len(b.runs) || b.runs[k].seq != a.Sequence || b.runs[k].row+int(a.Row) >= b.n {
			continue
		}
		set := roaring.BitmapOf(uint32(b.runs[k].row) + a.Row)
		d := b.gone.union(set)
		if n := len(d.records); n == 0 || d.records[n-1] != seq {
			d = newDeletes(d.rows, append(d.records[:n:n], seq))
		}
		v.rows -= int64(d.n - b.gone.count())
		v.blocks[i] = b.without(d)
		found = true
	}
	return found
}

// chunks sweeps chunks without a segment row. It seeks from segment to segment.
func (r *recovery) chunks() error {
	prefix := []byte{keys.SpaceData}
	it, err := r.s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keys.AfterPrefix(prefix)})
	if err != nil {
		return r.tolerate(err)
	}
	for ok := it.First(); ok; {
		id, _, _, err := keys.DecodeData(it.Key())
		if err != nil {
			_ = it.Close()
			return err
		}
		from := keys.AppendDataPrefix(nil, id)
		to := keys.AfterPrefix(from)
		if !r.live[id] && r.s.condemned[tableID(id)] == nil {
			_ = r.batch.DeleteRange(from, to, nil)
		}
		ok = it.SeekGE(to)
	}
	return r.tolerate(it.Close())
}
