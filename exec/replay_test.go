package exec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"tsdb/exec"
	"tsdb/exec/spill"
	"tsdb/planner/physical"
	"tsdb/sql/pgerr"
)

// replayed are queries that together run every operator; a new one is one more.
var replayed = []string{
	"SELECT a, b FROM t WHERE c > 4",
	"SELECT c, count(*), sum(a), max(b), min(e) FROM t GROUP BY c",
	"SELECT b, count(*) FROM t GROUP BY b",
	"SELECT c, count(DISTINCT b), string_agg(b, ',' ORDER BY a), array_agg(DISTINCT e) FROM t GROUP BY c",
	"SELECT b, percentile_cont(0.5) WITHIN GROUP (ORDER BY d) FROM t GROUP BY b",
	"SELECT sum(a), avg(e) FROM t",
	"SELECT a, b, e FROM t ORDER BY e, b DESC, a",
	"SELECT a, b FROM t ORDER BY a DESC LIMIT 5",
	"SELECT count(*) FROM (SELECT a FROM t LIMIT 7 OFFSET 3) s",
	"SELECT DISTINCT b, e FROM t",
	"SELECT DISTINCT ON (c) c, a FROM t ORDER BY c, a",
	"SELECT t.a, u.b FROM t JOIN u ON t.a = u.a",
	"SELECT t.a, u.a, u.b FROM t LEFT JOIN u ON t.a = u.a AND t.c > 3",
	"SELECT t.a, u.a FROM t FULL JOIN u ON t.a = u.a",
	"SELECT a FROM t WHERE b IN (SELECT b FROM u)",
	"SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
	"SELECT a, a IN (SELECT a FROM u) OR c = 3 FROM t",
	"SELECT a, (SELECT u.b FROM u WHERE u.a = t.a) FROM t",
	"SELECT t.a, u.a FROM t JOIN u ON t.a < 4 AND u.a < t.a",
	"SELECT t.a, x.a FROM t, LATERAL (SELECT u.a FROM u WHERE u.a > t.a ORDER BY u.a LIMIT 1) x WHERE t.a < 5",
	"SELECT a, b FROM t UNION SELECT a, b FROM u",
	"SELECT a, b FROM t UNION ALL SELECT a, b FROM u",
	"SELECT a FROM t INTERSECT SELECT a FROM u",
	"SELECT b FROM t EXCEPT ALL SELECT b FROM u",
	"WITH x AS MATERIALIZED (SELECT a, b FROM t) SELECT count(*), max(x.b) FROM x JOIN x y ON x.a = y.a",
	"WITH RECURSIVE r(n, a) AS (SELECT 1, a FROM t UNION SELECT n + 1, a FROM r WHERE n < 3) SELECT n, count(*), sum(a) FROM r GROUP BY n",
	"SELECT a, generate_series(1, 3) FROM t",
}

// replay runs a plan on a fresh operator tree, closing it after the given
// number of batches (0: at the end), and checks that nothing is left.
func (d *database) replay(t *testing.T, what string, n physical.Node, env *exec.Env, batches int) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir := t.TempDir()
	if env.Spill != nil {
		env.Spill = spill.New(dir, -1)
	}
	d.store.reads.Store(0)
	d.store.stop = cancel
	op, err := exec.Build(env, n)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	err = op.Open(ctx)
	for k := 1; err == nil; k++ {
		b, e := op.Next()
		if err = e; b == nil || err != nil {
			break
		}
		lines = append(lines, d.text(n, b.Flat(nil))...)
		if k == batches {
			break
		}
	}
	for range 2 {
		if e := op.Close(); e != nil && err == nil {
			t.Errorf("%s: close: %v", what, e)
		}
	}
	left, e := os.ReadDir(dir)
	if used, open := env.Budget.Used(), d.store.opened.Load(); used != 0 || open != 0 || e != nil || len(left) > 0 {
		t.Errorf("%s: %d bytes, %d readers, %d files left (%v)", what, used, open, len(left), e)
	}
	return lines, err
}

func isCode(err error, code pgerr.Code) bool {
	var e *pgerr.Error
	return errors.As(err, &e) && e.Code == code
}

// TestReplay runs every operator with all sizes of batches, with failures and
// ends at every turn: it gives the same rows or the error, and leaves nothing.
func TestReplay(t *testing.T) {
	const rows = 150
	d := numbers(t, rows)
	for _, query := range replayed {
		d.use(config{batch: 4096, workers: 1})
		want, err := d.run(d.execEnv(1), d.plan(t, query))
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		slices.Sort(want)
		for _, size := range []int{1, 3, 1024, 4096} {
			for _, workers := range []int{1, 3} {
				d.use(config{batch: size, sel: size == 3 || workers == 3, dict: size > 3, workers: workers, big: workers > 1})
				n := d.plan(t, query)
				what := fmt.Sprintf("%s, batches of %d, %d workers", query, size, workers)
				d.replayAll(t, what, n, workers, want)
			}
		}
	}
}

func (d *database) replayAll(t *testing.T, what string, n physical.Node, workers int, want []string) {
	t.Helper()
	same := func(what string, got []string, err error) {
		t.Helper()
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want %d, %v", what, len(got), len(want), err)
		}
	}
	got, err := d.replay(t, what, n, d.execEnv(workers), 0)
	same(what, got, err)
	reads := d.store.reads.Load()
	for _, k := range []int{1, 2, 5} {
		if _, err := d.replay(t, what, n, d.execEnv(workers), k); err != nil {
			t.Errorf("%s: closed after %d batches: %v", what, k, err)
		}
	}
	for _, k := range []int32{1, 2, reads / 2, reads} {
		if k < 1 {
			continue
		}
		d.store.failAt = k
		if got, err := d.replay(t, what, n, d.execEnv(workers), 0); !errors.Is(err, errRead) {
			if err != nil {
				t.Errorf("%s: read %d fails: %v", what, k, err)
			}
			same(what+", ended before the read that fails", got, err)
		}
		d.store.failAt, d.store.stopAt = 0, k
		if got, err := d.replay(t, what, n, d.execEnv(workers), 0); err == nil {
			same(what+", canceled late", got, nil)
		} else if !isCode(err, pgerr.QueryCanceled) {
			t.Errorf("%s: canceled at read %d: %v", what, k, err)
		}
		d.store.stopAt = 0
	}
	for limit := int64(1 << 10); limit <= 1<<20; limit *= 4 {
		for _, files := range []bool{false, true} {
			env := d.execEnv(workers)
			env.Budget = exec.NewBudget(limit)
			if files {
				env.Spill = spill.New(t.TempDir(), -1)
			}
			got, err := d.replay(t, what, n, env, 0)
			if err == nil {
				same(what+", little memory", got, nil)
			} else if !isCode(err, pgerr.OutOfMemory) {
				t.Errorf("%s: %d bytes: %v", what, limit, err)
			}
		}
	}
}
