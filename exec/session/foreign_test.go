package session

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestSequences(t *testing.T) {
	srv := newServer(t)
	c, d := srv.connect("tsdb"), srv.connect("tsdb")
	c.script(
		"CREATE SEQUENCE s START 5 INCREMENT 5 MAXVALUE 20 CYCLE", "[CREATE SEQUENCE]",
		"SELECT nextval('s'), nextval('s'), currval('s'), lastval()", "5|10|10|10\n[SELECT 1]",
		"BEGIN; SELECT nextval('s'); ROLLBACK", "[BEGIN]15\n[SELECT 1][ROLLBACK]",
		"SELECT nextval('s'), nextval('s')", "20|1\n[SELECT 1]",
		"SELECT setval('s', 7, false); SELECT * FROM s", "7\n[SELECT 1]7|0|f\n[SELECT 1]",
		"ALTER SEQUENCE s RENAME TO q; SELECT nextval('q')", "[ALTER SEQUENCE]7\n[SELECT 1]",
		"BEGIN; ALTER SEQUENCE q RESTART WITH 3; SELECT nextval('q'); ROLLBACK; SELECT nextval('q')",
		"[BEGIN][ALTER SEQUENCE]3\n[SELECT 1][ROLLBACK]12\n[SELECT 1]",
		"CREATE TABLE t (id serial PRIMARY KEY, k int GENERATED ALWAYS AS IDENTITY (START 100), v text)", "[CREATE TABLE]",
		"INSERT INTO t (v) SELECT 'x' || g FROM generate_series(1, 3) g; SELECT * FROM t ORDER BY id", "[INSERT 0 3]1|100|x1\n2|101|x2\n3|102|x3\n[SELECT 3]",
		"ALTER SEQUENCE t_id_seq RENAME TO other; INSERT INTO t (v) VALUES ('y') RETURNING id", "[ALTER SEQUENCE]4\n[INSERT 0 1]",
		"DROP SEQUENCE other", "ERROR 2BP01: cannot drop sequence other because other objects depend on it DETAIL: default value for column id of table t depends on sequence other",
		"CREATE SEQUENCE bad INCREMENT 0", "ERROR 22023: INCREMENT must not be zero",
		"SELECT nextval('t')", `ERROR 42809: "t" is not a sequence`,
	)
	d.script(
		"SELECT currval('q')", `ERROR 55000: currval of sequence "q" is not yet defined in this session`,
		"SELECT nextval('q')", "17\n[SELECT 1]",
	)
	srv.stop()
	srv.start()
	e := srv.connect("tsdb")
	e.script(
		"SELECT nextval('q')", "1\n[SELECT 1]",
		"INSERT INTO t (v) VALUES ('z') RETURNING id, k", "5|104\n[INSERT 0 1]",
		"DROP TABLE t; SELECT nextval('t_k_seq')", `[DROP TABLE]ERROR 42P01: relation "t_k_seq" does not exist`,
	)
}

func TestChecksAndGenerated(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE r (ts timestamptz, a int CHECK (a > 0), b int, s int GENERATED ALWAYS AS (a + b) STORED, CONSTRAINT less CHECK (a < b))", "[CREATE TABLE]",
		"INSERT INTO r VALUES (NULL, 1, 2), (NULL, NULL, 5)", "[INSERT 0 2]",
		"SELECT a, b, s FROM r ORDER BY a", "1|2|3\nNULL|5|NULL\n[SELECT 2]",
		"INSERT INTO r VALUES (NULL, 1, 2), (NULL, 3, 2), (NULL, 0, 1)",
		`ERROR 23514: new row for relation "r" violates check constraint "less" DETAIL: Failing row contains (null, 3, 2, 5).`,
		"INSERT INTO r (a, b) SELECT -g, g FROM generate_series(1, 2) g",
		`ERROR 23514: new row for relation "r" violates check constraint "r_a_check" DETAIL: Failing row contains (null, -1, 1, 0).`,
		"UPDATE r SET b = 10 WHERE a = 1 RETURNING s", "11\n[UPDATE 1]",
		"UPDATE r SET a = 11 WHERE a = 1", `ERROR 23514: new row for relation "r" violates check constraint "less" DETAIL: Failing row contains (null, 11, 10, 21).`,
		"CREATE TABLE bad (a int CHECK ((SELECT true)))", "ERROR 0A000: cannot use subquery in check constraint",
		"CREATE TABLE bad (a int, b int GENERATED ALWAYS AS (a + random()::int) STORED)", "ERROR 42P17: generation expression is not immutable",
		"CREATE TABLE bad (a int, b int GENERATED ALWAYS AS (b + 1) STORED)",
		`ERROR 42P17: cannot use generated column "b" in column generation expression DETAIL: A generated column cannot reference another generated column.`,
		"ALTER TABLE r RENAME a TO z; INSERT INTO r (z, b) VALUES (5, 4)",
		`[ALTER TABLE]ERROR 23514: new row for relation "r" violates check constraint "less" DETAIL: Failing row contains (null, 5, 4, 9).`,
	)
}

func TestForeignKeys(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE p (id int PRIMARY KEY, u text UNIQUE)", "[CREATE TABLE]",
		"CREATE TABLE c (id bigint PRIMARY KEY, a bigint REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE, b text REFERENCES p (u) ON DELETE SET NULL)",
		"[CREATE TABLE]",
		"CREATE TABLE n (id int PRIMARY KEY, p int REFERENCES p, up int REFERENCES n)", "[CREATE TABLE]",
		"INSERT INTO p VALUES (1, 'a'), (2, 'b'), (3, 'c')", "[INSERT 0 3]",
		"INSERT INTO c VALUES (10, 1, 'a'), (11, 2, 'a'), (12, NULL, 'b')", "[INSERT 0 3]",
		"INSERT INTO c VALUES (13, 9, NULL)", `ERROR 23503: insert or update on table "c" violates foreign key constraint "c_a_fkey" DETAIL: Key (a)=(9) is not present in table "p".`,
		"UPDATE c SET b = 'x' WHERE id = 10", `ERROR 23503: insert or update on table "c" violates foreign key constraint "c_b_fkey" DETAIL: Key (b)=(x) is not present in table "p".`,
		"DELETE FROM p WHERE id = 1; SELECT * FROM c ORDER BY id", "[DELETE 1]11|2|NULL\n12|NULL|b\n[SELECT 2]",
		"INSERT INTO n VALUES (1, 2, 1), (2, 3, 1)", "[INSERT 0 2]",
		"DELETE FROM p WHERE id = 3", `ERROR 23503: update or delete on table "p" violates foreign key constraint "n_p_fkey" on table "n" DETAIL: Key (id)=(3) is still referenced from table "n".`,
		"DELETE FROM n; SELECT count(*) FROM n", "[DELETE 2]0\n[SELECT 1]",
		"UPDATE p SET id = id + 100 WHERE id = 3", "[UPDATE 1]",
		"CREATE TABLE d (id int PRIMARY KEY, p int REFERENCES p DEFERRABLE INITIALLY DEFERRED)", "[CREATE TABLE]",
		"BEGIN; INSERT INTO d VALUES (1, 55); INSERT INTO p VALUES (55); COMMIT", "[BEGIN][INSERT 0 1][INSERT 0 1][COMMIT]",
		"BEGIN; INSERT INTO d VALUES (2, 56)", "[BEGIN][INSERT 0 1]",
		"COMMIT", `ERROR 23503: insert or update on table "d" violates foreign key constraint "d_p_fkey" DETAIL: Key (p)=(56) is not present in table "p".`,
		"BEGIN; INSERT INTO d VALUES (2, 56)", "[BEGIN][INSERT 0 1]",
		"SET CONSTRAINTS ALL IMMEDIATE", `ERROR 23503: insert or update on table "d" violates foreign key constraint "d_p_fkey" DETAIL: Key (p)=(56) is not present in table "p".`,
		"ROLLBACK", "[ROLLBACK]",
		"CREATE TABLE e (a text REFERENCES p)", `ERROR 42804: foreign key constraint "e_a_fkey" cannot be implemented DETAIL: Key columns "a" and "id" are of incompatible types: text and integer.`,
		"CREATE TABLE e (a int REFERENCES p (u))", `ERROR 42804: foreign key constraint "e_a_fkey" cannot be implemented DETAIL: Key columns "a" and "u" are of incompatible types: integer and text.`,
		"CREATE TABLE e (a bigint REFERENCES c (a))", `ERROR 42830: there is no unique constraint matching given keys for referenced table "c"`,
		"DROP TABLE p", "ERROR 2BP01: cannot drop table p because other objects depend on it DETAIL: constraint c_a_fkey on table c depends on table p\n"+
			"constraint c_b_fkey on table c depends on table p\nconstraint n_p_fkey on table n depends on table p\nconstraint d_p_fkey on table d depends on table p",
	)
	c.run("CREATE TABLE m (ts timestamptz, p int REFERENCES p)")
	if got := c.noticeText(); !strings.Contains(got, `foreign key constraint "m_p_fkey" is recorded and not enforced`) {
		t.Errorf("notices %q", got)
	}
}

// A parent that is deleted while children come leaves none behind.
func TestForeignKeysTogether(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	c.run("CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p)")
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			x := srv.connect("tsdb")
			for i := range 60 {
				k := i % 5
				var got string
				if w < 2 {
					x.run(fmt.Sprintf("INSERT INTO p VALUES (%d) ON CONFLICT DO NOTHING", k))
					got = x.run(fmt.Sprintf("INSERT INTO c VALUES (%d, %d)", w*1000+i, k))
				} else {
					got = x.run(fmt.Sprintf("DELETE FROM p WHERE id = %d", k))
					if i%7 == 0 {
						x.run(fmt.Sprintf("DELETE FROM c WHERE p = %d", k))
					}
				}
				if strings.HasPrefix(got, "ERROR") && !strings.HasPrefix(got, "ERROR 23503") {
					t.Errorf("%s", got)
				}
			}
		}()
	}
	wg.Wait()
	if got := c.run("SELECT count(*) FROM c WHERE p NOT IN (SELECT id FROM p)"); got != "0\n[SELECT 1]" {
		t.Errorf("orphans: %s", got)
	}
}

// Children of the same parents come in any order of statements without a deadlock.
func TestChildrenOfTheSameParents(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	c.run("CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p); INSERT INTO p SELECT g FROM generate_series(1, 20) g")
	var wg sync.WaitGroup
	for w := range 4 {
		x := srv.connect("tsdb")
		wg.Go(func() {
			for i := range 40 {
				parent := "g"
				if w%2 == 1 {
					parent = "21 - g"
				}
				q := fmt.Sprintf("INSERT INTO c SELECT %d + g, %s FROM generate_series(1, 20) g", w*10000+i*20, parent)
				if got := x.run(q); got != "[INSERT 0 20]" {
					t.Errorf("%s", got)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := c.run("SELECT count(*), count(DISTINCT p) FROM c"); got != "3200|20\n[SELECT 1]" {
		t.Errorf("got %s", got)
	}
}
