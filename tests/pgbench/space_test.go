package pgbench

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/bench/tsbs"
	"tsdb/colstore"
	"tsdb/tests/harness"
)

// within is how long space may take to come back.
const within = 60 * time.Second

func dataBytes(t *testing.T, s *harness.Server) int64 {
	return harness.DiskUsage(t, s.Dir(), func(name string) bool { return strings.HasSuffix(name, ".sst") })
}

// TestSpaceComesBack drops, deletes and expires most of a table's rows without
// asking for VACUUM.
func TestSpaceComesBack(t *testing.T) {
	gated(t)
	for _, how := range []struct{ name, sql string }{
		{"drop", "DROP TABLE cpu"},
		{"delete", "DELETE FROM cpu WHERE time >= '2016-01-01 01:00+00'"},
		{"retention", "ALTER TABLE cpu SET (retention = '1 day')"},
	} {
		t.Run(how.name, func(t *testing.T) {
			s := harness.StartTSDB(t, colstore.Options{})
			c := connect(t, s.URL())
			o := tsbs.Options{Hosts: 100, Rows: 500_000, Seed: 2}
			value(t, c, o.CreateTable("", "cpu", tsbs.PrimaryKey))
			load(t, c, o)
			value(t, c, "VACUUM")
			before := dataBytes(t, s)
			value(t, c, how.sql)
			begun := time.Now()
			for dataBytes(t, s) > before/4 {
				if time.Since(begun) > within {
					t.Fatalf("%d of %d bytes are still there", dataBytes(t, s), before)
				}
				time.Sleep(100 * time.Millisecond)
			}
			t.Logf("%d bytes, %d after %v", before, dataBytes(t, s), time.Since(begun).Round(100*time.Millisecond))
		})
	}
}

func load(t *testing.T, c *pgconn.PgConn, o tsbs.Options) {
	t.Helper()
	if _, err := c.CopyFrom(context.Background(), tsbs.New(o).BinaryReader(), "COPY cpu FROM STDIN (FORMAT binary)"); err != nil {
		t.Fatal(err)
	}
}
