package types

import (
	_ "embed" // zone tables
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones on machines without a zone database

	"tsdb/sql/pgerr"
)

// zoneNames lists the names of the zone database, one a line.
//
//go:embed zonedata/names.txt
var zoneNames string

// zoneAbbrevs lists PostgreSQL's default abbreviations, one a line: the
// abbreviation in lower case, then either seconds east of UTC (and D for
// daylight saving) or the zone whose history gives the meaning.
//
//go:embed zonedata/abbrevs.txt
var zoneAbbrevs string

// Abbrev is a time zone abbreviation that date input knows.
type Abbrev struct {
	Name   string // upper case
	Offset int    // seconds east of UTC; unused if Zone is set
	DST    bool
	Zone   string // the zone whose history gives the offset, or empty
}

var zoneTables = sync.OnceValue(func() (t struct {
	names   []string
	byLower map[string]string
	abbrevs []Abbrev
	abbrev  map[string]*Abbrev
}) {
	t.names = strings.Fields(zoneNames)
	t.byLower = make(map[string]string, len(t.names))
	for _, n := range t.names {
		t.byLower[strings.ToLower(n)] = n
	}
	lines := strings.Split(strings.TrimSpace(zoneAbbrevs), "\n")
	t.abbrevs = make([]Abbrev, len(lines))
	t.abbrev = make(map[string]*Abbrev, len(lines))
	for i, line := range lines {
		f := strings.Fields(line)
		a := &t.abbrevs[i]
		a.Name, a.DST = strings.ToUpper(f[0]), len(f) > 2
		if off, err := strconv.Atoi(f[1]); err == nil {
			a.Offset = off
		} else {
			a.Zone = f[1]
		}
		t.abbrev[f[0]] = a
	}
	return t
})

// ZoneNames returns all zone names, for pg_timezone_names. Read only.
func ZoneNames() []string { return zoneTables().names }

// Abbrevs returns all abbreviations, for pg_timezone_abbrevs. Read only.
func Abbrevs() []Abbrev { return zoneTables().abbrevs }

var zoneCache sync.Map // lower-case name → *time.Location, bounded by zoneCacheMax

// zoneCacheMax bounds the cache: names of the database are few, but POSIX
// specifications are endless.
const zoneCacheMax = 2_000

var zoneCacheSize struct {
	sync.Mutex
	n int
}

// LoadZone finds a time zone by its name in any case, such as
// "europe/berlin", or by a POSIX specification, such as "EST5EDT" or
// "<+03>-3" (whose offsets count west of Greenwich). It does not know
// abbreviations: see ResolveZone.
func LoadZone(name string) (*time.Location, bool) {
	lower := strings.ToLower(name)
	if loc, ok := zoneCache.Load(lower); ok {
		return loc.(*time.Location), true
	}
	var loc *time.Location
	if full, ok := zoneTables().byLower[lower]; ok {
		if l, err := time.LoadLocation(full); err == nil {
			loc = l
		}
	}
	if loc == nil {
		if loc = posixZone(name); loc == nil {
			return nil, false
		}
	}
	zoneCacheSize.Lock()
	defer zoneCacheSize.Unlock()
	if zoneCacheSize.n < zoneCacheMax {
		zoneCacheSize.n++
		zoneCache.Store(lower, loc)
	}
	return loc, true
}

// posixZone builds a location from a POSIX specification, nil if it is none:
// [name]offset[name[offset][,rule]].
func posixZone(spec string) *time.Location {
	rest := spec
	std, rest, ok := posixName(rest, true)
	if !ok {
		return nil
	}
	west, rest, ok := posixOffset(rest)
	if !ok {
		return nil
	}
	footer := "<" + posixSafe(std) + ">" + posixHMS(west)
	if rest != "" {
		if rest[0] != '<' && !isAlpha(rest[0]) {
			return nil
		}
		if !strings.Contains(rest, ",") {
			rest += ",M3.2.0,M11.1.0"
		}
		footer += rest
	}
	loc, err := time.LoadLocationFromTZData(spec, tzif(std, -west, footer))
	if err != nil {
		return nil
	}
	return loc
}

// posixSafe gives a zone without a name one that rules can be written with.
func posixSafe(name string) string {
	if len(name) < 3 {
		return "-00"
	}
	return name
}

func posixHMS(sec int) string {
	sign := ""
	if sec < 0 {
		sign, sec = "-", -sec
	}
	return fmt.Sprintf("%s%d:%02d:%02d", sign, sec/3600, sec/60%60, sec%60)
}

func posixName(s string, mayBeEmpty bool) (name, rest string, ok bool) {
	if s == "" {
		return "", "", false
	}
	if s[0] == '<' {
		end := strings.IndexByte(s, '>')
		if end < 0 {
			return "", "", false
		}
		return s[1:end], s[end+1:], true
	}
	i := 0
	for i < len(s) && !isDigit(s[i]) && s[i] != ',' && s[i] != '-' && s[i] != '+' {
		i++
	}
	return s[:i], s[i:], i > 0 || mayBeEmpty
}

// posixOffset reads [+-]hh[:mm[:ss]] as seconds west.
func posixOffset(s string) (west int, rest string, ok bool) {
	sign := 1
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	for unit, limit := 3600, 167; unit > 0; unit, limit = unit/60, 59 {
		i, v := 0, 0
		for i < len(s) && isDigit(s[i]) && v < 1000 {
			v = v*10 + int(s[i]-'0')
			i++
		}
		if i == 0 || v > limit {
			return 0, "", false
		}
		west += v * unit
		s = s[i:]
		if s == "" || s[0] != ':' {
			break
		}
		s = s[1:]
	}
	return sign * west, s, true
}

// tzif returns zone data (RFC 8536) with one type and a rule for all times.
func tzif(name string, east int, footer string) []byte {
	header := func(types, chars uint32) []byte {
		h := append([]byte("TZif2"), make([]byte, 15)...)
		for _, n := range [...]uint32{0, 0, 0, 0, types, chars} {
			h = binary.BigEndian.AppendUint32(h, n)
		}
		return h
	}
	b := header(0, 0)
	b = append(b, header(1, uint32(len(name)+1))...)
	b = binary.BigEndian.AppendUint32(b, uint32(int32(east)))
	b = append(b, 0, 0)
	b = append(b, name...)
	b = append(b, 0)
	return append(b, "\n"+footer+"\n"...)
}

// isUTC reports whether local times of loc are UTC at all times.
func isUTC(loc *time.Location) bool { return loc == nil || loc == time.UTC }

// ZoneAt returns the seconds east of UTC and the abbreviation in force in loc
// (nil: UTC) at an instant in microseconds since 1970.
func ZoneAt(loc *time.Location, us int64) (offset int, abbrev string, dst bool) {
	if isUTC(loc) {
		return 0, "UTC", false
	}
	t := time.Unix(floorDiv(us, usecPerSec), 0).In(loc)
	abbrev, offset = t.Zone()
	return offset, abbrev, t.IsDST()
}

func offsetAt(loc *time.Location, us int64) int64 {
	if isUTC(loc) {
		return 0
	}
	_, off := time.Unix(floorDiv(us, usecPerSec), 0).In(loc).Zone()
	return int64(off)
}

// LocalOffset returns the seconds east of UTC that apply to a local time
// (microseconds since 1970 as if it were UTC). In a gap the offset before the
// change counts, in an overlap the one after it: the smaller one both times.
func LocalOffset(loc *time.Location, local int64) int64 {
	if isUTC(loc) {
		return 0
	}
	sec := floorDiv(local, usecPerSec)
	t := time.Unix(sec-secPerDay, 0).In(loc)
	_, before := t.Zone()
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return int64(before)
	}
	boundary := end.Unix()
	_, after := end.Zone()
	early, late := sec-int64(before), sec-int64(after)
	switch {
	case early < boundary && late < boundary:
		return int64(before)
	case early > boundary && late >= boundary:
		return int64(after)
	}
	return int64(min(before, after))
}

// maxTransitions bounds the walk through a zone's history.
const maxTransitions = 1_000

// offsetAt returns what the abbreviation means at a local time: the last
// meaning it had in its zone by then, else its first one, else the zone's own
// offset.
func (a *Abbrev) offsetAt(local int64) int64 {
	if a.Zone == "" {
		return int64(a.Offset)
	}
	loc, ok := LoadZone(a.Zone)
	if !ok {
		return 0
	}
	own := LocalOffset(loc, local)
	at := time.Unix(floorDiv(local, usecPerSec)-own, 0).In(loc)
	for t, n := at, 0; n < maxTransitions; n++ {
		if name, off := t.Zone(); name == a.Name {
			return int64(off)
		}
		start, _ := t.ZoneBounds()
		if start.IsZero() {
			break
		}
		t = start.Add(-time.Second)
	}
	for t, n := at, 0; n < maxTransitions; n++ {
		_, end := t.ZoneBounds()
		if end.IsZero() || end.Year() > 2100 {
			break
		}
		if name, off := end.Zone(); name == a.Name {
			return int64(off)
		}
		t = end
	}
	return own
}

// Zone is a time zone as AT TIME ZONE names it: a location, or an
// abbreviation with the meaning it has at the time in question.
type Zone struct {
	loc    *time.Location
	abbrev *Abbrev
}

// LocationZone returns the zone of a location, nil being UTC.
func LocationZone(loc *time.Location) Zone { return Zone{loc: loc} }

// FixedOffsetZone returns the zone seconds east of UTC.
func FixedOffsetZone(seconds int) Zone { return Zone{abbrev: &Abbrev{Offset: seconds}} }

// ResolveZone finds a zone by abbreviation or name, abbreviations first.
//
// Errors: 22023.
func ResolveZone(name string) (Zone, error) {
	if a := zoneTables().abbrev[strings.ToLower(name)]; a != nil {
		return Zone{abbrev: a}, nil
	}
	if loc, ok := LoadZone(name); ok {
		return Zone{loc: loc}, nil
	}
	return Zone{}, errZone([]byte(name))
}

// Offset returns the seconds east of UTC at an instant.
func (z Zone) Offset(us int64) int64 {
	if z.abbrev == nil {
		return offsetAt(z.loc, us)
	}
	if z.abbrev.Zone == "" {
		return int64(z.abbrev.Offset)
	}
	// The abbreviation's meaning is looked up by local time.
	loc, _ := LoadZone(z.abbrev.Zone)
	return z.abbrev.offsetAt(us + offsetAt(loc, us)*usecPerSec)
}

// LocalOffset returns the seconds east of UTC that apply to a local time.
func (z Zone) LocalOffset(local int64) int64 {
	if z.abbrev == nil {
		return LocalOffset(z.loc, local)
	}
	return z.abbrev.offsetAt(local)
}

// ParseZoneSetting reads the value of the setting TimeZone: a name, or a
// number of hours east of UTC. name is what SHOW prints.
//
// Errors: 22023.
func ParseZoneSetting(s string) (loc *time.Location, name string, err error) {
	if hours, err := strconv.ParseFloat(s, 64); err == nil && hours > -168 && hours < 168 {
		loc, name := OffsetZone(int(hours * 3600))
		return loc, name, nil
	}
	loc, ok := LoadZone(s)
	if !ok {
		return nil, "", pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter \"TimeZone\": \"%s\"", s)
	}
	return loc, loc.String(), nil
}

// OffsetZone returns the location seconds east of UTC, named as SET TIME ZONE
// with a number or an interval names it: "<+05:30>-05:30".
func OffsetZone(seconds int) (loc *time.Location, name string) {
	sign, anti, abs := "+", "-", seconds
	if seconds < 0 {
		sign, anti, abs = "-", "+", -seconds
	}
	hms := fmt.Sprintf("%02d", abs/3600)
	if abs%3600 != 0 {
		hms += fmt.Sprintf(":%02d", abs/60%60)
	}
	if abs%60 != 0 {
		hms += fmt.Sprintf(":%02d", abs%60)
	}
	name = "<" + sign + hms + ">" + anti + hms
	loc, ok := LoadZone(name)
	if !ok {
		return time.UTC, "UTC"
	}
	return loc, name
}

func errZone(name []byte) error {
	return pgerr.New(pgerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
}
