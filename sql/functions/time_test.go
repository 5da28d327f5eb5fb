package functions

import (
	"testing"
	"time"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

func TestTimeArithmetic(t *testing.T) {
	check(t, `
		date:2020-01-31 | + | interval:1 month => timestamp without time zone 2020-02-29 00:00:00
		timestamp:2020-03-31 10:00 | - | interval:1 mon 1 day 1 hour => timestamp without time zone 2020-02-28 09:00:00
		timestamptz:2020-01-01 00:00+00 | + | interval:1 day => timestamp with time zone 2020-01-02 00:00:00+00
		timestamp:2020-03-01 | - | timestamp:2020-02-01 12:00 => interval 28 days 12:00:00
		timestamp:infinity | - | timestamp:2020-02-01 => 22008 cannot subtract infinite timestamps
		timestamp:infinity | + | interval:1 day => timestamp without time zone infinity
		timestamp:290000-01-01 | + | interval:10000 years => 22008 timestamp out of range
		date:2020-03-01 | - | date:2020-02-01 => integer 29
		date:2020-01-01 | + | int4:31 => date 2020-02-01
		date:2020-01-01 | + | int4:2147483647 => 22008 date out of range
		date:2020-01-01 | + | time:10:00 => timestamp without time zone 2020-01-01 10:00:00
		time:23:00 | + | interval:2 hours => time without time zone 01:00:00
		time:01:00 | - | interval:2 hours => time without time zone 23:00:00
		time:10:00 | - | time:09:30 => interval 00:30:00
		interval:1 day | * | float8:1.5 => interval 1 day 12:00:00
		interval:1 mon | / | float8:2 => interval 15 days
		interval:1 day | / | float8:0 => 22012 division by zero
		interval:1 day | = | interval:24 hours => boolean t
		- | interval:1 day 2 hours => interval -1 days -02:00:00
		justify_hours(interval:30 hours) => interval 1 day 06:00:00
		date:2020-01-01 | < | timestamp:2020-01-01 00:00:01 => boolean t
		timestamptz:2020-01-01 00:00+00 | = | date:2020-01-01 => boolean t
		2020-01-02 | > | date:2020-01-01 => boolean t
		age(timestamp:2020-03-01; timestamp:2020-01-31) => interval 1 mon 1 day
		age(timestamp:2020-01-31; timestamp:2020-03-01) => interval -1 mons -1 days
		age(timestamp:2024-02-28) => interval 1 day
		isfinite(date:infinity) => boolean f
	`)
}

func TestTruncAndFields(t *testing.T) {
	check(t, `
		date_trunc(week; timestamp:2024-02-29 12:34) => timestamp without time zone 2024-02-26 00:00:00
		date_trunc(Quarter; timestamp:2024-05-29 12:34) => timestamp without time zone 2024-04-01 00:00:00
		date_trunc(millennium; timestamp:2000-05-29) => timestamp without time zone 1001-01-01 00:00:00
		date_trunc(century; timestamp:1969-05-29) => timestamp without time zone 1901-01-01 00:00:00
		date_trunc(decade; timestamp:1969-05-29) => timestamp without time zone 1960-01-01 00:00:00
		date_trunc(hour; timestamp:1969-12-31 23:59:59.5) => timestamp without time zone 1969-12-31 23:00:00
		date_trunc(milliseconds; timestamp:1969-12-31 23:59:59.9999) => timestamp without time zone 1969-12-31 23:59:59.999
		date_trunc(day; timestamptz:2024-02-29 12:34+00; Europe/Berlin) => timestamp with time zone 2024-02-28 23:00:00+00
		date_trunc(day; timestamptz:2024-02-29 12:34+00; EST) => timestamp with time zone 2024-02-29 05:00:00+00
		date_trunc(foo; timestamp:2024-02-29) => 22023 unit "foo" not recognized for type timestamp without time zone
		date_trunc(timezone; timestamp:2024-02-29) => 0A000 unit "timezone" not supported for type timestamp without time zone
		date_trunc(hour; interval:3 days 12:34:56) => interval 3 days 12:00:00
		date_trunc(year; interval:2 years 5 mons) => interval 2 years
		extract(epoch; timestamp:infinity) => numeric Infinity
		extract(day; timestamp:infinity) => numeric NULL
		extract(second; timestamp:2020-01-01 00:00:01.5) => numeric 1.500000
		extract(epoch; interval:1 year 1 month 1 day 1.5 sec) => numeric 34236001.500000
		extract(julian; timestamp:2020-01-01 12:00) => numeric 2458850.50000000000000000000
		extract(julian; date:2020-01-01) => numeric 2458850
		extract(epoch; date:2020-01-01) => numeric 1577836800
		extract(ms; time:10:11:12.5) => numeric 12500.000
		extract(century; date:0001-01-01 BC) => numeric -1
		extract(century; date:2000-12-31) => numeric 20
		extract(millennium; date:2001-01-01) => numeric 3
		extract(week; date:2021-01-03) => numeric 53
		extract(isoyear; date:2021-01-03) => numeric 2020
		extract(dow; date:2024-02-29) => numeric 4
		extract(isodow; date:2024-03-03) => numeric 7
		extract(doy; date:2024-12-31) => numeric 366
		extract(hour; date:2020-01-01) => 0A000 unit "hour" not supported for type date
		date_part(hour; date:2020-01-01) => double precision 0
		date_part(epoch; timestamp:2020-01-01 00:00:00.25) => double precision 1577836800.25
		extract(timezone; timestamp:2020-01-01) => 0A000 unit "timezone" not supported for type timestamp without time zone
		extract(quarter; interval:7 mons) => numeric 3
		extract(hour; interval:30 hours) => numeric 30
	`)
}

func TestBuckets(t *testing.T) {
	check(t, `
		date_bin(interval:15 min; timestamp:2020-02-11 15:44:17; timestamp:2001-01-01) => timestamp without time zone 2020-02-11 15:30:00
		date_bin(interval:15 min; timestamp:2000-12-31 23:59; timestamp:2001-01-01) => timestamp without time zone 2000-12-31 23:45:00
		date_bin(interval:1 month; timestamp:2020-02-11; timestamp:2001-01-01) => 0A000 timestamps cannot be binned into intervals containing months or years
		date_bin(interval:0; timestamp:2020-02-11; timestamp:2001-01-01) => 22008 stride must be greater than zero
		time_bucket(interval:1 week; timestamp:2024-02-29 12:34) => timestamp without time zone 2024-02-26 00:00:00
		time_bucket(interval:5 min; timestamptz:2024-02-29 12:34+00) => timestamp with time zone 2024-02-29 12:30:00+00
		time_bucket(interval:1 month; timestamp:2024-02-29 12:34) => timestamp without time zone 2024-02-01 00:00:00
		time_bucket(interval:3 months; date:2024-02-29) => date 2024-01-01
		time_bucket(interval:1 day; timestamptz:2024-02-29 23:34+00; text:Europe/Berlin) => timestamp with time zone 2024-02-29 23:00:00+00
		time_bucket(interval:1 month; timestamptz:2024-02-29 23:34+00; text:Europe/Berlin) => timestamp with time zone 2024-02-29 23:00:00+00
		time_bucket(interval:1 day; timestamp:2024-02-29 01:00; interval:2 hours) => timestamp without time zone 2024-02-28 02:00:00
		time_bucket(interval:1 day; timestamp:2024-02-29 01:00; timestamp:2024-01-01 06:00) => timestamp without time zone 2024-02-28 06:00:00
		time_bucket(interval:1 mon 1 day; timestamp:2024-02-29) => 0A000 month intervals cannot have day or time component
		time_bucket(int4:10; int4:-3) => integer -10
		time_bucket(int8:10; int8:25; int8:3) => bigint 23
		time_bucket(int4:0; int4:1) => 22023 period must be greater than 0
	`)
}

func TestMakeAndZones(t *testing.T) {
	check(t, `
		make_date(int4:2023; int4:2; int4:30) => 22008 date field value out of range: 2023-02-30
		make_date(int4:-44; int4:3; int4:15) => date 0044-03-15 BC
		make_time(int4:25; int4:0; float8:0) => 22008 time field value out of range: 25:00:00
		make_timestamp(int4:2013; int4:7; int4:15; int4:8; int4:15; float8:23.5) => timestamp without time zone 2013-07-15 08:15:23.5
		make_timestamptz(int4:2013; int4:7; int4:15; int4:8; int4:15; float8:23.5; text:Europe/Berlin) => timestamp with time zone 2013-07-15 06:15:23.5+00
		make_interval(int4:1; int4:2; int4:1; int4:1) => interval 1 year 2 mons 8 days
		make_interval() => interval 00:00:00
		to_timestamp(float8:1284352323.5) => timestamp with time zone 2010-09-13 04:32:03.5+00
		to_timestamp(float8:NaN) => 22008 timestamp cannot be NaN
		timezone(text:America/Denver; timestamp:2001-02-16 20:38:40) => timestamp with time zone 2001-02-17 03:38:40+00
		timezone(text:America/Denver; timestamptz:2001-02-16 20:38:40+00) => timestamp without time zone 2001-02-16 13:38:40
		timezone(interval:-05:00; timestamptz:2001-02-16 20:38:40+00) => timestamp without time zone 2001-02-16 15:38:40
		timezone(interval:1 month; timestamptz:2001-02-16 20:38:40+00) => 22023 interval time zone "1 mon" must not include months or days
		timezone(text:foo; timestamptz:2001-02-16 20:38:40+00) => 22023 time zone "foo" not recognized
		now() => timestamp with time zone 2024-02-29 12:34:56.789+00
		current_date() => date 2024-02-29
		current_time() => time with time zone 12:34:56.789+00
		localtimestamp(int4:0) => timestamp without time zone 2024-02-29 12:34:57
	`)
}

// date_trunc keeps its last interval; every step over a year in a zone with
// daylight saving must still agree with a fresh computation.
func TestTruncCacheAgrees(t *testing.T) {
	loc, _ := types.LoadZone("America/Sao_Paulo") // changes at midnight
	for _, unit := range []string{"hour", "day", "week", "month"} {
		kept := &truncator{unit: parseUnit([]byte(unit)), step: fixedUnits[parseUnit([]byte(unit))], z: newZoneCache(loc)}
		start := time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
		for k := int64(0); k < 2*366*48; k++ {
			us := start + k*microsPerHour/2
			fresh := &truncator{unit: kept.unit, step: kept.step, z: newZoneCache(loc)}
			a, err := kept.trunc(us)
			b, err2 := fresh.trunc(us)
			if err != nil || err2 != nil || a != b {
				t.Fatalf("%s of %s: kept %s, fresh %s", unit, time.UnixMicro(us).In(loc), time.UnixMicro(a).In(loc), time.UnixMicro(b).In(loc))
			}
		}
	}
}

func series(t *testing.T, args ...string) string {
	t.Helper()
	oids := make([]types.OID, len(args))
	vals := make([]*vector.Vector, len(args))
	for i, a := range args {
		oids[i], vals[i] = value(t, a)
	}
	f, actual, err := ResolveSetReturning("generate_series", oids)
	if err != nil {
		return errText(err)
	}
	for i := range vals {
		if vals[i], err = cast(t, vals[i], oids[i], actual[i], -1, CastImplicit); err != nil {
			return errText(err)
		}
	}
	rows, err := f.Open(testCtx(), vals)
	if err != nil {
		return errText(err)
	}
	typ := types.T(f.Types[0])
	out := &vector.Batch{Cols: []*vector.Vector{vector.New(typ.Kind(), 0)}}
	for {
		more, err := rows.Next(out, 2)
		if err != nil {
			return errText(err)
		}
		if !more {
			break
		}
	}
	s := ""
	for i := 0; i < out.N; i++ {
		s += string(types.AppendText(nil, typ, out.Cols[0], i, &testCtx().Context)) + " "
	}
	return s
}

func TestGenerateSeries(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{series(t, "int4:1", "int4:5", "int4:2"), "1 3 5 "},
		{series(t, "int4:3", "int4:1", "int4:-1"), "3 2 1 "},
		{series(t, "int4:2147483646", "int4:2147483647"), "2147483646 2147483647 "},
		{series(t, "int8:9223372036854775806", "int8:9223372036854775807"), "9223372036854775806 9223372036854775807 "},
		{series(t, "int4:1", "int4:2", "int4:0"), "22023 step size cannot equal zero"},
		{series(t, "int4:1", "int4:NULL"), ""},
		{series(t, "numeric:1", "numeric:2", "numeric:0.5"), "1 1.5 2.0 "},
		{series(t, "timestamp:2020-01-31", "timestamp:2020-04-01", "interval:1 month"), "2020-01-31 00:00:00 2020-02-29 00:00:00 2020-03-29 00:00:00 "},
		{series(t, "timestamp:2020-01-02", "timestamp:2020-01-01", "interval:-12 hours"), "2020-01-02 00:00:00 2020-01-01 12:00:00 2020-01-01 00:00:00 "},
		{series(t, "date:2020-01-01", "date:2020-01-02", "interval:1 day"), "2020-01-01 00:00:00+00 2020-01-02 00:00:00+00 "},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
