package types

import "fmt"

var validDates = []string{"2020-02-29", "2021-01-31", "0001-01-01", "0001-12-31 BC", "0004-02-29 BC", "4714-11-24 BC", "5874897-12-31", "infinity", "-infinity", "2000-01-01", "1999-12-31", "2024-12-30", "1900-03-01", "0101-01-01", "2020-10-25"}

var validStamps = []string{"2020-02-29 12:34:56.789", "2021-01-31 00:00", "0001-01-01 00:00", "0001-12-31 23:59:59.999999 BC", "4714-11-24 12:00 BC", "290000-12-31 12:00", "infinity", "-infinity", "2000-01-01", "1970-01-01", "2020-03-29 02:30", "2020-03-29 01:59:59.999999", "2020-10-25 02:30", "2020-10-25 01:30", "1890-06-15 12:00", "1893-04-01 00:00", "1945-05-24 01:59", "1980-04-06 01:00", "2016-12-31 23:59:60", "2050-07-01 00:00", "1916-04-30 23:00"}

var validSpans = []string{"0", "1 mon", "-1 mon", "1 day", "-1 day", "1 hour", "24:00", "1 year", "13 mons", "-1 year", "1 mon -1 day", "1 mon 31 days 25:00", "0.000001 s", "-0.000001 s", "178000000 years", "-178000000 years", "2147483647 days", "2562047788:00:54.775807", "1 year 2 mons 3 days 4:05:06.789", "-1 year 2 mons -3 days 4:05:06.789", "15 min", "100 years", "29 days 24:00", "30 days", "-30:00:00.5"}

var zoneNames = []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns", "Africa/Monrovia", "Pacific/Apia", "Europe/Dublin", "EST", "CEST", "EST5EDT", "+03", "-03:30", "UTC-5", "Europe/Amsterdam", "Europe/Moscow", "America/Caracas", "Antarctica/Troll"}

var fields = []string{"century", "millennium", "decade", "year", "isoyear", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "minute", "second", "milliseconds", "microseconds", "epoch", "julian", "timezone", "timezone_hour", "timezone_minute", "nothing", "days", "us", "c", "mil"}

// dates compares functions and operators of dates, times and timestamps.
func dates(g *gen, d *duel) {
	var es []string
	for _, typ := range []string{"date", "timestamp", "timestamptz", "time", "timetz", "interval"} {
		all := map[string][]string{"date": validDates, "time": timeTexts[:8], "timetz": timeTexts[:14], "interval": validSpans}[typ]
		if all == nil {
			all = validStamps
		}
		for _, s := range all {
			v := quoted(s, typ)
			for _, f := range fields {
				es = append(es, "extract("+f+" from "+v+")", "date_part('"+f+"', "+v+")", "date_trunc('"+f+"', "+v+")")
			}
			for _, i := range validSpans {
				es = append(es, v+" + "+quoted(i, "interval"), v+" - "+quoted(i, "interval"))
			}
			for range 4 {
				w := quoted(all[g.r.Intn(len(all))], typ)
				es = append(es, v+" - "+w, v+" < "+w, v+" = "+w, "age("+v+", "+w+")", "greatest("+v+", "+w+")")
				x := quoted(validStamps[g.r.Intn(len(validStamps))], []string{"timestamp", "timestamptz", "date"}[g.r.Intn(3)])
				es = append(es, v+" - "+x, v+" < "+x, v+" = "+x, v+" + "+x)
				es = append(es, fmt.Sprintf("date_bin('%s', %s, '2000-01-01 00:00')", validSpans[g.r.Intn(len(validSpans))], v))
			}
			es = append(es, v+" + 1", v+" - 2147483647", v+" + '12:00'::time", v+" + '12:00+01'::timetz", "isfinite("+v+")", v+"::date", v+"::time", v+"::timetz", v+"::timestamptz", v+"::timestamp", v+"::text")
			for _, p := range []string{"YYYY-MM-DD HH24:MI:SS.US", "Day DD Month Y,YYY BC AD", "IYYY-IW-ID IDDD", "CC J Q WW W DDD D", "HH12:MI AM SSSS MS", "TZ tz OF TZH:TZM", "FMDay FMDDth FMMonth", "RM rm", "FF1 FF3 FF6"} {
				es = append(es, "to_char("+v+", '"+p+"')")
			}
		}
	}
	d.compare(es)
}

// zones compares conversions between zones around their changes.
func zones(g *gen, d *duel) {
	for _, session := range []string{"UTC", "Europe/Berlin", "America/New_York", "Africa/Monrovia"} {
		d.set("SET timezone = '" + session + "'")
		var es []string
		for _, z := range zoneNames {
			for _, s := range validStamps {
				es = append(es, quoted(s, "timestamptz")+" AT TIME ZONE '"+z+"'", quoted(s, "timestamp")+" AT TIME ZONE '"+z+"'")
			}
			for range 25 {
				s := fmt.Sprintf("%04d-%02d-%02d %02d:%02d:00", 1840+g.r.Intn(240), 1+g.r.Intn(12), 1+g.r.Intn(28), g.r.Intn(24), g.r.Intn(60))
				es = append(es, quoted(s, "timestamptz")+" AT TIME ZONE '"+z+"'", quoted(s, "timestamp")+" AT TIME ZONE '"+z+"'", quoted(s, "timestamptz"),
					"date_trunc('"+[]string{"hour", "day", "week", "month", "year"}[g.r.Intn(5)]+"', "+quoted(s, "timestamptz")+", '"+z+"')",
					quoted(s, "timestamptz")+" + "+quoted(validSpans[g.r.Intn(14)], "interval"))
			}
			es = append(es, "'04:05:06+03'::timetz AT TIME ZONE 'UTC'", "'2020-07-01'::timestamp AT TIME ZONE '"+z+"x'", "'2020-07-01'::timestamptz AT TIME ZONE INTERVAL '-3:30'")
		}
		d.compare(es)
	}
}

// intervals compares operators and functions of intervals.
func intervals(g *gen, d *duel) {
	var es []string
	for _, s := range append(validSpans, "-1 mons 35 days", "1 mon -35 days 40:00", "10 years -13 mons", "-24:00", "1 day -1:00", "-1 day 25:00", "2147483647 mons", "2147483647 days 24:00") {
		v := quoted(s, "interval")
		for _, f := range []string{"justify_days", "justify_hours", "justify_interval", "-", "sum", "avg", "max"} {
			es = append(es, f+"("+v+")")
		}
		for _, n := range []string{"0", "1", "-1", "0.5", "1.0/3", "1e10", "'NaN'", "'inf'", "-2.7", "1e300", "2147483648", "7"} {
			es = append(es, v+" * "+n+"::float8", v+" / "+n+"::float8", n+"::float8 * "+v)
		}
		for _, w := range validSpans {
			x := quoted(w, "interval")
			es = append(es, v+" + "+x, v+" - "+x, v+" = "+x, v+" < "+x)
		}
		for _, p := range []string{"HH24:MI:SS", "YYYY MM DD HH12", "SSSS MS US", "Y Q W D", "Mon"} {
			es = append(es, "to_char("+v+", '"+p+"')")
		}
		for range 6 {
			es = append(es, fmt.Sprintf("%s * '%v'::float8", v, g.r.NormFloat64()*10))
		}
	}
	for range 200 {
		r := func(n int) int { return g.r.Intn(2*n) - n }
		es = append(es, fmt.Sprintf("age('%04d-%02d-%02d %02d:00'::timestamp, '%04d-%02d-%02d %02d:30'::timestamp)", 1990+g.r.Intn(40), 1+g.r.Intn(12), 1+g.r.Intn(28), g.r.Intn(24), 1990+g.r.Intn(40), 1+g.r.Intn(12), 1+g.r.Intn(28), g.r.Intn(24)),
			fmt.Sprintf("justify_interval('%d mons %d days %d hours'::interval)", r(40), r(90), r(90)), fmt.Sprintf("make_interval(%d, %d, %d, %d, %d, %d, %d.5)", r(10), r(20), r(9), r(50), r(50), r(90), r(90)),
			fmt.Sprintf("make_date(%d, %d, %d)", r(3000), g.r.Intn(14), g.r.Intn(33)), fmt.Sprintf("make_time(%d, %d, %d.25)", g.r.Intn(26), g.r.Intn(62), g.r.Intn(62)), fmt.Sprintf("make_timestamp(%d, %d, %d, %d, %d, %d.5)", r(3000), 1+g.r.Intn(12), 1+g.r.Intn(31), g.r.Intn(25), g.r.Intn(61), g.r.Intn(61)),
			fmt.Sprintf("to_timestamp('%d.%06d'::float8)", r(1<<40), g.r.Intn(1000000)))
	}
	d.compare(es)
}
