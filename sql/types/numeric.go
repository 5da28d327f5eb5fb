package types

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"tsdb/sql/pgerr"
)

// Limits and defaults of numeric.
const (
	numBase          = 10_000
	numMaxWeight     = 32_767 // of the first base-10,000 digit
	numMaxScale      = 16_383 // of a stored value
	numMinSigDigits  = 16     // at least so many significant digits in inexact results
	numMaxDisplay    = 1_000  // highest scale of an inexact result
	numMaxResultScal = 2_000  // bound of round()'s and trunc()'s argument
)

// Sign words of the stored form.
const (
	signPos  = 0x0000
	signNeg  = 0x4000
	signNaN  = 0xC000
	signPInf = 0xD000
	signNInf = 0xF000
)

// Decimal is a decimal in working form. The zero value is 0.
//
// Stored form (a row of a numeric vector, and the wire's binary form), all
// numbers big-endian:
//
//	+---------+--------+------+--------+-------------------+
//	| ndigits | weight | sign | dscale | digit * ndigits   |
//	| uint16  | int16  | u16  | uint16 | uint16, 0..9999   |
//	+---------+--------+------+--------+-------------------+
//
// The value is the sum of digit[i] * 10,000^(weight-i); neither the first nor
// the last digit is zero; dscale is the number of decimals printed. 12.50 is
// 0002 0000 0000 0002 000c 1388.
//
// A method that computes (Add, Parse, ...) sets its receiver, which may be one
// of the arguments too, and reuses its memory. Copy with Set, not by =.
type Decimal struct {
	digits []int16
	spare  []int16
	weight int
	scale  int
	sign   uint16
}

// Set makes n equal to a.
func (n *Decimal) Set(a *Decimal) {
	if n == a {
		return
	}
	n.digits = append(n.digits[:0], a.digits...)
	n.weight, n.scale, n.sign = a.weight, a.scale, a.sign
}

// Scale returns the display scale.
func (n *Decimal) Scale() int { return n.scale }

// IsNaN reports whether n is NaN.
func (n *Decimal) IsNaN() bool { return n.sign == signNaN }

// IsInf reports whether n is ±Infinity.
func (n *Decimal) IsInf() bool { return n.sign == signPInf || n.sign == signNInf }

// special reports NaN and the infinities.
func (n *Decimal) special() bool { return n.sign&signNaN == signNaN }

// Sign returns -1, 0 or 1; NaN has sign 1.
func (n *Decimal) Sign() int {
	switch n.sign {
	case signNeg, signNInf:
		return -1
	case signPos:
		if len(n.digits) == 0 {
			return 0
		}
	}
	return 1
}

func (n *Decimal) setSpecial(sign uint16) {
	n.digits, n.weight, n.scale, n.sign = n.digits[:0], 0, 0, sign
}

// SetNaN makes n NaN.
func (n *Decimal) SetNaN() { n.setSpecial(signNaN) }

// SetInf makes n Infinity, or -Infinity for a negative sign.
func (n *Decimal) SetInf(sign int) {
	if sign < 0 {
		n.setSpecial(signNInf)
		return
	}
	n.setSpecial(signPInf)
}

// strip removes leading and trailing zero digits.
func (n *Decimal) strip() {
	i := 0
	for i < len(n.digits) && n.digits[i] == 0 {
		i++
	}
	if i > 0 {
		n.weight -= i
		n.digits = n.digits[:copy(n.digits, n.digits[i:])]
	}
	for len(n.digits) > 0 && n.digits[len(n.digits)-1] == 0 {
		n.digits = n.digits[:len(n.digits)-1]
	}
	if len(n.digits) == 0 {
		n.weight = 0
		if !n.special() {
			n.sign = signPos
		}
	}
}

func errNumericOverflow() error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")
}

// check returns 22003 if n does not fit the stored form.
func (n *Decimal) check() error {
	if n.weight > numMaxWeight || n.weight < -numMaxWeight-1 || n.scale > numMaxScale {
		return errNumericOverflow()
	}
	return nil
}

// Decode reads a stored value. It checks bounds, not that b is normalised.
func (n *Decimal) Decode(b []byte) error {
	if len(b) < 8 || len(b) != 8+2*int(binary.BigEndian.Uint16(b)) {
		return pgerr.New(pgerr.InvalidBinaryRepresentation, "insufficient data left in message")
	}
	n.weight = int(int16(binary.BigEndian.Uint16(b[2:])))
	n.sign = binary.BigEndian.Uint16(b[4:])
	n.scale = int(binary.BigEndian.Uint16(b[6:]))
	n.digits = n.digits[:0]
	for p := 8; p < len(b); p += 2 {
		n.digits = append(n.digits, int16(b[p])<<8|int16(b[p+1]))
	}
	return nil
}

// AppendStored appends the stored form. n must fit it: results of the methods
// that return no error always do.
func (n *Decimal) AppendStored(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(n.digits)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(int16(n.weight)))
	dst = binary.BigEndian.AppendUint16(dst, n.sign)
	dst = binary.BigEndian.AppendUint16(dst, uint16(n.scale))
	for _, d := range n.digits {
		dst = append(dst, byte(d>>8), byte(d))
	}
	return dst
}

// decodeWire reads a binary value from outside, checking and normalising it.
func (n *Decimal) decodeWire(b []byte) error {
	switch {
	case len(b) < 8 || len(b) < 8+2*int(binary.BigEndian.Uint16(b)):
		return pgerr.New(pgerr.ProtocolViolation, "insufficient data left in message")
	case len(b) > 8+2*int(binary.BigEndian.Uint16(b)):
		return errBadBinary()
	}
	if err := n.Decode(b); err != nil {
		return err
	}
	switch n.sign {
	case signPos, signNeg:
	case signNaN, signPInf, signNInf:
		n.setSpecial(n.sign)
		return nil
	default:
		return pgerr.New(pgerr.InvalidBinaryRepresentation, "invalid sign in external \"numeric\" value")
	}
	if n.scale > numMaxScale {
		return pgerr.New(pgerr.InvalidBinaryRepresentation, "invalid scale in external \"numeric\" value")
	}
	for _, d := range n.digits {
		if d < 0 || d >= numBase {
			return pgerr.New(pgerr.InvalidBinaryRepresentation, "invalid digit in external \"numeric\" value")
		}
	}
	scale := n.scale
	n.truncTo(scale)
	n.scale = scale
	return nil
}

// CompareNumeric orders two stored values: -Infinity, finite, Infinity, NaN.
// Display scales do not count.
func CompareNumeric(a, b []byte) int {
	ra, rb := numericRank(a), numericRank(b)
	if ra != rb || (ra != 1 && ra != 3) {
		return ra - rb
	}
	wa, wb := int16(binary.BigEndian.Uint16(a[2:])), int16(binary.BigEndian.Uint16(b[2:]))
	c := int(wa) - int(wb)
	if c == 0 {
		c = bytes.Compare(a[8:], b[8:])
	}
	if ra == 1 {
		return -c
	}
	return c
}

// numericRank classes a stored value: -Infinity 0, negative 1, zero 2,
// positive 3, Infinity 4, NaN 5.
func numericRank(b []byte) int {
	switch binary.BigEndian.Uint16(b[4:]) {
	case signNInf:
		return 0
	case signPInf:
		return 4
	case signNaN:
		return 5
	case signNeg:
		return 1
	}
	if len(b) == 8 {
		return 2
	}
	return 3
}

// Cmp orders n and a as CompareNumeric does.
func (n *Decimal) Cmp(a *Decimal) int {
	if n.special() || a.special() {
		return n.rank() - a.rank()
	}
	if s, t := n.Sign(), a.Sign(); s != t {
		return s - t
	}
	c := cmpAbs(n, a)
	if n.sign == signNeg {
		return -c
	}
	return c
}

func (n *Decimal) rank() int {
	switch n.sign {
	case signNInf:
		return -1
	case signPInf:
		return 1
	case signNaN:
		return 2
	}
	return 0
}

// cmpAbs compares the magnitudes of two finite values.
func cmpAbs(a, b *Decimal) int {
	switch {
	case len(a.digits) == 0 || len(b.digits) == 0:
		return len(a.digits) - len(b.digits)
	case a.weight != b.weight:
		return a.weight - b.weight
	}
	for i := 0; i < len(a.digits) && i < len(b.digits); i++ {
		if d := int(a.digits[i]) - int(b.digits[i]); d != 0 {
			return d
		}
	}
	return len(a.digits) - len(b.digits)
}

// SetInt64 makes n equal to v.
func (n *Decimal) SetInt64(v int64) {
	n.sign, n.scale = signPos, 0
	u := uint64(v)
	if v < 0 {
		n.sign, u = signNeg, -u
	}
	n.setUint(u, 0)
}

// SetScaled makes n equal to v / 10^scale with that display scale.
func (n *Decimal) SetScaled(v int64, scale int) {
	n.sign = signPos
	u := uint64(v)
	if v < 0 {
		n.sign, u = signNeg, -u
	}
	frac := (scale + 3) / 4
	carry := uint64(pow10int(frac*4 - scale))
	// The value in units of 10,000^-frac is u*carry, which may exceed 64 bits.
	hi, lo := mul64(u, carry)
	n.setUint128(hi, lo, frac)
	n.scale = scale
}

// setUint makes the digits those of u / 10,000^frac.
func (n *Decimal) setUint(u uint64, frac int) { n.setUint128(0, u, frac) }

func (n *Decimal) setUint128(hi, lo uint64, frac int) {
	var buf [10]int16
	i := len(buf)
	for hi != 0 || lo != 0 {
		var r uint64
		hi, lo, r = div128(hi, lo, numBase)
		i--
		buf[i] = int16(r)
	}
	n.weight = len(buf) - i - 1 - frac
	n.digits = append(n.digits[:0], buf[i:]...)
	n.strip()
}

// SetFloat makes n the value of a float8 (bits 64, 15 significant digits) or
// float4 (bits 32, 6), as PostgreSQL converts them.
func (n *Decimal) SetFloat(f float64, bits int) {
	switch {
	case math.IsNaN(f):
		n.SetNaN()
		return
	case math.IsInf(f, 0):
		n.SetInf(int(math.Copysign(1, f)))
		return
	}
	prec := 15
	if bits == 32 {
		prec = 6
	}
	var buf [40]byte
	// A float's range lies inside numeric's, so parsing cannot fail.
	_ = n.Parse(appendG(buf[:0], f, prec))
}

// Float64 returns the nearest float8.
//
// Errors: 22003 when it is out of range.
func (n *Decimal) Float64() (float64, error) {
	switch n.sign {
	case signNaN:
		return math.NaN(), nil
	case signPInf:
		return math.Inf(1), nil
	case signNInf:
		return math.Inf(-1), nil
	}
	if len(n.digits) <= 3 && n.weight >= 0 && n.weight < 3 && len(n.digits) <= n.weight+1 {
		v, _ := n.toInt64()
		return float64(v), nil
	}
	var buf [64]byte
	s := n.AppendText(buf[:0])
	f, err := strconv.ParseFloat(view(s), 64)
	if err != nil || (f == 0 && len(n.digits) > 0) {
		return 0, pgerr.New(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type double precision", s)
	}
	return f, nil
}

// Int64 returns the value rounded half away from zero to an integer of the
// width (16, 32 or 64 bits).
//
// Errors: 22003, 0A000 for NaN and infinity.
func (n *Decimal) Int64(bits int) (int64, error) {
	if n.special() {
		what := "infinity"
		if n.IsNaN() {
			what = "NaN"
		}
		return 0, pgerr.New(pgerr.FeatureNotSupported, "cannot convert %s to %s", what, intName(bits))
	}
	r := n
	if len(n.digits) > n.weight+1 {
		r = &Decimal{}
		r.Set(n)
		r.Round(0)
	}
	v, ok := r.toInt64()
	if !ok || v<<(64-bits)>>(64-bits) != v {
		return 0, pgerr.New(pgerr.NumericValueOutOfRange, "%s out of range", intName(bits))
	}
	return v, nil
}

// toInt64 returns the integer part; ok is false when it does not fit.
func (n *Decimal) toInt64() (int64, bool) {
	if n.weight < 0 || len(n.digits) == 0 {
		return 0, true
	}
	if n.weight > 4 {
		return 0, false
	}
	var u uint64
	for i := 0; i <= n.weight; i++ {
		d := uint64(0)
		if i < len(n.digits) {
			d = uint64(n.digits[i])
		}
		if u > (1<<63-d)/numBase {
			return 0, false
		}
		u = u*numBase + d
	}
	if n.sign == signNeg {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u < 1<<63
}

// ApplyMod rounds to the scale of numeric(p,s)'s modifier and checks the
// precision; -1 changes nothing.
//
// Errors: 22003 with PostgreSQL's detail.
func (n *Decimal) ApplyMod(mod int32) error {
	if mod < 4 || n.IsNaN() {
		return nil
	}
	p, s := NumericMod(mod)
	if n.IsInf() {
		return pgerr.New(pgerr.NumericValueOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", p, s)
	}
	n.roundTo(s)
	n.scale = max(s, 0)
	if len(n.digits) == 0 {
		return nil
	}
	first, lead := int(n.digits[0]), 1
	for ; first >= 10; first /= 10 {
		lead++
	}
	if n.weight*4+lead > p-s {
		limit := "1"
		if p != s {
			limit = "10^" + strconv.Itoa(p-s)
		}
		return pgerr.New(pgerr.NumericValueOutOfRange, "numeric field overflow").
			WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s.", p, s, limit)
	}
	return nil
}
