package bench

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/bench/tsbs"
	"tsdb/colstore"
	"tsdb/tests/harness"
)

func copyFrom(t *testing.T, c *pgconn.PgConn, r io.Reader, options string) time.Duration {
	t.Helper()
	t0 := time.Now()
	if _, err := c.CopyFrom(context.Background(), r, "COPY cpu FROM STDIN"+options); err != nil {
		t.Fatal(err)
	}
	return time.Since(t0)
}

// loadCPU makes the table and loads the rows in COPYs of a million at most, as
// collectors do that send batches, and returns the time of the COPYs alone.
func loadCPU(t *testing.T, c *pgconn.PgConn, o tsbs.Options) time.Duration {
	t.Helper()
	run(t, c, o.CreateTable("", "cpu", tsbs.PrimaryKey))
	var took time.Duration
	g := tsbs.New(o)
	for {
		b := g.TextChunk(1_000_000)
		if len(b) == 0 {
			return took
		}
		took += copyFrom(t, c, strings.NewReader(string(b)), "")
	}
}

// kept is what a row takes: data, not the log, which is kept for the next
// records, nor the ballast, which is for the day when the disk is full.
func kept(name string) bool {
	return !strings.HasSuffix(name, ".log") && name != "BALLAST"
}

// settle waits until files that nothing needs any more are deleted, which goes
// on behind VACUUM.
func settle(t *testing.T, s *harness.Server) {
	t.Helper()
	same := 0
	for last, end := int64(-1), time.Now().Add(time.Minute); same < 5 && time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		size := harness.DiskUsage(t, s.Dir(), kept)
		if same++; size != last {
			same = 0
		}
		last = size
	}
}

func value(t *testing.T, c *pgconn.PgConn, sql string) string {
	t.Helper()
	return string(run(t, c, sql)[0].Rows[0][0])
}

func fastest(n int, f func()) time.Duration {
	best := time.Hour
	for range n {
		t0 := time.Now()
		f()
		best = min(best, time.Since(t0))
	}
	return best
}

// TestSize reports size, sum and filter of the same files.
func TestSize(t *testing.T) {
	enabled(t)
	for _, hosts := range []int{100, 4000} {
		rows := scaled(1_000_000, 4_000_000)
		if hosts == 4000 {
			rows = scaled(2_000_000, 10_000_000)
		}
		s := harness.StartTSDB(t, colstore.Options{Memory: 1 << 30})
		c := connect(t, s.URL())
		o := tsbs.Options{Hosts: hosts, Rows: rows, Seed: 3}
		took := loadCPU(t, c, o)
		run(t, c, "VACUUM")
		run(t, c, "CHECKPOINT")
		n := float64(rows)
		settle(t, s)
		all := harness.DiskUsage(t, s.Dir(), func(string) bool { return true })
		size := float64(harness.DiskUsage(t, s.Dir(), kept)) / n
		sum := fastest(5, func() { run(t, c, "SELECT sum(usage_user), sum(usage_system), sum(usage_idle) FROM cpu") })
		filter := fastest(5, func() { run(t, c, "SELECT count(*) FROM cpu WHERE usage_user > 90") })
		w := s.Store.WriteStats()
		fmt.Printf("%d hosts, %d rows: %.2f bytes a row on disk (goal 6.0; with log and ballast %.2f), loaded at %.2f M rows/s, "+
			"sum of 3 columns %v (%.2f G values/s), filter %v (%.2f G values/s), write amplification %.2f\n",
			hosts, rows, size, float64(all)/n, n/took.Seconds()/1e6, sum.Round(10*time.Microsecond), 3*n/sum.Seconds()/1e9,
			filter.Round(10*time.Microsecond), n/filter.Seconds()/1e9, w.Amplification())
		if got := value(t, c, "SELECT count(*) FROM cpu"); got != fmt.Sprint(rows) {
			t.Errorf("%s rows", got)
		}
		if size > 6 {
			t.Errorf("%d hosts: %.2f bytes a row", hosts, size)
		}
		c.Close(context.Background())
	}
}

// TestLate loads the same rows in order and with 30 % of them late.
func TestLate(t *testing.T) {
	enabled(t)
	rows := scaled(1_000_000, 10_000_000)
	const answer = "SELECT hostname, count(*), sum(usage_user), min(time), max(time), max(usage_guest_nice) FROM cpu GROUP BY hostname ORDER BY hostname"
	var took [2]time.Duration
	var answers [2]string
	for i, late := range []float64{0, 0.3} {
		s := harness.StartTSDB(t, colstore.Options{Memory: 512 << 20})
		c := connect(t, s.URL())
		took[i] = loadCPU(t, c, tsbs.Options{Hosts: 1000, Rows: rows, Seed: 4, Late: late})
		before := fmt.Sprint(run(t, c, answer)[0].Rows)
		run(t, c, "VACUUM")
		answers[i] = fmt.Sprint(run(t, c, answer)[0].Rows)
		if before != answers[i] {
			t.Error("VACUUM changed the answer")
		}
		w := s.Store.WriteStats()
		limit := []float64{3.5, 6}[i]
		fmt.Printf("%.0f %% late, %d rows: %v, write amplification %.2f (at most %.1f; log %d, flush %d, compaction %d, ingest %d of %d MB)\n", 100*late, rows,
			took[i].Round(time.Millisecond), w.Amplification(), limit, w.LogBytes>>20, w.FlushBytes>>20, w.CompactBytes>>20, w.IngestBytes>>20, w.LogicalBytes>>20)
		if w.Amplification() > limit {
			t.Errorf("%.0f %% late: write amplification %.2f", 100*late, w.Amplification())
		}
		c.Close(context.Background())
	}
	if answers[0] != answers[1] {
		t.Error("answers differ")
	}
	ratio := took[1].Seconds() / took[0].Seconds()
	fmt.Printf("30 %% late takes %.2f times the time of rows in order (at most 2)\n", ratio)
	if ratio > 2*tolerance {
		t.Errorf("30 %% late takes %.2f times the time", ratio)
	}
}
