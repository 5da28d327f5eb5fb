package types

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"tsdb/sql/pgerr"
)

// guardDigits are carried beyond the result's scale in inexact functions.
const guardDigits = 24

// log10E is PostgreSQL's rounding of log10(e): a result's scale depends on it.
const log10E = 0.434294481903252

func errLogZero() error {
	return pgerr.New(pgerr.InvalidArgumentForLog, "cannot take logarithm of zero")
}

func errLogNegative() error {
	return pgerr.New(pgerr.InvalidArgumentForLog, "cannot take logarithm of a negative number")
}

// Sqrt sets n to the square root of a.
//
// Errors: 2201F.
func (n *Decimal) Sqrt(a *Decimal) error {
	if a.IsNaN() {
		n.SetNaN()
		return nil
	}
	if a.Sign() < 0 {
		return pgerr.New(pgerr.InvalidArgumentForPower, "cannot take square root of a negative number")
	}
	if a.IsInf() {
		n.SetInf(1)
		return nil
	}
	scale := min(max(numMinSigDigits-(a.weight*2+1), a.scale, 0), numMaxDisplay)
	// sqrt(a) * 10^(scale+1) = sqrt(a * 10^(2*scale+2)), rounded down: the
	// last digit decides the rounding and is never exactly half by accident,
	// for the root of a decimal is exact or irrational.
	v := a.scaledInt(2*scale + 2)
	n.setScaledBig(v.Sqrt(v), scale+1)
	n.roundTo(scale)
	n.scale = scale
	return nil
}

// scaledInt returns the integer part of n * 10^scale.
func (n *Decimal) scaledInt(scale int) *big.Int {
	v := new(big.Int)
	base := big.NewInt(numBase)
	for _, d := range n.digits {
		v.Mul(v, base).Add(v, big.NewInt(int64(d)))
	}
	exp := (n.weight-len(n.digits)+1)*4 + scale
	pow := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
	if exp >= 0 {
		v.Mul(v, pow)
	} else {
		v.Quo(v, pow)
	}
	if n.sign == signNeg {
		v.Neg(v)
	}
	return v
}

// setScaledBig sets n to v / 10^scale.
func (n *Decimal) setScaledBig(v *big.Int, scale int) {
	n.sign = signPos
	if v.Sign() < 0 {
		n.sign = signNeg
	}
	s := new(big.Int).Abs(v).String()
	n.scale = max(scale, 0)
	n.setDecimal([]byte(s), len(s), -scale)
}

// decimal returns n as an apd number.
func (n *Decimal) decimal() *apd.Decimal {
	d := new(apd.Decimal)
	var text []byte
	scale := max(0, (len(n.digits)-n.weight-1)*4)
	text = n.scaledInt(scale).Append(text, 10)
	if _, _, err := d.SetString(string(text)); err == nil {
		d.Exponent = int32(-scale)
	}
	return d
}

// setDecimalValue sets n to d rounded to scale.
func (n *Decimal) setDecimalValue(d *apd.Decimal, scale int) error {
	text := []byte(d.Text('f'))
	if err := n.Parse(text); err != nil {
		return err
	}
	n.roundTo(scale)
	n.scale = scale
	return n.check()
}

func mathContext(digits int) *apd.Context {
	c := apd.BaseContext.WithPrecision(uint32(max(digits, 1)))
	c.Traps = 0
	c.MaxExponent, c.MinExponent = apd.MaxExponent, apd.MinExponent
	return c
}

// approx returns the value as a float8, ±Inf when it is out of range.
func (n *Decimal) approx() float64 {
	f, err := n.Float64()
	if err == nil {
		return f
	}
	if n.weight < 0 {
		return 0
	}
	return math.Inf(n.Sign())
}

// Exp sets n to e raised to a.
//
// Errors: 22003.
func (n *Decimal) Exp(a *Decimal) error {
	switch a.sign {
	case signNaN:
		n.SetNaN()
		return nil
	case signPInf:
		n.SetInf(1)
		return nil
	case signNInf:
		n.SetInt64(0)
		return nil
	}
	val := a.approx()
	dec := math.Max(-numMaxResultScal, math.Min(numMaxResultScal, val*log10E))
	scale := min(max(numMinSigDigits-int(dec), a.scale, 0), numMaxDisplay)
	if math.Abs(val) >= numMaxResultScal*3 {
		if val > 0 {
			return errNumericOverflow()
		}
		n.SetScaled(0, scale)
		return nil
	}
	var r apd.Decimal
	if _, err := mathContext(scale+max(int(val*log10E), 0)+guardDigits).Exp(&r, a.decimal()); err != nil {
		return errNumericOverflow()
	}
	return n.setDecimalValue(&r, scale)
}

// lnWeight estimates the decimal weight of ln(n), n > 0.
func (n *Decimal) lnWeight() int {
	x := Decimal{}
	one := Decimal{}
	one.SetInt64(1)
	_ = x.Sub(n, &one)
	lo, hi := Decimal{}, Decimal{}
	lo.SetScaled(9, 1)
	hi.SetScaled(11, 1)
	if n.Cmp(&lo) >= 0 && n.Cmp(&hi) <= 0 {
		if len(x.digits) == 0 {
			return 0
		}
		return x.weight*4 + int(math.Log10(float64(x.digits[0])))
	}
	digits, weight := float64(n.digits[0]), n.weight*4
	if len(n.digits) > 1 {
		digits = digits*numBase + float64(n.digits[1])
		weight -= 4
	}
	ln := math.Log(digits) + float64(weight)*math.Ln10
	return int(math.Log10(math.Abs(ln)))
}

// Ln sets n to the natural logarithm of a.
//
// Errors: 2201E.
func (n *Decimal) Ln(a *Decimal) error {
	if done, err := n.logSpecial(a); done {
		return err
	}
	scale := min(max(numMinSigDigits-a.lnWeight(), a.scale, 0), numMaxDisplay)
	r := lnDecimal(a, scale+guardDigits)
	return n.setDecimalValue(r, scale)
}

// logSpecial answers a logarithm of NaN, infinity and numbers below or at zero.
func (n *Decimal) logSpecial(a *Decimal) (bool, error) {
	switch {
	case a.IsNaN():
		n.SetNaN()
	case a.Sign() < 0:
		return true, errLogNegative()
	case a.Sign() == 0:
		return true, errLogZero()
	case a.IsInf():
		n.SetInf(1)
	default:
		return false, nil
	}
	return true, nil
}

// lnDecimal returns ln(a) with about digits significant digits.
func lnDecimal(a *Decimal, digits int) *apd.Decimal {
	var r apd.Decimal
	extra := max(0, -a.lnWeight())
	_, _ = mathContext(digits+extra+len(a.digits)/2).Ln(&r, a.decimal())
	return &r
}

// Log sets n to the logarithm of a to base b.
//
// Errors: 2201E, 22012.
func (n *Decimal) Log(b, a *Decimal) error {
	if b.IsNaN() || a.IsNaN() {
		n.SetNaN()
		return nil
	}
	for _, x := range [...]*Decimal{b, a} {
		if x.Sign() < 0 {
			return errLogNegative()
		}
		if x.Sign() == 0 {
			return errLogZero()
		}
	}
	if b.IsInf() || a.IsInf() {
		switch {
		case b.IsInf() && a.IsInf():
			n.SetNaN()
		case b.IsInf():
			n.SetInt64(0)
		default:
			n.SetInf(1)
		}
		return nil
	}
	wb, wa := b.lnWeight(), a.lnWeight()
	scale := min(max(numMinSigDigits-(wa-wb), b.scale, a.scale, 0), numMaxDisplay)
	digits := scale + max(0, wa-wb) + guardDigits
	lb, la := lnDecimal(b, digits), lnDecimal(a, digits)
	if lb.IsZero() {
		return errDivisionByZero()
	}
	var r apd.Decimal
	_, _ = mathContext(digits+max(0, -wa)).Quo(&r, la, lb)
	return n.setDecimalValue(&r, scale)
}

// Log10 sets n to the decimal logarithm of a.
//
// Errors: 2201E.
func (n *Decimal) Log10(a *Decimal) error {
	ten := Decimal{}
	ten.SetInt64(10)
	return n.Log(&ten, a)
}

// isInteger reports whether a finite n has no fraction.
func (n *Decimal) isInteger() bool { return len(n.digits) <= n.weight+1 || len(n.digits) == 0 }

// isOdd reports whether an integer n is odd.
func (n *Decimal) isOdd() bool { return n.digitAt(0)%2 == 1 }

// Power sets n to a raised to b.
//
// Errors: 2201F, 22003, 22012.
func (n *Decimal) Power(a, b *Decimal) error {
	if a.special() || b.special() {
		return n.powerSpecial(a, b)
	}
	if a.Sign() == 0 && b.Sign() < 0 {
		return pgerr.New(pgerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	}
	if a.Sign() < 0 && !b.isInteger() {
		return pgerr.New(pgerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
	}
	if b.isInteger() {
		if e, ok := b.toInt64(); ok && e == int64(int32(e)) {
			return n.powerInt(a, int(e), min(max(numMinSigDigits, a.scale), numMaxDisplay))
		}
	}
	if a.Sign() == 0 {
		n.SetScaled(0, numMinSigDigits)
		return nil
	}
	return n.powerReal(a, b)
}

func (n *Decimal) powerReal(a, b *Decimal) error {
	base := Decimal{}
	base.Set(a)
	base.Abs()
	digits := 8 + guardDigits
	var ln apd.Decimal
	c := mathContext(digits)
	_, _ = c.Mul(&ln, lnDecimal(&base, digits), b.decimal())
	val, err := ln.Float64()
	if err != nil || math.Abs(val) > numMaxResultScal*3.01 {
		if !ln.Negative {
			return errNumericOverflow()
		}
		n.SetScaled(0, numMaxDisplay)
		return nil
	}
	dec := int(val * log10E)
	scale := min(max(numMinSigDigits-dec, a.scale, b.scale, 0), numMaxDisplay)
	digits = scale + max(dec, 0) + guardDigits
	c = mathContext(digits + 8)
	_, _ = c.Mul(&ln, lnDecimal(&base, digits+8), b.decimal())
	var r apd.Decimal
	if _, err := mathContext(digits).Exp(&r, &ln); err != nil {
		return errNumericOverflow()
	}
	if err := n.setDecimalValue(&r, scale); err != nil {
		return err
	}
	if a.Sign() < 0 && b.isOdd() {
		n.Neg()
	}
	return nil
}

// powerInt raises to an integer power with a fixed result scale.
func (n *Decimal) powerInt(a *Decimal, e, scale int) error {
	if len(a.digits) == 0 && e != 0 {
		n.SetScaled(0, scale)
		return nil
	}
	if e == 0 {
		n.SetInt64(1)
		n.scale = scale
		return nil
	}
	mag := math.Log10(float64(a.digits[0])) + float64(a.weight)*4
	if len(a.digits) > 1 {
		mag = math.Log10(float64(a.digits[0])+float64(a.digits[1])/numBase) + float64(a.weight)*4
	}
	f := mag * float64(e)
	if f > (numMaxWeight+1)*4 {
		return errNumericOverflow()
	}
	if f+1 < float64(-scale) {
		n.SetScaled(0, scale)
		return nil
	}
	digits := max(0, int(f)) + scale + guardDigits
	var r apd.Decimal
	c := mathContext(digits + 10)
	base := a.decimal()
	m := e
	if m < 0 {
		m = -m
	}
	r.SetInt64(1)
	for ; m > 0; m >>= 1 {
		if m&1 == 1 {
			_, _ = c.Mul(&r, &r, base)
		}
		if m > 1 {
			_, _ = c.Mul(base, base, base)
		}
	}
	if e < 0 {
		_, _ = c.Quo(&r, apd.New(1, 0), &r)
	}
	return n.setDecimalValue(&r, scale)
}

func (n *Decimal) powerSpecial(a, b *Decimal) error {
	one := Decimal{}
	one.SetInt64(1)
	switch {
	case a.IsNaN():
		if !b.special() && b.Sign() == 0 {
			n.SetInt64(1)
			return nil
		}
		n.SetNaN()
		return nil
	case b.IsNaN():
		if !a.special() && a.Cmp(&one) == 0 {
			n.SetInt64(1)
			return nil
		}
		n.SetNaN()
		return nil
	case a.Sign() == 0 && b.Sign() < 0:
		return pgerr.New(pgerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	case b.Sign() == 0 || (!a.special() && a.Cmp(&one) == 0):
		n.SetInt64(1)
		return nil
	case a.Sign() < 0 && !b.special() && !b.isInteger():
		return pgerr.New(pgerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
	}
	if b.IsInf() {
		abs := Decimal{}
		abs.Set(a)
		abs.Abs()
		c := abs.Cmp(&one)
		switch {
		case c == 0:
			n.SetInt64(1)
		case (c > 0) == (b.Sign() > 0):
			n.SetInf(1)
		default:
			n.SetInt64(0)
		}
		return nil
	}
	odd := b.isOdd()
	switch {
	case b.Sign() < 0:
		n.SetInt64(0)
	case a.Sign() < 0 && odd:
		n.SetInf(-1)
	default:
		n.SetInf(1)
	}
	return nil
}
