package keyrange

import (
	"math"
	"time"

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
		if ivs, ok := d.aroundZone(op, from, k, from.OID); ok && k.Typ.OID == to.OID {
			return d.one(col, ivs...)
		}
	}
	return nil
}

// zoneMargin is how far civil time and instants can be apart in order: an hour
// that daylight saving time repeats or skips, or the day that a zone skipped
// when it moved across the date line, in microseconds.
const zoneMargin = 25 * 3600 * 1e6

// aroundZone returns values of the column type t (a date, timestamp or
// timestamptz) for which `value op k` can be true when the comparison passes
// through the session's time zone: k, converted to via, is the bound. In UTC
// the bound is exact; elsewhere it moves outwards by zoneMargin, because the
// orders of civil time and of instants differ around a change of the offset.
func (d *deriver) aroundZone(op string, t types.Type, k *scalar.Const, via types.OID) ([]interval, bool) {
	v, ok := d.converted(k.Value, k.Typ.OID, via)
	if !ok {
		return nil, false
	}
	at := v.I64[0]
	if at >= math.MaxInt64-zoneMargin || at <= math.MinInt64+zoneMargin {
		return nil, false
	}
	if z := d.ctx.Zone; z == nil || z == time.UTC || z.String() == "UTC" {
		if t.OID == types.Date {
			return dateBounds(op, at)
		}
		return intervals(op, v), true
	}
	bound := func(op string, at int64) ([]interval, bool) {
		if t.OID == types.Date {
			return dateBounds(op, at)
		}
		return intervals(op, integerVector(via, at)), true
	}
	switch op {
	case "<", "<=":
		return bound("<=", at+zoneMargin)
	case ">", ">=":
		return bound(">=", at-zoneMargin)
	}
	hi, ok1 := bound("<=", at+zoneMargin)
	lo, ok2 := bound(">=", at-zoneMargin)
	if !ok1 || !ok2 || len(hi) != 1 || len(lo) != 1 {
		return nil, false
	}
	return []interval{{lo: lo[0].lo, loOpen: lo[0].loOpen, hi: hi[0].hi, hiOpen: hi[0].hiOpen}}, true
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
