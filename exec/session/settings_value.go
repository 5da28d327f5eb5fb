package session

import (
	"math"
	"strconv"
	"strings"

	"tsdb/sql/pgerr"
)

func parseBound(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return f
}

// canonical validates a value for p and returns the form in which it is kept:
// on/off, an integer in p's unit, an enum member as listed.
func (p *parameter) canonical(s *Session, value string) (string, error) {
	var err error
	switch p.typ {
	case boolParam:
		b, ok := parseBool(value)
		if !ok {
			return "", pgerr.New(pgerr.InvalidParameterValue, `parameter "%s" requires a Boolean value`, p.name)
		}
		value = onOff(b)
	case intParam:
		value, err = p.canonicalInt(value)
	case realParam:
		value, err = p.canonicalReal(value)
	case enumParam:
		value, err = p.canonicalEnum(value)
	}
	if err == nil && p.check != nil {
		value, err = p.check(s, value)
	}
	return value, err
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// parseBool reads a boolean as PostgreSQL does: any unique prefix of true,
// false, yes, no, on, off, or 1 and 0.
func parseBool(s string) (value, ok bool) {
	s = strings.ToLower(s)
	if s == "" || s == "o" {
		return false, false
	}
	for _, w := range []string{"true", "yes", "on", "1"} {
		if strings.HasPrefix(w, s) {
			return true, true
		}
	}
	for _, w := range []string{"false", "no", "off", "0"} {
		if strings.HasPrefix(w, s) {
			return false, true
		}
	}
	return false, false
}

func (p *parameter) invalid(value string) *pgerr.Error {
	return pgerr.New(pgerr.InvalidParameterValue, `invalid value for parameter "%s": "%s"`, p.name, value)
}

// timeUnits and memoryUnits hold units from large to small, in microseconds and bytes.
var (
	timeUnits   = []unit{{"d", 86400e6}, {"h", 3600e6}, {"min", 60e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}}
	memoryUnits = []unit{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}
)

type unit struct {
	name string
	size float64
}

// units returns the family of p's unit and the size of the unit itself.
func (p *parameter) units() ([]unit, float64) {
	if p.unit == "8kB" {
		return memoryUnits, 8192
	}
	for _, family := range [][]unit{timeUnits, memoryUnits} {
		for _, u := range family {
			if u.name == p.unit {
				return family, u.size
			}
		}
	}
	return nil, 1
}

// number splits a value into its number and unit and returns it in p's unit.
func (p *parameter) number(value string) (float64, *pgerr.Error) {
	v := strings.TrimSpace(value)
	end := len(v)
	for end > 0 && (v[end-1] >= 'a' && v[end-1] <= 'z' || v[end-1] >= 'A' && v[end-1] <= 'Z') {
		end--
	}
	if strings.HasPrefix(v, "0x") || strings.HasPrefix(v, "0X") {
		n, err := strconv.ParseInt(v, 0, 64)
		if err != nil {
			return 0, p.invalid(value)
		}
		return float64(n), nil
	}
	num, name := strings.TrimSpace(v[:end]), v[end:]
	f, err := strconv.ParseFloat(num, 64)
	if err != nil || math.IsNaN(f) {
		return 0, p.invalid(value)
	}
	if name == "" {
		return f, nil
	}
	family, own := p.units()
	for _, u := range family {
		if u.name == name {
			return f * u.size / own, nil
		}
	}
	e := p.invalid(value)
	if family != nil {
		e.Hint = `Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".`
		if family[0].name == "TB" {
			e.Hint = `Valid units for this parameter are "B", "kB", "MB", "GB", and "TB".`
		}
	}
	return 0, e
}

func (p *parameter) canonicalInt(value string) (string, error) {
	f, err := p.number(value)
	if err != nil {
		return "", err
	}
	f = math.RoundToEven(f)
	if p.max <= math.MaxInt32 && (f > math.MaxInt32 || f < math.MinInt32) {
		return "", p.invalid(value).WithHint("Value exceeds integer range.")
	}
	if f < p.min || f > p.max {
		return "", p.outOfRange(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return strconv.FormatInt(int64(f), 10), nil
}

func (p *parameter) outOfRange(v string) error {
	u := p.unit
	if u != "" {
		u = " " + u
	}
	return pgerr.New(pgerr.InvalidParameterValue, `%s%s is outside the valid range for parameter "%s" (%s .. %s)`, v, u, p.name,
		strconv.FormatFloat(p.min, 'g', -1, 64), formatBound(p.max))
}

func formatBound(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}

func (p *parameter) canonicalReal(value string) (string, error) {
	f, err := p.number(value)
	if err != nil {
		return "", err
	}
	if f < p.min || f > p.max {
		return "", p.outOfRange(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return strconv.FormatFloat(f, 'g', -1, 64), nil
}

// enumSynonyms are spellings of enum members that PostgreSQL accepts besides those it lists.
var enumSynonyms = map[string]string{"true": "on", "yes": "on", "1": "on", "false": "off", "no": "off", "0": "off",
	"debug": "debug2", "info": "info"}

func (p *parameter) canonicalEnum(value string) (string, error) {
	for _, e := range p.enum {
		if strings.EqualFold(e, value) {
			return e, nil
		}
	}
	if syn, ok := enumSynonyms[strings.ToLower(value)]; ok {
		for _, e := range p.enum {
			if e == syn {
				return e, nil
			}
		}
	}
	return "", p.invalid(value).WithHint("Available values: %s.", strings.Join(p.enum, ", "))
}

// show returns the form of a kept value that SHOW prints: integers with the
// largest unit that divides them.
func (p *parameter) show(value string) string {
	if p.unit == "" || (p.typ != intParam && p.typ != realParam) {
		return value
	}
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || f <= 0 {
		return value
	}
	family, own := p.units()
	f *= own
	for _, u := range family {
		if q := f / u.size; q == math.Trunc(q) {
			return strconv.FormatInt(int64(q), 10) + u.name
		}
	}
	return value + p.unit
}
