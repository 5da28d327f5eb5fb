// Package kernels holds the innermost loops over encoded columns: packing and
// unpacking of bit-packed integers and zone-map sums and bounds.
//
// It is not where encodings are chosen or laid out (colstore/encoding). Inputs
// are trusted to be long enough: callers check lengths once per block, so that
// no loop does.
//
// # Bit packing
//
// Value i of width w occupies bits i*w to i*w+w-1 of a little-endian bit
// stream, least significant bit first. Width 0 takes no bytes. Unpacking reads
// 8 bytes at a time and so up to Slack bytes past the last value.
package kernels

import (
	"encoding/binary"
	"math/bits"
)

// Slack is the number of readable bytes that must follow packed values.
const Slack = 8

// Name says which kernels this binary runs: "portable" or "simd".
func Name() string { return "portable" }

// Int is an integer that columns hold.
type Int interface {
	~int16 | ~int32 | ~int64 | ~uint32
}

// PackedLen returns the bytes that n values of width w take.
func PackedLen(n int, w uint) int { return (n*int(w) + 7) / 8 }

// Width returns the bits needed for x.
func Width(x uint64) uint { return uint(bits.Len64(x)) }

// Pack appends the low w bits of each value.
func Pack(dst []byte, vals []uint64, w uint) []byte {
	switch w {
	case 0:
		return dst
	case 64:
		for _, v := range vals {
			dst = binary.LittleEndian.AppendUint64(dst, v)
		}
		return dst
	}
	end := len(dst) + PackedLen(len(vals), w)
	var acc uint64
	var fill uint
	mask := uint64(1)<<w - 1
	for _, v := range vals {
		v &= mask
		acc |= v << fill
		if fill += w; fill >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			fill -= 64
			acc = v >> (w - fill)
		}
	}
	for len(dst) < end {
		dst = append(dst, byte(acc))
		acc >>= 8
	}
	return dst
}

// Unpack writes len(dst) values of width w plus base. src must hold them and
// Slack bytes more.
func Unpack[T Int](dst []T, src []byte, w uint, base int64) {
	switch {
	case w == 0:
		b := T(base)
		for i := range dst {
			dst[i] = b
		}
	case w == 8:
		src = src[:len(dst)]
		for i := range dst {
			dst[i] = T(int64(src[i]) + base)
		}
	case w == 16:
		for i := range dst {
			dst[i] = T(int64(binary.LittleEndian.Uint16(src[2*i:])) + base)
		}
	case w <= 16:
		unpackNarrow(dst, src, w, base)
	case w <= 57:
		unpackMiddle(dst, src, w, base)
	case w == 64:
		for i := range dst {
			dst[i] = T(int64(binary.LittleEndian.Uint64(src[8*i:])) + base)
		}
	default:
		unpackWide(dst, src, w, base)
	}
}

// unpackNarrow takes four values from each load: 4*16 bits and 7 of offset
// would not fit in 64, so the last of the four may need w <= 14; wider ones
// are taken three at a time.
func unpackNarrow[T Int](dst []T, src []byte, w uint, base int64) {
	mask := uint64(1)<<w - 1
	i, pos := 0, uint(0)
	if w <= 14 {
		for ; i+4 <= len(dst); i += 4 {
			x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
			d := dst[i : i+4 : i+4]
			d[0] = T(int64(x&mask) + base)
			d[1] = T(int64(x>>w&mask) + base)
			d[2] = T(int64(x>>(2*w)&mask) + base)
			d[3] = T(int64(x>>(3*w)&mask) + base)
			pos += 4 * w
		}
	}
	for ; i < len(dst); i++ {
		x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
		dst[i] = T(int64(x&mask) + base)
		pos += w
	}
}

func unpackMiddle[T Int](dst []T, src []byte, w uint, base int64) {
	mask := uint64(1)<<w - 1
	i, pos := 0, uint(0)
	if w <= 28 {
		for ; i+2 <= len(dst); i += 2 {
			x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
			d := dst[i : i+2 : i+2]
			d[0] = T(int64(x&mask) + base)
			d[1] = T(int64(x>>w&mask) + base)
			pos += 2 * w
		}
	}
	for ; i < len(dst); i++ {
		x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
		dst[i] = T(int64(x&mask) + base)
		pos += w
	}
}

func unpackWide[T Int](dst []T, src []byte, w uint, base int64) {
	mask := uint64(1)<<w - 1
	pos := uint(0)
	for i := range dst {
		x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
		if off := pos & 7; off+w > 64 {
			x |= uint64(src[pos>>3+8]) << (64 - off)
		}
		dst[i] = T(int64(x&mask) + base)
		pos += w
	}
}

// PrefixSum replaces dst[i] by first + dst[0] + ... + dst[i].
func PrefixSum[T Int](dst []T, first T) {
	acc := first
	for i := range dst {
		acc += dst[i]
		dst[i] = acc
	}
}

// MinMax returns the bounds of vals, which is not empty.
func MinMax[T Int](vals []T) (lo, hi T) {
	lo, hi = vals[0], vals[0]
	for _, v := range vals[1:] {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}
