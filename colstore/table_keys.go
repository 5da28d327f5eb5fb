package colstore

import (
	"bytes"
	"math"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// nullPart spells a NULL in a key that is no primary key. It is longer than
// every fixed-width part and sorts behind their values; no span asks for it.
var nullPart = bytes.Repeat([]byte{0xFF}, 17)

// appendRowKey appends the key of one row.
func appendRowKey(dst []byte, parts []rowkey.Part, cols []*vector.Vector, row int) []byte {
	for _, p := range parts {
		v := cols[p.Column]
		if v.Valid != nil && v.IsNull(row) {
			dst = append(dst, nullPart...)
			continue
		}
		dst = rowkey.AppendKey(dst, p.Codec, v, row)
	}
	return dst
}

const microsPerDay = 24 * 60 * 60 * 1_000_000

// minBucket is the base width of buckets that the data chooses: the
// narrowest, 2 hours.
const minBucket = 2 * 60 * 60 * 1_000_000

// timeOf returns the time of a row in microseconds; null for NULL. Days beyond
// the range of int64 are clamped just inside the infinities.
func timeOf(s *table.Schema, v *vector.Vector, row int) (t int64, null bool) {
	if v.IsNull(row) {
		return 0, true
	}
	if s.TimeUnit == table.Days {
		return daysToMicros(v.I32[row&v.Mask()]), false
	}
	return v.I64[row&v.Mask()], false
}

func daysToMicros(d int32) int64 {
	switch {
	case d == math.MaxInt32:
		return math.MaxInt64
	case d == math.MinInt32:
		return math.MinInt64
	case int64(d) > (math.MaxInt64-1)/microsPerDay:
		return math.MaxInt64 - 1
	case int64(d) < (math.MinInt64+1)/microsPerDay:
		return math.MinInt64 + 1
	}
	return int64(d) * microsPerDay
}

// timeBounds returns the smallest and largest time of the first n rows and
// whether one is NULL; lo > hi: none has a time.
func timeBounds(s *table.Schema, cols []*vector.Vector, n int) (lo, hi int64, nulls bool) {
	lo, hi = math.MaxInt64, math.MinInt64
	if s.Time < 0 {
		return lo, hi, false
	}
	v := cols[s.Time]
	for i := 0; i < n; i++ {
		t, null := timeOf(s, v, i)
		if null {
			nulls = true
			continue
		}
		lo, hi = min(lo, t), max(hi, t)
	}
	return lo, hi, nulls
}

// bucketOf returns the bucket of a time under a base width and class.
func bucketOf(t int64, base int64, class byte) keys.Bucket {
	switch t {
	case math.MinInt64:
		return keys.BucketMinusInfinity
	case math.MaxInt64:
		return keys.BucketInfinity
	}
	w := base << class
	q := t / w
	if t%w < 0 {
		q--
	}
	if q < math.MinInt64/w {
		return keys.Bucket{Start: math.MinInt64, Class: class}
	}
	return keys.Bucket{Start: q * w, Class: class}
}

// maxClassFor bounds the class so that the width stays far from overflow.
func maxClassFor(base int64) byte {
	c := byte(0)
	for c < keys.MaxClass && base<<(c+1) > 0 && base<<(c+1) < math.MaxInt64/4 {
		c++
	}
	return c
}

// orderParts returns the parts by which an ordered scan compares rows: the key
// order, or time where the table has none.
func orderParts(s *table.Schema) []rowkey.Part {
	if len(s.Key) > 0 || s.Time < 0 {
		return s.Key
	}
	return []rowkey.Part{{Column: s.Time, Codec: s.Columns[s.Time].Codec}}
}

// sortParts returns the parts by which rows of a segment are sorted: row key,
// then time.
func sortParts(s *table.Schema) []rowkey.Part {
	if s.Time < 0 {
		return s.Key
	}
	for _, p := range s.Key {
		if p.Column == s.Time {
			return s.Key
		}
	}
	return append(s.Key[:len(s.Key):len(s.Key)], rowkey.Part{Column: s.Time, Codec: s.Columns[s.Time].Codec})
}

func columnIDs(s *table.Schema) (ids []uint32, kinds []vector.Kind) {
	for _, c := range s.Columns {
		ids, kinds = append(ids, uint32(c.ID)), append(kinds, c.Kind)
	}
	return ids, kinds
}
