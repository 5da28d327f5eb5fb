// Package upgrade opens what earlier releases wrote.
package upgrade

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/tests/harness"
)

// firstRelease is the commit that was the first release: its files have to open.
const firstRelease = "ce81475"

const memory = "64MB"

// load makes tables of both layouts, with rows in segments, in the log and in
// large transactions, with and without keys and unique columns.
var load = []string{
	"CREATE TABLE readings (host text, ts timestamptz, v float8, n int, note text, PRIMARY KEY (host, ts))",
	"CREATE TABLE bag (ts timestamp, d numeric(10,2), f real, b boolean, u uuid, raw bytea)",
	"CREATE TABLE tags (id int PRIMARY KEY, name text UNIQUE, weight float8)",
	"CREATE TABLE plain (a int, b text, PRIMARY KEY (b)) WITH (layout = 'row')",
	"INSERT INTO readings SELECT 'h' || i % 50, timestamptz '2026-01-01' + (i / 50) * interval '7 seconds', (i % 977) / 8.0, i % 31, CASE WHEN i % 3 = 0 THEN 'note ' || i % 11 END FROM generate_series(0, 399999) i",
	"INSERT INTO bag SELECT timestamp '1969-12-31' + i * interval '1 hour', i / 7.0, i / 4.0, i % 3 = 0, ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid, decode(lpad(to_hex(i), 8, '0'), 'hex') FROM generate_series(0, 99999) i",
	"INSERT INTO tags SELECT i, 'name ' || i, i / 3.0 FROM generate_series(1, 5000) i",
	"INSERT INTO plain SELECT i % 100, 'row ' || i FROM generate_series(1, 1000) i",
	"INSERT INTO readings VALUES ('late', '2020-02-02', 1.5, NULL, 'in the log'), ('late', 'infinity', NULL, 7, NULL)",
	"INSERT INTO bag VALUES (NULL, NULL, NULL, NULL, NULL, NULL), ('infinity', 1, 2, true, NULL, '\\x00ff')",
}

// questions are answered by both.
var questions = []string{
	"SELECT count(*), count(v), sum(n), min(ts), max(ts), count(note), max(note) FROM readings",
	"SELECT host, count(*), sum(v), min(v), max(n) FROM readings GROUP BY host ORDER BY host",
	"SELECT * FROM readings WHERE host IN ('h7', 'late') ORDER BY host, ts LIMIT 500",
	"SELECT count(*), sum(d), sum(f), count(b), count(u), count(raw), min(ts), max(ts) FROM bag",
	"SELECT * FROM bag WHERE ts < '1970-01-05' OR ts IS NULL OR ts = 'infinity' ORDER BY ts, d",
	"SELECT count(*), sum(weight), min(name), max(name) FROM tags",
	"SELECT * FROM tags WHERE id BETWEEN 17 AND 23 ORDER BY id",
	"SELECT a, count(*), min(b) FROM plain GROUP BY a ORDER BY a",
}

func ask(t *testing.T, c *pgconn.PgConn) []string {
	t.Helper()
	var out []string
	for _, q := range questions {
		results, err := c.Exec(context.Background(), q).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		answer := ""
		for _, row := range results[0].Rows {
			for _, v := range row {
				answer += fmt.Sprintf("%q|", v)
			}
			answer += "\n"
		}
		out = append(out, answer)
	}
	return out
}

func run(t *testing.T, c *pgconn.PgConn, statements ...string) {
	t.Helper()
	for _, q := range statements {
		if _, err := c.Exec(context.Background(), q).ReadAll(); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

func compare(t *testing.T, when string, got, want []string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: %s\ngot\n%.1500s\nwant\n%.1500s", when, questions[i], got[i], want[i])
		}
	}
}

// TestFirstReleaseOpens builds the first release from the history, lets it write
// a directory and be killed, and reads, changes and merges that directory with
// the program of today.
func TestFirstReleaseOpens(t *testing.T) {
	if os.Getenv("TSDB_UPGRADE") == "" {
		t.Skip("set TSDB_UPGRADE=1 to build the first release and open its files")
	}
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skip("not in a git repository: the first release cannot be built")
	}
	root := string(top[:len(top)-1])
	if exec.Command("git", "-C", root, "cat-file", "-e", firstRelease+"^{commit}").Run() != nil {
		t.Skipf("the history does not reach back to %s: the first release cannot be built", firstRelease)
	}
	src := filepath.Join(t.TempDir(), "first")
	if err := os.Mkdir(src, 0o755); err != nil {
		t.Fatal(err)
	}
	build := fmt.Sprintf("git -C %q archive %s | tar -x -C %q && cd %q && go build -buildvcs=false -o first ./cmd/tsdb", root, firstRelease, src, src)
	if out, err := exec.Command("sh", "-c", build).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	dir := filepath.Join(t.TempDir(), "data")
	p := harness.StartProcess(t, filepath.Join(src, "first"), dir, memory)
	c := p.Dial(t)
	run(t, c, load...)
	want := ask(t, c)
	p.Kill()

	bin := harness.BuildTSDB(t)
	p = harness.StartProcess(t, bin, dir, memory)
	c = p.Dial(t)
	compare(t, "as it was left", ask(t, c), want)
	run(t, c, "VACUUM")
	compare(t, "after VACUUM", ask(t, c), want)
	p.Kill()

	p = harness.StartProcess(t, bin, dir, memory)
	c = p.Dial(t)
	compare(t, "after VACUUM and a kill", ask(t, c), want)
	run(t, c, "BEGIN",
		"ALTER TABLE readings ADD COLUMN more int DEFAULT 5", "ALTER TABLE tags DROP COLUMN weight",
		"UPDATE readings SET v = v + 1 WHERE host = 'h3'", "DELETE FROM bag", "DELETE FROM tags WHERE id % 2 = 0",
		"INSERT INTO tags VALUES (2, 'name 2'), (3, 'again') ON CONFLICT (id) DO UPDATE SET name = excluded.name",
		"ROLLBACK")
	compare(t, "after a rollback", ask(t, c), want)
	run(t, c, "UPDATE readings SET v = v + 1 WHERE host = 'h3'", "UPDATE readings SET v = v - 1 WHERE host = 'h3'",
		"UPDATE tags SET name = name || ' x' WHERE id > 10", "UPDATE tags SET name = 'name ' || id WHERE id > 10",
		"DELETE FROM plain WHERE a = 5", "INSERT INTO plain SELECT 5, 'row ' || 5 + 100 * i FROM generate_series(0, 9) i")
	compare(t, "after changes that take each other back", ask(t, c), want)
	p.Kill()
	p = harness.StartProcess(t, bin, dir, memory)
	compare(t, "after those and a kill", ask(t, p.Dial(t)), want)
	p.Stop(t)
}
