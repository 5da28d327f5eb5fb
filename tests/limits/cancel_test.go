package limits

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

const (
	// cancelAfter is the timeout of the heavy statements.
	cancelAfter = 50 * time.Millisecond
	// cancelGoal is how late a statement should end, on a machine that does nothing else.
	cancelGoal = 100 * time.Millisecond
	// cancelLimit is how late it may end on one that tests other packages too.
	cancelLimit = time.Second
)

// heavySetup makes big, of so many rows that whatever reads it takes a while,
// and what REFRESH works on.
var heavySetup = []string{
	"CREATE TABLE big (id bigint PRIMARY KEY, n int, t text)",
	"INSERT INTO big SELECT g, g::bigint * 7919 % 1000003, 'text ' || g FROM generate_series(1, 600000) g",
	"CREATE TABLE copied (id bigint PRIMARY KEY, n int, t text)",
	`CREATE MATERIALIZED VIEW heavy AS
		SELECT count(*) FROM generate_series(1, 5000000) a(g) JOIN generate_series(1, 5000000) b(g) USING (g) WITH NO DATA`,
	"SET work_mem = '1GB'",
}

// heavy are statements that run for a second at least, most of them for ever.
var heavy = []struct{ name, sql string }{
	{"cross join", "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"},
	{"cross join of many", "SELECT count(*) FROM big a, big b, big c, big d"},
	{"cross join and filter", "SELECT count(*) FROM big a, big b WHERE a.n + b.n = -1"},
	{"rows of a cross join", "SELECT a.t || b.t FROM big a, big b"},
	{"hash join with many matches", "SELECT count(*) FROM big a JOIN big b ON a.n % 2 = b.n % 2"},
	{"hash join without rows", "SELECT count(*) FROM big a JOIN big b ON a.n % 2 = b.n % 2 AND a.id + b.id < 0"},
	{"full join with many matches", "SELECT count(*) FROM big a FULL JOIN big b ON a.n % 2 = b.n % 2 AND a.id + b.id < 0"},
	{"anti join with many matches", "SELECT count(*) FROM big a WHERE NOT EXISTS (SELECT FROM big b WHERE a.n % 2 = b.n % 2 AND a.id + b.id < 0)"},
	{"nested loop", "SELECT count(*) FROM big a LEFT JOIN big b ON a.t || b.t = '' AND sqrt(a.id + b.id) < 0"},
	{"sort", "SELECT * FROM generate_series(1, 3000000) g ORDER BY md5(g::text)"},
	{"sort of texts", "SELECT count(*) FROM (SELECT lpad((g % 1000)::text, 20, 'x') FROM generate_series(1, 3000000) g ORDER BY 1 OFFSET 0) q"},
	{"sort of integers", "SELECT g::bigint * 7919 % 1000003 FROM generate_series(1, 3000000) g ORDER BY 1"},
	{"top", "SELECT g FROM generate_series(1, 100000000) g ORDER BY g DESC LIMIT 1000"},
	{"hash aggregate", "SELECT g % 2000003, count(*), sum(g) FROM generate_series(1, 100000000) g GROUP BY 1"},
	{"hash aggregate of texts", "SELECT g::text, count(*) FROM generate_series(1, 100000000) g GROUP BY 1"},
	{"distinct", "SELECT count(*) FROM (SELECT DISTINCT g % 2000003 FROM generate_series(1, 100000000) g) q"},
	{"count distinct", "SELECT count(DISTINCT g::text) FROM generate_series(1, 5000000) g"},
	{"percentile", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY g::bigint * 7919 % 1000003) FROM generate_series(1, 8000000) g"},
	{"percentile of texts", "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY g::text) FROM generate_series(1, 5000000) g"},
	{"mode", "SELECT mode() WITHIN GROUP (ORDER BY g::text) FROM generate_series(1, 5000000) g"},
	{"string_agg", "SELECT length(string_agg(g::text, ',')) FROM generate_series(1, 30000000) g"},
	{"ordered string_agg", "SELECT length(string_agg(g::text, ',' ORDER BY g DESC)) FROM generate_series(1, 8000000) g"},
	{"array_agg", "SELECT array_length(array_agg(g), 1) FROM generate_series(1, 30000000) g"},
	{"array_agg and text", "SELECT length(array_agg(g)::text) FROM generate_series(1, 8000000) g"},
	{"series", "SELECT count(*) FROM generate_series(1, 1000000000000) g"},
	{"rows of a series", "SELECT * FROM generate_series(1, 1000000000) g"},
	{"series in the list", "SELECT generate_series(1, 1000000000)"},
	{"series of numerics", "SELECT count(*) FROM generate_series(1::numeric, 1e12) g"},
	{"series of times", "SELECT count(*) FROM generate_series('2000-01-01'::timestamptz, '200000-01-01', '1 second') g"},
	{"series without an end", "SELECT count(*) FROM generate_series('2000-01-01'::timestamp, 'infinity', '1 microsecond') g"},
	{"series of no progress", "SELECT count(*) FROM generate_series('-infinity'::timestamp, '2000-01-01', '1 day') g"},
	{"correlated subquery", "SELECT (SELECT count(*) FROM big b WHERE b.n + a.n > 5 OR b.t < a.t) FROM big a"},
	{"correlated limit", "SELECT (SELECT b.t FROM big b WHERE b.n > a.n ORDER BY b.t || a.t LIMIT 1) FROM big a"},
	{"lateral", "SELECT count(*) FROM big a, LATERAL (SELECT b.t FROM big b WHERE b.n <> a.n ORDER BY b.t || a.t LIMIT 1) q"},
	{"not in", "SELECT count(*) FROM big a WHERE a.n + a.id NOT IN (SELECT b.n + a.n FROM big b WHERE b.t > a.t)"},
	{"recursion", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r"},
	{"recursion of new rows", "WITH RECURSIVE r(n) AS (SELECT 1::bigint UNION SELECT n + 1 FROM r) SELECT count(*) FROM r"},
	{"recursion that grows", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + k FROM r, (VALUES (0), (1)) v(k)) SELECT count(*) FROM r"},
	{"recursion that stays", "WITH RECURSIVE r(n) AS (SELECT g FROM generate_series(1, 100000) g UNION ALL SELECT n FROM r) SELECT n FROM r"},
	{"repeat", "SELECT sum(length(repeat('x', 1000000) || t)) FROM big"},
	{"repeat per row", "SELECT sum(length(repeat('x', 1000000 + n))) FROM big"},
	{"repeat and replace", "SELECT sum(length(replace(repeat('x', 100000 + n % 2), 'x', 'yy'))) FROM big"},
	{"md5 of long texts", "SELECT count(DISTINCT md5(repeat('x', 1000000 + n))) FROM big"},
	{"hashes of 20 MB", "SELECT length(sha512(repeat(repeat('x', 1000000 + g), 20)::bytea)) FROM generate_series(1, 50) g"},
	{"upper of long texts", "SELECT sum(length(upper(repeat('ä', 1000000 + n)))) FROM big"},
	{"reverse of long texts", "SELECT sum(length(reverse(repeat('ä', 1000000 + n)))) FROM big"},
	{"lpad", "SELECT sum(length(lpad(t, 1000000 + n, 'äb'))) FROM big"},
	{"translate", "SELECT sum(length(translate(repeat('xy', 100000 + n % 2), 'x', 'yy'))) FROM big"},
	{"to_hex", "SELECT sum(length(encode(repeat('x', 100000 + n % 2)::bytea, 'hex'))) FROM big"},
	{"split", "SELECT sum(array_length(string_to_array(repeat('x,', 100000 + n % 2), ','), 1)) FROM big"},
	{"regexp_replace", "SELECT sum(length(regexp_replace(repeat('ab', 1000 + n % 2), '(a|b)+?c|[ab]', 'c', 'g'))) FROM big"},
	{"regexp_matches", "SELECT count(*) FROM big, regexp_matches(repeat(t, 1000), '(a|b|t)(e|x)*', 'g') m"},
	{"regexp_split", "SELECT count(*) FROM big, regexp_split_to_table(repeat(t, 1000), 'e+') m"},
	{"match", "SELECT count(*) FROM big WHERE repeat(t, 1000) ~ '(a|t)+(e|x)*y{1,50}z'"},
	{"like", "SELECT count(*) FROM big WHERE repeat('a', 20000 + n % 2) LIKE '%a%a%a%a%a%a%a%b'"},
	{"ilike", "SELECT count(*) FROM big WHERE repeat('a', 20000 + n % 2) ILIKE '%A_A%a%a%a_%a%a%b'"},
	{"one long like", "SELECT repeat('a', 20000000) LIKE '%' || repeat('a', 1000) || 'b%c'"},
	{"like with gaps", "SELECT repeat('a', 2000000) LIKE '%' || repeat('a_', 1000) || 'b%c'"},
	{"power", "SELECT sum(power(1.0001 + n::numeric / 1e9, 99999.5)) FROM big"},
	{"power of huge numbers", "SELECT power(1.5 + g / 1e9, 200000) FROM generate_series(1, 100000) g"},
	{"factorial", "SELECT factorial(20000)"},
	{"factorials", "SELECT factorial(20000 + g % 2) FROM generate_series(1, 100) g"},
	{"exp", "SELECT exp(5000.5 + g / 1e9) FROM generate_series(1, 100000) g"},
	{"ln", "SELECT ln(power(10::numeric, 10000) + g) FROM generate_series(1, 100000) g"},
	{"sqrt", "SELECT sqrt(power(10::numeric, 100000) + g) FROM generate_series(1, 100000) g"},
	{"multiplication", "SELECT (repeat('7', 60000) || g)::numeric * (repeat('8', 60000) || g)::numeric FROM generate_series(1, 10000) g"},
	{"division", "SELECT (repeat('7', 100000) || g)::numeric / (repeat('8', 50000) || g)::numeric FROM generate_series(1, 10000) g"},
	{"text of numerics", "SELECT sum(length((repeat('7', 100000) || g)::numeric::text)) FROM generate_series(1, 10000) g"},
	{"gcd", "SELECT gcd((repeat('7', 100000) || g)::numeric, (repeat('8', 100000) || g)::numeric) FROM generate_series(1, 10000) g"},
	{"product", "WITH RECURSIVE r(n) AS (SELECT 1.5 UNION ALL SELECT trim_scale(n * 1.1) FROM r) SELECT count(n) FROM r"},
	{"arrays", "SELECT sum(array_length(array_fill(n, ARRAY[100000]), 1)) FROM big"},
	{"array_append", "WITH RECURSIVE r(a) AS (SELECT ARRAY[1] UNION ALL SELECT a || a[1] FROM r) SELECT count(a) FROM r"},
	{"unnest", "SELECT count(*) FROM big, unnest(array_fill(n, ARRAY[100000])) u"},
	{"jsonb", "SELECT count(DISTINCT ('[' || repeat('1,', 100000) || n || ']')::jsonb) FROM big"},
	{"to_char", "SELECT count(DISTINCT to_char(g, repeat('9', 50) || 'D99')) FROM generate_series(1, 100000000) g"},
	{"union", "SELECT count(*) FROM (SELECT g FROM generate_series(1, 50000000) g UNION SELECT g FROM generate_series(2, 50000000) g) q"},
	{"union all", "SELECT g FROM generate_series(1, 500000000) g UNION ALL SELECT g FROM generate_series(2, 500000000) g"},
	{"intersect", "SELECT count(*) FROM (SELECT g FROM generate_series(1, 50000000) g INTERSECT SELECT g FROM generate_series(2, 50000000) g) q"},
	{"except", "SELECT count(*) FROM (SELECT g FROM generate_series(1, 50000000) g EXCEPT ALL SELECT g FROM generate_series(2, 50000000) g) q"},
	{"offset", "SELECT g FROM generate_series(1, 1000000000) g OFFSET 999999999"},
	{"filter", "SELECT g FROM generate_series(1, 100000000000) g WHERE g < 0"},
	{"sleep", "SELECT pg_sleep(100)"},
	{"sleeps", "SELECT pg_sleep(0.001) FROM big"},
	{"a long constant", "SELECT length(repeat(repeat('xyz', 1000000), 50) || g) FROM generate_series(1, 1000) g"},
	{"explain", "EXPLAIN ANALYZE SELECT count(*) FROM big a, big b, big c"},
	{"copy to", "COPY (SELECT a.id, b.t FROM big a, big b) TO STDOUT"},
	{"create table as", "CREATE TABLE made AS SELECT a.id, b.t FROM big a, big b"},
	{"select into", "SELECT a.id, b.t INTO made FROM big a, big b"},
	{"create materialized view", "CREATE MATERIALIZED VIEW made AS SELECT a.id, b.t FROM big a, big b"},
	{"insert", "INSERT INTO copied SELECT g, g, 'some text' FROM generate_series(1, 100000000) g"},
	{"insert of sorted rows", "INSERT INTO copied SELECT id + n, n, t FROM big ORDER BY t DESC"},
	{"upsert", "INSERT INTO copied SELECT g, g, 'some text' FROM generate_series(1, 100000000) g ON CONFLICT (id) DO UPDATE SET n = 1"},
	{"update", "UPDATE big SET t = t || n"},
	{"update of keys", "UPDATE big SET id = -id"},
	{"update from", "UPDATE big SET t = b.t FROM big b WHERE b.n <> big.n AND b.id + big.id < 0"},
	{"delete", "DELETE FROM big"},
	{"delete using", "DELETE FROM big USING big b WHERE b.n % 3 = big.n % 3 AND b.id + big.id < 0"},
	{"writing with", "WITH w AS (INSERT INTO copied SELECT g, g, 'x' FROM generate_series(1, 100000000) g RETURNING id) SELECT count(*) FROM w"},
	{"refresh", "REFRESH MATERIALIZED VIEW heavy"},
	{"alter type", "ALTER TABLE big ALTER COLUMN n TYPE numeric USING n + length(repeat('x', 10000))"},
	{"check", "ALTER TABLE big ADD CHECK (length(repeat(t, 1000 + n % 2)) > 0)"},
	{"unique", "CREATE UNIQUE INDEX ON big (t, id)"},
}

// TestCancel lets a timeout end statements of all kinds, which must happen soon.
func TestCancel(t *testing.T) {
	s := harness.StartTSDB(t, colstore.Options{})
	c := connect(t, s.URL())
	for _, q := range heavySetup {
		if _, err := c.Exec(context.Background(), q).ReadAll(); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	set(t, c, "statement_timeout = '50ms'")
	var worst time.Duration
	for _, h := range heavy {
		begin := time.Now()
		err := drain(c, h.sql)
		late := time.Since(begin) - cancelAfter
		worst = max(worst, late)
		switch {
		case err == nil && late < cancelGoal: // done before anybody could end it
			t.Logf("%s: took %v", h.name, (late + cancelAfter).Round(time.Millisecond))
		case code(err) != "57014":
			t.Errorf("%s: %v after %v, want 57014", h.name, err, late+cancelAfter)
		case late > cancelLimit:
			t.Errorf("%s: ended %v after the timeout", h.name, late.Round(time.Millisecond))
		case late > cancelGoal:
			t.Logf("%s: ended %v after the timeout", h.name, late.Round(time.Millisecond))
		}
	}
	t.Logf("%d statements ended at most %v after their timeout", len(heavy), worst.Round(time.Millisecond))
}

func set(t *testing.T, c *pgconn.PgConn, what string) {
	t.Helper()
	if _, err := c.Exec(context.Background(), "SET "+what).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// drain runs a statement and forgets its rows.
func drain(c *pgconn.PgConn, sql string) error {
	if len(sql) > 4 && sql[:4] == "COPY" {
		_, err := c.CopyTo(context.Background(), io.Discard, sql)
		return err
	}
	r := c.Exec(context.Background(), sql)
	for r.NextResult() {
		for rows := r.ResultReader(); rows.NextRow(); {
		}
	}
	return r.Close()
}

// endless runs for ever.
const endless = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b WHERE a + b < 0"

// TestCancelRequest lets another connection of the client end the statement.
func TestCancelRequest(t *testing.T) {
	c := connect(t, harness.StartTSDB(t, colstore.Options{}).URL())
	done := make(chan error, 1)
	go func() { done <- drain(c, endless) }()
	time.Sleep(cancelAfter)
	begin := time.Now()
	if err := c.CancelRequest(context.Background()); err != nil {
		t.Fatal(err)
	}
	err := <-done
	if late := time.Since(begin); code(err) != "57014" || late > cancelLimit {
		t.Errorf("%v after %v, want 57014", err, late)
	} else {
		t.Logf("ended %v after the request", late.Round(time.Millisecond))
	}
	if got, err := value(c, "SELECT 'goes on'"); err != nil || got != "goes on" {
		t.Errorf("the next statement: %s, %v", got, err)
	}
}

// TestDisconnect closes the client's socket: its statement ends, and the session.
func TestDisconnect(t *testing.T) {
	s := harness.StartTSDB(t, colstore.Options{})
	watcher, c := connect(t, s.URL()), connect(t, s.URL())
	sessions := func() string {
		v, err := value(watcher, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%FROM generate_series%' AND pid <> pg_backend_pid()")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	go func() { _ = drain(c, endless) }()
	for end := time.Now().Add(5 * time.Second); sessions() != "1"; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the statement is not seen")
		}
	}
	begin := time.Now()
	if err := c.Conn().Close(); err != nil {
		t.Fatal(err)
	}
	for sessions() != "0" {
		if time.Since(begin) > 3*time.Second {
			t.Fatalf("the statement goes on %v after its client is gone", time.Since(begin))
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("ended %v after the client", time.Since(begin).Round(time.Millisecond))
}
