package exec

import (
	"bytes"
	"cmp"
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/spill"
	"tsdb/sql/types"
)

// merger merges sorted runs. Of equal rows those of the earlier run come first.
type merger struct {
	ctx      context.Context
	kinds    []vector.Kind
	runs     []*mergeRun
	heap     []int // runs with rows left, the one with the least row first
	block    int64
	started  bool
	picks    []pick
	out      vector.Batch
	returned int64
}

// pick is a row chosen for the output but not yet copied.
type pick struct {
	run int32
	row int32
}

// mergeRun is the current batch of a run with its keys.
type mergeRun struct {
	fileRows
	keyCols []int
	keys    *sortKeys
	vecs    []*vector.Vector
	n, at   int
}

func newMerger(s *rowSorter, files []*spill.File) *merger {
	m := &merger{ctx: s.ctx, kinds: s.kinds, block: s.block()}
	for _, f := range files {
		m.runs = append(m.runs, &mergeRun{fileRows: *readRows(f), keyCols: s.keyCols, keys: newSortKeys(s.specs),
			vecs: make([]*vector.Vector, len(s.keyCols))})
	}
	return m
}

// load reads the next batch of the run; false: there is none.
func (r *mergeRun) load() (bool, error) {
	b, err := r.next()
	if b == nil || err != nil {
		return false, err
	}
	for i, c := range r.keyCols {
		r.vecs[i] = b.Cols[c]
	}
	r.keys.clear()
	r.keys.add(r.vecs, b.N, nil)
	r.n, r.at = b.N, 0
	return true, nil
}

// clear drops the rows, keeping memory.
func (s *sortKeys) clear() {
	for i := range s.cols {
		c := &s.cols[i]
		c.words, c.nulls = c.words[:0], nil
		if c.rows != nil {
			c.rows.clear()
		}
	}
}

// next returns the next rows, nil at the end.
func (m *merger) next() (*vector.Batch, error) {
	if err := canceled(m.ctx); err != nil {
		return nil, err
	}
	if !m.started {
		m.started = true
		for i, r := range m.runs {
			ok, err := r.load()
			if err != nil {
				return nil, err
			}
			if ok {
				m.heap = append(m.heap, i)
			}
		}
		for i := len(m.heap)/2 - 1; i >= 0; i-- {
			m.down(i)
		}
	}
	shape(&m.out, len(m.kinds))
	for i, k := range m.kinds {
		m.out.Cols[i].Reset(k)
	}
	m.out.N = 0
	if err := m.fill(); err != nil {
		return nil, err
	}
	if m.out.N == 0 {
		return nil, nil
	}
	m.returned += int64(m.out.N)
	return &m.out, nil
}

// fill picks rows until the output has a block of them.
func (m *merger) fill() error {
	for len(m.heap) > 0 {
		top := m.heap[0]
		r := m.runs[top]
		m.picks = append(m.picks, pick{int32(top), int32(r.at)})
		if r.at++; r.at < r.n {
			m.down(0)
			if len(m.picks)+m.out.N < vector.BatchSize {
				continue
			}
			m.copyPicks()
			return nil
		}
		m.copyPicks()
		ok, err := r.load()
		if err != nil {
			return err
		}
		if !ok {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		}
		m.down(0)
		if m.out.N >= vector.BatchSize || m.out.Size() >= m.block {
			return nil
		}
	}
	return nil
}

// copyPicks moves the picked rows to the output.
func (m *merger) copyPicks() {
	for c, dst := range m.out.Cols {
		for _, p := range m.picks {
			dst.AppendFrom(m.runs[p.run].batch.Cols[c], int(p.row))
		}
	}
	m.out.N += len(m.picks)
	m.picks = m.picks[:0]
}

// down restores the heap below i.
func (m *merger) down(i int) {
	for {
		least, l := i, 2*i+1
		if l < len(m.heap) && m.less(m.heap[l], m.heap[least]) {
			least = l
		}
		if l+1 < len(m.heap) && m.less(m.heap[l+1], m.heap[least]) {
			least = l + 1
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

func (m *merger) less(a, b int) bool {
	x, y := m.runs[a], m.runs[b]
	for k := range x.keys.cols {
		if r := x.keys.cols[k].compareWith(uint32(x.at), &y.keys.cols[k], uint32(y.at)); r != 0 {
			return r < 0
		}
	}
	return a < b
}

// compareWith compares row i of c with row j of d, a column of the same key.
func (c *keyColumn) compareWith(i uint32, d *keyColumn, j uint32) int {
	cn, dn := c.nulls != nil && c.nulls[i], d.nulls != nil && d.nulls[j]
	switch {
	case cn && dn:
		return 0
	case cn || dn:
		if cn == c.spec.nullsFirst {
			return -1
		}
		return 1
	}
	if r := cmp.Compare(c.words[i], d.words[j]); r != 0 || c.rows == nil {
		return r
	}
	a, b := c.rows.chunks[i>>chunkShift].Cols[0], d.rows.chunks[j>>chunkShift].Cols[0]
	ri, rj := int(i&(chunkRows-1)), int(j&(chunkRows-1))
	var r int
	if c.text {
		r = bytes.Compare(a.Bytes(ri), b.Bytes(rj))
	} else {
		r = types.Compare(c.spec.typ, a, ri, b, rj)
	}
	if c.spec.desc {
		return -r
	}
	return r
}
