package colstore

import (
	"bytes"
	"slices"
	"sort"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// maxPickSpans bounds the spans that are looked up one by one in the blocks in
// memory: many are cheaper to answer by reading them.
const maxPickSpans = 64

// picker finds the rows of blocks in memory that lie in a request's spans.
type picker struct {
	sc     *scan
	points bool // every span is one whole key of a table with a primary key
	found  map[uint64][]int32
	known  bool // found holds the rows of all committed blocks, by ord
}

func (sc *scan) newPicker(src *source) *picker {
	p := &picker{sc: sc}
	if sc.req.NoPrune || sc.req.Spans == nil || len(sc.schema.Key) == 0 || len(sc.req.Spans) > maxPickSpans {
		return nil
	}
	p.points = sc.schema.Unique
	for _, sp := range sc.req.Spans {
		p.points = p.points && wholeKey(sc.schema, sp.Start) && bytes.Equal(sp.End, rowkey.Successor(sp.Start))
	}
	if p.points && src.version != nil {
		p.lookUp(src)
	}
	return p
}

// lookUp asks the key indexes of the committed blocks.
func (p *picker) lookUp(src *source) {
	p.found = map[uint64][]int32{}
	v := src.version
	ts := v.shared
	ts.mu.RLock()
	lags := v.lags()
	ts.mu.RUnlock()
	if lags {
		v.indexRows()
	}
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	for _, sp := range p.sc.req.Spans {
		hash := hashKey(sp.Start)
		for _, x := range append([]*keyIndex{v.active}, v.older...) {
			at := x.find(sp.Start, hash)
			if at < 0 {
				continue
			}
			b := v.blockOf(x.base + uint64(at))
			if b == nil {
				// A row committed after the snapshot has the key now; one that
				// the snapshot sees may have had it.
				return
			}
			p.found[b.ord] = append(p.found[b.ord], int32(x.base+uint64(at)-b.ord))
		}
	}
	p.known = true
}

// pick returns the live rows of a block that the request may want; all: the
// whole block is to be read.
func (p *picker) pick(b *block, own bool) (rows []int32, all bool) {
	if p == nil || b.n == 0 {
		return nil, true
	}
	if p.known && !own {
		rows = p.found[b.ord]
	} else if rows, all = p.inOrder(b); all {
		return nil, true
	}
	aged := p.sc.schema.Time >= 0 && p.sc.expires(table.Range{Lo: b.lo, Hi: b.hi}) > 0
	kept := rows[:0:0]
	for _, row := range rows {
		if !b.gone.contains(int(row)) && !(aged && p.sc.hides(b.cols[p.sc.schema.Time], int(row))) {
			kept = append(kept, row)
		}
	}
	slices.Sort(kept)
	return kept, false
}

// inOrder finds the rows by the block's order; all where they are many.
func (p *picker) inOrder(b *block) (rows []int32, all bool) {
	o := b.sorted()
	n := o.keys.Len()
	for _, sp := range p.sc.req.Spans {
		from := sort.Search(n, func(i int) bool { return bytes.Compare(o.keys.At(i), sp.Start) >= 0 })
		to := n
		if sp.End != nil {
			to = sort.Search(n, func(i int) bool { return bytes.Compare(o.keys.At(i), sp.End) >= 0 })
		}
		if from < to {
			rows = append(rows, o.perm[from:to]...)
		}
		if len(rows) > n/2 {
			return nil, true
		}
	}
	return rows, false
}

// wholeKey reports whether key spells all parts of a table's key. It knows the
// codecs whose length shows.
func wholeKey(s *table.Schema, key []byte) bool {
	for _, part := range s.Key {
		n := 0
		switch part.Codec {
		case rowkey.CodecBool:
			n = 1
		case rowkey.CodecInt, rowkey.CodecUint, rowkey.CodecFloat:
			n = s.Columns[part.Column].Kind.Width()
		case rowkey.CodecFixed, rowkey.CodecInterval:
			n = 16
		case rowkey.CodecBytes:
			if n = endOfBytes(key); n == 0 {
				return false
			}
		default:
			return false
		}
		if len(key) < n {
			return false
		}
		key = key[n:]
	}
	return len(key) == 0
}

// endOfBytes returns the length of the escaped string that key begins with, 0
// if it does not end.
func endOfBytes(key []byte) int {
	for i := 0; i+1 < len(key); i++ {
		if key[i] != 0 {
			continue
		}
		if key[i+1] == 1 {
			return i + 2
		}
		i++
	}
	return 0
}

// handle is what a caller holds of a pooled reader: closing it twice does no harm.
type handle struct {
	r     *reader
	stats table.ScanStats
}

// Next returns the next batch, nil at the end.
func (h *handle) Next() (*vector.Batch, error) {
	if h.r == nil {
		return nil, nil
	}
	return h.r.Next()
}

// Stats returns the counts so far.
func (h *handle) Stats() table.ScanStats {
	if h.r == nil {
		return h.stats
	}
	return h.r.stats
}

// Close gives the reader back.
func (h *handle) Close() {
	if h.r != nil {
		h.stats = h.r.stats
		h.r.close()
		h.r = nil
	}
}
