package types

import (
	"math/bits"

	"tsdb/sql/pgerr"
)

func mul64(a, b uint64) (hi, lo uint64) { return bits.Mul64(a, b) }

// div128 divides a 128-bit number by a small one.
func div128(hi, lo, d uint64) (qhi, qlo, r uint64) {
	qhi, r = hi/d, hi%d
	qlo, r = bits.Div64(r, lo, d)
	return qhi, qlo, r
}

// result installs digits computed in n.spare, keeping the old ones as spare.
func (n *Decimal) result(out []int16, weight, scale int, sign uint16) {
	n.digits, n.spare = out, n.digits
	n.weight, n.scale, n.sign = weight, scale, sign
	n.strip()
}

// Neg changes the sign of n.
func (n *Decimal) Neg() {
	switch n.sign {
	case signPos:
		if len(n.digits) > 0 {
			n.sign = signNeg
		}
	case signNeg:
		n.sign = signPos
	case signPInf:
		n.sign = signNInf
	case signNInf:
		n.sign = signPInf
	}
}

// Abs makes n positive.
func (n *Decimal) Abs() {
	if n.sign == signNeg || n.sign == signNInf {
		n.Neg()
	}
}

// Add sets n = a + b.
//
// Errors: 22003.
func (n *Decimal) Add(a, b *Decimal) error { return n.add(a, b, b.sign) }

// Sub sets n = a - b.
//
// Errors: 22003.
func (n *Decimal) Sub(a, b *Decimal) error {
	sign := b.sign
	switch sign {
	case signPos:
		sign = signNeg
	case signNeg:
		sign = signPos
	case signPInf:
		sign = signNInf
	case signNInf:
		sign = signPInf
	}
	return n.add(a, b, sign)
}

func (n *Decimal) add(a, b *Decimal, bsign uint16) error {
	if a.special() || b.special() {
		switch {
		case a.IsNaN() || b.IsNaN() || (a.IsInf() && b.IsInf() && a.sign != bsign):
			n.SetNaN()
		case a.IsInf():
			n.setSpecial(a.sign)
		default:
			n.setSpecial(bsign)
		}
		return nil
	}
	scale := max(a.scale, b.scale)
	if a.sign == bsign {
		n.addAbs(a, b, scale, a.sign)
		return n.check()
	}
	if cmpAbs(a, b) >= 0 {
		n.subAbs(a, b, scale, a.sign)
	} else {
		n.subAbs(b, a, scale, bsign)
	}
	return nil
}

// span returns the highest and lowest digit position that a or b uses.
func span(a, b *Decimal) (hi, lo int) {
	hi, lo = max(a.weight, b.weight), min(a.weight-len(a.digits), b.weight-len(b.digits))+1
	if len(a.digits) == 0 {
		hi, lo = b.weight, b.weight-len(b.digits)+1
	} else if len(b.digits) == 0 {
		hi, lo = a.weight, a.weight-len(a.digits)+1
	}
	return hi, lo
}

func (n *Decimal) room(k int) []int16 {
	if cap(n.spare) < k {
		n.spare = make([]int16, k, k+8)
	}
	return n.spare[:k]
}

func (n *Decimal) addAbs(a, b *Decimal, scale int, sign uint16) {
	hi, lo := span(a, b)
	out := n.room(hi - lo + 2)
	carry := 0
	for p := lo; p <= hi; p++ {
		s := a.digitAt(p) + b.digitAt(p) + carry
		carry = 0
		if s >= numBase {
			s, carry = s-numBase, 1
		}
		out[hi-p+1] = int16(s)
	}
	out[0] = int16(carry)
	n.result(out, hi+1, scale, sign)
}

// subAbs computes |a| - |b|, |a| >= |b|.
func (n *Decimal) subAbs(a, b *Decimal, scale int, sign uint16) {
	hi, lo := span(a, b)
	out := n.room(hi - lo + 1)
	borrow := 0
	for p := lo; p <= hi; p++ {
		s := a.digitAt(p) - b.digitAt(p) - borrow
		borrow = 0
		if s < 0 {
			s, borrow = s+numBase, 1
		}
		out[hi-p] = int16(s)
	}
	n.result(out, hi, scale, sign)
}

// Mul sets n = a * b; the scale is the sum of the scales.
//
// Errors: 22003.
func (n *Decimal) Mul(a, b *Decimal) error {
	if a.special() || b.special() {
		if s := a.Sign() * b.Sign(); a.IsNaN() || b.IsNaN() || s == 0 {
			n.SetNaN()
		} else {
			n.SetInf(s)
		}
		return nil
	}
	sign := a.sign ^ b.sign
	scale := a.scale + b.scale
	la, lb := len(a.digits), len(b.digits)
	if la == 0 || lb == 0 {
		n.result(n.room(0), 0, min(scale, numMaxScale), signPos)
		return nil
	}
	var buf [64]uint64
	acc := buf[:]
	if la+lb > len(buf) {
		acc = make([]uint64, la+lb)
	}
	for i, x := range a.digits {
		for j, y := range b.digits {
			acc[i+j+1] += uint64(x) * uint64(y)
		}
	}
	out := n.room(la + lb)
	carry := uint64(0)
	for k := la + lb - 1; k >= 0; k-- {
		s := acc[k] + carry
		carry = s / numBase
		out[k] = int16(s % numBase)
	}
	n.result(out, a.weight+b.weight+1, scale, sign)
	if n.scale > numMaxScale {
		n.roundTo(numMaxScale)
		n.scale = numMaxScale
	}
	return n.check()
}

func errDivisionByZero() error { return pgerr.New(pgerr.DivisionByZero, "division by zero") }

// specialQuotient handles NaN and infinite operands of a division.
func (n *Decimal) specialQuotient(a, b *Decimal) error {
	switch {
	case a.IsNaN() || b.IsNaN():
		n.SetNaN()
	case a.IsInf() && b.IsInf():
		n.SetNaN()
	case a.IsInf():
		if b.Sign() == 0 {
			return errDivisionByZero()
		}
		n.SetInf(a.Sign() * b.Sign())
	default:
		n.SetInt64(0)
	}
	return nil
}

// Div sets n = a / b with PostgreSQL's choice of scale: at least 16
// significant digits, and no less than either operand's scale.
//
// Errors: 22012, 22003.
func (n *Decimal) Div(a, b *Decimal) error {
	if a.special() || b.special() {
		return n.specialQuotient(a, b)
	}
	if len(b.digits) == 0 {
		return errDivisionByZero()
	}
	n.quotient(a, b, divScale(a, b), true)
	return n.check()
}

// DivTrunc sets n to the integer part of a / b.
//
// Errors: 22012, 22003.
func (n *Decimal) DivTrunc(a, b *Decimal) error {
	if a.special() || b.special() {
		return n.specialQuotient(a, b)
	}
	if len(b.digits) == 0 {
		return errDivisionByZero()
	}
	n.quotient(a, b, 0, false)
	return n.check()
}

// Mod sets n = a - b*trunc(a/b), which has the sign of a.
//
// Errors: 22012.
func (n *Decimal) Mod(a, b *Decimal) error {
	if a.special() || b.special() {
		switch {
		case a.IsNaN() || b.IsNaN():
			n.SetNaN()
		case a.IsInf() && b.Sign() == 0:
			return errDivisionByZero()
		case a.IsInf():
			n.SetNaN()
		default:
			n.Set(a)
		}
		return nil
	}
	if len(b.digits) == 0 {
		return errDivisionByZero()
	}
	scale := max(a.scale, b.scale)
	var q Decimal
	q.quotient(a, b, 0, false)
	if err := q.Mul(&q, b); err != nil {
		return err
	}
	if err := n.Sub(a, &q); err != nil {
		return err
	}
	n.scale = scale
	return nil
}

// divScale is PostgreSQL's choice of a quotient's scale. It estimates the
// quotient's weight from the leading digits.
func divScale(a, b *Decimal) int {
	wa, da := 0, int16(0)
	if len(a.digits) > 0 {
		wa, da = a.weight, a.digits[0]
	}
	weight := wa - b.weight
	if da <= b.digits[0] {
		weight--
	}
	scale := max(numMinSigDigits-weight*4, a.scale, b.scale, 0)
	return min(scale, numMaxDisplay)
}

// quotient sets n = a / b to scale decimals, rounded half away from zero or
// cut. b is not zero.
func (n *Decimal) quotient(a, b *Decimal, scale int, round bool) {
	sign := a.sign ^ b.sign
	if len(a.digits) == 0 {
		n.result(n.room(0), 0, scale, signPos)
		return
	}
	// Scale the operands to integers so that the integer quotient counts
	// units of 10,000^-frac, one digit more than the scale needs.
	frac := scale/4 + 2
	shift := (a.weight - len(a.digits)) - (b.weight - len(b.digits)) + frac
	num := make([]uint32, len(a.digits)+max(shift, 0))
	for i, d := range a.digits {
		num[i] = uint32(d)
	}
	den := make([]uint32, len(b.digits)+max(-shift, 0))
	for i, d := range b.digits {
		den[i] = uint32(d)
	}
	q := divideDigits(num, den)
	out := n.room(len(q))
	for i, d := range q {
		out[i] = int16(d)
	}
	n.result(out, len(q)-1-frac, scale, sign)
	if round {
		n.roundTo(scale)
	} else {
		n.truncTo(scale)
	}
	n.scale = scale
}

// divideDigits returns the integer quotient of two base-10,000 numbers, most
// significant digit first (Knuth's algorithm D). It overwrites its arguments.
func divideDigits(num, den []uint32) []uint32 {
	for len(den) > 1 && den[0] == 0 {
		den = den[1:]
	}
	if len(num) < len(den) {
		return nil
	}
	if len(den) == 1 {
		r := uint32(0)
		for i, d := range num {
			cur := r*numBase + d
			num[i], r = cur/den[0], cur%den[0]
		}
		return num
	}
	// Normalise so that the divisor's first digit is at least half the base.
	if f := uint32(numBase) / (den[0] + 1); f > 1 {
		den = scaleDigits(den, f)[1:]
		num = scaleDigits(num, f)
	} else {
		num = append([]uint32{0}, num...)
	}
	m := len(num) - len(den)
	q := make([]uint32, m)
	for j := 0; j < m; j++ {
		top := num[j]*numBase + num[j+1]
		guess, rest := top/den[0], top%den[0]
		for guess >= numBase || guess*den[1] > rest*numBase+num[j+2] {
			guess--
			if rest += den[0]; rest >= numBase {
				break
			}
		}
		q[j] = subtractTimes(num[j:j+len(den)+1], den, guess)
	}
	return q
}

// scaleDigits returns d*f with one more digit in front.
func scaleDigits(d []uint32, f uint32) []uint32 {
	out := make([]uint32, len(d)+1)
	carry := uint32(0)
	for i := len(d) - 1; i >= 0; i-- {
		v := d[i]*f + carry
		out[i+1], carry = v%numBase, v/numBase
	}
	out[0] = carry
	return out
}

// subtractTimes subtracts q*den from win, adding den back once if q was one
// too large, and returns the right q.
func subtractTimes(win, den []uint32, q uint32) uint32 {
	borrow := int64(0)
	for i := len(den) - 1; i >= 0; i-- {
		v := int64(win[i+1]) - int64(den[i])*int64(q) - borrow
		borrow = 0
		if v < 0 {
			borrow = (-v + numBase - 1) / numBase
			v += borrow * numBase
		}
		win[i+1] = uint32(v)
	}
	if int64(win[0]) >= borrow {
		win[0] -= uint32(borrow)
		return q
	}
	carry := uint32(0)
	for i := len(den) - 1; i >= 0; i-- {
		v := win[i+1] + den[i] + carry
		carry = 0
		if v >= numBase {
			v, carry = v-numBase, 1
		}
		win[i+1] = v
	}
	win[0] = 0
	return q - 1
}

// roundTo rounds half away from zero after scale decimals (negative: before
// the point). It leaves the display scale alone.
func (n *Decimal) roundTo(scale int) { n.cutTo(scale, true) }

func (n *Decimal) truncTo(scale int) { n.cutTo(scale, false) }

func (n *Decimal) cutTo(scale int, round bool) {
	if n.special() || len(n.digits) == 0 {
		n.strip()
		return
	}
	keep := (n.weight+1)*4 + scale // decimal digits that stay
	if keep < 0 || keep == 0 && !round {
		n.digits = n.digits[:0]
		n.strip()
		return
	}
	if keep >= len(n.digits)*4 {
		n.strip()
		return
	}
	full, part := keep/4, keep%4
	unit := int16(pow10int(4 - part)) // of the last kept place, in digit full
	if part == 0 {
		unit = 0
	}
	up := false
	if part == 0 {
		up = n.digits[full] >= numBase/2
		n.digits = n.digits[:full]
	} else {
		d := n.digits[full]
		rest := d % unit
		up = rest >= unit/2
		n.digits = append(n.digits[:full], d-rest)
	}
	if up && round {
		n.bump(unit)
	}
	n.strip()
}

// bump adds unit (0: one) to the last digit.
func (n *Decimal) bump(unit int16) {
	if unit == 0 {
		unit = 1
	}
	for i := len(n.digits) - 1; i >= 0; i-- {
		if n.digits[i] += unit; n.digits[i] < numBase {
			return
		}
		n.digits[i] -= numBase
		unit = 1
	}
	n.digits = append(n.digits, 0)
	copy(n.digits[1:], n.digits)
	n.digits[0] = 1
	n.weight++
}

// Round rounds half away from zero to scale decimals; a negative scale rounds
// before the point.
func (n *Decimal) Round(scale int) { n.toScale(scale, true) }

// Trunc cuts after scale decimals; a negative scale cuts before the point.
func (n *Decimal) Trunc(scale int) { n.toScale(scale, false) }

func (n *Decimal) toScale(scale int, round bool) {
	if n.special() {
		return
	}
	scale = min(max(scale, -numMaxResultScal), numMaxResultScal)
	n.cutTo(scale, round)
	n.scale = max(scale, 0)
}

// Ceil sets n to the smallest integer that is not below it.
func (n *Decimal) Ceil() { n.toward(signPos) }

// Floor sets n to the largest integer that is not above it.
func (n *Decimal) Floor() { n.toward(signNeg) }

func (n *Decimal) toward(sign uint16) {
	if n.special() {
		return
	}
	away := len(n.digits) > n.weight+1 && n.sign == sign
	n.Trunc(0)
	if away {
		one := Decimal{digits: []int16{1}, sign: sign}
		n.add(n, &one, sign)
	}
}
