package types

// wordKind classes the words of date input.
type wordKind uint8

const (
	wUnknown  wordKind = iota
	wIgnore            // "at", "on", "@"
	wMonth             // value: 1..12
	wWeekday           // read and ignored
	wAmPm              // value: 0 am, 1 pm
	wEra               // value: 0 ad, 1 bc
	wNow               // reserved words from here to wEarly
	wToday             // value: days from today
	wZulu              // allballs: midnight in UTC
	wEpoch             //
	wLate              // infinity
	wEarly             // -infinity
	wJulian            // prefix of a Julian day
	wTime              // prefix "t" of a time
	wDaylight          // "dst" after a zone
	wUnit              // prefix of a number; value: its field
)

type word struct {
	kind  wordKind
	value int
}

var dateWords = func() map[string]word {
	m := map[string]word{
		"at": {wIgnore, 0}, "on": {wIgnore, 0},
		"am": {wAmPm, 0}, "pm": {wAmPm, 1}, "ad": {wEra, 0}, "bc": {wEra, 1},
		"now": {wNow, 0}, "today": {wToday, 0}, "tomorrow": {wToday, 1}, "yesterday": {wToday, -1},
		"allballs": {wZulu, 0}, "epoch": {wEpoch, 0}, "infinity": {wLate, 0}, "-infinity": {wEarly, 0},
		"j": {wJulian, 0}, "jd": {wJulian, 0}, "julian": {wJulian, 0}, "t": {wTime, 0}, "dst": {wDaylight, 0},
		"y": {wUnit, mYear}, "d": {wUnit, mDay}, "h": {wUnit, mHour}, "m": {wUnit, mMonth}, "mm": {wUnit, mMinute}, "s": {wUnit, mSecond},
		"sept": {wMonth, 9}, "tues": {wWeekday, 0}, "weds": {wWeekday, 0}, "thur": {wWeekday, 0}, "thurs": {wWeekday, 0},
	}
	for i, name := range monthNames {
		m[name], m[name[:3]] = word{wMonth, i + 1}, word{wMonth, i + 1}
	}
	for _, name := range dayNames {
		m[name], m[name[:3]] = word{wWeekday, 0}, word{wWeekday, 0}
	}
	return m
}()

var monthNames = [12]string{"january", "february", "march", "april", "may", "june", "july",
	"august", "september", "october", "november", "december"}

var dayNames = [7]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// monthAbbrev and dayAbbrev are the names in output.
var monthAbbrev = [13]string{"", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}

var dayAbbrev = [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// unit is a field or unit of dates and intervals.
type unit uint8

const (
	unitNone unit = iota
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
	unitTZ
	unitTZHour
	unitTZMinute
	unitEpoch
	unitDow
	unitIsoDow
	unitDoy
	unitIsoYear
	unitJulian
	unitAgo
)

// unitWords are the words of interval input and of extract and date_trunc. A
// word counts by its first ten letters.
var unitWords = map[string]unit{
	"ago": unitAgo,
	"us":  unitMicrosecond, "usec": unitMicrosecond, "usecs": unitMicrosecond, "usecond": unitMicrosecond,
	"useconds": unitMicrosecond, "microsecon": unitMicrosecond,
	"ms": unitMillisecond, "msec": unitMillisecond, "msecs": unitMillisecond, "msecond": unitMillisecond,
	"mseconds": unitMillisecond, "millisecon": unitMillisecond,
	"s": unitSecond, "sec": unitSecond, "secs": unitSecond, "second": unitSecond, "seconds": unitSecond,
	"m": unitMinute, "min": unitMinute, "mins": unitMinute, "minute": unitMinute, "minutes": unitMinute,
	"h": unitHour, "hr": unitHour, "hrs": unitHour, "hour": unitHour, "hours": unitHour,
	"d": unitDay, "day": unitDay, "days": unitDay,
	"w": unitWeek, "week": unitWeek, "weeks": unitWeek,
	"mon": unitMonth, "mons": unitMonth, "month": unitMonth, "months": unitMonth,
	"qtr": unitQuarter, "quarter": unitQuarter,
	"y": unitYear, "yr": unitYear, "yrs": unitYear, "year": unitYear, "years": unitYear,
	"dec": unitDecade, "decs": unitDecade, "decade": unitDecade, "decades": unitDecade,
	"c": unitCentury, "cent": unitCentury, "century": unitCentury, "centuries": unitCentury,
	"mil": unitMillennium, "mils": unitMillennium, "millennia": unitMillennium, "millennium": unitMillennium,
	"timezone": unitTZ, "timezone_h": unitTZHour, "timezone_m": unitTZMinute,
}

// fieldWords are further words of extract.
var fieldWords = map[string]unit{
	"epoch": unitEpoch, "dow": unitDow, "isodow": unitIsoDow, "doy": unitDoy, "isoyear": unitIsoYear,
	"julian": unitJulian, "j": unitJulian, "jd": unitJulian,
}

// wordMax is the number of letters by which words are told apart.
const wordMax = 10

func cutWord(s []byte) []byte {
	if len(s) > wordMax {
		return s[:wordMax]
	}
	return s
}
