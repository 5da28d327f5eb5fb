package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// relation is one of the six comparisons; the greater ones are the lesser ones
// with operands exchanged, so kernels know four.
type relation uint8

const (
	relEQ relation = iota
	relNE
	relLT
	relLE
	relGT
	relGE
)

var relationSymbols = [...]string{"=", "<>", "<", "<=", ">", ">="}

// swapped returns the relation that holds with operands exchanged.
func (r relation) swapped() relation {
	switch r {
	case relLT:
		return relGT
	case relLE:
		return relGE
	case relGT:
		return relLT
	case relGE:
		return relLE
	}
	return r
}

// holds reports whether the relation is true of a three-way comparison's result.
func (r relation) holds(c int) bool {
	switch r {
	case relEQ:
		return c == 0
	case relNE:
		return c != 0
	case relLT:
		return c < 0
	case relLE:
		return c <= 0
	case relGT:
		return c > 0
	}
	return c >= 0
}

func invert(b vector.Bitmap, n int) {
	for i := range b[:vector.Words(n)] {
		b[i] = ^b[i]
	}
}

func fillAll(b vector.Bitmap, n int, v bool) { b[:vector.Words(n)].Fill(v) }

func eqConst[T comparable](out vector.Bitmap, x []T, c T, n int) {
	x = x[:n]
	for w := 0; w*64 < n; w++ {
		var bits uint64
		for j, v := range x[w*64 : min(n, w*64+64)] {
			bits |= b2u(v == c) << uint(j)
		}
		out[w] = bits
	}
}

func ltConst[T number](out vector.Bitmap, x []T, c T, n int) {
	x = x[:n]
	for w := 0; w*64 < n; w++ {
		var bits uint64
		for j, v := range x[w*64 : min(n, w*64+64)] {
			bits |= b2u(v < c) << uint(j)
		}
		out[w] = bits
	}
}

func leConst[T number](out vector.Bitmap, x []T, c T, n int) {
	x = x[:n]
	for w := 0; w*64 < n; w++ {
		var bits uint64
		for j, v := range x[w*64 : min(n, w*64+64)] {
			bits |= b2u(v <= c) << uint(j)
		}
		out[w] = bits
	}
}

func eqRows[T comparable](out vector.Bitmap, x, y []T, n int) {
	x, y = x[:n], y[:n]
	for w := 0; w*64 < n; w++ {
		end := min(n, w*64+64)
		a, b := x[w*64:end], y[w*64:end]
		b = b[:len(a)]
		var bits uint64
		for j, v := range a {
			bits |= b2u(v == b[j]) << uint(j)
		}
		out[w] = bits
	}
}

func ltRows[T number](out vector.Bitmap, x, y []T, n int) {
	x, y = x[:n], y[:n]
	for w := 0; w*64 < n; w++ {
		end := min(n, w*64+64)
		a, b := x[w*64:end], y[w*64:end]
		b = b[:len(a)]
		var bits uint64
		for j, v := range a {
			bits |= b2u(v < b[j]) << uint(j)
		}
		out[w] = bits
	}
}

// compareInts makes the kernel of a relation between two columns of one
// integer-like type, where not (x < y) is y <= x.
func compareInts[T int16 | int32 | int64 | uint32](get access[T], rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		a, b, r := args[0], args[1], rel
		if a.Const {
			a, b, r = b, a, rel.swapped()
		}
		x, y := get(a), get(b)
		switch {
		case a.Const: // both
			fillAll(out.Bits, n, r.holds(cmp3(x[0], y[0])))
		case b.Const:
			intsWithConst(out.Bits, x, y[0], r, n)
		default:
			intRows(out.Bits, x, y, r, n)
		}
		return nil
	}
}

func intsWithConst[T int16 | int32 | int64 | uint32](out vector.Bitmap, x []T, c T, r relation, n int) {
	switch r {
	case relEQ, relNE:
		eqConst(out, x, c, n)
	case relLT, relGE:
		ltConst(out, x, c, n)
	case relLE, relGT:
		leConst(out, x, c, n)
	}
	if r == relNE || r == relGE || r == relGT {
		invert(out, n)
	}
}

func intRows[T int16 | int32 | int64 | uint32](out vector.Bitmap, x, y []T, r relation, n int) {
	switch r {
	case relEQ, relNE:
		eqRows(out, x, y, n)
	case relLT, relGE:
		ltRows(out, x, y, n)
	case relGT, relLE:
		ltRows(out, y, x, n)
	}
	if r == relNE || r == relGE || r == relLE {
		invert(out, n)
	}
}

func cmp3[T number](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareMixedInts compares integers of different widths. A constant that fits
// the column's type is narrowed, so that the loop is that of one type.
func compareMixedInts[A, B int16 | int32 | int64](ga access[A], gb access[B], rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		a, b := args[0], args[1]
		x, y := ga(a), gb(b)
		ma, mb := a.Mask(), b.Mask()
		switch {
		case b.Const && !a.Const && int64(A(y[0])) == int64(y[0]):
			intsWithConst(out.Bits, x, A(y[0]), rel, n)
			return nil
		case a.Const && !b.Const && int64(B(x[0])) == int64(x[0]):
			intsWithConst(out.Bits, y, B(x[0]), rel.swapped(), n)
			return nil
		}
		for i := 0; i < n; i++ {
			out.Bits.Put(i, rel.holds(cmp3(int64(x[i&ma]), int64(y[i&mb]))))
		}
		return nil
	}
}

// floatOrder is the total order of floats: NaN equals itself and is the largest.
func floatOrder[T float](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case isNaN(a) && isNaN(b):
		return 0
	case isNaN(a):
		return 1
	}
	return -1
}

// compareFloats compares float columns; without NaN in the constant the loops
// of numbers serve, since NaN < c and NaN <= c are false as they must be.
func compareFloats[T float](get access[T], rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		a, b, r := args[0], args[1], rel
		if a.Const {
			a, b, r = b, a, rel.swapped()
		}
		x, y := get(a), get(b)
		if b.Const && !a.Const && !isNaN(y[0]) {
			floatsWithConst(out.Bits, x, y[0], r, n)
			return nil
		}
		ma, mb := a.Mask(), b.Mask()
		for i := 0; i < n; i++ {
			out.Bits.Put(i, r.holds(floatOrder(x[i&ma], y[i&mb])))
		}
		return nil
	}
}

func floatsWithConst[T float](out vector.Bitmap, x []T, c T, r relation, n int) {
	switch r {
	case relEQ, relNE:
		eqConst(out, x, c, n)
	case relLT, relGE:
		ltConst(out, x, c, n)
	case relLE, relGT:
		leConst(out, x, c, n)
	}
	if r == relNE || r == relGE || r == relGT {
		invert(out, n)
	}
}

// compareMixedFloats compares float4 with float8 as float8.
func compareMixedFloats[A, B float](ga access[A], gb access[B], rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y := ga(args[0]), gb(args[1])
		ma, mb := args[0].Mask(), args[1].Mask()
		for i := 0; i < n; i++ {
			out.Bits.Put(i, rel.holds(floatOrder(float64(x[i&ma]), float64(y[i&mb]))))
		}
		return nil
	}
}

// compareBools compares whole words: false < true.
func compareBools(rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for w := 0; w < vector.Words(n); w++ {
			a, b := boolWord(args[0], w), boolWord(args[1], w)
			var r uint64
			switch rel {
			case relEQ:
				r = ^(a ^ b)
			case relNE:
				r = a ^ b
			case relLT:
				r = ^a & b
			case relLE:
				r = ^a | b
			case relGT:
				r = a &^ b
			case relGE:
				r = a | ^b
			}
			out.Bits[w] = r
		}
		return nil
	}
}

func boolWord(v *vector.Vector, w int) uint64 {
	if !v.Const {
		return v.Bits[w]
	}
	return -b2u(v.Bits.Get(0))
}

func compareFamily(t types.OID, make func(relation) Kernel) {
	comparePair(t, t, make)
}

func comparePair(l, r types.OID, make func(relation) Kernel) {
	for rel := relEQ; rel <= relGE; rel++ {
		RegisterFunctions(op(relationSymbols[rel], types.Bool, make(rel), l, r))
	}
}

func init() {
	compareFamily(types.Bool, compareBools)
	compareFamily(types.Int2, func(r relation) Kernel { return compareInts(i16s, r) })
	compareFamily(types.Int4, func(r relation) Kernel { return compareInts(i32s, r) })
	compareFamily(types.Int8, func(r relation) Kernel { return compareInts(i64s, r) })
	compareFamily(types.Date, func(r relation) Kernel { return compareInts(i32s, r) })
	for _, t := range []types.OID{types.Time, types.Timestamp, types.TimestampTZ} {
		compareFamily(t, func(r relation) Kernel { return compareInts(i64s, r) })
	}
	compareFamily(types.AnyEnum, func(r relation) Kernel { return compareInts(i64s, r) })
	compareFamily(types.Oid, func(r relation) Kernel { return compareInts(u32s, r) })
	comparePair(types.Int2, types.Int4, func(r relation) Kernel { return compareMixedInts(i16s, i32s, r) })
	comparePair(types.Int2, types.Int8, func(r relation) Kernel { return compareMixedInts(i16s, i64s, r) })
	comparePair(types.Int4, types.Int2, func(r relation) Kernel { return compareMixedInts(i32s, i16s, r) })
	comparePair(types.Int4, types.Int8, func(r relation) Kernel { return compareMixedInts(i32s, i64s, r) })
	comparePair(types.Int8, types.Int2, func(r relation) Kernel { return compareMixedInts(i64s, i16s, r) })
	comparePair(types.Int8, types.Int4, func(r relation) Kernel { return compareMixedInts(i64s, i32s, r) })
	compareFamily(types.Float4, func(r relation) Kernel { return compareFloats(f32s, r) })
	compareFamily(types.Float8, func(r relation) Kernel { return compareFloats(f64s, r) })
	comparePair(types.Float4, types.Float8, func(r relation) Kernel { return compareMixedFloats(f32s, f64s, r) })
	comparePair(types.Float8, types.Float4, func(r relation) Kernel { return compareMixedFloats(f64s, f32s, r) })
	// xid has equality only.
	for _, rel := range []relation{relEQ, relNE} {
		RegisterFunctions(op(relationSymbols[rel], types.Bool, compareInts(u32s, rel), types.Xid, types.Xid))
	}
}
