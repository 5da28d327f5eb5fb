package bench

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/tests/harness"
)

// residentFactor bounds what the process may have resident in relation to
// --memory: besides the budget there are the code, stacks, buffers of
// connections and what Go's collector leaves between two of its rounds.
const residentFactor = 2

var blocksScanned = regexp.MustCompile(`Blocks: (\d+) scanned`)

// scannedBlocks explains a query of one series and returns its count of rows
// and of blocks.
func scannedBlocks(t *testing.T, c *pgconn.PgConn, series int) (rows string, blocks int) {
	t.Helper()
	q := fmt.Sprintf("SELECT count(*) FROM points WHERE series = %d", series)
	for _, r := range run(t, c, "EXPLAIN (ANALYZE) "+q)[0].Rows {
		if m := blocksScanned.FindSubmatch(r[0]); m != nil {
			blocks, _ = strconv.Atoi(string(m[1]))
		}
	}
	return value(t, c, q), blocks
}

// TestManySeries loads five rows of very many series, all series at each
// instant, under a small memory budget.
func TestManySeries(t *testing.T) {
	enabled(t)
	const points = 5
	series, memory := scaled(300_000, 10_000_000), "512MB"
	if !full {
		memory = "64MiB"
	}
	budget := int64(scaled(64<<20, 512_000_000))
	bin, dir := harness.BuildTSDB(t), filepath.Join(t.TempDir(), "data")
	p := harness.StartProcess(t, bin, dir, memory)
	c := p.Dial(t)
	idle := p.PeakMemory()
	run(t, c, "CREATE TABLE points (series bigint, time timestamptz, value bigint, PRIMARY KEY (series, time))")
	t0 := time.Now()
	var buf bytes.Buffer
	send := func() {
		if _, err := c.CopyFrom(context.Background(), &buf, "COPY points FROM STDIN"); err != nil {
			t.Fatalf("%v\n%s", err, p.Log())
		}
		buf.Reset()
	}
	var line []byte
	for point := range points {
		stamp := fmt.Sprintf("\t2024-01-01 00:%02d:00+00\t", point)
		for s := range series {
			line = append(strconv.AppendInt(line[:0], int64(s), 10), stamp...)
			line = append(strconv.AppendInt(line, int64(s+point), 10), '\n')
			if buf.Write(line); s%1_000_000 == 999_999 {
				send()
			}
		}
		send()
	}
	took := time.Since(t0)
	run(t, c, "VACUUM")
	one := func(when string) {
		t0 := time.Now()
		rows, blocks := scannedBlocks(t, c, series/3)
		fmt.Printf("%d series of %d rows, one series %s: %d blocks read, %v with EXPLAIN ANALYZE\n", series, points, when, blocks, time.Since(t0).Round(10*time.Microsecond))
		if rows != strconv.Itoa(points) || blocks > 2*points || blocks == 0 {
			t.Errorf("one series %s: %s rows from %d blocks", when, rows, blocks)
		}
	}
	one("after VACUUM")
	peak := p.PeakMemory()
	fmt.Printf("%d series of %d rows under --memory %s: loaded in %v (%.2f M rows/s), at most %d MB resident (%d MB idle)\n", series, points, memory,
		took.Round(time.Millisecond), float64(series*points)/took.Seconds()/1e6, peak>>20, idle>>20)
	if peak > residentFactor*budget+idle {
		t.Errorf("%d MB resident under --memory %s", peak>>20, memory)
	}
	c.Close(context.Background())
	p.Kill()
	p = harness.StartProcess(t, bin, dir, memory)
	c = p.Dial(t)
	one("after a restart")
	c.Close(context.Background())
	p.Stop(t)
}
