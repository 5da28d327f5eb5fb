// Package bench measures tsdb against its peers in the same run. Figures are
// ratios of medians; wall times are printed, never asserted. A benchmark fails
// only below half of its goal, so that a noisy machine does not decide.
package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

const runs = 7

func enabled(t *testing.T) {
	if os.Getenv("TSDB_BENCH") == "" {
		t.Skip("a benchmark: set TSDB_BENCH=1, or run make bench")
	}
}

func postgresConf(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("postgres.conf")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func connect(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func run(t *testing.T, c *pgconn.PgConn, sql string) []*pgconn.Result {
	t.Helper()
	rs, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%v: %.100s", err, sql)
	}
	return rs
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// race times both sides in turn, so that a slow phase of the machine hits
// both, and returns the medians.
func race(n int, tsdb, postgres func()) (time.Duration, time.Duration) {
	var a, b []time.Duration
	for i := 0; i < n; i++ {
		t0 := time.Now()
		tsdb()
		t1 := time.Now()
		postgres()
		a, b = append(a, t1.Sub(t0)), append(b, time.Since(t1))
	}
	return median(a), median(b)
}

func report(t *testing.T, what string, ts, pg time.Duration, goal float64) {
	t.Helper()
	ratio := float64(pg) / float64(ts)
	fmt.Printf("%s: tsdb %v, PostgreSQL 15 %v, ratio %.1f (goal %.0f)\n", what, ts.Round(10*time.Microsecond), pg.Round(10*time.Microsecond), ratio, goal)
	if ratio < goal/2 {
		t.Errorf("%s: ratio %.2f is below half of the goal %.0f", what, ratio, goal)
	}
}

const flightsTable = "CREATE TABLE flights (date timestamp, delay int4, distance int4, origin text, destination text)"

func TestFlightsAggregate(t *testing.T) {
	enabled(t)
	data := harness.DataDir(t)
	pg := connect(t, harness.StartPostgres(t, postgresConf(t)).URL())
	ts := connect(t, harness.StartTSDB(t, colstore.Options{}).URL())
	parquet := filepath.Join(data, "flights-3m.parquet")
	run(t, ts, flightsTable)
	run(t, pg, flightsTable)
	run(t, ts, "COPY flights FROM '"+parquet+"'")
	csv := harness.FlightsCSV(t, parquet)
	defer csv.Close()
	if _, err := pg.CopyFrom(context.Background(), csv, "COPY flights FROM STDIN (FORMAT csv)"); err != nil {
		t.Fatal(err)
	}
	run(t, pg, "VACUUM ANALYZE flights")
	run(t, ts, "VACUUM")
	const q = "SELECT date_bin('1 day', date, '2001-01-01'), origin, count(*), avg(delay) FROM flights GROUP BY 1, 2"
	a, b := len(run(t, ts, q)[0].Rows), len(run(t, pg, q)[0].Rows)
	if a != b {
		t.Fatalf("%d rows, PostgreSQL %d", a, b)
	}
	x, y := race(runs, func() { run(t, ts, q) }, func() { run(t, pg, q) })
	report(t, "3 M flights by day and origin", x, y, 3)
	const one = "SELECT origin, count(*), avg(delay) FROM flights WHERE date >= '2001-02-03' AND date < '2001-02-04' GROUP BY 1"
	x, y = race(runs, func() { run(t, ts, one) }, func() { run(t, pg, one) })
	report(t, "one day of 3 M flights by origin", x, y, 3)
}

// insertValues is one INSERT of n rows of 12 columns.
func insertValues(n int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO cpu VALUES ")
	for i := 0; i < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "('2024-01-01 %02d:%02d:%02d', 'host_%d', %d, %d.5, %d, %d, %d, %d, %d, %d, %d, %d)",
			i/3600%24, i/60%60, i%60, i%100, i%100, i%97, i%89, i%83, i%79, i%73, i%71, i%67, i%61, i%59)
	}
	return b.String()
}

func TestInsertValues(t *testing.T) {
	enabled(t)
	pg := connect(t, harness.StartPostgres(t, postgresConf(t)).URL())
	ts := connect(t, harness.StartTSDB(t, colstore.Options{}).URL())
	const table = "CREATE TABLE cpu (ts timestamp, host text, a int4, b float8, c int4, d int4, e int4, f int4, g int4, h int4, i int8, j numeric)"
	run(t, ts, table)
	run(t, pg, table)
	q := insertValues(100000)
	x, y := race(5, func() { run(t, ts, q) }, func() { run(t, pg, q) })
	a, b := string(run(t, ts, "SELECT count(*), sum(a), sum(j) FROM cpu")[0].Rows[0][2]), string(run(t, pg, "SELECT count(*), sum(a), sum(j) FROM cpu")[0].Rows[0][2])
	if a != b {
		t.Fatalf("sum %s, PostgreSQL %s", a, b)
	}
	report(t, "INSERT of 100,000 rows of 12 columns", x, y, 3)
}
