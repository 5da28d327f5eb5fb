package bind

import (
	"math"

	"bytes"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
)

// sameExpr reports whether two bound expressions are the same computation.
func sameExpr(a, b scalar.Expr) bool {
	if a == b {
		return true
	}
	if a.ResultType() != b.ResultType() {
		return false
	}
	return sameNode(a, b) && sameList(scalar.Children(a), scalar.Children(b))
}

func sameList(a, b []scalar.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameExpr(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sameNode compares two nodes without their operands.
func sameNode(a, b scalar.Expr) bool {
	switch a := a.(type) {
	case *scalar.Column:
		b, ok := b.(*scalar.Column)
		return ok && a.Index == b.Index
	case *scalar.Const:
		b, ok := b.(*scalar.Const)
		return ok && sameVector(a.Value, b.Value)
	case *scalar.Param:
		b, ok := b.(*scalar.Param)
		return ok && a.Number == b.Number
	case *scalar.Slot:
		b, ok := b.(*scalar.Slot)
		return ok && a.Index == b.Index
	case *scalar.Call:
		b, ok := b.(*scalar.Call)
		return ok && a.Fn == b.Fn
	case *scalar.Cast:
		_, ok := b.(*scalar.Cast)
		return ok
	case *scalar.Logic:
		b, ok := b.(*scalar.Logic)
		return ok && a.Or == b.Or
	case *scalar.Not:
		_, ok := b.(*scalar.Not)
		return ok
	case *scalar.IsNull:
		b, ok := b.(*scalar.IsNull)
		return ok && a.Negate == b.Negate
	case *scalar.BoolTest:
		b, ok := b.(*scalar.BoolTest)
		return ok && a.Negate == b.Negate && a.Value == b.Value
	case *scalar.Distinct:
		b, ok := b.(*scalar.Distinct)
		return ok && a.Negate == b.Negate && a.Eq == b.Eq
	case *scalar.Case:
		b, ok := b.(*scalar.Case)
		return ok && len(a.Whens) == len(b.Whens)
	case *scalar.Coalesce:
		_, ok := b.(*scalar.Coalesce)
		return ok
	case *scalar.MinMax:
		b, ok := b.(*scalar.MinMax)
		return ok && a.Greatest == b.Greatest
	case *scalar.InList:
		b, ok := b.(*scalar.InList)
		return ok && a.Negate == b.Negate && a.HasNull == b.HasNull && sameVector(a.List, b.List)
	case *scalar.ArrayCompare:
		b, ok := b.(*scalar.ArrayCompare)
		return ok && a.All == b.All && a.Op == b.Op
	case *aggExpr:
		b, ok := b.(*aggExpr)
		return ok && a.same(b)
	}
	// Subqueries and set-returning calls are the same only as the same node.
	return false
}

// sameVector compares two flat vectors of one kind by value.
func sameVector(a, b *vector.Vector) bool {
	if a == b {
		return true
	}
	if a.Kind != b.Kind || a.N != b.N {
		return false
	}
	for i := 0; i < a.N; i++ {
		if a.IsNull(i) != b.IsNull(i) {
			return false
		}
		if !a.IsNull(i) && !sameValue(a, b, i) {
			return false
		}
	}
	return true
}

func sameValue(a, b *vector.Vector, i int) bool {
	switch a.Kind {
	case vector.Bool:
		return a.Bool(i) == b.Bool(i)
	case vector.Int16:
		return a.I16[i] == b.I16[i]
	case vector.Int32:
		return a.I32[i] == b.I32[i]
	case vector.Int64:
		return a.I64[i] == b.I64[i]
	case vector.Uint32:
		return a.U32[i] == b.U32[i]
	case vector.Float32:
		return math.Float32bits(a.F32[i]) == math.Float32bits(b.F32[i]) // NaN, and 0 is not -0
	case vector.Float64:
		return math.Float64bits(a.F64[i]) == math.Float64bits(b.F64[i])
	case vector.Fixed16:
		return a.F16[i] == b.F16[i]
	}
	return bytes.Equal(a.Bytes(i), b.Bytes(i))
}
