package colstore

import (
	"math"
	"slices"

	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/vector"
)

// build writes the rows of blocks in memory, which are in no order. total, lo
// and hi describe the whole table, for the choice of the bucket's width. On an
// error the files are removed.
func (b *builder) build(total int64, lo, hi int64) error {
	err := b.s.writable()
	if err == nil {
		b.chooseBuckets(total, lo, hi)
		groups := b.group()
		defer b.borrow(groups)()
		for _, g := range groups {
			if err = b.bucket(g.bucket, g.rows); err != nil {
				break
			}
		}
	}
	b.gather.close()
	if err != nil {
		b.abandon()
	}
	return err
}

// borrow lets the sort keys of the largest bucket lie in buffers of the store's
// pool, until the returned function is called: each flush needs megabytes of
// them anew.
func (b *builder) borrow(groups []bucketGroup) (back func()) {
	most, parts := 0, sortParts(b.schema)
	for _, g := range groups {
		most = max(most, len(g.rows))
	}
	if most == 0 || len(parts) == 0 {
		return func() {}
	}
	first := groups[0].rows[0]
	size := len(appendRowKey(nil, parts, b.in[first.input()].mem.cols, first.row()))
	pool := b.s.buffers
	one, two := pool.Get(most*(size+keySlack)), pool.Get(most*(size+keySlack))
	b.keys.Data, b.other.Data = one, two
	return func() {
		b.keys, b.other = segment.Strings{}, segment.Strings{}
		pool.Put(one)
		pool.Put(two)
	}
}

// keySlack is how many bytes longer than the first one sort keys may be on
// average before their buffers move to the heap.
const keySlack = 4

// chooseBuckets picks the class. The buckets of an option only widen where a
// flush would make too many.
func (b *builder) chooseBuckets(total int64, lo, hi int64) {
	if b.schema.Time < 0 {
		return
	}
	mine, top := int64(math.MaxInt64), int64(math.MinInt64)
	for _, in := range b.in {
		v := in.mem.cols[b.schema.Time]
		for i := 0; i < in.mem.n; i++ {
			if t, null := timeOf(b.schema, v, i); !null && t != math.MaxInt64 && t != math.MinInt64 {
				mine, top = min(mine, t), max(top, t)
			}
		}
	}
	if mine > top {
		return
	}
	widest := maxClassFor(b.base)
	for b.class < widest && b.count(mine, top) > maxBuckets {
		b.class++
	}
	if b.schema.Bucket > 0 {
		return
	}
	lo, hi = min(lo, mine), max(hi, top)
	for b.class < widest {
		if n := b.count(lo, hi); n <= 1 || float64(total)/n >= bucketRows {
			return
		}
		b.class++
	}
}

// count returns how many buckets of the class lie between two times.
func (b *builder) count(lo, hi int64) float64 {
	w := float64(b.base << b.class)
	return math.Floor(float64(hi)/w) - math.Floor(float64(lo)/w) + 1
}

type bucketGroup struct {
	bucket keys.Bucket
	rows   []rowRef
}

// group distributes the live rows to buckets, in order of the buckets.
func (b *builder) group() []bucketGroup {
	var groups []bucketGroup
	index := map[keys.Bucket]int{}
	last, at := keys.Bucket{}, -1
	for k, in := range b.in {
		for i := 0; i < in.mem.n; i++ {
			if in.isDead(i) {
				continue
			}
			bucket := keys.BucketNoTime
			if b.schema.Time >= 0 {
				if t, null := timeOf(b.schema, in.mem.cols[b.schema.Time], i); null {
					bucket = keys.BucketNull
				} else if b.isExpired(t) {
					continue
				} else {
					bucket = bucketOf(t, b.base, b.class)
				}
			}
			if at < 0 || bucket != last {
				g, ok := index[bucket]
				if !ok {
					g = len(groups)
					index[bucket] = g
					groups = append(groups, bucketGroup{bucket: bucket})
				}
				last, at = bucket, g
			}
			groups[at].rows = append(groups[at].rows, memoryRef(k, i))
		}
	}
	slices.SortFunc(groups, func(x, y bucketGroup) int {
		if x.bucket.Less(y.bucket) {
			return -1
		}
		return 1
	})
	return groups
}

// bucket sorts the rows of one bucket and writes its segments.
func (b *builder) bucket(bucket keys.Bucket, rows []rowRef) error {
	b.setTail(bucket)
	b.sort(rows)
	width := int64(0)
	if !bucket.Special() {
		width = b.base << b.class
	}
	most := evenly(len(rows), b.s.segRows)
	for from := 0; from < len(rows); {
		to := b.segmentEnd(rows, from, most)
		if err := b.segment(bucket, width, rows[from:to], from); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// evenly returns how many of n rows each segment should have so that none has
// more than most.
func evenly(n, most int) int {
	segs := max(1, (n+most-1)/most)
	return max(1, (n+segs-1)/segs)
}

// segmentEnd returns where the segment that begins at from ends.
func (b *builder) segmentEnd(rows []rowRef, from, most int) int {
	to := min(len(rows), from+most)
	size := int64(0)
	for _, in := range b.in {
		size += in.mem.size
	}
	if size < b.text {
		return to
	}
	size = 0
	for i := from; i < to; i++ {
		row := rows[i].row()
		for _, c := range b.in[rows[i].input()].mem.cols {
			if c.Kind == vector.Bytes {
				size += int64(c.Offsets[row+1] - c.Offsets[row])
			}
		}
		if size > b.text && i > from {
			return i
		}
	}
	return to
}
