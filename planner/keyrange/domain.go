package keyrange

import (
	"slices"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// interval is a range of values; a nil bound is open-ended. Bounds are one-row
// vectors of the column's kind.
type interval struct {
	lo, hi         *vector.Vector
	loOpen, hiOpen bool // the bound itself is outside
}

// domain is the set of non-NULL values of a column that can pass: intervals in
// order, disjoint. No intervals: nothing passes.
type domain struct {
	typ types.Type
	ivs []interval
}

func (d domain) compare(a, b *vector.Vector) int { return types.Compare(d.typ, a, 0, b, 0) }

// point reports whether iv holds exactly one value.
func (d domain) point(iv interval) bool {
	return iv.lo != nil && iv.hi != nil && !iv.loOpen && !iv.hiOpen && d.compare(iv.lo, iv.hi) == 0
}

// points reports whether every interval is one value.
func (d domain) points() bool {
	for _, iv := range d.ivs {
		if !d.point(iv) {
			return false
		}
	}
	return true
}

// hull returns the smallest interval around the domain, which is not empty.
func (d domain) hull() interval {
	first, last := d.ivs[0], d.ivs[len(d.ivs)-1]
	return interval{lo: first.lo, loOpen: first.loOpen, hi: last.hi, hiOpen: last.hiOpen}
}

// compareLo orders intervals by where they begin.
func (d domain) compareLo(a, b interval) int {
	switch {
	case a.lo == nil && b.lo == nil:
		return 0
	case a.lo == nil:
		return -1
	case b.lo == nil:
		return 1
	}
	if c := d.compare(a.lo, b.lo); c != 0 {
		return c
	}
	switch {
	case a.loOpen == b.loOpen:
		return 0
	case a.loOpen:
		return 1
	}
	return -1
}

// compareHi orders intervals by where they end.
func (d domain) compareHi(a, b interval) int {
	switch {
	case a.hi == nil && b.hi == nil:
		return 0
	case a.hi == nil:
		return 1
	case b.hi == nil:
		return -1
	}
	if c := d.compare(a.hi, b.hi); c != 0 {
		return c
	}
	switch {
	case a.hiOpen == b.hiOpen:
		return 0
	case a.hiOpen:
		return -1
	}
	return 1
}

// empty reports whether no value can be in iv.
func (d domain) empty(iv interval) bool {
	if iv.lo == nil || iv.hi == nil {
		return false
	}
	c := d.compare(iv.lo, iv.hi)
	return c > 0 || c == 0 && (iv.loOpen || iv.hiOpen)
}

// touches reports whether b, which does not begin before a, begins inside a or
// right at its end.
func (d domain) touches(a, b interval) bool {
	if a.hi == nil || b.lo == nil {
		return true
	}
	c := d.compare(b.lo, a.hi)
	return c < 0 || c == 0 && !(b.loOpen && a.hiOpen)
}

// normal returns the domain of intervals in any order.
func (d domain) normal() domain {
	ivs := slices.Clone(d.ivs)
	slices.SortFunc(ivs, d.compareLo)
	out := ivs[:0]
	for _, iv := range ivs {
		if d.empty(iv) {
			continue
		}
		if n := len(out); n > 0 && d.touches(out[n-1], iv) {
			if d.compareHi(iv, out[n-1]) > 0 {
				out[n-1].hi, out[n-1].hiOpen = iv.hi, iv.hiOpen
			}
			continue
		}
		out = append(out, iv)
	}
	return domain{d.typ, out}
}

// intersect returns the values that both domains of a column have.
func (d domain) intersect(o domain) domain {
	out := domain{typ: d.typ}
	for i, j := 0, 0; i < len(d.ivs) && j < len(o.ivs); {
		a, b := d.ivs[i], o.ivs[j]
		iv := a
		if d.compareLo(b, a) > 0 {
			iv.lo, iv.loOpen = b.lo, b.loOpen
		}
		if d.compareHi(b, a) < 0 {
			iv.hi, iv.hiOpen = b.hi, b.hiOpen
		}
		if !d.empty(iv) {
			out.ivs = append(out.ivs, iv)
		}
		if d.compareHi(a, b) < 0 {
			i++
		} else {
			j++
		}
	}
	return out
}
