package functions

import (
	"math"
	"strconv"

	"tsdb/sql/pgerr"
)

// timeReader reads a text by a time template into fields; 0 stands for absent.
type timeReader struct {
	whole []byte // the text, for errors
	s     []byte // what is left of it
	parts []templatePart
	at    int // the pattern being read
	extra int // blanks skipped beyond those of the template
	exact bool
	last  byte // the byte before s
	week  int  // date convention: 0 undecided, 1 Gregorian, 2 ISO weeks

	hour, minute, second, secondOfDay, milli, micro int
	pm, twelve                                      bool
	year, yearDigits, century, month, day, yearDay  int
	weekday, weekNo, weekOfMonth, julian            int
	bc                                              bool
	zoneSign, zoneHour, zoneMinute                  int
}

func templateError(format string, args ...any) *pgerr.Error {
	return pgerr.New(pgerr.InvalidDatetimeFormat, format, args...)
}

// step drops n bytes of the text.
func (r *timeReader) step(n int) {
	if n = min(n, len(r.s)); n > 0 {
		r.last = r.s[n-1]
		r.s = r.s[n:]
	}
}

func (r *timeReader) skipBlanks() {
	for len(r.s) > 0 && identSpace(r.s[0]) {
		r.step(1)
		r.extra++
	}
}

// read goes through the template as far as the text reaches.
func (r *timeReader) read() error {
	for r.at = 0; r.at < len(r.parts) && len(r.s) > 0; r.at++ {
		p := &r.parts[r.at]
		if !r.exact && (p.kind != templateText || r.at == 0) {
			r.skipBlanks()
		}
		switch p.kind {
		case templateSpace, templateSeparator:
			r.separator()
			continue
		case templateText:
			if !r.exact && r.extra > 0 {
				r.extra--
			} else {
				r.step(runeOffset(r.s, 1))
			}
			continue
		}
		if err := r.pattern(p); err != nil {
			return err
		}
		if !r.exact {
			r.extra = 0
			r.skipBlanks()
		}
	}
	return nil
}

// separator matches one separator of the template with one of the text, or with none.
func (r *timeReader) separator() {
	if r.exact {
		r.step(runeOffset(r.s, 1))
		return
	}
	r.extra--
	if len(r.s) > 0 && (identSpace(r.s[0]) || isSeparator(r.s[0])) {
		r.step(1)
		r.extra++
	}
}

// convention notes that a pattern belongs to a way of writing dates.
func (r *timeReader) convention(p *templatePart) error {
	mode := 0
	switch p.id {
	case "DDD", "DD", "D", "MM", "MONTH", "MON", "RM", "WW", "W", "Y,YYY", "YYYY", "YYY", "YY", "Y":
		mode = 1
	case "IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I":
		mode = 2
	}
	if mode != 0 && r.week != 0 && r.week != mode {
		return templateError("invalid combination of date conventions").
			WithHint("Do not mix Gregorian and ISO week date conventions in a formatting template.")
	}
	if mode != 0 {
		r.week = mode
	}
	return nil
}

func (r *timeReader) pattern(p *templatePart) error {
	if err := r.convention(p); err != nil {
		return err
	}
	for _, read := range []func(*templatePart) (bool, error){r.clockPattern, r.datePattern, r.yearPattern, r.namePattern} {
		known, err := read(p)
		if err != nil {
			return err
		}
		if known {
			if p.th {
				r.step(2)
			}
			return nil
		}
	}
	return nil
}

// number reads an integer for a pattern of a width into to, if that is not nil.
func (r *timeReader) number(p *templatePart, width int, to *int) (digits int, err error) {
	for len(r.s) > 0 && identSpace(r.s[0]) {
		r.step(1)
	}
	text := r.s
	limited := !p.fill && !r.beforeText()
	if limited {
		text = text[:min(width, len(text))]
		if len(text) < width {
			return 0, templateError("source string too short for \"%s\" formatting field", p.name).
				WithDetail("Field requires %d characters, but only %d remain.", width, len(text)).
				WithHint("If your source string is not fixed-width, try using the \"FM\" modifier.")
		}
	}
	used := 0
	if used < len(text) && (text[used] == '-' || text[used] == '+') {
		used++
	}
	first := used
	for used < len(text) && text[used] >= '0' && text[used] <= '9' {
		used++
	}
	if used == first {
		used = 0
	}
	shown := r.s[:min(width, len(r.s))]
	if used > 0 && limited && used < width {
		return 0, templateError("invalid value \"%s\" for \"%s\"", shown, p.name).
			WithDetail("Field requires %d characters, but only %d could be parsed.", width, used).
			WithHint("If your source string is not fixed-width, try using the \"FM\" modifier.")
	}
	if used == 0 {
		return 0, templateError("invalid value \"%s\" for \"%s\"", shown, p.name).WithDetail("Value must be an integer.")
	}
	v, err := strconv.ParseInt(string(text[:used]), 10, 32)
	if err != nil {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "value for \"%s\" in source string is out of range", p.name).
			WithDetail("Value must be in the range %d to %d.", math.MinInt32, math.MaxInt32)
	}
	r.step(used)
	if to != nil {
		err = r.set(to, int(v), p)
	} else {
		err = nil
	}
	return used, err
}

// set refuses a second value of a field.
func (r *timeReader) set(to *int, v int, p *templatePart) error {
	if *to != 0 && *to != v {
		return templateError("conflicting values for \"%s\" field in formatting string", p.name).
			WithDetail("This value contradicts a previous setting for the same field type.")
	}
	*to = v
	return nil
}

// beforeText reports whether something that is no digit follows the pattern, so
// that its number ends where the digits end.
func (r *timeReader) beforeText() bool {
	if r.parts[r.at].th || r.at+1 == len(r.parts) {
		return true
	}
	next := &r.parts[r.at+1]
	if next.kind != templatePattern {
		return len(next.text) != 1 || next.text[0] < '0' || next.text[0] > '9'
	}
	switch next.id {
	case "A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "P.M.", "PM", "DAY", "DY", "FX", "MONTH", "MON", "OF", "RM", "TZ", "TZH",
		"FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		return true
	}
	return false
}

// oneOf reads one of some words, whatever their case, and returns its place.
func (r *timeReader) oneOf(p *templatePart, words []string) (int, error) {
	for k, w := range words {
		if len(w) <= len(r.s) && equalFold(r.s[:len(w)], w) {
			r.step(len(w))
			return k, nil
		}
	}
	end := 0
	for end < len(r.s) && !identSpace(r.s[end]) {
		end++
	}
	return 0, templateError("invalid value \"%s\" for \"%s\"", r.s[:end], p.name).
		WithDetail("The given value did not match any of the allowed values for this field.")
}

func equalFold(s []byte, word string) bool {
	for i := range s {
		if lowerASCII(s[i]) != lowerASCII(word[i]) {
			return false
		}
	}
	return true
}

func (r *timeReader) clockPattern(p *templatePart) (known bool, err error) {
	switch p.id {
	case "FX":
		r.exact = true
	case "AM", "PM", "A.M.", "P.M.":
		var k int
		words := []string{"AM", "PM"}
		if len(p.id) == 4 {
			words = []string{"A.M.", "P.M."}
		}
		k, err = r.oneOf(p, words)
		r.pm, r.twelve = k == 1, true
	case "HH", "HH12":
		_, err = r.number(p, 2, &r.hour)
		r.twelve = true
	case "HH24":
		_, err = r.number(p, 2, &r.hour)
	case "MI":
		_, err = r.number(p, 2, &r.minute)
	case "SS":
		_, err = r.number(p, 2, &r.second)
	case "SSSS", "SSSSS":
		_, err = r.number(p, len(p.id), &r.secondOfDay)
	case "MS":
		err = r.fraction(p, 3, 3, &r.milli)
	case "US":
		err = r.fraction(p, 6, 6, &r.micro)
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		err = r.fraction(p, int(p.id[2]-'0'), 6, &r.micro)
	case "TZ", "OF":
		err = pgerr.New(pgerr.FeatureNotSupported, "formatting field \"%s\" is only supported in to_char", p.name)
	case "TZH":
		sign := 1
		if len(r.s) > 0 && (r.s[0] == '+' || r.s[0] == '-' || r.s[0] == ' ') {
			if r.s[0] == '-' {
				sign = -1
			}
			r.step(1)
		} else if r.extra > 0 && r.last == '-' {
			sign = -1
		}
		r.zoneSign = sign
		_, err = r.number(p, 2, &r.zoneHour)
	case "TZM":
		if r.zoneSign == 0 {
			r.zoneSign = 1
		}
		_, err = r.number(p, 2, &r.zoneMinute)
	default:
		return false, nil
	}
	return true, err
}

// fraction reads digits after a decimal point: 25 for MS is 250 milliseconds.
func (r *timeReader) fraction(p *templatePart, width, digits int, to *int) error {
	used, err := r.number(p, width, to)
	for ; used < digits; used++ {
		*to *= 10
	}
	return err
}

func (r *timeReader) datePattern(p *templatePart) (known bool, err error) {
	switch p.id {
	case "MM":
		_, err = r.number(p, 2, &r.month)
	case "DD":
		_, err = r.number(p, 2, &r.day)
	case "DDD", "IDDD":
		_, err = r.number(p, 3, &r.yearDay)
	case "D":
		_, err = r.number(p, 1, &r.weekday)
	case "ID":
		if _, err = r.number(p, 1, &r.weekday); err == nil {
			if r.weekday++; r.weekday > 7 {
				r.weekday = 1
			}
		}
	case "WW", "IW":
		_, err = r.number(p, 2, &r.weekNo)
	case "W":
		_, err = r.number(p, 1, &r.weekOfMonth)
	case "Q":
		_, err = r.number(p, 1, nil) // which date of the quarter would it be
	case "J":
		_, err = r.number(p, 1, &r.julian)
	default:
		return false, nil
	}
	return true, err
}

func (r *timeReader) yearPattern(p *templatePart) (known bool, err error) {
	switch p.id {
	case "CC":
		_, err = r.number(p, 2, &r.century)
		return true, err
	case "Y,YYY":
		return true, r.thousands(p)
	case "YYYY", "IYYY", "YYY", "IYY", "YY", "IY", "Y", "I":
	default:
		return false, nil
	}
	digits := len(p.id)
	used, err := r.number(p, digits, &r.year)
	if err == nil && digits < 4 && used < 4 {
		r.year = nearYear(r.year)
	}
	r.yearDigits = digits
	return true, err
}

// thousands reads a year with a comma.
func (r *timeReader) thousands(p *templatePart) error {
	digits := func(s []byte, most int) int {
		k := 0
		for k < len(s) && k < most && s[k] >= '0' && s[k] <= '9' {
			k++
		}
		return k
	}
	a := digits(r.s, 7)
	if a == 0 || a >= len(r.s) || r.s[a] != ',' || digits(r.s[a+1:], 3) == 0 {
		return templateError("invalid input string for \"Y,YYY\"")
	}
	b := digits(r.s[a+1:], 3)
	high, _ := strconv.Atoi(string(r.s[:a]))
	low, _ := strconv.Atoi(string(r.s[a+1 : a+1+b]))
	r.step(a + 1 + b)
	r.yearDigits = 4
	return r.set(&r.year, high*1000+low, p)
}

// nearYear completes a year of fewer than four digits to the one nearest 2020.
func nearYear(y int) int {
	switch {
	case y < 70:
		return y + 2000
	case y < 100:
		return y + 1900
	case y < 520:
		return y + 2000
	case y < 1000:
		return y + 1000
	}
	return y
}

func (r *timeReader) namePattern(p *templatePart) (known bool, err error) {
	var k int
	switch p.id {
	case "AD", "BC", "A.D.", "B.C.":
		words := []string{"AD", "BC"}
		if len(p.id) == 4 {
			words = []string{"A.D.", "B.C."}
		}
		k, err = r.oneOf(p, words)
		r.bc = k == 1
	case "MONTH", "MON":
		if k, err = r.oneOf(p, namesOf(monthNames, p.id == "MON")); err == nil {
			err = r.set(&r.month, k+1, p)
		}
	case "DAY", "DY":
		if k, err = r.oneOf(p, namesOf(dayNames, p.id == "DY")); err == nil {
			r.weekday = k + 1
		}
	case "RM":
		if k, err = r.oneOf(p, romansDown); err == nil {
			err = r.set(&r.month, 12-k, p)
		}
	default:
		return false, nil
	}
	return true, err
}

// romansDown has longer numerals before those they begin with.
var romansDown = []string{"XII", "XI", "X", "IX", "VIII", "VII", "VI", "V", "IV", "III", "II", "I"}

func namesOf(full []string, short bool) []string {
	if !short {
		return full
	}
	out := make([]string, len(full))
	for i, n := range full {
		out[i] = n[:3]
	}
	return out
}
