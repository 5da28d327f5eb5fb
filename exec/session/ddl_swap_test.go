package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestSwap replaces a table by a new one of the same name, again and again, as
// tools that build tables from queries do, while others read it in every way.
// Each generation of the table holds one number in all rows: a reader that
// sees an error, two numbers or another count of rows has seen a swap happen.
func TestSwap(t *testing.T) {
	const rows, swaps = 500, 60
	sv := newServer(t)
	w := sv.connect("tsdb")
	w.want(fmt.Sprintf("CREATE TABLE x AS SELECT 0 AS gen, g AS n FROM generate_series(1, %d) g", rows), fmt.Sprintf("[SELECT %d]", rows))
	w.want("CREATE VIEW through AS SELECT gen, n FROM x; DROP VIEW through", "[CREATE VIEW][DROP VIEW]")
	var stop atomic.Bool
	var wg sync.WaitGroup
	var reads atomic.Int64
	read := func(name string, prepare string, once func(c *client) string) {
		c := sv.connect("tsdb")
		if prepare != "" {
			c.want(prepare, "[PREPARE]")
		}
		wg.Go(func() {
			for !stop.Load() {
				got := once(c)
				var lo, hi, n, distinct int
				if _, err := fmt.Sscanf(strings.ReplaceAll(got, "|", " "), "%d %d %d %d", &lo, &hi, &n, &distinct); err != nil ||
					lo != hi || n != rows || distinct != rows {
					t.Errorf("%s read %q", name, got)
					return
				}
				reads.Add(1)
			}
		})
	}
	const query = "SELECT min(gen), max(gen), count(*), count(DISTINCT n) FROM x"
	read("a query", "", func(c *client) string { return c.run(query) })
	read("a self join", "", func(c *client) string {
		return c.run("SELECT min(a.gen), max(b.gen), count(*), count(DISTINCT a.n) FROM x a JOIN x b ON a.n = b.n AND a.gen = b.gen")
	})
	read("EXECUTE", "PREPARE q AS "+query, func(c *client) string { return c.run("EXECUTE q") })
	read("a parsed statement", "", func(c *client) string {
		ctx := context.Background()
		c.out.Reset()
		err := c.s.Parse(ctx, "", query, nil)
		if err == nil {
			err = c.s.Bind(ctx, "", "", nil, nil, nil)
		}
		if err == nil {
			err = c.s.Execute(ctx, "", 0, &c.log)
		}
		if err != nil {
			c.out.WriteString(errText(err))
			c.s.Fail()
		}
		if e := c.s.Sync(ctx); e != nil {
			c.out.WriteString(errText(e))
		}
		return c.out.String()
	})
	read("a transaction", "", func(c *client) string {
		out := c.run("BEGIN ISOLATION LEVEL REPEATABLE READ; " + query)
		again := c.run(query)
		c.run("COMMIT")
		if strings.TrimPrefix(out, "[BEGIN]") != again {
			return "first " + out + ", then " + again
		}
		return again
	})
	for i := 1; i <= swaps && !t.Failed(); i++ {
		w.want(fmt.Sprintf(`BEGIN; CREATE TABLE x__tmp AS SELECT %d AS gen, g AS n FROM generate_series(1, %d) g;
			ALTER TABLE x RENAME TO x__bak; ALTER TABLE x__tmp RENAME TO x; DROP TABLE x__bak CASCADE; COMMIT`, i, rows),
			fmt.Sprintf("[BEGIN][SELECT %d][ALTER TABLE][ALTER TABLE][DROP TABLE][COMMIT]", rows))
	}
	stop.Store(true)
	wg.Wait()
	if reads.Load() == 0 {
		t.Error("nobody read")
	}
	w.want("SELECT DISTINCT gen FROM x", fmt.Sprintf("%d\n[SELECT 1]", swaps))
}

// TestRefreshUnderReaders refreshes a materialized view while others read it.
func TestRefreshUnderReaders(t *testing.T) {
	sv := newServer(t)
	w := sv.connect("tsdb")
	w.script("CREATE TABLE t (a int)", "[CREATE TABLE]", "INSERT INTO t VALUES (0)", "[INSERT 0 1]",
		"CREATE MATERIALIZED VIEW m AS SELECT t.a, g FROM t, generate_series(1, 100) g", "[SELECT 100]")
	var stop atomic.Bool
	var wg sync.WaitGroup
	c := sv.connect("tsdb")
	c.want("PREPARE q AS SELECT max(a) - min(a), count(*) FROM m", "[PREPARE]")
	wg.Go(func() {
		for !stop.Load() {
			if got := c.run("EXECUTE q"); got != "0|100\n[SELECT 1]" {
				t.Errorf("read %q", got)
				return
			}
		}
	})
	for range 40 {
		w.want("UPDATE t SET a = a + 1; REFRESH MATERIALIZED VIEW m", "[UPDATE 1][REFRESH MATERIALIZED VIEW]")
	}
	stop.Store(true)
	wg.Wait()
	w.want("SELECT DISTINCT a FROM m", "40\n[SELECT 1]")
}
