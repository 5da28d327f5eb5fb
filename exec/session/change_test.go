package session

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// layouts runs a test for tables of both layouts.
func layouts(t *testing.T, f func(t *testing.T, with string)) {
	for _, l := range []string{"columnar", "row"} {
		t.Run(l, func(t *testing.T) { f(t, " WITH (layout = '"+l+"')") })
	}
}

func TestWritersWaitAndGoOnWithWhatIsThere(t *testing.T) {
	layouts(t, func(t *testing.T, with string) {
		srv := newServer(t)
		a, b := srv.connect("tsdb"), srv.connect("tsdb")
		a.script("CREATE TABLE t (k int PRIMARY KEY, n int)"+with+"; INSERT INTO t VALUES (1, 10), (2, 20)", "[CREATE TABLE][INSERT 0 2]",
			"BEGIN; UPDATE t SET n = n + 1 WHERE k = 1", "[BEGIN][UPDATE 1]")
		b.want("SET lock_timeout = 10; UPDATE t SET n = n * 2 WHERE k = 1", "[SET]ERROR 55P03: canceling statement due to lock timeout")
		b.want("SET statement_timeout = 10; RESET lock_timeout", "[SET][RESET]")
		b.want("DELETE FROM t WHERE k = 1", "ERROR 57014: canceling statement due to statement timeout")
		b.want("INSERT INTO t VALUES (1, 0) ON CONFLICT (k) DO UPDATE SET n = -1", "ERROR 57014: canceling statement due to statement timeout")
		b.want("RESET statement_timeout", "[RESET]")
		done := make(chan string)
		go func() {
			done <- b.run("UPDATE t SET n = n * 2 WHERE k = 1 RETURNING n") +
				b.run("DELETE FROM t WHERE n > 20 RETURNING k, n")
		}()
		a.want("COMMIT", "[COMMIT]")
		if got, want := <-done, "22\n[UPDATE 1]1|22\n[DELETE 1]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		a.want("SELECT * FROM t", "2|20\n[SELECT 1]")
	})
}

func TestRepeatableReadFailsOnChangedRows(t *testing.T) {
	layouts(t, func(t *testing.T, with string) {
		srv := newServer(t)
		a, b := srv.connect("tsdb"), srv.connect("tsdb")
		a.want("CREATE TABLE t (k int PRIMARY KEY, n int)"+with+"; INSERT INTO t VALUES (1, 10), (2, 20)", "[CREATE TABLE][INSERT 0 2]")
		const changed = "ERROR 40001: could not serialize access due to concurrent update"
		for _, stmt := range []string{"UPDATE t SET n = 0 WHERE k = 1", "DELETE FROM t WHERE k = 1"} {
			b.want("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t", "[BEGIN]2\n[SELECT 1]")
			a.want("UPDATE t SET n = n + 1 WHERE k = 1", "[UPDATE 1]")
			b.script(stmt, changed, "ROLLBACK", "[ROLLBACK]")
		}
		b.want("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t", "[BEGIN]2\n[SELECT 1]")
		a.want("UPDATE t SET n = 100 WHERE k = 2; INSERT INTO t VALUES (3, 0)", "[UPDATE 1][INSERT 0 1]")
		b.want("SAVEPOINT s; INSERT INTO t VALUES (1, 0) ON CONFLICT (k) DO UPDATE SET n = t.n", "[SAVEPOINT][INSERT 0 1]")
		for _, k := range []string{"2", "3"} {
			b.script("INSERT INTO t VALUES (1, 0), ("+k+", 0) ON CONFLICT (k) DO UPDATE SET n = -1", changed, "ROLLBACK TO s", "[ROLLBACK]")
		}
		b.want("ROLLBACK", "[ROLLBACK]")
		a.want("DELETE FROM t WHERE k = 3; UPDATE t SET n = 20 WHERE k = 2", "[DELETE 1][UPDATE 1]")
		b.want("BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE t SET n = n + 5 WHERE k = 1; SELECT n FROM t WHERE k = 1; COMMIT",
			"[BEGIN][UPDATE 1]17\n[SELECT 1][COMMIT]")
		a.want("SELECT sum(n) FROM t", "37\n[SELECT 1]")
	})
}

func TestDeadlock(t *testing.T) {
	layouts(t, func(t *testing.T, with string) {
		srv := newServer(t)
		a, b := srv.connect("tsdb"), srv.connect("tsdb")
		for _, name := range []string{"t", "u"} {
			a.run("CREATE TABLE " + name + " (k int PRIMARY KEY, n int)" + with + "; INSERT INTO " + name + " VALUES (1, 10)")
		}
		a.want("BEGIN; UPDATE t SET n = 1", "[BEGIN][UPDATE 1]")
		b.want("BEGIN; UPDATE u SET n = 2", "[BEGIN][UPDATE 1]")
		var wg sync.WaitGroup
		var got [2]string
		wg.Add(2)
		go func() { defer wg.Done(); got[0] = a.run("UPDATE u SET n = 1") + a.run("COMMIT") }()
		go func() { defer wg.Done(); got[1] = b.run("UPDATE t SET n = 2") + b.run("COMMIT") }()
		wg.Wait()
		both := got[0] + got[1]
		if strings.Count(both, "ERROR 40P01: deadlock detected") != 1 || strings.Count(both, "[UPDATE 1][COMMIT]") != 1 {
			t.Errorf("a: %s\nb: %s", got[0], got[1])
		}
		a.want("SELECT t.n = u.n FROM t, u", "t\n[SELECT 1]")
	})
}

func TestConcurrentCountersAddUp(t *testing.T) {
	layouts(t, func(t *testing.T, with string) {
		srv := newServer(t)
		srv.connect("tsdb").want("CREATE TABLE t (k int PRIMARY KEY, n int)"+with+"; INSERT INTO t SELECT i, 0 FROM generate_series(1, 5) i",
			"[CREATE TABLE][INSERT 0 5]")
		var wg sync.WaitGroup
		const clients, rounds = 4, 25
		for c := range clients {
			wg.Add(1)
			s := srv.connect("tsdb")
			go func() {
				defer wg.Done()
				for i := range rounds {
					q := fmt.Sprintf("BEGIN; UPDATE t SET n = n + 1 WHERE k = %d; INSERT INTO t VALUES (%d, 1) ON CONFLICT (k) DO UPDATE SET n = t.n + 1; COMMIT",
						(c+i)%5+1, 100+i)
					s.want(q, "[BEGIN][UPDATE 1][INSERT 0 1][COMMIT]")
				}
			}()
		}
		wg.Wait()
		srv.connect("tsdb").want("SELECT sum(n) FILTER (WHERE k < 100), sum(n) FILTER (WHERE k >= 100), count(*) FROM t",
			fmt.Sprintf("%d|%d|%d\n[SELECT 1]", clients*rounds, clients*rounds, 5+rounds))
	})
}

func TestAlterTableWaitsForWriters(t *testing.T) {
	srv := newServer(t)
	a, b := srv.connect("tsdb"), srv.connect("tsdb")
	a.script("CREATE TABLE t (k int, n int)", "[CREATE TABLE]", "BEGIN; INSERT INTO t VALUES (1, 1)", "[BEGIN][INSERT 0 1]")
	b.want("SET lock_timeout = 10; ALTER TABLE t ADD c int DEFAULT 5", "[SET]ERROR 55P03: canceling statement due to lock timeout")
	a.want("COMMIT; BEGIN; SELECT * FROM t", "[COMMIT][BEGIN]1|1\n[SELECT 1]")
	b.want("BEGIN; ALTER TABLE t ADD c int DEFAULT 5", "[BEGIN][ALTER TABLE]")
	a.want("SELECT * FROM t", "1|1\n[SELECT 1]")
	done := make(chan string)
	go func() { done <- a.run("UPDATE t SET n = 2; SELECT * FROM t; COMMIT") }()
	b.want("COMMIT", "[COMMIT]")
	if got := <-done; got != "[UPDATE 1]1|2|5\n[SELECT 1][COMMIT]" {
		t.Error(got)
	}
	// Each waits for the other: the second finds out.
	a.want("BEGIN; UPDATE t SET n = 3", "[BEGIN][UPDATE 1]")
	b.want("BEGIN; CREATE TABLE u (k int)", "[BEGIN][CREATE TABLE]")
	var got [2]string
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); got[0] = a.run("CREATE TABLE v (k int)"); a.run("COMMIT") }()
	go func() { defer wg.Done(); got[1] = b.run("ALTER TABLE t DROP c"); b.run("COMMIT") }()
	wg.Wait()
	both := got[0] + got[1]
	if strings.Count(both, "ERROR 40P01: deadlock detected") != 1 || strings.Count(both, "TABLE]") != 1 {
		t.Errorf("a: %s\nb: %s", got[0], got[1])
	}
}

// TestDeadlockOfRowAndTable: one waits for a row of the other, who waits to
// change the shape of a table that the first has written to.
func TestDeadlockOfRowAndTable(t *testing.T) {
	layouts(t, func(t *testing.T, with string) {
		srv := newServer(t)
		a, b := srv.connect("tsdb"), srv.connect("tsdb")
		for _, name := range []string{"t", "u"} {
			a.run("CREATE TABLE " + name + " (k int PRIMARY KEY, n int)" + with + "; INSERT INTO " + name + " VALUES (1, 10)")
		}
		a.want("BEGIN; UPDATE t SET n = 1", "[BEGIN][UPDATE 1]")
		b.want("BEGIN; UPDATE u SET n = 2", "[BEGIN][UPDATE 1]")
		var wg sync.WaitGroup
		var got [2]string
		wg.Add(2)
		go func() { defer wg.Done(); got[0] = a.run("UPDATE u SET n = 1") + a.run("COMMIT") }()
		go func() { defer wg.Done(); got[1] = b.run("ALTER TABLE t ADD c int") + b.run("COMMIT") }()
		wg.Wait()
		if !strings.Contains(got[1], "ERROR 40P01: deadlock detected") || got[0] != "[UPDATE 1][COMMIT]" {
			t.Errorf("a: %s\nb: %s", got[0], got[1])
		}
	})
}
