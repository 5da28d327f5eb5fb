// Package kernels holds the innermost loops over encoded columns: packing and
// unpacking of bit-packed integers, sums, bounds and comparisons on packed
// values without unpacking them, prefix sums and decimal scaling.
//
// It is not where encodings are chosen or laid out (colstore/encoding). Inputs
// are trusted to be long enough: callers check lengths once per block, so that
// no loop does.
//
// # Bit packing
//
// Value i of width w occupies bits i*w to i*w+w-1 of a little-endian bit
// stream, least significant bit first. Width 0 takes no bytes. Kernels read
// whole words and vectors and so up to Slack bytes past the last value.
//
// # Two forms
//
// Every kernel exists in portable Go. A binary built with GOEXPERIMENT=simd
// for amd64 also has vector forms, chosen by what the processor offers: AVX-512
// with byte permutations, or AVX2. Both forms give the same results for all
// inputs, which the fuzz targets check. A vector kernel ends by clearing the
// upper halves of the registers: scalar float code after it would run several
// times slower.
package kernels

import "math/bits"

// Slack is the number of readable bytes that must follow packed values: one
// vector.
const Slack = 64

// MaxValues is the largest number of packed values that one call folds: sums
// are kept in words that hold that many.
const MaxValues = 1 << 16

// Name says which kernels this binary runs: "portable", "simd (AVX2)" or
// "simd (AVX-512)".
func Name() string {
	if s := simdName(); s != "" {
		return "simd (" + s + ")"
	}
	return "portable"
}

// Int is an integer that columns hold.
type Int interface {
	~int16 | ~int32 | ~int64 | ~uint32
}

// PackedLen returns the bytes that n values of width w take.
func PackedLen(n int, w uint) int { return (n*int(w) + 7) / 8 }

// Width returns the bits needed for x.
func Width(x uint64) uint { return uint(bits.Len64(x)) }

// MinMax returns the bounds of vals, which is not empty.
func MinMax[T Int](vals []T) (lo, hi T) {
	lo, hi = vals[0], vals[0]
	return minMax(vals[simdMinMax(vals, &lo, &hi):], lo, hi)
}

func minMax[T Int](vals []T, lo, hi T) (T, T) {
	for _, v := range vals {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// PrefixSum replaces dst[i] by first + dst[0] + ... + dst[i].
func PrefixSum[T Int](dst []T, first T) {
	if !simdPrefixSum(dst, first) {
		prefixSum(dst, first)
	}
}

func prefixSum[T Int](dst []T, first T) {
	acc := first
	for i := range dst {
		acc += dst[i]
		dst[i] = acc
	}
}

// UnpackDeltas writes to dst[i] the sum of first, the packed values 0 to i and
// base for each of them: Unpack and PrefixSum in one.
func UnpackDeltas[T Int](dst []T, src []byte, w uint, base int64, first T) {
	if !simdUnpackDeltas(dst, src, w, base, first) {
		Unpack(dst, src, w, base)
		PrefixSum(dst, first)
	}
}

// Decimals writes vals[i] / scale to dst, which is as long.
func Decimals(dst []float64, vals []int64, scale float64) {
	if !simdDecimals(dst, vals, scale) {
		decimals(dst, vals, scale)
	}
}

func decimals(dst []float64, vals []int64, scale float64) {
	dst = dst[:len(vals)]
	for i, x := range vals {
		dst[i] = float64(x) / scale
	}
}
