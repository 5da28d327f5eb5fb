package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"tsdb/bench/tsbs"
	"tsdb/colstore"
	"tsdb/tests/harness"
)

// unflushed keeps all rows in the log and in memory: thresholds no load reaches.
var unflushed = colstore.Options{Memory: 8 << 30, FlushBytes: 1 << 40, StageBytes: 1 << 40}

// TestRecoveryChild is the process that TestRecovery kills: it loads rows and
// waits.
func TestRecoveryChild(t *testing.T) {
	dir := os.Getenv("TSDB_BENCH_CHILD")
	if dir == "" {
		t.Skip("part of TestRecovery")
	}
	s := harness.StartTSDBAt(t, dir, unflushed)
	loadCPU(t, connect(t, s.URL()), recoveryRows())
	fmt.Println("loaded")
	select {}
}

func recoveryRows() tsbs.Options {
	return tsbs.Options{Hosts: 4000, Rows: scaled(1_000_000, 10_000_000), Seed: 6}
}

// TestRecovery kills a process with all rows unflushed and opens its directory.
func TestRecovery(t *testing.T) {
	enabled(t)
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run=^TestRecoveryChild$", "-test.timeout=30m")
	c.Env = append(os.Environ(), "TSDB_BENCH_CHILD="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	loaded := false
	for in := bufio.NewScanner(out); !loaded && in.Scan(); {
		loaded = in.Text() == "loaded"
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if !loaded {
		t.Fatal("the child failed")
	}
	rows := recoveryRows().Rows
	t0 := time.Now()
	s := harness.StartTSDBAt(t, dir, unflushed)
	conn := connect(t, s.URL())
	run(t, conn, "SELECT 1")
	took := time.Since(t0)
	fmt.Printf("recovery of %d unflushed rows after SIGKILL: serving after %v (at most 5 s for 10 M)\n", rows, took.Round(time.Millisecond))
	if got := value(t, conn, "SELECT count(*) FROM cpu"); got != fmt.Sprint(rows) {
		t.Errorf("%s rows, want %d", got, rows)
	}
	if limit := tolerance * (500*time.Millisecond + time.Duration(float64(rows)/10e6*4.5e9)); took > limit {
		t.Errorf("recovery took %v", took)
	}
	conn.Close(context.Background())
}
