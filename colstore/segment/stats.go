package segment

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"tsdb/colstore/encoding"
	"tsdb/colstore/kernels"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// maxBound is the longest bound kept: longer ones hardly ever skip more.
const maxBound = 32

// Flags of Stats.
const (
	HasBounds  uint8 = 1
	MinExact   uint8 = 2
	MaxExact   uint8 = 4
	SumInteger uint8 = 8
	SumFloat   uint8 = 16
)

// Stats are the statistics of a block, or of one column of a segment.
type Stats struct {
	Rows, Nulls int
	Flags       uint8
	Min, Max    []byte  // key parts of the non-NULL values, if HasBounds
	SumHi       int64   // SumInteger: upper half
	SumLo       uint64  // SumInteger: lower half
	SumF        float64 // SumFloat
}

func (s *Stats) appendSum(dst []byte) []byte {
	if s.Flags&SumFloat != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.SumF))
		return binary.LittleEndian.AppendUint64(dst, 0)
	}
	dst = binary.LittleEndian.AppendUint64(dst, s.SumLo)
	return binary.LittleEndian.AppendUint64(dst, uint64(s.SumHi))
}

func (s *Stats) setSum(src []byte) {
	switch {
	case s.Flags&SumFloat != 0:
		s.SumF = math.Float64frombits(binary.LittleEndian.Uint64(src))
	case s.Flags&SumInteger != 0:
		s.SumLo, s.SumHi = binary.LittleEndian.Uint64(src), int64(binary.LittleEndian.Uint64(src[8:]))
	}
}

// add folds the statistics of another block of the column into s.
func (s *Stats) add(o *Stats) {
	if s.Rows == 0 {
		*s = *o
		s.Min, s.Max = bytes.Clone(o.Min), bytes.Clone(o.Max)
		return
	}
	sum := s.Flags & o.Flags & (SumInteger | SumFloat)
	switch {
	case s.Nulls == s.Rows:
		s.Min, s.Max, s.Flags = bytes.Clone(o.Min), bytes.Clone(o.Max), o.Flags
		sum = o.Flags & (SumInteger | SumFloat)
	case o.Nulls == o.Rows:
		sum = s.Flags & (SumInteger | SumFloat)
	case s.Flags&o.Flags&HasBounds == 0:
		s.Flags = 0
	default:
		if c := bytes.Compare(o.Min, s.Min); c < 0 {
			s.Min, s.Flags = append(s.Min[:0], o.Min...), s.Flags&^MinExact|o.Flags&MinExact
		} else if c == 0 {
			s.Flags |= o.Flags & MinExact
		}
		if c := bytes.Compare(o.Max, s.Max); c > 0 {
			s.Max, s.Flags = append(s.Max[:0], o.Max...), s.Flags&^MaxExact|o.Flags&MaxExact
		} else if c == 0 {
			s.Flags |= o.Flags & MaxExact
		}
	}
	var carry uint64
	s.SumLo, carry = bits.Add64(s.SumLo, o.SumLo, 0)
	s.SumHi += o.SumHi + int64(carry)
	s.SumF += o.SumF
	s.Flags = s.Flags&^(SumInteger|SumFloat) | sum
	s.Rows, s.Nulls = s.Rows+o.Rows, s.Nulls+o.Nulls
}

// MayMatch reports whether a row with these statistics can satisfy the
// comparison with value, a key part; value is unused by the NULL tests.
func (s *Stats) MayMatch(op table.CompareOp, value []byte) bool {
	switch op {
	case table.IsNull:
		return s.Nulls > 0
	case table.IsNotNull:
		return s.Nulls < s.Rows
	}
	if s.Nulls == s.Rows {
		return false
	}
	if s.Flags&HasBounds == 0 {
		return true
	}
	switch op {
	case table.EQ:
		return bytes.Compare(s.Min, value) <= 0 && bytes.Compare(value, s.Max) <= 0
	case table.NE:
		exact := s.Flags&(MinExact|MaxExact) == MinExact|MaxExact
		return !(exact && bytes.Equal(s.Min, s.Max) && bytes.Equal(s.Min, value))
	case table.LT:
		return bytes.Compare(s.Min, value) < 0
	case table.LE:
		return bytes.Compare(s.Min, value) <= 0
	case table.GT:
		return bytes.Compare(s.Max, value) > 0
	case table.GE:
		return bytes.Compare(s.Max, value) >= 0
	}
	return true
}

// collect computes the statistics of rows from to to of a flat vector. Bounds
// alias buf, which it returns extended.
func collect(s *Stats, buf []byte, v *vector.Vector, codec rowkey.Codec, from, to int) []byte {
	*s = Stats{Rows: to - from, Nulls: encoding.CountNulls(v, from, to)}
	if s.Nulls == s.Rows {
		return buf
	}
	sums(s, v, from, to)
	if codec == rowkey.CodecNone {
		return buf
	}
	lo, hi, ok := extremes(v, codec, from, to)
	if !ok {
		return buf
	}
	s.Flags |= HasBounds | MinExact | MaxExact
	start := len(buf)
	buf = rowkey.AppendKey(buf, codec, v, lo)
	if len(buf)-start > maxBound {
		buf, s.Flags = buf[:start+maxBound], s.Flags&^MinExact
	}
	mid := len(buf)
	buf = rowkey.AppendKey(buf, codec, v, hi)
	if len(buf)-mid > maxBound {
		rounded := roundUp(buf[mid : mid+maxBound])
		if rounded == nil {
			s.Flags &^= HasBounds | MinExact | MaxExact
			return buf[:start]
		}
		buf, s.Flags = buf[:mid+len(rounded)], s.Flags&^MaxExact
	}
	s.Min, s.Max = buf[start:mid:mid], buf[mid:len(buf):len(buf)]
	return buf
}

// roundUp turns a prefix in place into a string above all strings with that
// prefix, nil if there is none.
func roundUp(p []byte) []byte {
	for len(p) > 0 {
		if p[len(p)-1]++; p[len(p)-1] != 0 {
			return p
		}
		p = p[:len(p)-1]
	}
	return nil
}

func sums(s *Stats, v *vector.Vector, from, to int) {
	switch v.Kind {
	case vector.Int16:
		sumNarrow(s, v, v.I16[from:to], from)
	case vector.Int32:
		sumNarrow(s, v, v.I32[from:to], from)
	case vector.Uint32:
		sumNarrow(s, v, v.U32[from:to], from)
	case vector.Int64:
		sumInt64(s, v, v.I64[from:to], from)
	case vector.Float32:
		sumFloats(s, v, v.F32[from:to], from)
	case vector.Float64:
		sumFloats(s, v, v.F64[from:to], from)
	}
}

// sumInt64 adds high and low halves apart, which do not overflow in a block.
func sumInt64(s *Stats, v *vector.Vector, vals []int64, from int) {
	var high, low int64
	if v.Valid == nil {
		for _, x := range vals {
			high, low = high+x>>32, low+x&(1<<32-1)
		}
	} else {
		for i, x := range vals {
			if v.Valid.Get(from + i) {
				high, low = high+x>>32, low+x&(1<<32-1)
			}
		}
	}
	var c uint64
	s.SumLo, c = bits.Add64(uint64(high)<<32, uint64(low), 0)
	s.SumHi = high>>32 + int64(c)
	s.Flags |= SumInteger
}

func sumNarrow[T int16 | int32 | uint32](s *Stats, v *vector.Vector, vals []T, from int) {
	var sum int64
	if v.Valid == nil {
		for _, x := range vals {
			sum += int64(x)
		}
	} else {
		for i, x := range vals {
			if v.Valid.Get(from + i) {
				sum += int64(x)
			}
		}
	}
	s.Flags |= SumInteger
	s.SumLo, s.SumHi = uint64(sum), sum>>63
}

func sumFloats[T float32 | float64](s *Stats, v *vector.Vector, vals []T, from int) {
	s.Flags |= SumFloat
	if v.Valid == nil {
		for _, x := range vals {
			s.SumF += float64(x)
		}
		return
	}
	for i, x := range vals {
		if v.Valid.Get(from + i) {
			s.SumF += float64(x)
		}
	}
}

// extremes returns the rows with the smallest and largest value in the order
// of the codec; ok is false for a kind that the codec does not spell.
func extremes(v *vector.Vector, codec rowkey.Codec, from, to int) (lo, hi int, ok bool) {
	switch v.Kind {
	case vector.Int16:
		lo, hi = ordered(v, v.I16, from, to)
	case vector.Int32:
		lo, hi = ordered(v, v.I32, from, to)
	case vector.Int64:
		lo, hi = ordered(v, v.I64, from, to)
	case vector.Uint32:
		lo, hi = ordered(v, v.U32, from, to)
	case vector.Float32:
		lo, hi = orderedFloats(v, v.F32, from, to)
	case vector.Float64:
		lo, hi = orderedFloats(v, v.F64, from, to)
	case vector.Bytes, vector.Fixed16, vector.Bool:
		if v.Kind == vector.Bytes && codec == rowkey.CodecBytes {
			lo, hi = orderedBytes(v, from, to)
		} else {
			lo, hi = orderedKeys(v, codec, from, to)
		}
	default:
		return 0, 0, false
	}
	return lo, hi, true
}

func ordered[T int16 | int32 | int64 | uint32](v *vector.Vector, vals []T, from, to int) (lo, hi int) {
	if v.Valid == nil {
		least, most := kernels.MinMax(vals[from:to])
		return from + slices.Index(vals[from:to], least), from + slices.Index(vals[from:to], most)
	}
	lo, hi = -1, -1
	for i := from; i < to; i++ {
		if !v.Valid.Get(i) {
			continue
		}
		if lo < 0 || vals[i] < vals[lo] {
			lo = i
		}
		if hi < 0 || vals[i] > vals[hi] {
			hi = i
		}
	}
	return lo, hi
}

// orderedFloats orders as the codec does: a NaN is above all others, and equal
// values, as both zeros, have equal keys.
func orderedFloats[T float32 | float64](v *vector.Vector, vals []T, from, to int) (lo, hi int) {
	lo, hi = -1, -1
	nan := -1
	var least, most T
	for i, x := range vals[from:to] {
		if v.Valid != nil && !v.Valid.Get(from+i) {
			continue
		}
		if x != x {
			nan = from + i
			continue
		}
		if x < least || lo < 0 {
			least, lo = x, from+i
		}
		if x > most || hi < 0 {
			most, hi = x, from+i
		}
	}
	switch {
	case lo < 0:
		return nan, nan
	case nan >= 0:
		return lo, nan
	}
	return lo, hi
}

func orderedBytes(v *vector.Vector, from, to int) (lo, hi int) {
	lo, hi = -1, -1
	var lov, hiv []byte
	for i := from; i < to; i++ {
		if v.Valid != nil && !v.Valid.Get(i) {
			continue
		}
		x := v.Data[v.Offsets[i]:v.Offsets[i+1]]
		if lo < 0 || bytes.Compare(x, lov) < 0 {
			lo, lov = i, x
		}
		if hi < 0 || bytes.Compare(x, hiv) > 0 {
			hi, hiv = i, x
		}
	}
	return lo, hi
}

func orderedKeys(v *vector.Vector, codec rowkey.Codec, from, to int) (lo, hi int) {
	lo, hi = -1, -1
	var key, lok, hik []byte
	for i := from; i < to; i++ {
		if v.Valid != nil && !v.Valid.Get(i) {
			continue
		}
		key = rowkey.AppendKey(key[:0], codec, v, i)
		if lo < 0 || bytes.Compare(key, lok) < 0 {
			lo, lok = i, append(lok[:0], key...)
		}
		if hi < 0 || bytes.Compare(key, hik) > 0 {
			hi, hik = i, append(hik[:0], key...)
		}
	}
	return lo, hi
}
