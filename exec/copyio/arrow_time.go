package copyio

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

const (
	dayMicros = 86_400_000_000
	// The first day that PostgreSQL's dates and timestamps know, 4714-11-24 BC,
	// and the day after the last date, 5874897-12-31.
	firstDay   = -2_440_588
	afterDates = 2_145_042_906
)

// toMicros scales a count of units; ok is false when it does not fit, exact
// when a part below a microsecond is lost.
func toMicros(x int64, unit arrow.TimeUnit) (us int64, ok, exact bool) {
	factor := int64(1)
	switch unit {
	case arrow.Second:
		factor = 1_000_000
	case arrow.Millisecond:
		factor = 1000
	case arrow.Nanosecond:
		return floorDiv(x, 1000), true, x%1000 == 0
	}
	hi, lo := bits.Mul64(uint64(abs(x)), uint64(factor))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false, true
	}
	return x * factor, true, true
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}

// instants converts dates and timestamps. Timestamps without a zone are read
// as UTC, and so is the clock of those with one.
func instants(from arrow.DataType, to types.Type) converter {
	switch to.OID {
	case types.Timestamp, types.TimestampTZ, types.Date:
	default:
		return nil
	}
	read := func(a arrow.Array, i int) (us int64, ok, exact bool) {
		switch a := a.(type) {
		case *array.Date32:
			return int64(a.Value(i)) * dayMicros, true, true
		case *array.Date64:
			return toMicros(int64(a.Value(i)), arrow.Millisecond)
		case *array.Timestamp:
			return toMicros(int64(a.Value(i)), from.(*arrow.TimestampType).Unit)
		}
		return 0, false, true
	}
	if from.ID() == arrow.DATE32 {
		days := func(a arrow.Array, i int) int64 { return int64(a.(*array.Date32).Value(i)) }
		if to.OID == types.Date {
			return each(func(v *vector.Vector, a arrow.Array, i int) error { return appendDate(v, days(a, i)) })
		}
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			d := days(a, i)
			if d > math.MaxInt64/dayMicros-1 {
				return timestampRange()
			}
			return appendTimestamp(v, d*dayMicros, to)
		})
	}
	return each(func(v *vector.Vector, a arrow.Array, i int) error {
		us, ok, exact := read(a, i)
		switch {
		case !ok:
			return timestampRange()
		case !exact:
			return pgerr.New(pgerr.NumericValueOutOfRange, "value of a nanosecond timestamp cannot be stored exactly as type %s", types.FormatType(types.T(to.OID)))
		case to.OID == types.Date:
			if floorDiv(us, dayMicros)*dayMicros != us {
				return pgerr.New(pgerr.NumericValueOutOfRange, "value of a timestamp cannot be stored exactly as type date")
			}
			return appendDate(v, floorDiv(us, dayMicros))
		}
		return appendTimestamp(v, us, to)
	})
}

func timestampRange() error { return pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range") }

func appendDate(v *vector.Vector, d int64) error {
	if d < firstDay || d >= afterDates {
		return pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range")
	}
	v.AppendInt32(int32(d))
	return nil
}

// appendTimestamp appends microseconds since 1970, rounded to the column's
// precision only where nothing is lost.
func appendTimestamp(v *vector.Vector, us int64, to types.Type) error {
	if us < firstDay*dayMicros || us == math.MaxInt64 {
		return timestampRange()
	}
	if to.Mod >= 0 && to.Mod < 6 {
		if unit := int64(math.Pow10(6 - int(to.Mod))); us%unit != 0 {
			return pgerr.New(pgerr.NumericValueOutOfRange, "value of a timestamp cannot be stored exactly as type %s", types.FormatType(to))
		}
	}
	v.AppendInt64(us)
	return nil
}

func times(from arrow.DataType, to types.Type) converter {
	if to.OID != types.Time {
		return nil
	}
	return each(func(v *vector.Vector, a arrow.Array, i int) error {
		var us int64
		ok, exact := true, true
		switch a := a.(type) {
		case *array.Time32:
			us, ok, exact = toMicros(int64(a.Value(i)), from.(*arrow.Time32Type).Unit)
		case *array.Time64:
			us, ok, exact = toMicros(int64(a.Value(i)), from.(*arrow.Time64Type).Unit)
		}
		if !ok || us < 0 || us > dayMicros {
			return pgerr.New(pgerr.DatetimeFieldOverflow, "time out of range")
		}
		if !exact {
			return pgerr.New(pgerr.NumericValueOutOfRange, "value of a nanosecond time cannot be stored exactly as type time without time zone")
		}
		v.AppendInt64(us)
		return nil
	})
}

// decimalText returns an array's value as text.
func decimalText(a arrow.Array, i int, scale int32) string {
	switch a := a.(type) {
	case *array.Decimal32:
		return a.Value(i).ToString(scale)
	case *array.Decimal64:
		return a.Value(i).ToString(scale)
	case *array.Decimal128:
		return a.Value(i).ToString(scale)
	case *array.Decimal256:
		return a.Value(i).ToString(scale)
	}
	return ""
}

func decimals(from arrow.DataType, to types.Type) converter {
	scale := from.(arrow.DecimalType).GetScale()
	switch to.OID {
	case types.Numeric, types.Text, types.Varchar, types.BPChar:
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			return types.ParseText(v, to, []byte(decimalText(a, i, scale)), utc)
		})
	case types.Int2, types.Int4, types.Int8:
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			s := trimFraction(decimalText(a, i, scale))
			if strings.Contains(s, ".") {
				return inexact(s, to)
			}
			x, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return outOfRange(to)
			}
			return appendInt(v, x, to)
		})
	case types.Float4, types.Float8:
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			s := trimFraction(decimalText(a, i, scale))
			size := 64
			if to.OID == types.Float4 {
				size = 32
			}
			// The shortest text that reads as the same float must be the decimal.
			x, err := strconv.ParseFloat(s, size)
			if err != nil || strconv.FormatFloat(x, 'f', -1, size) != s {
				return inexact(s, to)
			}
			return appendFloat(v, x, s, to)
		})
	}
	return nil
}

func trimFraction(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func intervals(from arrow.DataType, to types.Type) converter {
	if to.OID != types.Interval || to.Mod >= 0 {
		return nil
	}
	return each(func(v *vector.Vector, a arrow.Array, i int) error {
		var us int64
		var days, months int32
		ok, exact := true, true
		switch a := a.(type) {
		case *array.Duration:
			us, ok, exact = toMicros(int64(a.Value(i)), from.(*arrow.DurationType).Unit)
		case *array.MonthInterval:
			months = int32(a.Value(i))
		case *array.DayTimeInterval:
			x := a.Value(i)
			days, us = x.Days, int64(x.Milliseconds)*1000
		case *array.MonthDayNanoInterval:
			x := a.Value(i)
			months, days = x.Months, x.Days
			us, ok, exact = toMicros(x.Nanoseconds, arrow.Nanosecond)
		}
		if !ok {
			return pgerr.New(pgerr.DatetimeFieldOverflow, "interval out of range")
		}
		if !exact {
			return pgerr.New(pgerr.NumericValueOutOfRange, "value of a nanosecond interval cannot be stored exactly as type interval")
		}
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], uint64(us))
		binary.LittleEndian.PutUint32(b[8:], uint32(days))
		binary.LittleEndian.PutUint32(b[12:], uint32(months))
		v.AppendFixed16(b)
		return nil
	})
}
