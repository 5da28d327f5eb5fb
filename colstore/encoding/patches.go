package encoding

import (
	"encoding/binary"

	"tsdb/colstore/kernels"
)

// fitted is the place of a window that most values of a block fall into.
type fitted struct {
	base  int64
	width uint
}

// The histogram that finds a window: bins are a power of two wide, so that a
// sample's middle spans less than binSpan of them.
const (
	bins    = 128
	binSpan = 32
	maxSpan = 7 // a window of 2^maxSpan bins is all
)

// window looks for a base and a width below full under which the packed
// values and the patches of all others take least, and returns that size with
// a header.
func window(vals []int64, full uint) (fitted, int, bool) {
	if len(vals) < 32 || full < 2 {
		return fitted{}, 0, false
	}
	med, span := middle(vals)
	inner := kernels.Width(span)
	if inner+2 > full {
		return fitted{}, 0, false // few values lie outside of the middle by much
	}
	shift := kernels.Width(span / binSpan)
	inner -= shift
	var hist [bins]uint16
	for _, x := range vals {
		d := x - med
		b := d>>shift + bins/2
		if uint64(b) < bins && (x >= med) == (d >= 0) {
			hist[b]++
		}
	}
	patch := 2 + int(full+6)/7
	n := len(vals)
	best, size := fitted{}, 1<<30
	for k := max(inner, 1) - 1; k < maxSpan && k+shift < full; k++ {
		in, most, at := 0, 0, 0
		span := 1 << k
		for i := 0; i < bins; i++ {
			in += int(hist[i])
			if i >= span {
				in -= int(hist[i-span])
			}
			if in > most {
				most, at = in, i-span+1
			}
		}
		s := 12 + kernels.PackedLen(n, k+shift) + (n-most)*patch
		if most > 0 && s < size {
			best, size = fitted{med + int64(at-bins/2)<<shift, k + shift}, s
		}
		if most == n {
			break
		}
	}
	return best, size, size < 1<<30
}

// middle returns the median of a sample and the distance in which most of it
// lies.
func middle(vals []int64) (med int64, span uint64) {
	var s [32]int64
	for i := range s {
		x := vals[i*len(vals)/len(s)]
		j := i
		for ; j > 0 && s[j-1] > x; j-- {
			s[j] = s[j-1]
		}
		s[j] = x
	}
	return s[16], uint64(s[28]) - uint64(s[3])
}

// appendPatched appends width, patches and packed values.
func (e *Encoder) appendPatched(dst []byte, vals []int64, p plan) []byte {
	return kernels.Pack(e.appendPatches(append(dst, byte(p.width)), vals, p), e.u64, p.width)
}

// appendPatches appends the patches of the values that the window of p does
// not hold, and leaves the others, less the base, in e.u64.
func (e *Encoder) appendPatches(dst []byte, vals []int64, p plan) []byte {
	e.u64 = extend(e.u64[:0], len(vals))
	e.pos, e.patch = e.pos[:0], e.patch[:0]
	limit := uint64(1) << p.width
	slot, known := uint64(0), false
	for i, x := range vals {
		u := uint64(x) - uint64(p.base)
		if u < limit {
			if !known {
				known = true
				for j := range e.u64[:i] {
					e.u64[j] = u
				}
			}
			slot = u
		} else {
			e.pos, e.patch = append(e.pos, uint16(i)), append(e.patch, int64(u))
		}
		e.u64[i] = slot
	}
	dst = binary.AppendUvarint(dst, uint64(len(e.pos)))
	next := 0
	for i, at := range e.pos {
		dst = binary.AppendUvarint(dst, uint64(int(at)-next))
		dst = binary.AppendVarint(dst, e.patch[i])
		next = int(at) + 1
	}
	return dst
}
