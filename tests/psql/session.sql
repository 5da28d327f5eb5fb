\pset pager off
\echo -- tables and keys
CREATE TABLE stations (station text PRIMARY KEY, name varchar(40) NOT NULL, elevation numeric(6,1) DEFAULT 0, opened date);
CREATE TABLE readings (station text, ts timestamptz, celsius float8, note text, PRIMARY KEY (station, ts));
INSERT INTO stations VALUES ('KSEA', 'Seattle-Tacoma', 131.7, '1949-07-09'), ('KBFI', 'Boeing Field', DEFAULT, NULL);
INSERT INTO readings SELECT 'KSEA', g, extract(hour FROM g)::float8 / 2, NULL FROM generate_series('2024-01-01 00:00+00'::timestamptz, '2024-01-02 23:00+00', '1 hour') g;
COPY readings (station, ts, celsius, note) FROM STDIN WITH (FORMAT csv, HEADER, NULL 'NA');
station,ts,celsius,note
KBFI,2024-01-01 00:00:00+00,4.5,"fog, thin"
KBFI,2024-01-01 01:00:00+00,NA,NA
\.
\echo -- what is there
\l
\dn
\du
\dt
\d readings
\d+ stations
\echo -- answers
SELECT time_bucket('6 hours', ts) AS bucket, count(*), min(celsius), max(celsius), avg(celsius) FROM readings WHERE station = 'KSEA' AND ts < '2024-01-02' GROUP BY bucket ORDER BY bucket;
SELECT s.name, r.ts, r.celsius, r.note FROM stations s LEFT JOIN readings r ON r.station = s.station AND r.ts = '2024-01-01 01:00+00' ORDER BY s.station;
SELECT now() > '2024-01-01' AS later, 'infinity'::timestamptz, interval '1 day' * 1.5, 1.0 / 3 AS third, NULL AS nothing;
COPY (SELECT station, count(*) FROM readings GROUP BY 1 ORDER BY 1) TO STDOUT;
EXPLAIN SELECT max(celsius) FROM readings WHERE station = 'KSEA' AND ts >= '2024-01-01 06:00+00' AND ts < '2024-01-01 12:00+00' AND celsius > 1;
\echo -- changes
UPDATE readings SET note = 'cold' WHERE celsius < 2 RETURNING station, ts, note;
INSERT INTO stations VALUES ('KSEA', 'Seattle-Tacoma') ON CONFLICT (station) DO UPDATE SET name = excluded.name RETURNING *;
DELETE FROM readings WHERE ts >= '2024-01-02';
ALTER TABLE readings ADD COLUMN quality int DEFAULT 1;
SELECT quality, count(*), count(note) FROM readings GROUP BY quality;
VACUUM readings;
EXPLAIN DELETE FROM readings WHERE station = 'KSEA' AND ts = '2024-01-01 01:00+00';
\echo -- errors
\set ON_ERROR_STOP 0
\set VERBOSITY verbose
INSERT INTO stations VALUES ('KSEA', 'again');
INSERT INTO stations VALUES ('KPAE', NULL);
SELECT nope FROM readings;
SELECT * FROM missing;
SELECT 1 / 0;
SELECT * FROM readings SAMPLE BY 1h;
MERGE INTO readings USING stations ON false WHEN MATCHED THEN DELETE;
SELECT 'x'::int;
\echo -- transactions
\set VERBOSITY default
BEGIN;
INSERT INTO stations VALUES ('KPAE', 'Paine Field');
SELECT count(*) FROM stations;
ROLLBACK;
SELECT count(*) FROM stations;
TRUNCATE readings;
SELECT count(*) FROM readings;
DROP TABLE readings, stations;
\dt
