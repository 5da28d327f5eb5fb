package exec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tsdb/exec"
	"tsdb/planner/physical"
	"tsdb/sql/pgerr"
)

// series is a table of n rows with distinct numbers and texts.
func series(t *testing.T, n int) *database {
	d := newDatabase()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d|value number %d\n", i, i)
	}
	d.table(t, "t", "a int, b text", "", b.String())
	return d
}

func TestBudget(t *testing.T) {
	d := series(t, 20_000)
	for _, c := range []struct{ op, query string }{
		{"Aggregate", "SELECT b, count(*) FROM t GROUP BY b"},
		{"Aggregate", "SELECT count(DISTINCT b) FROM t"},
		{"Sort", "SELECT a, b FROM t ORDER BY b"},
		{"Hash Join", "SELECT count(*) FROM t x JOIN t y ON x.b = y.b"},
		{"Nested Loop", "SELECT count(*) FROM t x JOIN t y ON x.b < y.b"},
		{"SetOp", "SELECT b FROM t EXCEPT SELECT b FROM t"},
		{"Distinct", "SELECT DISTINCT ON (b) b FROM t"},
		{"Subquery", "SELECT ARRAY(SELECT b FROM t)"},
	} {
		for _, workers := range []int{1, 3} {
			d.use(config{batch: 1000, workers: workers, big: workers > 1})
			env := d.execEnv(workers)
			env.Budget = exec.NewBudget(100_000)
			_, err := d.run(env, d.plan(t, c.query))
			var e *pgerr.Error
			if !errors.As(err, &e) || e.Code != pgerr.OutOfMemory {
				t.Errorf("%s: %v", c.query, err)
				continue
			}
			if !strings.HasPrefix(e.Detail, c.op+" needs ") || !strings.Contains(e.Detail, "97 kB") || !strings.Contains(e.Hint, "tsdb.query_memory") {
				t.Errorf("%s: detail %q, hint %q", c.query, e.Detail, e.Hint)
			}
			if env.Budget.Used() != 0 || d.store.opened.Load() != 0 {
				t.Errorf("%s: %d bytes and %d readers left", c.query, env.Budget.Used(), d.store.opened.Load())
			}
		}
	}
}

func TestTopKeepsLittle(t *testing.T) {
	d := series(t, 200_000)
	d.use(config{batch: 4096, workers: 1})
	env := d.execEnv(1)
	env.Budget = exec.NewBudget(4 << 20)
	got, err := d.run(env, d.plan(t, "SELECT a FROM t ORDER BY a DESC LIMIT 2 OFFSET 1"))
	if err != nil || len(got) != 2 || got[0] != "199998" || got[1] != "199997" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCancel(t *testing.T) {
	d := series(t, 5000)
	for _, query := range []string{
		"SELECT a FROM t", "SELECT b, count(*) FROM t GROUP BY b", "SELECT a FROM t ORDER BY b", "SELECT x.a FROM t x, t y",
		"SELECT count(*) FROM generate_series(1, 100000000000) g", "SELECT x.a FROM t x JOIN t y USING (a)", "VALUES (1)",
	} {
		for _, workers := range []int{1, 3} {
			d.use(config{batch: 10, workers: workers, big: workers > 1})
			err := d.runCanceled(t, d.plan(t, query), workers, context.Canceled)
			var e *pgerr.Error
			if !errors.As(err, &e) || e.Code != pgerr.QueryCanceled || e.Message != "canceling statement due to user request" {
				t.Errorf("%s: %v", query, err)
			}
			err = d.runCanceled(t, d.plan(t, query), workers, pgerr.New(pgerr.QueryCanceled, "canceling statement due to statement timeout"))
			if err == nil || err.Error() != "canceling statement due to statement timeout" {
				t.Errorf("%s: %v", query, err)
			}
		}
	}
}

func (d *database) runCanceled(t *testing.T, n physical.Node, workers int, cause error) error {
	op, err := exec.Build(d.execEnv(workers), n)
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if err := op.Open(ctx); err != nil {
		return err
	}
	for {
		b, err := op.Next()
		if b == nil || err != nil {
			return err
		}
	}
}

func TestProfile(t *testing.T) {
	d := sample(t)
	d.use(config{batch: 2, workers: 1})
	n := d.plan(t, "SELECT station, count(*) FROM readings WHERE n > 2 GROUP BY 1")
	env := d.execEnv(1)
	env.Profile = true
	op, err := exec.Build(env, n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.drain(op, n); err != nil {
		t.Fatal(err)
	}
	for n := n; ; n = n.Inputs()[0] {
		s, ok := exec.StatsOf(op, n)
		if !ok || s.Nanos <= 0 {
			t.Errorf("%T: %+v, %t", n, s, ok)
		}
		switch n.(type) {
		case *physical.Aggregate:
			if s.Rows != 4 || s.Batches != 1 || s.Memory == 0 {
				t.Errorf("aggregate: %+v", s)
			}
		case *physical.Scan:
			if s.Rows != 5 || s.Scan == nil || s.Scan.Rows != 8 {
				t.Errorf("scan: %+v", s)
			}
			return
		}
	}
}

// TestErrors checks that an error in a worker or an expression ends the query.
func TestErrors(t *testing.T) {
	d := sample(t)
	for _, query := range []string{"SELECT 1 / (n - n) FROM readings", "SELECT sum(1 / (n - 2)) FROM readings", "SELECT 1 / 0",
		"SELECT n FROM readings WHERE 1 / (n - 2) > 0", "SELECT n FROM readings ORDER BY 1 / (n - 2)"} {
		for _, c := range configs {
			d.use(c)
			_, err := d.run(d.execEnv(c.workers), d.plan(t, query))
			var e *pgerr.Error
			if !errors.As(err, &e) || e.Code != pgerr.DivisionByZero {
				t.Errorf("%s: %s: %v", c.name, query, err)
			}
		}
	}
	d.use(configs[0])
	for query, message := range map[string]string{
		"SELECT n FROM readings LIMIT -1":          "LIMIT must not be negative",
		"SELECT n FROM readings OFFSET -1":         "OFFSET must not be negative",
		"SELECT n FROM readings LIMIT (SELECT -1)": "LIMIT must not be negative",
		"SELECT (SELECT n FROM readings)":          "more than one row returned by a subquery used as an expression",
	} {
		n, err := d.tryPlan(query)
		if err == nil {
			_, err = d.run(d.execEnv(1), n)
		}
		if err == nil || err.Error() != message {
			t.Errorf("%s: %v", query, err)
		}
	}
	d.check(t, "SELECT CASE WHEN n = 2 THEN 0 ELSE 1 / (n - 2) END FROM readings WHERE n IN (1, 2)", "-1", "0")
	d.check(t, "SELECT n FROM readings WHERE n <> 2 AND 6 / (n - 2) = 3", "4")
}
