package session

import (
	"testing"
	"time"
)

func TestTransactionBlocks(t *testing.T) {
	srv := newServer(t)
	a, b := srv.connect("tsdb"), srv.connect("tsdb")
	a.script(
		"CREATE TABLE t (k int PRIMARY KEY, v text)", "[CREATE TABLE]",
		"BEGIN; INSERT INTO t VALUES (1, 'a'); SELECT v FROM t", "[BEGIN][INSERT 0 1]a\n[SELECT 1]",
	)
	if a.s.TxStatus() != 'T' {
		t.Errorf("status %c", a.s.TxStatus())
	}
	b.want("SELECT count(*) FROM t", "0\n[SELECT 1]")
	a.want("COMMIT", "[COMMIT]")
	b.want("SELECT count(*) FROM t", "1\n[SELECT 1]")
	a.script(
		"BEGIN; INSERT INTO t VALUES (2, 'b'); ROLLBACK; SELECT count(*) FROM t", "[BEGIN][INSERT 0 1][ROLLBACK]1\n[SELECT 1]",
		"BEGIN; SELECT 1/0", "[BEGIN]ERROR 22012: division by zero",
		"SELECT 1", "ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block",
	)
	if a.s.TxStatus() != 'E' {
		t.Errorf("status %c", a.s.TxStatus())
	}
	a.want("COMMIT", "[ROLLBACK]")
	if a.s.TxStatus() != 'I' {
		t.Errorf("status %c", a.s.TxStatus())
	}
}

func TestTransactionWarnings(t *testing.T) {
	c := newServer(t).connect("tsdb")
	for _, x := range [][3]string{
		{"COMMIT", "[COMMIT]", "WARNING 25P01: there is no transaction in progress"},
		{"ROLLBACK", "[ROLLBACK]", "WARNING 25P01: there is no transaction in progress"},
		{"BEGIN; BEGIN", "[BEGIN][BEGIN]", "WARNING 25001: there is already a transaction in progress"},
		{"END", "[COMMIT]", ""},
		{"START TRANSACTION", "[START TRANSACTION]", ""},
		{"ABORT", "[ROLLBACK]", ""},
	} {
		c.want(x[0], x[1])
		if got := c.noticeText(); got != x[2] {
			t.Errorf("%s: notice %q", x[0], got)
		}
	}
	c.script(
		"SAVEPOINT a", "ERROR 25P01: SAVEPOINT can only be used in transaction blocks",
		"RELEASE a", "ERROR 25P01: RELEASE SAVEPOINT can only be used in transaction blocks",
		"BEGIN; ROLLBACK TO a", `[BEGIN]ERROR 3B001: savepoint "a" does not exist`,
		"ROLLBACK", "[ROLLBACK]",
	)
}

func TestSavepoints(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE t (k int)", "[CREATE TABLE]",
		"BEGIN; INSERT INTO t VALUES (1); SAVEPOINT a; INSERT INTO t VALUES (2); SAVEPOINT b; INSERT INTO t VALUES (3)",
		"[BEGIN][INSERT 0 1][SAVEPOINT][INSERT 0 1][SAVEPOINT][INSERT 0 1]",
		"ROLLBACK TO b; SELECT sum(k) FROM t", "[ROLLBACK]3\n[SELECT 1]",
		"SELECT nothing", `ERROR 42703: column "nothing" does not exist`,
		"ROLLBACK TO SAVEPOINT a; INSERT INTO t VALUES (10); RELEASE a", "[ROLLBACK][INSERT 0 1][RELEASE]",
		"ROLLBACK TO b", `ERROR 3B001: savepoint "b" does not exist`,
		"ROLLBACK", "[ROLLBACK]",
		"BEGIN; INSERT INTO t VALUES (1); SAVEPOINT a; SELECT 1/0", "[BEGIN][INSERT 0 1][SAVEPOINT]ERROR 22012: division by zero",
		"ROLLBACK TO a; COMMIT; SELECT sum(k) FROM t", "[ROLLBACK][COMMIT]1\n[SELECT 1]",
	)
}

func TestSeveralStatementsAreOneTransaction(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE t (k int)", "[CREATE TABLE]",
		"INSERT INTO t VALUES (1); SELECT 1/0", "[INSERT 0 1]ERROR 22012: division by zero",
		"SELECT count(*) FROM t", "0\n[SELECT 1]",
		"INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)", "[INSERT 0 1][BEGIN][INSERT 0 1]",
		"ROLLBACK; SELECT count(*) FROM t", "[ROLLBACK]0\n[SELECT 1]",
		"INSERT INTO t VALUES (1); COMMIT; SELECT 1/0", "[INSERT 0 1][COMMIT]ERROR 22012: division by zero",
		"SELECT count(*) FROM t", "1\n[SELECT 1]",
		"INSERT INTO t VALUES (1); SAVEPOINT a", "[INSERT 0 1]ERROR 25P01: SAVEPOINT can only be used in transaction blocks",
		" ; ", "[]", "-- nothing", "[]",
		"SELEC 1", `ERROR 42601: syntax error at or near "SELEC"`,
	)
}

func TestModes(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE t (k int)", "[CREATE TABLE]",
		"BEGIN READ ONLY; INSERT INTO t VALUES (1)", "[BEGIN]ERROR 25006: cannot execute INSERT in a read-only transaction",
		"ROLLBACK; BEGIN; SET TRANSACTION READ ONLY; DROP TABLE t", "[ROLLBACK][BEGIN][SET]ERROR 25006: cannot execute DROP TABLE in a read-only transaction",
		"ROLLBACK; BEGIN ISOLATION LEVEL SERIALIZABLE", "[ROLLBACK]ERROR 0A000: ISOLATION LEVEL SERIALIZABLE is not supported",
		"ROLLBACK; BEGIN ISOLATION LEVEL READ UNCOMMITTED; SHOW transaction_isolation; COMMIT", "[ROLLBACK][BEGIN]read uncommitted\n[SHOW][COMMIT]",
		"SET default_transaction_read_only = on", "[SET]",
		"INSERT INTO t VALUES (1)", "ERROR 25006: cannot execute INSERT in a read-only transaction",
		"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "[SET]",
		"CREATE TABLE u (k int)", "ERROR 25006: cannot execute CREATE TABLE in a read-only transaction",
		"SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; INSERT INTO t VALUES (1)", "[SET]ERROR 25006: cannot execute INSERT in a read-only transaction",
		"SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", "[SET]",
		"INSERT INTO t VALUES (1)", "[INSERT 0 1]",
		"BEGIN; SELECT 1; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"[BEGIN]1\n[SELECT 1]ERROR 25001: SET TRANSACTION ISOLATION LEVEL must be called before any query",
		"ROLLBACK", "[ROLLBACK]",
	)
}

func TestRepeatableRead(t *testing.T) {
	srv := newServer(t)
	a, b := srv.connect("tsdb"), srv.connect("tsdb")
	a.script("CREATE TABLE t (k int)", "[CREATE TABLE]",
		"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t", "[BEGIN]0\n[SELECT 1]")
	b.want("INSERT INTO t VALUES (1)", "[INSERT 0 1]")
	a.want("SELECT count(*) FROM t", "0\n[SELECT 1]")
	a.script("INSERT INTO t VALUES (2); SELECT * FROM t", "[INSERT 0 1]2\n[SELECT 1]",
		"ROLLBACK; SELECT count(*) FROM t", "[ROLLBACK]1\n[SELECT 1]")
}

func TestDDLIsTransactional(t *testing.T) {
	srv := newServer(t)
	a, b := srv.connect("tsdb"), srv.connect("tsdb")
	a.script(
		"BEGIN; CREATE TABLE t (k int); INSERT INTO t VALUES (7); SELECT k FROM t", "[BEGIN][CREATE TABLE][INSERT 0 1]7\n[SELECT 1]",
	)
	b.want("SELECT k FROM t", `ERROR 42P01: relation "t" does not exist`)
	a.script("COMMIT", "[COMMIT]")
	b.want("SELECT k FROM t", "7\n[SELECT 1]")
	a.script(
		"BEGIN; DROP TABLE t; SELECT k FROM t", `[BEGIN][DROP TABLE]ERROR 42P01: relation "t" does not exist`,
		"ROLLBACK; SELECT k FROM t", "[ROLLBACK]7\n[SELECT 1]",
		"BEGIN; TRUNCATE t; SELECT count(*) FROM t; ROLLBACK; SELECT count(*) FROM t", "[BEGIN][TRUNCATE TABLE]0\n[SELECT 1][ROLLBACK]1\n[SELECT 1]",
		"BEGIN; SAVEPOINT a; CREATE TABLE u (k int); ROLLBACK TO a; SELECT * FROM u",
		`[BEGIN][SAVEPOINT][CREATE TABLE][ROLLBACK]ERROR 42P01: relation "u" does not exist`,
		"ROLLBACK; CREATE TABLE u (k int); DROP TABLE u, t", "[ROLLBACK][CREATE TABLE][DROP TABLE]",
	)
}

func TestConcurrentDDLWaits(t *testing.T) {
	srv := newServer(t)
	a, b := srv.connect("tsdb"), srv.connect("tsdb")
	a.want("BEGIN; CREATE TABLE t (k int)", "[BEGIN][CREATE TABLE]")
	b.want("SET lock_timeout = 10; CREATE TABLE u (k int)", "[SET]ERROR 55P03: canceling statement due to lock timeout")
	b.run("RESET lock_timeout")
	done := make(chan string)
	go func() { done <- b.run("CREATE TABLE t (k int)") }()
	select {
	case got := <-done:
		t.Fatalf("did not wait: %s", got)
	case <-time.After(20 * time.Millisecond):
	}
	a.want("COMMIT", "[COMMIT]")
	if got := <-done; got != `ERROR 42P07: relation "t" already exists` {
		t.Error(got)
	}
}

func TestNowIsTheTransactionsStart(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	c.want("BEGIN; SELECT now()", "[BEGIN]2024-03-01 12:00:00.123456+00\n[SELECT 1]")
	srv.now = srv.now.Add(time.Hour)
	c.want("SELECT now(), statement_timestamp()", "2024-03-01 12:00:00.123456+00|2024-03-01 13:00:00.123456+00\n[SELECT 1]")
	c.want("COMMIT; SELECT now()", "[COMMIT]2024-03-01 13:00:00.123456+00\n[SELECT 1]")
}

func TestRestartKeepsCatalogAndRows(t *testing.T) {
	srv := newServer(t)
	srv.connect("tsdb").script(
		"CREATE SCHEMA s; CREATE TABLE s.t (k int PRIMARY KEY, v text DEFAULT 'x' || 'y')", "[CREATE SCHEMA][CREATE TABLE]",
		"INSERT INTO s.t (k) VALUES (1)", "[INSERT 0 1]",
		"CREATE ROLE bob LOGIN PASSWORD 'secret'", "[CREATE ROLE]",
	)
	srv.stop()
	srv.start()
	c := srv.connect("bob")
	c.script("SELECT * FROM s.t", "1|xy\n[SELECT 1]",
		"INSERT INTO s.t VALUES (1, 'b')", `ERROR 23505: duplicate key value violates unique constraint "t_pkey" DETAIL: Key (k)=(1) already exists.`,
		"DROP TABLE s.t", "ERROR 42501: must be owner of table t")
	if v, ok := srv.e.Verifier("bob"); !ok || !isVerifier(v) {
		t.Errorf("verifier %q, %v", v, ok)
	}
}
