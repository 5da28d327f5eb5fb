package colstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
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

// TestCrashWhileCompacting crashes after every file operation of a VACUUM that
// merges segments with deleted rows, drops others and sweeps: each state that
// may be left must show the same rows and no chunk without an owner.
func TestCrashWhileCompacting(t *testing.T) {
	type crash struct {
		op string
		fs *vfs.MemFS
	}
	mem := vfs.NewCrashableMem()
	var hook atomic.Pointer[func(op string)]
	fs := &hookFS{FS: mem, after: func(op string) {
		if f := hook.Load(); f != nil {
			(*f)(op)
		}
	}}
	s := mustOpen(t, fs, Options{SegmentRows: 300})
	plain := readings(300)
	plain.Key, plain.Unique = nil, false
	create(t, s, readings(100), plain)
	for f := range 4 {
		var rows []reading
		for i := range 200 {
			rows = append(rows, reading{fmt.Sprint("s", i%7), int64(i*4+f) * 3_600_000_000, float64(i)})
		}
		insert(t, s, 100, readingBatch(rows...))
		insert(t, s, 300, readingBatch(rows[:50]...))
		check(t, s.Flush())
	}
	remove := func(id table.ID, schema table.Schema, gone func(i int) bool) {
		tx := s.Begin()
		sn := tx.Snapshot()
		defer sn.Close()
		all, err := readAll(t, sn, schema, table.ScanRequest{Columns: []int{0, 1, 2, 3}, RowIDs: true})
		check(t, err)
		sel := []int32{}
		for i := range all.rows.N {
			if gone(i) {
				sel = append(sel, int32(i))
			}
		}
		_, err = tx.Delete(ctx, sn, id, all.ids, sel)
		check(t, err)
		check(t, tx.Commit(ctx, true, nil))
	}
	remove(100, readings(100), func(i int) bool { return i%5 == 0 })
	insert(t, s, 100, readingBatch(reading{"in memory", 1, 1}))
	want := contents(s, t)

	rng := rand.New(rand.NewPCG(3, 4))
	crashes := make(chan crash, 64)
	var mu sync.Mutex
	ops := 0
	after := func(op string) {
		mu.Lock()
		defer mu.Unlock()
		ops++
		for _, percent := range []int{0, 50, 100} {
			fs.linking.Lock()
			clone := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
			fs.linking.Unlock()
			crashes <- crash{fmt.Sprintf("%d %s (%d%% kept)", ops, op, percent), clone}
		}
	}
	hook.Store(&after)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c := range crashes {
			s, err := Open("db", Options{FS: c.fs, Memory: 16 << 20})
			if err != nil {
				t.Errorf("after %s: open: %v", c.op, err)
				continue
			}
			if got := contents(s, t); got != want {
				t.Errorf("after %s: got\n%.1000s\nwant\n%.1000s", c.op, got, want)
			}
			ownedChunks(t, s)
			check(t, s.Close())
		}
	}()
	check(t, s.Vacuum(ctx, nil, nil))
	if n := overlapping(s, 100); n != 0 {
		t.Fatalf("%d pairs of segments overlap", n)
	}
	mustClose(t, s)
	close(crashes)
	<-done
	t.Logf("%d file operations", ops)
}

// TestCloseEndsCompaction closes under a merge, which ends and leaves no file.
func TestCloseEndsCompaction(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	create(t, s, readings(100))
	for f := range 2 {
		loadReadings(t, s, 100, int64(f)*500_000, 20_000)
		check(t, s.Flush())
	}
	s.closed.Store(true)
	_, err := s.compactTable(ctx, 100, true)
	if !errors.Is(err, ErrClosed) {
		t.Fatalf("compaction of a closing store: %v", err)
	}
	s.closed.Store(false)
	left, err := s.fs.List(s.fs.PathJoin(s.dir, stagingDir))
	check(t, err)
	if len(left) > 0 {
		t.Fatalf("files are left: %v", left)
	}
	mustClose(t, s)
}
