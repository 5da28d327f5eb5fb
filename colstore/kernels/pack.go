package kernels

import (
	"encoding/binary"
	"slices"
)

// packSlack is the number of bytes that packing writes beyond the last one.
const packSlack = 16

// Pack appends the low w bits of each value.
func Pack(dst []byte, vals []uint64, w uint) []byte {
	start, n := len(dst), PackedLen(len(vals), w)
	if w == 0 {
		return dst
	}
	dst = slices.Grow(dst, n+packSlack)[:start+n]
	out := dst[start : start+n+packSlack] // the last word may reach beyond the last byte
	at := 0
	if w <= 16 {
		k := packEights(out, vals, w)
		vals, at = vals[k:], k*int(w)/8
	}
	var acc uint64
	var fill uint
	mask := ^uint64(0) >> (64 - w)
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

// packEights packs eight values of at most 16 bits, which take w bytes, at a
// time and returns how many it packed.
func packEights(out []byte, vals []uint64, w uint) int {
	mask := uint64(1)<<w - 1
	w &= 31
	at, i := 0, 0
	for ; i+8 <= len(vals); i += 8 {
		v := (*[8]uint64)(vals[i:])
		a := v[0]&mask | v[1]&mask<<w | v[2]&mask<<(2*w&63) | v[3]&mask<<(3*w&63)
		b := v[4]&mask | v[5]&mask<<w | v[6]&mask<<(2*w&63) | v[7]&mask<<(3*w&63)
		o := (*[16]byte)(out[at:])
		binary.LittleEndian.PutUint64(o[:8], a|b<<(4*w))
		binary.LittleEndian.PutUint64(o[8:], b>>(64-4*w))
		at += int(w)
	}
	return i
}
