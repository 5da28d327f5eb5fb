package functions

import (
	"fmt"
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// clock makes a function without arguments that gives one time for all rows.
func clock(f func(c *Ctx) int64) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		now := f(c)
		precision := int32(-1)
		if len(args) > 0 && !args[0].IsNull(0) {
			precision = args[0].I32[0]
			if precision < 0 {
				return pgerr.New(pgerr.InvalidParameterValue, "precision must not be negative")
			}
		}
		now = types.RoundMicros(now, min(precision, 6))
		for i := range out.I64[:n] {
			out.I64[i] = now
		}
		return nil
	}
}

func transactionTime(c *Ctx) int64 { return c.Now }

func localNow(c *Ctx) int64 { return newZoneCache(c.Zone).local(c.Now) }

func clockTime(c *Ctx) int64 {
	if c.Clock == nil {
		return c.Now
	}
	return c.Clock()
}

func currentDate(c *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	d := tsToDate(localNow(c))
	for i := range out.I32[:n] {
		out.I32[i] = d
	}
	return nil
}

func currentTime(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	us := timeOfDay(localNow(c))
	if len(args) > 0 {
		us = types.RoundTime(us, min(6, args[0].I32[0]))
	}
	west := -int32(newZoneCache(c.Zone).offset(c.Now) / microsPerSecond)
	for i := 0; i < n; i++ {
		addTimeTZ(out, us, west)
		endRow(out)
	}
	return nil
}

// stampDay is civilDay with the error of make_timestamp, which repeats the year as given.
func stampDay(year, month, day int) (int64, error) {
	d, err := civilDay(year, month, day)
	if err != nil && year < 0 && (month < 1 || month > 12 || day < 1 || day > types.DaysInMonth(year+1, month)) {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", year, month, day)
	}
	return d, err
}

// civilDay checks a date; year 0 does not exist, negative ones are BC.
func civilDay(year, month, day int) (int64, error) {
	y := year
	if y < 0 {
		y++
	}
	if year == 0 || month < 1 || month > 12 || day < 1 || day > types.DaysInMonth(y, month) {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", y, month, day)
	}
	d := types.DaysFromCivil(y, month, day)
	if d < minDay || d > maxDay {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range: %d-%02d-%02d", year, month, day)
	}
	return d, nil
}

func clockMicros(hour, minute int, sec float64) (int64, error) {
	bad := math.IsNaN(sec) || hour < 0 || minute < 0 || minute > 59 || sec < 0 || sec > 60 || hour > 24
	if bad || hour == 24 && (minute > 0 || sec > 0) {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%s", hour, minute, fmt.Sprintf("%02.6g", sec))
	}
	return int64(hour)*microsPerHour + int64(minute)*microsPerMinute + int64(math.RoundToEven(sec*microsPerSecond)), nil
}

func makeDate(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		d, err := civilDay(int4(args[0], i), int4(args[1], i), int4(args[2], i))
		if err != nil {
			return err
		}
		out.I32[i] = int32(d)
	}
	return nil
}

func makeTime(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I64[:n] {
		if !live(out, i) {
			continue
		}
		us, err := clockMicros(int4(args[0], i), int4(args[1], i), args[2].F64[i&args[2].Mask()])
		if err != nil {
			return err
		}
		out.I64[i] = us
	}
	return nil
}

// makeTimestamp also makes instants: in the session's zone or that of a seventh argument.
func makeTimestamp(instant bool) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		z := newZoneCache(nil)
		if instant {
			z = newZoneCache(c.Zone)
		}
		for i := range out.I64[:n] {
			if !live(out, i) {
				continue
			}
			day, err := stampDay(int4(args[0], i), int4(args[1], i), int4(args[2], i))
			if err != nil {
				return err
			}
			us, err := clockMicros(int4(args[3], i), int4(args[4], i), args[5].F64[i&args[5].Mask()])
			if err != nil {
				return err
			}
			if len(args) == 7 {
				if z, err = givenZone(str(args[6], i)); err != nil {
					return err
				}
			}
			local, ok := joinDay(day, us)
			if ok {
				local, ok = z.instant(local)
			}
			if !ok {
				return pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range: %d-%02d-%02d %d:%02d:%s", int4(args[0], i), int4(args[1], i),
					int4(args[2], i), int4(args[3], i), int4(args[4], i), fmt.Sprintf("%02.6g", args[5].F64[i&args[5].Mask()]))
			}
			out.I64[i] = local
		}
		return nil
	}
}

// givenZone reads the zone of make_timestamptz: an offset counts east of UTC, as in
// a timestamp, not west, as in the name of a zone.
func givenZone(name string) (*zoneCache, error) {
	if name == "" || name[0] != '+' && name[0] != '-' {
		if name != "" && '0' <= name[0] && name[0] <= '9' {
			return nil, pgerr.New(pgerr.InvalidParameterValue, "invalid input syntax for type %s: \"%s\"", "numeric time zone", name).
				WithHint("Numeric time zones must have \"-\" or \"+\" as first character.")
		}
		return namedZone(name)
	}
	_, east, err := types.ParseTimeTZ([]byte("00:00"+name), nil, -1)
	if err != nil {
		return namedZone(name)
	}
	z := types.FixedOffsetZone(int(east))
	return &zoneCache{named: &z}, nil
}

// makeInterval takes years, months, weeks, days, hours, minutes, seconds, all optional.
func makeInterval(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.F16[:n] {
		if !live(out, i) {
			continue
		}
		var p [6]int64
		for k := range p {
			if k < len(args) {
				p[k] = int64(int4(args[k], i))
			}
		}
		sec := 0.0
		if len(args) == 7 {
			sec = math.RoundToEven(args[6].F64[i&args[6].Mask()] * microsPerSecond)
		}
		months, days := p[0]*12+p[1], p[2]*7+p[3]
		micros := p[4]*microsPerHour + p[5]*microsPerMinute
		if int64(int32(months)) != months || int64(int32(days)) != days || !(math.Abs(sec) < 9e18) || !(math.Abs(float64(micros)+sec) < 9.2e18) {
			return outOfRange(types.Interval)
		}
		out.F16[i] = types.IntervalValue{Micros: micros + int64(sec), Days: int32(days), Months: int32(months)}.Encode()
	}
	return nil
}

// toTimestamp reads seconds since 1970.
func toTimestamp(sec float64) (int64, error) {
	switch {
	case math.IsNaN(sec):
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp cannot be NaN")
	case math.IsInf(sec, 1):
		return tsInfinity, nil
	case math.IsInf(sec, -1):
		return tsMinus, nil
	}
	const since1970 = 946684800 // rounding counts from 2000, as PostgreSQL's timestamps do
	us := math.RoundToEven((sec - since1970) * microsPerSecond)
	if !(us >= minTimestamp-since1970*microsPerSecond && us < math.MaxInt64-since1970*microsPerSecond) {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", fmt.Sprintf("%.6g", sec))
	}
	return int64(us) + since1970*microsPerSecond, nil
}

// civilParts is a local time by fields, for age.
type civilParts struct{ year, month, day, rest int64 }

func partsOf(us int64) civilParts {
	day, rest := splitDay(us)
	y, m, d := types.CivilFromDays(day)
	return civilParts{int64(y), int64(m), int64(d), rest}
}

// age is the difference by calendar fields: years, months, days, time.
func age(a, b int64) ([16]byte, error) {
	if !finiteTS(a) || !finiteTS(b) {
		return [16]byte{}, errTimestamp()
	}
	sign := int64(1)
	if a < b {
		a, b, sign = b, a, -1
	}
	x, y := partsOf(a), partsOf(b)
	months := (x.year-y.year)*12 + x.month - y.month
	days, rest := x.day-y.day, x.rest-y.rest
	if rest < 0 {
		rest += microsPerDay
		days--
	}
	if days < 0 {
		// The length of the earlier time's month.
		days += int64(types.DaysInMonth(int(y.year), int(y.month)))
		months--
	}
	return types.IntervalValue{Months: int32(sign * months), Days: int32(sign * days), Micros: sign * rest}.Encode(), nil
}

func ageTZ(z *zoneCache, a, b int64) ([16]byte, error) { return age(z.local(a), z.local(b)) }

// ageToday counts from the start of today.
func ageToday(instant bool) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		today := floorDiv(localNow(c), microsPerDay) * microsPerDay
		z := newZoneCache(nil)
		if instant {
			z = newZoneCache(c.Zone)
		}
		return try1(i64s, f16s, func(us int64) ([16]byte, error) { return age(today, z.local(us)) })(c, out, args, n)
	}
}

func init() {
	ts, tz, i4, f8 := types.Timestamp, types.TimestampTZ, types.Int4, types.Float8
	RegisterFunctions(
		fn("now", tz, clock(transactionTime)).stable().doc("Start of the transaction."),
		fn("transaction_timestamp", tz, clock(transactionTime)).stable().doc("Start of the transaction."),
		fn("statement_timestamp", tz, clock(func(c *Ctx) int64 { return c.StatementTime })).stable().doc("Start of the statement."),
		fn("clock_timestamp", tz, clock(clockTime)).volatile().doc("The time now."),
		fn("current_timestamp", tz, clock(transactionTime)).stable().doc("Start of the transaction."),
		fn("current_timestamp", tz, clock(transactionTime), i4).stable().fails().doc("Start of the transaction, to a number of decimals."),
		fn("localtimestamp", ts, clock(localNow)).stable().doc("Start of the transaction, local time."),
		fn("localtimestamp", ts, clock(localNow), i4).stable().fails().doc("Start of the transaction, local time, to a number of decimals."),
		fn("localtime", types.Time, clock(func(c *Ctx) int64 { return timeOfDay(localNow(c)) })).stable().doc("Time of day at the start of the transaction."),
		fn("localtime", types.Time, clock(func(c *Ctx) int64 { return timeOfDay(localNow(c)) }), i4).stable().fails().doc("Time of day at the start of the transaction."),
		fn("current_date", types.Date, currentDate).stable().doc("Date at the start of the transaction."),
		fn("current_time", types.TimeTZ, currentTime).stable().doc("Time of day and zone at the start of the transaction."),
		fn("current_time", types.TimeTZ, currentTime, i4).stable().doc("Time of day and zone at the start of the transaction."),
		fn("make_date", types.Date, makeDate, i4, i4, i4).named("year", "month", "day").fails().doc("Date of year, month and day."),
		fn("make_time", types.Time, makeTime, i4, i4, f8).named("hour", "min", "sec").fails().doc("Time of day of hour, minute and second."),
		fn("make_timestamp", ts, makeTimestamp(false), i4, i4, i4, i4, i4, f8).named("year", "month", "mday", "hour", "min", "sec").fails().doc("Timestamp of its fields."),
		fn("make_timestamptz", tz, makeTimestamp(true), i4, i4, i4, i4, i4, f8).named("year", "month", "mday", "hour", "min", "sec").fails().stable().doc("Instant of its fields in the session's zone."),
		fn("make_timestamptz", tz, makeTimestamp(true), i4, i4, i4, i4, i4, f8, types.Text).named("year", "month", "mday", "hour", "min", "sec", "timezone").fails().stable().doc("Instant of its fields in a zone."),
		fn("to_timestamp", tz, try1(f64s, i64s, toTimestamp), f8).fails().doc("Instant of seconds since 1970."),
		fn("age", types.Interval, try2(i64s, i64s, f16s, age), ts, ts).fails().doc("Difference in years, months, days and time."),
		fn("age", types.Interval, zoned2(i64s, i64s, f16s, ageTZ), tz, tz).fails().stable().doc("Difference in years, months, days and time."),
		fn("age", types.Interval, ageToday(false), ts).fails().stable().doc("Difference from the start of today."),
		fn("age", types.Interval, ageToday(true), tz).fails().stable().doc("Difference from the start of today."),
	)
	iv := fn("make_interval", types.Interval, makeInterval, i4, i4, i4, i4, i4, i4, f8)
	iv.Defaults = 7
	iv.ArgNames = []string{"years", "months", "weeks", "days", "hours", "mins", "secs"}
	iv.DefaultText = []string{"0", "0", "0", "0", "0", "0", "0"}
	RegisterFunctions(iv.fails().doc("Interval of its fields."))
}
