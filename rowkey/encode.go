package rowkey

import (
	"encoding/binary"
	"math"
	"math/bits"

	"tsdb/colstore/vector"
)

// AppendKey appends the ordered form of row i of v under the codec. The row is
// not NULL and the codec fits the vector's kind (CodecFor).
//
// Layouts (all big-endian, so that bytes.Compare orders them):
//
//	Bool      1 byte, 0 or 1
//	Int       2, 4 or 8 bytes, sign bit flipped
//	Uint      4 bytes
//	Float     4 or 8 bytes, sign bit flipped if positive, all bits if negative; -0 as 0, one NaN above +Inf
//	Bytes     the bytes with 00 -> 00 FF, then 00 01
//	Fixed     16 bytes
//	Interval  16 bytes: signed 128-bit microseconds with month = 30 d and day = 24 h, sign bit flipped
//	Numeric   class byte (1 -Inf, 2 negative, 3 zero, 4 positive, 5 +Inf, 6 NaN), then for finite non-zero values
//	          weight + 32768 in 2 bytes, each base-10,000 digit + 1 in 2 bytes without trailing zeros, 00 00;
//	          all bytes after the class inverted for negative values
//
// Example: ('ab', int4 -1) is 61 62 00 01 | 7F FF FF FF.
func AppendKey(dst []byte, c Codec, v *vector.Vector, i int) []byte {
	p := i & v.Mask()
	switch c {
	case CodecBool:
		if v.Bits.Get(p) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case CodecInt:
		return appendInt(dst, v, p)
	case CodecUint:
		return binary.BigEndian.AppendUint32(dst, v.U32[p])
	case CodecFloat:
		return appendFloat(dst, v, p)
	case CodecBytes:
		return append(appendEscaped(dst, v.Bytes(i)), 0, 1)
	case CodecFixed:
		return append(dst, v.F16[p][:]...)
	case CodecInterval:
		return appendInterval(dst, &v.F16[p])
	case CodecNumeric:
		return appendNumeric(dst, v.Bytes(i))
	}
	return dst
}

func appendInt(dst []byte, v *vector.Vector, p int) []byte {
	switch v.Kind {
	case vector.Int16:
		return binary.BigEndian.AppendUint16(dst, uint16(v.I16[p])^1<<15)
	case vector.Int32:
		return binary.BigEndian.AppendUint32(dst, uint32(v.I32[p])^1<<31)
	}
	return binary.BigEndian.AppendUint64(dst, uint64(v.I64[p])^1<<63)
}

func appendFloat(dst []byte, v *vector.Vector, p int) []byte {
	if v.Kind == vector.Float32 {
		f := v.F32[p]
		b := math.Float32bits(f)
		if f != f {
			b = 0x7fc00000
		} else if f == 0 {
			b = 0
		}
		if b>>31 != 0 {
			return binary.BigEndian.AppendUint32(dst, ^b)
		}
		return binary.BigEndian.AppendUint32(dst, b|1<<31)
	}
	f := v.F64[p]
	b := math.Float64bits(f)
	if f != f {
		b = 0x7ff8000000000000
	} else if f == 0 {
		b = 0
	}
	if b>>63 != 0 {
		return binary.BigEndian.AppendUint64(dst, ^b)
	}
	return binary.BigEndian.AppendUint64(dst, b|1<<63)
}

func appendEscaped(dst, s []byte) []byte {
	for _, c := range s {
		if c == 0 {
			dst = append(dst, 0, 0xff)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

func appendInterval(dst []byte, b *[16]byte) []byte {
	micros := int64(binary.LittleEndian.Uint64(b[0:]))
	days := int64(int32(binary.LittleEndian.Uint32(b[8:])))
	months := int64(int32(binary.LittleEndian.Uint32(b[12:])))
	days += months * 30
	const day = 24 * 3600 * 1e6
	neg := days < 0
	abs := uint64(days)
	if neg {
		abs = uint64(-days)
	}
	hi, lo := bits.Mul64(abs, day)
	if neg {
		lo, hi = -lo, ^hi
		if lo == 0 {
			hi++
		}
	}
	var carry uint64
	lo, carry = bits.Add64(lo, uint64(micros), 0)
	hi += uint64(micros>>63) + carry
	dst = binary.BigEndian.AppendUint64(dst, hi^1<<63)
	return binary.BigEndian.AppendUint64(dst, lo)
}

// The sign words of PostgreSQL's binary numeric.
const (
	numericNegative = 0x4000
	numericNaN      = 0xC000
	numericPosInf   = 0xD000
	numericNegInf   = 0xF000
)

// appendNumeric orders the stored form: ndigits, weight, sign, dscale, digits, 2 bytes each.
func appendNumeric(dst, s []byte) []byte {
	if len(s) < 8 {
		return append(dst, 3)
	}
	n := (len(s) - 8) / 2
	weight := int32(int16(binary.BigEndian.Uint16(s[2:])))
	sign := binary.BigEndian.Uint16(s[4:])
	digits := s[8 : 8+2*n]
	for len(digits) > 0 && digits[0] == 0 && digits[1] == 0 {
		digits = digits[2:]
		weight--
	}
	for len(digits) > 0 && digits[len(digits)-1] == 0 && digits[len(digits)-2] == 0 {
		digits = digits[:len(digits)-2]
	}
	switch {
	case sign == numericNaN:
		return append(dst, 6)
	case sign == numericPosInf:
		return append(dst, 5)
	case sign == numericNegInf:
		return append(dst, 1)
	case len(digits) == 0:
		return append(dst, 3)
	}
	class, flip := byte(4), uint16(0)
	if sign == numericNegative {
		class, flip = 2, 0xffff
	}
	dst = append(dst, class)
	dst = binary.BigEndian.AppendUint16(dst, uint16(weight+32768)^flip)
	for ; len(digits) > 0; digits = digits[2:] {
		dst = binary.BigEndian.AppendUint16(dst, (binary.BigEndian.Uint16(digits)+1)^flip)
	}
	return binary.BigEndian.AppendUint16(dst, flip)
}
