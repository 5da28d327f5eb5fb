package exec

import (
	"cmp"
	"context"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// sortItem is a row with the word that it is being sorted by.
type sortItem struct {
	word uint64
	id   uint32
}

// sorter orders rows level by level: by the first word of the first key, then
// runs of equal words by the next word of the key (text of more than 8 bytes)
// or the first word of the next key. So nearly all work compares numbers that
// lie side by side. Every step is stable.
type sorter struct {
	keys *sortKeys
	tmp  []sortItem
	ctx  context.Context
	work int  // rows and comparisons since the context was looked at
	quit bool // the context has ended: what is left is passed over
}

// lookRows is the work after which a sort looks at its context again.
const lookRows = 1 << 16

// stopped reports whether to give up; n is the work done since it was last asked.
func (s *sorter) stopped(n int) bool {
	if s.work += n; s.work >= lookRows {
		s.work = 0
		s.quit = s.quit || s.ctx.Err() != nil
	}
	return s.quit
}

// order returns the ids of n rows in order; equal rows keep their order.
func (s *sortKeys) order(ctx context.Context, n int) ([]uint32, error) {
	items := make([]sortItem, n)
	for i := range items {
		items[i].id = uint32(i)
	}
	st := sorter{keys: s, ctx: ctx}
	st.level(items, 0, 0)
	if st.quit {
		return nil, canceled(ctx)
	}
	ids := make([]uint32, n)
	for i, it := range items {
		ids[i] = it.id
	}
	return ids, nil
}

// level sorts items, which are equal in all keys before key and in the first
// at bytes of key.
func (s *sorter) level(items []sortItem, key, at int) {
	if len(items) < 2 || key == len(s.keys.cols) || s.stopped(len(items)) {
		return
	}
	c := &s.keys.cols[key]
	if at == 0 && c.nulls != nil {
		s.aroundNulls(items, key)
		return
	}
	s.words(items, key, at)
}

// aroundNulls sorts NULLs apart from values.
func (s *sorter) aroundNulls(items []sortItem, key int) {
	c := &s.keys.cols[key]
	var nulls []sortItem
	values := items[:0]
	for _, it := range items {
		if c.nulls[it.id] {
			nulls = append(nulls, it)
		} else {
			values = append(values, it)
		}
	}
	n := len(values)
	if c.spec.nullsFirst {
		copy(items[len(nulls):], values)
		copy(items, nulls)
		n = len(nulls)
		s.level(items[:n], key+1, 0)
		s.words(items[n:], key, 0)
		return
	}
	copy(items[n:], nulls)
	s.words(items[:n], key, 0)
	s.level(items[n:], key+1, 0)
}

// words sorts items without NULLs by the word of key that begins at byte at.
func (s *sorter) words(items []sortItem, key, at int) {
	if len(items) < 2 || s.stopped(len(items)) {
		return
	}
	c := &s.keys.cols[key]
	for i := range items {
		items[i].word = c.wordAt(items[i].id, at)
	}
	s.sort(items)
	for lo := 0; lo < len(items); {
		hi := lo + 1
		for hi < len(items) && items[hi].word == items[lo].word {
			hi++
		}
		if hi-lo > 1 {
			switch c.decides(items[lo].word) {
			case allEqual:
				s.level(items[lo:hi], key+1, 0)
			case moreBytes:
				s.words(items[lo:hi], key, at+8)
			default:
				s.compareAll(items[lo:hi], key)
			}
		}
		lo = hi
	}
}

// wordAt returns the word of a row's value that begins at byte at.
func (c *keyColumn) wordAt(id uint32, at int) uint64 {
	if at == 0 {
		return c.words[id]
	}
	b := c.rows.chunks[id>>chunkShift].Cols[0].Bytes(int(id & (chunkRows - 1)))
	w := prefixWord(b[min(at, len(b)):])
	if c.spec.desc {
		return ^w
	}
	return w
}

// What equal words say about values.
const (
	unknown = iota
	allEqual
	moreBytes
)

// decides tells what rows with this same word have in common.
func (c *keyColumn) decides(w uint64) int {
	if c.spec.desc {
		w = ^w
	}
	switch {
	case c.rows == nil:
		return allEqual
	case c.text && c.spec.typ.OID != types.Bytea: // no zero bytes: one means the end
		if w&0xff == 0 {
			return allEqual
		}
		return moreBytes
	case c.spec.typ.OID == types.Numeric && (w&1 == 1 || w == numericZero),
		c.spec.typ.OID == types.Interval && w != 0 && w != ^uint64(0):
		return allEqual
	}
	return unknown
}

// compareAll sorts items by comparing values of key and the keys after it.
func (s *sorter) compareAll(items []sortItem, key int) {
	slices.SortFunc(items, func(a, b sortItem) int {
		if s.stopped(1) {
			return 0
		}
		if r := s.keys.compareFrom(key, a.id, b.id); r != 0 {
			return r
		}
		return cmp.Compare(a.id, b.id)
	})
}

// radixRows is the number of rows from which distributing by bytes beats comparing.
const radixRows = 1024

// sort orders items by word; items come with ascending ids.
func (s *sorter) sort(items []sortItem) {
	if len(items) >= radixRows {
		s.radix(items)
		return
	}
	slices.SortFunc(items, func(a, b sortItem) int {
		switch {
		case a.word < b.word:
			return -1
		case a.word > b.word:
			return 1
		}
		return cmp.Compare(a.id, b.id)
	})
}

// radix distributes by each byte of the word, least significant first, leaving
// out bytes that all words share.
func (s *sorter) radix(items []sortItem) {
	and, or := ^uint64(0), uint64(0)
	for _, it := range items {
		and &= it.word
		or |= it.word
	}
	if cap(s.tmp) < len(items) {
		s.tmp = make([]sortItem, max(len(items), vector.BatchSize))
	}
	from, to := items, s.tmp[:len(items)]
	for shift := uint(0); shift < 64; shift += 8 {
		if (and^or)>>shift&0xff == 0 || s.stopped(len(items)) {
			continue
		}
		var at [256]int
		for _, it := range from {
			at[it.word>>shift&0xff]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, it := range from {
			b := it.word >> shift & 0xff
			to[at[b]] = it
			at[b]++
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
}
