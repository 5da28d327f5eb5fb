package colstore

import (
	"math"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// mask finds the rows of blocks that are neither deleted nor expired.
type mask struct {
	sel   []int32
	times vector.Vector
}

// segment returns the live rows of blocks of one part of a segment, numbered
// from the first row of the first block on without gaps; all: every row is live.
func (m *mask) segment(sc *scan, r *segReader, gone *deletes, group []int) (sel []int32, all bool, err error) {
	info := r.g.info
	aged := false
	if info.HasTimes && sc.expired != math.MinInt64 {
		for _, b := range group {
			aged = aged || sc.expires(info.BlockTimes[b]) > 0
		}
	}
	if gone == nil && !aged {
		return nil, true, nil
	}
	m.sel = m.sel[:0]
	all, rows := true, 0
	for _, b := range group {
		n := int(info.BlockRows[b]) + 1
		from := int(r.g.starts[b])
		live, whole := gone.appendAlive(m.sel, from, from+n, rows)
		if whole {
			for i := 0; i < n; i++ {
				live = append(live, int32(rows+i))
			}
		}
		m.sel, all, rows = live, all && whole, rows+n
	}
	if !aged {
		return m.sel, all, nil
	}
	if err := r.decode(sc.schema.Time, group, &m.times); err != nil {
		return nil, false, err
	}
	return m.young(sc, &m.times, rows, 0)
}

// memory returns the live rows from to to of a block in memory, counted from from.
func (m *mask) memory(sc *scan, b *block, from, to int) (sel []int32, all bool) {
	aged := sc.schema.Time >= 0 && sc.expires(table.Range{Lo: b.lo, Hi: b.hi}) > 0
	if b.gone == nil && !aged {
		return nil, true
	}
	live, whole := b.gone.appendAlive(m.sel[:0], from, to, 0)
	m.sel = live
	if !aged {
		return live, whole
	}
	if whole {
		for i := from; i < to; i++ {
			m.sel = append(m.sel, int32(i-from))
		}
	}
	sel, all, _ = m.young(sc, b.cols[sc.schema.Time], to-from, from)
	return sel, all
}

// young keeps the rows of m.sel that are not expired; row i has the time at
// shift + i of v, of n rows in all.
func (m *mask) young(sc *scan, v *vector.Vector, n, shift int) ([]int32, bool, error) {
	kept := m.sel[:0]
	for _, row := range m.sel {
		if !sc.hides(v, shift+int(row)) {
			kept = append(kept, row)
		}
	}
	m.sel = kept
	return kept, len(kept) == n, nil
}

// hides reports whether retention hides the row whose time is at row of v.
func (sc *scan) hides(v *vector.Vector, row int) bool {
	t, null := timeOf(sc.schema, v, row)
	return !null && t < sc.expired && t != math.MinInt64
}
