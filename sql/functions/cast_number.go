package functions

import (
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// simple makes a Cast whose kernel does not depend on a modifier.
func simple(from, to types.OID, ctx CastContext, k Kernel) Cast {
	return Cast{From: from, To: to, Context: ctx, Make: func(int32, bool) Kernel { return k }}
}

// checked is simple for a kernel that can fail.
func checked(from, to types.OID, ctx CastContext, k Kernel) Cast {
	c := simple(from, to, ctx, k)
	c.CanFail = true
	return c
}

// relabel makes a binary-coercible Cast.
func relabel(from, to types.OID, ctx CastContext) Cast {
	return Cast{From: from, To: to, Context: ctx}
}

func widen[A, R number](a access[A], r access[R]) Kernel {
	return map1(a, r, func(x A) R { return R(x) })
}

func narrowInts[A, R integer](a access[A], r access[R], t types.OID) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, dst, m := a(args[0]), r(out), args[0].Mask()
		bad := false
		for i := range dst[:n] {
			v := x[i&m]
			dst[i] = R(v)
			bad = bad || A(R(v)) != v
		}
		if bad {
			return overflowWhere(out, n, t, func(i int) bool { return A(R(x[i&m])) != x[i&m] })
		}
		return nil
	}
}

// floatsToInts rounds half to even, as rint does.
func floatsToInts[A float, R integer](a access[A], r access[R], t types.OID) Kernel {
	low := float64(minOf[R]())
	return try1(a, r, func(x A) (R, error) {
		f := math.RoundToEven(float64(x))
		if !(f >= low && f < -low) {
			return 0, outOfRange(t)
		}
		return R(f), nil
	})
}

func floatToReal(f float64) (float32, error) {
	r := float32(f)
	if isInf(r) && !isInf(f) {
		return 0, floatOverflow()
	}
	if r == 0 && f != 0 {
		return 0, floatUnderflow()
	}
	return r, nil
}

func int8ToOid(x int64) (uint32, error) {
	if x < 0 || x > math.MaxUint32 {
		return 0, outOfRangeName("OID")
	}
	return uint32(x), nil
}

func boolsToInts(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I32[:n] {
		out.I32[i] = int32(b2u(args[0].Bool(i)))
	}
	return nil
}

// regTypes are the aliases of oid that name a catalog object.
var regTypes = []types.OID{types.Regproc, types.Regprocedure, types.Regclass, types.Regtype, types.Regnamespace, types.Regrole}

func init() {
	RegisterCasts(
		simple(types.Int2, types.Int4, CastImplicit, widen(i16s, i32s)),
		simple(types.Int2, types.Int8, CastImplicit, widen(i16s, i64s)),
		simple(types.Int4, types.Int8, CastImplicit, widen(i32s, i64s)),
		checked(types.Int4, types.Int2, CastAssignment, narrowInts(i32s, i16s, types.Int2)),
		checked(types.Int8, types.Int2, CastAssignment, narrowInts(i64s, i16s, types.Int2)),
		checked(types.Int8, types.Int4, CastAssignment, narrowInts(i64s, i32s, types.Int4)),

		simple(types.Int2, types.Float4, CastImplicit, widen(i16s, f32s)),
		simple(types.Int4, types.Float4, CastImplicit, widen(i32s, f32s)),
		simple(types.Int8, types.Float4, CastImplicit, widen(i64s, f32s)),
		simple(types.Int2, types.Float8, CastImplicit, widen(i16s, f64s)),
		simple(types.Int4, types.Float8, CastImplicit, widen(i32s, f64s)),
		simple(types.Int8, types.Float8, CastImplicit, widen(i64s, f64s)),
		simple(types.Float4, types.Float8, CastImplicit, widen(f32s, f64s)),
		checked(types.Float8, types.Float4, CastAssignment, try1(f64s, f32s, floatToReal)),
		checked(types.Float4, types.Int2, CastAssignment, floatsToInts(f32s, i16s, types.Int2)),
		checked(types.Float4, types.Int4, CastAssignment, floatsToInts(f32s, i32s, types.Int4)),
		checked(types.Float4, types.Int8, CastAssignment, floatsToInts(f32s, i64s, types.Int8)),
		checked(types.Float8, types.Int2, CastAssignment, floatsToInts(f64s, i16s, types.Int2)),
		checked(types.Float8, types.Int4, CastAssignment, floatsToInts(f64s, i32s, types.Int4)),
		checked(types.Float8, types.Int8, CastAssignment, floatsToInts(f64s, i64s, types.Int8)),

		simple(types.Bool, types.Int4, CastExplicit, boolsToInts),
		simple(types.Int4, types.Bool, CastExplicit, bool1(i32s, func(x int32) bool { return x != 0 })),
	)
	for _, t := range append([]types.OID{types.Oid}, regTypes...) {
		RegisterCasts(
			simple(types.Int2, t, CastImplicit, map1(i16s, u32s, func(x int16) uint32 { return uint32(int32(x)) })),
			simple(types.Int4, t, CastImplicit, map1(i32s, u32s, func(x int32) uint32 { return uint32(x) })),
			checked(types.Int8, t, CastImplicit, try1(i64s, u32s, int8ToOid)),
			simple(t, types.Int4, CastAssignment, map1(u32s, i32s, func(x uint32) int32 { return int32(x) })),
			simple(t, types.Int8, CastAssignment, widen(u32s, i64s)),
		)
		if t != types.Oid {
			RegisterCasts(relabel(types.Oid, t, CastImplicit), relabel(t, types.Oid, CastImplicit))
		}
	}
	RegisterCasts(relabel(types.Regproc, types.Regprocedure, CastImplicit), relabel(types.Regprocedure, types.Regproc, CastImplicit))
}
