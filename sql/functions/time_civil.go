package functions

import (
	"math"
	"time"

	"tsdb/sql/types"
)

// Units of time in microseconds.
const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
)

// Infinite timestamps and dates.
const (
	tsInfinity   = math.MaxInt64
	tsMinus      = math.MinInt64
	dateInfinity = math.MaxInt32
	dateMinus    = math.MinInt32
)

// Bounds of finite values: PostgreSQL's first day, and the last that each form
// can hold.
const (
	minDay       = -2440588   // 4714-11-24 BC
	maxDay       = 2145042905 // 5874897-12-31
	minTimestamp = minDay * microsPerDay
)

func finiteTS(us int64) bool  { return us != tsInfinity && us != tsMinus }
func finiteDate(d int32) bool { return d != dateInfinity && d != dateMinus }
func validTS(us int64) bool   { return us >= minTimestamp && us != tsInfinity }
func errTimestamp() error     { return outOfRange(types.Timestamp) }
func floorDiv(a, b int64) int64 { // b > 0
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// splitDay returns the day and the microseconds within it.
func splitDay(us int64) (day, rest int64) {
	day = floorDiv(us, microsPerDay)
	return day, us - day*microsPerDay
}

// joinDay puts day and time together; ok is false beyond the range of timestamps.
func joinDay(day, rest int64) (int64, bool) {
	if day < minDay || day > math.MaxInt64/microsPerDay {
		return 0, false
	}
	us := day * microsPerDay
	if us > math.MaxInt64-rest {
		return 0, false
	}
	us += rest
	return us, validTS(us)
}

// addMonths moves a day by months, to the last day of a shorter month.
func addMonths(day int64, months int64) int64 {
	y, m, d := types.CivilFromDays(day)
	total := int64(y)*12 + int64(m-1) + months
	year := floorDiv(total, 12)
	month := int(total-year*12) + 1
	return types.DaysFromCivil(int(year), month, min(d, types.DaysInMonth(int(year), month)))
}

// zoneCache answers offsets of one zone quickly for times near each other.
type zoneCache struct {
	loc    *time.Location
	lo, hi int64       // the offset holds in lo <= t < hi
	off    int64       // microseconds east
	named  *types.Zone // instead of loc: a zone whose offsets are not kept
}

func newZoneCache(loc *time.Location) *zoneCache {
	z := &zoneCache{loc: loc}
	if loc == nil || loc == time.UTC {
		z.lo, z.hi = math.MinInt64, math.MaxInt64
	}
	return z
}

// offset returns the microseconds east of UTC at an instant.
func (z *zoneCache) offset(us int64) int64 {
	if us >= z.lo && us < z.hi {
		return z.off
	}
	if z.named != nil {
		z.off = z.named.Offset(us) * microsPerSecond
		return z.off
	}
	t := time.Unix(floorDiv(us, microsPerSecond), 0).In(z.loc)
	_, off := t.Zone()
	z.off = int64(off) * microsPerSecond
	z.lo, z.hi = math.MinInt64, math.MaxInt64
	start, end := t.ZoneBounds()
	if !start.IsZero() && start.Unix() > math.MinInt64/microsPerSecond {
		z.lo = start.Unix() * microsPerSecond
	}
	if !end.IsZero() && end.Unix() < math.MaxInt64/microsPerSecond {
		z.hi = end.Unix() * microsPerSecond
	}
	return z.off
}

// local returns local time as if it were UTC; infinities stay.
func (z *zoneCache) local(us int64) int64 {
	if !finiteTS(us) {
		return us
	}
	return us + z.offset(us)
}

// instant turns local time into an instant; ok is false beyond the range.
func (z *zoneCache) instant(local int64) (int64, bool) {
	if !finiteTS(local) {
		return local, true
	}
	us := local - z.off
	if z.named != nil {
		us = local - z.named.LocalOffset(local)*microsPerSecond
	} else if !(z.lo < z.hi && us-microsPerDay >= z.lo && us+microsPerDay < z.hi && us > math.MinInt64+microsPerDay) {
		us = local - types.LocalOffset(z.loc, local)*microsPerSecond
	}
	if local < 0 && us > 0 && z.off > 0 || !validTS(us) {
		return 0, false
	}
	return us, true
}

// shiftLocal adds an interval to local time: months, then days, then time. sign is 1 or -1.
func shiftLocal(us int64, iv types.IntervalValue, sign int64) (int64, error) {
	if !finiteTS(us) {
		return us, nil
	}
	day, rest := splitDay(us)
	if iv.Months != 0 {
		day = addMonths(day, sign*int64(iv.Months))
	}
	us, ok := joinDay(day+sign*int64(iv.Days), rest)
	if !ok {
		return 0, errTimestamp()
	}
	return addMicros(us, sign, iv.Micros)
}

func addMicros(us, sign, micros int64) (int64, error) {
	if sign < 0 {
		if micros == math.MinInt64 {
			return 0, errTimestamp()
		}
		micros = -micros
	}
	r := us + micros
	if (r > us) != (micros > 0) && micros != 0 || !validTS(r) {
		return 0, errTimestamp()
	}
	return r, nil
}

// shiftTZ is shiftLocal for an instant: months and days move the local date.
func (z *zoneCache) shiftTZ(us int64, iv types.IntervalValue, sign int64) (int64, error) {
	if !finiteTS(us) {
		return us, nil
	}
	var ok bool
	for _, step := range []types.IntervalValue{{Months: iv.Months}, {Days: iv.Days}} {
		if step.Months == 0 && step.Days == 0 {
			continue
		}
		local, err := shiftLocal(z.local(us), step, sign)
		if err != nil {
			return 0, err
		}
		if us, ok = z.instant(local); !ok {
			return 0, errTimestamp()
		}
	}
	return addMicros(us, sign, iv.Micros)
}

// dateToTS returns midnight of a date; ok is false beyond the range of timestamps.
func dateToTS(d int32) (int64, bool) {
	switch d {
	case dateInfinity:
		return tsInfinity, true
	case dateMinus:
		return tsMinus, true
	}
	return joinDay(int64(d), 0)
}

func tsToDate(us int64) int32 {
	switch us {
	case tsInfinity:
		return dateInfinity
	case tsMinus:
		return dateMinus
	}
	return int32(floorDiv(us, microsPerDay))
}
