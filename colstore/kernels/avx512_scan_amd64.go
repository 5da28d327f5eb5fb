//go:build goexperiment.simd && amd64

package kernels

import (
	"math/bits"
	"simd/archsimd"
)

func compare16AVX512(dst []uint64, src []byte, w uint, less bool, c uint16) {
	index, shift := archsimd.LoadUint8x64(&index16[w]), archsimd.LoadUint16x32(&shift16[w])
	mask, k := archsimd.BroadcastUint16x32(1<<w-1), archsimd.BroadcastUint16x32(c)
	for i := range dst {
		x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint16x32().ShiftRight(shift).And(mask)
		y := archsimd.LoadUint8x64(vec(src[4*w:])).Permute(index).AsUint16x32().ShiftRight(shift).And(mask)
		if less {
			dst[i] = uint64(x.Less(k).ToBits()) | uint64(y.Less(k).ToBits())<<32
		} else {
			dst[i] = uint64(x.Equal(k).ToBits()) | uint64(y.Equal(k).ToBits())<<32
		}
		src = src[8*w:]
	}
	archsimd.ClearAVXUpperBits()
}

func compare32AVX512(dst []uint64, src []byte, w uint, less bool, c uint32) {
	index, shift := archsimd.LoadUint8x64(&index32[w]), archsimd.LoadUint32x16(&shift32[w])
	mask, k := archsimd.BroadcastUint32x16(1<<w-1), archsimd.BroadcastUint32x16(c)
	for i := range dst {
		var word uint64
		for at := 0; at < 64; at += 16 {
			x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint32x16().ShiftRight(shift).And(mask)
			if less {
				word |= uint64(x.Less(k).ToBits()) << at
			} else {
				word |= uint64(x.Equal(k).ToBits()) << at
			}
			src = src[2*w:]
		}
		dst[i] = word
	}
	archsimd.ClearAVXUpperBits()
}

func compare64AVX512(dst []uint64, src []byte, w uint, less bool, c uint64) {
	index, shift := archsimd.LoadUint8x64(&index64[w]), archsimd.LoadUint64x8(&shift64[w])
	mask, k := archsimd.BroadcastUint64x8(1<<w-1), archsimd.BroadcastUint64x8(c)
	for i := range dst {
		var word uint64
		for at := 0; at < 64; at += 8 {
			x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint64x8().ShiftRight(shift).And(mask)
			if less {
				word |= uint64(x.Less(k).ToBits()) << at
			} else {
				word |= uint64(x.Equal(k).ToBits()) << at
			}
			src = src[w:]
		}
		dst[i] = word
	}
	archsimd.ClearAVXUpperBits()
}

// Lanes of the second operand of ConcatPermute, which is zero there, have
// indices from the lane count on: they fill what a shift leaves empty.
var (
	up64 = [3][8]uint64{{8, 0, 1, 2, 3, 4, 5, 6}, {8, 8, 0, 1, 2, 3, 4, 5}, {8, 8, 8, 8, 0, 1, 2, 3}}
	up32 = [4][16]uint32{
		{16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
		{16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
		{16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
		{16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7},
	}
)

// prefixSum64AVX512 adds each vector to itself shifted by one, two and four
// lanes; only one addition per vector waits for the vector before.
func prefixSum64AVX512(dst []int64, first int64) int {
	u1, u2, u4 := archsimd.LoadUint64x8(&up64[0]), archsimd.LoadUint64x8(&up64[1]), archsimd.LoadUint64x8(&up64[2])
	last := archsimd.BroadcastUint64x8(7)
	zero, carry := archsimd.BroadcastInt64x8(0), archsimd.BroadcastInt64x8(first)
	i := 0
	for ; i+8 <= len(dst); i += 8 {
		p := (*[8]int64)(dst[i:])
		x := archsimd.LoadInt64x8(p)
		x = x.Add(x.ConcatPermute(zero, u1))
		x = x.Add(x.ConcatPermute(zero, u2))
		x = x.Add(x.ConcatPermute(zero, u4))
		x.Add(carry).Store(p)
		carry = carry.Add(x.Permute(last))
	}
	archsimd.ClearAVXUpperBits()
	return i
}

func prefixSum32AVX512(dst []int32, first int32) int {
	u1, u2 := archsimd.LoadUint32x16(&up32[0]), archsimd.LoadUint32x16(&up32[1])
	u4, u8 := archsimd.LoadUint32x16(&up32[2]), archsimd.LoadUint32x16(&up32[3])
	last := archsimd.BroadcastUint32x16(15)
	zero, carry := archsimd.BroadcastInt32x16(0), archsimd.BroadcastInt32x16(first)
	i := 0
	for ; i+16 <= len(dst); i += 16 {
		p := (*[16]int32)(dst[i:])
		x := archsimd.LoadInt32x16(p)
		x = x.Add(x.ConcatPermute(zero, u1))
		x = x.Add(x.ConcatPermute(zero, u2))
		x = x.Add(x.ConcatPermute(zero, u4))
		x = x.Add(x.ConcatPermute(zero, u8))
		x.Add(carry).Store(p)
		carry = carry.Add(x.Permute(last))
	}
	archsimd.ClearAVXUpperBits()
	return i
}

// deltas64AVX512 adds 16 differences in lanes of 32 bits, then widens.
func deltas64AVX512(dst []int64, src []byte, w uint, base int32, first int64) int {
	index, shift := archsimd.LoadUint8x64(&index32[w]), archsimd.LoadUint32x16(&shift32[w])
	mask, add := archsimd.BroadcastUint32x16(1<<w-1), archsimd.BroadcastInt32x16(base)
	u1, u2 := archsimd.LoadUint32x16(&up32[0]), archsimd.LoadUint32x16(&up32[1])
	u4, u8 := archsimd.LoadUint32x16(&up32[2]), archsimd.LoadUint32x16(&up32[3])
	last := archsimd.BroadcastUint64x8(7)
	zero, carry := archsimd.BroadcastInt32x16(0), archsimd.BroadcastInt64x8(first)
	i := 0
	for ; i+16 <= len(dst); i += 16 {
		x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint32x16().ShiftRight(shift).And(mask).AsInt32x16().Add(add)
		x = x.Add(x.ConcatPermute(zero, u1))
		x = x.Add(x.ConcatPermute(zero, u2))
		x = x.Add(x.ConcatPermute(zero, u4))
		x = x.Add(x.ConcatPermute(zero, u8))
		low, high := x.GetLo().ExtendToInt64(), x.GetHi().ExtendToInt64()
		low.Add(carry).Store((*[8]int64)(dst[i:]))
		high.Add(carry).Store((*[8]int64)(dst[i+8:]))
		carry = carry.Add(high.Permute(last))
		src = src[2*w:]
	}
	archsimd.ClearAVXUpperBits()
	return i
}

func decimalsAVX512(dst []float64, vals []int64, scale float64) int {
	s := archsimd.BroadcastFloat64x8(scale)
	i := 0
	for ; i+8 <= len(vals); i += 8 {
		archsimd.LoadInt64x8((*[8]int64)(vals[i:])).ConvertToFloat64().Div(s).Store((*[8]float64)(dst[i:]))
	}
	archsimd.ClearAVXUpperBits()
	return i
}

// profileAVX512 loads each vector twice, one value apart.
func profileAVX512(p *Profile, vals []int64) int {
	lo, hi := archsimd.BroadcastInt64x8(p.Lo), archsimd.BroadcastInt64x8(p.Hi)
	dlo, dhi := archsimd.BroadcastInt64x8(p.DiffLo), archsimd.BroadcastInt64x8(p.DiffHi)
	over, zero := archsimd.BroadcastInt64x8(0), archsimd.BroadcastInt64x8(0)
	changes, i := 0, 1
	for ; i+8 <= len(vals); i += 8 {
		last, x := archsimd.LoadInt64x8((*[8]int64)(vals[i-1:])), archsimd.LoadInt64x8((*[8]int64)(vals[i:]))
		d := x.Sub(last)
		over = over.Or(x.Xor(last).And(x.Xor(d)))
		lo, hi = lo.Min(x), hi.Max(x)
		dlo, dhi = dlo.Min(d), dhi.Max(d)
		changes += bits.OnesCount8(d.NotEqual(zero).ToBits())
	}
	var lanes [5][8]int64
	lo.Store(&lanes[0])
	hi.Store(&lanes[1])
	dlo.Store(&lanes[2])
	dhi.Store(&lanes[3])
	over.Store(&lanes[4])
	archsimd.ClearAVXUpperBits()
	for k := range 8 {
		p.Lo, p.Hi = min(p.Lo, lanes[0][k]), max(p.Hi, lanes[1][k])
		p.DiffLo, p.DiffHi = min(p.DiffLo, lanes[2][k]), max(p.DiffHi, lanes[3][k])
		p.overflow |= lanes[4][k]
	}
	p.Changes += changes
	return i
}

func minMaxAVX512(vals []int64) (lo, hi int64, done int) {
	l := archsimd.LoadInt64x8((*[8]int64)(vals))
	h := l
	i := 8
	for ; i+8 <= len(vals); i += 8 {
		x := archsimd.LoadInt64x8((*[8]int64)(vals[i:]))
		l, h = l.Min(x), h.Max(x)
	}
	var ls, hs [8]int64
	l.Store(&ls)
	h.Store(&hs)
	archsimd.ClearAVXUpperBits()
	lo, hi = minMax(ls[:], ls[0], hs[0])
	_, hi = minMax(hs[:], lo, hi)
	return lo, hi, i
}
