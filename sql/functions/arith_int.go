package functions

import (
	"math"
	"math/bits"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// addInts adds two integer columns; the result has the wider type. Overflow is
// collected without a branch and looked for again only if it happened.
func addInts[A, B, R integer](ga access[A], gb access[B], gr access[R], t types.OID) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := ga(args[0]), gb(args[1]), gr(out)
		ma, mb := args[0].Mask(), args[1].Mask()
		var bad R
		for i := range dst[:n] {
			a, b := R(x[i&ma]), R(y[i&mb])
			r := a + b
			bad |= (a ^ r) & (b ^ r)
			dst[i] = r
		}
		if bad < 0 {
			return overflowWhere(out, n, t, func(i int) bool {
				a, b := R(x[i&ma]), R(y[i&mb])
				return (a^(a+b))&(b^(a+b)) < 0
			})
		}
		return nil
	}
}

func subInts[A, B, R integer](ga access[A], gb access[B], gr access[R], t types.OID) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := ga(args[0]), gb(args[1]), gr(out)
		ma, mb := args[0].Mask(), args[1].Mask()
		var bad R
		for i := range dst[:n] {
			a, b := R(x[i&ma]), R(y[i&mb])
			r := a - b
			bad |= (a ^ b) & (a ^ r)
			dst[i] = r
		}
		if bad < 0 {
			return overflowWhere(out, n, t, func(i int) bool {
				a, b := R(x[i&ma]), R(y[i&mb])
				return (a^b)&(a^(a-b)) < 0
			})
		}
		return nil
	}
}

// mulInts multiplies; smaller types multiply in 64 bits and compare.
func mulInts[A, B, R integer](ga access[A], gb access[B], gr access[R], t types.OID) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := ga(args[0]), gb(args[1]), gr(out)
		ma, mb := args[0].Mask(), args[1].Mask()
		bad := false
		for i := range dst[:n] {
			p, ok := mul64(int64(x[i&ma]), int64(y[i&mb]))
			r := R(p)
			bad = bad || !ok || int64(r) != p
			dst[i] = r
		}
		if bad {
			return overflowWhere(out, n, t, func(i int) bool {
				p, ok := mul64(int64(x[i&ma]), int64(y[i&mb]))
				return !ok || int64(R(p)) != p
			})
		}
		return nil
	}
}

// mul64 multiplies with a check for overflow.
func mul64(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi)
	if a < 0 {
		h -= b
	}
	if b < 0 {
		h -= a
	}
	return int64(lo), h == int64(lo)>>63
}

// overflowWhere reports the overflow if it happened in a row that counts.
func overflowWhere(out *vector.Vector, n int, t types.OID, bad func(int) bool) error {
	for i := 0; i < n; i++ {
		if live(out, i) && bad(i) {
			return outOfRange(t)
		}
	}
	return nil
}

func minOf[R integer]() R {
	var r R
	switch any(r).(type) {
	case int16:
		m := int64(math.MinInt16)
		return R(m)
	case int32:
		m := int64(math.MinInt32)
		return R(m)
	}
	m := int64(math.MinInt64)
	return R(m)
}

func divInts[A, B, R integer](ga access[A], gb access[B], gr access[R], t types.OID) Kernel {
	lowest := minOf[R]()
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := ga(args[0]), gb(args[1]), gr(out)
		ma, mb := args[0].Mask(), args[1].Mask()
		for i := range dst[:n] {
			a, b := R(x[i&ma]), R(y[i&mb])
			if b == 0 {
				if live(out, i) {
					return divisionByZero()
				}
				b = 1
			}
			if b == -1 && a == lowest && live(out, i) {
				return outOfRange(t)
			}
			dst[i] = a / b
		}
		return nil
	}
}

func modInts[A, B, R integer](ga access[A], gb access[B], gr access[R], _ types.OID) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := ga(args[0]), gb(args[1]), gr(out)
		ma, mb := args[0].Mask(), args[1].Mask()
		for i := range dst[:n] {
			b := R(y[i&mb])
			if b == 0 {
				if live(out, i) {
					return divisionByZero()
				}
				b = 1
			}
			dst[i] = R(x[i&ma]) % b
		}
		return nil
	}
}

// intOps registers + - * / for a pair of integer types.
func intOps[A, B, R integer](ga access[A], gb access[B], gr access[R], l, r, t types.OID) {
	RegisterFunctions(
		op("+", t, addInts(ga, gb, gr, t), l, r).fails(),
		op("-", t, subInts(ga, gb, gr, t), l, r).fails(),
		op("*", t, mulInts(ga, gb, gr, t), l, r).fails(),
		op("/", t, divInts(ga, gb, gr, t), l, r).fails(),
	)
}

// bitOps registers what exists for operands of one integer type only.
func bitOps[T integer](get access[T], t types.OID, width int) {
	RegisterFunctions(
		op("%", t, modInts(get, get, get, t), t, t).fails(),
		fn("mod", t, modInts(get, get, get, t), t, t).fails().doc("Remainder of the division."),
		op("&", t, bitwise(get, func(a, b T) T { return a & b }), t, t),
		op("|", t, bitwise(get, func(a, b T) T { return a | b }), t, t),
		op("#", t, bitwise(get, func(a, b T) T { return a ^ b }), t, t),
		op("~", t, map1(get, get, func(a T) T { return ^a }), t),
		op("<<", t, shift(get, width, true), t, types.Int4),
		op(">>", t, shift(get, width, false), t, types.Int4),
		op("-", t, negate(get, t), t).fails(),
		op("+", t, map1(get, get, func(a T) T { return a }), t),
		op("@", t, absInt(get, t), t).fails(),
		fn("abs", t, absInt(get, t), t).fails().doc("Absolute value."),
	)
}

func bitwise[T integer](get access[T], f func(a, b T) T) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := get(args[0]), get(args[1]), get(out)
		ma, mb := args[0].Mask(), args[1].Mask()
		for i := range dst[:n] {
			dst[i] = f(x[i&ma], y[i&mb])
		}
		return nil
	}
}

// shift shifts by the amount modulo 32 or 64, as the machine PostgreSQL runs on
// does; int2 is widened to int4 first.
func shift[T integer](get access[T], width int, left bool) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := get(args[0]), args[1].I32, get(out)
		ma, mb := args[0].Mask(), args[1].Mask()
		for i := range dst[:n] {
			by := uint(y[i&mb]) & uint(width-1)
			if left {
				dst[i] = T(int64(x[i&ma]) << by)
			} else {
				dst[i] = x[i&ma] >> by
			}
		}
		return nil
	}
}

func negate[T integer](get access[T], t types.OID) Kernel {
	lowest := minOf[T]()
	return try1(get, get, func(a T) (T, error) {
		if a == lowest {
			return 0, outOfRange(t)
		}
		return -a, nil
	})
}

func absInt[T integer](get access[T], t types.OID) Kernel {
	lowest := minOf[T]()
	return try1(get, get, func(a T) (T, error) {
		if a == lowest {
			return 0, outOfRange(t)
		}
		return max(a, -a), nil
	})
}

// gcd works on magnitudes, so that the lowest integer is no special case.
func gcd(a, b int64) uint64 {
	x, y := magnitude(a), magnitude(b)
	for y != 0 {
		x, y = y, x%y
	}
	return x
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

func gcdKernel[T integer](get access[T], t types.OID) Kernel {
	return try2(get, get, get, func(a, b T) (T, error) {
		g := gcd(int64(a), int64(b))
		if g > math.MaxInt64 || int64(T(g)) != int64(g) {
			return 0, outOfRange(t)
		}
		return T(g), nil
	})
}

func lcmKernel[T integer](get access[T], t types.OID) Kernel {
	return try2(get, get, get, func(a, b T) (T, error) {
		if a == 0 || b == 0 {
			return 0, nil
		}
		hi, lo := bits.Mul64(magnitude(int64(a))/gcd(int64(a), int64(b)), magnitude(int64(b)))
		if hi != 0 || lo > math.MaxInt64 || int64(T(lo)) != int64(lo) {
			return 0, outOfRange(t)
		}
		return T(lo), nil
	})
}

func divisorOps[T integer](get access[T], t types.OID) {
	RegisterFunctions(
		fn("gcd", t, gcdKernel(get, t), t, t).fails().doc("Greatest common divisor."),
		fn("lcm", t, lcmKernel(get, t), t, t).fails().doc("Least common multiple."),
	)
}

func init() {
	intOps(i16s, i16s, i16s, types.Int2, types.Int2, types.Int2)
	intOps(i16s, i32s, i32s, types.Int2, types.Int4, types.Int4)
	intOps(i16s, i64s, i64s, types.Int2, types.Int8, types.Int8)
	intOps(i32s, i16s, i32s, types.Int4, types.Int2, types.Int4)
	intOps(i32s, i32s, i32s, types.Int4, types.Int4, types.Int4)
	intOps(i32s, i64s, i64s, types.Int4, types.Int8, types.Int8)
	intOps(i64s, i16s, i64s, types.Int8, types.Int2, types.Int8)
	intOps(i64s, i32s, i64s, types.Int8, types.Int4, types.Int8)
	intOps(i64s, i64s, i64s, types.Int8, types.Int8, types.Int8)
	divisorOps(i32s, types.Int4)
	divisorOps(i64s, types.Int8)
	bitOps(i16s, types.Int2, 32)
	bitOps(i32s, types.Int4, 32)
	bitOps(i64s, types.Int8, 64)
}
