package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

func dateToTimestamp(d int32) (int64, error) {
	us, ok := dateToTS(d)
	if !ok {
		return 0, errDateForTimestamp()
	}
	return us, nil
}

func dateToTimestampTZ(z *zoneCache, d int32) (int64, error) {
	us, err := dateToTimestamp(d)
	if err != nil {
		return 0, err
	}
	us, ok := z.instant(us)
	if !ok {
		return 0, errDateForTimestamp()
	}
	return us, nil
}

func toInstant(z *zoneCache, us int64) (int64, error) {
	us, ok := z.instant(us)
	if !ok {
		return 0, errTimestamp()
	}
	return us, nil
}

func toLocal(z *zoneCache, us int64) (int64, error) { return z.local(us), nil }

func instantToDate(z *zoneCache, us int64) (int32, error) { return tsToDate(z.local(us)), nil }

// timeOfDay gives the time of a timestamp; an infinite one has none.
func timeOfDay(us int64) int64 {
	_, rest := splitDay(us)
	return rest
}

// timeKernel extracts a time of day in a zone; infinite times give NULL.
func timeKernel(local bool) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		z := newZoneCache(nil)
		if local {
			z = newZoneCache(c.Zone)
		}
		x, m := args[0].I64, args[0].Mask()
		for i := range out.I64[:n] {
			if !live(out, i) {
				continue
			}
			if !finiteTS(x[i&m]) {
				setNull(out, i, n)
				continue
			}
			out.I64[i] = timeOfDay(z.local(x[i&m]))
		}
		return nil
	}
}

// instantToTimeTZ gives the local time and zone of an instant.
func instantToTimeTZ(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	z := newZoneCache(c.Zone)
	x, m := args[0].I64, args[0].Mask()
	for i := 0; i < n; i++ {
		switch {
		case !live(out, i):
		case !finiteTS(x[i&m]):
			setNull(out, i, n)
		default:
			addTimeTZ(out, timeOfDay(z.local(x[i&m])), -int32(z.offset(x[i&m])/microsPerSecond))
		}
		endRow(out)
	}
	return nil
}

// timeToTimeTZ attaches the zone in force now.
func timeToTimeTZ(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	west := -int32(newZoneCache(c.Zone).offset(c.Now) / microsPerSecond)
	for i := 0; i < n; i++ {
		if live(out, i) {
			addTimeTZ(out, args[0].I64[i&args[0].Mask()], west)
		}
		endRow(out)
	}
	return nil
}

func timeTZToTime(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I64[:n] {
		if live(out, i) {
			out.I64[i], _ = timeTZParts(args[0].Bytes(i))
		}
	}
	return nil
}

// precise makes a Cast that also rounds to the target's precision.
func precise(from, to types.OID, ctx CastContext, k Kernel) Cast {
	return Cast{From: from, To: to, Context: ctx, CanFail: true, Make: func(mod int32, _ bool) Kernel {
		if mod < 0 || mod >= 6 {
			return k
		}
		return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			x, m := args[0].I64, args[0].Mask()
			round := types.RoundMicros
			if to == types.Time {
				round = types.RoundTime
			}
			if k != nil {
				if err := k(c, out, args, n); err != nil {
					return err
				}
				x, m = out.I64, -1
			}
			for i := range out.I64[:n] {
				if v := x[i&m]; finiteTS(v) {
					out.I64[i] = round(v, mod)
				} else {
					out.I64[i] = v
				}
			}
			return nil
		}
	}}
}

func intervalFit(mod int32, _ bool) Kernel {
	if mod < 0 {
		return nil
	}
	return map1(f16s, f16s, func(b [16]byte) [16]byte { return types.DecodeInterval(b).ApplyMod(mod).Encode() })
}

func timeToInterval(mod int32, _ bool) Kernel {
	return map1(i64s, f16s, func(us int64) [16]byte { return types.IntervalValue{Micros: us}.ApplyMod(mod).Encode() })
}

// timeTZFit rounds the time of day.
func timeTZFit(mod int32, _ bool) Kernel {
	if mod < 0 || mod >= 6 {
		return nil
	}
	return textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
		us, west := timeTZParts(args[0].Bytes(i))
		addTimeTZ(out, types.RoundTime(us, mod), west)
		return nil
	})
}

// compareAcross compares values of two time types as instants or local times.
func compareAcross[A, B any](ga access[A], gb access[B], toA func(*zoneCache, A) int64, toB func(*zoneCache, B) int64) func(relation) Kernel {
	return func(rel relation) Kernel {
		return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			z := newZoneCache(c.Zone)
			x, y := ga(args[0]), gb(args[1])
			ma, mb := args[0].Mask(), args[1].Mask()
			for i := 0; i < n; i++ {
				if live(out, i) {
					out.Bits.Put(i, rel.holds(cmp3(toA(z, x[i&ma]), toB(z, y[i&mb]))))
				}
			}
			return nil
		}
	}
}

// asIs, dayStart, dayInstant and tsInstant bring time types to one scale; a value
// beyond the range of timestamps counts as the last one before infinity.
func asIs(_ *zoneCache, us int64) int64 { return us }

func dayStart(_ *zoneCache, d int32) int64 {
	us, ok := dateToTS(d)
	if !ok {
		return tsInfinity - 1
	}
	return us
}

func dayInstant(z *zoneCache, d int32) int64 { return tsInstant(z, dayStart(z, d)) }

func tsInstant(z *zoneCache, us int64) int64 {
	r, ok := z.instant(us)
	switch {
	case ok:
		return r
	case us > 0:
		return tsInfinity - 1
	}
	return tsMinus + 1
}

func acrossPair(l, r types.OID, stable bool, make func(relation) Kernel) {
	for rel := relEQ; rel <= relGE; rel++ {
		o := op(relationSymbols[rel], types.Bool, make(rel), l, r)
		if stable {
			o = o.stable()
		}
		RegisterFunctions(o)
	}
}

func init() {
	d, tm, ttz, ts, tz, iv := types.Date, types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ, types.Interval
	RegisterCasts(
		precise(d, ts, CastImplicit, try1(i32s, i64s, dateToTimestamp)),
		precise(d, tz, CastImplicit, zoned(i32s, i64s, dateToTimestampTZ)),
		simple(ts, d, CastAssignment, map1(i64s, i32s, tsToDate)),
		precise(ts, tm, CastAssignment, timeKernel(false)),
		precise(ts, ts, CastImplicit, nil),
		precise(ts, tz, CastImplicit, zoned(i64s, i64s, toInstant)),
		simple(tz, d, CastAssignment, zoned(i64s, i32s, instantToDate)),
		precise(tz, tm, CastAssignment, timeKernel(true)),
		precise(tz, ts, CastAssignment, zoned(i64s, i64s, toLocal)),
		precise(tz, tz, CastImplicit, nil),
		simple(tz, ttz, CastAssignment, instantToTimeTZ),
		precise(tm, tm, CastImplicit, nil),
		Cast{From: tm, To: iv, Context: CastImplicit, Make: timeToInterval},
		simple(tm, ttz, CastImplicit, timeToTimeTZ),
		precise(iv, tm, CastAssignment, map1(f16s, i64s, func(b [16]byte) int64 { return wrapTime(types.DecodeInterval(b).Micros) })),
		Cast{From: iv, To: iv, Context: CastImplicit, Make: intervalFit},
		precise(ttz, tm, CastAssignment, timeTZToTime),
		Cast{From: ttz, To: ttz, Context: CastImplicit, Make: timeTZFit},
	)
	acrossPair(d, ts, false, compareAcross(i32s, i64s, dayStart, asIs))
	acrossPair(ts, d, false, compareAcross(i64s, i32s, asIs, dayStart))
	acrossPair(d, tz, true, compareAcross(i32s, i64s, dayInstant, asIs))
	acrossPair(tz, d, true, compareAcross(i64s, i32s, asIs, dayInstant))
	acrossPair(ts, tz, true, compareAcross(i64s, i64s, tsInstant, asIs))
	acrossPair(tz, ts, true, compareAcross(i64s, i64s, asIs, tsInstant))
}
