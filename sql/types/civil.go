package types

// Units of time in microseconds.
const (
	usecPerSec  = 1_000_000
	usecPerMin  = 60 * usecPerSec
	usecPerHour = 60 * usecPerMin
	usecPerDay  = 24 * usecPerHour
	secPerDay   = 86_400
)

// Bounds of the calendar types.
const (
	pgEpochDays   = 10_957              // 2000-01-01 in days since 1970: the wire's epoch
	pgEpochMicros = 946_684_800_000_000 // the same in microseconds

	// MinTimestamp is 4714-11-24 00:00:00 BC, the first legal timestamp.
	MinTimestamp int64 = -210_866_803_200_000_000
	// MaxTimestamp is the last finite timestamp, 294247-01-10 04:00:54.775806:
	// the epoch of 1970 reaches 30 years less far than PostgreSQL's.
	MaxTimestamp int64 = 1<<63 - 2
	// TimestampInfinity and TimestampNegInfinity are the stored ±infinity.
	TimestampInfinity    int64 = 1<<63 - 1
	TimestampNegInfinity int64 = -1 << 63

	// MinDate is 4714-11-24 BC and MaxDate 5874897-12-31.
	MinDate int32 = -2_440_588
	MaxDate int32 = 2_145_042_905
	// DateInfinity and DateNegInfinity are the stored ±infinity.
	DateInfinity    int32 = 1<<31 - 1
	DateNegInfinity int32 = -1 << 31
)

// DaysFromCivil returns the days since 1970-01-01 of a proleptic Gregorian
// date. Year 0 is 1 BC; month and day may be any int within their year's reach.
func DaysFromCivil(year, month, day int) int64 {
	y := int64(year)
	if month <= 2 {
		y--
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	yoe := y - era*400
	mp := int64((month + 9) % 12)
	doy := (153*mp+2)/5 + int64(day) - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// CivilFromDays is the inverse of DaysFromCivil.
func CivilFromDays(days int64) (year, month, day int) {
	z := days + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := doy - (153*mp+2)/5 + 1
	m := mp + 3
	if m > 12 {
		m -= 12
	}
	y := yoe + era*400
	if m <= 2 {
		y++
	}
	return int(y), int(m), int(d)
}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

var monthDays = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// DaysInMonth returns the length of a month.
func DaysInMonth(year, month int) int {
	if month == 2 && isLeap(year) {
		return 29
	}
	return monthDays[month]
}

// floorDiv divides rounding towards minus infinity; d > 0.
func floorDiv(n, d int64) int64 {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}

// splitMicros returns the day number and the microseconds within the day.
func splitMicros(us int64) (days, rest int64) {
	days = floorDiv(us, usecPerDay)
	return days, us - days*usecPerDay
}

// civilTime is a broken-down local time.
type civilTime struct {
	year, month, day, hour, min, sec, usec int
}

func civilOf(us int64) civilTime {
	days, rest := splitMicros(us)
	var c civilTime
	c.year, c.month, c.day = CivilFromDays(days)
	c.setTime(rest)
	return c
}

func (c *civilTime) setTime(rest int64) {
	c.hour = int(rest / usecPerHour)
	c.min = int(rest / usecPerMin % 60)
	c.sec = int(rest / usecPerSec % 60)
	c.usec = int(rest % usecPerSec)
}

// timeMicros returns the microseconds since midnight.
func (c *civilTime) timeMicros() int64 {
	return (int64(c.hour)*60+int64(c.min))*usecPerMin + int64(c.sec)*usecPerSec + int64(c.usec)
}

// micros returns the microseconds since 1970 as if the zone were UTC; ok is
// false when the result is outside the range of timestamps.
func (c *civilTime) micros() (us int64, ok bool) {
	if !validJulian(c.year, c.month) {
		return 0, false
	}
	return combine(DaysFromCivil(c.year, c.month, c.day), c.timeMicros())
}

// combine adds a day number and microseconds, checking the range.
func combine(days, rest int64) (int64, bool) {
	if days < -106_751_991 || days > 106_751_991 {
		return 0, false
	}
	us := days * usecPerDay
	sum := us + rest
	if (us > 0 && rest > 0 && sum < 0) || !validTimestamp(sum) {
		return 0, false
	}
	return sum, true
}

func validTimestamp(us int64) bool { return us >= MinTimestamp && us <= MaxTimestamp }

// validJulian reports whether the date lies in the range that PostgreSQL's
// Julian day arithmetic covers.
func validJulian(y, m int) bool {
	return (y > -4713 || (y == -4713 && m >= 11)) && (y < 5874898 || (y == 5874898 && m < 6))
}

// isInfinite reports whether a stored timestamp is ±infinity.
func isInfinite(us int64) bool { return us == TimestampInfinity || us == TimestampNegInfinity }

// addOffset shifts us by seconds without overflow; ok as in combine.
func addOffset(us, seconds int64) (int64, bool) {
	sum := us + seconds*usecPerSec
	if (seconds > 0) != (sum > us) && seconds != 0 {
		return 0, false
	}
	return sum, validTimestamp(sum)
}
