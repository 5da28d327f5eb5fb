//go:build goexperiment.simd && amd64

package kernels

import "simd/archsimd"

// flushGroups is the number of groups after which lanes are emptied: sums of
// 64 values of 9, 25 or 48 bits fit lanes of 15 (signed), 31 and 54 bits.
const flushGroups = 64

func vec(src []byte) *[64]uint8 { return (*[64]uint8)(src) }

func unpack64AVX512(dst []int64, src []byte, w uint, base int64) int {
	index, shift := archsimd.LoadUint8x64(&index64[w]), archsimd.LoadUint64x8(&shift64[w])
	mask, add := archsimd.BroadcastUint64x8(1<<w-1), archsimd.BroadcastInt64x8(base)
	i := 0
	for ; i+8 <= len(dst); i += 8 {
		x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint64x8().ShiftRight(shift).And(mask)
		x.AsInt64x8().Add(add).Store((*[8]int64)(dst[i:]))
		src = src[w:]
	}
	archsimd.ClearAVXUpperBits()
	return i
}

func unpack32AVX512(dst []int32, src []byte, w uint, base int32) int {
	index, shift := archsimd.LoadUint8x64(&index32[w]), archsimd.LoadUint32x16(&shift32[w])
	mask, add := archsimd.BroadcastUint32x16(1<<w-1), archsimd.BroadcastInt32x16(base)
	i := 0
	for ; i+16 <= len(dst); i += 16 {
		x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint32x16().ShiftRight(shift).And(mask)
		x.AsInt32x16().Add(add).Store((*[16]int32)(dst[i:]))
		src = src[2*w:]
	}
	archsimd.ClearAVXUpperBits()
	return i
}

func unpackU32AVX512(dst []uint32, src []byte, w uint, base uint32) int {
	index, shift := archsimd.LoadUint8x64(&index32[w]), archsimd.LoadUint32x16(&shift32[w])
	mask, add := archsimd.BroadcastUint32x16(1<<w-1), archsimd.BroadcastUint32x16(base)
	i := 0
	for ; i+16 <= len(dst); i += 16 {
		x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint32x16().ShiftRight(shift).And(mask)
		x.Add(add).Store((*[16]uint32)(dst[i:]))
		src = src[2*w:]
	}
	archsimd.ClearAVXUpperBits()
	return i
}

func unpack16AVX512(dst []int16, src []byte, w uint, base int16) int {
	index, shift := archsimd.LoadUint8x64(&index16[w]), archsimd.LoadUint16x32(&shift16[w])
	mask, add := archsimd.BroadcastUint16x32(1<<w-1), archsimd.BroadcastInt16x32(base)
	i := 0
	for ; i+32 <= len(dst); i += 32 {
		x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint16x32().ShiftRight(shift).And(mask)
		x.AsInt16x32().Add(add).Store((*[32]int16)(dst[i:]))
		src = src[4*w:]
	}
	archsimd.ClearAVXUpperBits()
	return i
}

func sum16AVX512(src []byte, n int, w uint) (total uint64, done int) {
	index, shift := archsimd.LoadUint8x64(&index16[w]), archsimd.LoadUint16x32(&shift16[w])
	mask, ones := archsimd.BroadcastUint16x32(1<<w-1), archsimd.BroadcastInt16x32(1)
	wide := archsimd.BroadcastInt32x16(0)
	for groups := n / 32; groups > 0; {
		acc := archsimd.BroadcastUint16x32(0)
		m := min(groups, flushGroups)
		for range m {
			acc = acc.Add(archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint16x32().ShiftRight(shift).And(mask))
			src = src[4*w:]
		}
		wide = wide.Add(acc.AsInt16x32().DotProductPairs(ones))
		groups -= m
	}
	total = sumLanes32(wide.AsUint32x16())
	archsimd.ClearAVXUpperBits()
	return total, n &^ 31
}

// sumLanes32 adds lanes whose total fits in 32 bits: at most MaxValues values
// of 9 bits.
func sumLanes32(x archsimd.Uint32x16) uint64 {
	h := x.GetLo().Add(x.GetHi())
	q := h.GetLo().Add(h.GetHi())
	q = q.Add(q.PermuteScalars(2, 3, 2, 3))
	return uint64(q.GetElem(0)) + uint64(q.GetElem(1))
}

func sumLanes64(x archsimd.Uint64x8) uint64 {
	h := x.GetLo().Add(x.GetHi())
	q := h.GetLo().Add(h.GetHi())
	return q.GetElem(0) + q.GetElem(1)
}

func sum32AVX512(src []byte, n int, w uint) (total uint64, done int) {
	index, shift := archsimd.LoadUint8x64(&index32[w]), archsimd.LoadUint32x16(&shift32[w])
	mask, low := archsimd.BroadcastUint32x16(1<<w-1), archsimd.BroadcastUint64x8(1<<32-1)
	wide := archsimd.BroadcastUint64x8(0)
	for groups := n / 16; groups > 0; {
		acc := archsimd.BroadcastUint32x16(0)
		m := min(groups, flushGroups)
		for range m {
			acc = acc.Add(archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint32x16().ShiftRight(shift).And(mask))
			src = src[2*w:]
		}
		pairs := acc.AsUint64x8()
		wide = wide.Add(pairs.And(low)).Add(pairs.ShiftAllRight(32))
		groups -= m
	}
	total = sumLanes64(wide)
	archsimd.ClearAVXUpperBits()
	return total, n &^ 15
}

// sum64AVX512 takes at most 48 bits: MaxValues of them fit in 64.
func sum64AVX512(src []byte, n int, w uint) (total uint64, done int) {
	index, shift := archsimd.LoadUint8x64(&index64[w]), archsimd.LoadUint64x8(&shift64[w])
	mask := archsimd.BroadcastUint64x8(1<<w - 1)
	acc := archsimd.BroadcastUint64x8(0)
	for range n / 8 {
		acc = acc.Add(archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint64x8().ShiftRight(shift).And(mask))
		src = src[w:]
	}
	total = sumLanes64(acc)
	archsimd.ClearAVXUpperBits()
	return total, n &^ 7
}

func bounds16AVX512(src []byte, n int, w uint) (lo, hi uint64, done int) {
	index, shift := archsimd.LoadUint8x64(&index16[w]), archsimd.LoadUint16x32(&shift16[w])
	mask := archsimd.BroadcastUint16x32(1<<w - 1)
	l, h := mask, archsimd.BroadcastUint16x32(0)
	for range n / 32 {
		x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint16x32().ShiftRight(shift).And(mask)
		l, h = l.Min(x), h.Max(x)
		src = src[4*w:]
	}
	var ls, hs [32]uint16
	l.Store(&ls)
	h.Store(&hs)
	archsimd.ClearAVXUpperBits()
	lo, hi = uint64(ls[0]), uint64(hs[0])
	for i := 1; i < 32; i++ {
		lo, hi = min(lo, uint64(ls[i])), max(hi, uint64(hs[i]))
	}
	return lo, hi, n &^ 31
}

func bounds32AVX512(src []byte, n int, w uint) (lo, hi uint64, done int) {
	index, shift := archsimd.LoadUint8x64(&index32[w]), archsimd.LoadUint32x16(&shift32[w])
	mask := archsimd.BroadcastUint32x16(1<<w - 1)
	l, h := mask, archsimd.BroadcastUint32x16(0)
	for range n / 16 {
		x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint32x16().ShiftRight(shift).And(mask)
		l, h = l.Min(x), h.Max(x)
		src = src[2*w:]
	}
	var ls, hs [16]uint32
	l.Store(&ls)
	h.Store(&hs)
	archsimd.ClearAVXUpperBits()
	lo, hi = uint64(ls[0]), uint64(hs[0])
	for i := 1; i < 16; i++ {
		lo, hi = min(lo, uint64(ls[i])), max(hi, uint64(hs[i]))
	}
	return lo, hi, n &^ 15
}

func bounds64AVX512(src []byte, n int, w uint) (lo, hi uint64, done int) {
	index, shift := archsimd.LoadUint8x64(&index64[w]), archsimd.LoadUint64x8(&shift64[w])
	mask := archsimd.BroadcastUint64x8(1<<w - 1)
	l, h := mask, archsimd.BroadcastUint64x8(0)
	for range n / 8 {
		x := archsimd.LoadUint8x64(vec(src)).Permute(index).AsUint64x8().ShiftRight(shift).And(mask)
		l, h = l.Min(x), h.Max(x)
		src = src[w:]
	}
	var ls, hs [8]uint64
	l.Store(&ls)
	h.Store(&hs)
	archsimd.ClearAVXUpperBits()
	lo, hi = ls[0], hs[0]
	for i := 1; i < 8; i++ {
		lo, hi = min(lo, ls[i]), max(hi, hs[i])
	}
	return lo, hi, n &^ 7
}
