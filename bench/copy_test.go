package bench

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/bench/tsbs"
	"tsdb/colstore"
	"tsdb/tests/harness"
)

// copyRace loads the same bytes into fresh tables of both sides, in turn.
func copyRace(t *testing.T, what string, o tsbs.Options, data []byte, options string, ts, pg *pgconn.PgConn, tsTail, pgTail string, goal float64) {
	t.Helper()
	load := func(c *pgconn.PgConn, create string) time.Duration {
		run(t, c, "DROP TABLE IF EXISTS cpu")
		run(t, c, create)
		t0 := time.Now()
		tag, err := c.CopyFrom(context.Background(), bytes.NewReader(data), "COPY cpu FROM STDIN"+options)
		if err != nil || int(tag.RowsAffected()) != o.Rows {
			t.Fatalf("%s: %d rows, %v", what, tag.RowsAffected(), err)
		}
		return time.Since(t0)
	}
	var a, b []time.Duration
	for range scaled(3, 5) {
		a = append(a, load(ts, o.CreateTable("", "cpu", tsTail)))
		run(t, ts, "VACUUM") // flushing must not take the other side's time
		b = append(b, load(pg, o.CreateTable("UNLOGGED", "cpu", pgTail)))
	}
	x, y := median(a), median(b)
	fmt.Printf("%s: %.0f rows/s, %.0f MB/s; PostgreSQL %.0f rows/s\n", what, float64(o.Rows)/x.Seconds(), float64(len(data))/x.Seconds()/1e6, float64(o.Rows)/y.Seconds())
	report(t, what, x, y, goal)
}

// TestCopy measures COPY of rows that lie ready in memory. Commits of tsdb are
// synced; PostgreSQL's table is not logged.
func TestCopy(t *testing.T) {
	enabled(t)
	pg := connect(t, harness.StartPostgres(t, postgresConf(t)).URL())
	ts := connect(t, harness.StartTSDB(t, colstore.Options{Memory: 4 << 30}).URL())
	run(t, ts, "SET synchronous_commit = on")
	rows := scaled(400_000, 2_000_000)
	for _, float := range []bool{false, true} {
		o := tsbs.Options{Hosts: 4000, Rows: rows, Seed: 1, Float: float}
		kind := "bigint"
		if float {
			kind = "double"
		}
		text := tsbs.New(o).Text()
		copyRace(t, "COPY text, "+kind+", key in tsdb only", o, text, "", ts, pg, tsbs.PrimaryKey, "", 3)
		copyRace(t, "COPY text, "+kind+", key in both", o, text, "", ts, pg, tsbs.PrimaryKey, tsbs.PrimaryKey, 5)
		text = nil
		binary := tsbs.New(o).Binary()
		copyRace(t, "COPY binary, "+kind+", key in tsdb only", o, binary, " (FORMAT binary)", ts, pg, tsbs.PrimaryKey, "", 3)
		copyRace(t, "COPY binary, "+kind+", key in both", o, binary, " (FORMAT binary)", ts, pg, tsbs.PrimaryKey, tsbs.PrimaryKey, 5)
		copyRace(t, "COPY binary, "+kind+", no key", o, binary, " (FORMAT binary)", ts, pg, "", "", 3)
	}
}
