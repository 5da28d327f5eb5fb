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

// asDecimal returns the integer whose division by 10^exp gives exactly f.
func asDecimal(f float64, exp int) (int64, bool) {
	s := f * pow10[exp]
	if !(s > -(1<<52) && s < 1<<52) {
		return 0, false
	}
	n := int64(math.RoundToEven(s))
	return n, math.Float64bits(float64(n)/pow10[exp]) == math.Float64bits(f)
}

// chooseExponent returns the smallest exponent under which most of a sample is
// exact, -1 if there is none.
func chooseExponent(vals []float64) int {
	step := max(1, len(vals)/32)
	for exp := 0; exp <= maxExponent; exp++ {
		bad, all := 0, 0
		for i := 0; i < len(vals); i += step {
			all++
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

func (e *Encoder) appendFloat64(dst []byte, vals []float64, v *vector.Vector, from, nulls int) ([]byte, Encoding) {
	if nulls > 0 {
		vals = append([]float64(nil), vals...)
		fillNulls(vals, v, from)
	}
	first, same := math.Float64bits(vals[0]), true
	for _, x := range vals[1:] {
		if math.Float64bits(x) != first {
			same = false
			break
		}
	}
	if same {
		return binary.LittleEndian.AppendUint64(dst, first), Const
	}
	if out, ok := e.appendDecimal(dst, vals, 8); ok {
		return out, Decimal
	}
	for _, x := range vals {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return dst, Raw
}

// appendDecimal gives up when the result is not smaller than width bytes per
// value.
func (e *Encoder) appendDecimal(dst []byte, vals []float64, width int) ([]byte, bool) {
	exp := chooseExponent(vals)
	if exp < 0 {
		return dst, false
	}
	e.i64, e.pos = e.i64[:0], e.pos[:0]
	var last int64
	for i, x := range vals {
		n, ok := asDecimal(x, exp)
		if !ok {
			e.pos = append(e.pos, uint16(i))
			n = last
		}
		if last = n; i > 0 && len(e.pos) == i {
			last = 0
		}
		e.i64 = append(e.i64, n)
	}
	lo, hi := kernels.MinMax(e.i64)
	w := kernels.Width(uint64(hi) - uint64(lo))
	size := 12 + kernels.PackedLen(len(vals), w) + len(e.pos)*(2+width)
	if size >= len(vals)*width {
		return dst, false
	}
	dst = append(dst, byte(exp))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(e.pos)))
	dst = e.appendFOR(dst, e.i64, lo, w)
	for _, p := range e.pos {
		dst = binary.LittleEndian.AppendUint16(dst, p)
	}
	for _, p := range e.pos {
		if width == 4 {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(vals[p])))
		} else {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(vals[p]))
		}
	}
	return dst, true
}

func (e *Encoder) appendFloat32(dst []byte, vals []float32, v *vector.Vector, from, nulls int) ([]byte, Encoding) {
	if nulls > 0 {
		vals = append([]float32(nil), vals...)
		fillNulls(vals, v, from)
	}
	first, same := math.Float32bits(vals[0]), true
	for _, x := range vals[1:] {
		if math.Float32bits(x) != first {
			same = false
			break
		}
	}
	if same {
		return binary.LittleEndian.AppendUint32(dst, first), Const
	}
	for _, x := range vals {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst, Raw
}

func (d *Decoder) decodeFloat64(dst *vector.Vector, enc Encoding, src []byte, rows int) error {
	base := dst.N
	dst.F64 = extend(dst.F64[:base], rows)
	out := dst.F64[base:]
	switch enc {
	case Const:
		if len(src) != 8 {
			return malformed("constant")
		}
		x := math.Float64frombits(binary.LittleEndian.Uint64(src))
		for i := range out {
			out[i] = x
		}
		return nil
	case Raw:
		if len(src) != 8*rows {
			return malformed("raw length")
		}
		for i := range out {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
		return nil
	case Decimal:
		return d.decodeDecimal(out, src)
	}
	return malformed("float encoding " + enc.String())
}

func (d *Decoder) decodeDecimal(out []float64, src []byte) error {
	if len(src) < 12 || src[0] > maxExponent {
		return malformed("decimal")
	}
	exp, exceptions := pow10[src[0]], int(binary.LittleEndian.Uint16(src[1:]))
	base, w := int64(binary.LittleEndian.Uint64(src[3:])), uint(src[11])
	src = src[12:]
	n := kernels.PackedLen(len(out), w)
	if w > 64 || exceptions > len(out) || len(src) != n+exceptions*10 {
		return malformed("decimal length")
	}
	d.i64 = extend(d.i64[:0], len(out))
	kernels.Unpack(d.i64, withSlack(src[:n]), w, base)
	for i, x := range d.i64 {
		out[i] = float64(x) / exp
	}
	pos, vals := src[n:], src[n+2*exceptions:]
	for k := 0; k < exceptions; k++ {
		p := int(binary.LittleEndian.Uint16(pos[2*k:]))
		if p >= len(out) {
			return malformed("decimal exception")
		}
		out[p] = math.Float64frombits(binary.LittleEndian.Uint64(vals[8*k:]))
	}
	return nil
}

func (d *Decoder) decodeFloat32(dst *vector.Vector, enc Encoding, src []byte, rows int) error {
	base := dst.N
	dst.F32 = extend(dst.F32[:base], rows)
	out := dst.F32[base:]
	switch {
	case enc == Const && len(src) == 4:
		x := math.Float32frombits(binary.LittleEndian.Uint32(src))
		for i := range out {
			out[i] = x
		}
		return nil
	case enc == Raw && len(src) == 4*rows:
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
		return nil
	}
	return malformed("float encoding " + enc.String())
}
