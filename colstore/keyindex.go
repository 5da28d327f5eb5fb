package colstore

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"

	"tsdb/colstore/segment"
)

// keyIndex finds rows by key: open addressing over 64-bit hashes, keys in one
// buffer in the order of arrival, one per row. Where a key repeats, because the
// earlier row was deleted, the newest row is found. It holds the keys of
// arrival blocks only and so is bounded by the flush threshold.
//
// It may lag behind the rows: keys that are proved to be new are not looked up,
// and so need not be found before somebody looks.
type keyIndex struct {
	base   uint64   // ordinal of the row with key 0
	end    uint64   // ordinal behind the rows it is for; 0: rows are still added
	slots  []uint32 // position of the key + 1; 0: free
	hashes []uint64
	keys   segment.Strings
	max    []byte // largest key
}

// keyIndexOverhead is the bytes a key takes besides its own: hash, end and, at
// half load, slots.
const keyIndexOverhead = 8 + 4 + 12

func hashKey(key []byte) uint64 { return xxhash.Sum64(key) }

func (x *keyIndex) len() int { return len(x.hashes) }

// find returns the position of a key, -1 if it is absent.
func (x *keyIndex) find(key []byte, hash uint64) int {
	if len(x.slots) == 0 {
		return -1
	}
	mask := uint64(len(x.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		p := x.slots[at]
		if p == 0 {
			return -1
		}
		if x.hashes[p-1] == hash && bytes.Equal(x.keys.At(int(p-1)), key) {
			return int(p - 1)
		}
	}
}

// warm fetches the slots of keys that are about to be looked up: loads that do
// not wait for each other take a fraction of the time of as many misses in turn.
func (x *keyIndex) warm(hashes []uint64) (sum uint32) {
	if len(x.slots) < warmSlots || len(hashes) < warmKeys {
		return 0
	}
	mask := uint64(len(x.slots) - 1)
	for _, h := range hashes {
		sum += x.slots[h&mask]
	}
	return sum
}

const (
	warmSlots = 1 << 16 // smaller tables are in the cache anyway
	warmKeys  = 16
)

// add inserts the key of the next row.
func (x *keyIndex) add(key []byte, hash uint64) {
	if len(x.hashes)*2 >= len(x.slots) {
		x.grow()
	}
	x.hashes = append(x.hashes, hash)
	x.keys.Append(key)
	x.place(hash, uint32(len(x.hashes)))
	if bytes.Compare(key, x.max) > 0 {
		x.max = append(x.max[:0], key...)
	}
}

// grow makes room for keys: at once for as many as the slots take, so that they
// move seldom.
func (x *keyIndex) grow() {
	n := max(1024, 4*len(x.slots))
	if len(x.slots) >= 1<<20 {
		n = 2 * len(x.slots)
	}
	if have := len(x.hashes); have > 0 {
		more := n/2 - have
		x.hashes = slices.Grow(x.hashes, more)
		x.keys.Ends = slices.Grow(x.keys.Ends, more)
		x.keys.Data = slices.Grow(x.keys.Data, len(x.keys.Data)/have*more)
	}
	x.rehash(n)
}

func (x *keyIndex) place(hash uint64, p uint32) {
	mask := uint64(len(x.slots) - 1)
	at := hash & mask
	for q := x.slots[at]; q != 0; q = x.slots[at] {
		if x.hashes[q-1] == hash && bytes.Equal(x.keys.At(int(q-1)), x.keys.At(int(p-1))) {
			break
		}
		at = (at + 1) & mask
	}
	x.slots[at] = p
}

func (x *keyIndex) rehash(n int) {
	x.slots = make([]uint32, n)
	for i, h := range x.hashes {
		x.place(h, uint32(i+1))
	}
}

// truncate keeps the first n keys.
func (x *keyIndex) truncate(n int) {
	if n >= len(x.hashes) {
		return
	}
	x.hashes = x.hashes[:n]
	x.keys.Ends = x.keys.Ends[:n]
	end := uint32(0)
	if n > 0 {
		end = x.keys.Ends[n-1]
	}
	x.keys.Data = x.keys.Data[:end]
	x.max = x.max[:0]
	for i := 0; i < n; i++ {
		if k := x.keys.At(i); bytes.Compare(k, x.max) > 0 {
			x.max = append(x.max[:0], k...)
		}
	}
	x.rehash(max(1024, len(x.slots)))
}

// reset empties the index, keeping its memory.
func (x *keyIndex) reset() {
	clear(x.slots)
	x.hashes, x.max = x.hashes[:0], x.max[:0]
	x.keys.Reset()
}

// extend adds the keys of the rows of a block from the next ordinal on, up to end.
func (x *keyIndex) extend(b *block, end uint64, k *keyBatch) {
	from := int(x.base + uint64(x.len()) - b.ord)
	to := int(min(end, b.end()) - b.ord)
	k.sel = k.sel[:0]
	for row := from; row < to; row++ {
		k.sel = append(k.sel, int32(row))
	}
	k.fill(b.schema, b.cols, b.n, k.sel)
	k.warmed += x.warm(k.hashes)
	for i, h := range k.hashes {
		x.add(k.keys.At(i), h)
	}
}

// raise makes key the largest key of the live data, if it is. The caller holds mu.
func (ts *tableShared) raise(key []byte) {
	if bytes.Compare(key, ts.maxKey) > 0 {
		ts.maxKey = append(ts.maxKey[:0], key...)
	}
}
