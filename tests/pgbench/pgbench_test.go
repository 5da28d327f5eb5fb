// Package pgbench runs PostgreSQL's own benchmark against tsdb and checks that
// its accounts add up, and that disk space comes back.
package pgbench

import (
	"context"
	"net"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

func gated(t *testing.T) {
	if os.Getenv("TSDB_PGBENCH") == "" {
		t.Skip("takes a minute: set TSDB_PGBENCH=1, or run make pgbench")
	}
}

// program finds pgbench in PATH or where Debian puts it.
func program(t *testing.T) string {
	if p, err := exec.LookPath("pgbench"); err == nil {
		return p
	}
	const debian = "/usr/lib/postgresql/15/bin/pgbench"
	if _, err := os.Stat(debian); err != nil {
		t.Skip("pgbench is not installed")
	}
	return debian
}

func connect(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func value(t *testing.T, c *pgconn.PgConn, sql string) string {
	t.Helper()
	rs, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%v: %s", err, sql)
	}
	if last := rs[len(rs)-1]; len(last.Rows) > 0 {
		return string(last.Rows[0][0])
	}
	return ""
}

var (
	failedCount = regexp.MustCompile(`number of failed transactions: (\d+)`)
	throughput  = regexp.MustCompile(`(?m)^(latency average|tps|number of transactions actually processed).*$`)
)

func run(t *testing.T, addr string, args ...string) string {
	t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	out, err := exec.Command(program(t), append([]string{"-h", host, "-p", port, "-U", "tsdb"}, append(args, "tsdb")...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("pgbench %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestBalances(t *testing.T) {
	gated(t)
	s := harness.StartTSDB(t, colstore.Options{})
	run(t, s.Addr, "-i", "-s", "1")
	seconds := os.Getenv("TSDB_PGBENCH_SECONDS")
	if seconds == "" {
		seconds = "30"
	}
	for _, mode := range []string{"simple", "prepared"} {
		out := run(t, s.Addr, "-c", "8", "-j", "2", "-T", seconds, "-n", "-M", mode)
		for _, line := range throughput.FindAllString(out, -1) {
			t.Log(mode, line)
		}
		if m := failedCount.FindStringSubmatch(out); m == nil || m[1] != "0" {
			t.Errorf("transactions failed:\n%s", out)
		}
	}
	c := connect(t, s.URL())
	balances(t, c)
	s.Restart(t)
	balances(t, connect(t, s.URL()))
}

func balances(t *testing.T, c *pgconn.PgConn) {
	t.Helper()
	want := value(t, c, "SELECT sum(delta) FROM pgbench_history")
	for _, q := range []string{"SELECT sum(abalance) FROM pgbench_accounts", "SELECT sum(tbalance) FROM pgbench_tellers", "SELECT sum(bbalance) FROM pgbench_branches"} {
		if got := value(t, c, q); got != want {
			t.Errorf("%s: %s, the history adds up to %s", q, got, want)
		}
	}
	if n := value(t, c, "SELECT count(*) FROM pgbench_accounts"); n != "100000" {
		t.Errorf("%s accounts", n)
	}
}
