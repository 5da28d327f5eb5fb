// Package demo is the tour of what tsdb is for: it loads a year of hourly
// weather that ships inside the binary and asks it a few questions.
package demo

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/cmd/tsdb/internal/console"
)

// Hourly weather normals of Seattle; data/NOTE.md says where they come from.
//
//go:embed data/seattle-weather-hourly-normals.csv.gz
var weatherCSV []byte

// station is where the data was measured.
const station = "KSEA"

// marker is the file that says that a directory was made by the demo.
const marker = "DEMO.txt"

// Prepare makes an empty data directory. One that an earlier demo made is emptied.
//
// Errors: when dir holds anything else.
func Prepare(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case len(entries) > 0:
		if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
			return fmt.Errorf("%s is not empty and was not made by tsdb demo; choose another directory with --data", dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text := "tsdb demo made this directory and empties it when it runs again.\n"
	return os.WriteFile(filepath.Join(dir, marker), []byte(text), 0o600)
}

// Used reports whether dir holds an earlier demo.
func Used(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, marker))
	return err == nil
}

// Progress is told how loading goes.
type Progress interface {
	Add(bytes int)
	Done()
}

// Tour runs the demo over a connection and prints it to out.
type Tour struct {
	Conn     *pgconn.PgConn
	Out      io.Writer
	Color    bool
	Progress func(total int) Progress
}

const createTables = `CREATE TABLE stations (
    station   text PRIMARY KEY,
    name      text NOT NULL,
    elevation float8            -- metres
);
CREATE TABLE weather (
    station     text,
    ts          timestamp,
    pressure    float8,         -- hPa
    temperature float8,         -- degrees Celsius
    wind        float8,         -- metres per second
    PRIMARY KEY (station, ts)   -- the row key: rows are stored in this order
)`

const insertStation = `INSERT INTO stations VALUES ('` + station + `', 'Seattle-Tacoma International Airport', 132)`

const copyWeather = `COPY weather FROM STDIN WITH (FORMAT csv)`

// step is a question of the tour.
type step struct{ title, sql string }

var steps = []step{
	{"The latest readings of one station", `SELECT ts, temperature, pressure, wind
FROM weather
WHERE station = 'KSEA'
ORDER BY ts DESC
LIMIT 5`},
	{"One summer day in buckets of three hours", `SELECT time_bucket('3 hours', ts) AS bucket, round(avg(temperature)::numeric, 1) AS temperature,
       max(wind) AS wind
FROM weather
WHERE station = 'KSEA' AND ts >= '2010-07-28' AND ts < '2010-07-29'
GROUP BY bucket
ORDER BY bucket`},
	{"The year by month", `SELECT date_trunc('month', ts)::date AS month, count(*) AS hours, min(temperature) AS coldest,
       round(avg(temperature)::numeric, 1) AS mean, max(temperature) AS warmest
FROM weather
GROUP BY 1
ORDER BY 1`},
	{"A join with what is known about the station", `SELECT s.name, s.elevation, round(avg(w.pressure)::numeric, 1) AS pressure,
       round(avg(w.wind)::numeric, 2) AS wind
FROM weather w
JOIN stations s ON s.station = w.station
WHERE w.ts >= '2010-11-01'
GROUP BY s.name, s.elevation`},
	{"A filter on a value: the windiest hours", `SELECT ts, wind, temperature
FROM weather
WHERE wind >= 4.6
ORDER BY wind DESC, ts
LIMIT 5`},
	{"How the summer day is found: the plan with its row-key span", `EXPLAIN SELECT avg(temperature)
FROM weather
WHERE station = 'KSEA' AND ts >= '2010-07-28' AND ts < '2010-07-29'`},
	{"The same, run and measured", `EXPLAIN ANALYZE SELECT avg(temperature)
FROM weather
WHERE station = 'KSEA' AND ts >= '2010-07-28' AND ts < '2010-07-29'`},
}

// Run loads the data and asks the questions.
//
// Errors: console.ErrFailed after an error that was printed.
func (t *Tour) Run(ctx context.Context) error {
	r := &console.Runner{Conn: t.Conn, Out: t.Out, Err: t.Out, Timing: true, Bare: true}
	for _, s := range append(strings.SplitAfter(createTables, ";\n"), insertStation) {
		stmt := strings.TrimSuffix(s, ";\n")
		t.show("", stmt)
		if err := r.Run(ctx, stmt, nil); err != nil {
			return err
		}
	}
	if err := t.load(ctx); err != nil {
		return err
	}
	for _, s := range steps {
		t.show(s.title, s.sql)
		if err := r.Run(ctx, s.sql, nil); err != nil {
			return err
		}
	}
	return nil
}

// show prints a statement, and a title above it.
func (t *Tour) show(title, sql string) {
	bold, dim, off := "", "", ""
	if t.Color {
		bold, dim, off = "\x1b[1m", "\x1b[36m", "\x1b[0m"
	}
	if title != "" {
		fmt.Fprintf(t.Out, "\n%s-- %s%s\n", bold, title, off)
	} else {
		fmt.Fprintln(t.Out)
	}
	fmt.Fprintf(t.Out, "%s%s;%s\n", dim, sql, off)
}

// load copies the readings into the table and says how fast that was.
func (t *Tour) load(ctx context.Context) error {
	data, err := readings()
	if err != nil {
		return err
	}
	t.show("A year of hourly readings", copyWeather)
	progress := t.Progress(len(data))
	start := time.Now()
	tag, err := t.Conn.CopyFrom(ctx, &counted{r: bytes.NewReader(data), progress: progress}, copyWeather)
	took := time.Since(start)
	progress.Done()
	if err != nil {
		return fmt.Errorf("loading the readings: %w", err)
	}
	fmt.Fprintf(t.Out, "%s\nTime: %s ms (%.0f rows per second, on disk and synced)\n", tag, console.Millis(took),
		float64(tag.RowsAffected())/took.Seconds())
	return nil
}

// readings returns the embedded data as rows of the table weather: without the
// header and with the station in front.
func readings() ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(weatherCSV))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	_, text, _ = bytes.Cut(text, []byte("\n"))
	var out []byte
	for line := range bytes.Lines(text) {
		out = append(append(out, station+","...), line...)
	}
	return out, nil
}

// counted reports what is read.
type counted struct {
	r        io.Reader
	progress Progress
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.progress.Add(n)
	return n, err
}
