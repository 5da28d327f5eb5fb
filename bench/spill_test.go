package bench

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// spillRows of 80 bytes and more are 640 MB: ten times the server's memory.
	spillRows = 8_000_000
	// spillResident bounds the process: its budget, the 64 MiB that Go's collector
	// is allowed besides, and what of them it has not given back yet.
	spillResident = 192 << 20
)

// TestSpill aggregates, joins and sorts 640 MB with a server of 64 MB. The
// answers are known: the keys are a permutation of the numbers below spillRows.
func TestSpill(t *testing.T) {
	enabled(t)
	dir := t.TempDir()
	c, pid := serveSmall(t, dir)
	const n, sum = spillRows, int64(spillRows) * (spillRows - 1) / 2
	rows := fmt.Sprintf("generate_series(0::bigint, %d) g", n-1)

	aggregate := fmt.Sprintf(`SELECT count(*), sum(n), sum(s), min(length(k)) FROM
		(SELECT lpad(((g * 7919) %% %d)::text, 80, 'x') AS k, count(*) AS n, sum(g) AS s FROM %s GROUP BY 1) q`, n, rows)
	spillCheck(t, c, pid, "aggregate", aggregate, fmt.Sprintf("%d %d %d 80", n, n, sum))

	side := func(by int, pad string) string {
		return fmt.Sprintf("(SELECT g, (g * %d) %% %d AS k, lpad(g::text, 70, '%s') AS pad FROM %s)", by, n, pad, rows)
	}
	join := fmt.Sprintf(`SELECT count(*), sum(a.k), sum(length(a.pad)), sum(length(b.pad)),
		count(*) FILTER (WHERE a.g * 7919 %% %d = b.g * 104729 %% %d) FROM %s a JOIN %s b ON a.k = b.k`,
		n, n, side(7919, "x"), side(104729, "y"))
	spillCheck(t, c, pid, "join", join, fmt.Sprintf("%d %d %d %d %d", n, sum, 70*n, 70*n, n))

	begin := time.Now()
	resetPeak(t, pid)
	r := c.ExecParams(context.Background(), fmt.Sprintf("SELECT (g * 7919) %% %d AS k, lpad(g::text, 80, 'z') FROM %s ORDER BY 1", n, rows),
		nil, nil, nil, nil)
	i := 0
	for ; r.NextRow(); i++ {
		v := r.Values()
		g, err := strconv.Atoi(strings.TrimLeft(string(v[1]), "z"))
		if k, e := strconv.Atoi(string(v[0])); err != nil || e != nil || k != i || g*7919%n != k {
			t.Fatalf("row %d is %s, %s", i, v[0], v[1])
		}
	}
	if _, err := r.Close(); err != nil || i != n {
		t.Fatalf("%d rows, %v", i, err)
	}
	spillReport(t, pid, "sort", begin)
	if left, err := os.ReadDir(filepath.Join(dir, "temporary")); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files left (%v)", len(left), err)
	}
}

func spillCheck(t *testing.T, c *pgconn.PgConn, pid int, what, query, want string) {
	t.Helper()
	begin := time.Now()
	resetPeak(t, pid)
	var got []string
	for _, v := range run(t, c, query)[0].Rows[0] {
		got = append(got, string(v))
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
	spillReport(t, pid, what, begin)
}

func spillReport(t *testing.T, pid int, what string, begin time.Time) {
	t.Helper()
	peak := peakResident(t, pid)
	fmt.Printf("%s of 640 MB with 64 MB: %v, at most %d MB resident\n", what, time.Since(begin).Round(time.Second/10), peak>>20)
	if peak > spillResident {
		t.Errorf("%s: the process took %d MB", what, peak>>20)
	}
}

// serveSmall builds tsdb and serves dir with 64 MB.
func serveSmall(t *testing.T, dir string) (*pgconn.PgConn, int) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "tsdb")
	if out, err := exec.Command("go", "build", "-o", binary, "tsdb/cmd/tsdb").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	s := exec.Command(binary, "serve", "--memory", "64MB", "--data", dir, "--listen", address)
	out, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Process.Kill()
		_ = s.Wait()
	})
	in := bufio.NewScanner(out)
	for in.Scan() && !strings.Contains(in.Text(), "serving") {
	}
	go func() {
		for in.Scan() { // so that the server can go on writing
		}
	}()
	return connect(t, "postgres://tsdb@"+address+"/tsdb"), s.Process.Pid
}

// resetPeak makes the kernel forget the peak of a process's resident memory.
func resetPeak(t *testing.T, pid int) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		t.Skipf("no peaks of resident memory here: %v", err)
	}
}

func peakResident(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
