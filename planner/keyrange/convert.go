package keyrange

import (
	"math"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/types"
)

const microsPerDay = 86_400_000_000

func isInteger(oid types.OID) bool {
	return oid == types.Int2 || oid == types.Int4 || oid == types.Int8
}

// integer returns a one-row vector of an integer kind as int64.
func integer(v *vector.Vector) int64 {
	switch v.Kind {
	case vector.Int16:
		return int64(v.I16[0])
	case vector.Int32:
		return int64(v.I32[0])
	}
	return v.I64[0]
}

// integerVector returns x as a one-row vector of an integer type that holds it.
func integerVector(t types.OID, x int64) *vector.Vector {
	v := vector.New(types.T(t).Kind(), 1)
	switch v.Kind {
	case vector.Int16:
		v.AppendInt16(int16(x))
	case vector.Int32:
		v.AppendInt32(int32(x))
	default:
		v.AppendInt64(x)
	}
	return v
}

func integerRange(t types.OID) (lo, hi int64) {
	switch t {
	case types.Int2:
		return math.MinInt16, math.MaxInt16
	case types.Int4, types.Date:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// integerBounds returns the values of an integer type for which `value op x` is true.
func integerBounds(op string, t types.Type, x int64) []interval {
	lo, hi := integerRange(t.OID)
	if x >= lo && x <= hi {
		return intervals(op, integerVector(t.OID, x))
	}
	below := x < lo // then every value of t is above x
	if op == "=" || below == (op == "<" || op == "<=") {
		return nil
	}
	return []interval{{}}
}

// dateBounds returns the dates for which `date op timestamp` is true.
func dateBounds(op string, micros int64) ([]interval, bool) {
	if micros == math.MaxInt64 || micros == math.MinInt64 {
		return nil, false
	}
	floor := micros / microsPerDay
	if micros%microsPerDay < 0 {
		floor--
	}
	exact := floor*microsPerDay == micros
	day := integerVector(types.Date, floor)
	if exact {
		return intervals(op, day), true
	}
	switch op {
	case "=":
		return nil, true
	case "<", "<=":
		return intervals("<=", day), true
	}
	return intervals(">", day), true
}

// castComparison derives from `column::type op constant` where the cast keeps the order.
func (d *deriver) castComparison(op string, cast *scalar.Cast, k *scalar.Const) domains {
	col, ok := d.column(cast.Arg)
	if !ok {
		return nil
	}
	if k.Value.IsNull(0) {
		return d.one(col)
	}
	from, to := d.table.Columns[col].Type, cast.Typ
	switch {
	case cast.Kernel == nil && sameStorage(from.OID, to.OID) && sameStorage(from.OID, k.Typ.OID):
		return d.one(col, intervals(op, k.Value)...)
	case isInteger(from.OID) && isInteger(to.OID) && isInteger(k.Typ.OID) && from.Kind().Width() <= to.Kind().Width():
		return d.one(col, integerBounds(op, from, integer(k.Value))...)
	case from.OID == types.Date && to.OID == types.Timestamp && k.Typ.OID == types.Timestamp:
		if ivs, ok := dateBounds(op, k.Value.I64[0]); ok {
			return d.one(col, ivs...)
		}
	case (from.OID == types.Timestamp || from.OID == types.TimestampTZ) && to.OID == types.Date && k.Typ.OID == types.Date:
		if ivs, ok := d.dayBounds(op, from.OID, k.Value.I32[0]); ok {
			return d.one(col, ivs...)
		}
	case from.OID == types.Timestamp && to.OID == types.TimestampTZ || from.OID == types.TimestampTZ && to.OID == types.Timestamp:
		// The order of the two differs around a change of daylight saving time.
		return nil
	}
	return nil
}

// dayBounds returns the instants whose date compares with day as op says.
func (d *deriver) dayBounds(op string, t types.OID, day int32) ([]interval, bool) {
	if day >= math.MaxInt32-1 || day <= math.MinInt32+1 {
		return nil, false
	}
	start, ok := d.converted(integerVector(types.Date, int64(day)), types.Date, t)
	if !ok {
		return nil, false
	}
	next, ok := d.converted(integerVector(types.Date, int64(day)+1), types.Date, t)
	if !ok {
		return nil, false
	}
	switch op {
	case "=":
		return []interval{{lo: start, hi: next, hiOpen: true}}, true
	case "<":
		return []interval{{hi: start, hiOpen: true}}, true
	case "<=":
		return []interval{{hi: next, hiOpen: true}}, true
	case ">":
		return []interval{{lo: next}}, true
	}
	return []interval{{lo: start}}, true
}

// truncated derives a lower bound from `date_trunc(unit, column) >= constant` and
// its like: the functions never return a later time than their argument.
func (d *deriver) truncated(op string, left scalar.Expr, k *scalar.Const) domains {
	call, ok := left.(*scalar.Call)
	if !ok || op == "<" || op == "<=" || k.Value.IsNull(0) {
		return nil
	}
	switch call.Fn.Name {
	case "date_bin":
	case "date_trunc", "time_bucket":
		// In civil time an hour that occurs twice may be truncated to its second
		// occurrence.
		if k.Typ.OID == types.TimestampTZ {
			return nil
		}
	default:
		return nil
	}
	if len(call.Args) < 2 {
		return nil
	}
	col, ok := d.column(call.Args[1])
	if !ok || d.table.Columns[col].Type.OID != k.Typ.OID || call.Typ.OID != k.Typ.OID {
		return nil
	}
	if op == "=" {
		op = ">="
	}
	return d.one(col, intervals(op, k.Value)...)
}
