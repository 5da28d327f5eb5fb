package kernels

import "encoding/binary"

// Unpack writes len(dst) values of width w plus base. src must hold them and
// Slack bytes more.
func Unpack[T Int](dst []T, src []byte, w uint, base int64) {
	if w == 0 {
		b := T(base)
		for i := range dst {
			dst[i] = b
		}
		return
	}
	if !simdUnpack(dst, src, w, base) {
		unpack(dst, src, w, base)
	}
}

// At returns packed value i.
func At(src []byte, i int, w uint) uint64 {
	if w == 0 {
		return 0
	}
	pos := uint(i) * w
	x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
	if off := pos & 7; off+w > 64 {
		x |= uint64(src[pos>>3+8]) << (64 - off)
	}
	return x & (^uint64(0) >> (64 - w))
}

func unpack[T Int](dst []T, src []byte, w uint, base int64) {
	switch {
	case w == 8:
		src = src[:len(dst)]
		for i := range dst {
			dst[i] = T(int64(src[i]) + base)
		}
	case w == 16:
		for i := range dst {
			dst[i] = T(int64(binary.LittleEndian.Uint16(src[2*i:])) + base)
		}
	case w == 64:
		for i := range dst {
			dst[i] = T(int64(binary.LittleEndian.Uint64(src[8*i:])) + base)
		}
	case w <= 7:
		unpack8(dst, src, w, base)
	case w <= 14:
		unpack4(dst, src, w, base)
	case w <= 57:
		unpackMiddle(dst, src, w, base)
	default:
		unpackWide(dst, src, w, base)
	}
}

// unpack8 takes eight values from each load: 8*7 bits and 7 of offset fit.
func unpack8[T Int](dst []T, src []byte, w uint, base int64) {
	mask := uint64(1)<<w - 1
	i, pos := 0, 0
	for ; i+8 <= len(dst); i += 8 {
		x := binary.LittleEndian.Uint64(src[pos:]) // 8*w bits are whole bytes
		d := dst[i : i+8 : i+8]
		d[0] = T(int64(x&mask) + base)
		x >>= w & 63
		d[1] = T(int64(x&mask) + base)
		x >>= w & 63
		d[2] = T(int64(x&mask) + base)
		x >>= w & 63
		d[3] = T(int64(x&mask) + base)
		x >>= w & 63
		d[4] = T(int64(x&mask) + base)
		x >>= w & 63
		d[5] = T(int64(x&mask) + base)
		x >>= w & 63
		d[6] = T(int64(x&mask) + base)
		x >>= w & 63
		d[7] = T(int64(x&mask) + base)
		pos += int(w)
	}
	unpackTail(dst, src, w, base, i)
}

// unpack4 takes four values from each load: 4*14 bits and 7 of offset fit.
func unpack4[T Int](dst []T, src []byte, w uint, base int64) {
	mask := uint64(1)<<w - 1
	i, pos := 0, uint(0)
	for ; i+4 <= len(dst); i += 4 {
		x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
		d := dst[i : i+4 : i+4]
		d[0] = T(int64(x&mask) + base)
		d[1] = T(int64(x>>(w&63)&mask) + base)
		d[2] = T(int64(x>>(2*w&63)&mask) + base)
		d[3] = T(int64(x>>(3*w&63)&mask) + base)
		pos += 4 * w
	}
	unpackTail(dst, src, w, base, i)
}

// unpackMiddle takes two values from each load where 2*w bits and 7 of offset
// fit, else one.
func unpackMiddle[T Int](dst []T, src []byte, w uint, base int64) {
	mask := uint64(1)<<w - 1
	i, pos := 0, uint(0)
	if w <= 28 {
		for ; i+2 <= len(dst); i += 2 {
			x := binary.LittleEndian.Uint64(src[pos>>3:]) >> (pos & 7)
			d := dst[i : i+2 : i+2]
			d[0] = T(int64(x&mask) + base)
			d[1] = T(int64(x>>(w&63)&mask) + base)
			pos += 2 * w
		}
	}
	unpackTail(dst, src, w, base, i)
}

func unpackTail[T Int](dst []T, src []byte, w uint, base int64, i int) {
	mask := uint64(1)<<w - 1
	pos := uint(i) * w
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
