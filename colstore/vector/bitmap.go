package vector

import "math/bits"

// Bitmap is a little-endian bit set, least significant bit first: the memory
// image of an Arrow bitmap on a little-endian machine. Bits at and above the
// owner's row count are unspecified.
type Bitmap []uint64

// Words returns the number of 64-bit words that n bits take.
func Words(n int) int { return (n + 63) >> 6 }

// NewBitmap returns a bitmap of n bits, all equal to v.
func NewBitmap(n int, v bool) Bitmap {
	b := make(Bitmap, Words(n))
	if v {
		b.Fill(true)
	}
	return b
}

// Get reports bit i.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set makes bit i one.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear makes bit i zero.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// Put makes bit i equal to v.
func (b Bitmap) Put(i int, v bool) {
	if v {
		b.Set(i)
	} else {
		b.Clear(i)
	}
}

// Fill makes every bit of every word equal to v.
func (b Bitmap) Fill(v bool) {
	var w uint64
	if v {
		w = ^uint64(0)
	}
	for i := range b {
		b[i] = w
	}
}

// Count returns the number of ones among the first n bits.
func (b Bitmap) Count(n int) int {
	c := 0
	full := n >> 6
	for _, w := range b[:full] {
		c += bits.OnesCount64(w)
	}
	if r := uint(n) & 63; r != 0 {
		c += bits.OnesCount64(b[full] & (1<<r - 1))
	}
	return c
}

// Resize returns a bitmap of n bits that reuses b's memory where it can. Old
// bits keep their values, new words are zero.
func (b Bitmap) Resize(n int) Bitmap {
	w := Words(n)
	if cap(b) >= w {
		old := len(b)
		b = b[:w]
		for i := old; i < w; i++ {
			b[i] = 0
		}
		return b
	}
	nb := make(Bitmap, w, max(w, 2*cap(b)))
	copy(nb, b)
	return nb
}

// AppendIndexes appends the positions of the ones among the first n bits.
func (b Bitmap) AppendIndexes(dst []int32, n int) []int32 {
	for wi := 0; wi < Words(n); wi++ {
		w := b[wi]
		if r := n - wi*64; r < 64 {
			w &= 1<<uint(r) - 1
		}
		for w != 0 {
			dst = append(dst, int32(wi*64+bits.TrailingZeros64(w)))
			w &= w - 1
		}
	}
	return dst
}
