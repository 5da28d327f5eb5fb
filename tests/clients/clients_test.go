// Package clients asks for the parameters and result columns of the statements
// that PostgreSQL clients send, captured by a recording proxy, and compares
// the answers with PostgreSQL 15's.
//
// testdata/answers.tsv holds PostgreSQL's answers (TSDB_ORACLE=1 asks anew and
// compares; TSDB_RECORD=1 writes the file), testdata/baseline.txt how many
// statements of each client are answered alike: fewer is a failure.
package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/sql"
	"tsdb/tests/harness"
)

// firstUserOID is where the OIDs of the schema's own types begin; they differ
// between servers.
const firstUserOID = 16384

// capture is one statement of a client.
type capture struct {
	SQL       string
	OIDs      []uint32 // as declared by the client in Parse
	ParamOIDs []uint32 `json:"param_oids"`
	Cols      [][]any  // name, type, modifier
	client    string
	line      int
}

func (c *capture) key() string { return c.client + ":" + strconv.Itoa(c.line) }

// captureDir returns the folder of captured statements beside the checkout.
func captureDir(t *testing.T) string {
	t.Helper()
	for _, up := range []string{"../shared", "../../../shared", "../../shared"} {
		if _, err := os.Stat(filepath.Join(up, "pg-clients", "schema.sql")); err == nil {
			return filepath.Join(up, "pg-clients")
		}
	}
	t.Skip("no captured statements of clients (../shared/pg-clients beside the checkout): nothing to ask")
	return ""
}

func captures(t *testing.T, dir string) []capture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "meta", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no meta/*.jsonl in %s: %v", dir, err)
	}
	var out []capture
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		line := 0
		for l := range strings.Lines(string(text)) {
			line++
			c := capture{client: strings.TrimSuffix(filepath.Base(path), ".jsonl"), line: line}
			if err := json.Unmarshal([]byte(l), &c); err != nil {
				t.Fatalf("%s:%d: %v", path, line, err)
			}
			out = append(out, c)
		}
	}
	return out
}

// statements splits a file of SQL, without psql's commands.
func statements(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for l := range strings.Lines(string(text)) {
		if !strings.HasPrefix(l, `\`) && !strings.HasPrefix(l, "CREATE DATABASE") {
			lines.WriteString(l)
		}
	}
	sts, err := sql.Parse(lines.String())
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(sts))
	for i, st := range sts {
		out[i] = strings.TrimSpace(st.Text)
	}
	return out
}

// run runs statements one by one and returns those refused, with the reason.
func run(c *pgconn.PgConn, sts []string) (refused, why []string) {
	for _, st := range sts {
		if err := c.Exec(context.Background(), st).Close(); err != nil {
			refused = append(refused, st)
			why = append(why, fmt.Sprintf("%.60s: %v", st, err))
		}
	}
	return refused, why
}

// load runs the schema; tables that need what this server does not have are
// made in a reduced form. It returns what was refused.
func load(t *testing.T, c *pgconn.PgConn, dir string) []string {
	t.Helper()
	refused, _ := run(c, statements(t, filepath.Join(dir, "schema.sql")))
	run(c, statements(t, filepath.Join("testdata", "reduced.sql")))
	_, why := run(c, refused)
	return why
}

// ask describes one statement: its SQLSTATE, or parameters and columns.
func ask(t *testing.T, c *pgconn.PgConn, q *capture) string {
	t.Helper()
	d, err := c.Prepare(context.Background(), "", q.SQL, q.OIDs)
	if err != nil {
		var pe *pgconn.PgError
		if !errors.As(err, &pe) {
			t.Fatalf("%s: %v", q.key(), err)
		}
		return pe.Code
	}
	var b strings.Builder
	for i, p := range d.ParamOIDs {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(typeText(p))
	}
	b.WriteByte('|')
	for i, f := range d.Fields {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s:%s", strconv.Quote(f.Name), typeText(f.DataTypeOID))
		if f.TypeModifier != -1 {
			fmt.Fprintf(&b, ":%d", f.TypeModifier)
		}
	}
	return b.String()
}

func typeText(oid uint32) string {
	if oid >= firstUserOID {
		return "own"
	}
	return strconv.FormatUint(uint64(oid), 10)
}

func dial(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// answers are PostgreSQL's, by key.
func answers(t *testing.T, dir string, qs []capture) map[string]string {
	t.Helper()
	const file = "testdata/answers.tsv"
	out := map[string]string{}
	if os.Getenv("TSDB_ORACLE") == "" && os.Getenv("TSDB_RECORD") == "" {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			key, answer, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
			out[key] = answer
		}
		return out
	}
	c := dial(t, harness.StartPostgres(t).URL())
	for _, r := range load(t, c, dir) {
		t.Logf("PostgreSQL refuses %s", r)
	}
	var b strings.Builder
	for i := range qs {
		a := ask(t, c, &qs[i])
		out[qs[i].key()] = a
		fmt.Fprintf(&b, "%s\t%s\n", qs[i].key(), a)
	}
	if os.Getenv("TSDB_RECORD") != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if old, err := os.ReadFile(file); err != nil || string(old) != b.String() {
		t.Errorf("%s is not what PostgreSQL answers (%v): record it with TSDB_RECORD=1", file, err)
	}
	return out
}

func baseline(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	f, err := os.Open("testdata/baseline.txt")
	if err != nil {
		if os.Getenv("TSDB_RECORD") != "" {
			return out
		}
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var client string
		var n int
		if _, err := fmt.Sscan(s.Text(), &client, &n); err == nil {
			out[client] = n
		}
	}
	return out
}

func TestDescribe(t *testing.T) {
	dir := captureDir(t)
	qs := captures(t, dir)
	want := answers(t, dir, qs)
	c := dial(t, harness.StartTSDB(t, colstore.Options{}).URL())
	for _, r := range load(t, c, dir) {
		t.Logf("refused: %s", r)
	}
	passed, all := map[string]int{}, 0
	for i := range qs {
		q := &qs[i]
		got := ask(t, c, q)
		if got == want[q.key()] {
			passed[q.client]++
			all++
			continue
		}
		passed[q.client] += 0
		if testing.Verbose() {
			_, err := c.Prepare(context.Background(), "", q.SQL, q.OIDs)
			t.Logf("%s: %s\n  got  %s %v\n  want %s", q.key(), q.SQL, got, err, want[q.key()])
		}
	}
	t.Logf("%d of %d statements are answered as PostgreSQL does", all, len(qs))
	if os.Getenv("TSDB_RECORD") != "" {
		record(t, passed)
		return
	}
	for client, n := range baseline(t) {
		if passed[client] < n {
			t.Errorf("%s: %d statements are answered as PostgreSQL does, there were %d; see them with -v", client, passed[client], n)
		}
	}
}

func record(t *testing.T, passed map[string]int) {
	t.Helper()
	var b strings.Builder
	for _, client := range slices.Sorted(maps.Keys(passed)) {
		fmt.Fprintf(&b, "%s %d\n", client, passed[client])
	}
	if err := os.WriteFile("testdata/baseline.txt", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
