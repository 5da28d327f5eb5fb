-- name: count of every table
SELECT 'normals' t, count(*) n FROM normals UNION ALL SELECT 'stocks', count(*) FROM stocks UNION ALL SELECT 'sp500', count(*) FROM sp500 UNION ALL SELECT 'co2', count(*) FROM co2 UNION ALL SELECT 'flights', count(*) FROM flights ORDER BY 1;
-- name: one day of hours
SELECT ts, pressure, temperature, wind FROM normals WHERE ts >= '2010-06-01' AND ts < '2010-06-02' ORDER BY ts;
-- name: one row by key
SELECT * FROM normals WHERE ts = '2010-03-05 12:00:00';
-- name: latest readings
SELECT ts, temperature FROM normals ORDER BY ts DESC LIMIT 5;
-- name: daily extremes
SELECT date_trunc('day', ts) d, min(temperature), max(temperature), count(*) FROM normals WHERE ts >= '2010-02-01' AND ts < '2010-03-01' GROUP BY 1 ORDER BY 1;
-- name: monthly averages
SELECT date_trunc('month', ts) AS m, avg(temperature)::numeric(10,4), avg(wind)::numeric(10,4), avg(pressure)::numeric(12,3) FROM normals GROUP BY m ORDER BY m;
-- name: six-hour bins
SELECT date_bin('6 hours', ts, '2010-01-01') b, count(*), sum(temperature)::numeric(12,2) FROM normals WHERE ts BETWEEN '2010-07-01' AND '2010-07-04' GROUP BY b ORDER BY b;
-- name: value filter
SELECT ts, wind FROM normals WHERE wind > 5.2 AND temperature < 6 ORDER BY wind DESC, ts LIMIT 10;
-- name: case buckets
SELECT CASE WHEN temperature < 5 THEN 'cold' WHEN temperature < 15 THEN 'mild' ELSE 'warm' END AS class, count(*), min(ts), max(ts) FROM normals GROUP BY 1 ORDER BY 1;
-- name: having
SELECT extract(hour FROM ts) h, max(temperature) FROM normals GROUP BY 1 HAVING max(temperature) > 22 ORDER BY 1;
-- name: interval arithmetic
SELECT ts + interval '1 month 2 days 03:04:05', ts - interval '90 minutes', ts - timestamp '2010-01-01' FROM normals WHERE ts IN ('2010-01-31 10:00', '2010-12-31 23:00') ORDER BY 1;
-- name: offset
SELECT ts FROM normals ORDER BY ts OFFSET 100 LIMIT 3;
-- name: distinct
SELECT DISTINCT symbol FROM stocks ORDER BY symbol;
-- name: prices of one symbol
SELECT symbol, date, price FROM stocks WHERE symbol = 'IBM' ORDER BY price DESC, date LIMIT 7;
-- name: text dates parsed
SELECT date::date d, price FROM stocks WHERE symbol = 'AAPL' AND date::date >= '2009-06-01' ORDER BY d;
-- name: numeric aggregates
SELECT symbol, count(*), sum(price), avg(price), min(price), max(price) FROM stocks GROUP BY symbol ORDER BY symbol;
-- name: yearly numeric
SELECT symbol, extract(year FROM date::date) y, avg(price), max(price) - min(price) spread FROM stocks GROUP BY symbol, y ORDER BY symbol, y;
-- name: inner join
SELECT s.name, count(*), max(p.price) FROM stations s JOIN stocks p ON p.symbol = s.symbol GROUP BY s.name ORDER BY 1;
-- name: left join
SELECT s.symbol, s.founded, s.weight, s.active, max(p.price) FROM stations s LEFT JOIN stocks p USING (symbol) GROUP BY s.symbol, s.founded, s.weight, s.active ORDER BY 1;
-- name: left join without match
SELECT s.symbol FROM stations s LEFT JOIN stocks p ON p.symbol = s.symbol AND p.price > 700 WHERE p.symbol IS NULL ORDER BY 1;
-- name: subquery in from
SELECT y, max(m) FROM (SELECT extract(year FROM date) y, extract(month FROM date) mo, max(high) m FROM sp500 GROUP BY 1, 2) q GROUP BY y ORDER BY y;
-- name: common table expression
WITH monthly AS (SELECT date_trunc('month', date) m, avg(close) c FROM sp500 GROUP BY 1) SELECT m, c FROM monthly WHERE c > 2500 ORDER BY m;
-- name: scalar subquery
SELECT date, close FROM sp500 WHERE close = (SELECT max(close) FROM sp500);
-- name: in subquery
SELECT count(*) FROM stocks WHERE symbol IN (SELECT symbol FROM stations WHERE founded < '1980-01-01');
-- name: wide sums
SELECT extract(year FROM date) y, sum(volume), avg(volume), min(volume), max(volume) FROM sp500 GROUP BY y ORDER BY y;
-- name: date arithmetic
SELECT date, date + 7, date - date '2000-01-03', date + interval '1 month' FROM sp500 WHERE date BETWEEN '2000-01-03' AND '2000-01-31' ORDER BY date;
-- name: expressions
SELECT date, round(close, 2), (high - low)::numeric(10,3), volume / 1000, volume % 7, -volume FROM sp500 WHERE date >= '2020-03-01' AND date < '2020-03-15' ORDER BY date;
-- name: before 1970
SELECT date, co2, adjusted FROM co2 WHERE date < '1960-01-01' ORDER BY date;
-- name: decades
SELECT date_bin('3652 days', date::timestamp, '1958-01-01') d, avg(co2), max(co2) - min(co2), count(*) FROM co2 GROUP BY d ORDER BY d;
-- name: numeric division
SELECT date, co2 / adjusted, co2 * adjusted, co2 - adjusted FROM co2 WHERE co2 <> adjusted ORDER BY date LIMIT 12;
-- name: order by expression
SELECT date, co2 FROM co2 ORDER BY abs(co2 - 350), date LIMIT 6;
-- name: flights by day and origin
SELECT date_bin('1 day', date, '2001-01-01') d, origin, count(*), avg(delay) FROM flights GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 500;
-- name: flights totals
SELECT count(*), sum(delay), avg(delay), min(date), max(date), sum(distance), min(distance), max(distance), count(DISTINCT origin) FROM flights;
-- name: busiest routes
SELECT origin, destination, count(*) c, avg(delay), max(delay) FROM flights GROUP BY origin, destination ORDER BY c DESC, origin, destination LIMIT 20;
-- name: one morning
SELECT date, delay, distance, origin, destination FROM flights WHERE date >= '2001-02-03 06:00' AND date < '2001-02-03 06:10' ORDER BY date, origin, destination, delay, distance;
-- name: late flights by hour
SELECT extract(hour FROM date) h, count(*) FILTER (WHERE delay > 60), count(*) FROM flights WHERE origin IN ('SEA', 'SFO', 'JFK') GROUP BY h ORDER BY h;
-- name: like
SELECT destination, count(*) FROM flights WHERE origin LIKE 'S%A' GROUP BY destination ORDER BY 2 DESC, 1 LIMIT 10;
-- name: delay classes
SELECT width, count(*) FROM (SELECT delay / 30 AS width FROM flights WHERE delay BETWEEN 0 AND 300) q GROUP BY width ORDER BY width;
-- name: monthly flights
SELECT date_trunc('month', date) m, count(*), avg(distance), sum(delay::int8 * distance) FROM flights GROUP BY m ORDER BY m;
-- name: top days per origin
SELECT origin, d, c FROM (SELECT origin, date::date d, count(*) c FROM flights WHERE origin >= 'A' AND origin < 'C' GROUP BY 1, 2) q WHERE c > 800 ORDER BY c DESC, origin, d LIMIT 15;
-- name: nulls in arithmetic
SELECT symbol, weight + 1, weight IS NULL, coalesce(weight, -1), nullif(symbol, 'IBM') FROM stations ORDER BY weight NULLS FIRST, symbol;
-- name: order with nulls
SELECT symbol, founded FROM stations ORDER BY founded DESC, symbol;
-- name: float text
SELECT weight, weight::float8, weight * 3, weight / 7::float8, 1e300 * weight, 0.1::float8 + 0.2 FROM stations WHERE weight IS NOT NULL ORDER BY weight;
-- name: generate numbers
SELECT g, g * g, g % 3 = 0 FROM generate_series(1, 20) g ORDER BY g DESC;
-- name: generate times
SELECT g, g AT TIME ZONE 'Europe/Berlin' FROM generate_series('2024-03-30 22:00+00'::timestamptz, '2024-03-31 04:00+00', '1 hour') g ORDER BY g;
-- name: calendar join
SELECT g::date, count(n.ts), max(n.temperature) FROM generate_series('2010-05-01'::timestamp, '2010-05-10', '1 day') g LEFT JOIN normals n ON n.ts >= g AND n.ts < g + interval '1 day' GROUP BY 1 ORDER BY 1;
-- name: intervals
SELECT interval '1 year 2 months 3 days 04:05:06.789', interval '-1 day +02:00', interval '36 hours', justify_hours(interval '36 hours'), interval '1 day' * 1.5, interval '00:00:00';
-- name: numeric forms
SELECT 1.10, 1.0 / 3, 2::numeric ^ 0.5, 1e10::numeric, 'NaN'::numeric, round(2.5), round(-2.5), round(2.5::float8), 10::numeric / 4, 7 / 2, -7 / 2, -7 % 3;
-- name: floats
SELECT 1e15::float8, 1e16::float8, 1.5e-5::float8, 123456789.123::float4, 'Infinity'::float8, '-0'::float8, 'nan'::float4, 1e-7::float4;
-- name: time zones
SELECT '2024-07-01 12:00+02'::timestamptz, '1883-11-18 12:00 America/New_York'::timestamptz, timestamptz '2024-01-01' AT TIME ZONE 'Asia/Kolkata', '0044-03-15 BC'::date, 'infinity'::timestamp;
-- name: booleans
SELECT true AND NULL, false AND NULL, true OR NULL, NOT NULL::bool, 1 IN (2, NULL), 1 NOT IN (2, 3), NULL IS DISTINCT FROM 1;
-- name: strings
SELECT 'a' || 'b' || 1, upper('straße'), length('äöü'), substring('timeseries' FROM 5 FOR 3), position('s' IN 'timeseries'), trim('  x '), lpad('7', 3, '0'), replace('abc', 'b', 'xx'), left('abc', -1);
-- name: other types
SELECT '\xdeadbeef'::bytea, '{"b": 1, "a": [1, 2.50, null]}'::jsonb, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, '10:20:30.5'::time, ARRAY[1, 2, NULL], 'x'::varchar(5);
-- name: union and except
SELECT symbol FROM stations EXCEPT SELECT symbol FROM stocks ORDER BY 1;
-- name: parameters | 'SEA' | 30
SELECT origin, count(*), avg(delay) FROM flights WHERE origin = $1 AND delay > $2::int GROUP BY origin;
-- name: time parameters | '2001-01-05' | '2001-01-06'
SELECT count(*), min(date), max(date) FROM flights WHERE date >= $1 AND date < $2;
