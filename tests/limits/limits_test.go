// Package limits sends a server statements of absurd depth and length: what
// PostgreSQL takes passes, what would overflow a stack fails with 54001, and
// the server lives.
package limits

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

// chain makes a left-recursive chain of n levels and its value.
type chain struct {
	name string
	sql  func(n int) string
	want func(n int) string
}

func fixed(s string) func(int) string { return func(int) string { return s } }

func suffix(first, link, last string) func(int) string {
	return func(n int) string { return first + strings.Repeat(link, n) + last }
}

var chains = []chain{
	{"plus", suffix("SELECT 1", "+1", ""), func(n int) string { return fmt.Sprint(n + 1) }},
	{"cast", suffix("SELECT 1", "::int4", ""), fixed("1")},
	{"is null", suffix("SELECT NULL", " IS NULL", ""), func(n int) string { return map[bool]string{true: "t", false: "f"}[n == 1] }},
	{"collate", suffix("SELECT 'a'", ` COLLATE "C"`, ""), fixed("a")},
	{"at time zone", suffix("SELECT '2024-01-01 00:00'::timestamp", " AT TIME ZONE 'UTC'", ""), func(n int) string {
		return map[bool]string{true: "2024-01-01 00:00:00", false: "2024-01-01 00:00:00+00"}[n%2 == 0]
	}},
	{"arrow", suffix(`SELECT '{"a": 1}'::jsonb`, " -> 'a'", ""), func(n int) string { return map[bool]string{true: "1", false: "NULL"}[n == 1] }},
	{"power", suffix("SELECT 1", "^1", ""), fixed("1")},
	{"operator()", suffix("SELECT 0", " OPERATOR(pg_catalog.+) 1", ""), func(n int) string { return fmt.Sprint(n) }},
	{"join", suffix("SELECT count(*) FROM (VALUES (1)) t0(a)", " CROSS JOIN (VALUES (1)) t(a)", ""), nil},
	{"union", suffix("SELECT 1", " UNION SELECT 1", ""), fixed("1")},
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

func value(c *pgconn.PgConn, sql string) (string, error) {
	rs, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return "", err
	}
	v := rs[0].Rows[0][0]
	if v == nil {
		return "NULL", nil
	}
	return string(v), nil
}

func code(err error) string {
	if e, ok := err.(*pgconn.PgError); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestChains(t *testing.T) {
	c := connect(t, harness.StartTSDB(t, colstore.Options{}).URL())
	for _, k := range chains {
		sql := k.sql
		if k.name == "join" {
			// Every link has a name of its own.
			sql = func(n int) string {
				var b strings.Builder
				b.WriteString("SELECT count(*) FROM (VALUES (1)) t0(a)")
				for i := 1; i <= n; i++ {
					fmt.Fprintf(&b, " CROSS JOIN (VALUES (1)) t%d(a)", i)
				}
				return b.String()
			}
			k.want = fixed("1")
		}
		const pass, fail = 3900, 30000
		got, err := value(c, sql(pass))
		if err != nil {
			t.Errorf("%s: %d levels: %s %v", k.name, pass, code(err), err)
		} else if want := k.want(pass); got != want {
			t.Errorf("%s: %d levels: %s, want %s", k.name, pass, got, want)
		}
		if _, err := value(c, sql(fail)); code(err) != "54001" {
			t.Errorf("%s: %d levels: %v, want 54001", k.name, fail, err)
		}
	}
}

func TestFlatStatementsPass(t *testing.T) {
	c := connect(t, harness.StartTSDB(t, colstore.Options{}).URL())
	var ors, ands, in, cases strings.Builder
	for i := 0; i < 5000; i++ {
		fmt.Fprintf(&ors, " OR g = %d", i*2)
		fmt.Fprintf(&ands, " AND g <> %d", i*2)
	}
	for i := 0; i < 100000; i++ {
		fmt.Fprintf(&in, "%d,", i*3)
	}
	for i := 0; i < 20000; i++ {
		fmt.Fprintf(&cases, " WHEN %d THEN %d", i, i+7)
	}
	for _, q := range []struct{ name, sql, want string }{
		{"ors", "SELECT count(*) FROM generate_series(0, 20000) g WHERE false" + ors.String(), "5000"},
		{"ands", "SELECT count(*) FROM generate_series(0, 9999) g WHERE true" + ands.String(), "5000"},
		{"in", "SELECT count(*) FROM generate_series(0, 299999) g WHERE g IN (" + strings.TrimSuffix(in.String(), ",") + ")", "100000"},
		{"case", "SELECT sum(CASE g" + cases.String() + " END) FROM generate_series(19000, 19999) g", "19506500"},
	} {
		got, err := value(c, q.sql)
		if err != nil || got != q.want {
			t.Errorf("%s: %q %v, want %s", q.name, got, err, q.want)
		}
	}
}

func TestNestingEndsAsAnError(t *testing.T) {
	c := connect(t, harness.StartTSDB(t, colstore.Options{}).URL())
	for name, sql := range map[string]string{
		"brackets":   "SELECT " + strings.Repeat("(", 100000) + "1" + strings.Repeat(")", 100000),
		"subselects": strings.Repeat("SELECT (", 50000) + "1" + strings.Repeat(")", 50000),
		"from":       strings.Repeat("SELECT * FROM (", 50000) + "VALUES (1)" + strings.Repeat(") q", 50000),
		"cases":      "SELECT " + strings.Repeat("CASE WHEN true THEN ", 50000) + "1" + strings.Repeat(" END", 50000),
		"nots":       "SELECT " + strings.Repeat("NOT ", 50000) + "true",
		"minus":      "SELECT " + strings.Repeat("- ", 50000) + "1",
		"calls":      "SELECT " + strings.Repeat("abs(", 50000) + "1" + strings.Repeat(")", 50000),
		"arrays":     "SELECT " + strings.Repeat("ARRAY[", 50000) + "1" + strings.Repeat("]", 50000),
	} {
		_, err := value(c, sql)
		if got := code(err); got != "54001" && got != "42601" {
			t.Errorf("%s: %s", name, got)
		}
		if v, err := value(c, "SELECT 1"); err != nil || v != "1" {
			t.Fatalf("%s: the connection is gone: %v", name, err)
		}
	}
}
