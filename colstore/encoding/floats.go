package encoding

import (
	"encoding/binary"
	"math"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// maxExponent bounds the decimal places tried: more digits than this do not
// fit beside the integer part of most readings in 53 bits.
const maxExponent = 14

var pow10 = [maxExponent + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

// float is the type of a float column.
type float interface{ ~float32 | ~float64 }

// asDecimal returns the integer whose division by 10^exp gives exactly f.
func asDecimal[T float](f T, exp int) (int64, bool) {
	s := float64(f) * pow10[exp]
	if !(s > -(1<<52) && s < 1<<52) {
		return 0, false
	}
	n := int64(math.RoundToEven(s))
	x := T(float64(n) / pow10[exp])
	// Zero is the one value of which two are equal; NaN is beyond the bounds.
	return n, x == f && (n != 0 || !math.Signbit(float64(f)))
}

// chooseExponent returns the smallest exponent under which most of a sample is
// exact, -1 if there is none.
func chooseExponent[T float](vals []T) int {
	step := max(1, len(vals)/32)
	all := (len(vals) + step - 1) / step
	for exp := 0; exp <= maxExponent; exp++ {
		bad := 0
		for i := 0; i < len(vals) && bad*8 <= all; i += step {
			if _, ok := asDecimal(vals[i], exp); !ok {
				bad++
			}
		}
		if bad*8 <= all {
			return exp
		}
	}
	return -1
}

func floatBits[T float](x T) uint64 {
	switch x := any(x).(type) {
	case float32:
		return uint64(math.Float32bits(x))
	case float64:
		return math.Float64bits(x)
	}
	return 0
}

func floatFrom[T float](b uint64) (x T) {
	switch p := any(&x).(type) {
	case *float32:
		*p = math.Float32frombits(uint32(b))
	case *float64:
		*p = math.Float64frombits(b)
	}
	return x
}

// sizeOf returns the bytes of a value.
func sizeOf[T float]() int {
	if _, ok := any(T(0)).(float32); ok {
		return 4
	}
	return 8
}

func appendFloat(dst []byte, bits uint64, size int) []byte {
	if size == 4 {
		return binary.LittleEndian.AppendUint32(dst, uint32(bits))
	}
	return binary.LittleEndian.AppendUint64(dst, bits)
}

func loadFloat[T float](src []byte, size int) T {
	if size == 4 {
		return floatFrom[T](uint64(binary.LittleEndian.Uint32(src)))
	}
	return floatFrom[T](binary.LittleEndian.Uint64(src))
}

// bitsOf writes the bits of vals to dst.
func bitsOf[T float](dst []int64, vals []T) {
	switch v := any(vals).(type) {
	case []float32:
		for i, x := range v {
			dst[i] = int64(math.Float32bits(x))
		}
	case []float64:
		for i, x := range v {
			dst[i] = int64(math.Float64bits(x))
		}
	}
}

func appendFloats[T float](e *Encoder, dst []byte, vals []T, own *[]T, v *vector.Vector, from, nulls int) ([]byte, Encoding) {
	if nulls > 0 {
		*own = append((*own)[:0], vals...)
		vals = *own
		fillNulls(vals, v, from)
	}
	size, start := sizeOf[T](), len(dst)
	if out, enc, ok := appendDecimals(e, dst, vals, size); ok {
		return out, enc
	}
	dst = dst[:start]
	e.i64 = extend(e.i64[:0], len(vals))
	bitsOf(e.i64, vals)
	p := profileOf(e.i64)
	if p.Lo == p.Hi {
		return appendFloat(dst, uint64(e.i64[0]), size), Const
	}
	if p.runs <= len(vals)/4 {
		if out := e.appendRuns(dst, e.i64, p.runs); len(out)-start < len(vals)*size {
			return out, Runs
		}
	}
	if e.Effort != Quick {
		if out, ok := e.appendSplit(dst, e.i64, size); ok {
			return out, Split
		}
	}
	dst = dst[:start]
	for _, b := range e.i64 {
		dst = appendFloat(dst, uint64(b), size)
	}
	return dst, Raw
}

// decimals fills e.i64 with the values times 10^exp and e.pos with the rows
// where there is no such integer; those repeat another row's.
func decimals[T float](e *Encoder, vals []T, exp int) {
	e.i64, e.pos = extend(e.i64[:0], len(vals)), e.pos[:0]
	if exp == 0 && whole(e.i64, vals) {
		return
	}
	last, known := int64(0), false
	for i, x := range vals {
		n, ok := asDecimal(x, exp)
		if !ok {
			e.pos = append(e.pos, uint16(i))
			n = last
		} else if !known {
			known = true
			for j := range e.i64[:i] {
				e.i64[j] = n
			}
		}
		last = n
		e.i64[i] = n
	}
}

// whole writes vals as integers if all of them are, and none is minus zero.
func whole[T float](dst []int64, vals []T) bool {
	dst = dst[:len(vals)]
	for i, x := range vals {
		n := int64(x)
		if T(n) != x || n == 0 && math.Signbit(float64(x)) || n >= 1<<52 || n <= -1<<52 {
			return false
		}
		dst[i] = n
	}
	return true
}

// appendDecimals gives up when the result is not smaller than the raw values.
func appendDecimals[T float](e *Encoder, dst []byte, vals []T, size int) ([]byte, Encoding, bool) {
	exp := chooseExponent(vals)
	if exp < 0 {
		return dst, 0, false
	}
	decimals(e, vals, exp)
	if len(e.pos)*(2+size) >= len(vals)*size {
		return dst, 0, false
	}
	pos := append(e.exceptions[:0], e.pos...) // the ladder uses e.pos too
	e.exceptions = pos
	start := len(dst)
	var enc Encoding
	e.tmp, enc = e.appendI64(e.tmp[:0], e.i64)
	if enc == Const && len(pos) == 0 {
		return appendFloat(dst, floatBits(vals[0]), size), Const, true
	}
	dst = append(dst, byte(exp))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(pos)))
	form := DecimalInts
	if enc == FOR {
		form = Decimal
		dst = append(dst, e.tmp...)
	}
	for _, p := range pos {
		dst = binary.LittleEndian.AppendUint16(dst, p)
	}
	for _, p := range pos {
		dst = appendFloat(dst, floatBits(vals[p]), size)
	}
	if enc != FOR {
		dst = append(append(dst, byte(enc)), e.tmp...)
	}
	return dst, form, len(dst)-start < len(vals)*size
}

func floatsInto[T float](d *Decoder, s *[]T, dst *vector.Vector, enc Encoding, src []byte, rows int) error {
	base := dst.N
	*s = extend((*s)[:base], rows)
	out := (*s)[base:]
	size := sizeOf[T]()
	switch enc {
	case Const:
		if len(src) != size {
			return malformed("constant")
		}
		x := loadFloat[T](src, size)
		for i := range out {
			out[i] = x
		}
		return nil
	case Raw:
		if len(src) != size*rows {
			return malformed("raw length")
		}
		for i := range out {
			out[i] = loadFloat[T](src[size*i:], size)
		}
		return nil
	case Decimal, DecimalInts:
		return decodeDecimals(d, out, enc, src)
	case Runs:
		return decodeFloatRuns(d, out, src)
	case Split:
		return decodeSplit(d, out, src)
	}
	return malformed("float encoding " + enc.String())
}

// decimalBlock is a parsed Decimal or DecimalInts payload.
type decimalBlock struct {
	scale      float64
	exponent   uint8
	exceptions int
	pos, vals  []byte // of the exceptions
	enc        Encoding
	ints       []byte // payload of the integers
}

func parseDecimals(enc Encoding, src []byte, rows, size int) (decimalBlock, error) {
	var b decimalBlock
	if len(src) < 4 || src[0] > maxExponent {
		return b, malformed("decimal")
	}
	b.exponent, b.scale = src[0], pow10[src[0]]
	b.exceptions = int(binary.LittleEndian.Uint16(src[1:]))
	tail := b.exceptions * (2 + size)
	if b.exceptions > rows || len(src) < 4+tail {
		return b, malformed("decimal exceptions")
	}
	if src = src[3:]; enc == Decimal {
		n := len(src) - tail
		b.enc, b.ints, src = FOR, src[:n], src[n:]
	} else {
		b.enc, b.ints = Encoding(src[tail]), src[tail+1:]
	}
	b.pos, b.vals = src[:2*b.exceptions], src[2*b.exceptions:tail]
	for k := 0; k < b.exceptions; k++ {
		if b.row(k) >= rows {
			return b, malformed("decimal exception")
		}
	}
	return b, nil
}

// row returns the row of exception k.
func (b *decimalBlock) row(k int) int { return int(binary.LittleEndian.Uint16(b.pos[2*k:])) }

func decodeDecimals[T float](d *Decoder, out []T, enc Encoding, src []byte) error {
	size := sizeOf[T]()
	b, err := parseDecimals(enc, src, len(out), size)
	if err != nil {
		return err
	}
	d.i64 = extend(d.i64[:0], len(out))
	if err := decodeInts(d, d.i64, b.enc, b.ints); err != nil {
		return err
	}
	if f, ok := any(out).([]float64); ok {
		kernels.Decimals(f, d.i64, b.scale)
	} else {
		for i, x := range d.i64 {
			out[i] = T(float64(x) / b.scale)
		}
	}
	for k := 0; k < b.exceptions; k++ {
		out[b.row(k)] = loadFloat[T](b.vals[size*k:], size)
	}
	return nil
}

func decodeFloatRuns[T float](d *Decoder, out []T, src []byte) error {
	if err := d.parseRuns(src, len(out)); err != nil {
		return err
	}
	at := 0
	for i, l := range d.lens {
		x := floatFrom[T](uint64(d.runs[i]))
		for end := at + int(l); at < end; at++ {
			out[at] = x
		}
	}
	return nil
}
