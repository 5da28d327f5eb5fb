package bench

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/bench/tsbs"
	"tsdb/colstore"
	"tsdb/tests/harness"
)

// prepared runs a prepared statement with text parameters.
func prepared(t *testing.T, c *pgconn.PgConn, name string, params ...[]byte) *pgconn.Result {
	r := c.ExecPrepared(context.Background(), name, params, nil, nil).Read()
	if r.Err != nil {
		t.Error(r.Err)
	}
	return r
}

func prepare(t *testing.T, c *pgconn.PgConn, name, sql string) {
	t.Helper()
	if _, err := c.Prepare(context.Background(), name, sql, nil); err != nil {
		t.Fatal(err)
	}
}

// TestSingleInserts compares a scan of rows that came one by one from eight
// clients with that of the same rows from one COPY.
func TestSingleInserts(t *testing.T) {
	enabled(t)
	const clients = 8
	o := tsbs.Options{Hosts: 100, Rows: scaled(20_000, 200_000), Seed: 8}
	text := tsbs.New(o).Text()
	rows := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	s := harness.StartTSDB(t, colstore.Options{})
	c := connect(t, s.URL())
	run(t, c, o.CreateTable("", "cpu", tsbs.PrimaryKey))
	copyFrom(t, c, bytes.NewReader(text), "")
	run(t, c, "ALTER TABLE cpu RENAME TO copied")
	run(t, c, o.CreateTable("", "cpu", tsbs.PrimaryKey))
	var wg sync.WaitGroup
	t0 := time.Now()
	for w := range clients {
		conn := connect(t, s.URL())
		prepare(t, conn, "i", "INSERT INTO cpu VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)")
		wg.Go(func() {
			for i := w; i < len(rows); i += clients {
				prepared(t, conn, "i", bytes.Split(rows[i], []byte("\t"))...)
			}
		})
	}
	wg.Wait()
	took := time.Since(t0)
	const scan = "SELECT count(*), sum(usage_user), max(usage_idle), min(time) FROM "
	a, b := fmt.Sprint(run(t, c, scan+"cpu")[0].Rows), fmt.Sprint(run(t, c, scan+"copied")[0].Rows)
	if a != b {
		t.Errorf("%s by INSERT, %s by COPY", a, b)
	}
	x := fastest(9, func() { run(t, c, scan+"cpu") })
	y := fastest(9, func() { run(t, c, scan+"copied") })
	w := s.Store.WriteStats()
	fmt.Printf("%d one-row INSERTs by %d clients: %.0f a second, %d log syncs; scan %v, of the same rows by COPY %v: %.2f times (at most 2)\n", o.Rows, clients,
		float64(o.Rows)/took.Seconds(), w.LogSyncs, x.Round(time.Microsecond), y.Round(time.Microsecond), x.Seconds()/y.Seconds())
	if x.Seconds() > 2*tolerance*y.Seconds() {
		t.Errorf("a scan takes %.2f times that of the same rows by COPY", x.Seconds()/y.Seconds())
	}
}

// TestSingleDeletes deletes rows one by one and reads a row after each.
func TestSingleDeletes(t *testing.T) {
	enabled(t)
	n := scaled(20_000, 100_000)
	o := tsbs.Options{Hosts: 100, Rows: 5 * n, Seed: 9}
	s := harness.StartTSDB(t, colstore.Options{})
	c := connect(t, s.URL())
	loadCPU(t, c, o)
	run(t, c, "SET synchronous_commit = off")
	for _, flushed := range []bool{false, true} {
		if flushed {
			run(t, c, "VACUUM")
		}
		what := "rows in memory"
		if flushed {
			what = "rows in segments"
		}
		t.Run(what, func(t *testing.T) { singleDeletes(t, c, what, o, n/2, flushed) })
	}
}

func singleDeletes(t *testing.T, c *pgconn.PgConn, what string, o tsbs.Options, n int, flushed bool) {
	name := fmt.Sprint(flushed)
	prepare(t, c, "d"+name, "DELETE FROM cpu WHERE hostname = $1 AND time = $2")
	prepare(t, c, "r"+name, "SELECT usage_user FROM cpu WHERE hostname = $1 AND time = $2")
	before := value(t, c, "SELECT count(*) FROM cpu")
	step := 0
	if flushed {
		step = 1
	}
	var deleting, reading time.Duration
	for i := range n {
		// A multiplier that is prime to the number of ticks visits each once.
		tick := (i/o.Hosts*7919 + step) % (o.Rows / o.Hosts)
		host := fmt.Appendf(nil, "host_%d", (i*37+step)%o.Hosts)
		at := time.Unix(tsbs.Start+tsbs.Step*int64(tick), 0).UTC().AppendFormat(nil, "2006-01-02 15:04:05+00")
		t0 := time.Now()
		prepared(t, c, "d"+name, host, at)
		t1 := time.Now()
		if got := prepared(t, c, "r"+name, host, at); len(got.Rows) != 0 {
			t.Fatalf("%s at %s is still there", host, at)
		}
		deleting, reading = deleting+t1.Sub(t0), reading+time.Since(t1)
	}
	per := (deleting + reading) / time.Duration(2*n)
	fmt.Printf("%d interleaved DELETEs and reads of %s: DELETE %v, read %v each, %v on average (at most 50 µs)\n", n, what,
		(deleting / time.Duration(n)).Round(100*time.Nanosecond), (reading / time.Duration(n)).Round(100*time.Nanosecond), per.Round(100*time.Nanosecond))
	fmt.Printf("rows %s before, %s after\n", before, value(t, c, "SELECT count(*) FROM cpu"))
	if per > tolerance*4*50*time.Microsecond {
		t.Errorf("%v each", per)
	}
}
