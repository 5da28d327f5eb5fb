package functions

import (
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// floatArith makes + - * of two float columns computed in R. PostgreSQL raises
// an error where finite operands give infinity, or a product of non-zeros gives zero.
func floatArith[A, B, R float](ga access[A], gb access[B], gr access[R], symbol byte) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := ga(args[0]), gb(args[1]), gr(out)
		ma, mb := args[0].Mask(), args[1].Mask()
		dst = dst[:n]
		switch symbol {
		case '+':
			for i := range dst {
				dst[i] = R(x[i&ma]) + R(y[i&mb])
			}
		case '-':
			for i := range dst {
				dst[i] = R(x[i&ma]) - R(y[i&mb])
			}
		case '*':
			for i := range dst {
				dst[i] = R(x[i&ma]) * R(y[i&mb])
			}
		}
		for i, r := range dst {
			if r-r == 0 && (r != 0 || symbol != '*') {
				continue
			}
			a, b := R(x[i&ma]), R(y[i&mb])
			if err := floatRange(r, a, b, symbol == '*' && a != 0 && b != 0); err != nil && live(out, i) {
				return err
			}
		}
		return nil
	}
}

// floatRange checks a result against its operands; nonzero says that zero is an underflow.
func floatRange[R float](r, a, b R, nonzero bool) error {
	if isInf(r) && !isInf(a) && !isInf(b) {
		return floatOverflow()
	}
	if r == 0 && nonzero {
		return floatUnderflow()
	}
	return nil
}

func divFloats[A, B, R float](ga access[A], gb access[B], gr access[R]) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := ga(args[0]), gb(args[1]), gr(out)
		ma, mb := args[0].Mask(), args[1].Mask()
		for i := range dst[:n] {
			a, b := R(x[i&ma]), R(y[i&mb])
			r := a / b
			dst[i] = r
			if r-r == 0 && r != 0 || !live(out, i) {
				continue
			}
			if b == 0 && !isNaN(a) {
				return divisionByZero()
			}
			if err := floatRange(r, a, 0, a != 0 && !isInf(b)); err != nil {
				return err
			}
		}
		return nil
	}
}

func floatOps[A, B, R float](ga access[A], gb access[B], gr access[R], l, r, t types.OID) {
	RegisterFunctions(
		op("+", t, floatArith(ga, gb, gr, '+'), l, r).fails(),
		op("-", t, floatArith(ga, gb, gr, '-'), l, r).fails(),
		op("*", t, floatArith(ga, gb, gr, '*'), l, r).fails(),
		op("/", t, divFloats(ga, gb, gr), l, r).fails(),
	)
}

func absFloat[T float](a T) T { return T(math.Abs(float64(a))) }

func floatUnary[T float](get access[T], t types.OID) {
	RegisterFunctions(
		op("-", t, map1(get, get, func(a T) T { return -a }), t),
		op("+", t, map1(get, get, func(a T) T { return a }), t),
		op("@", t, map1(get, get, absFloat[T]), t),
		fn("abs", t, map1(get, get, absFloat[T]), t).doc("Absolute value."),
	)
}

func init() {
	floatOps(f32s, f32s, f32s, types.Float4, types.Float4, types.Float4)
	floatOps(f32s, f64s, f64s, types.Float4, types.Float8, types.Float8)
	floatOps(f64s, f32s, f64s, types.Float8, types.Float4, types.Float8)
	floatOps(f64s, f64s, f64s, types.Float8, types.Float8, types.Float8)
	floatUnary(f32s, types.Float4)
	floatUnary(f64s, types.Float8)
}
