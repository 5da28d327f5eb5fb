// Package errors compares what is said about wrong statements with PostgreSQL
// 15: SQLSTATE, message, detail, hint and position.
//
// testdata/statements.txt has one statement a line, testdata/answers.txt
// PostgreSQL's answers in the same order (TSDB_ORACLE=1 compares them with a
// server, TSDB_RECORD=1 writes them). testdata/known.txt lists the statements
// that are answered otherwise; one that comes to be answered alike must leave
// the list.
package errors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

const schema = `
CREATE TABLE t (k int PRIMARY KEY, a int, b text, c timestamptz, d numeric(6,2), arr int[]);
CREATE TABLE u (k int PRIMARY KEY, x float8, note text);
INSERT INTO t VALUES (1, 10, 'one', '2024-01-01', 1.5, '{1,2}');
INSERT INTO u VALUES (1, 0.5, 'first');`

func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

func dial(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	if err := c.Exec(context.Background(), schema).Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

// answer is the error of a statement that changes nothing, in one line.
func answer(t *testing.T, c *pgconn.PgConn, sql string) string {
	t.Helper()
	ctx := context.Background()
	err := c.Exec(ctx, sql).Close()
	if err == nil {
		return "no error"
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v", sql, err)
	}
	s := fmt.Sprintf("%s %s", e.Code, e.Message)
	if e.Detail != "" {
		s += " | detail: " + e.Detail
	}
	if e.Hint != "" {
		s += " | hint: " + e.Hint
	}
	if e.Position != 0 {
		s += fmt.Sprintf(" | at %d", e.Position)
	}
	return strings.ReplaceAll(s, "\n", `\n`)
}

// answers are PostgreSQL's.
func answers(t *testing.T, sts []string) []string {
	t.Helper()
	recorded := lines(t, "answers.txt")
	if os.Getenv("TSDB_ORACLE") == "" && os.Getenv("TSDB_RECORD") == "" {
		return recorded
	}
	c := dial(t, harness.StartPostgres(t).URL())
	out := make([]string, len(sts))
	for i, st := range sts {
		out[i] = answer(t, c, st)
		if i < len(recorded) && recorded[i] != out[i] && os.Getenv("TSDB_RECORD") == "" {
			t.Errorf("%s: PostgreSQL says %q, recorded is %q", st, out[i], recorded[i])
		}
	}
	if os.Getenv("TSDB_RECORD") != "" {
		if err := os.WriteFile("testdata/answers.txt", []byte(strings.Join(out, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestWrongStatements(t *testing.T) {
	sts := lines(t, "statements.txt")
	want := answers(t, sts)
	if len(want) != len(sts) {
		t.Fatalf("%d statements, %d answers: record them with TSDB_RECORD=1", len(sts), len(want))
	}
	known := map[string]bool{}
	for _, l := range lines(t, "known.txt") {
		known[l] = true
	}
	c := dial(t, harness.StartTSDB(t, colstore.Options{}).URL())
	alike := 0
	for i, st := range sts {
		got := answer(t, c, st)
		switch {
		case got == want[i] && known[st]:
			t.Errorf("%s: is answered as PostgreSQL does now, take it out of known.txt", st)
		case got == want[i]:
			alike++
		case !known[st]:
			t.Errorf("%s\n got: %s\nwant: %s", st, got, want[i])
		}
	}
	t.Logf("%d of %d wrong statements are answered as PostgreSQL does", alike, len(sts))
}
