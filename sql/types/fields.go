package types

import (
	"math"
	"strings"
	"time"

	"tsdb/sql/pgerr"
)

// Field is a unit of date_trunc or a field of extract. The zero value is an
// unknown one.
type Field struct {
	unit unit
	name string // as given, in lower case, for messages
}

// ParseField finds a field by its name in any case; it is never refused here:
// only with a type is it known what is legal.
func ParseField(name string) Field {
	lower := strings.ToLower(name)
	word := lower
	if len(word) > wordMax {
		word = word[:wordMax]
	}
	u, ok := unitWords[word]
	if !ok {
		u = fieldWords[word]
	}
	if u == unitAgo {
		u = unitNone
	}
	return Field{u, lower}
}

// refuse is the error of a field that is unknown or does not apply to a type.
func (f Field) refuse(oid OID) error {
	if f.unit == unitNone {
		return pgerr.New(pgerr.InvalidParameterValue, "unit \"%s\" not recognized for type %s", f.name, FormatType(T(oid)))
	}
	return pgerr.New(pgerr.FeatureNotSupported, "unit \"%s\" not supported for type %s", f.name, FormatType(T(oid)))
}

// refuseTrunc is refuse for date_trunc, which does not know extract's words.
func (f Field) refuseTrunc(oid OID) error {
	switch f.unit {
	case unitEpoch, unitDow, unitIsoDow, unitDoy, unitIsoYear, unitJulian:
		f.unit = unitNone
	}
	return f.refuse(oid)
}

// FieldValue is an extracted field; Decimal and Float64 give its value.
type FieldValue struct {
	Int   int64
	Scale int
	Inf   int  // ±1: ±Infinity
	Null  bool // a field that infinite values do not have
	// seconds are added to an interval's epoch, which may exceed Int.
	seconds int64
	// fraction of a Julian day, in microseconds of the day.
	fraction int64
	julian   bool
	// clock: Float64 adds whole seconds and their fraction as floats.
	clock bool
}

// Decimal sets n to the value, as extract returns it. Not for NULL.
func (v FieldValue) Decimal(n *Decimal) {
	if v.Inf != 0 {
		n.SetInf(v.Inf)
		return
	}
	n.SetScaled(v.Int, v.Scale)
	if v.seconds != 0 {
		var whole Decimal
		whole.SetInt64(v.seconds)
		_ = n.Add(n, &whole)
	}
	if v.julian {
		var part, day Decimal
		part.SetInt64(v.fraction)
		day.SetInt64(usecPerDay)
		// Neither can fail: the divisor is not zero and the numbers are small.
		_ = part.Div(&part, &day)
		_ = n.Add(n, &part)
	}
}

// Float64 returns the value as date_part does. Not for NULL.
func (v FieldValue) Float64() float64 {
	switch {
	case v.Inf != 0:
		return math.Inf(v.Inf)
	case v.julian:
		return float64(v.Int) + float64(v.fraction)/usecPerDay
	case v.Scale == 0:
		return float64(v.Int)
	case v.Scale == 3:
		return float64(v.Int/usecPerSec)*1e3 + float64(v.Int%usecPerSec)/1e3
	case v.clock:
		return float64(v.Int/usecPerSec) + float64(v.Int%usecPerSec)/1e6
	}
	return float64(v.Int)/1e6 + float64(v.seconds)
}

func intField(v int) (FieldValue, error) { return FieldValue{Int: int64(v)}, nil }

// infinite answers for ±infinity: fields that grow without bound are
// infinite, those that repeat are NULL.
func (f Field) infinite(sign int, oid OID) (FieldValue, error) {
	switch f.unit {
	case unitYear, unitDecade, unitCentury, unitMillennium, unitJulian, unitIsoYear, unitEpoch:
		return FieldValue{Inf: sign}, nil
	case unitNone:
		return FieldValue{}, f.refuse(oid)
	}
	return FieldValue{Null: true}, nil
}

func signOf(us int64) int {
	if us < 0 {
		return -1
	}
	return 1
}

// OfTimestamp returns the field of a timestamp without time zone.
//
// Errors: 22023, 0A000.
func (f Field) OfTimestamp(us int64) (FieldValue, error) {
	if isInfinite(us) {
		return f.infinite(signOf(us), Timestamp)
	}
	if f.unit == unitEpoch {
		return FieldValue{Int: us, Scale: 6}, nil
	}
	c := civilOf(us)
	if v, ok := f.ofClock(&c); ok {
		return v, nil
	}
	return f.ofDate(&c, Timestamp)
}

// OfTimestampZone returns the field of an instant, by its local time in loc.
//
// Errors: 22023, 0A000.
func (f Field) OfTimestampZone(us int64, loc *time.Location) (FieldValue, error) {
	if isInfinite(us) {
		return f.infinite(signOf(us), TimestampTZ)
	}
	if f.unit == unitEpoch {
		return FieldValue{Int: us, Scale: 6}, nil
	}
	off := offsetAt(loc, us)
	if v, ok := f.ofZone(int(off)); ok {
		return v, nil
	}
	local, ok := addOffset(us, off)
	if !ok {
		return FieldValue{}, errTimestamp()
	}
	c := civilOf(local)
	if v, ok := f.ofClock(&c); ok {
		return v, nil
	}
	return f.ofDate(&c, TimestampTZ)
}

// OfDate returns the field of a date.
//
// Errors: 22023, 0A000.
func (f Field) OfDate(d int32) (FieldValue, error) {
	var c civilTime
	switch f.unit {
	case unitMicrosecond, unitMillisecond, unitSecond, unitMinute, unitHour, unitTZ, unitTZHour, unitTZMinute:
		return FieldValue{}, f.refuse(Date)
	}
	switch {
	case d == DateInfinity:
		return f.infinite(1, Date)
	case d == DateNegInfinity:
		return f.infinite(-1, Date)
	case f.unit == unitEpoch:
		return FieldValue{Int: int64(d) * secPerDay}, nil
	}
	c.year, c.month, c.day = CivilFromDays(int64(d))
	v, err := f.ofDate(&c, Date)
	v.julian = false
	return v, err
}

// OfTime returns the field of a time of day.
//
// Errors: 22023, 0A000.
func (f Field) OfTime(us int64) (FieldValue, error) {
	if f.unit == unitEpoch {
		return FieldValue{Int: us, Scale: 6}, nil
	}
	var c civilTime
	c.setTime(us)
	if v, ok := f.ofClock(&c); ok {
		return v, nil
	}
	return FieldValue{}, f.refuse(Time)
}

// OfTimeTZ returns the field of a time of day with its zone in seconds east.
//
// Errors: 22023, 0A000.
func (f Field) OfTimeTZ(us int64, east int32) (FieldValue, error) {
	if f.unit == unitEpoch {
		return FieldValue{Int: us - int64(east)*usecPerSec, Scale: 6}, nil
	}
	if v, ok := f.ofZone(int(east)); ok {
		return v, nil
	}
	var c civilTime
	c.setTime(us)
	if v, ok := f.ofClock(&c); ok {
		return v, nil
	}
	return FieldValue{}, f.refuse(TimeTZ)
}

func (f Field) ofZone(east int) (FieldValue, bool) {
	switch f.unit {
	case unitTZ:
		return FieldValue{Int: int64(east)}, true
	case unitTZHour:
		return FieldValue{Int: int64(east / 3600)}, true
	case unitTZMinute:
		return FieldValue{Int: int64(east / 60 % 60)}, true
	}
	return FieldValue{}, false
}

func (f Field) ofClock(c *civilTime) (v FieldValue, ok bool) {
	us := int64(c.sec)*usecPerSec + int64(c.usec)
	switch f.unit {
	case unitMicrosecond:
		return FieldValue{Int: us}, true
	case unitMillisecond:
		return FieldValue{Int: us, Scale: 3}, true
	case unitSecond:
		return FieldValue{Int: us, Scale: 6, clock: true}, true
	case unitMinute:
		v.Int = int64(c.min)
	case unitHour:
		v.Int = int64(c.hour)
	default:
		return v, false
	}
	return v, true
}

// eraUnit divides a year into periods of n years, the first being years 1..n.
func eraUnit(year, n int) int {
	if year > 0 {
		return (year + n - 1) / n
	}
	return -((n - 1 - (year - 1)) / n)
}

func decade(year int) int { return int(floorDiv(int64(year), 10)) }

func (f Field) ofDate(c *civilTime, oid OID) (FieldValue, error) {
	days := DaysFromCivil(c.year, c.month, c.day)
	switch f.unit {
	case unitDay:
		return intField(c.day)
	case unitMonth:
		return intField(c.month)
	case unitQuarter:
		return intField((c.month-1)/3 + 1)
	case unitWeek:
		_, w := isoWeek(days)
		return intField(w)
	case unitYear:
		return intField(withoutYearZero(c.year))
	case unitIsoYear:
		y, _ := isoWeek(days)
		return intField(withoutYearZero(y))
	case unitDecade:
		return intField(decade(c.year))
	case unitCentury:
		return intField(eraUnit(c.year, 100))
	case unitMillennium:
		return intField(eraUnit(c.year, 1000))
	case unitJulian:
		return FieldValue{Int: days + 2_440_588, fraction: c.timeMicros(), julian: true}, nil
	case unitDow:
		return intField(weekday(days))
	case unitIsoDow:
		return intField((weekday(days)+6)%7 + 1)
	case unitDoy:
		return intField(int(days-DaysFromCivil(c.year, 1, 1)) + 1)
	}
	return FieldValue{}, f.refuse(oid)
}

// withoutYearZero turns year 0 into -1: 1 BC.
func withoutYearZero(y int) int {
	if y <= 0 {
		return y - 1
	}
	return y
}

// isoWeek returns the ISO 8601 year and week of a day: weeks begin on Monday
// and belong to the year of their Thursday.
func isoWeek(days int64) (year, week int) {
	thursday := days - int64((weekday(days)+6)%7) + 3
	year, _, _ = CivilFromDays(thursday)
	return year, int(thursday-DaysFromCivil(year, 1, 1))/7 + 1
}

// OfInterval returns the field of an interval.
//
// Errors: 22023, 0A000.
func (f Field) OfInterval(v IntervalValue) (FieldValue, error) {
	p := v.fields()
	us := p.sec*usecPerSec + p.usec
	switch f.unit {
	case unitMicrosecond:
		return FieldValue{Int: us}, nil
	case unitMillisecond:
		return FieldValue{Int: us, Scale: 3}, nil
	case unitSecond:
		return FieldValue{Int: us, Scale: 6, clock: true}, nil
	case unitMinute:
		return FieldValue{Int: p.min}, nil
	case unitHour:
		return FieldValue{Int: p.hour}, nil
	case unitDay:
		return FieldValue{Int: p.day}, nil
	case unitMonth:
		return FieldValue{Int: p.mon}, nil
	case unitQuarter:
		return FieldValue{Int: p.mon/3 + 1}, nil
	case unitYear:
		return FieldValue{Int: p.year}, nil
	case unitDecade:
		return FieldValue{Int: p.year / 10}, nil
	case unitCentury:
		return FieldValue{Int: p.year / 100}, nil
	case unitMillennium:
		return FieldValue{Int: p.year / 1000}, nil
	case unitEpoch:
		// A year counts 365.25 days here, a month 30.
		secs := (1461*p.year + 120*p.mon + 4*p.day) * (secPerDay / 4)
		return FieldValue{Int: v.Micros, Scale: 6, seconds: secs}, nil
	}
	return FieldValue{}, f.refuse(Interval)
}

// truncCivil sets the fields below the unit to their first values; day
// reports that the unit is a day or longer.
func (f Field) truncCivil(c *civilTime) (day, ok bool) {
	switch f.unit {
	case unitMicrosecond:
		return false, true
	case unitMillisecond:
		c.usec = c.usec / 1000 * 1000
		return false, true
	case unitSecond:
		c.usec = 0
		return false, true
	case unitMinute:
		c.usec, c.sec = 0, 0
		return false, true
	case unitHour:
		c.usec, c.sec, c.min = 0, 0, 0
		return false, true
	case unitWeek:
		days := DaysFromCivil(c.year, c.month, c.day)
		c.year, c.month, c.day = CivilFromDays(days - int64((weekday(days)+6)%7))
	case unitDay:
	case unitMonth:
		c.day = 1
	case unitQuarter:
		c.month, c.day = (c.month-1)/3*3+1, 1
	case unitYear:
		c.month, c.day = 1, 1
	case unitDecade:
		c.year, c.month, c.day = decade(c.year)*10, 1, 1
	case unitCentury:
		c.year, c.month, c.day = eraStart(c.year, 100), 1, 1
	case unitMillennium:
		c.year, c.month, c.day = eraStart(c.year, 1000), 1, 1
	default:
		return false, false
	}
	c.hour, c.min, c.sec, c.usec = 0, 0, 0, 0
	return true, true
}

// eraStart is the first year of the century or millennium, year 0 being 1 BC.
func eraStart(year, n int) int {
	if year > 0 {
		return (year+n-1)/n*n - (n - 1)
	}
	return -((n-1-(year-1))/n)*n + 1
}

// Trunc is date_trunc of a timestamp without time zone.
//
// Errors: 22023, 0A000, 22008.
func (f Field) Trunc(us int64) (int64, error) {
	if isInfinite(us) {
		return us, nil
	}
	switch f.unit {
	case unitSecond:
		return us - floorMod(us, usecPerSec), nil
	case unitMinute:
		return us - floorMod(us, usecPerMin), nil
	case unitHour:
		return us - floorMod(us, usecPerHour), nil
	case unitDay:
		return us - floorMod(us, usecPerDay), nil
	}
	c := civilOf(us)
	if _, ok := f.truncCivil(&c); !ok {
		return 0, f.refuseTrunc(Timestamp)
	}
	return checkTimestamp(c.micros())
}

func floorMod(n, d int64) int64 { return n - floorDiv(n, d)*d }

// TruncZone is date_trunc of an instant by its local time in z.
//
// Errors: 22023, 0A000, 22008.
func (f Field) TruncZone(us int64, z Zone) (int64, error) {
	if isInfinite(us) {
		return us, nil
	}
	off := z.Offset(us)
	local, ok := addOffset(us, off)
	if !ok {
		return 0, errTimestamp()
	}
	c := civilOf(local)
	day, ok := f.truncCivil(&c)
	if !ok {
		return 0, f.refuseTrunc(TimestampTZ)
	}
	if local, ok = c.micros(); !ok {
		return 0, errTimestamp()
	}
	if day {
		off = z.LocalOffset(local)
	}
	return checkTimestamp(addOffset(local, -off))
}

// TruncInterval is date_trunc of an interval.
//
// Errors: 22023, 0A000.
func (f Field) TruncInterval(v IntervalValue) (IntervalValue, error) {
	months := int32(0)
	switch f.unit {
	case unitMicrosecond:
		return v, nil
	case unitMillisecond:
		v.Micros -= v.Micros % 1000
		return v, nil
	case unitSecond:
		v.Micros -= v.Micros % usecPerSec
		return v, nil
	case unitMinute:
		v.Micros -= v.Micros % usecPerMin
		return v, nil
	case unitHour:
		v.Micros -= v.Micros % usecPerHour
		return v, nil
	case unitDay:
		v.Micros = 0
		return v, nil
	case unitMonth:
		months = 1
	case unitQuarter:
		months = 3
	case unitYear:
		months = 12
	case unitDecade:
		months = 120
	case unitCentury:
		months = 1_200
	case unitMillennium:
		months = 12_000
	case unitWeek:
		err := pgerr.New(pgerr.FeatureNotSupported, "unit \"%s\" not supported for type %s", f.name, FormatType(T(Interval)))
		return v, err.WithDetail("Months usually have fractional weeks.")
	default:
		return v, f.refuseTrunc(Interval)
	}
	return IntervalValue{Months: v.Months / months * months}, nil
}
