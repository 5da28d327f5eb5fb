package encoding

import (
	"encoding/binary"
	"math"
	"math/bits"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// Fold is the aggregate of the values of one block that are not NULL.
type Fold struct {
	NoBounds bool // set by the caller: bounds are not wanted and may be absent

	Count int

	// Whole reports that the next fields hold: of integers, and of floats in
	// decimal form, the exact sum and the bounds of value * 10^Exponent.
	Whole    bool
	Exponent uint8
	SumHi    int64
	SumLo    uint64
	Min, Max int64

	// Of floats. A NaN is above all others. Exact reports that Sum is what
	// adding the values one by one gives; else it may be more precise.
	Sum, MinF, MaxF float64
	Exact           bool
}

// int128 is a sum of integers.
type int128 struct {
	hi int64
	lo uint64
}

func (s *int128) add(x int64) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, uint64(x), 0)
	s.hi += x>>63 + int64(c)
}

func (s *int128) sub(x int64) {
	var c uint64
	s.lo, c = bits.Sub64(s.lo, uint64(x), 0)
	s.hi -= x>>63 + int64(c)
}

func (s *int128) addWide(hi int64, lo uint64) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, lo, 0)
	s.hi += hi + int64(c)
}

// addTimes adds x * n.
func (s *int128) addTimes(x int64, n int) {
	hi, lo := bits.Mul64(uint64(x), uint64(n))
	if x < 0 {
		hi -= uint64(n)
	}
	s.addWide(int64(hi), lo)
}

func (s *int128) float() float64 {
	if s.hi == int64(s.lo)>>63 {
		return float64(int64(s.lo))
	}
	return float64(s.hi)*(1<<64) + float64(s.lo)
}

// Fold aggregates a block of a numeric kind, without decoding it where its
// form allows.
func (d *Decoder) Fold(f *Fold, kind vector.Kind, enc Encoding, src []byte, rows, nulls int) error {
	*f = Fold{NoBounds: f.NoBounds}
	valid, src, err := d.open(&enc, src, rows, nulls)
	if err != nil || enc == Null {
		return err
	}
	f.Count = rows - nulls
	switch kind {
	case vector.Int16, vector.Int32, vector.Int64, vector.Uint32:
		return d.foldInts(f, enc, src, rows, valid)
	case vector.Float32:
		return foldFloats[float32](d, f, enc, src, rows, valid)
	case vector.Float64:
		return foldFloats[float64](d, f, enc, src, rows, valid)
	}
	return malformed("kind of a sum")
}

func (d *Decoder) foldInts(f *Fold, enc Encoding, src []byte, rows int, valid []uint64) error {
	var s int128
	switch {
	case enc == FOR:
		b, err := parseFOR(src, rows)
		if err != nil {
			return err
		}
		s = foldFOR(f, &b, rows, valid)
	case enc == PatchedFOR && valid == nil:
		p, err := parsePatched(src, rows)
		if err != nil {
			return err
		}
		if p.count == rows {
			return d.foldDecoded(f, enc, src, rows, valid)
		}
		s = foldPatched(f, &p)
	case enc == Runs && valid == nil:
		if err := d.parseRuns(src, rows); err != nil {
			return err
		}
		f.Min, f.Max = kernels.MinMax(d.runs)
		for i, l := range d.lens {
			s.addTimes(d.runs[i], int(l))
		}
	case enc == Const:
		var one [1]int64
		if err := decodeInts(d, one[:], Const, src); err != nil {
			return err
		}
		f.Min, f.Max = one[0], one[0]
		s.addTimes(one[0], f.Count)
	default:
		return d.foldDecoded(f, enc, src, rows, valid)
	}
	f.Whole, f.SumHi, f.SumLo = true, s.hi, s.lo
	return nil
}

// foldFOR takes NULL rows out of the sum one by one.
func foldFOR(f *Fold, b *forBlock, rows int, valid []uint64) int128 {
	hi, lo := kernels.Sum(b.bits, rows, b.width)
	s := int128{int64(hi), lo}
	s.addTimes(b.base, rows)
	for k, w := range valid {
		for w = ^w; w != 0; w &= w - 1 {
			i := k*64 + bits.TrailingZeros64(w)
			if i >= rows {
				break
			}
			s.sub(int64(uint64(b.base) + kernels.At(b.bits, i, b.width)))
		}
	}
	if f.NoBounds {
		return s
	}
	lo, hi = kernels.Bounds(b.bits, rows, b.width)
	f.Min, f.Max = int64(uint64(b.base)+lo), int64(uint64(b.base)+hi)
	return s
}

// foldPatched takes the slots of patched rows out of the sum.
func foldPatched(f *Fold, p *patchedBlock) int128 {
	s := foldFOR(f, &p.forBlock, p.rows, nil)
	src, next := p.patches, 0
	for range p.count {
		row, above, size := nextPatch(src, &next, p.rows)
		x := p.base + above
		s.add(x)
		s.sub(int64(uint64(p.base) + kernels.At(p.bits, row, p.width)))
		f.Min, f.Max = min(f.Min, x), max(f.Max, x)
		src = src[size:]
	}
	return s
}

func (d *Decoder) foldDecoded(f *Fold, enc Encoding, src []byte, rows int, valid []uint64) error {
	d.i64 = extend(d.i64[:0], rows)
	if err := decodeInts(d, d.i64, enc, src); err != nil {
		return err
	}
	s := d.foldValues(f, valid)
	f.Whole, f.SumHi, f.SumLo = true, s.hi, s.lo
	return nil
}

// foldValues aggregates d.i64. Halves are added apart: they do not overflow in
// a block.
func (d *Decoder) foldValues(f *Fold, valid []uint64) int128 {
	var high, low int64
	if valid == nil {
		f.Min, f.Max = kernels.MinMax(d.i64)
		for _, x := range d.i64 {
			high, low = high+x>>32, low+x&(1<<32-1)
		}
	} else {
		f.Min, f.Max = math.MaxInt64, math.MinInt64
		for i, x := range d.i64 {
			if valid[i>>6]>>(uint(i)&63)&1 != 0 {
				high, low = high+x>>32, low+x&(1<<32-1)
				f.Min, f.Max = min(f.Min, x), max(f.Max, x)
			}
		}
	}
	lo, c := bits.Add64(uint64(high)<<32, uint64(low), 0)
	return int128{high>>32 + int64(c), lo}
}

func foldFloats[T float](d *Decoder, f *Fold, enc Encoding, src []byte, rows int, valid []uint64) error {
	if enc == Decimal || enc == DecimalInts {
		b, err := parseDecimals(enc, src, rows, sizeOf[T]())
		if err != nil {
			return err
		}
		if b.exceptions == 0 {
			return foldDecimals[T](d, f, &b, rows, valid)
		}
	}
	vals, err := decodeScratch[T](d, enc, src, rows)
	if err != nil {
		return err
	}
	seen := false
	for i, x := range vals {
		if valid != nil && valid[i>>6]>>(uint(i)&63)&1 == 0 {
			continue
		}
		v := float64(x)
		f.Sum += v
		if !seen || compareFloats(v, f.MinF) < 0 {
			f.MinF = v
		}
		if !seen || compareFloats(v, f.MaxF) > 0 {
			f.MaxF = v
		}
		seen = true
	}
	f.Exact = true
	return nil
}

// decodeScratch decodes floats to a vector of the decoder.
func decodeScratch[T float](d *Decoder, enc Encoding, src []byte, rows int) ([]T, error) {
	var vals []T
	switch p := any(&vals).(type) {
	case *[]float32:
		*p = d.vec.F32[:0]
		d.vec.N = 0
		if err := floatsInto(d, p, &d.vec, enc, src, rows); err != nil {
			return nil, err
		}
		d.vec.F32 = *p
	case *[]float64:
		*p = d.vec.F64[:0]
		d.vec.N = 0
		if err := floatsInto(d, p, &d.vec, enc, src, rows); err != nil {
			return nil, err
		}
		d.vec.F64 = *p
	}
	return vals, nil
}

func foldDecimals[T float](d *Decoder, f *Fold, b *decimalBlock, rows int, valid []uint64) error {
	if err := d.foldInts(f, b.enc, b.ints, rows, valid); err != nil {
		return err
	}
	f.Exponent = b.exponent
	s := int128{f.SumHi, f.SumLo}
	f.Sum = s.float() / b.scale
	f.MinF, f.MaxF = float64(T(float64(f.Min)/b.scale)), float64(T(float64(f.Max)/b.scale))
	largest := max(f.MaxF, -f.MinF)
	if f.NoBounds {
		largest = wholeLimit(b)
	}
	f.Exact = b.exponent == 0 && largest*float64(f.Count) < maxWhole
	return nil
}

// wholeLimit returns a number that no integer of a packed block exceeds.
func wholeLimit(b *decimalBlock) float64 {
	if b.enc != FOR || b.ints[8] > 53 {
		return maxWhole
	}
	base := float64(int64(binary.LittleEndian.Uint64(b.ints)))
	return math.Abs(base) + float64(uint64(1)<<b.ints[8])
}

// compareFloats orders NaN above all others and equal to itself.
func compareFloats(a, b float64) int {
	switch {
	case a < b || b != b && a == a:
		return -1
	case a > b || a != a && b == b:
		return 1
	}
	return 0
}
