package functions

import (
	"bytes"
	"math"
	"strconv"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// numberToChar makes to_char of a number from a function that spells it.
func numberToChar(print func(dst []byte, v *vector.Vector, i int, n numberShape, parts []templatePart) ([]byte, error)) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var cache templateCache
		for i := 0; i < n; i++ {
			if live(out, i) {
				text := args[1].Bytes(i)
				if len(text) > 0 {
					parts, err := cache.get(numberGrammar, text)
					if err == nil {
						out.Data, err = print(out.Data, args[0], i&args[0].Mask(), cache.num, parts)
					}
					if err != nil {
						return err
					}
				}
			}
			endRow(out)
		}
		return nil
	}
}

// cutSign splits a sign off.
func cutSign(s []byte) ([]byte, bool) {
	if len(s) > 0 && s[0] == '-' {
		return s[1:], true
	}
	return s, false
}

// printInt spells an integer; width is 32 or 64 bits.
func printInt(v int64, width int) func(dst []byte, n numberShape, parts []templatePart) ([]byte, error) {
	return func(dst []byte, n numberShape, parts []templatePart) ([]byte, error) {
		var buf [64]byte
		switch {
		case n.roman && int64(int32(v)) != v:
			return dst, outOfRange(types.Int4)
		case n.roman:
			return n.write(dst, parts, romanDigits(v), false, 0)
		case n.science && width == 32:
			return n.write(dst, parts, science(float64(v), n.post), false, 0)
		case n.science:
			var d decimal
			d.SetInt64(v)
			text, err := decimalScience(&d, n.post)
			if err != nil {
				return dst, err
			}
			return n.write(dst, parts, text, false, 0)
		case n.shift:
			scaled := float64(v) * math.Pow10(n.multi)
			if width == 32 && math.Abs(scaled) > math.MaxInt32 {
				return dst, outOfRange(types.Int4)
			}
			if math.Abs(scaled) >= math.MaxInt64 {
				return dst, outOfRange(types.Int8)
			}
			v, n.pre = int64(math.RoundToEven(scaled)), n.pre+n.multi
		}
		digits, negative := cutSign(strconv.AppendInt(buf[:0], v, 10))
		spaces := 0
		if len(digits) > n.pre {
			digits, spaces = n.frame(digits)
		} else {
			spaces = n.pre - len(digits)
			if n.post > 0 {
				digits = append(append(digits, '.'), bytes.Repeat([]byte("0"), n.post)...)
			}
		}
		return n.write(dst, parts, digits, negative, spaces)
	}
}

// science is a float as EEEE shows it, with a blank for plus.
func science(f float64, post int) []byte {
	out := []byte{' '}
	if f < 0 || f == 0 && math.Signbit(f) {
		out = out[:0]
	}
	return strconv.AppendFloat(out, f, 'e', post, 64)
}

// printFloat spells a float of bits 32 or 64; so many digits are exact.
func printFloat(dst []byte, f float64, bits int, n numberShape, parts []templatePart) ([]byte, error) {
	digitsOf := 15
	if bits == 32 {
		digitsOf = 6
	}
	switch {
	case n.roman:
		r := int64(0)
		if math.Abs(f) < 4000 {
			r = int64(math.RoundToEven(f))
		} else if f != f || math.Abs(f) > math.MaxInt32 {
			return dst, outOfRange(types.Int4)
		}
		return n.write(dst, parts, romanDigits(r), false, 0)
	case n.science && f-f != 0:
		return n.write(dst, parts, n.noScience(), false, 0)
	case n.science:
		return n.write(dst, parts, science(f, n.post), false, 0)
	case n.shift:
		f *= math.Pow10(n.multi)
		n.pre += n.multi
		if bits == 32 {
			f = float64(float32(f))
		}
	}
	before := len(strconv.FormatFloat(math.Abs(f), 'f', 0, 64))
	if math.IsInf(f, 0) {
		before = len("Infinity")
	}
	if before >= digitsOf {
		n.post = 0
	} else if before+n.post > digitsOf {
		n.post = digitsOf - before
	}
	var buf [400]byte
	digits, negative := cutSign(strconv.AppendFloat(buf[:0], f, 'f', n.post, 64))
	if f-f != 0 {
		if digits = []byte("Infinity"); f != f {
			digits = []byte("NaN")
		}
		negative = f < 0
	}
	shown, spaces := n.frame(digits)
	return n.write(dst, parts, shown, negative, spaces)
}

// decimalScience is a numeric as EEEE shows it.
func decimalScience(d *decimal, post int) ([]byte, error) {
	text, negative := cutSign(d.AppendText(nil))
	exponent := 0
	if first := bytes.IndexFunc(text, func(r rune) bool { return r >= '1' && r <= '9' }); first >= 0 {
		point := bytes.IndexByte(text, '.')
		if point < 0 {
			point = len(text)
		}
		if exponent = point - first - 1; first > point {
			exponent = point - first
		}
	}
	// Moving the point is exact; rounding then is to the decimals asked for.
	var m decimal
	if err := m.Parse(append(append([]byte{}, text...), "e"+strconv.Itoa(-exponent)...)); err != nil {
		return nil, err
	}
	m.Round(post)
	out := []byte{' '}
	if negative {
		out[0] = '-'
	}
	out = append(m.AppendText(out), 'e', '+')
	if exponent < 0 {
		out[len(out)-1], exponent = '-', -exponent
	}
	if exponent < 10 {
		out = append(out, '0')
	}
	return strconv.AppendInt(out, int64(exponent), 10), nil
}

func printDecimal(dst []byte, v *vector.Vector, i int, n numberShape, parts []templatePart) ([]byte, error) {
	var d decimal
	if err := d.Decode(v.Bytes(i)); err != nil {
		return dst, err
	}
	special := d.IsNaN() || d.IsInf()
	switch {
	case n.roman:
		d.Round(0)
		r, err := d.Int64(32)
		if err != nil {
			return dst, err
		}
		return n.write(dst, parts, romanDigits(r), false, 0)
	case n.science && special:
		return n.write(dst, parts, n.noScience(), false, 0)
	case n.science:
		text, err := decimalScience(&d, n.post)
		if err != nil {
			return dst, err
		}
		return n.write(dst, parts, text, false, 0)
	case n.shift && !special:
		var ten decimal
		ten.SetInt64(1)
		var factor decimal
		factor.SetInt64(10)
		for range n.multi {
			if err := ten.Mul(&ten, &factor); err != nil {
				return dst, err
			}
		}
		if err := d.Mul(&d, &ten); err != nil {
			return dst, err
		}
	}
	if n.shift {
		n.pre += n.multi
	}
	d.Round(n.post)
	digits, negative := cutSign(d.AppendText(nil))
	shown, spaces := n.frame(digits)
	return n.write(dst, parts, shown, negative, spaces)
}

func init() {
	reg := func(t types.OID, print func(dst []byte, v *vector.Vector, i int, n numberShape, parts []templatePart) ([]byte, error)) {
		RegisterFunctions(fn("to_char", types.Text, numberToChar(print), t, types.Text).fails().stable().doc("A value in the form of a template."))
	}
	reg(types.Int4, func(dst []byte, v *vector.Vector, i int, n numberShape, parts []templatePart) ([]byte, error) {
		return printInt(int64(v.I32[i]), 32)(dst, n, parts)
	})
	reg(types.Int8, func(dst []byte, v *vector.Vector, i int, n numberShape, parts []templatePart) ([]byte, error) {
		return printInt(v.I64[i], 64)(dst, n, parts)
	})
	reg(types.Float4, func(dst []byte, v *vector.Vector, i int, n numberShape, parts []templatePart) ([]byte, error) {
		return printFloat(dst, float64(v.F32[i]), 32, n, parts)
	})
	reg(types.Float8, func(dst []byte, v *vector.Vector, i int, n numberShape, parts []templatePart) ([]byte, error) {
		return printFloat(dst, v.F64[i], 64, n, parts)
	})
	reg(types.Numeric, printDecimal)
	RegisterFunctions(fn("to_number", types.Numeric, toNumber, types.Text, types.Text).fails().stable().doc("Number of a text in the form of a template."))
}

// toNumber reads numbers by a template.
func toNumber(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache templateCache
	var d decimal
	for i := 0; i < n; i++ {
		if live(out, i) {
			text := args[1].Bytes(i)
			if len(text) == 0 {
				setNull(out, i, n)
				endRow(out)
				continue
			}
			parts, err := cache.get(numberGrammar, text)
			if err != nil {
				return err
			}
			r := numberReader{numberShape: cache.num, s: args[0].Bytes(i)}
			digits, err := r.read(parts)
			if err == nil {
				err = d.Parse(digits)
			}
			if err != nil {
				return pgerr.From(err)
			}
			precision := r.pre + r.multi + r.readPost
			if err := d.ApplyMod(int32(precision<<16|r.readPost) + 4); err != nil {
				return err
			}
			if r.multi > 0 {
				var ten, shift decimal
				ten.SetInt64(10)
				shift.SetInt64(int64(-r.multi))
				if err := shift.Power(&ten, &shift); err != nil {
					return err
				}
				if err := d.Mul(&d, &shift); err != nil {
					return err
				}
			}
			out.Data = d.AppendStored(out.Data)
		}
		endRow(out)
	}
	return nil
}
