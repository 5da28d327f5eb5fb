package functions

import (
	"bytes"
	"strconv"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// clockParts is a time, or an interval, by its fields, as to_char prints them.
type clockParts struct {
	year, month, day     int
	hour, minute, second int
	micros               int
	weekday, yearday     int
	days                 int64 // since 1970
	east                 int   // offset in seconds
	zone                 string
	interval             bool
}

func clockOf(local int64) clockParts {
	day, rest := splitDay(local)
	y, m, d := types.CivilFromDays(day)
	c := clockParts{year: y, month: m, day: d, days: day, yearday: int(day-types.DaysFromCivil(y, 1, 1)) + 1}
	c.weekday = int(day + 4 - 7*floorDiv(day+4, 7))
	c.setTime(rest)
	return c
}

func (c *clockParts) setTime(us int64) {
	c.hour, c.minute = int(us/microsPerHour), int(us/microsPerMinute%60)
	c.second, c.micros = int(us/microsPerSecond%60), int(us%microsPerSecond)
}

func clockOfInterval(v types.IntervalValue) clockParts {
	c := clockParts{year: int(v.Months) / 12, month: int(v.Months) % 12, day: int(v.Days), interval: true}
	c.yearday = (c.year*12+c.month)*30 + c.day
	c.days = c.julian() + minDay
	c.setTime(v.Micros)
	return c
}

// shownYear counts 1 BC as 1.
func (c *clockParts) shownYear(y int) int {
	if y <= 0 && !c.interval {
		return 1 - y
	}
	return y
}

var (
	monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	romans     = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}
)

func errIntervalTemplate() error {
	return pgerr.New(pgerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
		WithHint("Intervals are not tied to specific calendar dates.")
}

// paddedAll is padded where the width counts the sign.
func paddedAll(dst []byte, v, width int, p *templatePart) []byte {
	if v < 0 {
		width--
	}
	return padded(dst, v, width, p)
}

// padded appends a number of at least width digits, one more with a sign.
func padded(dst []byte, v, width int, p *templatePart) []byte {
	if p.fill {
		width = 0
	}
	if v < 0 {
		dst, v = append(dst, '-'), -v
	}
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], int64(v), 10)
	for k := len(digits); k < width; k++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// cased appends a name in the case of the pattern, filled up to width.
func cased(dst []byte, name string, p *templatePart, width int) []byte {
	at := len(dst)
	dst = append(dst, name...)
	switch {
	case p.name[0] >= 'a':
		copy(dst[at:], bytes.ToLower(dst[at:]))
	case len(p.name) > 1 && p.name[1] < 'a':
		copy(dst[at:], bytes.ToUpper(dst[at:]))
	}
	for !p.fill && !p.locale && len(dst)-at < width {
		dst = append(dst, ' ')
	}
	return dst
}

// print appends the time in the form of a template.
func (c *clockParts) print(dst []byte, parts []templatePart) ([]byte, error) {
	for i := range parts {
		p := &parts[i]
		if p.kind != templatePattern {
			dst = append(dst, p.text...)
			continue
		}
		at := len(dst)
		var known bool
		if dst, known = c.printClock(dst, p); !known {
			var err error
			if dst, known, err = c.printName(dst, p); err != nil {
				return dst, err
			}
		}
		if !known {
			dst = c.printDate(dst, p)
		}
		if p.th && p.id != "OF" && p.id != "TZ" && p.id != "TZH" && p.id != "TZM" && len(dst) > at && dst[len(dst)-1] >= '0' && dst[len(dst)-1] <= '9' {
			dst = append(dst, ordinal(dst[at:], p.upperTH)...)
		}
	}
	return dst, nil
}

// printClock prints the fields of the time of day.
func (c *clockParts) printClock(dst []byte, p *templatePart) ([]byte, bool) {
	switch p.id {
	case "HH", "HH12":
		h := c.hour % 12
		if h == 0 {
			h = 12
		}
		return padded(dst, h, 2, p), true
	case "HH24":
		return padded(dst, c.hour, 2, p), true
	case "MI":
		return padded(dst, c.minute, 2, p), true
	case "SS":
		return padded(dst, c.second, 2, p), true
	case "MS", "FF3":
		return paddedAll(dst, c.micros/1000, 3, &templatePart{}), true
	case "US", "FF6":
		return paddedAll(dst, c.micros, 6, &templatePart{}), true
	case "FF1":
		return paddedAll(dst, c.micros/100000, 1, &templatePart{}), true
	case "FF2":
		return paddedAll(dst, c.micros/10000, 2, &templatePart{}), true
	case "FF4":
		return paddedAll(dst, c.micros/100, 4, &templatePart{}), true
	case "FF5":
		return paddedAll(dst, c.micros/10, 5, &templatePart{}), true
	case "SSSS", "SSSSS":
		return strconv.AppendInt(dst, int64(c.hour*3600+c.minute*60+c.second), 10), true
	case "AM", "PM", "A.M.", "P.M.":
		s := "AM"
		if c.hour%24 >= 12 {
			s = "PM"
		}
		return mark(dst, s, p), true
	}
	return dst, false
}

// mark appends AM, PM, AD or BC as the pattern is written: with dots or not, in its case.
func mark(dst []byte, s string, p *templatePart) []byte {
	for i := range s {
		ch := s[i]
		if p.name[0] >= 'a' {
			ch = lowerASCII(ch)
		}
		dst = append(dst, ch)
		if len(p.name) == 4 {
			dst = append(dst, '.')
		}
	}
	return dst
}

// printName prints names and zones, which an interval does not have.
func (c *clockParts) printName(dst []byte, p *templatePart) ([]byte, bool, error) {
	switch p.id {
	case "FX":
		return dst, true, nil
	case "TZ", "TZH", "TZM", "OF", "AD", "BC", "A.D.", "B.C.", "MONTH", "MON", "DAY", "DY", "D", "ID":
		if c.interval {
			return dst, true, errIntervalTemplate()
		}
	default:
		return dst, false, nil
	}
	switch p.id {
	case "TZ":
		if p.name == "tz" {
			return append(dst, bytes.ToLower([]byte(c.zone))...), true, nil
		}
		return append(dst, c.zone...), true, nil
	case "TZH":
		return padded(appendSign(dst, c.east), abs(c.east)/3600, 2, &templatePart{}), true, nil
	case "TZM":
		return padded(dst, abs(c.east)%3600/60, 2, &templatePart{}), true, nil
	case "OF":
		dst = padded(appendSign(dst, c.east), abs(c.east)/3600, 2, p)
		if m := abs(c.east) % 3600 / 60; m != 0 {
			dst = padded(append(dst, ':'), m, 2, &templatePart{})
		}
		return dst, true, nil
	case "MONTH":
		return cased(dst, monthNames[c.month-1], p, 9), true, nil
	case "MON":
		return cased(dst, monthNames[c.month-1][:3], p, 0), true, nil
	case "DAY":
		return cased(dst, dayNames[c.weekday], p, 9), true, nil
	case "DY":
		return cased(dst, dayNames[c.weekday][:3], p, 0), true, nil
	case "D":
		return strconv.AppendInt(dst, int64(c.weekday)+1, 10), true, nil
	case "ID":
		return strconv.AppendInt(dst, int64(c.weekday+6)%7+1, 10), true, nil
	}
	era := "AD"
	if c.year <= 0 {
		era = "BC"
	}
	return mark(dst, era, p), true, nil
}

func appendSign(dst []byte, v int) []byte {
	if v < 0 {
		return append(dst, '-')
	}
	return append(dst, '+')
}

func abs(v int) int { return max(v, -v) }

// printDate prints the numbers of the date.
func (c *clockParts) printDate(dst []byte, p *templatePart) []byte {
	isoYear, isoWeek := isoWeek(c.days)
	year, iso := c.shownYear(c.year), c.shownYear(int(isoYear))
	switch p.id {
	case "MM":
		return padded(dst, c.month, 2, p)
	case "DD":
		return paddedAll(dst, c.day, 2, p)
	case "DDD":
		return paddedAll(dst, c.yearday, 3, p)
	case "IDDD":
		return padded(dst, int(c.days-truncDay(types.DaysFromCivil(int(isoYear), 1, 4), unitWeek))+1, 3, p)
	case "WW":
		return padded(dst, (c.yearday-1)/7+1, 2, p)
	case "IW":
		return padded(dst, int(isoWeek), 2, p)
	case "W":
		return strconv.AppendInt(dst, int64((c.day-1)/7+1), 10)
	case "Q":
		if c.month == 0 {
			return dst
		}
		return strconv.AppendInt(dst, int64((c.month-1)/3+1), 10)
	case "CC":
		return padded(dst, c.century(), 2, p)
	case "J":
		return strconv.AppendInt(dst, c.julian(), 10)
	case "RM":
		return c.roman(dst, p)
	case "Y,YYY":
		dst = strconv.AppendInt(dst, int64(year/1000), 10)
		return paddedAll(append(dst, ','), year%1000, 3, &templatePart{})
	case "YYYY":
		return padded(dst, year, 4, p)
	case "YYY":
		return padded(dst, year%1000, 3, p)
	case "YY":
		return padded(dst, year%100, 2, p)
	case "Y":
		return padded(dst, year%10, 1, p)
	case "IYYY":
		return paddedAll(dst, iso, 4+int(b2u(year < 0)), p)
	case "IYY":
		return paddedAll(dst, iso%1000, 3+int(b2u(year < 0)), p)
	case "IY":
		return paddedAll(dst, iso%100, 2+int(b2u(year < 0)), p)
	case "I":
		return padded(dst, iso%10, 1, p)
	}
	return dst
}

// julian is the Julian day; an interval counts from the year 1 BC.
func (c *clockParts) julian() int64 {
	if !c.interval {
		return c.days - minDay
	}
	// The months of an interval start at 0, where those of a year start at 1.
	y, m := c.year, c.month
	if m < 1 {
		y, m = y-1, m+12
	}
	return types.DaysFromCivil(y, m, 1) + int64(c.day) - 1 - minDay
}

func (c *clockParts) century() int {
	switch {
	case c.interval:
		return c.year / 100
	case c.year > 0:
		return (c.year-1)/100 + 1
	}
	return c.year/100 - 1
}

func (c *clockParts) roman(dst []byte, p *templatePart) []byte {
	m := c.month
	switch {
	case m == 0 && c.year == 0:
		return dst
	case m == 0 && c.year >= 0:
		m = 12
	case m == 0:
		m = 1
	case m < 0:
		m += 13
	}
	return cased(dst, romans[m-1], &templatePart{name: p.name, fill: p.fill}, 4)
}

// timeToChar makes to_char of a time or an interval.
func timeToChar(t types.OID) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var cache templateCache
		z := newZoneCache(c.Zone)
		for i := 0; i < n; i++ {
			if live(out, i) {
				var at clockParts
				ok := len(args[1].Bytes(i)) > 0
				switch {
				case t == types.Interval:
					at = clockOfInterval(types.DecodeInterval(args[0].F16[i&args[0].Mask()]))
				default:
					us := args[0].I64[i&args[0].Mask()]
					if ok = ok && finiteTS(us); ok {
						at = clockAt(c, z, us, t)
					}
				}
				if !ok {
					setNull(out, i, n)
				} else {
					parts, err := cache.get(timeGrammar, args[1].Bytes(i))
					if err == nil {
						out.Data, err = at.print(out.Data, parts)
					}
					if err != nil {
						return err
					}
				}
			}
			endRow(out)
		}
		return nil
	}
}

func clockAt(c *Ctx, z *zoneCache, us int64, t types.OID) clockParts {
	if t == types.Timestamp {
		return clockOf(us)
	}
	at := clockOf(z.local(us))
	off, name, _ := types.ZoneAt(c.Zone, us)
	at.east, at.zone = int(off), string(name)
	return at
}

func init() {
	for _, t := range []types.OID{types.Timestamp, types.TimestampTZ, types.Interval} {
		o := fn("to_char", types.Text, timeToChar(t), t, types.Text).fails().doc("A value in the form of a template.")
		RegisterFunctions(o.stable())
	}
}
