package types

import "tsdb/sql/pgerr"

var defaultContext = Context{ExtraFloatDigits: 1}

// orDefault returns c, or the default settings for nil.
func orDefault(c *Context) *Context {
	if c == nil {
		return &defaultContext
	}
	return c
}

// error turns a refusal into what the user sees.
func (d *dateDecoder) error(e dateError, typ string, s []byte) error {
	switch e {
	case fieldOverflow:
		return pgerr.New(pgerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", s)
	case mdOverflow:
		return pgerr.New(pgerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", s).
			WithHint("Perhaps you need a different \"datestyle\" setting.")
	case zoneOverflow:
		return pgerr.New(pgerr.InvalidTimeZone, "time zone displacement out of range: \"%s\"", s)
	case unknownZone:
		return errZone(d.badZone)
	}
	return pgerr.New(pgerr.InvalidDatetimeFormat, "invalid input syntax for type %s: \"%s\"", typ, s)
}

func outOfRange(typ string, s []byte) error {
	return pgerr.New(pgerr.DatetimeFieldOverflow, "%s out of range: \"%s\"", typ, s)
}

// two reads two decimal digits; more than 99 means that they are not digits.
func two(s []byte) int {
	a, b := s[0]-'0', s[1]-'0'
	if a > 9 || b > 9 {
		return 1000
	}
	return int(a)*10 + int(b)
}

// isoDate reads a leading YYYY-MM-DD, the common form.
func isoDate(s []byte) (days int64, ok bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	hi, lo, m, d := two(s), two(s[2:]), two(s[5:]), two(s[8:])
	y := hi*100 + lo
	if hi > 99 || lo > 99 || y == 0 || m < 1 || m > 12 || d < 1 || d > 28 && (d > 31 || d > DaysInMonth(y, m)) {
		return 0, false
	}
	return DaysFromCivil(y, m, d), true
}

// isoTime reads a leading HH:MM:SS[.f{1,6}] and returns what follows.
func isoTime(s []byte) (us int64, rest []byte, ok bool) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return 0, nil, false
	}
	h, m, sec := two(s), two(s[3:]), two(s[6:])
	if h > 23 || m > 59 || sec > 59 {
		return 0, nil, false
	}
	us = (int64(h)*60+int64(m))*usecPerMin + int64(sec)*usecPerSec
	s = s[8:]
	if len(s) > 1 && s[0] == '.' {
		scale := int64(100_000)
		i := 1
		for ; i < len(s) && isDigit(s[i]); i++ {
			if scale == 0 {
				return 0, nil, false
			}
			us += int64(s[i]-'0') * scale
			scale /= 10
		}
		s = s[i:]
	}
	return us, s, true
}

// isoZone reads all of s as Z, +HH, +HHMM or +HH:MM; zone is false for an empty s.
func isoZone(s []byte) (east int64, zone, ok bool) {
	switch len(s) {
	case 0:
		return 0, false, true
	case 1:
		return 0, true, s[0] == 'Z' || s[0] == 'z'
	case 3, 5, 6:
	default:
		return 0, false, false
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false, false
	}
	h, m := two(s[1:]), 0
	if len(s) == 5 {
		m = two(s[3:])
	} else if len(s) == 6 {
		if s[3] != ':' {
			return 0, false, false
		}
		m = two(s[4:])
	}
	if h > maxZoneHours || m > 59 {
		return 0, false, false
	}
	east = int64(h*3600 + m*60)
	if s[0] == '-' {
		east = -east
	}
	return east, true, true
}

// isoTimestamp reads YYYY-MM-DD, optionally followed by a time and a zone.
func isoTimestamp(s []byte) (local, east int64, zone, ok bool) {
	days, ok := isoDate(s)
	if !ok {
		return 0, 0, false, false
	}
	local = days * usecPerDay
	if len(s) == 10 {
		return local, 0, false, true
	}
	if s[10] != ' ' && s[10] != 'T' {
		return 0, 0, false, false
	}
	t, rest, ok := isoTime(s[11:])
	if !ok {
		return 0, 0, false, false
	}
	east, zone, ok = isoZone(rest)
	return local + t, east, zone, ok
}

// ParseTimestamp reads a timestamp without time zone; a zone in s is ignored.
// mod is the precision or -1. The ISO form allocates nothing.
//
// Errors: 22007, 22008, 22009, 22023.
func ParseTimestamp(s []byte, c *Context, mod int32) (int64, error) {
	if local, _, _, ok := isoTimestamp(s); ok {
		return RoundMicros(local, mod), nil
	}
	return parseTimestampSlow(s, orDefault(c), mod, false)
}

// ParseTimestampTZ reads a timestamp with time zone; without a zone in s it is
// local time in c.Zone.
//
// Errors: as ParseTimestamp.
func ParseTimestampTZ(s []byte, c *Context, mod int32) (int64, error) {
	if local, east, zone, ok := isoTimestamp(s); ok {
		if !zone && c != nil {
			east = LocalOffset(c.Zone, local)
		}
		return RoundMicros(local-east*usecPerSec, mod), nil
	}
	return parseTimestampSlow(s, orDefault(c), mod, true)
}

func parseTimestampSlow(s []byte, c *Context, mod int32, withZone bool) (int64, error) {
	typ := "timestamp"
	if withZone {
		typ = "timestamp with time zone"
	}
	var d dateDecoder
	if e := d.decode(s, c, false); e != dateOK {
		return 0, d.error(e, typ, s)
	}
	switch d.result {
	case isEpoch:
		return 0, nil
	case isLate:
		return TimestampInfinity, nil
	case isEarly:
		return TimestampNegInfinity, nil
	}
	us, ok := d.c.micros()
	if withZone && validJulian(d.c.year, d.c.month) {
		// The bound applies to the instant, not to the local time.
		us, ok = d.c.unbounded()
		if ok {
			us, ok = addOffset(us, -d.localOffset(us))
		}
	}
	if !ok {
		return 0, outOfRange("timestamp", s)
	}
	return RoundMicros(us, mod), nil
}

// unbounded is micros without the check of the lower bound.
func (c *civilTime) unbounded() (int64, bool) {
	days := DaysFromCivil(c.year, c.month, c.day)
	if days > 106_751_991 {
		return 0, false
	}
	us := days*usecPerDay + c.timeMicros()
	return us, us > 0 || days < 106_751_990
}

// pow10micros[p] is the unit of precision p in microseconds.
var precisionUnit = [7]int64{1_000_000, 100_000, 10_000, 1_000, 100, 10, 1}

// RoundMicros rounds a timestamp or time to a precision of 0 to 6 decimals,
// half away from zero counted from 2000 as PostgreSQL does; -1 changes nothing.
func RoundMicros(us int64, precision int32) int64 {
	if precision < 0 || precision >= 6 || isInfinite(us) {
		return us
	}
	unit := precisionUnit[precision]
	t := us - pgEpochMicros
	if t >= 0 {
		t = (t + unit/2) / unit * unit
	} else {
		t = -((-t + unit/2) / unit * unit)
	}
	return t + pgEpochMicros
}

// RoundTime rounds a time of day, up to 24:00, to a precision of fractional digits.
func RoundTime(us int64, precision int32) int64 {
	if precision < 0 || precision >= 6 {
		return us
	}
	unit := precisionUnit[precision]
	return (us + unit/2) / unit * unit
}

// ParseDate reads a date as days since 1970. The ISO form allocates nothing.
//
// Errors: 22007, 22008.
func ParseDate(s []byte, c *Context) (int32, error) {
	if len(s) == 10 {
		if days, ok := isoDate(s); ok {
			return int32(days), nil
		}
	}
	var d dateDecoder
	if e := d.decode(s, orDefault(c), false); e != dateOK {
		return 0, d.error(e, "date", s)
	}
	switch d.result {
	case isEpoch:
		return 0, nil
	case isLate:
		return DateInfinity, nil
	case isEarly:
		return DateNegInfinity, nil
	}
	if !validJulian(d.c.year, d.c.month) {
		return 0, outOfRange("date", s)
	}
	days := DaysFromCivil(d.c.year, d.c.month, d.c.day)
	if days < int64(MinDate) || days > int64(MaxDate) {
		return 0, outOfRange("date", s)
	}
	return int32(days), nil
}

// ParseTime reads a time of day in microseconds.
//
// Errors: as ParseTimestamp.
func ParseTime(s []byte, c *Context, mod int32) (int64, error) {
	if us, rest, ok := isoTime(s); ok && len(rest) == 0 {
		return RoundTime(us, mod), nil
	}
	var d dateDecoder
	if e := d.decode(s, orDefault(c), true); e != dateOK {
		return 0, d.error(e, "time", s)
	}
	return RoundTime(d.c.timeMicros(), mod), nil
}

// ParseTimeTZ reads a time of day and its zone in seconds east of UTC. Without
// a zone in s it is c.Zone's offset of today, or of the date in s.
//
// Errors: as ParseTimestamp.
func ParseTimeTZ(s []byte, c *Context, mod int32) (us int64, east int32, err error) {
	c = orDefault(c)
	var d dateDecoder
	if e := d.decode(s, c, true); e != dateOK {
		return 0, 0, d.error(e, "time with time zone", s)
	}
	us = d.c.timeMicros()
	full := d.c
	if d.mask&mDate != mDate {
		today := civilOf(c.Now + offsetAt(c.Zone, c.Now)*usecPerSec)
		full.year, full.month, full.day = today.year, today.month, today.day
	}
	local, _ := full.unbounded()
	return RoundTime(us, mod), int32(d.localOffset(local)), nil
}
