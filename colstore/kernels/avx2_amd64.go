//go:build goexperiment.simd && amd64

package kernels

import "simd/archsimd"

func window(src []byte) *[16]uint8 { return (*[16]uint8)(src) }

// load8x32 moves the 4 bytes of each of 8 values of at most 25 bits to a lane;
// second is where the window of the upper four begins.
func load8x32(src []byte, second uint, index archsimd.Int8x32) archsimd.Uint32x8 {
	var x archsimd.Uint8x32
	x = x.SetLo(archsimd.LoadUint8x16(window(src))).SetHi(archsimd.LoadUint8x16(window(src[second:])))
	return x.PermuteOrZeroGrouped(index).AsUint32x8()
}

// load4x64 does so with the 8 bytes of each of 4 values of at most 57 bits.
func load4x64(src []byte, first, second uint, index archsimd.Int8x32) archsimd.Uint64x4 {
	var x archsimd.Uint8x32
	x = x.SetLo(archsimd.LoadUint8x16(window(src[first:]))).SetHi(archsimd.LoadUint8x16(window(src[second:])))
	return x.PermuteOrZeroGrouped(index).AsUint64x4()
}

func unpack32AVX2(dst []int32, src []byte, w uint, base int32) int {
	index, shift := archsimd.LoadInt8x32(&half32[w]), archsimd.LoadUint32x8(&halfShift32[w])
	mask, add := archsimd.BroadcastUint32x8(1<<w-1), archsimd.BroadcastInt32x8(base)
	second := 4 * w >> 3
	i := 0
	for ; i+8 <= len(dst); i += 8 {
		x := load8x32(src, second, index).ShiftRight(shift).And(mask)
		x.AsInt32x8().Add(add).Store((*[8]int32)(dst[i:]))
		src = src[w:]
	}
	archsimd.ClearAVXUpperBits()
	return i
}

func unpack64AVX2(dst []int64, src []byte, w uint, base int64) int {
	h, s := &half64[w], &halfShift64[w]
	index0, index1 := archsimd.LoadInt8x32((*[32]int8)(h[:32])), archsimd.LoadInt8x32((*[32]int8)(h[32:]))
	shift0, shift1 := archsimd.LoadUint64x4((*[4]uint64)(s[:4])), archsimd.LoadUint64x4((*[4]uint64)(s[4:]))
	mask, add := archsimd.BroadcastUint64x4(1<<w-1), archsimd.BroadcastInt64x4(base)
	i := 0
	for ; i+8 <= len(dst); i += 8 {
		x := load4x64(src, 0, 2*w>>3, index0).ShiftRight(shift0).And(mask)
		y := load4x64(src, 4*w>>3, 6*w>>3, index1).ShiftRight(shift1).And(mask)
		x.AsInt64x4().Add(add).Store((*[4]int64)(dst[i:]))
		y.AsInt64x4().Add(add).Store((*[4]int64)(dst[i+4:]))
		src = src[w:]
	}
	archsimd.ClearAVXUpperBits()
	return i
}

func sum32AVX2(src []byte, n int, w uint) (total uint64, done int) {
	index, shift := archsimd.LoadInt8x32(&half32[w]), archsimd.LoadUint32x8(&halfShift32[w])
	mask, low := archsimd.BroadcastUint32x8(1<<w-1), archsimd.BroadcastUint64x4(1<<32-1)
	second := 4 * w >> 3
	wide := archsimd.BroadcastUint64x4(0)
	for groups := n / 8; groups > 0; {
		acc := archsimd.BroadcastUint32x8(0)
		m := min(groups, flushGroups)
		for range m {
			acc = acc.Add(load8x32(src, second, index).ShiftRight(shift).And(mask))
			src = src[w:]
		}
		pairs := acc.AsUint64x4()
		wide = wide.Add(pairs.And(low)).Add(pairs.ShiftAllRight(32))
		groups -= m
	}
	total = sumQuad(wide)
	archsimd.ClearAVXUpperBits()
	return total, n &^ 7
}

func sumQuad(x archsimd.Uint64x4) uint64 {
	q := x.GetLo().Add(x.GetHi())
	return q.GetElem(0) + q.GetElem(1)
}

// sum64AVX2 takes at most 48 bits: MaxValues of them fit in 64.
func sum64AVX2(src []byte, n int, w uint) (total uint64, done int) {
	h, s := &half64[w], &halfShift64[w]
	index0, index1 := archsimd.LoadInt8x32((*[32]int8)(h[:32])), archsimd.LoadInt8x32((*[32]int8)(h[32:]))
	shift0, shift1 := archsimd.LoadUint64x4((*[4]uint64)(s[:4])), archsimd.LoadUint64x4((*[4]uint64)(s[4:]))
	mask, acc := archsimd.BroadcastUint64x4(1<<w-1), archsimd.BroadcastUint64x4(0)
	for range n / 8 {
		acc = acc.Add(load4x64(src, 0, 2*w>>3, index0).ShiftRight(shift0).And(mask))
		acc = acc.Add(load4x64(src, 4*w>>3, 6*w>>3, index1).ShiftRight(shift1).And(mask))
		src = src[w:]
	}
	total = sumQuad(acc)
	archsimd.ClearAVXUpperBits()
	return total, n &^ 7
}

func bounds32AVX2(src []byte, n int, w uint) (lo, hi uint64, done int) {
	index, shift := archsimd.LoadInt8x32(&half32[w]), archsimd.LoadUint32x8(&halfShift32[w])
	mask := archsimd.BroadcastUint32x8(1<<w - 1)
	second := 4 * w >> 3
	l, h := mask, archsimd.BroadcastUint32x8(0)
	for range n / 8 {
		x := load8x32(src, second, index).ShiftRight(shift).And(mask)
		l, h = l.Min(x), h.Max(x)
		src = src[w:]
	}
	var ls, hs [8]uint32
	l.Store(&ls)
	h.Store(&hs)
	archsimd.ClearAVXUpperBits()
	lo, hi = uint64(ls[0]), uint64(hs[0])
	for i := 1; i < 8; i++ {
		lo, hi = min(lo, uint64(ls[i])), max(hi, uint64(hs[i]))
	}
	return lo, hi, n &^ 7
}

// compare32AVX2 compares as signed numbers, which 25 bits are.
func compare32AVX2(dst []uint64, src []byte, w uint, less bool, c int32) {
	index, shift := archsimd.LoadInt8x32(&half32[w]), archsimd.LoadUint32x8(&halfShift32[w])
	mask, k := archsimd.BroadcastUint32x8(1<<w-1), archsimd.BroadcastInt32x8(c)
	second := 4 * w >> 3
	for i := range dst {
		var word uint64
		for at := 0; at < 64; at += 8 {
			x := load8x32(src, second, index).ShiftRight(shift).And(mask).AsInt32x8()
			if less {
				word |= uint64(k.Greater(x).ToBits()) << at
			} else {
				word |= uint64(k.Equal(x).ToBits()) << at
			}
			src = src[w:]
		}
		dst[i] = word
	}
	archsimd.ClearAVXUpperBits()
}
