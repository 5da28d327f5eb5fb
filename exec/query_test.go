package exec_test

import "testing"

// sample is a database with NULLs, repeated keys, special floats and numerics of
// equal value.
func sample(t *testing.T) *database {
	d := newDatabase()
	d.table(t, "readings", "station text!, ts ts!, temp float, n int, price numeric", "station ts", `
		KSEA|2010-01-01 00:00:00|5.5|1|1.0
		KSEA|2010-01-01 01:00:00|6.5|2|1.00
		KSEA|2010-01-02 00:00:00|\N|3|2.5
		KPDX|2010-01-01 00:00:00|7|4|\N
		KPDX|2010-01-01 02:00:00|NaN|\N|-3
		KSFO|2010-02-01 00:00:00|-0|6|100.25
		KSFO|2010-02-02 00:00:00|0|7|-0.5
		KBOI|2009-12-31 23:00:00|NaN|8|7`)
	d.table(t, "stations", "id text!, name text, region int", "id", `
		KSEA|Seattle|1
		KPDX|Portland|1
		KSFO|\N|2
		KLAX|Los Angeles|2`)
	d.table(t, "empty", "a int, b text", "", "")
	return d
}

func TestScanAndFilter(t *testing.T) {
	d := sample(t)
	d.check(t, "SELECT station, n FROM readings WHERE station = 'KSEA'", "KSEA|1", "KSEA|2", "KSEA|3")
	d.check(t, "SELECT n FROM readings WHERE station = 'KSEA' AND ts >= '2010-01-01 01:00' AND ts < '2010-01-02'", "2")
	d.check(t, "SELECT n FROM readings WHERE ts::date = date '2010-01-01'", "1", "2", "4", `\N`)
	d.check(t, "SELECT station FROM readings WHERE station LIKE 'KS%' AND n > 5", "KSFO", "KSFO")
	d.check(t, "SELECT n FROM readings WHERE station IN ('KPDX', 'KBOI', 'nowhere')", "4", `\N`, "8")
	d.check(t, "SELECT n FROM readings WHERE station = ANY (ARRAY['KPDX', 'KBOI'])", "4", `\N`, "8")
	d.check(t, "SELECT n FROM readings WHERE station = 'KSEA' OR station = 'KBOI' AND n = 8", "1", "2", "3", "8")
	d.check(t, "SELECT n FROM readings WHERE n BETWEEN 2 AND 4", "2", "3", "4")
	d.check(t, "SELECT n FROM readings WHERE temp IS NULL", "3")
	d.check(t, "SELECT n FROM readings WHERE temp = 'NaN'", `\N`, "8")
	d.check(t, "SELECT n FROM readings WHERE temp > 6", "2", "4", `\N`, "8")
	d.check(t, "SELECT n FROM readings WHERE temp = 0", "6", "7")
	d.check(t, "SELECT n FROM readings WHERE false")
	d.check(t, "SELECT n FROM readings WHERE n = 1 AND n = 2")
	d.check(t, "SELECT n FROM readings WHERE n < 9999999999 AND n > 6", "7", "8")
	d.check(t, "SELECT (station, ts) > ('KSEA', timestamp '2010-01-01 00:00') FROM readings WHERE station = 'KSEA'", "f", "t", "t")
	d.check(t, "SELECT n FROM readings WHERE (station, ts) > ('KSEA', timestamp '2010-01-01 00:00')", "2", "3", "6", "7")
}

func TestAggregate(t *testing.T) {
	d := sample(t)
	d.check(t, "SELECT count(*) FROM readings", "8")
	d.check(t, "SELECT count(*), count(n), sum(n), min(n), max(n), avg(n) FROM readings", "8|7|31|1|8|4.4285714285714286")
	d.check(t, "SELECT station, count(*), sum(n), min(ts) FROM readings GROUP BY station",
		"KSEA|3|6|2010-01-01 00:00:00", "KPDX|2|4|2010-01-01 00:00:00", "KSFO|2|13|2010-02-01 00:00:00", "KBOI|1|8|2009-12-31 23:00:00")
	d.check(t, "SELECT station, ts::date, count(*) FROM readings GROUP BY 1, 2", "KSEA|2010-01-01|2", "KSEA|2010-01-02|1",
		"KPDX|2010-01-01|2", "KSFO|2010-02-01|1", "KSFO|2010-02-02|1", "KBOI|2009-12-31|1")
	d.check(t, "SELECT temp IS NULL, temp = 'NaN', count(*) FROM readings GROUP BY 1, 2", "f|f|5", `t|\N|1`, "f|t|2")
	d.check(t, "SELECT count(*) FROM readings GROUP BY temp", "1", "1", "1", "1", "2", "2")
	d.check(t, "SELECT count(*), sum(n) FROM readings GROUP BY price", "2|3", "1|3", `1|4`, `1|\N`, "1|6", "1|7", "1|8")
	d.check(t, "SELECT count(DISTINCT station), count(DISTINCT ts::date) FROM readings", "4|5")
	d.check(t, "SELECT ts::date, count(DISTINCT station) FROM readings GROUP BY 1", "2010-01-01|2", "2010-01-02|1", "2010-02-01|1",
		"2010-02-02|1", "2009-12-31|1")
	d.check(t, "SELECT station, sum(n) FILTER (WHERE n > 2) FROM readings GROUP BY 1", "KSEA|3", "KPDX|4", "KSFO|13", "KBOI|8")
	d.check(t, "SELECT count(*), sum(a) FROM empty", `0|\N`)
	d.check(t, "SELECT b, count(*) FROM empty GROUP BY b")
	d.check(t, "SELECT station FROM readings GROUP BY station HAVING count(*) > 2", "KSEA")
	d.check(t, "SELECT station FROM readings GROUP BY station HAVING station > 'KPZZ' AND sum(n) < 10", "KSEA")
	d.check(t, "SELECT count(*) FROM readings WHERE station = 'nowhere'", "0")
	d.check(t, "SELECT station || 'x', n % 2, count(*) FROM readings WHERE n IS NOT NULL GROUP BY 1, 2, station ORDER BY 1, 2",
		"KBOIx|0|1", "KPDXx|0|1", "KSEAx|0|1", "KSEAx|1|2", "KSFOx|0|1", "KSFOx|1|1")
}

func TestSortLimitDistinct(t *testing.T) {
	d := sample(t)
	d.check(t, "SELECT n FROM readings ORDER BY n DESC", `\N`, "8", "7", "6", "4", "3", "2", "1")
	d.check(t, "SELECT n FROM readings ORDER BY n LIMIT 3", "1", "2", "3")
	d.check(t, "SELECT n FROM readings ORDER BY n OFFSET 6", "8", `\N`)
	d.check(t, "SELECT n FROM readings ORDER BY n NULLS FIRST LIMIT 2 OFFSET 1", "1", "2")
	d.check(t, "SELECT temp, n FROM readings ORDER BY temp, n", "-0|6", "0|7", "5.5|1", "6.5|2", "7|4", "NaN|8", `NaN|\N`, `\N|3`)
	d.check(t, "SELECT price, n FROM readings ORDER BY price DESC NULLS LAST, n", "100.25|6", "7|8", "2.5|3", "1.0|1", "1.00|2",
		"-0.5|7", `-3|\N`, `\N|4`)
	d.check(t, "SELECT station, ts FROM readings WHERE station = 'KSEA' ORDER BY ts DESC LIMIT 1", "KSEA|2010-01-02 00:00:00")
	d.check(t, "SELECT station, ts FROM readings ORDER BY station, ts LIMIT 2", "KBOI|2009-12-31 23:00:00", "KPDX|2010-01-01 00:00:00")
	d.check(t, "SELECT n FROM readings WHERE n > 1 ORDER BY ts, station LIMIT 2", "8", "4")
	d.check(t, "SELECT ts FROM readings ORDER BY ts DESC LIMIT 2", "2010-02-02 00:00:00", "2010-02-01 00:00:00")
	d.check(t, "SELECT DISTINCT station FROM readings", "KSEA", "KPDX", "KSFO", "KBOI")
	d.check(t, "SELECT DISTINCT price FROM readings WHERE station = 'KPDX' ORDER BY 1", "-3", `\N`)
	d.check(t, "SELECT DISTINCT ON (station) station, n FROM readings ORDER BY station, ts DESC", "KBOI|8", `KPDX|\N`, "KSEA|3", "KSFO|7")
	d.check(t, "SELECT count(*) FROM (SELECT n FROM readings LIMIT 5) s", "5")
	d.check(t, "SELECT count(*) FROM (SELECT n FROM readings LIMIT 0) s", "0")
	d.check(t, "SELECT n FROM readings LIMIT (SELECT 0)")
}

func TestJoins(t *testing.T) {
	d := sample(t)
	d.check(t, "SELECT r.n, s.name FROM readings r JOIN stations s ON r.station = s.id WHERE s.region = 1",
		"1|Seattle", "2|Seattle", "3|Seattle", "4|Portland", `\N|Portland`)
	d.check(t, "SELECT r.n, s.name FROM readings r LEFT JOIN stations s ON r.station = s.id AND s.region = 2",
		`1|\N`, `2|\N`, `3|\N`, `4|\N`, `\N|\N`, `6|\N`, `7|\N`, `8|\N`)
	d.check(t, "SELECT s.id, r.n FROM stations s LEFT JOIN readings r ON r.station = s.id AND r.n > 1",
		"KSEA|2", "KSEA|3", "KPDX|4", "KSFO|6", "KSFO|7", `KLAX|\N`)
	d.check(t, "SELECT s.id, r.n FROM stations s LEFT JOIN readings r ON r.station = s.id WHERE r.n > 3", "KPDX|4", "KSFO|6", "KSFO|7")
	d.check(t, "SELECT s.id FROM stations s LEFT JOIN readings r ON r.station = s.id WHERE r.station IS NULL", "KLAX")
	d.check(t, "SELECT count(*) FROM readings, stations", "32")
	d.check(t, "SELECT a.id, b.id FROM stations a, stations b WHERE a.region = b.region AND a.id < b.id", "KPDX|KSEA", "KLAX|KSFO")
	d.check(t, "SELECT a.id, b.id FROM stations a JOIN stations b ON a.region < b.region", "KSEA|KSFO", "KSEA|KLAX", "KPDX|KSFO", "KPDX|KLAX")
	d.check(t, "SELECT a.id, b.id FROM stations a LEFT JOIN stations b ON a.region > b.region + 5 WHERE a.region = 1", `KSEA|\N`, `KPDX|\N`)
	d.check(t, "SELECT x.n, y.n FROM readings x JOIN readings y ON x.n = y.n + 5", "6|1", "7|2", "8|3")
	d.check(t, "SELECT s.name, t.n FROM readings r, empty e, stations s, readings t WHERE r.n = e.a AND s.id = r.station AND t.n = e.a")
	d.check(t, "SELECT s.name, count(*) FROM stations s JOIN readings r ON r.station = s.id JOIN stations o ON o.region = s.region GROUP BY 1",
		"Seattle|6", "Portland|4", `\N|4`)
	d.check(t, "SELECT count(*) FROM stations a JOIN stations b ON a.name IS NOT DISTINCT FROM b.name", "4")
	d.check(t, "SELECT r.n FROM readings r JOIN (VALUES (1::bigint), (7)) v(k) ON r.n = v.k", "1", "7")
}

func TestSubqueries(t *testing.T) {
	d := sample(t)
	d.check(t, "SELECT n FROM readings WHERE station IN (SELECT id FROM stations WHERE region = 2)", "6", "7")
	d.check(t, "SELECT n FROM readings WHERE station NOT IN (SELECT id FROM stations)", "8")
	d.check(t, "SELECT id FROM stations s WHERE EXISTS (SELECT 1 FROM readings r WHERE r.station = s.id AND r.n > 5)", "KSFO")
	d.check(t, "SELECT id, (SELECT max(n) FROM readings r WHERE r.station = s.id) FROM stations s", "KSEA|3", "KPDX|4", "KSFO|7", `KLAX|\N`)
	d.check(t, "SELECT n FROM readings WHERE n = (SELECT max(n) FROM readings)", "8")
	d.check(t, "SELECT (SELECT count(*) FROM readings x WHERE x.n > (SELECT avg(n) FROM readings))", "3")
	d.check(t, "WITH r AS (SELECT station, max(ts) AS ts FROM readings GROUP BY 1) SELECT r.station, x.n FROM r JOIN readings x USING (station, ts)",
		"KSEA|3", `KPDX|\N`, "KSFO|7", "KBOI|8")
}

func TestSetOperations(t *testing.T) {
	d := sample(t)
	d.check(t, "SELECT station FROM readings UNION SELECT id FROM stations", "KSEA", "KPDX", "KSFO", "KBOI", "KLAX")
	d.check(t, "SELECT region FROM stations UNION ALL SELECT 3", "1", "1", "2", "2", "3")
	d.check(t, "SELECT station FROM readings INTERSECT SELECT id FROM stations", "KSEA", "KPDX", "KSFO")
	d.check(t, "SELECT station FROM readings INTERSECT ALL SELECT id FROM stations", "KSEA", "KPDX", "KSFO")
	d.check(t, "SELECT station FROM readings EXCEPT SELECT id FROM stations", "KBOI")
	d.check(t, "SELECT station FROM readings EXCEPT ALL SELECT id FROM stations", "KSEA", "KSEA", "KPDX", "KSFO", "KBOI")
	d.check(t, "SELECT * FROM (SELECT station AS s FROM readings UNION ALL SELECT id FROM stations) u WHERE s > 'KSEA'", "KSFO", "KSFO", "KSFO")
	d.check(t, "SELECT 1 WHERE false UNION ALL SELECT 2", "2")
}

func TestSources(t *testing.T) {
	d := sample(t)
	d.check(t, "SELECT 1 + 1, 'x'", "2|x")
	d.check(t, "VALUES (1, 'a'), (2, NULL)", "1|a", `2|\N`)
	d.check(t, "SELECT sum(g) FROM generate_series(1, 10000) g", "50005000")
	d.check(t, "SELECT g, o FROM generate_series(5, 7) WITH ORDINALITY t(g, o) WHERE g > 5", "6|2", "7|3")
	d.check(t, "SELECT count(*) FROM generate_series(1, 3) a, generate_series(1, 5000) b", "15000")
	d.check(t, "SELECT a FROM generate_series(1, 9000) a ORDER BY a DESC LIMIT 2 OFFSET 4500", "4500", "4499")
}
