package types

import (
	"time"

	"tsdb/sql/pgerr"
)

func errTimestamp() error {
	return pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range")
}

func errDate() error { return pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range") }

func checkTimestamp(us int64, ok bool) (int64, error) {
	if !ok {
		return 0, errTimestamp()
	}
	return us, nil
}

// shiftMonths moves a local time by months, keeping to the month's last day
// where the day does not exist.
func (c *civilTime) shiftMonths(months int32) {
	m := int64(c.year)*12 + int64(c.month-1) + int64(months)
	y := floorDiv(m, 12)
	c.year, c.month = int(y), int(m-y*12)+1
	c.day = min(c.day, DaysInMonth(c.year, c.month))
}

// AddInterval returns us + v for a timestamp without time zone: months first
// (a day that the month lacks becomes its last day), then days, then time.
//
// Errors: 22008.
func AddInterval(us int64, v IntervalValue) (int64, error) {
	if isInfinite(us) {
		return us, nil
	}
	ok := true
	if v.Months != 0 {
		c := civilOf(us)
		c.shiftMonths(v.Months)
		if us, ok = c.micros(); !ok {
			return 0, errTimestamp()
		}
	}
	if v.Days != 0 {
		days, rest := splitMicros(us)
		if us, ok = combine(days+int64(v.Days), rest); !ok {
			return 0, errTimestamp()
		}
	}
	sum, ok := add64(us, v.Micros)
	return checkTimestamp(sum, ok && validTimestamp(sum))
}

// AddIntervalZone returns us + v for a timestamp with time zone: months and
// days move the local time of loc, the time part the instant.
//
// Errors: 22008.
func AddIntervalZone(us int64, v IntervalValue, loc *time.Location) (int64, error) {
	if isInfinite(us) {
		return us, nil
	}
	if !isUTC(loc) && (v.Months != 0 || v.Days != 0) {
		for _, step := range [...]IntervalValue{{Months: v.Months}, {Days: v.Days}} {
			if step == (IntervalValue{}) {
				continue
			}
			local, ok := addOffset(us, offsetAt(loc, us))
			if !ok {
				return 0, errTimestamp()
			}
			local, err := AddInterval(local, step)
			if err != nil {
				return 0, err
			}
			if us, ok = addOffset(local, -LocalOffset(loc, local)); !ok {
				return 0, errTimestamp()
			}
		}
		v.Months, v.Days = 0, 0
	}
	return AddInterval(us, v)
}

// SubTimestamps returns a - b in days and time.
//
// Errors: 22008.
func SubTimestamps(a, b int64) (IntervalValue, error) {
	if isInfinite(a) || isInfinite(b) {
		return IntervalValue{}, pgerr.New(pgerr.DatetimeFieldOverflow, "cannot subtract infinite timestamps")
	}
	d := a - b
	if (a < 0) != (b < 0) && (d < 0) != (a < 0) {
		return IntervalValue{}, errInterval()
	}
	return IntervalValue{Micros: d}.JustifyHours()
}

// Age returns a - b in years, months, days and time, both local times.
//
// Errors: 22008.
func Age(a, b int64) (IntervalValue, error) {
	if isInfinite(a) || isInfinite(b) {
		return IntervalValue{}, errTimestamp()
	}
	return ageOf(a, b, a < b), nil
}

// AgeZone is Age of two instants by their local times in loc.
//
// Errors: 22008.
func AgeZone(a, b int64, loc *time.Location) (IntervalValue, error) {
	if isInfinite(a) || isInfinite(b) {
		return IntervalValue{}, errTimestamp()
	}
	la, ok1 := addOffset(a, offsetAt(loc, a))
	lb, ok2 := addOffset(b, offsetAt(loc, b))
	if !ok1 || !ok2 {
		return IntervalValue{}, errTimestamp()
	}
	return ageOf(la, lb, a < b), nil
}

func ageOf(la, lb int64, negative bool) IntervalValue {
	x, y := civilOf(la), civilOf(lb)
	month := DaysInMonth(y.year, y.month)
	if negative {
		x, y = y, x
		month = DaysInMonth(y.year, y.month)
	}
	us := x.timeMicros() - y.timeMicros()
	days := x.day - y.day
	months := (x.year-y.year)*12 + x.month - y.month
	for us < 0 {
		us += usecPerDay
		days--
	}
	for days < 0 {
		days += month
		months--
	}
	v := IntervalValue{us, int32(days), int32(months)}
	if negative {
		v = IntervalValue{-us, int32(-days), int32(-months)}
	}
	return v
}

// AddDays returns d + n days.
//
// Errors: 22008.
func AddDays(d int32, n int64) (int32, error) {
	if d == DateInfinity || d == DateNegInfinity {
		return d, nil
	}
	s := int64(d) + n
	if n > 1<<32 || n < -1<<32 || s < int64(MinDate) || s > int64(MaxDate) {
		return 0, errDate()
	}
	return int32(s), nil
}

// SubDates returns a - b in days.
//
// Errors: 22008.
func SubDates(a, b int32) (int32, error) {
	if a == DateInfinity || a == DateNegInfinity || b == DateInfinity || b == DateNegInfinity {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
	}
	return a - b, nil
}

// DateToTimestamp returns the midnight that begins d.
//
// Errors: 22008.
func DateToTimestamp(d int32) (int64, error) {
	switch d {
	case DateInfinity:
		return TimestampInfinity, nil
	case DateNegInfinity:
		return TimestampNegInfinity, nil
	}
	us, ok := combine(int64(d), 0)
	if !ok {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	return us, nil
}

// DateToTimestampZone returns the instant of midnight in loc that begins d.
//
// Errors: 22008.
func DateToTimestampZone(d int32, loc *time.Location) (int64, error) {
	us, err := DateToTimestamp(d)
	if err != nil || isInfinite(us) {
		return us, err
	}
	us, ok := addOffset(us, -LocalOffset(loc, us))
	if !ok {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	return us, nil
}

// TimestampToDate returns the day of a timestamp.
func TimestampToDate(us int64) int32 {
	switch us {
	case TimestampInfinity:
		return DateInfinity
	case TimestampNegInfinity:
		return DateNegInfinity
	}
	return int32(floorDiv(us, usecPerDay))
}

// ToLocal returns the local time in z of an instant: timestamptz AT TIME ZONE,
// or the cast to timestamp with the session's zone.
//
// Errors: 22008.
func ToLocal(us int64, z Zone) (int64, error) {
	if isInfinite(us) {
		return us, nil
	}
	return checkTimestamp(addOffset(us, z.Offset(us)))
}

// FromLocal returns the instant of a local time in z: timestamp AT TIME ZONE,
// or the cast to timestamptz with the session's zone.
//
// Errors: 22008.
func FromLocal(local int64, z Zone) (int64, error) {
	if isInfinite(local) {
		return local, nil
	}
	return checkTimestamp(addOffset(local, -z.LocalOffset(local)))
}

// DateBin returns the start of the stride that us lies in, counted from origin.
//
// Errors: 22008, 0A000 for a stride with months.
func DateBin(stride IntervalValue, us, origin int64) (int64, error) {
	if isInfinite(us) {
		return us, nil
	}
	if isInfinite(origin) {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "origin out of range")
	}
	width, err := BinWidth(stride)
	if err != nil {
		return 0, err
	}
	diff := us - origin
	if (us < 0) != (origin < 0) && (diff < 0) != (us < 0) {
		return 0, errInterval()
	}
	rest := diff % width
	if rest < 0 {
		rest += width
	}
	return checkTimestamp(us-rest, validTimestamp(us-rest) && us-rest <= us)
}

// BinWidth returns the microseconds of date_bin's stride.
//
// Errors: as DateBin.
func BinWidth(stride IntervalValue) (int64, error) {
	if stride.Months != 0 {
		return 0, pgerr.New(pgerr.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	if stride.Days > 106_751_991 || stride.Days < -106_751_991 {
		return 0, errInterval()
	}
	width, ok := add64(int64(stride.Days)*usecPerDay, stride.Micros)
	if !ok {
		return 0, errInterval()
	}
	if width <= 0 {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "stride must be greater than zero")
	}
	return width, nil
}
