package slt

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/tests/harness"
)

// updating reports whether expectations are to be renewed.
func updating() bool { return os.Getenv("TSDB_UPDATE") != "" }

// postgresURL is that of the oracle, whose path is /postgres.
func postgresURL(t *testing.T) string {
	t.Helper()
	return harness.OracleURL(t, updating())
}

// database makes a database of that name and returns a connection to it.
func database(t *testing.T, url, name string) *pgconn.PgConn {
	t.Helper()
	admin := connect(t, url)
	for _, q := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := admin.Exec(context.Background(), q).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	c := connect(t, regexp.MustCompile(`/postgres(\?|$)`).ReplaceAllString(url, "/"+name+"$1"))
	t.Cleanup(func() {
		c.Close(context.Background())
		_, _ = admin.Exec(context.Background(), "DROP DATABASE IF EXISTS "+name).ReadAll()
	})
	return c
}

// TestScriptsOnPostgreSQL runs the scripts on PostgreSQL 15: their expectations
// are its answers. With TSDB_UPDATE it writes them.
func TestScriptsOnPostgreSQL(t *testing.T) {
	url := postgresURL(t)
	passed := 0
	for i, f := range scripts(t) {
		t.Run(strings.TrimSuffix(f, ".slt"), func(t *testing.T) {
			tg := &remote{conn: database(t, url, fmt.Sprintf("slt%d_%d", os.Getpid(), i)), postgres: true}
			if updating() {
				update(t, filepath.Join("testdata", f), tg)
			} else {
				passed += run(t, filepath.Join("testdata", f), "postgres", tg)
			}
		})
	}
	fmt.Printf("PostgreSQL 15: %d statements passed\n", passed)
}

// update writes the script anew with the answers of PostgreSQL.
func update(t *testing.T, path string, tg target) {
	var out bytes.Buffer
	full := strings.Contains(path, "/errors/")
	for _, r := range parse(t, path) {
		lead := r.lead
		if out.Len() > 0 && (len(lead) == 0 || lead[0] != "") {
			lead = slices.Insert(slices.Clone(lead), 0, "")
		}
		for _, l := range lead {
			fmt.Fprintln(&out, l)
		}
		if r.on("postgres") {
			rs, err := tg.exec(r.sql)
			r.answer(t, rs, err, full)
		}
		r.write(&out)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// answer makes the outcome of a statement the record's expectation.
func (r *record) answer(t *testing.T, rs []*pgconn.Result, err error, full bool) {
	had := r.hasWant && r.code != ""
	r.query, r.code, r.msg, r.want, r.hasWant = false, "", "", nil, false
	if err != nil {
		e, ok := err.(*pgconn.PgError)
		if !ok {
			t.Fatal(err)
		}
		r.code, r.msg, r.tag = e.Code, strings.Join(strings.Fields(e.Message), " "), ""
		r.want = errorFields(e)
		if r.hasWant = (had || full) && len(r.want) > 0; !r.hasWant {
			r.want = nil
		}
		return
	}
	if len(rs) == 0 {
		return
	}
	last := rs[len(rs)-1]
	if len(last.FieldDescriptions) == 0 {
		if tag := last.CommandTag.String(); changes.MatchString(tag) && (r.bare || r.tag != "") {
			r.tag = tag
		}
		return
	}
	r.query, r.hasWant, r.want = true, true, rows(last)
	if r.bare {
		r.sorted = len(r.want) > 1 && !strings.Contains(strings.ToLower(r.sql), "order by")
	}
	if r.sorted {
		slices.Sort(r.want)
	}
}

var changes = regexp.MustCompile(`^(INSERT|UPDATE|DELETE|SELECT|COPY) `)

func (r *record) write(out *bytes.Buffer) {
	switch {
	case r.code != "":
		fmt.Fprintln(out, strings.TrimSpace("statement error "+r.code+" "+r.msg))
	case r.query && r.sorted:
		fmt.Fprintln(out, "query rowsort")
	case r.query:
		fmt.Fprintln(out, "query")
	default:
		fmt.Fprintln(out, strings.TrimSpace("statement ok "+r.tag))
	}
	fmt.Fprintln(out, r.sql)
	if r.hasWant {
		fmt.Fprintln(out, "----")
		for _, l := range r.want {
			fmt.Fprintln(out, l)
		}
	}
}
