package types

import (
	"strconv"
	"time"
)

// Bits of the fields seen so far.
const (
	mYear = 1 << iota
	mMonth
	mDay
	mDoy
	mHour
	mMinute
	mSecond
	mZone
	mDaylight
	mWeekday
	mAmPm
	mEra
)

const (
	mDate = mYear | mMonth | mDay
	mTime = mHour | mMinute | mSecond
)

// dateResult is what date input means.
type dateResult uint8

const (
	isDate  dateResult = iota // the fields
	isEpoch                   // 1970-01-01 in UTC
	isLate                    // infinity
	isEarly                   // -infinity
)

// dateDecoder reads tokens into fields, as PostgreSQL's date input does: each
// token may set fields that no token before it set.
type dateDecoder struct {
	tokens
	ctx    *Context
	c      civilTime
	mask   int
	result dateResult

	textMonth bool // a month's name was seen
	twoDigits bool // the year was written with one or two digits
	julian    bool
	bc        bool
	half      int      // -1: 24 hours, 0: am, 1: pm
	prefix    wordKind // wJulian, wTime or wUnit: says what the next token is
	unitBit   int      // the field that wUnit names

	// The zone: a fixed offset in seconds east, or one that depends on the date.
	fixed   int64
	zone    *time.Location
	abbrev  *Abbrev
	badZone []byte

	timeOnly bool // input of time and timetz: dates are optional
}

// decode reads all of s.
func (d *dateDecoder) decode(s []byte, c *Context, timeOnly bool) dateError {
	d.ctx, d.timeOnly, d.half = c, timeOnly, -1
	if e := d.split(s); e != dateOK {
		return e
	}
	for i := range d.list[:d.n] {
		seen, e := d.token(i)
		if e != dateOK {
			return e
		}
		if seen&d.mask != 0 {
			return badFormat
		}
		d.mask |= seen
	}
	if d.result != isDate {
		return dateOK
	}
	return d.finish()
}

func (d *dateDecoder) token(i int) (int, dateError) {
	t := d.list[i]
	switch t.kind {
	case tokDate:
		return d.dateToken(i, t.text)
	case tokTime:
		if d.prefix != wUnknown {
			if d.prefix != wTime {
				return 0, badFormat
			}
			d.prefix = wUnknown
		}
		if e := d.clock(t.text); e != dateOK {
			return 0, e
		}
		if d.timeOverflows() {
			return 0, fieldOverflow
		}
		return mTime, dateOK
	case tokZone:
		off, e := parseOffset(t.text)
		d.fixed = off
		return mZone, e
	case tokNumber:
		return d.numberToken(i, t.text)
	}
	return d.wordToken(i, t.text)
}

func (d *dateDecoder) dateToken(i int, s []byte) (int, dateError) {
	if d.prefix == wJulian {
		return d.julianDay(s)
	}
	if d.timeOnly {
		early := i == 0 && d.n >= 2 && (d.list[d.n-1].kind == tokDate || d.list[1].kind == tokTime)
		if early && d.prefix == wUnknown {
			return d.datePart(s)
		}
	} else if d.prefix == wUnknown && d.mask&(mMonth|mDay) != mMonth|mDay {
		return d.datePart(s)
	}
	// After a date this is a zone, or a time and a zone run together.
	if !isDigit(s[0]) && d.prefix == wUnknown {
		loc, ok := LoadZone(string(s))
		if !ok {
			d.badZone = s
			return 0, unknownZone
		}
		d.zone = loc
		return mZone, dateOK
	}
	if d.prefix != wUnknown && d.prefix != wTime {
		return 0, badFormat
	}
	d.prefix = wUnknown
	if d.mask&mTime == mTime {
		return 0, badFormat
	}
	cut := indexByte(s, '-')
	if cut < 0 {
		return 0, badFormat
	}
	off, e := parseOffset(s[cut:])
	if e != dateOK {
		return 0, e
	}
	d.fixed = off
	mask := d.mask
	if d.timeOnly {
		mask |= mDate
	}
	seen, e := d.numberField(s[:cut], mask)
	return seen | mZone, e
}

func indexByte(s []byte, c byte) int {
	for i := range s {
		if s[i] == c {
			return i
		}
	}
	return -1
}

func (d *dateDecoder) numberToken(i int, s []byte) (int, dateError) {
	switch d.prefix {
	case wJulian:
		return d.julianDay(s)
	case wUnit:
		return d.unitNumber(s)
	case wTime:
		d.prefix = wUnknown
		seen, e := d.numberField(s, d.mask|mDate)
		if e == dateOK && seen != mTime {
			e = badFormat
		}
		return seen, e
	}
	point := indexByte(s, '.')
	if d.timeOnly {
		switch {
		case point >= 0 && i == 0 && d.n >= 2 && d.list[d.n-1].kind == tokDate:
			return d.datePart(s)
		case point > 2 || point < 0 && len(s) > 4:
			return d.numberField(s, d.mask|mDate)
		case point >= 0:
			return 0, badFormat
		}
		return d.plainNumber(s, d.mask|mDate)
	}
	switch {
	case point >= 0 && d.mask&mDate == 0:
		return d.datePart(s)
	case point > 2:
		return d.numberField(s, d.mask)
	case len(s) >= 6 && (d.mask&mDate == 0 || d.mask&mTime == 0):
		return d.numberField(s, d.mask)
	}
	return d.plainNumber(s, d.mask)
}

// unitNumber reads the number after a unit, as in y2000m01d31.
func (d *dateDecoder) unitNumber(s []byte) (int, dateError) {
	d.prefix = wUnknown
	n, rest, over := atoi(s)
	if over {
		return 0, fieldOverflow
	}
	if len(rest) > 0 && (rest[0] != '.' || d.unitBit != mSecond) {
		return 0, badFormat
	}
	bit := d.unitBit
	switch bit {
	case mYear:
		d.c.year = n
	case mMonth:
		// After a month and an hour, m means minutes.
		if d.mask&(mMonth|mHour) == mMonth|mHour {
			d.c.min, bit = n, mMinute
		} else {
			d.c.month = n
		}
	case mDay:
		d.c.day = n
	case mHour:
		d.c.hour = n
	case mMinute:
		d.c.min = n
	case mSecond:
		d.c.sec = n
		if len(rest) > 0 {
			usec, bad := fraction(rest)
			if bad {
				return 0, badFormat
			}
			d.c.usec = usec
		}
	}
	return bit, dateOK
}

// julianDay reads the number after j, whose fraction is the time of day.
func (d *dateDecoder) julianDay(s []byte) (int, dateError) {
	d.prefix = wUnknown
	n, rest, over := atoi(s)
	if over {
		return 0, fieldOverflow
	}
	d.julian = true
	d.c.year, d.c.month, d.c.day = CivilFromDays(int64(n) - 2_440_588)
	if len(rest) == 0 {
		return mDate, dateOK
	}
	if rest[0] == '-' {
		off, e := parseOffset(rest)
		d.fixed = off
		return mDate | mTime | mZone, e
	}
	if rest[0] != '.' {
		return 0, badFormat
	}
	f, err := strconv.ParseFloat("0"+string(rest), 64)
	if err != nil {
		return 0, badFormat
	}
	d.c.setTime(int64(f * usecPerDay))
	return mDate | mTime, dateOK
}

// datePart reads a date whose pieces are joined by punctuation.
func (d *dateDecoder) datePart(s []byte) (int, dateError) {
	var parts [maxTokens][]byte
	n := 0
	for i := 0; i < len(s); {
		for i < len(s) && !isDigit(s[i]) && !isAlpha(s[i]) {
			i++
		}
		if i == len(s) || n == maxTokens {
			return 0, badFormat
		}
		start := i
		for digit := isDigit(s[i]); i < len(s) && (digit && isDigit(s[i]) || !digit && isAlpha(s[i])); {
			i++
		}
		parts[n] = s[start:i]
		n++
		if i < len(s) && !isDigit(s[i]) && !isAlpha(s[i]) {
			i++
			if i == len(s) {
				break
			}
		}
	}
	mask, seen := d.mask, 0
	add := func(bit int) dateError {
		if mask&bit != 0 {
			return badFormat
		}
		mask |= bit
		seen |= bit
		return dateOK
	}
	// A month's name first: it settles what the numbers are.
	for i, p := range parts[:n] {
		if isDigit(p[0]) {
			continue
		}
		w := dateWords[string(cutWord(p))]
		if w.kind == wIgnore {
			continue
		}
		if w.kind != wMonth {
			return 0, badFormat
		}
		d.c.month, d.textMonth = w.value, true
		if e := add(mMonth); e != dateOK {
			return 0, e
		}
		parts[i] = nil
	}
	for _, p := range parts[:n] {
		if p == nil {
			continue
		}
		bit, e := d.plainNumber(p, mask)
		if e == dateOK {
			e = add(bit)
		}
		if e != dateOK {
			return 0, e
		}
	}
	if mask&^(mDoy|mZone) != mDate {
		return 0, badFormat
	}
	return seen, dateOK
}

// plainNumber decides which field a number is from what is known already.
func (d *dateDecoder) plainNumber(s []byte, mask int) (int, dateError) {
	val, rest, over := atoi(s)
	if over {
		return 0, fieldOverflow
	}
	if len(rest) == len(s) {
		return 0, badFormat
	}
	if len(rest) > 0 {
		if rest[0] != '.' {
			return 0, badFormat
		}
		if len(s)-len(rest) > 2 {
			return d.numberField(s, mask|mDate)
		}
		if d.c.usec, over = fraction(rest); over {
			return 0, badFormat
		}
	}
	if len(s) == 3 && mask&mDate == mYear && val >= 1 && val <= 366 {
		// Year and day of year; finish turns it into month and day.
		d.c.day = val
		return mDoy | mMonth | mDay, dateOK
	}
	bit := 0
	long := len(s) >= 3 || d.ctx.DateOrder == OrderYMD
	switch mask & mDate {
	case 0:
		switch {
		case long:
			bit = mYear
		case d.ctx.DateOrder == OrderDMY:
			bit = mDay
		default:
			bit = mMonth
		}
	case mYear, mDay:
		bit = mMonth
	case mMonth:
		bit = mDay
		if d.textMonth && long {
			bit = mYear
		}
	case mYear | mMonth:
		bit = mDay
		if d.textMonth && len(s) >= 3 && d.twoDigits {
			// The first number was the day after all.
			d.c.day, d.c.year, d.twoDigits = d.c.year, val, false
			return mDay, dateOK
		}
	case mMonth | mDay:
		bit = mYear
	case mDate:
		return d.numberField(s, mask)
	default:
		return 0, badFormat
	}
	switch bit {
	case mYear:
		d.c.year, d.twoDigits = val, len(s) <= 2
	case mMonth:
		d.c.month = val
	case mDay:
		d.c.day = val
	}
	return bit, dateOK
}

// wordToken reads letters: a zone's abbreviation, a month, a reserved word.
func (d *dateDecoder) wordToken(i int, s []byte) (int, dateError) {
	if a := zoneTables().abbrev[view(s)]; a != nil {
		d.abbrev = a
		d.fixed = int64(a.Offset)
		return mZone, dateOK
	}
	w := dateWords[string(cutWord(s))]
	if d.timeOnly {
		switch w.kind {
		case wMonth, wWeekday, wToday, wEpoch, wLate, wEarly:
			return 0, badFormat
		}
	}
	switch w.kind {
	case wIgnore:
		return 0, dateOK
	case wWeekday:
		return mWeekday, dateOK
	case wNow, wToday, wZulu, wEpoch, wLate, wEarly:
		return d.reserved(w)
	case wMonth:
		seen := mMonth
		if d.mask&mMonth != 0 && !d.textMonth && d.mask&mDay == 0 && d.c.month >= 1 && d.c.month <= 31 {
			// The number taken for a month was the day.
			d.c.day, seen = d.c.month, mDay
		}
		d.textMonth = true
		d.c.month = w.value
		return seen, dateOK
	case wAmPm:
		d.half = w.value
		return mAmPm, dateOK
	case wEra:
		d.bc = w.value == 1
		return mEra, dateOK
	case wJulian:
		d.prefix = wJulian
		return 0, dateOK
	case wUnit:
		d.prefix, d.unitBit = wUnit, w.value
		return 0, dateOK
	case wDaylight:
		d.fixed += 3600
		return mDaylight, dateOK
	case wTime:
		if !d.timeOnly && d.mask&mDate != mDate {
			return 0, badFormat
		}
		if i+1 >= d.n || d.list[i+1].kind > tokTime {
			return 0, badFormat
		}
		d.prefix = wTime
		return 0, dateOK
	case wUnknown:
		if loc, ok := LoadZone(string(s)); ok {
			d.zone = loc
			return mZone, dateOK
		}
	}
	return 0, badFormat
}

func (d *dateDecoder) reserved(w word) (int, dateError) {
	off := offsetAt(d.ctx.Zone, d.ctx.Now)
	local := d.ctx.Now + off*usecPerSec
	switch w.kind {
	case wNow:
		d.c = civilOf(local)
		d.fixed = off
		return mDate | mTime | mZone, dateOK
	case wToday:
		c := civilOf(local + int64(w.value)*usecPerDay)
		d.c.year, d.c.month, d.c.day = c.year, c.month, c.day
		return mDate, dateOK
	case wZulu:
		d.c.hour, d.c.min, d.c.sec, d.c.usec, d.fixed = 0, 0, 0, 0, 0
		return mTime | mZone, dateOK
	case wLate:
		d.result = isLate
	case wEarly:
		d.result = isEarly
	default:
		d.result = isEpoch
	}
	return mDate | mTime | mZone, dateOK
}

// finish checks the fields together.
func (d *dateDecoder) finish() dateError {
	if e := d.checkDate(); e != dateOK {
		return e
	}
	c := &d.c
	if d.half >= 0 {
		switch {
		case c.hour > 12:
			return fieldOverflow
		case d.half == 0 && c.hour == 12:
			c.hour = 0
		case d.half == 1 && c.hour != 12:
			c.hour += 12
		}
	}
	if d.timeOnly {
		if d.timeOverflows() {
			return fieldOverflow
		}
		if d.mask&mTime != mTime {
			return badFormat
		}
		if d.zone != nil && d.mask&mDate != mDate && !fixedZone(d.zone) {
			return badFormat
		}
	} else if d.mask&mDate != mDate {
		return badFormat
	}
	if d.mask&mDaylight != 0 && (d.zone != nil || d.mask&mZone == 0) {
		return badFormat
	}
	return dateOK
}

// fixedZone reports whether a zone has one offset at all times.
func fixedZone(loc *time.Location) bool {
	start, end := time.Unix(0, 0).In(loc).ZoneBounds()
	return isUTC(loc) || start.IsZero() && end.IsZero()
}

func (d *dateDecoder) checkDate() dateError {
	c := &d.c
	if d.mask&mYear != 0 && !d.julian {
		switch {
		case d.bc:
			if c.year <= 0 {
				return fieldOverflow
			}
			c.year = 1 - c.year
		case d.twoDigits:
			if c.year < 70 {
				c.year += 2000
			} else if c.year < 100 {
				c.year += 1900
			}
		case c.year <= 0:
			return fieldOverflow
		}
	}
	if d.mask&mDoy != 0 {
		c.year, c.month, c.day = CivilFromDays(DaysFromCivil(c.year, 1, 1) + int64(c.day) - 1)
	}
	if d.mask&mMonth != 0 && (c.month < 1 || c.month > 12) {
		return mdOverflow
	}
	if d.mask&mDay != 0 && (c.day < 1 || c.day > 31) {
		return mdOverflow
	}
	if d.mask&mDate == mDate && c.day > DaysInMonth(c.year, c.month) {
		return fieldOverflow
	}
	return dateOK
}

// localOffset returns the seconds east that apply to the decoded local time.
func (d *dateDecoder) localOffset(local int64) int64 {
	switch {
	case d.zone != nil:
		return LocalOffset(d.zone, local)
	case d.abbrev != nil && d.abbrev.Zone != "":
		return d.abbrev.offsetAt(local)
	case d.mask&mZone != 0:
		return d.fixed
	}
	return LocalOffset(d.ctx.Zone, local)
}
