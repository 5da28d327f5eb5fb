package colstore

import (
	"io"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
)

// seg is a live segment. Its chunks stay readable until the last reference is
// gone.
type seg struct {
	id     keys.SegmentID
	info   *segment.Info
	lo, hi int64 // times, lo > hi: none
	bytes  int64
	starts []uint32 // first row of each block
	// verified has a bit per column and part: the chunk's checksum was right.
	// Pebble verifies what it reads from the disk each time, so that once is
	// enough for ours.
	verified []atomic.Uint64
	refs     atomic.Int64
	doomed   atomic.Bool // to be swept when refs fall to 0
	sweep    func(*seg)
	// pending: its segment row is not ingested yet, so that neither a delete nor
	// a compaction may remove it.
	pending atomic.Bool
}

func newSeg(id keys.SegmentID, info *segment.Info, sweep func(*seg)) *seg {
	g := &seg{id: id, info: info, bytes: info.Bytes(), sweep: sweep}
	g.lo, g.hi = info.Times()
	g.starts = make([]uint32, len(info.BlockRows))
	g.verified = make([]atomic.Uint64, (len(info.Columns)*len(info.PartBlocks)+63)/64)
	row := uint32(0)
	for i, n := range info.BlockRows {
		g.starts[i] = row
		row += uint32(n) + 1
	}
	return g
}

// verification returns where it is noted that a chunk's checksum was right.
func (g *seg) verification(column, part int) (word *atomic.Uint64, mask uint64) {
	bit := column*len(g.info.PartBlocks) + part
	return &g.verified[bit/64], 1 << (bit % 64)
}

// blockOf returns the block that holds a row.
func (g *seg) blockOf(row int) int {
	return sort.Search(len(g.starts), func(i int) bool { return int(g.starts[i]) > row }) - 1
}

func (g *seg) release() {
	if g.refs.Add(-1) == 0 && g.doomed.Load() {
		g.sweep(g)
	}
}

// segList is the segments of one table version, shared by all versions between
// two flushes.
type segList struct {
	refs atomic.Int64
	segs []*seg
}

func newSegList(segs []*seg) *segList {
	for _, g := range segs {
		g.refs.Add(1)
	}
	return &segList{segs: segs}
}

func (l *segList) release() {
	if l.refs.Add(-1) == 0 {
		for _, g := range l.segs {
			g.release()
		}
	}
}

// version is the immutable state of one table.
type version struct {
	schema *table.Schema
	shared *tableShared
	segs   *segList
	dels   []*deletes // deleted rows by segment; nil: none
	blocks []*block   // committed and not yet in segments, in order of sequence
	frozen int        // the first blocks are being flushed: only their deleted rows may change
	rows   int64      // live rows
	bytes  int64      // of blocks
	seq    uint64     // newest sequence of the blocks
	ord    uint64     // ordinal of the next row in blocks
	newest int64      // not below any finite time that the table ever held
	data   uint64     // changes whenever rows are added, in layout row whenever any change

	// Keys of the blocks of a table with a primary key. They belong to the
	// version so that its indexes and its segments together cover its rows.
	active *keyIndex   // of blocks that are not frozen, growing; guarded by shared.mu
	older  []*keyIndex // of frozen blocks
}

// tableShared is the mutable part of a table that all its versions share.
type tableShared struct {
	flushWanted atomic.Bool
	held        atomic.Bool // a Rewrite follows the table: its segments are not merged

	// publish is held by a flush or compaction while it replaces containers,
	// shared by commits that delete rows: between looking where rows are and
	// recording them as deleted, no container may be replaced.
	publish sync.RWMutex

	mu      sync.RWMutex
	maxKey  []byte   // not below any key of the live data
	catchUp keyBatch // scratch of indexes that are brought up to date
}

// state is a consistent set of table versions. A state holds one reference on
// each version's segments.
type state struct {
	refs   atomic.Int64
	tables []*version // ascending by table id
	epoch  *rowEpoch
	trail  *trail // the end of the trail at this time
}

func (st *state) find(id table.ID) *version {
	i := sort.Search(len(st.tables), func(i int) bool { return st.tables[i].schema.ID >= id })
	if i < len(st.tables) && st.tables[i].schema.ID == id {
		return st.tables[i]
	}
	return nil
}

// put replaces or inserts a version in a state that is not published yet.
func (st *state) put(v *version) {
	id := v.schema.ID
	i := sort.Search(len(st.tables), func(i int) bool { return st.tables[i].schema.ID >= id })
	if i < len(st.tables) && st.tables[i].schema.ID == id {
		st.tables[i] = v
		return
	}
	st.tables = append(st.tables, nil)
	copy(st.tables[i+1:], st.tables[i:])
	st.tables[i] = v
}

func (st *state) remove(id table.ID) {
	for i, v := range st.tables {
		if v.schema.ID == id {
			st.tables = append(st.tables[:i], st.tables[i+1:]...)
			return
		}
	}
}

func (st *state) release() {
	if st.refs.Add(-1) != 0 {
		return
	}
	for _, v := range st.tables {
		v.segs.release()
	}
	st.epoch.release()
}

// acquire returns the current state with a reference.
func (s *Store) acquire() *state {
	for {
		st := s.current.Load()
		for n := st.refs.Load(); n > 0; n = st.refs.Load() {
			if st.refs.CompareAndSwap(n, n+1) {
				return st
			}
		}
	}
}

// draft copies the current state for the commit lock's holder to change.
func (s *Store) draft() *state {
	cur := s.current.Load()
	return &state{tables: append(make([]*version, 0, len(cur.tables)+1), cur.tables...), epoch: cur.epoch, trail: cur.trail}
}

// publish makes a draft current. The caller holds the commit lock.
func (s *Store) publish(st *state) {
	st.refs.Store(1)
	for _, v := range st.tables {
		v.segs.refs.Add(1)
	}
	st.epoch.refs.Add(1)
	if old := s.current.Swap(st); old != nil {
		old.release()
	}
}

// rowEpoch is the time between two changes of spaces R, I and C. All snapshots
// of one epoch can share a Pebble snapshot, which is taken when a statement
// first reads those spaces, or by the committer just before it ends the epoch:
// columnar-only work holds none.
type rowEpoch struct {
	db   *pebble.DB
	refs atomic.Int64 // states

	mu      sync.Mutex
	snap    *pebble.Snapshot
	readers int
	ended   bool
}

// end freezes what readers of the epoch see. The committer calls it before it
// applies a change.
func (e *rowEpoch) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.snap == nil {
		e.snap = e.db.NewSnapshot()
	}
	e.ended = true
}

func (e *rowEpoch) open() *pebble.Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.snap == nil {
		e.snap = e.db.NewSnapshot()
	}
	e.readers++
	return e.snap
}

func (e *rowEpoch) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.readers--; e.readers == 0 && !e.ended {
		e.drop()
	}
}

func (e *rowEpoch) drop() {
	if e.snap != nil {
		_ = e.snap.Close()
		e.snap = nil
	}
}

func (e *rowEpoch) release() {
	if e.refs.Add(-1) != 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop()
}

// chunkValue is a chunk and the hold on the cache that its bytes need.
type chunkValue struct {
	segment.Chunk
	closer io.Closer
}

func (c *chunkValue) close() {
	if c.closer != nil {
		_ = c.closer.Close()
		c.closer = nil
	}
}
