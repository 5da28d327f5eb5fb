package encoding

import (
	"encoding/binary"
	"math"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// appendInts picks constant, frame of reference or delta, whichever is
// narrower; delta only if it saves at least two bits, because it decodes
// slower.
func appendInts[T kernels.Int](e *Encoder, dst []byte, vals []T, v *vector.Vector, from, nulls int) ([]byte, Encoding) {
	e.i64 = e.i64[:0]
	for _, x := range vals {
		e.i64 = append(e.i64, int64(x))
	}
	if nulls > 0 {
		fillNulls(e.i64, v, from)
	}
	return e.appendI64(dst, e.i64)
}

// fillNulls gives NULL rows the value of the row before, or of the first row
// that has one.
func fillNulls[T any](vals []T, v *vector.Vector, from int) {
	first := 0
	for !v.Valid.Get(from + first) {
		first++
	}
	last := vals[first]
	for i := range vals {
		if v.Valid.Get(from + i) {
			last = vals[i]
		} else {
			vals[i] = last
		}
	}
}

func (e *Encoder) appendI64(dst []byte, vals []int64) ([]byte, Encoding) {
	lo, hi := kernels.MinMax(vals)
	if lo == hi {
		return binary.LittleEndian.AppendUint64(dst, uint64(lo)), Const
	}
	width := kernels.Width(uint64(hi) - uint64(lo))
	if dlo, dwidth, ok := deltaWidth(vals); ok && dwidth+2 <= width {
		return e.appendDelta(dst, vals, dlo, dwidth), Delta
	}
	return e.appendFOR(dst, vals, lo, width), FOR
}

func (e *Encoder) appendFOR(dst []byte, vals []int64, base int64, width uint) []byte {
	dst = append(binary.LittleEndian.AppendUint64(dst, uint64(base)), byte(width))
	e.u64 = e.u64[:0]
	for _, x := range vals {
		e.u64 = append(e.u64, uint64(x)-uint64(base))
	}
	return kernels.Pack(dst, e.u64, width)
}

// deltaWidth returns the smallest difference and the width of the others above
// it; ok is false where differences overflow.
func deltaWidth(vals []int64) (base int64, width uint, ok bool) {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for i := 1; i < len(vals); i++ {
		d := vals[i] - vals[i-1]
		if (vals[i] >= vals[i-1]) != (d >= 0) {
			return 0, 0, false
		}
		lo, hi = min(lo, d), max(hi, d)
	}
	return lo, kernels.Width(uint64(hi) - uint64(lo)), true
}

func (e *Encoder) appendDelta(dst []byte, vals []int64, base int64, width uint) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(vals[0]))
	dst = append(binary.LittleEndian.AppendUint64(dst, uint64(base)), byte(width))
	e.u64 = e.u64[:0]
	for i := 1; i < len(vals); i++ {
		e.u64 = append(e.u64, uint64(vals[i]-vals[i-1])-uint64(base))
	}
	return kernels.Pack(dst, e.u64, width)
}

func intsInto[T kernels.Int](d *Decoder, s *[]T, dst *vector.Vector, enc Encoding, src []byte, rows int) error {
	base := dst.N
	*s = extend((*s)[:base], rows)
	return decodeInts((*s)[base:], enc, src)
}

// packed checks that src holds n values of width w and nothing else.
func packed(src []byte, n int, w uint) error {
	if w > 64 || len(src) != kernels.PackedLen(n, w) {
		return malformed("packed length")
	}
	return nil
}

func decodeInts[T kernels.Int](dst []T, enc Encoding, src []byte) error {
	switch enc {
	case Const:
		if len(src) != 8 {
			return malformed("constant")
		}
		kernels.Unpack(dst, nil, 0, int64(binary.LittleEndian.Uint64(src)))
		return nil
	case FOR:
		if len(src) < 9 {
			return malformed("frame of reference")
		}
		base, w := int64(binary.LittleEndian.Uint64(src)), uint(src[8])
		if err := packed(src[9:], len(dst), w); err != nil {
			return err
		}
		kernels.Unpack(dst, withSlack(src[9:]), w, base)
		return nil
	case Delta:
		if len(src) < 17 || len(dst) == 0 {
			return malformed("delta")
		}
		first, base := int64(binary.LittleEndian.Uint64(src)), int64(binary.LittleEndian.Uint64(src[8:]))
		w := uint(src[16])
		if err := packed(src[17:], len(dst)-1, w); err != nil {
			return err
		}
		dst[0] = 0
		kernels.Unpack(dst[1:], withSlack(src[17:]), w, base)
		kernels.PrefixSum(dst, T(first))
		return nil
	}
	return malformed("integer encoding " + enc.String())
}

// withSlack re-slices src over the readable bytes that follow it.
func withSlack(src []byte) []byte { return src[: len(src)+kernels.Slack : cap(src)] }
