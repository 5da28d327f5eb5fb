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

	mu     sync.Mutex
	rows   *pebble.Snapshot // opened when a statement first reads rows
	closed bool
}

// overlay is what a transaction's snapshot sees of one table.
type overlay struct {
	schema  *table.Schema // nil: dropped
	blocks  []*block
	staged  []*seg
	rows    []overlayRow
	added   int64 // rows
	created bool
}

// Snapshot returns the committed state of now. Close it.
func (s *Store) Snapshot() *Snapshot { return &Snapshot{s: s, st: s.acquire()} }

// Snapshot returns the latest committed state overlaid with this
// transaction's own writes so far: what the next statement reads. Later writes
// of the transaction do not show in it.
func (t *Tx) Snapshot() *Snapshot {
	sn := t.s.Snapshot()
	if t.done || t.empty() {
		return sn
	}
	sn.over = map[table.ID]*overlay{}
	for _, tt := range t.order {
		o := &overlay{schema: tt.schema, created: tt.created, added: tt.rows}
		o.blocks = append(o.blocks, tt.blocks...)
		for _, g := range tt.staged {
			g.refs.Add(1)
			o.staged = append(o.staged, g)
		}
		if len(tt.ops) > 0 {
			o.rows = tt.sortedRows()
			for _, op := range tt.ops {
				if !op.replaces {
					o.added++
				}
			}
		}
		sn.over[tt.schema.ID] = o
	}
	for _, id := range t.dropped {
		if o := sn.over[id]; o != nil {
			o.schema = nil
		} else {
			sn.over[id] = &overlay{}
		}
	}
	return sn
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
	schema *table.Schema
	segs   []*seg
	blocks []*block
	over   *overlay
	rows   int64
	bytes  int64
	stored bool // space R may hold rows
}

func (s *Snapshot) source(id table.ID) (*source, error) {
	o := s.over[id]
	if o != nil && o.schema == nil {
		return nil, table.ErrUnknownTable
	}
	src := &source{over: o}
	if v := s.st.find(id); v != nil {
		src.schema, src.segs, src.blocks = v.schema, v.segs.segs, v.blocks
		src.rows, src.bytes, src.stored = v.rows, v.bytes, true
	}
	if o != nil {
		src.schema = o.schema
		src.segs = append(src.segs[:len(src.segs):len(src.segs)], o.staged...)
		src.blocks = append(src.blocks[:len(src.blocks):len(src.blocks)], o.blocks...)
		src.rows += o.added
		for _, b := range o.blocks {
			src.bytes += b.size
		}
	}
	if src.schema == nil {
		return nil, table.ErrUnknownTable
	}
	return src, nil
}

// Stats describes a table; the zero value for an unknown id.
func (s *Snapshot) Stats(id table.ID) table.Stats {
	src, err := s.source(id)
	if err != nil {
		return table.Stats{}
	}
	st := table.Stats{Rows: src.rows, Bytes: src.bytes, MinTime: math.MaxInt64, MaxTime: math.MinInt64}
	note := func(lo, hi int64) {
		if lo <= hi {
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
