package session

import (
	"sync"
	"testing"
)

// TestTemporaryObjects checks what one session's temporary objects mean to others,
// and that they end with the session or, after a crash, with the next start.
func TestTemporaryObjects(t *testing.T) {
	sv := newServer(t)
	a, b := sv.connect("tsdb"), sv.connect("tsdb")
	a.script("CREATE TABLE x AS SELECT 'shared' AS v", "[SELECT 1]",
		"CREATE TEMP TABLE x AS SELECT 'of a' AS v", "[SELECT 1]",
		"CREATE TEMP VIEW y AS SELECT v FROM x", "[CREATE VIEW]")
	for range 2 { // a cached plan of one session is not another's
		a.want("SELECT v FROM x", "of a\n[SELECT 1]")
		b.want("SELECT v FROM x", "shared\n[SELECT 1]")
	}
	b.script("SELECT v FROM y", `ERROR 42P01: relation "y" does not exist`,
		"SELECT v FROM pg_temp.x", `ERROR 42P01: relation "pg_temp.x" does not exist`,
		"CREATE TEMP TABLE x AS SELECT 'of b' AS v", "[SELECT 1]",
		"SELECT v FROM pg_temp.x", "of b\n[SELECT 1]",
		"SELECT v FROM "+a.s.tempName+".x", "ERROR 0A000: cannot access temporary tables of other sessions",
		"INSERT INTO "+a.s.tempName+".x VALUES ('y')", "ERROR 0A000: cannot access temporary tables of other sessions",
		"CREATE TABLE "+a.s.tempName+".z (a int)", "ERROR 42P16: cannot create relations in temporary schemas of other sessions")
	a.want("SELECT v FROM y", "of a\n[SELECT 1]")
	b.want("DISCARD TEMP; SELECT v FROM x", "[DISCARD TEMP]shared\n[SELECT 1]")
	a.s.Close()
	b.want("SELECT count(*) FROM pg_class WHERE relname IN ('x', 'y')", "1\n[SELECT 1]")
	b.want("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pg_temp%'", "1\n[SELECT 1]") // b's stays
	b.want("CREATE TEMP TABLE left_over AS SELECT 1 AS a", "[SELECT 1]")
	sv.stop() // sessions that the server ends leave this to the next start
	sv.start()
	c := sv.connect("tsdb")
	c.script("SELECT count(*) FROM pg_class WHERE relname = 'left_over'", "0\n[SELECT 1]",
		"SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pg_temp%'", "0\n[SELECT 1]",
		"SELECT v FROM x", "shared\n[SELECT 1]",
		"CREATE TEMP TABLE d (a int) ON COMMIT DELETE ROWS", "[CREATE TABLE]",
		"BEGIN; INSERT INTO d VALUES (1), (2); SELECT count(*) FROM d; COMMIT; SELECT count(*) FROM d", "[BEGIN][INSERT 0 2]2\n[SELECT 1][COMMIT]0\n[SELECT 1]",
		"INSERT INTO d VALUES (3); SELECT count(*) FROM d", "[INSERT 0 1]1\n[SELECT 1]",
		"SELECT count(*) FROM d", "0\n[SELECT 1]",
		"PREPARE p AS SELECT v FROM x", "[PREPARE]", "EXECUTE p", "shared\n[SELECT 1]",
		"CREATE TEMP TABLE x AS SELECT 'temporary' AS v", "[SELECT 1]", "EXECUTE p", "temporary\n[SELECT 1]",
		"DROP TABLE x; EXECUTE p", "[DROP TABLE]shared\n[SELECT 1]")
}

// TestTemporaryEndWaits closes a session with temporary objects while another
// one holds the right to change the catalog.
func TestTemporaryEndWaits(t *testing.T) {
	sv := newServer(t)
	a, b := sv.connect("tsdb"), sv.connect("tsdb")
	a.want("CREATE TEMP TABLE x (a int)", "[CREATE TABLE]")
	b.want("BEGIN; CREATE TABLE y (a int)", "[BEGIN][CREATE TABLE]")
	var wg sync.WaitGroup
	wg.Go(a.s.Close)
	b.want("COMMIT", "[COMMIT]")
	wg.Wait()
	b.want("SELECT count(*) FROM pg_class WHERE relname = 'x'", "0\n[SELECT 1]")
}
