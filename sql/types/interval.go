package types

import (
	"encoding/binary"
	"math"
	"math/bits"

	"tsdb/sql/pgerr"
)

// IntervalValue is an interval: three independent parts, each of either sign.
//
// Stored form (a row of an interval vector): little-endian, Micros in bytes
// 0-7, Days in 8-11, Months in 12-15. "1 mon 2 days 00:00:00.000003" is
// 03 00 00 00 00 00 00 00  02 00 00 00  01 00 00 00.
type IntervalValue struct {
	Micros int64
	Days   int32
	Months int32
}

// DecodeInterval reads the stored form.
func DecodeInterval(b [16]byte) IntervalValue {
	return IntervalValue{
		Micros: int64(binary.LittleEndian.Uint64(b[:])),
		Days:   int32(binary.LittleEndian.Uint32(b[8:])),
		Months: int32(binary.LittleEndian.Uint32(b[12:])),
	}
}

// Encode returns the stored form.
func (v IntervalValue) Encode() (b [16]byte) {
	binary.LittleEndian.PutUint64(b[:], uint64(v.Micros))
	binary.LittleEndian.PutUint32(b[8:], uint32(v.Days))
	binary.LittleEndian.PutUint32(b[12:], uint32(v.Months))
	return b
}

func errInterval() error { return pgerr.New(pgerr.DatetimeFieldOverflow, "interval out of range") }

// Span returns the length that intervals compare by, in microseconds as a
// 128-bit number: a month is 30 days and a day 24 hours.
func (v IntervalValue) Span() (hi int64, lo uint64) {
	days := int64(v.Months)*30 + int64(v.Days)
	abs := uint64(days)
	if days < 0 {
		abs = -abs
	}
	uhi, ulo := bits.Mul64(abs, usecPerDay)
	if days < 0 {
		var borrow uint64
		ulo, borrow = bits.Sub64(0, ulo, 0)
		uhi, _ = bits.Sub64(0, uhi, borrow)
	}
	lo, carry := bits.Add64(ulo, uint64(v.Micros), 0)
	return int64(uhi) + v.Micros>>63 + int64(carry), lo
}

// Compare orders intervals by Span.
func (v IntervalValue) Compare(o IntervalValue) int {
	h1, l1 := v.Span()
	h2, l2 := o.Span()
	switch {
	case h1 < h2 || h1 == h2 && l1 < l2:
		return -1
	case h1 != h2 || l1 != l2:
		return 1
	}
	return 0
}

// Add returns v + o part by part.
//
// Errors: 22008.
func (v IntervalValue) Add(o IntervalValue) (IntervalValue, error) {
	m, ok1 := add32(v.Months, o.Months)
	d, ok2 := add32(v.Days, o.Days)
	us, ok3 := add64(v.Micros, o.Micros)
	if !ok1 || !ok2 || !ok3 {
		return IntervalValue{}, errInterval()
	}
	return IntervalValue{us, d, m}, nil
}

// Sub returns v - o part by part.
//
// Errors: 22008.
func (v IntervalValue) Sub(o IntervalValue) (IntervalValue, error) {
	m := int64(v.Months) - int64(o.Months)
	d := int64(v.Days) - int64(o.Days)
	us := v.Micros - o.Micros
	if m != int64(int32(m)) || d != int64(int32(d)) || (v.Micros < 0) != (o.Micros < 0) && (us < 0) != (v.Micros < 0) {
		return IntervalValue{}, errInterval()
	}
	return IntervalValue{us, int32(d), int32(m)}, nil
}

// Neg returns -v.
//
// Errors: 22008.
func (v IntervalValue) Neg() (IntervalValue, error) { return IntervalValue{}.Sub(v) }

func add32(a, b int32) (int32, bool) {
	s := int64(a) + int64(b)
	return int32(s), s == int64(int32(s))
}

func add64(a, b int64) (int64, bool) {
	s := a + b
	return s, (a < 0) != (b < 0) || (s < 0) == (a < 0)
}

// Mul returns v * f; fractions of months become days of a 30-day month, those
// of days become time.
//
// Errors: 22008.
func (v IntervalValue) Mul(f float64) (IntervalValue, error) {
	return v.scale(func(x float64) float64 { return x * f })
}

// Div returns v / f.
//
// Errors: 22012, 22008.
func (v IntervalValue) Div(f float64) (IntervalValue, error) {
	if f == 0 {
		return IntervalValue{}, errDivisionByZero()
	}
	return v.scale(func(x float64) float64 { return x / f })
}

func (v IntervalValue) scale(op func(float64) float64) (r IntervalValue, err error) {
	months, days := op(float64(v.Months)), op(float64(v.Days))
	if !fits32(months) || !fits32(days) {
		return r, errInterval()
	}
	r.Months, r.Days = int32(months), int32(days)
	// Whole units were cut off; cascade what is left of them downwards. The
	// rounding to microseconds keeps float noise from reaching the result.
	monthDays := roundToMicro((months - float64(r.Months)) * 30)
	rest := days - float64(r.Days) + monthDays - math.Trunc(monthDays)
	seconds := roundToMicro(rest * secPerDay)
	if math.Abs(seconds) >= secPerDay {
		// The fractions of both add up to a day.
		whole := math.Trunc(seconds / secPerDay)
		d, ok := add32(r.Days, int32(whole))
		if !ok {
			return r, errInterval()
		}
		r.Days = d
		seconds -= whole * secPerDay
	}
	d, ok := add32(r.Days, int32(monthDays))
	if !ok {
		return r, errInterval()
	}
	r.Days = d
	us := math.RoundToEven(op(float64(v.Micros)) + seconds*usecPerSec)
	if math.IsNaN(us) || us < -(1<<63) || us >= 1<<63 {
		return r, errInterval()
	}
	r.Micros = int64(us)
	return r, nil
}

// roundToMicro rounds to six decimals.
func roundToMicro(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }

func fits32(f float64) bool { return !math.IsNaN(f) && f <= math.MaxInt32 && f >= math.MinInt32 }

// JustifyHours moves whole days out of Micros, giving both the same sign.
//
// Errors: 22008.
func (v IntervalValue) JustifyHours() (IntervalValue, error) {
	d := v.Micros / usecPerDay
	days, ok := add32(v.Days, int32(d))
	if !ok {
		return v, errInterval()
	}
	v.Micros -= d * usecPerDay
	switch {
	case days > 0 && v.Micros < 0:
		v.Micros += usecPerDay
		days--
	case days < 0 && v.Micros > 0:
		v.Micros -= usecPerDay
		days++
	}
	v.Days = days
	return v, nil
}

// JustifyDays moves whole months of 30 days out of Days, giving both the same
// sign.
//
// Errors: 22008.
func (v IntervalValue) JustifyDays() (IntervalValue, error) {
	m := v.Days / 30
	months, ok := add32(v.Months, m)
	if !ok {
		return v, errInterval()
	}
	v.Days -= m * 30
	switch {
	case months > 0 && v.Days < 0:
		v.Days += 30
		months--
	case months < 0 && v.Days > 0:
		v.Days -= 30
		months++
	}
	v.Months = months
	return v, nil
}

// JustifyInterval moves whole days and months upwards and gives all parts the
// same sign.
//
// Errors: 22008.
func (v IntervalValue) JustifyInterval() (IntervalValue, error) {
	r := v
	if (r.Days > 0 && r.Micros > 0) || (r.Days < 0 && r.Micros < 0) {
		m := r.Days / 30
		months, ok := add32(r.Months, m)
		if !ok {
			return v, errInterval()
		}
		r.Months = months
		r.Days -= m * 30
	}
	d := r.Micros / usecPerDay
	r.Micros -= d * usecPerDay
	days, ok := add32(r.Days, int32(d))
	if !ok {
		return v, errInterval()
	}
	r.Days = days
	m := r.Days / 30
	months, ok := add32(r.Months, m)
	if !ok {
		return v, errInterval()
	}
	r.Months = months
	r.Days -= m * 30
	if r.Months > 0 && (r.Days < 0 || r.Days == 0 && r.Micros < 0) {
		r.Days += 30
		r.Months--
	} else if r.Months < 0 && (r.Days > 0 || r.Days == 0 && r.Micros > 0) {
		r.Days -= 30
		r.Months++
	}
	if r.Days > 0 && r.Micros < 0 {
		r.Micros += usecPerDay
		r.Days--
	} else if r.Days < 0 && r.Micros > 0 {
		r.Micros -= usecPerDay
		r.Days++
	}
	return r, nil
}

// ApplyMod applies interval's modifier: drops the fields below its range and
// rounds to its precision. -1 changes nothing.
func (v IntervalValue) ApplyMod(mod int32) IntervalValue {
	if mod < 0 {
		return v
	}
	cut := func(unit int64) { v.Micros = v.Micros / unit * unit }
	switch mod >> 16 & intervalFullRange {
	case 1 << ivYear:
		v.Months, v.Days, v.Micros = v.Months/12*12, 0, 0
	case 1 << ivMonth, maskYM:
		v.Days, v.Micros = 0, 0
	case 1 << ivDay:
		v.Micros = 0
	case 1 << ivHour, maskDH:
		cut(usecPerHour)
	case 1 << ivMinute, maskHM, maskDHM:
		cut(usecPerMin)
	}
	if p := mod & 0xffff; p < 6 {
		unit := precisionUnit[p]
		if v.Micros >= 0 {
			v.Micros = (v.Micros + unit/2) / unit * unit
		} else {
			v.Micros = -((-v.Micros + unit/2) / unit * unit)
		}
	}
	return v
}
