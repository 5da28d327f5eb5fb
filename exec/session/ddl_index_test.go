package session

import (
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The first index of an empty table without a key that has the time column
// after another one is the key order; others are recorded, and say so.
func TestIndexGivesKeyOrder(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	c.script(
		`CREATE TABLE cpu (time timestamptz NOT NULL, tags_id int, usage float8)`, "[CREATE TABLE]",
	)
	c.run(`CREATE INDEX ON cpu (time DESC)`)
	if got := c.noticeText(); !strings.HasPrefix(got, `NOTICE 00000: index "cpu_time_idx" is recorded and not used`) {
		t.Errorf("notices %s", got)
	}
	c.run(`CREATE INDEX ON cpu (tags_id, time DESC)`)
	if got := c.noticeText(); got != "" {
		t.Errorf("notices %s", got)
	}
	c.script(
		`CREATE INDEX by_usage ON cpu (usage, time)`, "[CREATE INDEX]",
		`SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'cpu' ORDER BY 1`,
		"by_usage|CREATE INDEX by_usage ON public.cpu USING btree (usage, \"time\")\n"+
			"cpu_tags_id_time_idx|CREATE INDEX cpu_tags_id_time_idx ON public.cpu USING btree (tags_id, \"time\" DESC)\n"+
			"cpu_time_idx|CREATE INDEX cpu_time_idx ON public.cpu USING btree (\"time\" DESC)\n[SELECT 3]",
		`INSERT INTO cpu SELECT '2024-01-01'::timestamptz + g * interval '1 second', g % 3, g FROM generate_series(1, 9) g; INSERT INTO cpu VALUES (now(), NULL, 5)`,
		"[INSERT 0 9][INSERT 0 1]",
		`SELECT count(*), sum(usage) FROM cpu WHERE tags_id = 2`, "3|15\n[SELECT 1]",
		`SELECT usage FROM cpu WHERE tags_id IS NULL`, "5\n[SELECT 1]",
		`CREATE INDEX ON cpu ((usage + 1))`, "[CREATE INDEX]",
		`CREATE INDEX ON cpu (lower(tags_id::text)) WHERE usage > 1`, "[CREATE INDEX]",
		`SELECT indexdef FROM pg_indexes WHERE indexname IN ('cpu_expr_idx', 'cpu_lower_idx') ORDER BY 1`,
		"CREATE INDEX cpu_expr_idx ON public.cpu USING btree (((usage + 1)))\n"+
			"CREATE INDEX cpu_lower_idx ON public.cpu USING btree (lower(tags_id::text)) WHERE (usage > 1)\n[SELECT 2]",
		`CREATE INDEX ON cpu (nix)`, `ERROR 42703: column "nix" does not exist`,
		`CREATE INDEX by_usage ON cpu (time)`, `ERROR 42P07: relation "by_usage" already exists`,
		`CREATE INDEX ON cpu USING nix (time)`, `ERROR 42704: access method "nix" does not exist`,
		`CREATE INDEX ON cpu ((random()))`, "ERROR 42P17: functions in index expression must be marked IMMUTABLE",
		`CREATE INDEX ON cpu (((SELECT 1)))`, "ERROR 0A000: cannot use subquery in index expression",
	)
	if plan := c.run(`EXPLAIN SELECT * FROM cpu WHERE tags_id = 2`); !strings.Contains(plan, "tags_id = 2") || !strings.Contains(plan, "Key") {
		t.Errorf("the index gives no key:\n%s", plan)
	}
	c.script(
		"CLUSTER cpu USING by_usage", "[CLUSTER]",
		`SELECT count(*), sum(usage) FROM cpu WHERE usage = 5`, "2|10\n[SELECT 1]",
		"CLUSTER cpu USING cpu_expr_idx", "ERROR 0A000: CLUSTER on this index is not supported",
		"DROP INDEX by_usage", "[DROP INDEX]",
		"CLUSTER cpu", `ERROR 42704: there is no previously clustered index for table "cpu"`,
		`SELECT count(*), sum(usage) FROM cpu`, "10|50\n[SELECT 1]",
	)
}

func TestChangeColumnType(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		`CREATE TABLE r (ts timestamptz, host varchar(8), v int DEFAULT 7, n numeric(6,2), PRIMARY KEY (host, ts))`, "[CREATE TABLE]",
		`INSERT INTO r VALUES ('2024-01-01', '1', 5, 1.25), ('2024-01-02', '12', NULL, 3)`, "[INSERT 0 2]",
		`ALTER TABLE r ALTER v TYPE bigint, ALTER n TYPE numeric(8,1)`, "[ALTER TABLE]",
		`SELECT host, v, n FROM r ORDER BY host`, "1|5|1.3\n12|NULL|3.0\n[SELECT 2]",
		`ALTER TABLE r ALTER host TYPE varchar(20)`, "[ALTER TABLE]",
		`ALTER TABLE r ALTER host TYPE int`, `ERROR 42804: column "host" cannot be cast automatically to type integer`,
		`ALTER TABLE r ALTER host TYPE int USING ts`, `ERROR 42804: result of USING clause for column "host" cannot be cast automatically to type integer`,
		`ALTER TABLE r ALTER host TYPE int USING host::int * 10`, "[ALTER TABLE]",
		`SELECT host, v, n FROM r WHERE host >= 20`, "120|NULL|3.0\n[SELECT 1]",
		`INSERT INTO r (host, ts, v) VALUES (10, '2024-01-01', 1)`, "ERROR 23505: duplicate key value violates unique constraint \"r_pkey\" DETAIL: Key (host, ts)=(10, 2024-01-01 00:00:00+00) already exists.",
		`ALTER TABLE r ALTER host TYPE int USING 1, ALTER ts TYPE timestamptz USING '2024-01-01'`,
		"ERROR 23505: could not create unique index \"r_pkey\" DETAIL: Key (host, ts)=(1, 2024-01-01 00:00:00+00) is duplicated.",
		`ALTER TABLE r ALTER v TYPE timestamptz`, `ERROR 42804: column "v" cannot be cast automatically to type timestamp with time zone`,
		`ALTER TABLE r ALTER nix TYPE int`, `ERROR 42703: column "nix" of relation "r" does not exist`,
		`SELECT host, v, n FROM r ORDER BY host`, "10|5|1.3\n120|NULL|3.0\n[SELECT 2]",
	)
}

// A rewrite copies rows while others insert, update and delete; what it leaves
// is what they did.
func TestRewriteBesideWriters(t *testing.T) {
	srv := newServer(t)
	srv.e.followRows = 1
	c := srv.connect("tsdb")
	c.script(
		`CREATE TABLE m (ts timestamptz NOT NULL, host int NOT NULL, v int)`, "[CREATE TABLE]",
		`INSERT INTO m SELECT '2024-01-01'::timestamptz + g * interval '1 second', g % 7, g FROM generate_series(1, 50000) g`, "[INSERT 0 50000]",
		`CREATE INDEX by_host ON m (host, ts)`, "[CREATE INDEX]",
	)
	var stop atomic.Bool
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			x := srv.connect("tsdb")
			rng := rand.New(rand.NewSource(int64(w)))
			for n := 0; !stop.Load(); n++ {
				k := 1_000_000*(w+1) + n
				for _, q := range []string{
					fmt.Sprintf(`INSERT INTO m SELECT '2024-02-01'::timestamptz + g * interval '1 ms', g %% 7, %d FROM generate_series(1, 20) g`, k),
					fmt.Sprintf(`UPDATE m SET v = v + 100000000 WHERE v = %d`, 1+rng.Intn(50000)),
					fmt.Sprintf(`DELETE FROM m WHERE v = %d`, 1+rng.Intn(50000)),
					fmt.Sprintf(`DELETE FROM m WHERE v = %d AND host = 3`, k),
				} {
					if got := x.run(q); strings.HasPrefix(got, "ERROR") {
						t.Errorf("%s: %s", q, got)
						return
					}
				}
			}
		}()
	}
	shadow := srv.connect("tsdb")
	for round := range 4 {
		time.Sleep(30 * time.Millisecond) // let the writers get ahead
		q := []string{"CLUSTER m USING by_host", "ALTER TABLE m ALTER v TYPE bigint", "ALTER TABLE m ADD u uuid DEFAULT gen_random_uuid()",
			"ALTER TABLE m ALTER v TYPE int, ADD CONSTRAINT u UNIQUE (u)"}[round]
		if got := c.run(q); strings.HasPrefix(got, "ERROR") {
			t.Fatalf("%s: %s", q, got)
		}
	}
	stop.Store(true)
	wg.Wait()
	got := shadow.run("SELECT count(*), count(DISTINCT u), count(*) FILTER (WHERE v < 1000000 AND host <> v % 7) FROM m")
	if f := strings.Split(strings.Split(got, "\n")[0], "|"); f[0] != f[1] || f[2] != "0" {
		t.Errorf("rows, distinct u, wrong hosts: %s", got)
	}
	// Per k: 20 rows were inserted and those of host 3 deleted, 3 of 20.
	if got := shadow.run("SELECT v, count(*) FROM m WHERE v BETWEEN 1000000 AND 9999999 GROUP BY v HAVING count(*) <> 17"); got != "[SELECT 0]" {
		t.Errorf("groups that are not whole:\n%s", got)
	}
	if got := shadow.run("SELECT v % 100000000, count(*) FROM m WHERE v < 1000000 OR v > 99999999 GROUP BY 1 HAVING count(*) > 1"); got != "[SELECT 0]" {
		t.Errorf("rows that are there twice:\n%s", got)
	}
	if got := shadow.run("SELECT * FROM tsdb_stat.rewrites"); got != "[SELECT 0]" {
		t.Errorf("rewrites after the end: %s", got)
	}
}

// A table that is being rewritten is not changed by anybody else.
func TestRewriteKeepsOthersOut(t *testing.T) {
	srv := newServer(t)
	srv.e.followRows = 1
	c, d := srv.connect("tsdb"), srv.connect("tsdb")
	c.script(
		"CREATE TABLE m (ts timestamptz, v int)", "[CREATE TABLE]",
		"INSERT INTO m SELECT now(), g FROM generate_series(1, 100000) g", "[INSERT 0 100000]",
	)
	done := make(chan string)
	go func() { done <- c.run("ALTER TABLE m ADD u text DEFAULT repeat(gen_random_uuid()::text, 20)") }()
	deadline := time.Now().Add(10 * time.Second)
	for d.run("SELECT table_name FROM tsdb_stat.rewrites WHERE total_rows >= 100000") == "[SELECT 0]" && time.Now().Before(deadline) {
	}
	got := d.run("ALTER TABLE m RENAME v TO w")
	if end := <-done; end != "[ALTER TABLE]" {
		t.Fatal(end)
	}
	if want := `ERROR 55006: table "m" is being rewritten`; !strings.HasPrefix(got, want) && got != "[ALTER TABLE]" {
		t.Errorf("got %s", got)
	}
}
