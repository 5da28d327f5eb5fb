// Package random compares tsdb with PostgreSQL 15 by random statements over
// random tables: expressions of all types, joins, subqueries, aggregates, set
// operations, common table expressions, dates, and changes of rows. Rows must be
// the same, in order where the order is total, and so must be SQLSTATEs. It
// needs TSDB_ORACLE=1.
//
// Variables: TSDB_SEED repeats a run, TSDB_QUERIES is how many statements it has
// (500), TSDB_POSTGRES=URL uses a running PostgreSQL 15, TSDB_KEEP=file collects
// reduced failures as a script of tests/slt.
//
// Differences that are no fault fall into classes, which are counted:
//
//   - evaluation: one side fails with a data error (class 22, 21000) that the
//     other does not meet, because it computes a row or an operand that the
//     other leaves out, or both fail in another row first;
//   - representative: numeric values that are equal but for zeros at their end,
//     or 0 and -0, of which DISTINCT, GROUP BY, min and max may give either;
//   - digits: float results that differ by 1e-9 of their size;
//   - time: PostgreSQL ran into its statement_timeout.
package random

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

func TestRandomStatementsAgainstPostgreSQL(t *testing.T) {
	url := harness.OracleURL(t, false)
	seed, queries := harness.Number("TSDB_SEED", time.Now().UnixNano()), int(harness.Number("TSDB_QUERIES", 500))
	fmt.Printf("TSDB_SEED=%d TSDB_QUERIES=%d\n", seed, queries)
	s := harness.StartTSDB(t, colstore.Options{FS: vfs.NewMem()})
	d := &duel{t: t, g: &gen{r: rand.New(rand.NewSource(seed))}, server: s, ours: connect(t, s.URL()), theirs: connect(t, url), masked: map[string]int{}}
	name := fmt.Sprint("random", os.Getpid())
	for _, q := range []string{"CREATE SCHEMA " + name, "SET search_path = " + name, "SET statement_timeout = '3s'"} {
		if o := exec(d.theirs, q); o.code != "" {
			t.Fatal(q, o.code, o.message)
		}
	}
	defer exec(d.theirs, "RESET statement_timeout; DROP SCHEMA "+name+" CASCADE")
	d.both("SET timezone = 'Europe/Berlin'; SET client_min_messages = error")
	if o := exec(d.ours, "SET statement_timeout = '20s'"); o.code != "" {
		t.Fatal(o.message)
	}
	for i := range queries {
		if i%100 == 0 {
			d.renew()
		}
		d.step(i)
		if d.failures >= 25 {
			t.Fatal("too many differences: the run ends")
		}
	}
	fmt.Printf("%d statements, %d with rows, %d with an error on both sides, %d differences; masked: %v\n", queries, d.filled, d.errors, d.failures, d.masked)
}

// duel is a run on both servers.
type duel struct {
	t            *testing.T
	g            *gen
	server       *harness.Server
	ours, theirs *pgconn.PgConn
	setup        []string // the statements that made the tables as they are
	masked       map[string]int
	failures     int
	filled       int
	errors       int
}

// both runs a statement that prepares something.
func (d *duel) both(q string) {
	d.t.Helper()
	if o, p := exec(d.ours, q), exec(d.theirs, q); o.code != "" || p.code != "" {
		d.t.Fatalf("%s: tsdb %s %s, PostgreSQL %s %s", q, o.code, o.message, p.code, p.message)
	}
}

// renew makes other tables.
func (d *duel) renew() {
	d.setup = d.g.schema()
	for i, q := range d.setup {
		if i > 0 && d.g.r.Intn(40) == 0 {
			_ = d.server.Store.Flush()
		}
		d.both(q)
	}
}

func (d *duel) step(i int) {
	n, ordered := d.g.statement()
	sql := n.String()
	change := !strings.HasPrefix(sql, "SELECT") && !strings.HasPrefix(sql, "WITH") && !strings.HasPrefix(sql, "(")
	run := exec
	if i%2 == 1 {
		run = extended
	}
	if change {
		d.both("BEGIN")
	}
	o, p := run(d.ours, sql), run(d.theirs, sql)
	class, why := compare(o, p, ordered)
	switch {
	case class == "different":
		d.failures++
		if change {
			d.both("ROLLBACK")
			d.both("BEGIN")
		}
		d.report(i, n, sql, why, ordered, change, run)
	case class != "":
		d.masked[class]++
	case p.code != "":
		d.errors++
	case len(p.rows) > 0:
		d.filled++
	}
	if change {
		end := "COMMIT"
		if class != "" || p.code != "" {
			end = "ROLLBACK"
		}
		d.both(end)
		if end == "COMMIT" {
			d.setup = append(d.setup, sql)
		}
	}
}

// report reduces a failing statement and prints it.
func (d *duel) report(i int, n *node, sql, why string, ordered, change bool, run func(*pgconn.PgConn, string) outcome) {
	kind, last := strings.SplitN(why, "\n", 2)[0], why
	reduce(n, 400, func(s string) bool {
		if change {
			defer func() { d.both("ROLLBACK"); d.both("BEGIN") }()
		}
		class, w := compare(run(d.ours, s), run(d.theirs, s), ordered && strings.Contains(s, "ORDER BY"))
		if class != "different" || strings.SplitN(w, "\n", 2)[0] != kind {
			return false
		}
		last = w
		return true
	})
	small := n.String()
	d.t.Errorf("statement %d: %s\n%s\nreduced from\n%.1500s", i, small, last, sql)
	if f := os.Getenv("TSDB_KEEP"); f != "" {
		d.keep(f, small)
	}
}

// keep appends the failing statement, with the tables that it names, to a script.
func (d *duel) keep(file, sql string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	named := regexp.MustCompile(`\bt\d\b`)
	used := map[string]bool{}
	for _, t := range named.FindAllString(sql, -1) {
		used[t] = true
	}
	fmt.Fprintln(f)
	for _, q := range d.setup {
		if used[named.FindString(q)] {
			fmt.Fprintln(f, q+";")
		}
	}
	fmt.Fprintln(f, sql+";")
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
