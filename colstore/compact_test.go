package colstore

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
)

// TestRandomOperationsWhileCompacting flushes and compacts without a pause
// beside the random operations: deletes reach rows that move meanwhile.
func TestRandomOperationsWhileCompacting(t *testing.T) {
	randomOperations(t, 2, func(s *Store) func() {
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for id := table.ID(1); ; id = id%6 + 1 {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.flushTable(ctx, id); err != nil {
					t.Error(err)
					return
				}
				if _, err := s.compactTable(ctx, id, true); err != nil {
					t.Error(err)
					return
				}
				s.runSweeps()
			}
		}()
		return func() { close(stop); <-done }
	})
}

// overlapping returns how many pairs of segments of a table overlap in key
// order within a bucket.
func overlapping(s *Store, id table.ID) int {
	v := s.find(id)
	s.compactor.mu.Lock()
	defer s.compactor.mu.Unlock()
	_, list := s.describe(v)
	n := 0
	for i := range list {
		for k := range list[:i] {
			a, b := &list[i], &list[k]
			if a.Bucket == b.Bucket && string(a.First) < string(b.Last) && string(b.First) < string(a.Last) {
				n++
			}
		}
	}
	return n
}

// TestVacuumMerges loads in order, then late, with deletes in between.
func TestVacuumMerges(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentRows: 5000})
	create(t, s, readings(100))
	const hosts, flushes, per = 20, 6, 200
	for f := range flushes {
		var rows []reading
		for i := range per {
			for h := range hosts {
				rows = append(rows, reading{fmt.Sprintf("h%02d", h), int64((f*7%flushes)*per+i) * 1_000_000, float64(i)})
			}
		}
		insert(t, s, 100, readingBatch(rows...))
		check(t, s.Flush())
	}
	if n := overlapping(s, 100); n == 0 {
		t.Fatal("nothing overlaps before")
	}
	sn := s.Snapshot()
	want := rowsOf(t, sn, 100, all4)
	sn.Close()
	check(t, s.Vacuum(ctx, []table.ID{100}, nil))
	if n := overlapping(s, 100); n != 0 {
		t.Fatalf("%d pairs of segments overlap", n)
	}
	v := s.find(100)
	if n := len(v.segs.segs); n != 5 {
		t.Fatalf("%d segments, want 5", n)
	}
	for _, g := range v.segs.segs {
		if g.info.Column(0xFFFFFFFE) != nil {
			t.Fatal("a merged segment of long series has a bloom filter")
		}
		for i, r := range g.info.BlockRows {
			if int(r)+1 > 1024 || int(r)+1 < 256 && i < len(g.info.BlockRows)-1 {
				t.Fatalf("block %d has %d rows", i, int(r)+1)
			}
		}
	}
	ownedChunks(t, s)
	for range 2 {
		sn = s.Snapshot()
		equal(t, rowsOf(t, sn, 100, all4), want)
		if st := sn.Stats(100); st.Rows != hosts*flushes*per {
			t.Fatalf("%d rows", st.Rows)
		}
		sn.Close()
		mustClose(t, s)
		s = mustOpen(t, fs, Options{})
	}
	tx := s.Begin()
	_, err := tx.Append(ctx, 100, readingBatch(reading{"h03", 5_000_000, 1}))
	duplicate(t, err, 0, 0)
	tx.Rollback()
	mustClose(t, s)
}
