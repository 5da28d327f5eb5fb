package colstore

import (
	"bytes"
	"encoding/binary"
	"slices"

	"tsdb/colstore/segment"
)

// sort orders rows of blocks by key, time and arrival, and leaves their keys in
// b.keys.
func (b *builder) sort(rows []rowRef) {
	parts := sortParts(b.schema)
	b.keys.Reset()
	if len(parts) == 0 {
		return
	}
	for _, r := range rows {
		b.keys.Data = appendRowKey(b.keys.Data, parts, b.in[r.input()].mem.cols, r.row())
		b.keys.Ends = append(b.keys.Ends, uint32(len(b.keys.Data)))
	}
	if ascending(&b.keys) {
		return
	}
	if b.split {
		if order := b.bySeries(); order != nil && b.reorder(rows, order) {
			return
		}
	}
	b.reorder(rows, b.byComparison())
}

func ascending(k *segment.Strings) bool {
	for i := 1; i < k.Len(); i++ {
		if bytes.Compare(k.At(i-1), k.At(i)) > 0 {
			return false
		}
	}
	return true
}

// reorder puts rows and keys in an order; false if keys do not ascend then,
// and nothing has changed.
func (b *builder) reorder(rows []rowRef, order []uint32) bool {
	k := &b.other
	k.Reset()
	k.Data = slices.Grow(k.Data, len(b.keys.Data))
	k.Ends = slices.Grow(k.Ends, len(b.keys.Ends))
	for _, i := range order {
		k.Append(b.keys.At(int(i)))
	}
	if !ascending(k) {
		return false
	}
	b.keys, b.other = b.other, b.keys
	old := slices.Clone(rows)
	for i, from := range order {
		rows[i] = old[from]
	}
	return true
}

// fewRows is the average number of rows of a series below which sorting by
// comparison is no slower.
const fewRows = 4

// seriesSort distributes rows to their series: those of a few thousand series
// that arrive in order of time, the usual case, need no comparisons.
type seriesSort struct {
	slots  []uint32 // series + 1 by hash of the key without its time
	first  []uint32 // first row of each series
	count  []uint32
	series []uint32 // of each row
}

// bySeries returns the order of the rows whose keys are in b.keys; nil if there
// are too many series.
func (b *builder) bySeries() []uint32 {
	n := b.keys.Len()
	x := &seriesSort{series: make([]uint32, n)}
	x.grow(b, 1024)
	for i := range n {
		id := x.find(b.series(i), b)
		if id == len(x.first) {
			if id >= n/fewRows {
				return nil
			}
			x.add(b, i)
		}
		x.series[i] = uint32(id)
		x.count[id]++
	}
	return x.order(b)
}

// series returns sort key i without its time.
func (b *builder) series(i int) []byte {
	k := b.keys.At(i)
	return k[:len(k)-b.tail]
}

// find returns the series with a key, the number of series if it is new.
func (x *seriesSort) find(key []byte, b *builder) int {
	mask := uint64(len(x.slots) - 1)
	for at := hashKey(key) & mask; ; at = (at + 1) & mask {
		s := x.slots[at]
		if s == 0 {
			return len(x.first)
		}
		if bytes.Equal(b.series(int(x.first[s-1])), key) {
			return int(s - 1)
		}
	}
}

// add makes row i the first one of a new series.
func (x *seriesSort) add(b *builder, i int) {
	x.first, x.count = append(x.first, uint32(i)), append(x.count, 0)
	if 2*len(x.first) > len(x.slots) {
		x.grow(b, 2*len(x.slots))
		return
	}
	x.place(b, len(x.first)-1)
}

func (x *seriesSort) grow(b *builder, n int) {
	x.slots = make([]uint32, n)
	for s := range x.first {
		x.place(b, s)
	}
}

func (x *seriesSort) place(b *builder, s int) {
	mask := uint64(len(x.slots) - 1)
	at := hashKey(b.series(int(x.first[s]))) & mask
	for x.slots[at] != 0 {
		at = (at + 1) & mask
	}
	x.slots[at] = uint32(s + 1)
}

// order sorts the series by key, and the rows within those whose times do not
// ascend.
func (x *seriesSort) order(b *builder) []uint32 {
	sorted := make([]uint32, len(x.first))
	for s := range sorted {
		sorted[s] = uint32(s)
	}
	slices.SortFunc(sorted, func(s, t uint32) int {
		return bytes.Compare(b.series(int(x.first[s])), b.series(int(x.first[t])))
	})
	next := make([]uint32, len(x.first)) // where the next row of a series goes
	at := uint32(0)
	for _, s := range sorted {
		next[s] = at
		at += x.count[s]
	}
	order := make([]uint32, len(x.series))
	for i, s := range x.series {
		order[next[s]] = uint32(i)
		next[s]++
	}
	time := func(i uint32) []byte {
		k := b.keys.At(int(i))
		return k[len(k)-b.tail:]
	}
	before := func(i, k uint32) int { return bytes.Compare(time(i), time(k)) }
	for _, s := range sorted {
		rows := order[next[s]-x.count[s] : next[s]]
		if !slices.IsSortedFunc(rows, before) {
			slices.SortStableFunc(rows, before)
		}
	}
	return order
}

// sortItem orders a row by the 8 key bytes after the prefix that all share.
type sortItem struct {
	head uint64
	pos  uint32
}

// byComparison returns the order of the rows whose keys are in b.keys.
func (b *builder) byComparison() []uint32 {
	items := b.sortItems()
	slices.SortFunc(items, func(x, y sortItem) int {
		if x.head != y.head {
			if x.head < y.head {
				return -1
			}
			return 1
		}
		if c := bytes.Compare(b.keys.At(int(x.pos)), b.keys.At(int(y.pos))); c != 0 {
			return c
		}
		return int(x.pos) - int(y.pos)
	})
	order := make([]uint32, len(items))
	for i, it := range items {
		order[i] = it.pos
	}
	return order
}

func (b *builder) sortItems() []sortItem {
	n := b.keys.Len()
	shared := len(b.keys.At(0))
	first := b.keys.At(0)
	for i := 1; i < n && shared > 0; i++ {
		k := b.keys.At(i)
		for shared > 0 && (len(k) < shared || !bytes.Equal(k[:shared], first[:shared])) {
			shared--
		}
	}
	items := make([]sortItem, n)
	var head [8]byte
	for i := range items {
		clear(head[:])
		copy(head[:], b.keys.At(i)[shared:])
		items[i] = sortItem{binary.BigEndian.Uint64(head[:]), uint32(i)}
	}
	return items
}
