package functions

import (
	"crypto/rand"
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// float1 makes a kernel of a float8 function; finite input that gives infinity is an overflow.
func float1(f func(float64) float64) Kernel { return map1(f64s, f64s, f) }

func checkedFloat(f func(float64) (float64, error)) Kernel { return try1(f64s, f64s, f) }

func inputOutOfRange() error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "input is out of range")
}

func floatSqrt(x float64) (float64, error) {
	if x < 0 {
		return 0, pgerr.New(pgerr.InvalidArgumentForPower, "cannot take square root of a negative number")
	}
	return math.Sqrt(x), nil
}

func floatExp(x float64) (float64, error) {
	r := math.Exp(x)
	switch {
	case math.IsInf(r, 0) && !math.IsInf(x, 0):
		return 0, floatOverflow()
	case r == 0 && !math.IsInf(x, 0):
		return 0, floatUnderflow()
	}
	return r, nil
}

func logarithm(f func(float64) float64) func(float64) (float64, error) {
	return func(x float64) (float64, error) {
		switch {
		case x == 0:
			return 0, pgerr.New(pgerr.InvalidArgumentForLog, "cannot take logarithm of zero")
		case x < 0:
			return 0, pgerr.New(pgerr.InvalidArgumentForLog, "cannot take logarithm of a negative number")
		}
		return f(x), nil
	}
}

func floatPower(a, b float64) (float64, error) {
	switch {
	case math.IsNaN(a):
		if b == 0 {
			return 1, nil
		}
		return a, nil
	case math.IsNaN(b):
		if a == 1 {
			return 1, nil
		}
		return b, nil
	case a == 0 && b < 0:
		return 0, pgerr.New(pgerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	case a < 0 && math.Floor(b) != b:
		return 0, pgerr.New(pgerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
	}
	r := pow(a, b)
	switch {
	case math.IsInf(a, 0) || math.IsInf(b, 0):
	case math.IsInf(r, 0):
		return 0, floatOverflow()
	case r == 0 && a != 0:
		return 0, floatUnderflow()
	}
	return r, nil
}

// log10 splits off the binary exponent and its logarithm in two parts, so that
// powers of ten come out exact, which math.Log10 does not manage.
func log10(x float64) float64 {
	const twoHi, twoLo = 0x1.34413509f6p-02, 0x1.9fef311f12b36p-42
	if x-x != 0 {
		return x
	}
	frac, exp := math.Frexp(x)
	k := float64(exp)
	if exp > 0 {
		frac, k = frac*2, k-1
	}
	return k*twoHi + (k*twoLo + math.Log(frac)/math.Ln10)
}

// trigonometric refuses infinity.
func trigonometric(f func(float64) float64) func(float64) (float64, error) {
	return func(x float64) (float64, error) {
		if math.IsInf(x, 0) {
			return 0, inputOutOfRange()
		}
		r := f(x)
		return r, nil
	}
}

func arc(f func(float64) float64) func(float64) (float64, error) {
	return func(x float64) (float64, error) {
		if x < -1 || x > 1 {
			return 0, inputOutOfRange()
		}
		return f(x), nil
	}
}

func growing(f func(float64) float64) func(float64) (float64, error) {
	return func(x float64) (float64, error) {
		r := f(x)
		if math.IsInf(r, 0) && !math.IsInf(x, 0) {
			return 0, floatOverflow()
		}
		return r, nil
	}
}

func signOf(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// widthBucketFloat numbers the bucket of x among count equal ones between lo and hi.
func widthBucketFloat(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		x, lo, hi := args[0].F64[i&args[0].Mask()], args[1].F64[i&args[1].Mask()], args[2].F64[i&args[2].Mask()]
		b, err := widthBucket(x, lo, hi, args[3].I32[i&args[3].Mask()])
		if err != nil {
			return err
		}
		out.I32[i] = b
	}
	return nil
}

func widthBucket(x, lo, hi float64, count int32) (int32, error) {
	switch {
	case count <= 0:
		return 0, pgerr.New(pgerr.InvalidArgumentForWidth, "count must be greater than zero")
	case math.IsNaN(x) || math.IsNaN(lo) || math.IsNaN(hi):
		return 0, pgerr.New(pgerr.InvalidArgumentForWidth, "operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return 0, pgerr.New(pgerr.InvalidArgumentForWidth, "lower and upper bounds must be finite")
	case lo == hi:
		return 0, pgerr.New(pgerr.InvalidArgumentForWidth, "lower bound cannot equal upper bound")
	}
	below, beyond := x < lo, x >= hi
	if lo > hi {
		below, beyond = x > lo, x <= hi
	}
	switch {
	case below:
		return 0, nil
	case beyond && count == math.MaxInt32:
		return 0, outOfRange(types.Int4)
	case beyond:
		return count + 1, nil
	}
	b := int32(float64(count)*((x-lo)/(hi-lo))) + 1
	return min(b, count), nil
}

// widthBucketNumeric is the same over exact decimals.
func widthBucketNumeric(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var x, lo, hi decimal
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		for k, d := range []*decimal{&x, &lo, &hi} {
			if err := d.Decode(args[k].Bytes(i)); err != nil {
				return err
			}
		}
		b, err := decimalBucket(&x, &lo, &hi, args[3].I32[i&args[3].Mask()])
		if err != nil {
			return err
		}
		out.I32[i] = b
	}
	return nil
}

func decimalBucket(x, lo, hi *decimal, count int32) (int32, error) {
	switch {
	case count <= 0:
		return 0, pgerr.New(pgerr.InvalidArgumentForWidth, "count must be greater than zero")
	case x.IsNaN() || lo.IsNaN() || hi.IsNaN():
		return 0, pgerr.New(pgerr.InvalidArgumentForWidth, "operand, lower bound, and upper bound cannot be NaN")
	case lo.IsInf() || hi.IsInf():
		return 0, pgerr.New(pgerr.InvalidArgumentForWidth, "lower and upper bounds must be finite")
	case lo.Cmp(hi) == 0:
		return 0, pgerr.New(pgerr.InvalidArgumentForWidth, "lower bound cannot equal upper bound")
	}
	up := lo.Cmp(hi) < 0
	c, e := x.Cmp(lo), x.Cmp(hi)
	switch {
	case up && c < 0 || !up && c > 0:
		return 0, nil
	case up && e >= 0 || !up && e <= 0:
		if count == math.MaxInt32 {
			return 0, outOfRange(types.Int4)
		}
		return count + 1, nil
	}
	var num, den, k, q decimal
	k.SetInt64(int64(count))
	for _, err := range []error{num.Sub(x, lo), den.Sub(hi, lo), num.Mul(&num, &k), q.DivTrunc(&num, &den)} {
		if err != nil {
			return 0, err
		}
	}
	b, err := q.Int64(32)
	return int32(min(b+1, int64(count))), err
}

func randomUUID(_ *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	for i := range out.F16[:n] {
		u := &out.F16[i]
		if _, err := rand.Read(u[:]); err != nil {
			return pgerr.New(pgerr.InternalError, "could not generate random values").WithCause(err)
		}
		u[6], u[8] = u[6]&0x0F|0x40, u[8]&0x3F|0x80
	}
	return nil
}

func init() {
	f := types.Float8
	reg := func(name, doc string, k Kernel) { RegisterFunctions(fn(name, f, k, f).doc(doc)) }
	may := func(name, doc string, g func(float64) (float64, error)) {
		RegisterFunctions(fn(name, f, checkedFloat(g), f).fails().doc(doc))
	}
	reg("ceil", "Nearest integer not below.", float1(math.Ceil))
	reg("ceiling", "Nearest integer not below.", float1(math.Ceil))
	reg("floor", "Nearest integer not above.", float1(math.Floor))
	reg("round", "Nearest integer, halves to even.", float1(math.RoundToEven))
	reg("trunc", "Integer part.", float1(math.Trunc))
	reg("sign", "-1, 0 or 1.", float1(signOf))
	reg("cbrt", "Cube root.", float1(math.Cbrt))
	reg("atan", "Inverse tangent, in radians.", float1(math.Atan))
	reg("tanh", "Hyperbolic tangent.", float1(math.Tanh))
	reg("asinh", "Inverse hyperbolic sine.", float1(math.Asinh))
	reg("radians", "Degrees to radians.", float1(func(x float64) float64 { return x / (180 / math.Pi) }))
	may("degrees", "Radians to degrees.", growing(func(x float64) float64 { return x / (math.Pi / 180) }))
	may("sqrt", "Square root.", floatSqrt)
	may("exp", "e raised to the argument.", floatExp)
	may("ln", "Natural logarithm.", logarithm(math.Log))
	may("log", "Decimal logarithm.", logarithm(log10))
	may("log10", "Decimal logarithm.", logarithm(log10))
	may("sin", "Sine of radians.", trigonometric(math.Sin))
	may("cos", "Cosine of radians.", trigonometric(math.Cos))
	may("tan", "Tangent of radians.", trigonometric(math.Tan))
	may("cot", "Cotangent of radians.", trigonometric(func(x float64) float64 { return 1 / math.Tan(x) }))
	may("asin", "Inverse sine, in radians.", arc(math.Asin))
	may("acos", "Inverse cosine, in radians.", arc(math.Acos))
	may("sinh", "Hyperbolic sine.", func(x float64) (float64, error) { return math.Sinh(x), nil })
	may("cosh", "Hyperbolic cosine.", func(x float64) (float64, error) { return math.Cosh(x), nil })
	RegisterFunctions(
		op("^", f, try2(f64s, f64s, f64s, floatPower), f, f).fails(),
		op("|/", f, checkedFloat(floatSqrt), f).fails(),
		op("||/", f, float1(math.Cbrt), f),
		fn("power", f, try2(f64s, f64s, f64s, floatPower), f, f).fails().doc("First argument raised to the second."),
		fn("pow", f, try2(f64s, f64s, f64s, floatPower), f, f).fails().doc("First argument raised to the second."),
		fn("atan2", f, try2(f64s, f64s, f64s, func(y, x float64) (float64, error) { return math.Atan2(y, x), nil }), f, f).doc("Inverse tangent of y/x, in radians."),
		fn("pi", f, func(_ *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
			for i := range out.F64[:n] {
				out.F64[i] = math.Pi
			}
			return nil
		}).doc("The number pi."),
		fn("gen_random_uuid", types.UUID, randomUUID).volatile().doc("Random UUID, version 4."),
		fn("width_bucket", types.Int4, widthBucketFloat, f, f, f, types.Int4).fails().doc("Number of the bucket of a value in a histogram of equal widths."),
		fn("width_bucket", types.Int4, widthBucketNumeric, types.Numeric, types.Numeric, types.Numeric, types.Int4).fails().doc("Number of the bucket of a value in a histogram of equal widths."),
	)
}
