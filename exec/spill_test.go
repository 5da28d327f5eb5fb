package exec_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/exec"
	"tsdb/exec/spill"
	"tsdb/planner/physical"
	"tsdb/sql/types"
)

// numbers is a database with a table of n rows whose sums are known, and
// another with every third key of it, and keys that it lacks.
func numbers(t testing.TB, n int) *database {
	d := newDatabase()
	d.table(t, "t", "a bigint, b text, c bigint, d float, e numeric", "", "")
	d.table(t, "u", "a bigint, b text", "", "")
	var rows, other *vector.Batch
	for _, s := range d.store.tables {
		if s.cat.Name == "t" {
			rows = s.rows
		} else {
			other = s.rows
		}
	}
	for i := range n {
		x := int64(i) * 7919 % int64(n)
		rows.Cols[0].AppendInt64(x)
		rows.Cols[1].AppendString(fmt.Sprintf("value number %d of the table", x/2))
		rows.Cols[2].AppendInt64(x % 10)
		rows.Cols[3].AppendFloat64(float64(x%1000) / 4)
		if x%5 == 0 {
			rows.Cols[4].AppendNull()
		} else {
			rows.Cols[4].AppendFrom(numeric(t, d, fmt.Sprintf("%d.%d0", x/3, x%3)), 0)
		}
	}
	rows.N = n
	for i := range n {
		if i%50 == 0 {
			other.Cols[0].AppendNull()
		} else {
			other.Cols[0].AppendInt64(int64(3 * i))
		}
		other.Cols[1].AppendString(fmt.Sprintf("value number %d of the table", i))
	}
	other.N = n
	return d
}

// numeric returns a numeric as one row.
func numeric(t testing.TB, d *database, text string) *vector.Vector {
	v := vector.New(vector.Bytes, 1)
	if err := types.ParseText(v, types.T(types.Numeric), []byte(text), &d.ctx.Context); err != nil {
		t.Fatal(err)
	}
	return v
}

// written returns the bytes that the operators of a plan wrote to files.
func written(op exec.Operator, n physical.Node) int64 {
	s, _ := exec.StatsOf(op, n)
	sum := s.Spilled
	for _, in := range n.Inputs() {
		sum += written(op, in)
	}
	return sum
}

// spills are queries over numbers that need more memory than they get.
var spills = []struct {
	query string
	keeps bool // the memory suffices
}{
	{query: "SELECT a, count(*), sum(c) FROM t GROUP BY a"},
	{query: "SELECT b, count(*), min(a), max(e), avg(d) FROM t GROUP BY b"},
	{query: "SELECT c, count(DISTINCT b), sum(DISTINCT a), count(*) FROM t GROUP BY c"},
	{query: "SELECT count(DISTINCT b), count(DISTINCT e) FROM t"},
	{query: "SELECT b, array_agg(a ORDER BY a DESC), string_agg(c::text, ',' ORDER BY a) FROM t GROUP BY b"},
	{query: "SELECT a / 100, string_agg(DISTINCT b, ',') FROM t GROUP BY 1"},
	{query: "SELECT a / 100, array_agg(a) FILTER (WHERE c > 5) FROM (SELECT * FROM t ORDER BY a) s GROUP BY 1"},
	{query: "SELECT a / 10, percentile_cont(0.5) WITHIN GROUP (ORDER BY d), mode() WITHIN GROUP (ORDER BY c) FROM t GROUP BY 1"},
	{query: "SELECT a, b, c FROM t ORDER BY b, a DESC"},
	{query: "SELECT a, e FROM t ORDER BY e DESC NULLS LAST, a"},
	{query: "SELECT a, b FROM t ORDER BY d + c, a LIMIT 30000 OFFSET 7"},
	{query: "SELECT a FROM t ORDER BY a LIMIT 10", keeps: true},
	{query: "SELECT DISTINCT b, c FROM t"},
	{query: "SELECT DISTINCT ON (b) b, a FROM t ORDER BY b, a"},
	{query: "SELECT a, b FROM t EXCEPT SELECT a, b FROM u"},
	{query: "SELECT b FROM t INTERSECT ALL SELECT b FROM u"},
	{query: "SELECT b FROM t EXCEPT ALL SELECT b FROM u WHERE a > 60"},
	{query: "SELECT b FROM t UNION SELECT b FROM u"},
	{query: "SELECT t.a, u.a, max(u.b) FROM (SELECT * FROM t WHERE a < 20) t LEFT JOIN u ON u.a BETWEEN t.a AND t.a + 10 GROUP BY 1, 2"},
	{query: "WITH x AS MATERIALIZED (SELECT a, b FROM t) SELECT count(*), sum(a), min(b) FROM (SELECT * FROM x UNION ALL SELECT * FROM x) y"},
	{query: "WITH RECURSIVE r(n, x, b) AS (SELECT 1, a, b FROM t UNION ALL SELECT n + 1, x, b FROM r WHERE n < 4) SELECT count(*), sum(x), sum(n), max(b) FROM r"},
	{query: "SELECT count(*), sum(t.a), min(u.b) FROM t JOIN u ON t.a = u.a"},
	{query: "SELECT t.a, u.b FROM t LEFT JOIN u ON t.a = u.a AND t.c > 3"},
	{query: "SELECT t.a, t.b, u.a, u.b FROM t FULL JOIN u ON t.a = u.a"},
	{query: "SELECT t.a FROM t WHERE b IN (SELECT b FROM u WHERE a IS NOT NULL)"},
	{query: "SELECT t.a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE t.a = u.a AND u.b <> t.b)"},
	{query: "SELECT t.a, t.b IN (SELECT u.b FROM u WHERE u.a = t.a) OR c = 3 FROM t"},
	{query: "SELECT t.a, (SELECT u.b FROM u WHERE u.a = t.a) FROM t"},
	{query: "SELECT count(*), sum(t.a + x.a) FROM t LEFT JOIN (SELECT a, b, 3 AS k FROM u) x ON t.c = x.k AND t.a = x.a + 1"},
	{query: "SELECT count(*), sum(x.a), max(x.b) FROM (SELECT * FROM t WHERE a < 20) t LEFT JOIN (SELECT a, b, 3 AS k FROM u) x ON t.c = x.k AND x.a > 100"},
	{query: "SELECT t.a, t.c, x.a, x.b, x.k FROM (SELECT * FROM t WHERE NOT (a >= 20)) t FULL JOIN (SELECT a, b, 3 AS k FROM u) x ON t.c = x.k"},
	{query: "SELECT a, t.c IN (SELECT k FROM (SELECT a, b, 3 AS k FROM u) x) OR c = 1 FROM t", keeps: true},
}

// run runs a query with a budget and returns its rows and what was written to files.
func (d *database) runWithin(t testing.TB, query string, budget int64, workers int) ([]string, int64) {
	t.Helper()
	d.use(config{batch: 1000, workers: workers, big: workers > 1})
	n := d.plan(t, query)
	env := d.execEnv(workers)
	dir := t.TempDir()
	env.Budget, env.Spill, env.Profile = exec.NewBudget(budget), spill.New(dir, -1), true
	op, err := exec.Build(env, n)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.drain(op, n)
	if err != nil {
		t.Fatalf("%s: %+v", query, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) || len(files) > 0 || env.Spill.Files() > 0 || env.Spill.Used() != 0 {
		t.Errorf("%s: %d files left (%v)", query, len(files), err)
	}
	if used := env.Budget.Used(); used != 0 || d.store.opened.Load() != 0 {
		t.Errorf("%s: %d bytes and %d readers left", query, used, d.store.opened.Load())
	}
	if !strings.Contains(query, "ORDER BY") || strings.Contains(query, "GROUP BY") {
		slices.Sort(got)
	}
	return got, written(op, n)
}

// TestSpill compares the answers with little memory to those with much.
func TestSpill(t *testing.T) {
	d := numbers(t, 40_000)
	for _, c := range spills {
		want, none := d.runWithin(t, c.query, 1<<30, 1)
		if none != 0 {
			t.Errorf("%s: wrote %d bytes though there is memory", c.query, none)
		}
		for _, workers := range []int{1, 3} {
			got, bytes := d.runWithin(t, c.query, 2<<20, workers)
			if workers > 1 {
				slices.Sort(got)
				want = slices.Clone(want)
				slices.Sort(want)
			}
			if bytes == 0 != c.keeps {
				t.Errorf("%s: wrote %d bytes", c.query, bytes)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d rows, want %d", c.query, len(got), len(want))
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Errorf("row %d: %s\nwant   %s", i, got[i], want[i])
						break
					}
				}
			}
		}
	}
}
