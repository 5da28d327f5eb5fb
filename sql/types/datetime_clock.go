package types

import (
	"math"
	"strconv"
)

// numberField reads digits run together: yymmdd, yyyymmdd, hhmm, hhmmss.
func (d *dateDecoder) numberField(s []byte, mask int) (int, dateError) {
	if p := indexByte(s, '.'); p >= 0 {
		usec, bad := fraction(s[p:])
		if bad {
			return 0, badFormat
		}
		d.c.usec = usec
		s = s[:p]
	} else if mask&mDate != mDate && len(s) >= 6 {
		n := len(s)
		var over bool
		if d.c.year, _, over = atoi(s[:n-4]); over {
			return 0, fieldOverflow
		}
		d.c.month, _, _ = atoi(s[n-4 : n-2])
		d.c.day, _, _ = atoi(s[n-2:])
		d.twoDigits = n == 6
		return mDate, dateOK
	}
	if mask&mTime == mTime || len(s) != 6 && len(s) != 4 {
		return 0, badFormat
	}
	d.c.hour, _, _ = atoi(s[:2])
	d.c.min, _, _ = atoi(s[2:4])
	d.c.sec = 0
	if len(s) == 6 {
		d.c.sec, _, _ = atoi(s[4:])
	}
	return mTime, dateOK
}

// fraction reads ".ddd" as microseconds, rounded.
func fraction(s []byte) (usec int, bad bool) {
	if len(s) == 1 {
		return 0, false
	}
	n, scale := 0, 100_000
	for i, c := range s[1:] {
		if !isDigit(c) {
			return 0, true
		}
		if i < 6 {
			n += int(c-'0') * scale
			scale /= 10
		}
	}
	if len(s) > 7 {
		f, err := strconv.ParseFloat("0"+string(s), 64)
		if err != nil {
			return 0, true
		}
		return int(math.RoundToEven(f * usecPerSec)), false
	}
	return n, false
}

// clock reads h:m, h:m:s and m:s.f into the time fields.
func (d *dateDecoder) clock(s []byte) dateError {
	h, m, sec, usec, e := parseClock(s)
	if e == dateOK && h > 1<<31-1 {
		return fieldOverflow
	}
	d.c.hour, d.c.min, d.c.sec, d.c.usec = int(h), m, sec, usec
	return e
}

func parseClock(s []byte) (h int64, m, sec, usec int, e dateError) {
	i := 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		if h = h*10 + int64(s[i]-'0'); h > 1<<58 {
			return 0, 0, 0, 0, fieldOverflow
		}
	}
	if i == 0 || i == len(s) || s[i] != ':' {
		return 0, 0, 0, 0, badFormat
	}
	m, rest, over := atoi(s[i+1:])
	if over {
		return 0, 0, 0, 0, fieldOverflow
	}
	bad := false
	switch {
	case len(rest) == 0:
	case rest[0] == '.':
		// Two fields and a fraction are minutes and seconds.
		usec, bad = fraction(rest)
		if h > 1<<31-1 {
			return 0, 0, 0, 0, fieldOverflow
		}
		h, m, sec = 0, int(h), m
	case rest[0] == ':':
		if sec, rest, over = atoi(rest[1:]); over {
			return 0, 0, 0, 0, fieldOverflow
		}
		if len(rest) > 0 {
			if bad = rest[0] != '.'; !bad {
				usec, bad = fraction(rest)
			}
		}
	default:
		bad = true
	}
	if bad {
		return 0, 0, 0, 0, badFormat
	}
	if m > 59 || sec > 60 || usec > usecPerSec {
		return 0, 0, 0, 0, fieldOverflow
	}
	return h, m, sec, usec, dateOK
}

func (d *dateDecoder) timeOverflows() bool {
	c := &d.c
	return c.hour > 24 || c.min > 59 || c.sec > 60 || c.timeMicros() > usecPerDay
}

// maxZoneHours is the first hour that a numeric zone may not have.
const maxZoneHours = 15

// parseOffset reads [+-]h, hh, hhmm, hh:mm, hh:mm:ss as seconds east.
func parseOffset(s []byte) (int64, dateError) {
	hr, rest, over := atoi(s[1:])
	if over {
		return 0, zoneOverflow
	}
	m, sec := 0, 0
	if len(rest) > 0 && rest[0] == ':' {
		if m, rest, over = atoi(rest[1:]); over {
			return 0, zoneOverflow
		}
		if len(rest) > 0 && rest[0] == ':' {
			if sec, rest, over = atoi(rest[1:]); over {
				return 0, zoneOverflow
			}
		}
	} else if len(rest) == 0 && len(s) > 3 {
		hr, m = hr/100, hr%100
	}
	if hr < 0 || hr > maxZoneHours || m < 0 || m >= 60 || sec < 0 || sec >= 60 {
		return 0, zoneOverflow
	}
	off := int64((hr*60+m)*60 + sec)
	if s[0] == '-' {
		off = -off
	}
	if len(rest) > 0 {
		return 0, badFormat
	}
	return off, dateOK
}
