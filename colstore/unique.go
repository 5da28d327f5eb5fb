package colstore

import (
	"bytes"
	"errors"
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
	sel    []int32
	slots  []uint32 // see distinct
	times  []int64
	hits   []hit
	warmed uint32 // keeps the loads of warm
}

// hit is the live row that has a key.
type hit struct {
	at  place
	row uint32
	ok  bool
}

// unseen is the block of rows that were committed after the version that was
// asked: where they are is found at commit.
const unseen = math.MaxUint64

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

// holders finds the keys of k that live rows of the committed version v (nil:
// none) or of the staged segments have; nil if there are none, else one hit per
// key. Rows that the caller's transaction has deleted are found, too, except
// those that gone holds.
func (s *Store) holders(v *version, staged []*seg, gone rowSets, schema *table.Schema, k *keyBatch, cols []*vector.Vector) ([]hit, error) {
	found := false
	k.hits = append(k.hits[:0], make([]hit, len(k.rows))...)
	mark := func(i int, p place, row uint32) {
		if !gone.has(p, row) {
			k.hits[i], found = hit{p, row, true}, true
		}
	}
	result := func() []hit {
		if found {
			return k.hits
		}
		return nil
	}
	segs, committed := staged, 0
	if v != nil {
		if v.probe(k, mark) && len(staged) == 0 {
			return result(), nil
		}
		segs = append(append([]*seg(nil), v.segs.segs...), staged...)
		committed = len(v.segs.segs)
	}
	if len(segs) == 0 || len(k.rows) == 0 {
		return result(), nil
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
	for gi, g := range segs {
		if bytes.Compare(g.info.LastKey, first) < 0 || bytes.Compare(g.info.FirstKeys.At(0), last) > 0 {
			continue
		}
		if g.info.HasTimes && (g.hi < lo || g.lo > hi) {
			continue
		}
		var dead *deletes
		if gi < committed {
			dead = v.deleted(gi)
		}
		if err := s.lookupIn(g, dead, schema, k, mark); err != nil {
			return nil, err
		}
	}
	return result(), nil
}

// probe looks the keys up among those of arrival blocks; it reports whether
// every key is above all live data, which proves all of them absent.
func (v *version) probe(k *keyBatch, mark func(i int, p place, row uint32)) (allNew bool) {
	ts := v.shared
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	if k.above(ts.maxKey) {
		return true
	}
	allNew = true
	if v.lags() {
		ts.mu.RUnlock()
		v.indexRows()
		ts.mu.RLock()
	}
	k.warmed += v.active.warm(k.hashes)
	for _, x := range v.older {
		k.warmed += x.warm(k.hashes)
	}
	for i, hash := range k.hashes {
		key := k.keys.At(i)
		if bytes.Compare(key, ts.maxKey) > 0 {
			continue
		}
		allNew = false
		if v.probeOne(v.active, i, key, hash, mark) {
			continue
		}
		for _, x := range v.older {
			if v.probeOne(x, i, key, hash, mark) {
				break
			}
		}
	}
	return allNew
}

// above reports whether all keys are above max.
func (k *keyBatch) above(max []byte) bool {
	for i := range k.rows {
		if bytes.Compare(k.keys.At(i), max) <= 0 {
			return false
		}
	}
	return true
}

// lags reports whether the key indexes lack rows of the version. The caller
// holds shared.mu.
func (v *version) lags() bool {
	for _, x := range v.older {
		if x.base+uint64(x.len()) < x.end {
			return true
		}
	}
	return v.schema.Unique && v.active.base+uint64(v.active.len()) < v.lastOrd(v.active)
}

// lastOrd returns the ordinal behind the rows of the version that belong to x.
func (v *version) lastOrd(x *keyIndex) uint64 {
	if x.end != 0 {
		return min(x.end, v.ord)
	}
	return v.ord
}

// indexRows brings the key indexes up to the version's rows.
func (v *version) indexRows() {
	ts := v.shared
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, x := range append(v.older[:len(v.older):len(v.older)], v.active) {
		end := v.lastOrd(x)
		for x.base+uint64(x.len()) < end {
			x.extend(v.blockOf(x.base+uint64(x.len())), end, &ts.catchUp)
		}
	}
}

// probeOne looks a key up in one index and reports whether a live row has it.
func (v *version) probeOne(x *keyIndex, i int, key []byte, hash uint64, mark func(i int, p place, row uint32)) bool {
	p := x.find(key, hash)
	if p < 0 {
		return false
	}
	ord := x.base + uint64(p)
	b := v.blockOf(ord)
	if b == nil {
		mark(i, place{block: unseen}, 0)
		return true
	}
	row := int(ord - b.ord)
	if b.gone.contains(row) {
		return false
	}
	mark(i, place{block: b.ord}, uint32(row))
	return true
}

// lookupIn finds keys among the live rows of segment g.
func (s *Store) lookupIn(g *seg, dead *deletes, schema *table.Schema, k *keyBatch, mark func(i int, p place, row uint32)) error {
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
		row, err := f.find(k.keys.At(int(i)))
		if err != nil {
			return err
		}
		if row >= 0 && !dead.contains(row) {
			mark(int(i), place{seg: g.id.ID}, uint32(row))
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
	var bloom segment.Bloom
	if err == nil {
		defer closer.Close()
		word, mask := g.verification(g.info.Find(keys.ColumnBloom), 0)
		if word.Load()&mask != 0 {
			bloom, err = segment.ReopenBloom(value, "")
		} else if bloom, err = segment.OpenBloom(value, ""); err == nil {
			word.Or(mask)
		}
	}
	if err != nil {
		err = s.chunkError(g, keys.ColumnBloom, 0, err)
		var damaged *table.CorruptionError
		if !errors.As(err, &damaged) {
			return err
		}
		// The rows themselves can still be asked.
		s.log.Error("damaged filter, keys are looked up without it", "error", err)
		return nil
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

// find returns the row that has a key, -1 if there is none.
func (f *keyFinder) find(key []byte) (int, error) {
	b := f.g.info.BlockFor(key)
	if b < 0 {
		return -1, nil
	}
	if b != f.block {
		if err := f.load(b); err != nil {
			return -1, err
		}
	}
	lo, hi := 0, f.rows
	for lo < hi {
		mid := (lo + hi) / 2
		f.buf = appendRowKey(f.buf[:0], f.schema.Key, f.cols, mid)
		switch c := bytes.Compare(f.buf, key); {
		case c == 0:
			return int(f.g.starts[b]) + mid, nil
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return -1, nil
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
