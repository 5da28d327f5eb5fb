//go:build goexperiment.simd && amd64

package kernels

import "simd/archsimd"

// The instruction sets that kernels are written for.
const (
	levelNone = iota
	levelAVX2
	levelAVX512
)

// level is what the processor offers. Tests lower it.
var level = detect()

func detect() int {
	switch {
	case archsimd.X86.AVX512() && archsimd.X86.AVX512VBMI():
		return levelAVX512
	case archsimd.X86.AVX2():
		return levelAVX2
	}
	return levelNone
}

func simdName() string { return [...]string{"", "AVX2", "AVX-512"}[level] }

// The widest values that fit lanes of 16, 32 and 64 bits with the bit offset
// that a value can have in its first byte.
const (
	max16 = 9
	max32 = 25
	max64 = 57
)

// minVector is the number of values below which setting up costs more than it
// saves.
const minVector = 32

func simdUnpack[T Int](dst []T, src []byte, w uint, base int64) bool {
	if level == levelNone || w > max64 || len(dst) < minVector {
		return false
	}
	done := 0
	switch d := any(dst).(type) {
	case []int64:
		if level == levelAVX512 {
			done = unpack64AVX512(d, src, w, base)
		} else {
			done = unpack64AVX2(d, src, w, base)
		}
	case []int32:
		if w > max32 {
			return false
		}
		if level == levelAVX512 {
			done = unpack32AVX512(d, src, w, int32(base))
		} else {
			done = unpack32AVX2(d, src, w, int32(base))
		}
	case []uint32:
		if w > max32 || level != levelAVX512 {
			return false
		}
		done = unpackU32AVX512(d, src, w, uint32(base))
	case []int16:
		if w > max16 || level != levelAVX512 {
			return false
		}
		done = unpack16AVX512(d, src, w, int16(base))
	}
	if done == 0 {
		return false
	}
	pos := uint(done) * w // whole bytes: groups have a multiple of eight values
	unpack(dst[done:], src[pos>>3:], w, base)
	return true
}

func simdPrefixSum[T Int](dst []T, first T) bool {
	if level != levelAVX512 || len(dst) < minVector {
		return false
	}
	done := 0
	switch d := any(dst).(type) {
	case []int64:
		done = prefixSum64AVX512(d, int64(first))
	case []int32:
		done = prefixSum32AVX512(d, int32(first))
	}
	if done == 0 {
		return false
	}
	prefixSum(dst[done:], dst[done-1])
	return true
}

// maxDeltaBase bounds the base of differences that are added in lanes of 32
// bits: 16 of them and of 25-bit values fit.
const maxDeltaBase = 1 << 26

func simdUnpackDeltas[T Int](dst []T, src []byte, w uint, base int64, first T) bool {
	d, ok := any(dst).([]int64)
	if !ok || level != levelAVX512 || w == 0 || w > max32 || len(d) < minVector || base > maxDeltaBase || base < -maxDeltaBase {
		return false
	}
	done := deltas64AVX512(d, src, w, int32(base), int64(first))
	unpack(d[done:], src[uint(done)*w>>3:], w, base)
	prefixSum(d[done:], d[done-1])
	return true
}

func simdDecimals(dst []float64, vals []int64, scale float64) bool {
	if level != levelAVX512 || len(vals) < minVector {
		return false
	}
	done := decimalsAVX512(dst, vals, scale)
	decimals(dst[done:], vals[done:], scale)
	return true
}

func simdSum(src []byte, n int, w uint) (hi, lo uint64, ok bool) {
	if level == levelNone || w == 0 || w > 48 || n < minVector {
		return 0, 0, false
	}
	done := 0
	switch {
	case level == levelAVX512 && w <= max16:
		lo, done = sum16AVX512(src, n, w)
	case level == levelAVX512 && w <= max32:
		lo, done = sum32AVX512(src, n, w)
	case level == levelAVX512:
		lo, done = sum64AVX512(src, n, w)
	case w <= max32:
		lo, done = sum32AVX2(src, n, w)
	default:
		lo, done = sum64AVX2(src, n, w)
	}
	return 0, lo + sumTail(src, n, w, done), true
}

func simdBounds(src []byte, n int, w uint) (lo, hi uint64, ok bool) {
	if level == levelNone || w == 0 || w > max64 || n < minVector {
		return 0, 0, false
	}
	done := 0
	switch {
	case level == levelAVX512 && w <= max16:
		lo, hi, done = bounds16AVX512(src, n, w)
	case level == levelAVX512 && w <= max32:
		lo, hi, done = bounds32AVX512(src, n, w)
	case level == levelAVX512:
		lo, hi, done = bounds64AVX512(src, n, w)
	case w <= max32:
		lo, hi, done = bounds32AVX2(src, n, w)
	default:
		return 0, 0, false
	}
	if done < n {
		l, h := bounds(src[uint(done)*w>>3:], n-done, w)
		lo, hi = min(lo, l), max(hi, h)
	}
	return lo, hi, true
}

func simdCompare(dst []uint64, src []byte, n int, w uint, less bool, c uint64) bool {
	if level == levelNone || w > max64 || n < 64 {
		return false
	}
	words := n >> 6
	switch {
	case level == levelAVX512 && w <= max16:
		compare16AVX512(dst[:words], src, w, less, uint16(c))
	case level == levelAVX512 && w <= max32:
		compare32AVX512(dst[:words], src, w, less, uint32(c))
	case level == levelAVX512:
		compare64AVX512(dst[:words], src, w, less, c)
	case w <= max32:
		compare32AVX2(dst[:words], src, w, less, int32(c))
	default:
		return false
	}
	if done := words * 64; done < n {
		compare(dst[words:], src[uint(done)*w>>3:], n-done, w, less, c)
	}
	return true
}

// simdProfile takes the first values into the profile and returns how many.
func simdProfile(p *Profile, vals []int64) int {
	if level != levelAVX512 || len(vals) <= minVector {
		return 1
	}
	return profileAVX512(p, vals)
}

// simdMinMax lowers lo and raises hi by the first values and returns how many.
func simdMinMax[T Int](vals []T, lo, hi *T) int {
	v, ok := any(vals).([]int64)
	if !ok || level != levelAVX512 || len(vals) < minVector {
		return 0
	}
	l, h, done := minMaxAVX512(v)
	*lo, *hi = min(*lo, T(l)), max(*hi, T(h))
	return done
}
