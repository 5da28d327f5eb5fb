package kernels

import (
	"encoding/binary"
	"slices"
)

// Pack appends the low w bits of each value.
func Pack(dst []byte, vals []uint64, w uint) []byte {
	start, n := len(dst), PackedLen(len(vals), w)
	if w == 0 {
		return dst
	}
	dst = slices.Grow(dst, n+8)[:start+n]
	out := dst[start : start+n+8] // the last word may reach beyond the last byte
	var acc uint64
	var fill uint
	mask := ^uint64(0) >> (64 - w)
	at := 0
	for _, v := range vals {
		v &= mask
		acc |= v << fill
		if fill += w; fill >= 64 {
			binary.LittleEndian.PutUint64(out[at:], acc)
			at += 8
			fill -= 64
			acc = v >> (w - fill)
		}
	}
	if fill > 0 {
		binary.LittleEndian.PutUint64(out[at:], acc)
	}
	return dst
}
