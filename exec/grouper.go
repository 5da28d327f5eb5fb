package exec

import (
	"slices"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// missing is the number that a lookup gives a value that was never added.
const missing = ^uint32(0)

// grouper numbers the distinct rows of a list of columns: 0, 1, 2, ... in the
// order in which they first appear. NULL equals NULL, -0 equals 0, NaN equals
// NaN, numerics equal by value.
//
// Each column's values are numbered on their own (coder), then the numbers are
// combined pairwise (pairTable): ((c0, c1), c2), ... So no row is ever encoded
// as bytes, and a text column's work is done once per dictionary entry.
type grouper struct {
	cols  []coder
	pairs []pairTable // pairs[i] combines the number of columns 0..i with that of i+1
	code  []uint32    // scratch
	left  []uint32    // scratch of appendKey
}

func newGrouper(cols []columnType) *grouper {
	g := &grouper{cols: make([]coder, len(cols)), pairs: make([]pairTable, max(0, len(cols)-1))}
	for i, c := range cols {
		g.cols[i] = newCoder(c)
	}
	return g
}

// count returns how many distinct rows there are.
func (g *grouper) count() int {
	switch len(g.cols) {
	case 0:
		return 1
	case 1:
		return g.cols[0].count()
	}
	return len(g.pairs[len(g.pairs)-1].list)
}

// assign writes the number of each of the n rows to dst, numbering new ones.
func (g *grouper) assign(keys []*vector.Vector, n int, dst []uint32) { g.numbers(keys, n, dst, true) }

// find writes the number of each of the n rows to dst, missing for unknown ones.
func (g *grouper) find(keys []*vector.Vector, n int, dst []uint32) { g.numbers(keys, n, dst, false) }

func (g *grouper) numbers(keys []*vector.Vector, n int, dst []uint32, add bool) {
	if len(g.cols) == 0 {
		clear(dst[:n])
		return
	}
	g.cols[0].codes(keys[0], n, dst, add)
	if len(g.cols) == 1 {
		return
	}
	left := g.cols[0].count()
	if cap(g.code) < n {
		g.code = make([]uint32, max(n, vector.BatchSize))
	}
	code := g.code[:n]
	for i := range g.pairs {
		g.cols[i+1].codes(keys[i+1], n, code, add)
		g.pairs[i].room(left, g.cols[i+1].count())
		g.pairs[i].combine(dst[:n], code, add)
		left = len(g.pairs[i].list)
	}
}

// view returns a grouper over the same numbers for find alone, with scratch of
// its own: views of one grouper may be used by several goroutines.
func (g *grouper) view() *grouper {
	v := &grouper{cols: make([]coder, len(g.cols)), pairs: slices.Clone(g.pairs)}
	for i, c := range g.cols {
		v.cols[i] = c.view()
	}
	return v
}

// appendKey appends column col of the rows numbered lo..hi-1 to dst.
func (g *grouper) appendKey(col int, dst *vector.Vector, lo, hi int) {
	g.left = g.left[:0]
	for i := lo; i < hi; i++ {
		g.left = append(g.left, uint32(i))
	}
	for p := len(g.pairs) - 1; p >= 0; p-- {
		list := g.pairs[p].list
		if p+1 == col {
			for i, c := range g.left {
				g.left[i] = uint32(list[c])
			}
			break
		}
		for i, c := range g.left {
			g.left[i] = uint32(list[c] >> 32)
		}
	}
	g.cols[col].appendValues(dst, g.left)
}

// size returns the bytes held.
func (g *grouper) size() int64 {
	var s int64
	for _, c := range g.cols {
		s += c.size()
	}
	for i := range g.pairs {
		s += g.pairs[i].size()
	}
	return s
}

// coder numbers the distinct values of one column.
type coder interface {
	codes(v *vector.Vector, n int, dst []uint32, add bool)
	count() int
	appendValues(dst *vector.Vector, codes []uint32)
	size() int64
	view() coder // for lookups, with scratch of its own
}

func newCoder(c columnType) coder {
	switch c.kind {
	case vector.Bytes:
		return newBytesCoder(canonicalForm(c.typ))
	case vector.Fixed16:
		return newWideCoder(c.typ.OID == types.Interval)
	}
	return newWordCoder(c.kind)
}

// directPairs is the largest table of pairTable that is indexed by both
// numbers: 4 MiB, which the processor's cache still serves well.
const directPairs = 1 << 20

// pairTable numbers pairs of numbers.
type pairTable struct {
	list   []uint64 // the pairs by number: first number in the high half
	direct []uint32 // number+1 by first<<shift | second, while that is small
	rows   int      // first numbers that direct has room for
	shift  uint
	slots  []pairSlot // hash table otherwise
}

type pairSlot struct {
	pair uint64
	code uint32 // number+1, 0: empty
}

func (t *pairTable) size() int64 {
	return int64(cap(t.list))*8 + int64(cap(t.direct))*4 + int64(cap(t.slots))*16
}

// combine replaces a[i] by the number of the pair (a[i], b[i]).
func (t *pairTable) combine(a, b []uint32, add bool) {
	if t.slots == nil {
		t.combineDirect(a, b, add)
		return
	}
	t.combineHash(a, b, add)
}

// room makes the direct table cover first numbers below na and second numbers
// below nb, or changes to the hash table when that would be too large.
func (t *pairTable) room(na, nb int) {
	if t.slots != nil || na <= t.rows && nb <= 1<<t.shift && t.direct != nil {
		return
	}
	rows, shift := max(t.rows, 1), t.shift
	for rows < na {
		rows *= 2
	}
	for 1<<shift < nb {
		shift++
	}
	if rows<<shift > directPairs {
		t.direct, t.rows = nil, 0
		t.rehash(1 << 12)
		return
	}
	direct := make([]uint32, rows<<shift)
	for i, p := range t.list {
		direct[p>>32<<shift|p&0xffffffff] = uint32(i) + 1
	}
	t.direct, t.rows, t.shift = direct, rows, shift
}

func (t *pairTable) combineDirect(a, b []uint32, add bool) {
	direct, shift := t.direct, t.shift
	b = b[:len(a)]
	for i, x := range a {
		y := b[i]
		if x == missing || y == missing {
			a[i] = missing
			continue
		}
		at := x<<shift | y
		c := direct[at]
		if c == 0 {
			if add {
				t.list = append(t.list, uint64(x)<<32|uint64(y))
				direct[at] = uint32(len(t.list))
			}
			c = direct[at]
		}
		a[i] = c - 1 // 0 - 1 is missing
	}
}

func (t *pairTable) rehash(n int) {
	for n < len(t.list)*2 {
		n *= 2
	}
	t.slots = make([]pairSlot, n)
	mask := uint64(n - 1)
	for i, p := range t.list {
		h := mix(p) & mask
		for t.slots[h].code != 0 {
			h = (h + 1) & mask
		}
		t.slots[h] = pairSlot{p, uint32(i) + 1}
	}
}

func (t *pairTable) combineHash(a, b []uint32, add bool) {
	b = b[:len(a)]
	if add && (len(t.list)+len(a))*2 > len(t.slots) {
		t.rehash(max(len(t.slots)*2, (len(t.list)+len(a))*2))
	}
	slots, mask := t.slots, uint64(len(t.slots)-1)
	for i, x := range a {
		y := b[i]
		if x == missing || y == missing {
			a[i] = missing
			continue
		}
		p := uint64(x)<<32 | uint64(y)
		h := mix(p) & mask
		for slots[h].code != 0 && slots[h].pair != p {
			h = (h + 1) & mask
		}
		if slots[h].code == 0 && add {
			t.list = append(t.list, p)
			slots[h] = pairSlot{p, uint32(len(t.list))}
		}
		a[i] = slots[h].code - 1
	}
}
