package types

import (
	"tsdb/sql/pgerr"
)

// numMaxExponent bounds an exponent as written, so that sums cannot overflow.
const numMaxExponent = 1<<30 - 1

// Parse reads a decimal as PostgreSQL's numeric input does: digits with an
// optional point and exponent, NaN, Infinity, spaces around it.
//
// Errors: 22P02, 22003.
func (n *Decimal) Parse(s []byte) error {
	t := trimSpace(s)
	body := t
	neg := false
	if len(body) > 0 && (body[0] == '-' || body[0] == '+') {
		neg = body[0] == '-'
		body = body[1:]
	}
	if len(body) == 0 || !isDigit(body[0]) && body[0] != '.' {
		return n.parseWord(body, len(body) < len(t), neg, s)
	}
	intDigits, fracDigits, i := 0, 0, 0
	for i < len(body) && isDigit(body[i]) {
		i++
	}
	intDigits = i
	if i < len(body) && body[i] == '.' {
		i++
		for i < len(body) && isDigit(body[i]) {
			i++
			fracDigits++
		}
	}
	if intDigits+fracDigits == 0 {
		return syntaxError("numeric", s)
	}
	mantissa, exp := body[:i], 0
	if i < len(body) {
		var err error
		if exp, err = parseExponent(body[i:], s); err != nil {
			return err
		}
	}
	n.scale = max(0, fracDigits-exp)
	n.sign = signPos
	if neg {
		n.sign = signNeg
	}
	n.setDecimal(mantissa, intDigits, exp)
	return n.check()
}

func (n *Decimal) parseWord(body []byte, signed, neg bool, s []byte) error {
	switch {
	case foldEqual(body, "nan") && !signed:
		n.SetNaN()
	case (foldEqual(body, "infinity") || foldEqual(body, "inf")) && neg:
		n.SetInf(-1)
	case foldEqual(body, "infinity") || foldEqual(body, "inf"):
		n.SetInf(1)
	default:
		return syntaxError("numeric", s)
	}
	return nil
}

func parseExponent(t, s []byte) (int, error) {
	if t[0]|0x20 != 'e' {
		return 0, syntaxError("numeric", s)
	}
	t = t[1:]
	neg := false
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		neg = t[0] == '-'
		t = t[1:]
	}
	if len(t) == 0 {
		return 0, syntaxError("numeric", s)
	}
	exp := 0
	for _, c := range t {
		if !isDigit(c) {
			return 0, syntaxError("numeric", s)
		}
		if exp = exp*10 + int(c-'0'); exp > numMaxExponent {
			return 0, pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")
		}
	}
	if neg {
		exp = -exp
	}
	return exp, nil
}

// setDecimal groups the decimal digits of mantissa (which may hold a point) in
// fours around the decimal point.
func (n *Decimal) setDecimal(mantissa []byte, intDigits, exp int) {
	n.digits = n.digits[:0]
	decWeight := intDigits + exp - 1 // power of ten of the first digit
	n.weight = int(floorDiv(int64(decWeight), 4))
	fill := n.weight*4 + 3 - decWeight // zeros in front of the first digit
	cur, have := int16(0), fill
	for _, c := range mantissa {
		if c == '.' {
			continue
		}
		cur = cur*10 + int16(c-'0')
		if have++; have == 4 {
			n.digits = append(n.digits, cur)
			cur, have = 0, 0
		}
	}
	if have > 0 {
		for ; have < 4; have++ {
			cur *= 10
		}
		n.digits = append(n.digits, cur)
	}
	n.strip()
}

// AppendText appends the value as PostgreSQL prints it, with Scale decimals.
func (n *Decimal) AppendText(dst []byte) []byte {
	switch n.sign {
	case signNaN:
		return append(dst, "NaN"...)
	case signPInf:
		return append(dst, "Infinity"...)
	case signNInf:
		return append(dst, "-Infinity"...)
	case signNeg:
		dst = append(dst, '-')
	}
	if n.weight < 0 || len(n.digits) == 0 {
		dst = append(dst, '0')
	}
	for i := 0; i <= n.weight && len(n.digits) > 0; i++ {
		d := n.digitAt(n.weight - i)
		if i == 0 {
			dst = appendInt(dst, d)
		} else {
			dst = appendPad(dst, d, 4)
		}
	}
	if n.scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	end := len(dst) + n.scale
	for p := -1; len(dst) < end; p-- {
		dst = appendPad(dst, n.digitAt(p), 4)
	}
	return dst[:end]
}

func appendInt(dst []byte, d int) []byte {
	switch {
	case d >= 1000:
		dst = append(dst, byte('0'+d/1000))
		fallthrough
	case d >= 100:
		dst = append(dst, byte('0'+d/100%10))
		fallthrough
	case d >= 10:
		dst = append(dst, byte('0'+d/10%10))
	}
	return append(dst, byte('0'+d%10))
}

// digitAt returns the digit of 10,000^p.
func (n *Decimal) digitAt(p int) int {
	if i := n.weight - p; i >= 0 && i < len(n.digits) {
		return int(n.digits[i])
	}
	return 0
}

func (n *Decimal) String() string { return string(n.AppendText(nil)) }

// AppendNumericText appends the text of a stored value.
func AppendNumericText(dst, stored []byte) []byte {
	var buf [24]int16
	n := Decimal{digits: buf[:0]}
	if n.Decode(stored) != nil {
		return append(dst, "NaN"...)
	}
	return n.AppendText(dst)
}

// AppendParsedNumeric appends the stored form of the decimal that s spells,
// with the modifier applied. Values of up to 96 digits allocate nothing.
//
// Errors: 22P02, 22003.
func AppendParsedNumeric(dst, s []byte, mod int32) ([]byte, error) {
	var buf [24]int16
	n := Decimal{digits: buf[:0]}
	if err := n.Parse(s); err != nil {
		return dst, err
	}
	if mod >= 4 {
		if err := n.ApplyMod(mod); err != nil {
			return dst, err
		}
	}
	return n.AppendStored(dst), nil
}
