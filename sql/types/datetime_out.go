package types

import "strconv"

// appendYear appends a year with at least four digits; a year BC is appended
// as its number in that era.
func appendYear(dst []byte, year int) []byte {
	if year <= 0 {
		year = 1 - year
	}
	if year > 9999 {
		return strconv.AppendInt(dst, int64(year), 10)
	}
	return appendPad(dst, year, 4)
}

func appendEra(dst []byte, year int) []byte {
	if year <= 0 {
		return append(dst, " BC"...)
	}
	return dst
}

// appendClock appends HH:MM:SS[.ffffff] with trailing zeros of the fraction cut.
func appendClock(dst []byte, c *civilTime) []byte {
	dst = appendPad(dst, c.hour, 2)
	dst = append(dst, ':')
	dst = appendPad(dst, c.min, 2)
	dst = append(dst, ':')
	dst = appendPad(dst, c.sec, 2)
	return appendFraction(dst, c.usec)
}

func appendFraction(dst []byte, usec int) []byte {
	if usec == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := 100_000; usec > 0; unit /= 10 {
		dst = append(dst, byte('0'+usec/unit))
		usec %= unit
	}
	return dst
}

// appendOffset appends seconds east of UTC as +HH[:MM[:SS]].
func appendOffset(dst []byte, east int) []byte {
	sign := byte('+')
	if east < 0 {
		sign, east = '-', -east
	}
	dst = append(dst, sign)
	dst = appendPad(dst, east/3600, 2)
	if east%3600 != 0 {
		dst = append(dst, ':')
		dst = appendPad(dst, east/60%60, 2)
		if east%60 != 0 {
			dst = append(dst, ':')
			dst = appendPad(dst, east%60, 2)
		}
	}
	return dst
}

// appendCivilDate appends a date in the numeric form of the style.
func appendCivilDate(dst []byte, c *civilTime, ctx *Context) []byte {
	first, second, sep := c.month, c.day, byte('/')
	switch ctx.DateStyle {
	case StyleISO:
		dst = appendYear(dst, c.year)
		dst = append(dst, '-')
		dst = appendPad(dst, c.month, 2)
		dst = append(dst, '-')
		return appendPad(dst, c.day, 2)
	case StyleGerman:
		first, second, sep = c.day, c.month, '.'
	case StylePostgres:
		sep = '-'
		fallthrough
	default:
		if ctx.DateOrder == OrderDMY {
			first, second = second, first
		}
	}
	dst = appendPad(dst, first, 2)
	dst = append(dst, sep)
	dst = appendPad(dst, second, 2)
	dst = append(dst, sep)
	return appendYear(dst, c.year)
}

// AppendDate appends a date in the session's style.
func AppendDate(dst []byte, days int32, ctx *Context) []byte {
	switch days {
	case DateInfinity:
		return append(dst, "infinity"...)
	case DateNegInfinity:
		return append(dst, "-infinity"...)
	}
	var c civilTime
	c.year, c.month, c.day = CivilFromDays(int64(days))
	dst = appendCivilDate(dst, &c, orDefault(ctx))
	return appendEra(dst, c.year)
}

// AppendTime appends a time of day.
func AppendTime(dst []byte, us int64) []byte {
	var c civilTime
	c.setTime(us)
	return appendClock(dst, &c)
}

// AppendTimestamp appends a timestamp without time zone in the session's style.
func AppendTimestamp(dst []byte, us int64, ctx *Context) []byte {
	if isInfinite(us) {
		return appendInfinite(dst, us)
	}
	c := civilOf(us)
	return appendCivil(dst, &c, us, orDefault(ctx), nil, 0, false)
}

// AppendTimestampTZ appends a timestamp with time zone in the session's zone
// and style.
func AppendTimestampTZ(dst []byte, us int64, ctx *Context) []byte {
	if isInfinite(us) {
		return appendInfinite(dst, us)
	}
	ctx = orDefault(ctx)
	if ctx.DateStyle == StyleISO && isUTC(ctx.Zone) {
		c := civilOf(us)
		return appendCivil(dst, &c, us, ctx, nil, 0, true)
	}
	off, abbrev, _ := ZoneAt(ctx.Zone, us)
	days, rest := splitMicros(us)
	rest += int64(off) * usecPerSec
	days += floorDiv(rest, usecPerDay)
	rest -= floorDiv(rest, usecPerDay) * usecPerDay
	var c civilTime
	c.year, c.month, c.day = CivilFromDays(days)
	c.setTime(rest)
	var buf [16]byte
	return appendCivil(dst, &c, days*usecPerDay, ctx, append(buf[:0], abbrev...), off, true)
}

func appendInfinite(dst []byte, us int64) []byte {
	if us < 0 {
		return append(dst, "-infinity"...)
	}
	return append(dst, "infinity"...)
}

// appendCivil appends a local time; day is any instant of its day, for the
// name of the weekday.
func appendCivil(dst []byte, c *civilTime, day int64, ctx *Context, abbrev []byte, off int, withZone bool) []byte {
	if ctx.DateStyle == StylePostgres {
		dst = append(dst, dayAbbrev[weekday(floorDiv(day, usecPerDay))]...)
		dst = append(dst, ' ')
		if ctx.DateOrder == OrderDMY {
			dst = appendPad(dst, c.day, 2)
			dst = append(dst, ' ')
			dst = append(dst, monthAbbrev[c.month]...)
		} else {
			dst = append(dst, monthAbbrev[c.month]...)
			dst = append(dst, ' ')
			dst = appendPad(dst, c.day, 2)
		}
		dst = append(dst, ' ')
		dst = appendClock(dst, c)
		dst = append(dst, ' ')
		dst = appendYear(dst, c.year)
	} else {
		dst = appendCivilDate(dst, c, ctx)
		dst = append(dst, ' ')
		dst = appendClock(dst, c)
	}
	if withZone {
		switch {
		case ctx.DateStyle == StyleISO:
			dst = appendOffset(dst, off)
		case len(abbrev) > 0:
			dst = append(dst, ' ')
			dst = append(dst, abbrev[:min(len(abbrev), 10)]...)
		case ctx.DateStyle == StylePostgres:
			dst = append(dst, ' ')
			dst = appendOffset(dst, off)
		default:
			dst = appendOffset(dst, off)
		}
	}
	return appendEra(dst, c.year)
}

// weekday returns 0 for Sunday to 6 for Saturday.
func weekday(days int64) int { return int((days%7 + 11) % 7) }
