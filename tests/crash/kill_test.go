// Package crash kills a real server process in the middle of loading and
// changing rows and checks what a restarted one finds: nothing acknowledged
// lost, nothing half visible, nothing doubled.
package crash

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/tests/harness"
)

const (
	// defaultRounds is how often the server is killed; TSDB_KILL_ROUNDS overrides it.
	defaultRounds = 3
	// freshEvery is the number of rounds after which the tables are dropped and
	// made anew, so that a round of a long run takes no longer than one of a short.
	freshEvery = 20
	// memory is the least that the server takes: a table's rows are flushed every
	// few megabytes.
	memory = "64MiB"
)

func rounds(t *testing.T) int {
	s := os.Getenv("TSDB_KILL_ROUNDS")
	if s == "" {
		return defaultRounds
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func seed(t *testing.T) uint64 {
	if s := os.Getenv("TSDB_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return uint64(time.Now().UnixNano())
}

func exec(c *pgconn.PgConn, sql string) error {
	_, err := c.Exec(context.Background(), sql).ReadAll()
	return err
}

func mustExec(t *testing.T, c *pgconn.PgConn, sql string) {
	t.Helper()
	if err := exec(c, sql); err != nil {
		t.Fatalf("%v: %.200s", err, sql)
	}
}

// round lets all workers run until the server is killed, restarts it and
// checks what it finds.
func round(t *testing.T, p *harness.Process, restart func() *harness.Process, workers []worker, wait time.Duration) *harness.Process {
	t.Helper()
	var wg sync.WaitGroup
	for _, w := range workers {
		conn := p.Dial(t)
		wg.Go(func() {
			for w.step(conn) == nil {
			}
		})
	}
	time.Sleep(wait)
	p.Kill()
	wg.Wait()
	p = restart()
	c := p.Dial(t)
	defer c.Close(context.Background())
	for _, w := range workers {
		w.check(t, c)
	}
	return p
}

func TestKillLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills server processes")
	}
	n, s := rounds(t), seed(t)
	t.Logf("%d rounds, seed %d (TSDB_SEED repeats the choice of times)", n, s)
	rng := rand.New(rand.NewPCG(s, 1))
	bin := harness.BuildTSDB(t)
	dir := filepath.Join(t.TempDir(), "data")
	start := func() *harness.Process { return harness.StartProcess(t, bin, dir, memory, "--log-level", "warn") }
	p := start()
	var workers []worker
	statements, begun := 0, time.Now()
	for i := range n {
		if i%freshEvery == 0 {
			for _, w := range workers {
				statements += w.acknowledged()
			}
			c := p.Dial(t)
			workers = newWorkers(t, c, i)
			c.Close(context.Background())
		}
		p = round(t, p, start, workers, time.Duration(50+rng.IntN(700))*time.Millisecond)
		if t.Failed() {
			t.Fatalf("round %d, seed %d; the server's log:\n%s", i, s, p.Log())
		}
	}
	for _, w := range workers {
		statements += w.acknowledged()
	}
	t.Logf("%d rounds in %v, %d statements acknowledged", n, time.Since(begun).Round(time.Millisecond), statements)
	if statements < n {
		t.Errorf("only %d statements were acknowledged", statements)
	}
	p.Stop(t)
}
