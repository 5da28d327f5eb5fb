package functions

import (
	"encoding/binary"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// zoned makes a kernel that needs the session's zone, once per call.
func zoned[A, R any](a access[A], r access[R], f func(z *zoneCache, x A) (R, error)) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		z := newZoneCache(c.Zone)
		return try1(a, r, func(x A) (R, error) { return f(z, x) })(c, out, args, n)
	}
}

// zoned2 is zoned with two arguments.
func zoned2[A, B, R any](a access[A], b access[B], r access[R], f func(z *zoneCache, x A, y B) (R, error)) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		z := newZoneCache(c.Zone)
		return try2(a, b, r, func(x A, y B) (R, error) { return f(z, x, y) })(c, out, args, n)
	}
}

// flip exchanges the arguments of a binary row function.
func flip[A, B, R any](f func(A, B) (R, error)) func(B, A) (R, error) {
	return func(b B, a A) (R, error) { return f(a, b) }
}

func tsPlus(us int64, iv [16]byte) (int64, error) { return shiftLocal(us, types.DecodeInterval(iv), 1) }
func tsMinusIv(us int64, iv [16]byte) (int64, error) {
	return shiftLocal(us, types.DecodeInterval(iv), -1)
}

func tzPlus(z *zoneCache, us int64, iv [16]byte) (int64, error) {
	return z.shiftTZ(us, types.DecodeInterval(iv), 1)
}

func tzMinus(z *zoneCache, us int64, iv [16]byte) (int64, error) {
	return z.shiftTZ(us, types.DecodeInterval(iv), -1)
}

func datePlusIv(d int32, iv [16]byte) (int64, error) {
	us, ok := dateToTS(d)
	if !ok {
		return 0, errDateForTimestamp()
	}
	return tsPlus(us, iv)
}

func dateMinusIv(d int32, iv [16]byte) (int64, error) {
	us, ok := dateToTS(d)
	if !ok {
		return 0, errDateForTimestamp()
	}
	return tsMinusIv(us, iv)
}

func errDateForTimestamp() error {
	return pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range for timestamp")
}

// moveDate adds days to a date.
func moveDate(d int32, days int64) (int32, error) {
	if !finiteDate(d) {
		return d, nil
	}
	r := int64(d) + days
	if r < minDay || r > maxDay {
		return 0, outOfRange(types.Date)
	}
	return int32(r), nil
}

func datePlus(d, days int32) (int32, error)     { return moveDate(d, int64(days)) }
func dateMinusInt(d, days int32) (int32, error) { return moveDate(d, -int64(days)) }

func dateDiff(a, b int32) (int32, error) {
	if !finiteDate(a) || !finiteDate(b) {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
	}
	return a - b, nil
}

func datePlusTime(d int32, t int64) (int64, error) {
	us, ok := dateToTS(d)
	if !ok {
		return 0, errDateForTimestamp()
	}
	if !finiteTS(us) {
		return us, nil
	}
	return addMicros(us, 1, t)
}

// tsDiff is the difference in days and time.
func tsDiff(a, b int64) ([16]byte, error) {
	if !finiteTS(a) || !finiteTS(b) {
		return [16]byte{}, pgerr.New(pgerr.DatetimeFieldOverflow, "cannot subtract infinite timestamps")
	}
	d := a - b
	if (d > 0) != (a > b) && a != b {
		return [16]byte{}, outOfRange(types.Interval)
	}
	v, err := types.IntervalValue{Micros: d}.JustifyHours()
	return v.Encode(), err
}

// wrapTime keeps a time of day within a day.
func wrapTime(us int64) int64 { return us - floorDiv(us, microsPerDay)*microsPerDay }

func timePlus(t int64, iv [16]byte) (int64, error) {
	return wrapTime(t + types.DecodeInterval(iv).Micros%microsPerDay), nil
}

func timeMinus(t int64, iv [16]byte) (int64, error) {
	return wrapTime(t - types.DecodeInterval(iv).Micros%microsPerDay), nil
}

func timeDiff(a, b int64) ([16]byte, error) {
	return types.IntervalValue{Micros: a - b}.Encode(), nil
}

func ivOp(f func(a, b types.IntervalValue) (types.IntervalValue, error)) func(a, b [16]byte) ([16]byte, error) {
	return func(a, b [16]byte) ([16]byte, error) {
		v, err := f(types.DecodeInterval(a), types.DecodeInterval(b))
		return v.Encode(), err
	}
}

func ivMap(f func(v types.IntervalValue) (types.IntervalValue, error)) Kernel {
	return try1(f16s, f16s, func(a [16]byte) ([16]byte, error) {
		v, err := f(types.DecodeInterval(a))
		return v.Encode(), err
	})
}

func ivTimes(a [16]byte, f float64) ([16]byte, error) {
	v, err := types.DecodeInterval(a).Mul(f)
	return v.Encode(), err
}

func ivOver(a [16]byte, f float64) ([16]byte, error) {
	v, err := types.DecodeInterval(a).Div(f)
	return v.Encode(), err
}

// timeTZParts splits a time with zone into local microseconds and seconds west of UTC.
func timeTZParts(b []byte) (us int64, west int32) {
	return int64(binary.BigEndian.Uint64(b)), int32(binary.BigEndian.Uint32(b[8:]))
}

func addTimeTZ(out *vector.Vector, us int64, west int32) {
	out.Data = binary.BigEndian.AppendUint64(out.Data, uint64(us))
	out.Data = binary.BigEndian.AppendUint32(out.Data, uint32(west))
}

// shiftTimeTZ adds or subtracts an interval's time of day.
func shiftTimeTZ(sign int64, tz, iv int) Kernel {
	return textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
		us, west := timeTZParts(args[tz].Bytes(i))
		by := types.DecodeInterval(args[iv].F16[i&args[iv].Mask()]).Micros % microsPerDay
		addTimeTZ(out, wrapTime(us+sign*by), west)
		return nil
	})
}

// dateAtTimeTZ is date + time with zone: an instant.
func dateAtTimeTZ(d, tz int) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := range out.I64[:n] {
			if !live(out, i) {
				continue
			}
			us, west := timeTZParts(args[tz].Bytes(i))
			r, err := datePlusTime(args[d].I32[i&args[d].Mask()], us)
			if err == nil && finiteTS(r) {
				r, err = addMicros(r, 1, int64(west)*microsPerSecond)
			}
			if err != nil {
				return err
			}
			out.I64[i] = r
		}
		return nil
	}
}

func init() {
	d, tm, ttz, ts, tz, iv := types.Date, types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ, types.Interval
	may := func(symbol string, ret types.OID, k Kernel, args ...types.OID) {
		RegisterFunctions(op(symbol, ret, k, args...).fails())
	}
	zone := func(symbol string, ret types.OID, k Kernel, args ...types.OID) {
		RegisterFunctions(op(symbol, ret, k, args...).fails().stable())
	}
	may("+", ts, try2(i64s, f16s, i64s, tsPlus), ts, iv)
	may("+", ts, try2(f16s, i64s, i64s, flip(tsPlus)), iv, ts)
	may("-", ts, try2(i64s, f16s, i64s, tsMinusIv), ts, iv)
	may("-", iv, try2(i64s, i64s, f16s, tsDiff), ts, ts)
	may("-", iv, try2(i64s, i64s, f16s, tsDiff), tz, tz)
	zone("+", tz, zoned2(i64s, f16s, i64s, tzPlus), tz, iv)
	zone("+", tz, zoned2(f16s, i64s, i64s, func(z *zoneCache, a [16]byte, b int64) (int64, error) { return tzPlus(z, b, a) }), iv, tz)
	zone("-", tz, zoned2(i64s, f16s, i64s, tzMinus), tz, iv)
	may("+", d, try2(i32s, i32s, i32s, datePlus), d, types.Int4)
	may("+", d, try2(i32s, i32s, i32s, flip(datePlus)), types.Int4, d)
	may("-", d, try2(i32s, i32s, i32s, dateMinusInt), d, types.Int4)
	may("-", types.Int4, try2(i32s, i32s, i32s, dateDiff), d, d)
	may("+", ts, try2(i32s, f16s, i64s, datePlusIv), d, iv)
	may("+", ts, try2(f16s, i32s, i64s, flip(datePlusIv)), iv, d)
	may("-", ts, try2(i32s, f16s, i64s, dateMinusIv), d, iv)
	may("+", ts, try2(i32s, i64s, i64s, datePlusTime), d, tm)
	may("+", ts, try2(i64s, i32s, i64s, flip(datePlusTime)), tm, d)
	may("+", tz, dateAtTimeTZ(0, 1), d, ttz)
	may("+", tz, dateAtTimeTZ(1, 0), ttz, d)
	RegisterFunctions(
		op("+", tm, try2(i64s, f16s, i64s, timePlus), tm, iv),
		op("+", tm, try2(f16s, i64s, i64s, flip(timePlus)), iv, tm),
		op("-", tm, try2(i64s, f16s, i64s, timeMinus), tm, iv),
		op("-", iv, try2(i64s, i64s, f16s, timeDiff), tm, tm),
		op("+", ttz, shiftTimeTZ(1, 0, 1), ttz, iv),
		op("+", ttz, shiftTimeTZ(1, 1, 0), iv, ttz),
		op("-", ttz, shiftTimeTZ(-1, 0, 1), ttz, iv),
	)
	may("+", iv, try2(f16s, f16s, f16s, ivOp(types.IntervalValue.Add)), iv, iv)
	may("-", iv, try2(f16s, f16s, f16s, ivOp(types.IntervalValue.Sub)), iv, iv)
	may("-", iv, ivMap(types.IntervalValue.Neg), iv)
	may("*", iv, try2(f16s, f64s, f16s, ivTimes), iv, types.Float8)
	may("*", iv, try2(f64s, f16s, f16s, flip(ivTimes)), types.Float8, iv)
	may("/", iv, try2(f16s, f64s, f16s, ivOver), iv, types.Float8)
	RegisterFunctions(
		fn("justify_hours", iv, ivMap(types.IntervalValue.JustifyHours), iv).fails().doc("24-hour periods turned into days."),
		fn("justify_days", iv, ivMap(types.IntervalValue.JustifyDays), iv).fails().doc("30-day periods turned into months."),
		fn("justify_interval", iv, ivMap(types.IntervalValue.JustifyInterval), iv).fails().doc("Both, and all parts with one sign."),
		fn("isfinite", types.Bool, bool1(i64s, finiteTS), ts).doc("Whether the time is finite."),
		fn("isfinite", types.Bool, bool1(i64s, finiteTS), tz).doc("Whether the time is finite."),
		fn("isfinite", types.Bool, bool1(i32s, finiteDate), d).doc("Whether the date is finite."),
		fn("isfinite", types.Bool, bool1(f16s, func([16]byte) bool { return true }), iv).doc("Whether the interval is finite: always."),
	)
}
