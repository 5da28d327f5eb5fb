package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// dateByTemplate is what the fields of a timeReader make: a day, a time of day and an offset.
type dateByTemplate struct {
	year, month, day     int
	hour, minute, second int
	micros               int
	hasYear, hasMonthDay bool
	hasMonth, hasDay     bool
	east                 int
	zoned                bool
}

func (r *timeReader) overflow() error {
	return pgerr.New(pgerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", r.whole)
}

// finish puts the fields together and checks them.
func (r *timeReader) finish() (d dateByTemplate, err error) {
	d.month, d.day = 1, 1
	if err := r.finishClock(&d); err != nil {
		return d, err
	}
	r.finishYear(&d)
	if err := r.finishDay(&d); err != nil {
		return d, err
	}
	bad := (d.hasMonth || d.hasMonthDay) && (d.month < 1 || d.month > 12) || (d.hasDay || d.hasMonthDay) && (d.day < 1 || d.day > 31)
	if !bad && (d.hasYear && d.hasMonth && d.hasDay || d.hasMonthDay) {
		bad = d.day > types.DaysInMonth(d.year, d.month)
	}
	d.micros += r.milli*1000 + r.micro
	bad = bad || d.hour < 0 || d.hour > 23 || d.minute < 0 || d.minute > 59 || d.second < 0 || d.second > 59 || d.micros < 0 || d.micros >= microsPerSecond
	if bad {
		return d, r.overflow()
	}
	if r.zoneSign != 0 {
		if r.zoneHour < 0 || r.zoneHour > 15 || r.zoneMinute < 0 || r.zoneMinute > 59 {
			return d, pgerr.New("22009", "time zone displacement out of range: \"%s\"", r.whole)
		}
		d.east, d.zoned = r.zoneSign*(r.zoneHour*60+r.zoneMinute)*60, true
	}
	return d, nil
}

func (r *timeReader) finishClock(d *dateByTemplate) error {
	d.hour, d.minute, d.second = r.secondOfDay/3600, r.secondOfDay/60%60, r.secondOfDay%60
	for _, f := range []struct{ from, to *int }{{&r.hour, &d.hour}, {&r.minute, &d.minute}, {&r.second, &d.second}} {
		if *f.from != 0 {
			*f.to = *f.from
		}
	}
	if !r.twelve {
		return nil
	}
	if d.hour < 1 || d.hour > 12 {
		return templateError("hour \"%d\" is invalid for the 12-hour clock", d.hour).
			WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
	}
	if d.hour %= 12; r.pm {
		d.hour += 12
	}
	return nil
}

// finishYear takes the year, or the two last digits of one in a century, or a century's first.
func (r *timeReader) finishYear(d *dateByTemplate) {
	century := r.century
	if r.bc {
		century = -century
	}
	switch {
	case r.year != 0 && century != 0 && r.yearDigits <= 2:
		switch y := r.year % 100; {
		case y == 0 && century >= 0:
			d.year = century * 100
		case y == 0:
			d.year = century*100 + 1
		case century >= 0:
			d.year = y + (century-1)*100
		default:
			d.year = (century+1)*100 - y + 1
		}
	case r.year != 0:
		if d.year = r.year; r.bc {
			d.year = -d.year
		}
		if d.year < 0 {
			d.year++
		}
	case century > 0:
		d.year = (century-1)*100 + 1
	case century < 0:
		d.year = century*100 + 1
	}
	d.hasYear = r.year != 0 || r.century != 0
}

func (d *dateByTemplate) setDay(day int64) {
	d.year, d.month, d.day = types.CivilFromDays(day)
	d.hasMonthDay = true
}

// finishDay finds month and day by any of the ways to give them.
func (r *timeReader) finishDay(d *dateByTemplate) error {
	if r.julian != 0 {
		d.setDay(int64(r.julian) + minDay)
	}
	if r.weekNo != 0 {
		if r.week == 2 {
			monday := truncDay(types.DaysFromCivil(d.year, 1, 4), unitWeek) + int64(r.weekNo-1)*7
			if r.weekday > 1 {
				monday += int64(r.weekday - 2)
			} else if r.weekday == 1 {
				monday += 6
			}
			d.setDay(monday)
		} else {
			r.yearDay = (r.weekNo-1)*7 + 1
		}
	}
	if r.weekOfMonth != 0 {
		r.day = (r.weekOfMonth-1)*7 + 1
	}
	if r.day != 0 {
		d.day, d.hasDay = r.day, true
	}
	if r.month != 0 {
		d.month, d.hasMonth = r.month, true
	}
	if r.yearDay == 0 || d.month > 1 && d.day > 1 {
		return nil
	}
	if d.year == 0 && !r.bc {
		return templateError("cannot calculate day of year without year information")
	}
	if r.week == 2 {
		d.setDay(truncDay(types.DaysFromCivil(d.year, 1, 4), unitWeek) + int64(r.yearDay) - 1)
		return nil
	}
	_, m, day := types.CivilFromDays(types.DaysFromCivil(d.year, 1, 1) + int64(r.yearDay) - 1)
	if last := 365 + int(b2u(types.DaysInMonth(d.year, 2) == 29)); r.yearDay > last {
		m, day = 13, r.yearDay-last // beyond the year
	}
	if d.month <= 1 {
		d.month = m
	}
	if d.day <= 1 {
		d.day = day
	}
	d.hasMonth, d.hasDay = true, true
	return nil
}

// readTime reads one text by a template.
func readTime(cache *templateCache, args []*vector.Vector, i int) (d dateByTemplate, r timeReader, err error) {
	r.whole = args[0].Bytes(i)
	r.s = r.whole
	if r.parts, err = cache.get(timeGrammar, args[1].Bytes(i)); err != nil {
		return d, r, err
	}
	if err = r.read(); err == nil {
		d, err = r.finish()
	}
	return d, r, err
}

func toDate(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache templateCache
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		d, r, err := readTime(&cache, args, i)
		if err != nil {
			return err
		}
		day := types.DaysFromCivil(d.year, d.month, d.day)
		if day < minDay || day > maxDay {
			return pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range: \"%s\"", r.whole)
		}
		out.I32[i] = int32(day)
	}
	return nil
}

func toTimestampByTemplate(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache templateCache
	z := newZoneCache(c.Zone)
	for i := range out.I64[:n] {
		if !live(out, i) {
			continue
		}
		d, _, err := readTime(&cache, args, i)
		if err != nil {
			return err
		}
		rest := int64(d.hour)*microsPerHour + int64(d.minute)*microsPerMinute + int64(d.second)*microsPerSecond + int64(d.micros)
		us, ok := joinDay(types.DaysFromCivil(d.year, d.month, d.day), rest)
		if ok && d.zoned {
			us -= int64(d.east) * microsPerSecond
			ok = validTS(us)
		} else if ok {
			us, ok = z.instant(us)
		}
		if !ok {
			return errTimestamp()
		}
		out.I64[i] = us
	}
	return nil
}

func init() {
	t := types.Text
	RegisterFunctions(
		fn("to_date", types.Date, toDate, t, t).fails().stable().doc("Date of a text in the form of a template."),
		fn("to_timestamp", types.TimestampTZ, toTimestampByTemplate, t, t).fails().stable().doc("Instant of a text in the form of a template."),
	)
}
