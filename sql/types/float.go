package types

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"tsdb/sql/pgerr"
)

// ParseFloat reads a float8 (bits 64) or float4 (bits 32). It allocates only
// for errors and for hexadecimal forms.
//
// Errors: 22P02, 22003.
func ParseFloat(s []byte, bits int) (float64, error) {
	t := s
	if len(t) == 0 || isSpace(t[0]) || isSpace(t[len(t)-1]) {
		t = trimSpace(s)
	}
	if f, ok := simpleDecimal(t, bits); ok {
		return f, nil
	}
	name := "double precision"
	if bits == 32 {
		name = "real"
	}
	if len(t) == 0 {
		return 0, syntaxError(name, s)
	}
	body := t
	if body[0] == '-' || body[0] == '+' {
		body = body[1:]
	}
	if f, ok := floatWord(body); ok {
		if t[0] == '-' {
			f = -f
		}
		return f, nil
	}
	str := view(t)
	if !floatChars(body) {
		if len(body) > 2 && body[0] == '0' && body[1]|0x20 == 'x' && !strings.Contains(str, "_") {
			if str = string(t); !strings.ContainsAny(str, "pP") {
				str += "p0"
			}
		} else {
			return 0, syntaxError(name, s)
		}
	}
	f, err := strconv.ParseFloat(str, bits)
	if err != nil {
		if ne, ok := err.(*strconv.NumError); !ok || ne.Err != strconv.ErrRange {
			return 0, syntaxError(name, s)
		}
		return 0, pgerr.New(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", t, name)
	}
	if f == 0 && hasNonZeroDigit(body) {
		return 0, pgerr.New(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", t, name)
	}
	return f, nil
}

var exactPow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// simpleDecimal reads digits with an optional point exactly: up to 15 digits
// fit the mantissa, and the quotient of two exact floats is correctly rounded.
func simpleDecimal(t []byte, bits int) (float64, bool) {
	if len(t) == 0 || len(t) > 17 || bits != 64 {
		return 0, false
	}
	i, neg := 0, false
	if t[0] == '-' {
		neg, i = true, 1
	}
	var n uint64
	digits, frac, point := 0, 0, false
	for ; i < len(t); i++ {
		c := t[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
		digits++
		if point {
			frac++
		}
	}
	if digits == 0 || digits > 15 {
		return 0, false
	}
	f := float64(n)
	if frac > 0 {
		f /= exactPow10[frac]
	}
	if neg {
		f = -f
	}
	return f, true
}

func floatWord(body []byte) (float64, bool) {
	switch {
	case foldEqual(body, "nan"):
		return math.NaN(), true
	case foldEqual(body, "infinity"), foldEqual(body, "inf"):
		return math.Inf(1), true
	}
	return 0, false
}

// floatChars reports whether only characters of a decimal float occur.
func floatChars(body []byte) bool {
	for _, c := range body {
		if !isDigit(c) && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			return false
		}
	}
	return true
}

// hasNonZeroDigit reports whether the mantissa is not zero, so that a result
// of zero means underflow.
func hasNonZeroDigit(body []byte) bool {
	isHex := len(body) > 1 && body[1]|0x20 == 'x'
	for _, c := range body {
		if c|0x20 == 'p' || (c|0x20 == 'e' && !isHex) {
			return false
		}
		if c >= '1' && c <= '9' || isHex && (c|0x20)-'a' < 6 {
			return true
		}
	}
	return false
}

// AppendFloat appends a float8 (bits 64) or float4 (bits 32) as PostgreSQL
// prints it under extra_float_digits.
func AppendFloat(dst []byte, f float64, bits, extra int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	digits := 15
	if bits == 32 {
		digits = 6
	}
	if extra > 0 {
		return appendShortest(dst, f, bits, digits)
	}
	return appendG(dst, f, max(1, digits+extra))
}

// appendShortest appends the shortest digits that read back as f: plain for
// decimal exponents in [-4, limit), else with an exponent.
func appendShortest(dst []byte, f float64, bits, limit int) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1e6 {
		if f == 0 && math.Signbit(f) {
			return append(dst, '-', '0')
		}
		return strconv.AppendInt(dst, int64(f), 10)
	}
	if bits == 64 {
		if out, ok := appendShort(dst, f); ok {
			return out
		}
	}
	start := len(dst)
	if a := math.Abs(f); (bits == 64 && a >= 1<<52) || (bits == 32 && a >= 1<<23) {
		return appendLarge(dst, f, bits)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	return plain(dst, start, limit)
}

// appendShort appends floats that are decimals of few places. Decimals of up
// to 15 digits stand for different floats, so one that gives f back is the
// shortest that does.
func appendShort(dst []byte, f float64) ([]byte, bool) {
	a := math.Abs(f)
	if a < 1e-4 || a >= 1e9 {
		return dst, false
	}
	for places := 2; places <= 6; places += 2 {
		n := math.Round(a * exactPow10[places])
		if n/exactPow10[places] != a {
			continue
		}
		if f < 0 {
			dst = append(dst, '-')
		}
		unit := int64(exactPow10[places])
		whole, frac := int64(n)/unit, int64(n)%unit
		dst = strconv.AppendInt(dst, whole, 10)
		if frac == 0 {
			return dst, true
		}
		dst = append(dst, '.')
		for frac > 0 {
			unit /= 10
			dst = append(dst, byte('0'+frac/unit))
			frac %= unit
		}
		return dst, true
	}
	return dst, false
}

// plain rewrites the exponent form in dst[start:] as a plain decimal where the
// exponent lies in [-4, limit).
func plain(dst []byte, start, limit int) []byte {
	e := len(dst) - 1
	for dst[e] != 'e' {
		e--
	}
	exp := 0
	for _, c := range dst[e+2:] {
		exp = exp*10 + int(c-'0')
	}
	if dst[e+1] == '-' {
		exp = -exp
	}
	if exp < -4 || exp >= limit {
		return dst
	}
	var buf [32]byte
	digits := buf[:0]
	neg := dst[start] == '-'
	for _, c := range dst[start:e] {
		if isDigit(c) {
			digits = append(digits, c)
		}
	}
	dst = dst[:start]
	if neg {
		dst = append(dst, '-')
	}
	if exp < 0 {
		dst = append(dst, "0.000"[:1-exp]...)
		return append(dst, digits...)
	}
	for i := 0; i <= exp || i < len(digits); i++ {
		if i == exp+1 {
			dst = append(dst, '.')
		}
		if i < len(digits) {
			dst = append(dst, digits[i])
		} else {
			dst = append(dst, '0')
		}
	}
	return dst
}

// appendLarge handles magnitudes at which a short decimal can lie exactly
// between two floats. PostgreSQL does not take such a decimal, although it
// would read back as f by rounding to even.
func appendLarge(dst []byte, f float64, bits int) []byte {
	start := len(dst)
	limit, most := 15, 17
	if bits == 32 {
		limit, most = 6, 9
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	for prec := mantissaDigits(dst[start:]); prec < most && onMidpoint(dst[start:], f, bits); prec++ {
		dst = strconv.AppendFloat(dst[:start], f, 'e', prec, bits)
	}
	return plain(dst, start, limit)
}

func mantissaDigits(s []byte) int {
	n := 0
	for _, c := range s {
		if c == 'e' {
			break
		}
		if isDigit(c) {
			n++
		}
	}
	return n
}

// onMidpoint reports whether the decimal s lies halfway between f and a
// neighbour.
func onMidpoint(s []byte, f float64, bits int) bool {
	d, _, err := big.ParseFloat(string(s), 10, 2048, big.ToNearestEven)
	if err != nil {
		return false
	}
	for _, dir := range [...]float64{math.Inf(-1), math.Inf(1)} {
		next := math.Nextafter(f, dir)
		if bits == 32 {
			next = float64(math.Nextafter32(float32(f), float32(dir)))
		}
		if math.IsInf(next, 0) {
			continue
		}
		sum := new(big.Float).SetPrec(2048).SetFloat64(f)
		sum.Add(sum, new(big.Float).SetFloat64(next))
		if sum.Cmp(new(big.Float).SetPrec(2048).Mul(d, big.NewFloat(2))) == 0 {
			return true
		}
	}
	return false
}

// appendG appends f as C's %.*g does.
func appendG(dst []byte, f float64, prec int) []byte {
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', prec-1, 64)
	e := len(dst) - 1
	for dst[e] != 'e' {
		e--
	}
	var expPart [8]byte
	n := copy(expPart[:], dst[e:])
	end := e
	if prec > 1 {
		for dst[end-1] == '0' {
			end--
		}
		if dst[end-1] == '.' {
			end--
		}
	}
	dst = append(dst[:end], expPart[:n]...)
	return plain(dst, start, prec)
}
