package colstore

import (
	"bytes"
	"math"
	"slices"

	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// keyBatch is the row keys of a batch, in row order.
type keyBatch struct {
	keys   segment.Strings
	hashes []uint64
	rows   []int32 // physical row of each
	cand   []int32
	times  []int64
}

// fill encodes the keys of the selected rows.
func (k *keyBatch) fill(s *table.Schema, cols []*vector.Vector, n int, sel []int32) {
	k.keys.Reset()
	k.hashes, k.rows = k.hashes[:0], k.rows[:0]
	count := n
	if sel != nil {
		count = len(sel)
	}
	for i := 0; i < count; i++ {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		start := len(k.keys.Data)
		k.keys.Data = appendRowKey(k.keys.Data, s.Key, cols, row)
		k.keys.Ends = append(k.keys.Ends, uint32(len(k.keys.Data)))
		k.hashes = append(k.hashes, hashKey(k.keys.Data[start:]))
		k.rows = append(k.rows, int32(row))
	}
}

// fillTimes computes the times of the rows; NULL, impossible in a primary key,
// counts as any time.
func (k *keyBatch) fillTimes(s *table.Schema, cols []*vector.Vector) (lo, hi int64) {
	k.times = k.times[:0]
	lo, hi = math.MaxInt64, math.MinInt64
	if s.Time < 0 {
		return math.MinInt64, math.MaxInt64
	}
	for _, row := range k.rows {
		t, _ := timeOf(s, cols[s.Time], int(row))
		lo, hi = min(lo, t), max(hi, t)
		k.times = append(k.times, t)
	}
	return lo, hi
}

// checkKeys finds keys that exist, committed or in the transaction. It returns
// the rows to add (those selected by sel, which may be nil for all) and notes
// their keys. With ConflictError the first duplicate is the error.
func (t *Tx) checkKeys(tt *txTable, v *version, b *vector.Batch, sel []int32) ([]int32, error) {
	k := &t.keys
	k.fill(tt.schema, b.Cols, b.N, sel)
	dup, err := t.s.existing(v, tt.staged, tt.schema, k, b.Cols)
	if err != nil {
		return nil, err
	}
	start := tt.index.len()
	var keep []int32
	for i := range k.rows {
		key, hash := k.keys.At(i), k.hashes[i]
		known := dup != nil && dup.Get(i)
		if !known && tt.index.len() > 0 && bytes.Compare(key, tt.index.max) <= 0 {
			known = tt.index.find(key, hash) >= 0
		}
		if !known {
			tt.index.add(key, hash)
			if keep != nil {
				keep = append(keep, k.rows[i])
			}
			continue
		}
		if tt.schema.Conflict != table.ConflictIgnore {
			tt.index.truncate(start)
			return nil, &table.DuplicateKeyError{Table: tt.schema.ID, Batch: b, Row: int(k.rows[i])}
		}
		if keep == nil {
			keep = append(make([]int32, 0, len(k.rows)), k.rows[:i]...)
		}
	}
	if keep != nil {
		return keep, nil
	}
	return sel, nil
}

// existing marks the keys that are in the committed version v (nil: none) or in
// the staged segments; nil if there are none.
func (s *Store) existing(v *version, staged []*seg, schema *table.Schema, k *keyBatch, cols []*vector.Vector) (vector.Bitmap, error) {
	var dup vector.Bitmap
	mark := func(i int) {
		if dup == nil {
			dup = vector.NewBitmap(len(k.rows), false)
		}
		dup.Set(i)
	}
	segs := staged
	if v != nil {
		if v.probe(k, mark) && len(staged) == 0 {
			return dup, nil
		}
		segs = append(append([]*seg(nil), staged...), v.segs.segs...)
	}
	if len(segs) == 0 || len(k.rows) == 0 {
		return dup, nil
	}
	lo, hi := k.fillTimes(schema, cols)
	first, last := k.keys.At(0), k.keys.At(0)
	for i := range k.rows {
		key := k.keys.At(i)
		if bytes.Compare(key, first) < 0 {
			first = key
		}
		if bytes.Compare(key, last) > 0 {
			last = key
		}
	}
	for _, g := range segs {
		if bytes.Compare(g.info.LastKey, first) < 0 || bytes.Compare(g.info.FirstKeys.At(0), last) > 0 {
			continue
		}
		if g.info.HasTimes && (g.hi < lo || g.lo > hi) {
			continue
		}
		if err := s.existingIn(g, schema, k, mark); err != nil {
			return nil, err
		}
	}
	return dup, nil
}

// probe looks the keys up among those of arrival blocks; it reports whether
// every key is above all live data, which proves all of them absent.
func (v *version) probe(k *keyBatch, mark func(int)) (allNew bool) {
	ts := v.shared
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	allNew = true
	for i, hash := range k.hashes {
		key := k.keys.At(i)
		if bytes.Compare(key, ts.maxKey) > 0 {
			continue
		}
		allNew = false
		if v.active.find(key, hash) >= 0 {
			mark(i)
			continue
		}
		for _, x := range v.older {
			if x.find(key, hash) >= 0 {
				mark(i)
				break
			}
		}
	}
	return allNew
}

// existingIn marks the keys that segment g holds.
func (s *Store) existingIn(g *seg, schema *table.Schema, k *keyBatch, mark func(int)) error {
	first, last := g.info.FirstKeys.At(0), g.info.LastKey
	k.cand = k.cand[:0]
	for i := range k.rows {
		if len(k.times) > 0 && (k.times[i] < g.lo || k.times[i] > g.hi) {
			continue
		}
		if key := k.keys.At(i); bytes.Compare(key, first) >= 0 && bytes.Compare(key, last) <= 0 {
			k.cand = append(k.cand, int32(i))
		}
	}
	if len(k.cand) == 0 {
		return nil
	}
	if err := s.bloomFilter(g, k); err != nil {
		return err
	}
	if len(k.cand) == 0 {
		return nil
	}
	slices.SortFunc(k.cand, func(a, b int32) int { return bytes.Compare(k.keys.At(int(a)), k.keys.At(int(b))) })
	f := keyFinder{s: s, g: g, schema: schema, block: -1}
	defer f.close()
	for _, i := range k.cand {
		found, err := f.contains(k.keys.At(int(i)))
		if err != nil {
			return err
		}
		if found {
			mark(int(i))
		}
	}
	return nil
}

// bloomFilter removes candidates that the segment's filter excludes.
func (s *Store) bloomFilter(g *seg, k *keyBatch) error {
	if g.info.Column(keys.ColumnBloom) == nil {
		return nil
	}
	value, closer, err := s.db.Get(keys.AppendData(nil, g.id, keys.ColumnBloom, 0))
	if err != nil {
		return chunkError(g, keys.ColumnBloom, 0, err)
	}
	defer closer.Close()
	bloom, err := segment.OpenBloom(value, chunkName(g, keys.ColumnBloom, 0))
	if err != nil {
		return err
	}
	out := k.cand[:0]
	for _, i := range k.cand {
		if bloom.MayContain(k.hashes[i]) {
			out = append(out, i)
		}
	}
	k.cand = out
	return nil
}

// keyFinder looks ascending keys up in one segment, decoding each block once.
type keyFinder struct {
	s      *Store
	g      *seg
	schema *table.Schema
	block  int
	reader segReader
	rows   int
	cols   []*vector.Vector
	buf    []byte
}

func (f *keyFinder) close() { f.reader.close() }

func (f *keyFinder) contains(key []byte) (bool, error) {
	b := f.g.info.BlockFor(key)
	if b < 0 {
		return false, nil
	}
	if b != f.block {
		if err := f.load(b); err != nil {
			return false, err
		}
	}
	lo, hi := 0, f.rows
	for lo < hi {
		mid := (lo + hi) / 2
		f.buf = appendRowKey(f.buf[:0], f.schema.Key, f.cols, mid)
		switch c := bytes.Compare(f.buf, key); {
		case c == 0:
			return true, nil
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return false, nil
}

func (f *keyFinder) load(b int) error {
	if f.cols == nil {
		f.reader.init(f.s, f.g, f.schema)
		f.cols = make([]*vector.Vector, len(f.schema.Columns))
		for _, p := range f.schema.Key {
			f.cols[p.Column] = &vector.Vector{}
		}
	}
	for _, p := range f.schema.Key {
		if err := f.reader.decode(p.Column, []int{b}, f.cols[p.Column]); err != nil {
			return err
		}
	}
	f.block, f.rows = b, int(f.g.info.BlockRows[b])+1
	return nil
}
