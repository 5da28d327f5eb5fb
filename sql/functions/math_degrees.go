package functions

import (
	"math"

	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Trigonometry in degrees, exact at multiples of 30 and 45: each function is
// scaled so that its value at such an angle is what the C library's function of
// radians gives there, divided by itself.

// radian is a degree; a variable, because products are to be rounded as at run time.
var radian = math.Pi / 180

var (
	sin30      = math.Sin(30 * radian)
	versine60  = 1 - math.Cos(60*radian)
	arcsinHalf = math.Asin(0.5)
	arccosHalf = math.Acos(0.5)
	arctanOne  = math.Atan(1)
	tan45      = sinQuadrant(45) / cosQuadrant(45)
	cot45      = cosQuadrant(45) / sinQuadrant(45)
)

func sinTo30(x float64) float64 { return math.Sin(x*radian) / sin30 / 2 }
func cosTo60(x float64) float64 { return 1 - (1-math.Cos(x*radian))/versine60/2 }

// sinQuadrant and cosQuadrant take 0 to 90 degrees.
func sinQuadrant(x float64) float64 {
	if x <= 30 {
		return sinTo30(x)
	}
	return cosTo60(90 - x)
}

func cosQuadrant(x float64) float64 {
	if x <= 60 {
		return cosTo60(x)
	}
	return sinTo30(90 - x)
}

// fold brings an angle into 0 to 90 and tells in which half it was.
func fold(x float64) (angle float64, negative, beyond180, beyond90 bool) {
	x = math.Mod(x, 360)
	if x < 0 {
		x, negative = -x, true
	}
	if x > 180 {
		x, beyond180 = 360-x, true
	}
	if x > 90 {
		x, beyond90 = 180-x, true
	}
	return x, negative, beyond180, beyond90
}

func signed(x float64, negative bool) float64 {
	if negative {
		return -x
	}
	return x
}

func sinDegrees(x float64) float64 {
	a, neg, half, _ := fold(x)
	return signed(sinQuadrant(a), neg != half)
}

func cosDegrees(x float64) float64 {
	a, _, _, quarter := fold(x)
	return signed(cosQuadrant(a), quarter)
}

func tanDegrees(x float64) float64 {
	a, neg, half, quarter := fold(x)
	return signed(sinQuadrant(a)/cosQuadrant(a)/tan45, neg != half != quarter) + 0 // no negative zero
}

func cotDegrees(x float64) float64 {
	a, neg, half, quarter := fold(x)
	return signed(cosQuadrant(a)/sinQuadrant(a)/cot45, neg != half != quarter) + 0
}

func asinPositive(x float64) float64 {
	if x <= 0.5 {
		return math.Asin(x) / arcsinHalf * 30
	}
	return 90 - math.Acos(x)/arccosHalf*60
}

func asinDegrees(x float64) float64 {
	if x < 0 {
		return -asinPositive(-x)
	}
	return asinPositive(x)
}

func acosDegrees(x float64) float64 {
	switch {
	case x < 0:
		return 90 + asinPositive(-x)
	case x <= 0.5:
		return 90 - math.Asin(x)/arcsinHalf*30
	}
	return math.Acos(x) / arccosHalf * 60
}

func acosh(x float64) (float64, error) {
	if x < 1 {
		return 0, inputOutOfRange()
	}
	return math.Acosh(x), nil
}

// factorials beyond this do not fit a numeric.
const maxFactorial = 32177

func factorial(c *Ctx, n int64, r *decimal) error {
	switch {
	case n < 0:
		return pgerr.New(pgerr.NumericValueOutOfRange, "factorial of a negative number is undefined")
	case n > maxFactorial:
		return pgerr.New(pgerr.NumericValueOutOfRange, "value overflows numeric format")
	}
	var k decimal
	r.SetInt64(1)
	for i := int64(2); i <= n; i++ {
		if i%lookEvery == 0 {
			if err := c.Canceled(); err != nil {
				return err
			}
		}
		k.SetInt64(i)
		if err := r.Mul(r, &k); err != nil {
			return err
		}
	}
	return nil
}

func init() {
	f := types.Float8
	reg := func(name, doc string, g func(float64) (float64, error)) {
		RegisterFunctions(fn(name, f, checkedFloat(g), f).fails().doc(doc))
	}
	reg("sind", "Sine of degrees.", trigonometric(sinDegrees))
	reg("cosd", "Cosine of degrees.", trigonometric(cosDegrees))
	reg("tand", "Tangent of degrees.", trigonometric(tanDegrees))
	reg("cotd", "Cotangent of degrees.", trigonometric(cotDegrees))
	reg("asind", "Inverse sine, in degrees.", arc(asinDegrees))
	reg("acosd", "Inverse cosine, in degrees.", arc(acosDegrees))
	reg("acosh", "Inverse hyperbolic cosine.", acosh)
	reg("atanh", "Inverse hyperbolic tangent.", arc(math.Atanh))
	RegisterFunctions(
		fn("atand", f, float1(func(x float64) float64 { return math.Atan(x) / arctanOne * 45 }), f).doc("Inverse tangent, in degrees."),
		fn("atan2d", f, try2(f64s, f64s, f64s, func(y, x float64) (float64, error) { return math.Atan2(y, x) / arctanOne * 45, nil }), f, f).
			doc("Inverse tangent of y/x, in degrees."),
	)
}
