package pgwire

import (
	"math"
	"strconv"
	"time"

	"tsdb/sql/types"
)

const (
	secondMicros = 1_000_000
	dayMicros    = 86_400 * secondMicros
)

// The years whose ISO text has four digits and no BC: what the fast paths cover.
const (
	minFastDay = -719162 // 0001-01-01
	maxFastDay = 2932896 // 9999-12-31
)

func (c *column) appendText(dst []byte, row int, ctx *types.Context) []byte {
	v, p := c.vec, row&c.mask
	switch c.enc {
	case raw:
		return append(dst, v.Bytes(row)...)
	case textBool:
		if v.Bits.Get(p) {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case textInt16:
		return strconv.AppendInt(dst, int64(v.I16[p]), 10)
	case textInt32:
		return strconv.AppendInt(dst, int64(v.I32[p]), 10)
	case textInt64:
		return strconv.AppendInt(dst, v.I64[p], 10)
	case textUint32:
		return strconv.AppendUint(dst, uint64(v.U32[p]), 10)
	case textFloat64:
		if out, ok := appendDecimal(dst, v.F64[p]); ok {
			return out
		}
	case textDate:
		if day := int64(v.I32[p]); day >= minFastDay && day <= maxFastDay {
			return c.time.appendDay(dst, day)
		}
	case textTimestamp:
		if out, ok := c.time.appendTimestamp(dst, v.I64[p]); ok {
			return out
		}
	case textTimestampTZ:
		if out, ok := c.time.appendZoned(dst, v.I64[p], ctx); ok {
			return out
		}
	}
	return types.AppendText(dst, c.typ, v, row, ctx)
}

var decimalScale = [...]float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6}

// appendDecimal prints x if it is a decimal of at most 15 digits, six of them
// after the point: such a decimal is the only one that short which reads back
// as x, hence the shortest form that PostgreSQL prints.
func appendDecimal(dst []byte, x float64) ([]byte, bool) {
	a := math.Abs(x)
	if a == 0 {
		if math.Signbit(x) {
			dst = append(dst, '-')
		}
		return append(dst, '0'), true
	}
	if !(a >= 1e-4 && a < 1e15) {
		return dst, false
	}
	for k, scale := range decimalScale {
		f := math.Round(a * scale)
		if f >= 1e15 {
			return dst, false
		}
		if f/scale != a {
			continue
		}
		if x < 0 {
			dst = append(dst, '-')
		}
		m := int64(f)
		if k == 0 {
			return strconv.AppendInt(dst, m, 10), true
		}
		unit := int64(scale)
		dst = strconv.AppendInt(dst, m/unit, 10)
		dst = append(dst, '.')
		rest := m % unit
		for unit /= 10; unit > 0; unit /= 10 {
			dst = append(dst, byte('0'+rest/unit%10))
		}
		return dst, true
	}
	return dst, false
}

// timeText remembers what neighbouring timestamps share: the day's text and
// the stretch of time over which the zone's offset holds.
type timeText struct {
	day       int64
	text      [10]byte // YYYY-MM-DD of day
	valid     bool
	from, to  int64 // microseconds in [from, to) have this offset
	offset    int64 // microseconds east of UTC
	suffix    [9]byte
	suffixLen int
}

func (t *timeText) appendDay(dst []byte, day int64) []byte {
	if !t.valid || t.day != day {
		y, m, d := civil(day)
		digits(t.text[0:4], y)
		t.text[4] = '-'
		digits(t.text[5:7], m)
		t.text[7] = '-'
		digits(t.text[8:10], d)
		t.day, t.valid = day, true
	}
	return append(dst, t.text[:]...)
}

// appendTimestamp prints microseconds since 1970 as 2024-01-02 03:04:05.6.
func (t *timeText) appendTimestamp(dst []byte, us int64) ([]byte, bool) {
	if us == math.MaxInt64 || us == math.MinInt64 {
		return dst, false
	}
	day, rest := us/dayMicros, us%dayMicros
	if rest < 0 {
		day, rest = day-1, rest+dayMicros
	}
	if day < minFastDay || day > maxFastDay {
		return dst, false
	}
	dst = t.appendDay(dst, day)
	s, frac := int(rest/secondMicros), int(rest%secondMicros)
	var b [9]byte
	b[0], b[3], b[6] = ' ', ':', ':'
	digits(b[1:3], s/3600)
	digits(b[4:6], s/60%60)
	digits(b[7:9], s%60)
	dst = append(dst, b[:]...)
	if frac == 0 {
		return dst, true
	}
	var f [7]byte
	f[0] = '.'
	digits(f[1:7], frac)
	n := len(f)
	for f[n-1] == '0' {
		n--
	}
	return append(dst, f[:n]...), true
}

// appendZoned prints a timestamptz in the session's zone.
func (t *timeText) appendZoned(dst []byte, us int64, ctx *types.Context) ([]byte, bool) {
	if us < minFastDay*dayMicros+dayMicros || us > maxFastDay*dayMicros-dayMicros {
		return dst, false
	}
	if us < t.from || us >= t.to {
		t.setOffset(us, ctx)
	}
	dst, ok := t.appendTimestamp(dst, us+t.offset)
	if !ok {
		return dst, false
	}
	return append(dst, t.suffix[:t.suffixLen]...), true
}

func (t *timeText) setOffset(us int64, ctx *types.Context) {
	t.from, t.to = math.MinInt64, math.MaxInt64
	seconds := 0
	if ctx != nil && ctx.Zone != nil && ctx.Zone != time.UTC {
		at := time.UnixMicro(us).In(ctx.Zone)
		_, seconds = at.Zone()
		from, to := at.ZoneBounds()
		if !from.IsZero() {
			t.from = from.UnixMicro()
		}
		if !to.IsZero() {
			t.to = to.UnixMicro()
		}
	}
	t.offset = int64(seconds) * secondMicros
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	t.suffix[0] = sign
	digits(t.suffix[1:3], seconds/3600)
	t.suffixLen = 3
	if seconds%3600 != 0 {
		t.suffix[3] = ':'
		digits(t.suffix[4:6], seconds/60%60)
		t.suffixLen = 6
	}
	if seconds%60 != 0 {
		t.suffix[6] = ':'
		digits(t.suffix[7:9], seconds%60)
		t.suffixLen = 9
	}
}

// digits writes x with leading zeros to fill dst.
func digits(dst []byte, x int) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = byte('0' + x%10)
		x /= 10
	}
}

// civil turns days since 1970-01-01 into a proleptic Gregorian date. It counts
// in eras of 400 years that begin on 1 March, so that the leap day comes last.
func civil(day int64) (y, m, d int) {
	z := day + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy - (153*mp+2)/5 + 1)
	m = int(mp) + 3
	if m > 12 {
		m -= 12
	}
	y = int(yoe + era*400)
	if m <= 2 {
		y++
	}
	return y, m, d
}
