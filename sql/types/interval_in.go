package types

import (
	"math"
	"strconv"

	"tsdb/sql/pgerr"
)

// intervalDecoder collects the fields of interval input.
type intervalDecoder struct {
	tokens
	micros, days, months, years int64
	over                        bool // a sum left its range
	ago                         bool
	negative                    bool // SQL style: the first sign counts for all fields
	mod                         int32
}

// ParseInterval reads an interval in any of PostgreSQL's input forms. mod is
// the type's modifier or -1.
//
// Errors: 22007, 22015, 22008.
func ParseInterval(s []byte, c *Context, mod int32) (IntervalValue, error) {
	c = orDefault(c)
	d := intervalDecoder{mod: mod}
	e := d.split(s)
	if e == dateOK {
		d.negative = c.IntervalStyle == IntervalSQLStandard && d.oneSign()
		e = d.decode()
	}
	if e == badFormat {
		d = intervalDecoder{mod: mod}
		e = d.iso(s)
	}
	switch {
	case e == badFormat:
		return IntervalValue{}, pgerr.New(pgerr.InvalidDatetimeFormat, "invalid input syntax for type interval: \"%s\"", s)
	case e != dateOK || d.over:
		return IntervalValue{}, pgerr.New(pgerr.IntervalFieldOverflow, "interval field value out of range: \"%s\"", s)
	}
	v, err := d.value()
	if err != nil {
		return v, err
	}
	return v.ApplyMod(mod), nil
}

func (d *intervalDecoder) value() (IntervalValue, error) {
	if d.ago {
		d.micros, d.days, d.months, d.years = -d.micros, -d.days, -d.months, -d.years
	}
	months := d.years*12 + d.months
	if d.days != int64(int32(d.days)) || months != int64(int32(months)) {
		return IntervalValue{}, errInterval()
	}
	return IntervalValue{d.micros, int32(d.days), int32(months)}, nil
}

// oneSign reports whether a minus in front is the only sign.
func (d *intervalDecoder) oneSign() bool {
	for i, t := range d.list[:d.n] {
		signed := t.text[0] == '-' || t.text[0] == '+'
		if i == 0 && t.text[0] != '-' || i > 0 && signed {
			return false
		}
	}
	return d.n > 0
}

// decode reads the tokens from the last to the first, for a unit follows its
// number.
func (d *intervalDecoder) decode() dateError {
	seen := 0
	next := unitNone // unit of the number to come
	for i := d.n - 1; i >= 0; i-- {
		t := d.list[i]
		bits := 0
		var e dateError
		switch t.kind {
		case tokTime:
			bits, e = d.clock(t.text, false)
			next = unitDay
		case tokZone:
			if indexByte(t.text, ':') > 0 {
				if bits, e = d.clock(t.text[1:], t.text[0] == '-'); e == dateOK {
					next = unitDay
					break
				}
			}
			bits, next, e = d.number(t.text, next)
		case tokNumber, tokDate:
			bits, next, e = d.number(t.text, next)
		default:
			next = unitWords[string(cutWord(t.text))]
			switch {
			case next == unitNone:
				return badFormat
			case next == unitAgo:
				d.ago = true
			}
		}
		if e != dateOK {
			return e
		}
		if bits&seen != 0 {
			return badFormat
		}
		seen |= bits
	}
	if seen == 0 {
		return badFormat
	}
	return dateOK
}

// defaultUnit is the unit of a number that has none, from the type's fields.
func (d *intervalDecoder) defaultUnit() unit {
	if d.mod < 0 {
		return unitSecond
	}
	switch d.mod >> 16 & intervalFullRange {
	case 1 << ivYear:
		return unitYear
	case 1 << ivMonth, maskYM:
		return unitMonth
	case 1 << ivDay:
		return unitDay
	case 1 << ivHour, maskDH:
		return unitHour
	case 1 << ivMinute, maskHM, maskDHM:
		return unitMinute
	}
	return unitSecond
}

const intervalTimeBits = 7 << 4 // hour, minute, second

func (d *intervalDecoder) clock(s []byte, neg bool) (int, dateError) {
	h, m, sec, usec, e := parseClock(s)
	if e != dateOK {
		return 0, e
	}
	if d.mod >= 0 && d.mod>>16&intervalFullRange == maskMS && countByte(s, ':') == 1 && indexByte(s, '.') < 0 {
		h, m, sec = 0, int(h), m
	}
	us, ok := mulAdd(h, usecPerHour, int64(m)*usecPerMin+int64(sec)*usecPerSec+int64(usec))
	if !ok {
		return 0, fieldOverflow
	}
	if neg || d.negative {
		us = -us
	}
	d.addMicros(us)
	return intervalTimeBits, dateOK
}

func countByte(s []byte, c byte) (n int) {
	for _, x := range s {
		if x == c {
			n++
		}
	}
	return n
}

// mulAdd returns a*unit + b for b >= 0.
func mulAdd(a, unit, b int64) (int64, bool) {
	if a > math.MaxInt64/unit || a < math.MinInt64/unit {
		return 0, false
	}
	return add64(a*unit, b)
}

func (d *intervalDecoder) addMicros(us int64) {
	sum, ok := add64(d.micros, us)
	d.micros, d.over = sum, d.over || !ok
}

// number reads a number with an optional fraction, or years-months.
func (d *intervalDecoder) number(s []byte, u unit) (bits int, next unit, e dateError) {
	if u == unitNone {
		u = d.defaultUnit()
	}
	val, rest, e := atoi64(s)
	if e != dateOK {
		return 0, u, e
	}
	frac := 0.0
	neg := s[0] == '-'
	if len(rest) > 0 {
		switch rest[0] {
		case '-':
			m, tail, _ := atoi(rest[1:])
			if m < 0 || m >= 12 {
				return 0, u, fieldOverflow
			}
			if len(tail) > 0 || len(rest) == 1 {
				return 0, u, badFormat
			}
			u = unitMonth
			if neg {
				m = -m
			}
			if val > 1<<31 || val < -(1<<31) {
				return 0, u, fieldOverflow
			}
			val = val*12 + int64(m)
		case '.':
			var bad bool
			if frac, bad = floatFraction(rest); bad {
				return 0, u, badFormat
			}
			if neg {
				frac = -frac
			}
		default:
			return 0, u, badFormat
		}
	}
	if d.negative {
		val, frac = -max(val, -val), -math.Abs(frac)
	}
	bits, next, e = d.add(val, frac, u)
	return bits, next, e
}

func floatFraction(s []byte) (float64, bool) {
	if len(s) == 1 {
		return 0, false
	}
	for _, c := range s[1:] {
		if !isDigit(c) {
			return 0, true
		}
	}
	f, err := strconv.ParseFloat("0"+string(s), 64)
	return f, err != nil
}

// atoi64 reads leading digits; a missing integer part before a point is zero.
func atoi64(s []byte) (int64, []byte, dateError) {
	i := 0
	neg := false
	if s[0] == '-' || s[0] == '+' {
		neg = s[0] == '-'
		i = 1
	}
	start := i
	var n uint64
	for i < len(s) && isDigit(s[i]) {
		if n > (1<<63)/10 {
			return 0, nil, fieldOverflow
		}
		n = n*10 + uint64(s[i]-'0')
		i++
	}
	if i == start && (i == len(s) || s[i] != '.') {
		return 0, nil, badFormat
	}
	if n > 1<<63-1 && !(neg && n == 1<<63) {
		return 0, nil, fieldOverflow
	}
	if neg {
		return -int64(n), s[i:], dateOK
	}
	return int64(n), s[i:], dateOK
}

// add adds a quantity of a unit and returns the bits of the fields it sets and
// the unit of a number in front of it that has none.
func (d *intervalDecoder) add(val int64, frac float64, u unit) (bits int, next unit, e dateError) {
	next = u
	switch u {
	case unitMicrosecond:
		d.addScaled(val, frac, 1)
		bits = 1 << 8
	case unitMillisecond:
		d.addScaled(val, frac, 1000)
		bits = 1 << 9
	case unitSecond:
		d.addScaled(val, frac, usecPerSec)
		if bits = 1 << 4; frac != 0 {
			bits |= 3 << 8
		}
	case unitMinute:
		d.addScaled(val, frac, usecPerMin)
		bits = 1 << 5
	case unitHour:
		d.addScaled(val, frac, usecPerHour)
		bits, next = 1<<6, unitDay
	case unitDay:
		d.addDays(val, 0)
		d.addScaled(0, frac, usecPerDay)
		bits = 1 << 3
	case unitWeek:
		d.addDays(val*7, frac*7)
		bits = 1 << 10
	case unitMonth:
		d.addMonths(&d.months, val, 1)
		d.addDays(0, frac*30)
		bits = 1 << 1
	case unitYear:
		d.addYears(val, frac, 1)
		bits = 1
	case unitDecade:
		d.addYears(val, frac, 10)
		bits = 1 << 11
	case unitCentury:
		d.addYears(val, frac, 100)
		bits = 1 << 12
	case unitMillennium:
		d.addYears(val, frac, 1000)
		bits = 1 << 13
	default:
		return 0, next, badFormat
	}
	if d.over {
		return 0, next, fieldOverflow
	}
	return bits, next, dateOK
}

// addScaled adds val+frac units of scale microseconds.
func (d *intervalDecoder) addScaled(val int64, frac float64, scale int64) {
	us, ok := mulAdd(val, scale, 0)
	d.over = d.over || !ok
	d.addMicros(us)
	if frac == 0 {
		return
	}
	f := frac * float64(scale)
	us = int64(f)
	switch rest := f - float64(us); {
	case rest > 0.5:
		us++
	case rest < -0.5:
		us--
	}
	d.addMicros(us)
}

// addDays adds days and a fraction of days, which becomes time.
func (d *intervalDecoder) addDays(val int64, frac float64) {
	whole := int64(frac)
	sum := d.days + val + whole
	d.over = d.over || sum != int64(int32(sum))
	d.days = sum
	d.addScaled(0, frac-float64(whole), usecPerDay)
}

func (d *intervalDecoder) addMonths(to *int64, val, scale int64) {
	if val > math.MaxInt32 || val < math.MinInt32 {
		d.over = true
		return
	}
	sum := *to + val*scale
	d.over = d.over || sum != int64(int32(sum))
	*to = sum
}

func (d *intervalDecoder) addYears(val int64, frac float64, scale int64) {
	d.addMonths(&d.years, val, scale)
	d.addMonths(&d.months, int64(math.RoundToEven(frac*float64(scale)*12)), 1)
}

// iso reads ISO 8601: P1Y2M3DT4H5M6S, or P0001-02-03T04:05:06.
func (d *intervalDecoder) iso(s []byte) dateError {
	if len(s) < 2 || s[0] != 'P' {
		return badFormat
	}
	s = s[1:]
	inTime, have := false, false
	for len(s) > 0 {
		if s[0] == 'T' {
			inTime, have = true, false
			s = s[1:]
			continue
		}
		val, frac, rest, e := isoNumber(s)
		if e != dateOK {
			return e
		}
		width := len(s) - len(rest)
		letter := byte(0)
		if len(rest) > 0 {
			letter = rest[0]
			rest = rest[1:]
		}
		u := isoUnit(letter, inTime)
		if u == unitNone {
			if have {
				return badFormat
			}
			return d.isoAlternative(s, width, inTime)
		}
		if _, _, e := d.add(val, frac, u); e != dateOK {
			return e
		}
		have = true
		s = rest
	}
	return dateOK
}

func isoUnit(c byte, inTime bool) unit {
	switch {
	case inTime && c == 'H':
		return unitHour
	case inTime && c == 'M':
		return unitMinute
	case inTime && c == 'S':
		return unitSecond
	case inTime:
		return unitNone
	case c == 'Y':
		return unitYear
	case c == 'M':
		return unitMonth
	case c == 'W':
		return unitWeek
	case c == 'D':
		return unitDay
	}
	return unitNone
}

// isoNumber reads a number that may have a minus and a fraction.
func isoNumber(s []byte) (val int64, frac float64, rest []byte, e dateError) {
	i := 0
	if len(s) > 0 && s[0] == '-' {
		i = 1
	}
	if i == len(s) || !isDigit(s[i]) && s[i] != '.' {
		return 0, 0, nil, badFormat
	}
	for i < len(s) && (isDigit(s[i]) || s[i] == '.') {
		i++
	}
	f, err := strconv.ParseFloat(string(s[:i]), 64)
	if err != nil {
		return 0, 0, nil, badFormat
	}
	if f < -1e15 || f > 1e15 {
		return 0, 0, nil, fieldOverflow
	}
	val = int64(f)
	return val, f - float64(val), s[i:], dateOK
}

// isoAlternative reads the forms that look like dates and times.
func (d *intervalDecoder) isoAlternative(s []byte, width int, inTime bool) dateError {
	if !inTime {
		date, clock := s, []byte(nil)
		if t := indexByte(s, 'T'); t >= 0 {
			date, clock = s[:t], s[t+1:]
		}
		var parts [3]int
		if len(date) == 8 && width == 8 {
			n, _, _ := atoi(date)
			parts = [3]int{n / 10000, n / 100 % 100, n % 100}
		} else if e := isoParts(date, '-', &parts); e != dateOK {
			return e
		}
		d.addMonths(&d.years, int64(parts[0]), 1)
		d.addMonths(&d.months, int64(parts[1]), 1)
		d.addDays(int64(parts[2]), 0)
		if clock == nil {
			return dateOK
		}
		s = clock
	}
	return d.isoClock(s)
}

// isoClock reads hhmmss or hh:mm:ss, of which each number may have a fraction.
func (d *intervalDecoder) isoClock(s []byte) dateError {
	digits := 0
	for digits < len(s) && isDigit(s[digits]) {
		digits++
	}
	for i, scale := range []int64{usecPerHour, usecPerMin, usecPerSec} {
		val, frac, rest, e := isoNumber(s)
		if e != dateOK {
			return e
		}
		if i == 0 && digits == 6 && len(rest) == 0 {
			d.addScaled(val/10000, 0, usecPerHour)
			d.addScaled(val/100%100, 0, usecPerMin)
			d.addScaled(val%100, frac, usecPerSec)
			return dateOK
		}
		d.addScaled(val, frac, scale)
		if len(rest) == 0 {
			return dateOK
		}
		if rest[0] != ':' {
			return badFormat
		}
		s = rest[1:]
	}
	return badFormat
}

func isoParts(s []byte, sep byte, parts *[3]int) dateError {
	for i := range parts {
		n, rest, over := atoi(s)
		if over {
			return fieldOverflow
		}
		if len(rest) == len(s) {
			return badFormat
		}
		parts[i] = n
		if len(rest) == 0 {
			return dateOK
		}
		if rest[0] != sep {
			return badFormat
		}
		s = rest[1:]
	}
	return badFormat
}
