package encoding

import (
	"encoding/binary"

	"tsdb/colstore/vector"
)

// appendBits appends n bits of b from bit from on, as whole words.
func appendBits(dst []byte, b vector.Bitmap, from, n int) []byte {
	for i := 0; i < n; i += 64 {
		w := loadBits(b, from+i)
		if r := n - i; r < 64 {
			w &= 1<<uint(r) - 1
		}
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// loadBits returns the 64 bits from bit i on, zero past the end.
func loadBits(b vector.Bitmap, i int) uint64 {
	k, off := i>>6, uint(i)&63
	if k >= len(b) {
		return 0
	}
	w := b[k] >> off
	if off != 0 && k+1 < len(b) {
		w |= b[k+1] << (64 - off)
	}
	return w
}

// storeBits writes n bits of src, whole words, at bit at of b.
func storeBits(b vector.Bitmap, at int, src []uint64, n int) {
	for i := 0; i < n; i += 64 {
		w := src[i/64]
		r := min(64, n-i)
		mask := ^uint64(0)
		if r < 64 {
			mask = 1<<uint(r) - 1
		}
		k, off := (at+i)>>6, uint(at+i)&63
		b[k] = b[k]&^(mask<<off) | w&mask<<off
		if off != 0 && int(off)+r > 64 {
			b[k+1] = b[k+1]&^(mask>>(64-off)) | w&mask>>(64-off)
		}
	}
}

var allOnes = func() (b [MaxRows / 64]uint64) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	return b
}()

// setValid records the validity of rows appended after row base; valid is nil
// when none of them is NULL.
func setValid(dst *vector.Vector, base, rows int, valid []uint64) {
	dst.N = base + rows
	if valid == nil {
		if dst.Valid != nil {
			dst.Valid = dst.Valid.Resize(dst.N)
			storeBits(dst.Valid, base, allOnes[:], rows)
		}
		return
	}
	if dst.Valid == nil {
		dst.Valid = vector.NewBitmap(max(dst.N, vector.BatchSize), true)[:vector.Words(dst.N)]
	}
	dst.Valid = dst.Valid.Resize(dst.N)
	storeBits(dst.Valid, base, valid, rows)
}

var noneValid [MaxRows / 64]uint64

func appendNulls(dst *vector.Vector, rows int) {
	base := dst.N
	switch {
	case dst.Kind != vector.Bytes:
		dst.Resize(base + rows)
		zeroFrom(dst, base)
	case dst.Dict != nil:
		dst.I32 = extend(dst.I32, rows)
		clear(dst.I32[base:])
	default:
		end := int32(len(dst.Data))
		for i := 0; i < rows; i++ {
			dst.Offsets = append(dst.Offsets, end)
		}
	}
	setValid(dst, base, rows, noneValid[:])
}
