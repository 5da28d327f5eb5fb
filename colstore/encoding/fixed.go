package encoding

import (
	"tsdb/colstore/vector"
)

func (e *Encoder) appendBool(dst []byte, v *vector.Vector, from, n int) ([]byte, Encoding) {
	ones, seen := 0, 0
	for i := from; i < from+n; i++ {
		if v.Valid != nil && !v.Valid.Get(i) {
			continue
		}
		seen++
		if v.Bits.Get(i) {
			ones++
		}
	}
	switch ones {
	case 0:
		return append(dst, 0), Const
	case seen:
		return append(dst, 1), Const
	}
	return appendBits(dst, v.Bits, from, n), Raw
}

func decodeBool(dst *vector.Vector, enc Encoding, src []byte, rows int) error {
	base := dst.N
	dst.Bits = dst.Bits.Resize(base + rows)
	switch {
	case enc == Const && len(src) == 1 && src[0] == 0:
		storeBits(dst.Bits, base, noneValid[:], rows)
	case enc == Const && len(src) == 1 && src[0] == 1:
		storeBits(dst.Bits, base, allOnes[:], rows)
	case enc == Raw && len(src) == vector.Words(rows)*8:
		storeBits(dst.Bits, base, src, rows)
	default:
		return malformed("bool")
	}
	return nil
}

func appendFixed(dst []byte, vals [][16]byte) ([]byte, Encoding) {
	same := true
	for i := range vals {
		if vals[i] != vals[0] {
			same = false
			break
		}
	}
	if same {
		return append(dst, vals[0][:]...), Const
	}
	for i := range vals {
		dst = append(dst, vals[i][:]...)
	}
	return dst, Raw
}

func decodeFixed(dst *vector.Vector, enc Encoding, src []byte, rows int) error {
	base := dst.N
	dst.F16 = extend(dst.F16[:base], rows)
	out := dst.F16[base:]
	switch {
	case enc == Const && len(src) == 16:
		for i := range out {
			copy(out[i][:], src)
		}
	case enc == Raw && len(src) == 16*rows:
		for i := range out {
			copy(out[i][:], src[16*i:])
		}
	default:
		return malformed("fixed-width encoding " + enc.String())
	}
	return nil
}
