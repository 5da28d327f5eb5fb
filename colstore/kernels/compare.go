package kernels

// Op is a comparison with a constant on the right.
type Op uint8

// The comparisons.
const (
	EQ Op = iota
	NE
	LT
	LE
	GT
	GE
)

// Compare sets bit i of dst to whether packed value i compares with c; bits
// from n to the end of the last word are zero. dst has a word per 64 values.
func Compare(dst []uint64, src []byte, n int, w uint, op Op, c uint64) {
	if n == 0 {
		return
	}
	less, invert, always := reduce(op, &c, w)
	switch {
	case always:
		Fill(dst, n, !invert)
		return
	case w == 0:
		Fill(dst, n, (less && 0 < c || !less && c == 0) != invert)
		return
	}
	if !simdCompare(dst, src, n, w, less, c) {
		compare(dst, src, n, w, less, c)
	}
	if invert {
		for i := range dst[:(n+63)>>6] {
			dst[i] = ^dst[i]
		}
	}
	trim(dst, n)
}

// Fill sets the first n bits of dst to v and the rest of the last word to
// zero.
func Fill(dst []uint64, n int, v bool) {
	var w uint64
	if v {
		w = ^w
	}
	dst = dst[:(n+63)>>6]
	for i := range dst {
		dst[i] = w
	}
	trim(dst, n)
}

func trim(dst []uint64, n int) {
	if r := uint(n) & 63; r != 0 {
		dst[n>>6] &= 1<<r - 1
	}
}

// reduce turns a comparison into less-than or equality, perhaps inverted; with
// always the answer does not depend on the value.
func reduce(op Op, c *uint64, w uint) (less, invert, always bool) {
	largest := uint64(0)
	if w > 0 {
		largest = ^uint64(0) >> (64 - w)
	}
	switch op {
	case EQ, NE:
		if *c > largest {
			return false, op == EQ, true
		}
		return false, op == NE, false
	case LE, GT:
		if *c >= largest {
			return true, op == GT, true
		}
		*c++
		return true, op == GT, false
	default:
		if *c > largest {
			return true, op == GE, true
		}
		return true, op == GE, false
	}
}

// compare unpacks 64 values at a time to a buffer that stays in the first-level
// cache.
func compare(dst []uint64, src []byte, n int, w uint, less bool, c uint64) {
	var buf [64]int64
	for k := 0; k*64 < n; k++ {
		m := min(64, n-k*64)
		part := src[uint(k)*8*w:]
		if w == 64 {
			dst[k] = compareWide(part, m, w, less, c)
			continue
		}
		unpack(buf[:m], part, w, 0)
		if less {
			dst[k] = wordLess(&buf, c)
		} else {
			dst[k] = wordEqual(&buf, c)
		}
	}
}

// wordLess takes the borrow of a subtraction as the bit: values and c have 63
// bits.
func wordLess(buf *[64]int64, c uint64) uint64 {
	var out uint64
	for i := 56; i >= 0; i -= 8 {
		v := (*[8]int64)(buf[i:])
		a := (uint64(v[0])-c)>>63 | (uint64(v[1])-c)>>63<<1 | (uint64(v[2])-c)>>63<<2 | (uint64(v[3])-c)>>63<<3
		b := (uint64(v[4])-c)>>63<<4 | (uint64(v[5])-c)>>63<<5 | (uint64(v[6])-c)>>63<<6 | (uint64(v[7])-c)>>63<<7
		out = out<<8 | a | b
	}
	return out
}

// wordEqual does so with the borrow of zero less one.
func wordEqual(buf *[64]int64, c uint64) uint64 {
	var out uint64
	for i := 56; i >= 0; i -= 8 {
		v := (*[8]int64)(buf[i:])
		a := ((uint64(v[0])^c)-1)>>63 | ((uint64(v[1])^c)-1)>>63<<1 | ((uint64(v[2])^c)-1)>>63<<2 | ((uint64(v[3])^c)-1)>>63<<3
		b := ((uint64(v[4])^c)-1)>>63<<4 | ((uint64(v[5])^c)-1)>>63<<5 | ((uint64(v[6])^c)-1)>>63<<6 | ((uint64(v[7])^c)-1)>>63<<7
		out = out<<8 | a | b
	}
	return out
}

func compareWide(src []byte, n int, w uint, less bool, c uint64) uint64 {
	var out uint64
	for i := 0; i < n; i++ {
		x := At(src, i, w)
		if less && x < c || !less && x == c {
			out |= 1 << uint(i)
		}
	}
	return out
}
