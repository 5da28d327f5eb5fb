package functions

import (
	"math"
	"strings"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// timeUnit is a field or precision of a time.
type timeUnit uint8

const (
	unitNone timeUnit = iota
	unitMicrosecond
	unitMillisecond
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitQuarter
	unitYear
	unitDecade
	unitCentury
	unitMillennium
	unitEpoch
	unitDow
	unitIsoDow
	unitDoy
	unitIsoYear
	unitJulian
	unitZone
	unitZoneHour
	unitZoneMinute
)

// unitWords are the spellings; PostgreSQL looks at the first ten characters only.
var unitWords = func() map[string]timeUnit {
	m := map[string]timeUnit{}
	for u, words := range map[timeUnit]string{
		unitMicrosecond: "us usec usecond useconds usecs microsecon", unitMillisecond: "ms msec mseconds msecs millisecon",
		unitSecond: "s sec second seconds secs", unitMinute: "m min mins minute minutes", unitHour: "h hour hours hr hrs",
		unitDay: "d day days", unitWeek: "w week weeks", unitMonth: "mon mons month months", unitQuarter: "qtr quarter",
		unitYear: "y year years yr yrs", unitDecade: "dec decade decades decs", unitCentury: "c cent centuries century",
		unitMillennium: "mil millennia millennium mils", unitEpoch: "epoch", unitDow: "dow", unitIsoDow: "isodow", unitDoy: "doy",
		unitIsoYear: "isoyear", unitJulian: "j jd julian", unitZone: "timezone", unitZoneHour: "timezone_h", unitZoneMinute: "timezone_m",
	} {
		for _, w := range strings.Fields(words) {
			m[w] = u
		}
	}
	return m
}()

func parseUnit(word []byte) timeUnit {
	w := strings.ToLower(string(word))
	if len(w) > 10 {
		w = w[:10]
	}
	return unitWords[w]
}

func errUnit(word []byte, known bool, t types.OID) *pgerr.Error {
	w := strings.ToLower(string(word))
	if known {
		return pgerr.New(pgerr.FeatureNotSupported, "unit \"%s\" not supported for type %s", w, typeName(t))
	}
	return pgerr.New(pgerr.InvalidParameterValue, "unit \"%s\" not recognized for type %s", w, typeName(t))
}

// fixedUnits are the units whose length never varies.
var fixedUnits = map[timeUnit]int64{
	unitMicrosecond: 1, unitMillisecond: 1000, unitSecond: microsPerSecond, unitMinute: microsPerMinute,
	unitHour: microsPerHour, unitDay: microsPerDay,
}

// truncDay returns the first day of the unit that holds a day.
func truncDay(day int64, u timeUnit) int64 {
	if u == unitWeek {
		return day - (day + 3 - 7*floorDiv(day+3, 7)) // 1970-01-01 was a Thursday
	}
	y, m, _ := types.CivilFromDays(day)
	switch u {
	case unitMonth:
	case unitQuarter:
		m = (m-1)/3*3 + 1
	default:
		m = 1
		y = truncYear(y, u)
	}
	return types.DaysFromCivil(y, m, 1)
}

// truncYear returns the first year of a decade, century or millennium; the
// latter two begin with the year 1, and there is no year 0 between the eras.
func truncYear(y int, u timeUnit) int {
	span := map[timeUnit]int{unitDecade: 10, unitCentury: 100, unitMillennium: 1000}[u]
	switch {
	case span == 0:
		return y
	case u == unitDecade:
		return int(floorDiv(int64(y), 10)) * 10
	}
	return int(floorDiv(int64(y-1), int64(span)))*span + 1
}

// truncator computes date_trunc for one unit and zone. The last interval found
// is kept: times mostly come in order.
type truncator struct {
	unit   timeUnit
	step   int64 // of fixed units
	z      *zoneCache
	lo, hi int64 // trunc of every time in lo <= t < hi is lo
}

func (t *truncator) trunc(us int64) (int64, error) {
	if us >= t.lo && us < t.hi {
		return t.lo, nil
	}
	if !finiteTS(us) {
		return us, nil
	}
	local := t.z.local(us)
	var start int64
	ok := true
	if t.step > 0 {
		start = floorDiv(local, t.step) * t.step
	} else {
		start, ok = joinDay(truncDay(floorDiv(local, microsPerDay), t.unit), 0)
	}
	if !ok {
		return 0, errTimestamp()
	}
	if t.step > 0 && t.step < microsPerDay {
		start -= t.z.off
		if t.z.lo <= start && start+t.step <= t.z.hi {
			t.lo, t.hi = start, start+t.step
		}
		return start, nil
	}
	res, ok := t.z.instant(start)
	if !ok {
		return 0, errTimestamp()
	}
	// Until the next midnight at least, if the offset does not change before.
	if t.z.offset(res) == local-us && us < math.MaxInt64-2*microsPerDay {
		next := us - (local - floorDiv(local, microsPerDay)*microsPerDay) + microsPerDay
		if t.z.lo <= res && next <= t.z.hi {
			t.lo, t.hi = res, next
		}
	}
	return res, nil
}

// truncKernel makes date_trunc; args are unit, time and perhaps a zone.
func truncKernel(typ types.OID) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var t *truncator
		for i := range out.I64[:n] {
			if !live(out, i) {
				continue
			}
			if us := args[1].I64[i&args[1].Mask()]; !finiteTS(us) {
				out.I64[i] = us
				continue
			}
			if t == nil || !args[0].Const || len(args) == 3 && !args[2].Const {
				var err error
				if t, err = newTruncator(c, typ, args, i); err != nil {
					return err
				}
			}
			if args[0].Const && (len(args) < 3 || args[2].Const) {
				return t.fill(out, args[1], i, n)
			}
			r, err := t.trunc(args[1].I64[i&args[1].Mask()])
			if err != nil {
				return err
			}
			out.I64[i] = r
		}
		return nil
	}
}

// fill truncates rows from..n-1 of v.
func (t *truncator) fill(out, v *vector.Vector, from, n int) error {
	x, m, dst := v.I64, v.Mask(), out.I64
	lo, hi := t.lo, t.hi
	for i := from; i < n; i++ {
		us := x[i&m]
		if us >= lo && us < hi {
			dst[i] = lo
			continue
		}
		if !live(out, i) {
			continue
		}
		r, err := t.trunc(us)
		if err != nil {
			return err
		}
		dst[i] = r
		lo, hi = t.lo, t.hi
	}
	return nil
}

func newTruncator(c *Ctx, typ types.OID, args []*vector.Vector, i int) (*truncator, error) {
	word := args[0].Bytes(i)
	u := parseUnit(word)
	switch {
	case u == unitNone || u >= unitEpoch && u < unitZone:
		return nil, errUnit(word, false, typ)
	case u >= unitZone:
		return nil, errUnit(word, true, typ)
	}
	t := &truncator{unit: u, step: fixedUnits[u], z: newZoneCache(nil)}
	if typ == types.TimestampTZ {
		t.z = newZoneCache(c.Zone)
	}
	if len(args) == 3 {
		var err error
		if t.z, err = namedZone(str(args[2], i)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// truncInterval is date_trunc of an interval.
func truncInterval(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.F16[:n] {
		if !live(out, i) {
			continue
		}
		word := args[0].Bytes(i)
		u := parseUnit(word)
		switch {
		case u == unitNone || u >= unitEpoch:
			return errUnit(word, u >= unitZone, types.Interval)
		case u == unitWeek:
			return errUnit(word, true, types.Interval).WithDetail("Months usually have fractional weeks.")
		}
		v := types.DecodeInterval(args[1].F16[i&args[1].Mask()])
		months := map[timeUnit]int32{unitMonth: 1, unitQuarter: 3, unitYear: 12, unitDecade: 120, unitCentury: 1200, unitMillennium: 12000}[u]
		switch {
		case months > 0:
			v = types.IntervalValue{Months: v.Months / months * months}
		case u == unitDay:
			v.Micros = 0
		default:
			v.Micros = v.Micros / fixedUnits[u] * fixedUnits[u]
		}
		out.F16[i] = v.Encode()
	}
	return nil
}

func init() {
	t, ts, tz := types.Text, types.Timestamp, types.TimestampTZ
	RegisterFunctions(
		fn("date_trunc", ts, truncKernel(ts), t, ts).fails().doc("Start of the unit that holds a time."),
		fn("date_trunc", tz, truncKernel(tz), t, tz).fails().stable().doc("Start of the unit that holds a time, in the session's zone."),
		fn("date_trunc", tz, truncKernel(tz), t, tz, t).fails().stable().doc("Start of the unit that holds a time, in a zone."),
		fn("date_trunc", types.Interval, truncInterval, t, types.Interval).fails().doc("Interval without the fields below a unit."),
	)
}
