package types

import "strconv"

// intervalFields are an interval's parts for printing; all of a part have the
// part's sign.
type intervalFields struct {
	year, mon, day, hour, min, sec, usec int64
}

func (v IntervalValue) fields() (f intervalFields) {
	f.year, f.mon = int64(v.Months/12), int64(v.Months%12)
	f.day = int64(v.Days)
	f.hour = v.Micros / usecPerHour
	f.min = v.Micros / usecPerMin % 60
	f.sec = v.Micros / usecPerSec % 60
	f.usec = v.Micros % usecPerSec
	return f
}

func abs64(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// AppendInterval appends an interval in the session's style.
func AppendInterval(dst []byte, v IntervalValue, c *Context) []byte {
	f := v.fields()
	switch orDefault(c).IntervalStyle {
	case IntervalSQLStandard:
		return f.appendSQL(dst)
	case IntervalISO8601:
		return f.appendISO(dst)
	case IntervalPostgresVerbose:
		return f.appendVerbose(dst)
	}
	return f.appendPostgres(dst)
}

// appendSeconds appends seconds and their fraction, unsigned, padded to two
// digits if pad.
func appendSeconds(dst []byte, sec, usec int64, pad bool) []byte {
	if pad {
		dst = appendPad(dst, int(abs64(sec)), 2)
	} else {
		dst = strconv.AppendInt(dst, abs64(sec), 10)
	}
	return appendFraction(dst, int(abs64(usec)))
}

// appendHMS appends unsigned hours, minutes and seconds, the hours in at least
// width digits.
func (f *intervalFields) appendHMS(dst []byte, width int) []byte {
	if h := abs64(f.hour); width == 2 && h < 100 {
		dst = appendPad(dst, int(h), 2)
	} else {
		dst = strconv.AppendInt(dst, h, 10)
	}
	dst = append(dst, ':')
	dst = appendPad(dst, int(abs64(f.min)), 2)
	dst = append(dst, ':')
	return appendSeconds(dst, f.sec, f.usec, true)
}

func (f *intervalFields) hasTime() bool {
	return f.hour != 0 || f.min != 0 || f.sec != 0 || f.usec != 0
}

func (f *intervalFields) negativeTime() bool {
	return f.hour < 0 || f.min < 0 || f.sec < 0 || f.usec < 0
}

func (f *intervalFields) appendPostgres(dst []byte) []byte {
	start := len(dst)
	negative := false // the part before was negative: a plus is printed
	for _, p := range [...]struct {
		n    int64
		unit string
	}{{f.year, "year"}, {f.mon, "mon"}, {f.day, "day"}} {
		if p.n == 0 {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if negative && p.n > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, p.n, 10)
		dst = append(dst, ' ')
		dst = append(dst, p.unit...)
		if p.n != 1 {
			dst = append(dst, 's')
		}
		negative = p.n < 0
	}
	if len(dst) > start && !f.hasTime() {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	if f.negativeTime() {
		dst = append(dst, '-')
	} else if negative {
		dst = append(dst, '+')
	}
	return f.appendHMS(dst, 2)
}

func (f *intervalFields) appendVerbose(dst []byte) []byte {
	dst = append(dst, '@')
	zero, before := true, false
	for _, p := range [...]struct {
		n    int64
		unit string
	}{{f.year, "year"}, {f.mon, "mon"}, {f.day, "day"}, {f.hour, "hour"}, {f.min, "min"}} {
		n := p.n
		if n == 0 {
			continue
		}
		if zero {
			before = n < 0
			n = abs64(n)
		} else if before {
			n = -n
		}
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, n, 10)
		dst = append(dst, ' ')
		dst = append(dst, p.unit...)
		if n != 1 {
			dst = append(dst, 's')
		}
		zero = false
	}
	if f.sec != 0 || f.usec != 0 {
		dst = append(dst, ' ')
		if f.sec < 0 || f.sec == 0 && f.usec < 0 {
			if zero {
				before = true
			} else if !before {
				dst = append(dst, '-')
			}
		} else if before {
			dst = append(dst, '-')
		}
		dst = appendSeconds(dst, f.sec, f.usec, false)
		dst = append(dst, " sec"...)
		if abs64(f.sec) != 1 || f.usec != 0 {
			dst = append(dst, 's')
		}
		zero = false
	}
	if zero {
		dst = append(dst, " 0"...)
	}
	if before {
		dst = append(dst, " ago"...)
	}
	return dst
}

func (f *intervalFields) appendISO(dst []byte) []byte {
	if *f == (intervalFields{}) {
		return append(dst, "PT0S"...)
	}
	part := func(n int64, letter byte) {
		if n != 0 {
			dst = strconv.AppendInt(dst, n, 10)
			dst = append(dst, letter)
		}
	}
	dst = append(dst, 'P')
	part(f.year, 'Y')
	part(f.mon, 'M')
	part(f.day, 'D')
	if !f.hasTime() {
		return dst
	}
	dst = append(dst, 'T')
	part(f.hour, 'H')
	part(f.min, 'M')
	if f.sec != 0 || f.usec != 0 {
		if f.sec < 0 || f.usec < 0 {
			dst = append(dst, '-')
		}
		dst = appendSeconds(dst, f.sec, f.usec, false)
		dst = append(dst, 'S')
	}
	return dst
}

func (f *intervalFields) appendSQL(dst []byte) []byte {
	neg := f.year < 0 || f.mon < 0 || f.day < 0 || f.negativeTime()
	pos := f.year > 0 || f.mon > 0 || f.day > 0 || f.hour > 0 || f.min > 0 || f.sec > 0 || f.usec > 0
	yearMonth := f.year != 0 || f.mon != 0
	dayTime := f.day != 0 || f.hasTime()
	standard := !(neg && pos) && !(yearMonth && dayTime)
	sign := func(negative bool) byte {
		if negative {
			return '-'
		}
		return '+'
	}
	if !neg && !pos {
		return append(dst, '0')
	}
	if !standard {
		dst = append(dst, sign(f.year < 0 || f.mon < 0))
		dst = strconv.AppendInt(dst, abs64(f.year), 10)
		dst = append(dst, '-')
		dst = strconv.AppendInt(dst, abs64(f.mon), 10)
		dst = append(dst, ' ', sign(f.day < 0))
		dst = strconv.AppendInt(dst, abs64(f.day), 10)
		dst = append(dst, ' ', sign(f.negativeTime()))
		return f.appendHMS(dst, 1)
	}
	if neg {
		dst = append(dst, '-')
	}
	if yearMonth {
		dst = strconv.AppendInt(dst, abs64(f.year), 10)
		dst = append(dst, '-')
		return strconv.AppendInt(dst, abs64(f.mon), 10)
	}
	if f.day != 0 {
		dst = strconv.AppendInt(dst, abs64(f.day), 10)
		dst = append(dst, ' ')
	}
	return f.appendHMS(dst, 1)
}
