package exec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tsdb/planner"
	"tsdb/planner/build"
	"tsdb/planner/rules"
	"tsdb/sql"
)

// randomTable is a table with few distinct values, so that predicates meet them.
func randomTable(t *testing.T, r *rand.Rand) *database {
	d := newDatabase()
	var rows strings.Builder
	pick := func(vs ...string) string { return vs[r.IntN(len(vs))] }
	for range 300 {
		fmt.Fprintf(&rows, "%s|%s|%s|%s|%s|%s\n", pick("a", "ab", "abc", "b", "ba", "c", ""),
			pick("-2", "-1", "0", "1", "2", "3", "2147483647"), randomTime(r, true),
			pick("-1.5", "0", "-0", "2", "NaN", "Infinity", `\N`), pick("1", "1.0", "2.50", "-7", "NaN", `\N`), pick("t", "f", `\N`))
	}
	d.table(t, "t", "s text!, i int!, ts ts!, f float, n numeric, b bool", "s i ts", rows.String())
	return d
}

func randomTime(r *rand.Rand, infinite bool) string {
	if infinite && r.IntN(20) == 0 {
		return []string{"infinity", "-infinity"}[r.IntN(2)]
	}
	return fmt.Sprintf("2020-01-%02d %02d:00:00", 1+r.IntN(4), r.IntN(3)*8)
}

func randomCondition(r *rand.Rand, depth int) string {
	pick := func(vs ...string) string { return vs[r.IntN(len(vs))] }
	op := pick("=", "<", "<=", ">", ">=", "<>")
	if depth > 0 && r.IntN(2) == 0 {
		a, b := randomCondition(r, depth-1), randomCondition(r, depth-1)
		return "(" + a + pick(" AND ", " OR ") + b + ")"
	}
	text := func() string { return "'" + pick("a", "ab", "abc", "b", "c", "", "zz") + "'" }
	number := func() string { return pick("-2", "-1", "0", "1", "2", "3", "2147483647", "3000000000", "-3000000000") }
	switch r.IntN(18) {
	case 16:
		return "ts " + op + " timestamptz '" + randomTime(r, false) + "+00'"
	case 17:
		return pick("ts::timestamptz "+op+" '", "ts::date "+op+" timestamptz '") + randomTime(r, false) + "+00'"
	case 0, 1:
		return "s " + op + " " + text()
	case 2:
		return "s LIKE " + pick("'a%'", "'ab%'", "'%b'", "'b_'", "'abc'", "'%'", `'a\b%'`)
	case 3:
		return "s IN (" + text() + ", " + text() + ", NULL)"
	case 4:
		return "s = ANY (ARRAY[" + text() + ", " + text() + "])"
	case 5, 6:
		return "i " + op + " " + number()
	case 7:
		return "i IN (" + number() + ", " + number() + ")"
	case 8:
		return number() + " " + op + " i"
	case 9, 10:
		return "ts " + op + " '" + randomTime(r, true) + "'"
	case 11:
		return "ts::date " + op + " date '2020-01-0" + pick("1", "2", "3") + "'"
	case 12:
		return "ts " + op + " date '2020-01-0" + pick("1", "2", "3") + "'"
	case 13:
		return "f " + op + " " + pick("0", "'NaN'", "-1.5", "'Infinity'", "2")
	case 14:
		return pick("n "+op+" 1", "n "+op+" 2.5", "n IS NULL", "f IS NOT NULL", "b", "NOT b", "b IS TRUE", "b = false", "starts_with(s, 'ab')")
	}
	return pick("date_trunc('day', ts) "+op+" timestamp '2020-01-02'", "date_bin('12 hours', ts, '2020-01-01') "+op+" timestamp '2020-01-02'",
		"(s, i) "+pick("<", "<=", ">", ">=")+" ('ab', 1)", "(i, ts) > (0, timestamp '2020-01-02')",
		"ts BETWEEN '2020-01-01' AND '2020-01-03'", "i::bigint "+op+" 2", "i IS NOT DISTINCT FROM 2")
}

// TestPruningChangesNothing compares a storage that skips all it may skip with
// one that reads everything.
func TestPruningChangesNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	d := randomTable(t, r)
	d.use(config{batch: 64, workers: 1})
	skipping := 0
	for i := range 1500 {
		zone, err := time.LoadLocation([]string{"UTC", "Asia/Kolkata", "America/Los_Angeles"}[i%3])
		if err != nil {
			t.Fatal(err)
		}
		d.ctx.Zone = zone
		query := "SELECT s, i, ts, f, n, b FROM t WHERE " + randomCondition(r, 2)
		d.store.strict, d.noPrune = true, false
		n := d.plan(t, query)
		got, err := d.run(d.execEnv(1), n)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		d.noPrune = true
		want, err := d.run(d.execEnv(1), d.plan(t, query))
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %d rows with pruning, %d without", query, len(got), len(want))
		}
		if a := d.store.asked; len(a) > 0 && (a[0].Spans != nil || a[0].Time != nil) {
			skipping++
		}
		d.store.asked = nil
	}
	if skipping < 200 {
		t.Errorf("only %d of 1500 conditions narrow a scan", skipping)
	}
}

// TestRulesChangeNothing runs queries with each rule left out.
func TestRulesChangeNothing(t *testing.T) {
	d := sample(t)
	d.use(config{batch: 3, workers: 1})
	queries := []string{
		"SELECT r.n, s.name FROM readings r LEFT JOIN stations s ON r.station = s.id WHERE s.region + 1 = 2 AND r.n < 5",
		"SELECT s.name, sum(r.n) FROM readings r, stations s, stations o WHERE r.station = s.id AND o.region = s.region AND o.id <> s.id GROUP BY 1 HAVING s.name > 'A'",
		"SELECT station, c FROM (SELECT station, count(*) c, max(temp) m FROM readings GROUP BY 1) x WHERE station LIKE 'K%' AND c > 1",
		"SELECT n FROM readings WHERE station IN (SELECT id FROM stations WHERE region = 1 + 0) AND true",
		"SELECT DISTINCT region FROM stations WHERE CASE WHEN 1 = 1 THEN region < 5 END",
		"SELECT x FROM (SELECT n + 1 AS x, temp FROM readings UNION ALL SELECT region, 0 FROM stations) u WHERE x > 2",
		"SELECT id, (SELECT count(*) FROM readings r WHERE r.station = s.id AND r.n > 1) FROM stations s WHERE region < 9",
		"SELECT a.n FROM readings a JOIN (SELECT station, max(ts) ts FROM readings GROUP BY 1) b USING (station, ts)",
		"SELECT n FROM (SELECT n, station FROM readings ORDER BY n LIMIT 4) q WHERE n > 2",
		"SELECT count(*) FROM readings r WHERE NOT EXISTS (SELECT 1 FROM stations s WHERE s.id = r.station)",
	}
	for _, q := range queries {
		all, err := d.runWithout(q, "")
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if len(all) == 0 {
			t.Errorf("%s: no rows", q)
		}
		for _, rule := range rules.All() {
			got, err := d.runWithout(q, rule.Name)
			if err != nil {
				t.Errorf("%s: without %q: %v", q, rule.Name, err)
			}
			if !slices.Equal(got, all) {
				t.Errorf("%s: without %q\n got %q\nwant %q", q, rule.Name, got, all)
			}
		}
	}
}

func (d *database) runWithout(query, rule string) ([]string, error) {
	sts, err := sql.Parse(query)
	if err != nil {
		return nil, err
	}
	env := d.env()
	b, err := planner.Bind(env, sts[0], nil)
	if err != nil {
		return nil, err
	}
	c := &rules.Context{Ctx: env.Ctx}
	n := b.Root
	for _, r := range rules.All() {
		if r.Name != rule {
			n = r.Apply(c, n)
		}
	}
	p, err := build.Plan(&build.Env{Ctx: env.Ctx, Stats: env.Stats, Pruning: true}, n)
	if err != nil {
		return nil, err
	}
	lines, err := d.run(d.execEnv(1), p)
	slices.Sort(lines)
	return lines, err
}
