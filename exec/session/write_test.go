package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tsdb/sql/pgerr"
)

func TestInsert(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE t (k int PRIMARY KEY, v text NOT NULL DEFAULT 'none', n numeric(6,2), ts timestamptz DEFAULT now())", "[CREATE TABLE]",
		"INSERT INTO t VALUES (1, 'a', 1.005, '2024-01-02 03:04:05+00'), (2, DEFAULT, NULL, NULL)", "[INSERT 0 2]",
		"INSERT INTO t (n, k) SELECT g * 1.5, g FROM generate_series(3, 5) AS g", "[INSERT 0 3]",
		"SELECT k, v, n, ts FROM t ORDER BY k",
		"1|a|1.01|2024-01-02 03:04:05+00\n2|none|NULL|NULL\n3|none|4.50|2024-03-01 12:00:00.123456+00\n"+
			"4|none|6.00|2024-03-01 12:00:00.123456+00\n5|none|7.50|2024-03-01 12:00:00.123456+00\n[SELECT 5]",
		"INSERT INTO t (k, v) VALUES (6, 'x'), (7, NULL)",
		`ERROR 23502: null value in column "v" of relation "t" violates not-null constraint DETAIL: Failing row contains (7, null, null, 2024-03-01 12:00:00.123456+00).`,
		"INSERT INTO t (k) VALUES (NULL)",
		`ERROR 23502: null value in column "k" of relation "t" violates not-null constraint DETAIL: Failing row contains (null, none, null, 2024-03-01 12:00:00.123456+00).`,
		"INSERT INTO t (k) VALUES (8), (1)", `ERROR 23505: duplicate key value violates unique constraint "t_pkey" DETAIL: Key (k)=(1) already exists.`,
		"INSERT INTO t (k, n) VALUES (8, 12345.678)", "ERROR 22003: numeric field overflow DETAIL: A field with precision 6, scale 2 must round to an absolute value less than 10^4.",
		"SELECT count(*) FROM t", "5\n[SELECT 1]",
		"INSERT INTO no VALUES (1)", `ERROR 42P01: relation "no" does not exist`,
		"INSERT INTO t (k) VALUES ($1)", "ERROR 42P02: there is no parameter $1",
	)
}

func TestSystemColumns(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE t (k int)", "[CREATE TABLE]",
		"SELECT ctid FROM t", "ERROR 0A000: system column ctid is not supported",
		"SELECT 1 FROM t x WHERE x.xmin = '1'", "ERROR 0A000: system column xmin is not supported",
		"SELECT ctid FROM (SELECT k FROM t) x", `ERROR 42703: column "ctid" does not exist`,
	)
}

func TestUniqueAndConflict(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE t (a text, b int, ts timestamptz, UNIQUE (a, b))", "[CREATE TABLE]",
		"INSERT INTO t VALUES ('x', 1), ('x', NULL), ('x', NULL)", "[INSERT 0 3]",
		"INSERT INTO t VALUES ('x', 1)", `ERROR 23505: duplicate key value violates unique constraint "t_a_b_key" DETAIL: Key (a, b)=(x, 1) already exists.`,
		"CREATE TABLE r (k int PRIMARY KEY, v text) WITH (conflict = 'replace')", "[CREATE TABLE]",
		"INSERT INTO r VALUES (1, 'a'), (1, 'b')", "[INSERT 0 2]",
		"INSERT INTO r VALUES (1, 'c'); SELECT * FROM r", "[INSERT 0 1]1|c\n[SELECT 1]",
		"CREATE TABLE i (k int PRIMARY KEY, v text) WITH (conflict = 'ignore')", "[CREATE TABLE]",
		"INSERT INTO i VALUES (1, 'a'), (1, 'b'), (2, 'c')", "[INSERT 0 2]",
		"SELECT * FROM i ORDER BY k", "1|a\n2|c\n[SELECT 2]",
	)
}

func TestBulkInsert(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.want("CREATE TABLE t (id uuid DEFAULT gen_random_uuid(), k int NOT NULL, v text, f float8 DEFAULT 1 + 1)", "[CREATE TABLE]")
	var q strings.Builder
	q.WriteString("INSERT INTO t (v, k) VALUES ")
	for i := range 5000 {
		if i > 0 {
			q.WriteString(", ")
		}
		q.WriteString("('it''s', " + itoa(int64(i)) + ")")
	}
	c.want(q.String(), "[INSERT 0 5000]")
	c.want("SELECT count(*), sum(k), min(v), sum(f), count(DISTINCT id) FROM t", "5000|12497500|it's|10000|5000\n[SELECT 1]")
	got := c.run(q.String() + ", ('x', NULL)")
	const want = `ERROR 23502: null value in column "k" of relation "t" violates not-null constraint DETAIL: Failing row contains (`
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, ", null, x, 2).") {
		t.Error(got)
	}
	c.want("SELECT count(*) FROM t", "5000\n[SELECT 1]")
}

func TestCopyFrom(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.want("CREATE TABLE t (k int PRIMARY KEY, v text NOT NULL, d date DEFAULT '2024-02-29')", "[CREATE TABLE]")
	c.copyIn = "1\ta\t2024-01-01\n2\tb\t\\N\n"
	c.script("COPY t FROM STDIN", "[COPY 2]")
	c.copyIn = "v,k\n\"x,y\",3\nz,4\n"
	c.script("COPY t (v, k) FROM STDIN WITH (FORMAT csv, HEADER)", "[COPY 2]",
		"SELECT * FROM t ORDER BY k", "1|a|2024-01-01\n2|b|NULL\n3|x,y|2024-02-29\n4|z|2024-02-29\n[SELECT 4]")
	c.copyIn = "5,e\nsix,f\n"
	c.want("COPY t (k, v) FROM STDIN CSV", `ERROR 22P02: invalid input syntax for type integer: "six" WHERE: COPY t, line 2, column k: "six"`)
	c.copyIn = "5,e\n6,\n"
	got := c.run("COPY t (k, v) FROM STDIN CSV")
	if !strings.HasPrefix(got, `ERROR 23502: null value in column "v" of relation "t" violates not-null constraint DETAIL: Failing row contains (6, null, 2024-02-29). WHERE: COPY t, line 2`) {
		t.Error(got)
	}
	c.copyIn = "5,e\n1,f\n"
	got = c.run("COPY t (k, v) FROM STDIN CSV")
	if !strings.HasPrefix(got, `ERROR 23505: duplicate key value violates unique constraint "t_pkey" DETAIL: Key (k)=(1) already exists. WHERE: COPY t, line 2`) {
		t.Error(got)
	}
	c.want("SELECT count(*) FROM t", "4\n[SELECT 1]")
}

func TestCopyTo(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE t (k int, v text); INSERT INTO t VALUES (1, 'a,b'), (2, NULL)", "[CREATE TABLE][INSERT 0 2]",
		"COPY t TO STDOUT", "1\ta,b\n2\t\\N\n[COPY 2]",
		"COPY t (v, k) TO STDOUT WITH (FORMAT csv, HEADER, FORCE_QUOTE (v))", "v,k\n\"a,b\",1\n,2\n[COPY 2]",
		"COPY (SELECT k + 1 AS n FROM t ORDER BY k DESC) TO STDOUT (DELIMITER '|')", "3\n2\n[COPY 2]",
		"COPY (INSERT INTO t VALUES (1)) TO STDOUT", "ERROR 0A000: COPY (INSERT) is not supported",
		"COPY (SELECT $1) TO STDOUT", "ERROR 42P02: there is no parameter $1",
		"COPY no TO STDOUT", `ERROR 42P01: relation "no" does not exist`,
		"COPY t (x) TO STDOUT", `ERROR 42703: column "x" of relation "t" does not exist`,
	)
	c.run("COPY t TO STDOUT BINARY")
	if !strings.HasPrefix(c.copied.String(), "PGCOPY\n\xff\r\n\x00") || !strings.HasSuffix(c.copied.String(), "\xff\xff") {
		t.Errorf("binary: %q", c.copied.String())
	}
}

func TestCopyFiles(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.txt")
	if err := os.WriteFile(in, []byte("1,a\n2,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.script(
		"CREATE TABLE t (k int, v text)", "[CREATE TABLE]",
		"COPY t FROM '"+in+"'", "[COPY 2]",
		"COPY t TO '"+out+"'", "[COPY 2]",
		"COPY t FROM '"+dir+"/missing.csv'", `ERROR 58P01: could not open file "`+dir+`/missing.csv" for reading: No such file or directory`,
		"COPY t FROM '"+dir+"'", `ERROR 42809: "`+dir+`" is a directory`,
		"COPY t TO 'relative'", "ERROR 42602: relative path not allowed for COPY to file",
		"COPY t FROM PROGRAM 'ls'", "ERROR 0A000: COPY PROGRAM is not supported",
		"CREATE ROLE bob LOGIN", "[CREATE ROLE]",
	)
	if b, err := os.ReadFile(out); err != nil || string(b) != "1\ta\n2\tb\n" {
		t.Errorf("file: %q, %v", b, err)
	}
	srv.connect("bob").want("COPY t FROM '"+in+"'",
		"ERROR 42501: must be superuser or have privileges of the pg_read_server_files role to COPY from a file")
}

func TestCopyOptionErrors(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script("CREATE TABLE t (a text, b text)", "[CREATE TABLE]",
		"COPY t FROM STDIN (FORMAT xml)", `ERROR 22023: COPY format "xml" not recognized`,
		"COPY t FROM STDIN (speed 'x')", `ERROR 42601: option "speed" not recognized`,
		"COPY t FROM STDIN (FORMAT csv, FORMAT csv)", "ERROR 42601: conflicting or redundant options",
		"COPY t FROM STDIN (DELIMITER 'ab')", "ERROR 0A000: COPY delimiter must be a single one-byte character",
		"COPY t FROM STDIN (DELIMITER 'a')", `ERROR 22023: COPY delimiter cannot be "a"`,
		"COPY t FROM STDIN (FORMAT binary, DELIMITER ',')", "ERROR 42601: cannot specify DELIMITER in BINARY mode",
		"COPY t FROM STDIN (FORMAT binary, HEADER)", "ERROR 0A000: cannot specify HEADER in BINARY mode",
		"COPY t FROM STDIN (QUOTE 'x')", "ERROR 0A000: COPY quote available only in CSV mode",
		"COPY t FROM STDIN (FORMAT csv, QUOTE ',')", "ERROR 22023: COPY delimiter and quote must be different",
		"COPY t FROM STDIN (FORMAT csv, FORCE_QUOTE (a))", "ERROR 0A000: COPY force quote only available using COPY TO",
		"COPY t FROM STDIN (FORMAT csv, FORCE_NULL (x))", `ERROR 42P10: FORCE_NULL column "x" not referenced by COPY`,
		"COPY t TO STDOUT (FORMAT csv, FORCE_NULL (a))", "ERROR 0A000: COPY force null only available using COPY FROM",
		"COPY t FROM STDIN (NULL E'\\n')", "ERROR 22023: COPY null representation cannot use newline or carriage return",
		"COPY t FROM STDIN (DELIMITER ',', NULL ',')", "ERROR 0A000: COPY delimiter must not appear in the NULL specification",
		"COPY t FROM STDIN (HEADER perhaps)", `ERROR 42601: header requires a Boolean value or "match"`,
		"COPY t (a, a) FROM STDIN", `ERROR 42701: column "a" specified more than once`,
		"COPY t FROM STDIN WHERE a = 'x'", "ERROR 0A000: COPY FROM ... WHERE is not supported",
	)
}

// A statement whose rows do not fit into the memory of a transaction fails
// alone, and the session goes on.
func TestTransactionTooLarge(t *testing.T) {
	s := newServer(t)
	s.stop()
	s.memory = 16 << 20
	s.start()
	c := s.connect("tsdb")
	c.script(
		"CREATE TABLE big (id int4 PRIMARY KEY, pad text) WITH (layout = 'row')", "[CREATE TABLE]",
		"INSERT INTO big VALUES (0, 'first')", "[INSERT 0 1]",
	)
	err := c.s.Simple(context.Background(), "INSERT INTO big SELECT i, repeat('x', 4000) FROM generate_series(1, 30000) i", &c.log)
	e := pgerr.From(err)
	if err == nil || e.Code != pgerr.OutOfMemory || e.Message != "out of memory: the transaction is too large" ||
		!strings.HasSuffix(e.Detail, "would take 65 MB, the limit is 64 MB.") || !strings.Contains(e.Hint, "--memory") {
		t.Fatalf("%v: %+v", err, e)
	}
	c.script(
		"SELECT count(*) FROM big", "1\n[SELECT 1]",
		"INSERT INTO big SELECT i, repeat('x', 4000) FROM generate_series(1, 3000) i", "[INSERT 0 3000]",
		"SELECT count(*) FROM big", "3001\n[SELECT 1]",
	)
}
