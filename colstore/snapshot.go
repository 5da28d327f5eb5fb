package colstore

import (
	"math"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/table"
)

// Snapshot is an immutable committed state. Safe for concurrent use.
type Snapshot struct {
	s    *Store
	st   *state
	over map[table.ID]*overlay // writes of a transaction; nil: none
	now  int64                 // microseconds since 1970, for retention

	mu     sync.Mutex
	rows   *pebble.Snapshot // opened when a statement first reads rows
	closed bool
}

// overlay is what a transaction's snapshot sees of one table.
type overlay struct {
	schema  *table.Schema // nil: dropped
	blocks  []*block
	staged  []*seg
	gone    rowSets // deleted rows, as the snapshot's state names them
	rows    rowOverlay
	lost    bool  // where deleted rows are now is not known
	added   int64 // rows
	created bool
}

// Snapshot returns the committed state of now. Close it.
func (s *Store) Snapshot() *Snapshot {
	return &Snapshot{s: s, st: s.acquire(), now: s.clock().UnixMicro()}
}

// Snapshot returns the latest committed state overlaid with this
// transaction's own writes so far: what the next statement reads. Later writes
// of the transaction do not show in it.
func (t *Tx) Snapshot() *Snapshot {
	sn := t.s.Snapshot()
	t.overlay(sn)
	return sn
}

// overlay adds the transaction's writes to a snapshot.
func (t *Tx) overlay(sn *Snapshot) {
	if t.done || t.empty() {
		return
	}
	sn.over = map[table.ID]*overlay{}
	for _, tt := range t.order {
		sn.over[tt.schema.ID] = t.overlayOf(tt, sn)
	}
	for _, id := range t.dropped {
		if o := sn.over[id]; o != nil {
			o.schema = nil
		} else {
			sn.over[id] = &overlay{}
		}
	}
}

func (t *Tx) overlayOf(tt *txTable, sn *Snapshot) *overlay {
	o := &overlay{schema: tt.schema, created: tt.created, added: tt.rows}
	o.blocks = append(o.blocks, tt.blocks...)
	for _, g := range tt.staged {
		g.refs.Add(1)
		o.staged = append(o.staged, g)
	}
	if len(tt.gone.rows) > 0 {
		if sn.st == t.base {
			o.gone = tt.gone.base.clone()
			for p, set := range tt.gone.rows {
				if p.own || tt.stagedAt(p.seg) != nil {
					if o.gone == nil {
						o.gone = rowSets{}
					}
					o.gone[p] = set.Clone()
				}
			}
		} else {
			o.gone = tt.gone.rows.clone()
			if tt.gone.trail != sn.st.trail && !tt.gone.trail.follow(sn.st.trail, tt.schema.ID, o.gone) {
				o.lost = true
			}
		}
		for p, set := range o.gone {
			if !p.own && tt.stagedAt(p.seg) == nil {
				o.added -= int64(set.GetCardinality())
			}
		}
	}
	if len(tt.ops) > 0 {
		o.rows = tt.overlayRows()
		o.added += o.rows.addedRows()
	}
	return o
}

// Close releases the snapshot.
func (s *Snapshot) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	opened := s.rows != nil
	s.mu.Unlock()
	if opened {
		s.st.epoch.close()
	}
	for _, o := range s.over {
		for _, g := range o.staged {
			g.release()
		}
	}
	s.st.release()
}

// rowReader returns the Pebble snapshot of this state.
func (s *Snapshot) rowReader() *pebble.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = s.st.epoch.open()
	}
	return s.rows
}

// source is everything that a snapshot sees of one table.
type source struct {
	schema    *table.Schema
	version   *version // committed; nil: none
	segs      []*seg
	dels      []*deletes // by segment; nil: none
	blocks    []*block   // committed ones, then the transaction's
	committed int        // number of committed blocks
	over      *overlay
	rows      int64
	bytes     int64
	stored    bool  // space R may hold rows
	expired   int64 // rows with an earlier time are hidden; math.MinInt64: none
}

func (s *Snapshot) source(id table.ID) (*source, error) {
	o := s.over[id]
	if o != nil && o.schema == nil {
		return nil, table.ErrUnknownTable
	}
	if o != nil && o.lost {
		return nil, table.ErrRowsChanged
	}
	if err := s.s.condemnedError(id); err != nil {
		return nil, err
	}
	src := &source{over: o, expired: math.MinInt64}
	if v := s.st.find(id); v != nil {
		src.version = v
		src.schema, src.segs, src.dels, src.blocks = v.schema, v.segs.segs, v.dels, v.blocks
		src.rows, src.bytes, src.stored = v.rows, v.bytes, true
	}
	src.committed = len(src.blocks)
	if o != nil {
		src.lay(o)
	}
	if src.schema == nil {
		return nil, table.ErrUnknownTable
	}
	if src.schema.Retention > 0 && src.schema.Time >= 0 && src.schema.Layout == table.Columnar {
		src.expired = s.now - src.schema.Retention
	}
	return src, nil
}

// lay puts a transaction's writes over the committed rows.
func (src *source) lay(o *overlay) {
	if src.schema != o.schema && len(src.blocks) > 0 {
		blocks := make([]*block, len(src.blocks))
		for i, b := range src.blocks {
			blocks[i] = b.reshape(o.schema)
		}
		src.blocks = blocks
	}
	src.schema = o.schema
	segs := len(src.segs)
	src.segs = append(src.segs[:segs:segs], o.staged...)
	src.blocks = append(src.blocks[:src.committed:src.committed], o.blocks...)
	src.rows += o.added
	for _, b := range o.blocks {
		src.bytes += b.size
	}
	if src.dels != nil {
		src.dels = append(src.dels[:segs:segs], make([]*deletes, len(o.staged))...)
	}
	if len(o.gone) == 0 {
		return
	}
	dels := make([]*deletes, len(src.segs))
	copy(dels, src.dels)
	for i, g := range src.segs {
		dels[i] = dels[i].union(o.gone[place{seg: g.id.ID}])
	}
	src.dels = dels
	owned := false
	for i, b := range src.blocks {
		set := o.gone[place{block: b.ord, own: i >= src.committed}]
		if set == nil {
			continue
		}
		if !owned {
			src.blocks = append([]*block(nil), src.blocks...)
			owned = true
		}
		src.blocks[i] = b.without(b.gone.union(set))
	}
}

// deleted returns the deleted rows of segment i.
func (src *source) deleted(i int) *deletes {
	if src.dels == nil {
		return nil
	}
	return src.dels[i]
}

// Stats describes a table; the zero value for an unknown id.
func (s *Snapshot) Stats(id table.ID) table.Stats {
	src, err := s.source(id)
	if err != nil {
		return table.Stats{}
	}
	st := table.Stats{Rows: src.rows, Bytes: src.bytes, MinTime: math.MaxInt64, MaxTime: math.MinInt64}
	note := func(lo, hi int64) {
		if lo = max(lo, src.expired); lo <= hi {
			st.MinTime, st.MaxTime = min(st.MinTime, lo), max(st.MaxTime, hi)
		}
	}
	for _, g := range src.segs {
		st.Segments++
		st.Blocks += int64(len(g.info.BlockRows))
		st.Bytes += g.bytes
		note(g.lo, g.hi)
	}
	for _, b := range src.blocks {
		st.Blocks += int64(b.n+1023) / 1024
		note(b.lo, b.hi)
	}
	return st
}
