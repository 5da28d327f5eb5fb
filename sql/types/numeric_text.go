package types

import (
	"encoding/binary"
	"sync"

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
	var buf [160]byte
	return AppendNumericText(dst, n.AppendStored(buf[:0]))
}

// AppendNumericText appends the text of a stored value.
func AppendNumericText(dst, stored []byte) []byte {
	weight := int(int16(binary.BigEndian.Uint16(stored[2:])))
	scale := int(binary.BigEndian.Uint16(stored[6:]))
	switch binary.BigEndian.Uint16(stored[4:]) {
	case signNaN:
		return append(dst, "NaN"...)
	case signPInf:
		return append(dst, "Infinity"...)
	case signNInf:
		return append(dst, "-Infinity"...)
	case signNeg:
		dst = append(dst, '-')
	}
	digits := stored[8:]
	at := func(p int) int { // the digit of 10,000^p
		if i := 2 * (weight - p); i >= 0 && i < len(digits) {
			return int(binary.BigEndian.Uint16(digits[i:]))
		}
		return 0
	}
	if weight < 0 || len(digits) == 0 {
		dst = append(dst, '0')
	} else {
		dst = appendInt(dst, at(weight))
		for p := weight - 1; p >= 0; p-- {
			dst = appendPad(dst, at(p), 4)
		}
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	end := len(dst) + scale
	for p := -1; len(dst) < end; p-- {
		dst = appendPad(dst, at(p), 4)
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

// decimals keeps working memory for values that the fast path leaves out.
var decimals = sync.Pool{New: func() any { return new(Decimal) }}

// AppendParsedNumeric appends the stored form of the decimal that s spells,
// with the modifier applied. Plain decimals that need no rounding take a path
// of their own; neither path allocates.
//
// Errors: 22P02, 22003.
func AppendParsedNumeric(dst, s []byte, mod int32) ([]byte, error) {
	if out, ok := appendPlainNumeric(dst, s, mod); ok {
		return out, nil
	}
	n := decimals.Get().(*Decimal)
	defer decimals.Put(n)
	if err := n.Parse(s); err != nil {
		return dst, err
	}
	if err := n.ApplyMod(mod); err != nil {
		return dst, err
	}
	return n.AppendStored(dst), nil
}

// plainMax bounds the length of what appendPlainNumeric reads.
const plainMax = 64

// appendPlainNumeric reads an optional sign, digits and an optional point.
func appendPlainNumeric(dst, s []byte, mod int32) ([]byte, bool) {
	sign := uint16(signPos)
	if len(s) > 0 && s[0] == '-' {
		sign, s = signNeg, s[1:]
	}
	if len(s) == 0 || len(s) > plainMax {
		return dst, false
	}
	for len(s) > 1 && s[0] == '0' && isDigit(s[1]) {
		s = s[1:]
	}
	intDigits, scale := len(s), 0
	for i, c := range s {
		if c == '.' && intDigits == len(s) && i > 0 {
			intDigits, scale = i, len(s)-i-1
		} else if !isDigit(c) {
			return dst, false
		}
	}
	if mod >= 4 {
		p, sc := NumericMod(mod)
		if scale > sc || sc < 0 || intDigits > p-sc {
			return dst, false
		}
		scale = sc
	}
	return appendGroups(dst, s, intDigits, scale, sign), true
}

// appendGroups appends the stored form of plain digits, grouped in fours
// around the point at intDigits.
func appendGroups(dst, s []byte, intDigits, scale int, sign uint16) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, byte(sign>>8), byte(sign), byte(scale>>8), byte(scale))
	weight := (intDigits+3)/4 - 1
	group, have := uint16(0), weight*4+4-intDigits
	put := func() {
		if group == 0 && len(dst) == start+8 {
			weight--
		} else {
			dst = append(dst, byte(group>>8), byte(group))
		}
		group, have = 0, 0
	}
	for _, c := range s {
		if c == '.' {
			continue
		}
		group = group*10 + uint16(c-'0')
		if have++; have == 4 {
			put()
		}
	}
	if have > 0 {
		for ; have < 4; have++ {
			group *= 10
		}
		put()
	}
	for len(dst) > start+8 && dst[len(dst)-1] == 0 && dst[len(dst)-2] == 0 {
		dst = dst[:len(dst)-2]
	}
	if len(dst) == start+8 {
		weight = 0
		dst[start+4] = 0
	}
	binary.BigEndian.PutUint16(dst[start:], uint16((len(dst)-start-8)/2))
	binary.BigEndian.PutUint16(dst[start+2:], uint16(int16(weight)))
	return dst
}
