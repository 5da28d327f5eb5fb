package functions

import (
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// field is the value of one time field: an integer, a scaled decimal, or special.
type field struct {
	v     int64
	scale int
	inf   int  // ±1: infinity
	null  bool // field of an infinite time that has no meaning
	exact *decimal
	real  float64 // exact as date_part sums it up, if that may differ
}

// fieldOf extracts a field; ok is false if the type has no such field.
type fieldOf func(u timeUnit, v *vector.Vector, i int, z *zoneCache) (f field, ok bool, err error)

// extractKernel makes extract(), which is numeric, and date_part(), which is float8.
func extractKernel(typ types.OID, get fieldOf, numeric bool) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		z := newZoneCache(nil)
		if typ == types.TimestampTZ {
			z = newZoneCache(c.Zone)
		}
		var d decimal
		var u timeUnit
		for i := 0; i < n; i++ {
			if !live(out, i) {
				if numeric {
					endRow(out)
				}
				continue
			}
			if i == 0 || !args[0].Const || u == unitNone {
				u = parseUnit(args[0].Bytes(i))
			}
			f, ok, err := get(u, args[1], i&args[1].Mask(), z)
			if err != nil {
				return err
			}
			if !ok {
				return errUnit(args[0].Bytes(i), u != unitNone, typ)
			}
			if f.null {
				setNull(out, i, n)
			}
			if numeric {
				putField(out, &d, f)
			} else {
				out.F64[i] = f.float()
			}
		}
		return nil
	}
}

func putField(out *vector.Vector, d *decimal, f field) {
	switch {
	case f.inf != 0:
		d.SetInf(f.inf)
	case f.exact != nil:
		d.Set(f.exact)
	default:
		d.SetScaled(f.v, f.scale)
	}
	out.Data = d.AppendStored(out.Data)
	endRow(out)
}

func (f field) float() float64 {
	switch {
	case f.inf != 0:
		return math.Inf(f.inf)
	case f.exact != nil:
		if f.real != 0 {
			return f.real
		}
		x, _ := f.exact.Float64()
		return x
	case f.scale == 0:
		return float64(f.v)
	}
	return float64(f.v) / math.Pow10(f.scale)
}

// clockField extracts from a time of day or the time part of an interval.
func clockField(u timeUnit, us int64) (field, bool) {
	switch u {
	case unitMicrosecond:
		return field{v: us % microsPerMinute}, true
	case unitMillisecond:
		return field{v: us % microsPerMinute, scale: 3}, true
	case unitSecond:
		return field{v: us % microsPerMinute, scale: 6}, true
	case unitMinute:
		return field{v: us / microsPerMinute % 60}, true
	case unitHour:
		return field{v: us / microsPerHour}, true
	}
	return field{}, false
}

func timeField(u timeUnit, v *vector.Vector, i int, _ *zoneCache) (field, bool, error) {
	us := v.I64[i]
	if u == unitEpoch {
		return field{v: us, scale: 6}, true, nil
	}
	f, ok := clockField(u, us)
	return f, ok, nil
}

func timeTZField(u timeUnit, v *vector.Vector, i int, _ *zoneCache) (field, bool, error) {
	us, west := timeTZParts(v.Bytes(i))
	if u == unitEpoch {
		return field{v: us + int64(west)*microsPerSecond, scale: 6}, true, nil
	}
	if f, ok := zoneField(u, -int64(west)); ok {
		return f, true, nil
	}
	f, ok := clockField(u, us)
	return f, ok, nil
}

// zoneField extracts from an offset in seconds east of UTC.
func zoneField(u timeUnit, east int64) (field, bool) {
	switch u {
	case unitZone:
		return field{v: east}, true
	case unitZoneHour:
		return field{v: east / 3600}, true
	case unitZoneMinute:
		return field{v: east / 60 % 60}, true
	}
	return field{}, false
}

// isoWeek returns the ISO year and week of a day.
func isoWeek(day int64) (year, week int64) {
	thursday := truncDay(day, unitWeek) + 3
	y, _, _ := types.CivilFromDays(thursday)
	return int64(y), (thursday-types.DaysFromCivil(y, 1, 1))/7 + 1
}

// noYearZero turns a year of the proleptic count into PostgreSQL's, where 1 BC is -1.
func noYearZero(y int64) int64 {
	if y <= 0 {
		return y - 1
	}
	return y
}

// dayField extracts a field of a day.
func dayField(u timeUnit, day int64) (field, bool) {
	y, m, d := types.CivilFromDays(day)
	year := int64(y)
	ceil := func(span int64) field {
		if year > 0 {
			return field{v: (year + span - 1) / span}
		}
		return field{v: -((span - 1 - (year - 1)) / span)}
	}
	switch u {
	case unitDay:
		return field{v: int64(d)}, true
	case unitMonth:
		return field{v: int64(m)}, true
	case unitQuarter:
		return field{v: int64(m-1)/3 + 1}, true
	case unitWeek:
		_, w := isoWeek(day)
		return field{v: w}, true
	case unitYear:
		return field{v: noYearZero(year)}, true
	case unitIsoYear:
		iso, _ := isoWeek(day)
		return field{v: noYearZero(iso)}, true
	case unitDecade:
		return field{v: floorDiv(year, 10)}, true
	case unitCentury:
		return ceil(100), true
	case unitMillennium:
		return ceil(1000), true
	case unitDow:
		return field{v: day + 4 - 7*floorDiv(day+4, 7)}, true
	case unitIsoDow:
		return field{v: day + 3 - 7*floorDiv(day+3, 7) + 1}, true
	case unitDoy:
		return field{v: day - types.DaysFromCivil(y, 1, 1) + 1}, true
	case unitJulian:
		return field{v: day - minDay}, true
	}
	return field{}, false
}

// infiniteField is what a field of an infinite time is: infinite if the field
// grows without bound, else NULL.
func infiniteField(u timeUnit, positive bool, known bool) (field, bool) {
	f := field{inf: 1}
	if !positive {
		f.inf = -1
	}
	switch u {
	case unitYear, unitDecade, unitCentury, unitMillennium, unitJulian, unitIsoYear, unitEpoch:
		return f, true
	}
	return field{null: true}, known
}

func dateField(u timeUnit, v *vector.Vector, i int, _ *zoneCache) (field, bool, error) {
	day := v.I32[i]
	if !finiteDate(day) {
		_, known := dayField(u, 0)
		f, ok := infiniteField(u, day > 0, known)
		return f, ok, nil
	}
	if u == unitEpoch {
		return field{v: int64(day) * 86400}, true, nil
	}
	f, ok := dayField(u, int64(day))
	return f, ok, nil
}

func timestampField(u timeUnit, v *vector.Vector, i int, z *zoneCache) (field, bool, error) {
	return tsField(u, v.I64[i], z, false)
}

func timestampTZField(u timeUnit, v *vector.Vector, i int, z *zoneCache) (field, bool, error) {
	return tsField(u, v.I64[i], z, true)
}

func tsField(u timeUnit, us int64, z *zoneCache, zoned bool) (field, bool, error) {
	if !finiteTS(us) {
		f, ok := infiniteField(u, us > 0, u != unitNone)
		return f, ok, nil
	}
	if u == unitEpoch {
		return field{v: us, scale: 6}, true, nil
	}
	local := z.local(us)
	if zoned {
		if f, ok := zoneField(u, z.off/microsPerSecond); ok {
			return f, true, nil
		}
	}
	day, rest := splitDay(local)
	if u == unitJulian {
		return julian(day-minDay, rest)
	}
	if f, ok := clockField(u, rest); ok {
		return f, true, nil
	}
	f, ok := dayField(u, day)
	return f, ok, nil
}

// julian is the day number with the time as a fraction, to the digits of a numeric division.
func julian(day, rest int64) (field, bool, error) {
	var whole, part, per decimal
	whole.SetInt64(day)
	part.SetInt64(rest)
	per.SetInt64(microsPerDay)
	if err := part.Div(&part, &per); err != nil {
		return field{}, true, err
	}
	if err := whole.Add(&whole, &part); err != nil {
		return field{}, true, err
	}
	return field{exact: &whole}, true, nil
}

func intervalField(u timeUnit, v *vector.Vector, i int, _ *zoneCache) (field, bool, error) {
	iv := types.DecodeInterval(v.F16[i])
	months := int64(iv.Months)
	switch u {
	case unitDay:
		return field{v: int64(iv.Days)}, true, nil
	case unitMonth:
		return field{v: months % 12}, true, nil
	case unitQuarter:
		return field{v: months%12/3 + 1}, true, nil
	case unitYear:
		return field{v: months / 12}, true, nil
	case unitDecade:
		return field{v: months / 12 / 10}, true, nil
	case unitCentury:
		return field{v: months / 12 / 100}, true, nil
	case unitMillennium:
		return field{v: months / 12 / 1000}, true, nil
	case unitEpoch:
		return intervalEpoch(iv)
	}
	f, ok := clockField(u, iv.Micros)
	return f, ok, nil
}

// intervalEpoch counts a year as 365.25 days and a month as 30.
func intervalEpoch(iv types.IntervalValue) (field, bool, error) {
	months := int64(iv.Months)
	seconds := months/12*(1461*86400/4) + months%12*(30*86400) + int64(iv.Days)*86400
	var a, b decimal
	a.SetScaled(iv.Micros, 6)
	b.SetInt64(seconds)
	if err := a.Add(&a, &b); err != nil {
		return field{}, true, err
	}
	real := float64(iv.Micros) / microsPerSecond
	real += float64(months / 12 * (1461 * 86400 / 4))
	real += float64(months % 12 * (30 * 86400))
	real += float64(iv.Days) * 86400
	return field{exact: &a, real: real}, true, nil
}

func init() {
	for _, t := range []struct {
		typ    types.OID
		get    fieldOf
		stable bool
	}{
		{types.Date, dateField, false}, {types.Time, timeField, false}, {types.TimeTZ, timeTZField, false},
		{types.Timestamp, timestampField, false}, {types.TimestampTZ, timestampTZField, true}, {types.Interval, intervalField, false},
	} {
		e := fn("extract", types.Numeric, extractKernel(t.typ, t.get, true), types.Text, t.typ).fails().doc("A field of a time.")
		p := fn("date_part", types.Float8, extractKernel(t.typ, t.get, false), types.Text, t.typ).fails().doc("A field of a time.")
		if t.typ == types.Date {
			p.Eval = datePartOfDate
		}
		if t.stable {
			e, p = e.stable(), p.stable()
		}
		RegisterFunctions(e, p)
	}
}

// datePartOfDate treats the date as its midnight, so that fields of the time exist.
func datePartOfDate(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	ts := vector.New(vector.Int64, 1)
	src := args[1]
	for i, d := range src.I32[:src.Phys()] {
		us, ok := dateToTS(d)
		if !ok && live(out, i) {
			return errDateForTimestamp()
		}
		ts.AppendInt64(us)
	}
	ts.Const = src.Const
	return extractKernel(types.Timestamp, timestampField, false)(c, out, []*vector.Vector{args[0], ts}, n)
}
