// Package dbt replaces tables as tools do that build them from queries, while
// others read them through the wire.
package dbt

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/jackc/pgx/v5"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

const (
	rows  = 500
	swaps = 60
)

// TestSwap replaces a table by one of the same name. Each holds one number in
// all of its rows: no reader may see an error, two numbers or another count.
func TestSwap(t *testing.T) {
	ctx := context.Background()
	s := harness.StartTSDB(t, colstore.Options{FS: vfs.NewMem()})
	connect := func(mode pgx.QueryExecMode) *pgx.Conn {
		cfg, err := pgx.ParseConfig(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		cfg.DefaultQueryExecMode = mode
		c, err := pgx.ConnectConfig(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close(ctx) })
		return c
	}
	w := connect(pgx.QueryExecModeSimpleProtocol)
	run := func(sql string) {
		if _, err := w.Exec(ctx, sql); err != nil {
			t.Fatalf("%v: %s", err, sql)
		}
	}
	run(fmt.Sprintf("CREATE TABLE x AS SELECT 0 AS gen, g AS n FROM generate_series(1, %d) g", rows))
	var stop atomic.Bool
	var reads atomic.Int64
	var wg sync.WaitGroup
	for name, mode := range map[string]pgx.QueryExecMode{
		"simple": pgx.QueryExecModeSimpleProtocol, "prepared": pgx.QueryExecModeCacheStatement,
		"described": pgx.QueryExecModeCacheDescribe, "unnamed": pgx.QueryExecModeExec,
	} {
		c := connect(mode)
		wg.Go(func() {
			for last := 0; !stop.Load(); reads.Add(1) {
				var lo, hi, n, distinct int
				err := c.QueryRow(ctx, "SELECT min(gen), max(gen), count(*), count(DISTINCT n) FROM x WHERE n > $1", 0).Scan(&lo, &hi, &n, &distinct)
				if err != nil || lo != hi || n != rows || distinct != rows || lo < last {
					t.Errorf("%s: read %d to %d, %d rows, %d distinct, after %d: %v", name, lo, hi, n, distinct, last, err)
					return
				}
				last = lo
			}
		})
	}
	for i := 1; i <= swaps && !t.Failed(); i++ {
		run(fmt.Sprintf(`CREATE TABLE x__tmp AS SELECT %d AS gen, g AS n FROM generate_series(1, %d) g;
			BEGIN; ALTER TABLE x RENAME TO x__bak; ALTER TABLE x__tmp RENAME TO x; DROP TABLE x__bak CASCADE; COMMIT`, i, rows))
	}
	stop.Store(true)
	wg.Wait()
	if reads.Load() == 0 {
		t.Error("nobody read")
	}
}
