package session

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.run("CREATE TABLE t (k text, ts timestamptz, v float8, PRIMARY KEY (k, ts)); INSERT INTO t SELECT 'a' || g % 3, now() + g * interval '1 minute', g FROM generate_series(1, 300) AS g")
	c.run("VACUUM")
	for q, parts := range map[string][]string{
		"EXPLAIN SELECT * FROM t WHERE k = 'a1'":                 {"Scan on t", "a1", "[EXPLAIN]"},
		"EXPLAIN ANALYZE SELECT count(*) FROM t WHERE k = 'a1'":  {"Aggregate", "rows=100", "Execution Time", "[EXPLAIN]"},
		"EXPLAIN (FORMAT json) SELECT 1":                         {"[\n", "Plan", "[EXPLAIN]"},
		"EXPLAIN INSERT INTO t SELECT k, ts, v FROM t":           {"Insert on t\n  ->  ", "Scan on t"},
		"EXPLAIN (FORMAT xml) SELECT 1":                          {"ERROR 0A000: "},
		"EXPLAIN ANALYZE INSERT INTO t VALUES ('x', now(), 1.5)": {"Insert on t", "actual rows=1", "[EXPLAIN]"},
	} {
		got := c.run(q)
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("%s: no %q in\n%s", q, p, got)
			}
		}
	}
}

func TestCatalogRelationsSeeTheTransaction(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"BEGIN; CREATE TABLE t (k int PRIMARY KEY); SELECT relname, relkind FROM pg_class WHERE relname LIKE 't%' AND relnamespace = 'public'::regnamespace ORDER BY 1",
		"[BEGIN][CREATE TABLE]t|r\nt_pkey|i\n[SELECT 2]",
		"ROLLBACK; SELECT count(*) FROM pg_class WHERE relname = 't'", "[ROLLBACK]0\n[SELECT 1]",
		"SELECT setting, unit FROM pg_settings WHERE name = 'work_mem'", "4096|kB\n[SELECT 1]",
		"SELECT usename, state FROM pg_stat_activity", "tsdb|active\n[SELECT 1]",
		"COPY (SELECT nspname FROM pg_namespace ORDER BY 1) TO STDOUT", "information_schema\npg_catalog\npublic\ntsdb_stat\n[COPY 4]",
	)
}
