package colstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
)

// TestWritersOfEqualKeys lets several writers put rows with keys of a small set
// into tables with every conflict mode, large transactions among them, while
// blocks are flushed and merged. In the end each key that was acknowledged is
// there, once.
func TestWritersOfEqualKeys(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	s := mustOpen(t, vfs.NewMem(), Options{Memory: 16 << 20, StageBytes: 16 << 10, SegmentRows: 500})
	defer mustClose(t, s)
	modes := []table.Conflict{table.ConflictError, table.ConflictIgnore, table.ConflictReplace}
	for i, mode := range modes {
		c := readings(uint64(100 * (i + 1)))
		c.Conflict = mode
		create(t, s, c)
	}
	var mu sync.Mutex
	acknowledged := make([]map[string]bool, len(modes))
	for i := range acknowledged {
		acknowledged[i] = map[string]bool{}
	}
	write := func(rng *rand.Rand) error {
		k := rng.IntN(len(modes))
		n := 1 + rng.IntN(6)
		if rng.IntN(10) == 0 {
			n = 700
		}
		var rows []reading
		for range n {
			rows = append(rows, reading{fmt.Sprint("s", rng.IntN(4)), rng.Int64N(500) * 40_000_000_000, rng.Float64()})
		}
		tx := s.Begin()
		_, err := tx.Append(ctx, table.ID(100*(k+1)), readingBatch(rows...))
		if err == nil {
			time.Sleep(time.Duration(rng.IntN(300)) * time.Microsecond)
			err = tx.Commit(ctx, false, nil)
		} else {
			tx.Rollback()
		}
		var dup *table.DuplicateKeyError
		if errors.As(err, &dup) && modes[k] == table.ConflictError {
			return nil
		}
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, r := range rows {
			acknowledged[k][fmt.Sprintf("%s|%d|", r.station, r.ts)] = true
		}
		return nil
	}
	stop := make(chan struct{})
	var writers, beside sync.WaitGroup
	beside.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := s.Vacuum(ctx, nil, nil); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for w := range 4 {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			for range 150 {
				if err := write(rng); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	beside.Wait()
	sn := s.Snapshot()
	defer sn.Close()
	for k := range modes {
		seen := map[string]bool{}
		for _, row := range rowsOf(t, sn, table.ID(100*(k+1)), table.ScanRequest{Columns: []int{0, 1}}) {
			if seen[row] {
				t.Fatalf("mode %d: key %s twice", modes[k], row)
			}
			seen[row] = true
		}
		for key := range acknowledged[k] {
			if !seen[key] {
				t.Fatalf("mode %d: key %s is lost", modes[k], key)
			}
		}
		if len(seen) != len(acknowledged[k]) {
			t.Fatalf("mode %d: %d keys, %d were acknowledged, the first: %s", modes[k], len(seen), len(acknowledged[k]), strings.Join(rowsOf(t, sn, 100, table.ScanRequest{Columns: []int{0, 1}})[:1], ""))
		}
	}
}
