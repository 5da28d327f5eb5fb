package kernels

import (
	"encoding/binary"
	"math/bits"
)

// Sum adds n packed values, at most MaxValues, and returns the halves of the
// 128-bit sum.
func Sum(src []byte, n int, w uint) (hi, lo uint64) {
	if hi, lo, ok := simdSum(src, n, w); ok {
		return hi, lo
	}
	return sum(src, n, w)
}

// Bounds returns the smallest and the largest of n packed values, n > 0.
func Bounds(src []byte, n int, w uint) (lo, hi uint64) {
	if lo, hi, ok := simdBounds(src, n, w); ok {
		return lo, hi
	}
	return bounds(src, n, w)
}

func sum(src []byte, n int, w uint) (hi, lo uint64) {
	switch {
	case w == 0:
		return 0, 0
	case w == 1:
		return 0, sumBits(src, n)
	case w <= 8:
		return 0, sumFours(src, n, w)
	case w <= 14 || w == 16:
		return 0, sumPairs(src, n, w)
	case w <= 28 || w == 32:
		return 0, sumTwos(src, n, w)
	case w <= 48:
		return 0, sumTail(src, n, w, 0)
	}
	for i := 0; i < n; i++ {
		var c uint64
		lo, c = bits.Add64(lo, At(src, i, w), 0)
		hi += c
	}
	return hi, lo
}

func sumBits(src []byte, n int) uint64 {
	ones, i := 0, 0
	for ; i+64 <= n; i += 64 {
		ones += bits.OnesCount64(binary.LittleEndian.Uint64(src[i>>3:]))
	}
	if i < n {
		ones += bits.OnesCount64(binary.LittleEndian.Uint64(src[i>>3:]) & (1<<uint(n-i) - 1))
	}
	return uint64(ones)
}

// spread returns a word whose lanes of step bits hold a field of width bits.
func spread(width, step uint, lanes int) uint64 {
	var m uint64
	for i := 0; i < lanes; i++ {
		m |= (1<<width - 1) << (uint(i) * step)
	}
	return m
}

// collapse adds the lanes of a word.
func collapse(x uint64, step uint) uint64 {
	var total uint64
	for ; x != 0; x >>= step {
		total += x & (1<<step - 1)
	}
	return total
}

// sumFours adds neighbours inside a word into lanes of four widths, which take
// many words before they overflow.
func sumFours(src []byte, n int, w uint) uint64 {
	per := 56 / int(w) &^ 3
	if w == 8 {
		per = 8
	}
	m1, m2 := spread(w, 2*w, per/2), spread(2*w, 4*w, per/4)
	rounds := int((uint64(1)<<(4*w) - 1) / (4 * (1<<w - 1)))
	var total uint64
	i, pos, step := 0, uint(0), uint(per)*w
	for i+per <= n {
		var acc uint64
		for r := min(rounds, (n-i)/per); r > 0; r-- {
			x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
			y := x&m1 + x>>(w&63)&m1
			acc += y&m2 + y>>(2*w&63)&m2
			i += per
			pos += step
		}
		total += collapse(acc, 4*w)
	}
	return total + sumTail(src, n, w, i)
}

func sumPairs(src []byte, n int, w uint) uint64 {
	const per = 4
	m := spread(w, 2*w, per/2)
	rounds := 1 << (w - 1)
	var total uint64
	i, pos := 0, uint(0)
	for i+per <= n {
		var acc uint64
		for r := min(rounds, (n-i)/per); r > 0; r-- {
			x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
			acc += x&m + x>>(w&63)&m
			i += per
			pos += per * w
		}
		total += collapse(acc, 2*w)
	}
	return total + sumTail(src, n, w, i)
}

func sumTwos(src []byte, n int, w uint) uint64 {
	mask := uint64(1)<<w - 1
	var a, b uint64
	i, pos := 0, uint(0)
	for ; i+2 <= n; i += 2 {
		x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
		a += x & mask
		b += x >> (w & 63) & mask
		pos += 2 * w
	}
	return a + b + sumTail(src, n, w, i)
}

// sumTail adds the values from i on, of at most 57 bits.
func sumTail(src []byte, n int, w uint, i int) uint64 {
	mask := uint64(1)<<w - 1
	pos := uint(i) * w
	var total uint64
	for ; i < n; i++ {
		total += binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7) & mask
		pos += w
	}
	return total
}

func bounds(src []byte, n int, w uint) (lo, hi uint64) {
	lo = ^uint64(0)
	switch {
	case w == 0:
		return 0, 0
	case w <= 28:
		mask := uint64(1)<<w - 1
		i, pos := 0, uint(0)
		for ; i+2 <= n; i += 2 {
			x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
			a, b := x&mask, x>>(w&63)&mask
			lo, hi = min(lo, min(a, b)), max(hi, max(a, b))
			pos += 2 * w
		}
		if i < n {
			x := At(src, i, w)
			lo, hi = min(lo, x), max(hi, x)
		}
		return lo, hi
	}
	for i := 0; i < n; i++ {
		x := At(src, i, w)
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}
