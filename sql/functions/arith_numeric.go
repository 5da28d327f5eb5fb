package functions

import (
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// numeric2 makes a kernel of a binary operation on numerics. A constant operand
// is decoded once.
func numeric2(f func(r, a, b *decimal) error) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var a, b, r decimal
		x, y := args[0], args[1]
		decoded := false // of a row before: the first ones may be NULL
		for i := 0; i < n; i++ {
			if !live(out, i) {
				endRow(out)
				continue
			}
			if !decoded || !x.Const {
				if err := a.Decode(x.Bytes(i)); err != nil {
					return err
				}
			}
			if !decoded || !y.Const {
				if err := b.Decode(y.Bytes(i)); err != nil {
					return err
				}
			}
			decoded = true
			if err := f(&r, &a, &b); err != nil {
				return err
			}
			out.Data = r.AppendStored(out.Data)
			endRow(out)
		}
		return nil
	}
}

// numeric1 makes a kernel of an operation on one numeric: r arrives holding it.
func numeric1(f func(r *decimal) error) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var r decimal
		for i := 0; i < n; i++ {
			if !live(out, i) {
				endRow(out)
				continue
			}
			if err := r.Decode(args[0].Bytes(i)); err != nil {
				return err
			}
			if err := f(&r); err != nil {
				return err
			}
			out.Data = r.AppendStored(out.Data)
			endRow(out)
		}
		return nil
	}
}

// numericWithInt makes a kernel of a numeric and an int4: rounding to a scale.
func numericWithInt(f func(r *decimal, k int)) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var r decimal
		m := args[1].Mask()
		for i := 0; i < n; i++ {
			if !live(out, i) {
				endRow(out)
				continue
			}
			if err := r.Decode(args[0].Bytes(i)); err != nil {
				return err
			}
			f(&r, int(args[1].I32[i&m]))
			out.Data = r.AppendStored(out.Data)
			endRow(out)
		}
		return nil
	}
}

// fromNumeric makes a kernel that reads a numeric and gives a fixed-width value.
func fromNumeric[R any](get access[R], f func(d *decimal) (R, error)) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var d decimal
		dst := get(out)
		for i := range dst[:n] {
			if !live(out, i) {
				continue
			}
			if err := d.Decode(args[0].Bytes(i)); err != nil {
				return err
			}
			r, err := f(&d)
			if err != nil {
				return err
			}
			dst[i] = r
		}
		return nil
	}
}

// toNumeric makes the cast of a fixed-width value to numeric(p,s).
func toNumeric[A any](get access[A], set func(d *decimal, a A)) func(int32, bool) Kernel {
	return func(mod int32, _ bool) Kernel {
		return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			var d decimal
			x, m := get(args[0]), args[0].Mask()
			for i := 0; i < n; i++ {
				if !live(out, i) {
					endRow(out)
					continue
				}
				set(&d, x[i&m])
				if err := d.ApplyMod(mod); err != nil {
					return err
				}
				out.Data = d.AppendStored(out.Data)
				endRow(out)
			}
			return nil
		}
	}
}

func copyOf(f func(r, a *decimal) error) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var a decimal
		return numeric1(func(r *decimal) error {
			a.Set(r)
			return f(r, &a)
		})(c, out, args, n)
	}
}

func numericDiv(r, a, b *decimal) error { return r.DivTrunc(a, b) }

// numericGCD is Euclid's algorithm on decimals; the scale is the larger one.
func numericGCD(r, a, b *decimal) error {
	if a.IsNaN() || b.IsNaN() || a.IsInf() || b.IsInf() {
		r.SetNaN()
		return nil
	}
	var x, y, t decimal
	x.Set(a)
	y.Set(b)
	scale := max(a.Scale(), b.Scale())
	for y.Sign() != 0 {
		if err := t.Mod(&x, &y); err != nil {
			return err
		}
		x.Set(&y)
		y.Set(&t)
	}
	x.Abs()
	x.Round(scale)
	r.Set(&x)
	return nil
}

func numericLCM(r, a, b *decimal) error {
	var g, q decimal
	if a.IsNaN() || b.IsNaN() || a.IsInf() || b.IsInf() {
		r.SetNaN()
		return nil
	}
	scale := max(a.Scale(), b.Scale())
	if a.Sign() == 0 || b.Sign() == 0 {
		r.SetInt64(0)
		r.Round(scale)
		return nil
	}
	if err := numericGCD(&g, a, b); err != nil {
		return err
	}
	if err := q.DivTrunc(a, &g); err != nil {
		return err
	}
	if err := r.Mul(&q, b); err != nil {
		return err
	}
	r.Abs()
	r.Round(scale)
	return nil
}

func setFloat4(d *decimal, f float32) { d.SetFloat(float64(f), 32) }
func setFloat8(d *decimal, f float64) { d.SetFloat(f, 64) }

// realOf is the cast to float4. Infinity arises only from infinity.
func realOf(d *decimal) (float32, error) {
	f, err := d.Float64()
	if err != nil {
		return 0, pgerr.New(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type real", d.String())
	}
	r := float32(f)
	if isInf(r) && !math.IsInf(f, 0) || r == 0 && f != 0 {
		return 0, pgerr.New(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type real", d.String())
	}
	return r, nil
}

// numericFit applies the modifier of numeric(p,s).
func numericFit(mod int32, _ bool) Kernel {
	if mod < 4 {
		return nil
	}
	return numeric1(func(r *decimal) error { return r.ApplyMod(mod) })
}

func init() {
	n := types.Numeric
	RegisterFunctions(
		op("+", n, numeric2((*decimal).Add), n, n).fails(),
		op("-", n, numeric2((*decimal).Sub), n, n).fails(),
		op("*", n, numeric2((*decimal).Mul), n, n).fails(),
		op("/", n, numeric2((*decimal).Div), n, n).fails(),
		op("%", n, numeric2((*decimal).Mod), n, n).fails(),
		op("^", n, numeric2((*decimal).Power), n, n).fails(),
		op("-", n, numeric1(func(r *decimal) error { r.Neg(); return nil }), n),
		op("+", n, numeric1(func(r *decimal) error { return nil }), n),
		op("@", n, numeric1(func(r *decimal) error { r.Abs(); return nil }), n),
		fn("mod", n, numeric2((*decimal).Mod), n, n).fails().doc("Remainder of the division."),
		fn("div", n, numeric2(numericDiv), n, n).fails().doc("Integer quotient, towards zero."),
		fn("power", n, numeric2((*decimal).Power), n, n).fails().doc("First argument raised to the second."),
		fn("pow", n, numeric2((*decimal).Power), n, n).fails().doc("First argument raised to the second."),
		fn("log", n, numeric2(func(r, b, x *decimal) error { return r.Log(b, x) }), n, n).fails().doc("Logarithm of the second argument to the base of the first."),
		fn("gcd", n, numeric2(numericGCD), n, n).fails().doc("Greatest common divisor."),
		fn("lcm", n, numeric2(numericLCM), n, n).fails().doc("Least common multiple."),
		fn("abs", n, numeric1(func(r *decimal) error { r.Abs(); return nil }), n).doc("Absolute value."),
		fn("sign", n, numeric1(numericSign), n).doc("-1, 0 or 1."),
		fn("ceil", n, numeric1(func(r *decimal) error { r.Ceil(); return nil }), n).doc("Nearest integer not below."),
		fn("ceiling", n, numeric1(func(r *decimal) error { r.Ceil(); return nil }), n).doc("Nearest integer not below."),
		fn("floor", n, numeric1(func(r *decimal) error { r.Floor(); return nil }), n).doc("Nearest integer not above."),
		fn("round", n, numeric1(func(r *decimal) error { r.Round(0); return nil }), n).doc("Nearest integer, halves away from zero."),
		fn("round", n, numericWithInt((*decimal).Round), n, types.Int4).doc("Rounded to a number of decimals."),
		fn("trunc", n, numeric1(func(r *decimal) error { r.Trunc(0); return nil }), n).doc("Integer part."),
		fn("trunc", n, numericWithInt((*decimal).Trunc), n, types.Int4).doc("Cut to a number of decimals."),
		fn("sqrt", n, copyOf((*decimal).Sqrt), n).fails().doc("Square root."),
		fn("exp", n, copyOf((*decimal).Exp), n).fails().doc("e raised to the argument."),
		fn("ln", n, copyOf((*decimal).Ln), n).fails().doc("Natural logarithm."),
		fn("log", n, copyOf((*decimal).Log10), n).fails().doc("Decimal logarithm."),
		fn("log10", n, copyOf((*decimal).Log10), n).fails().doc("Decimal logarithm."),
		fn("scale", types.Int4, numericScale, n).doc("Number of decimals."),
	)
	RegisterCasts(
		Cast{From: n, To: n, Context: CastImplicit, Make: numericFit, CanFail: true},
		Cast{From: types.Int2, To: n, Context: CastImplicit, CanFail: true, Make: toNumeric(i16s, func(d *decimal, v int16) { d.SetInt64(int64(v)) })},
		Cast{From: types.Int4, To: n, Context: CastImplicit, CanFail: true, Make: toNumeric(i32s, func(d *decimal, v int32) { d.SetInt64(int64(v)) })},
		Cast{From: types.Int8, To: n, Context: CastImplicit, CanFail: true, Make: toNumeric(i64s, (*decimal).SetInt64)},
		Cast{From: types.Float4, To: n, Context: CastAssignment, CanFail: true, Make: toNumeric(f32s, setFloat4)},
		Cast{From: types.Float8, To: n, Context: CastAssignment, CanFail: true, Make: toNumeric(f64s, setFloat8)},
		checked(n, types.Int2, CastAssignment, fromNumeric(i16s, func(d *decimal) (int16, error) { v, err := d.Int64(16); return int16(v), err })),
		checked(n, types.Int4, CastAssignment, fromNumeric(i32s, func(d *decimal) (int32, error) { v, err := d.Int64(32); return int32(v), err })),
		checked(n, types.Int8, CastAssignment, fromNumeric(i64s, func(d *decimal) (int64, error) { return d.Int64(64) })),
		checked(n, types.Float4, CastImplicit, fromNumeric(f32s, realOf)),
		checked(n, types.Float8, CastImplicit, fromNumeric(f64s, (*decimal).Float64)),
	)
}

// numericScale gives NULL for NaN and infinity.
func numericScale(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var d decimal
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		if err := d.Decode(args[0].Bytes(i)); err != nil {
			return err
		}
		if out.I32[i] = int32(d.Scale()); d.IsNaN() || d.IsInf() {
			setNull(out, i, n)
		}
	}
	return nil
}

func numericSign(r *decimal) error {
	if !r.IsNaN() {
		r.SetInt64(int64(r.Sign()))
	}
	return nil
}
