package colstore

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// diskUsage returns the bytes of the files of a data directory without the
// ballast.
func diskUsage(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, ballastName) {
			return nil // files come and go
		}
		if i, err := d.Info(); err == nil {
			n += i.Size()
		}
		return nil
	})
	check(t, err)
	return n
}

// loadReadings appends rows of 100 stations, one a second each from start on.
func loadReadings(t testing.TB, s *Store, id table.ID, start int64, rows int) {
	t.Helper()
	x := uint64(start) + 1
	for from := 0; from < rows; from += 20_000 {
		var list []reading
		for i := from; i < min(rows, from+20_000); i++ {
			x = x*6364136223846793005 + 1442695040888963407
			list = append(list, reading{fmt.Sprint("station ", i%100), start + int64(i/100)*1_000_000, float64(x>>40) / 8})
		}
		insert(t, s, id, readingBatch(list...))
	}
}

// TestSpaceComesBack fills a table in a real directory and takes its rows away
// in each way: the files must be gone soon, without VACUUM.
func TestSpaceComesBack(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for name, empty := range map[string]func(s *Store){
		"drop": func(s *Store) {
			tx := s.Begin()
			check(t, tx.DropTable(100))
			check(t, tx.Commit(ctx, true, nil))
		},
		"delete": func(s *Store) {
			tx := s.Begin()
			sn := tx.Snapshot()
			schema := readings(100)
			all, err := readAll(t, sn, schema, table.ScanRequest{Columns: []int{0, 1, 2, 3}, RowIDs: true})
			check(t, err)
			n, err := tx.Delete(ctx, sn, 100, all.ids, nil)
			check(t, err)
			if n != 200_000 {
				t.Fatalf("%d rows deleted", n)
			}
			sn.Close()
			check(t, tx.Commit(ctx, true, nil))
		},
		"expire": func(s *Store) {
			schema := readings(100)
			schema.Retention = 3600 * 1_000_000
			tx := s.Begin()
			check(t, tx.AlterTable(schema))
			check(t, tx.Commit(ctx, true, nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits for the background
			dir := t.TempDir()
			s, err := Open(dir, Options{Memory: 16 << 20, Clock: func() time.Time { return now }})
			check(t, err)
			defer mustClose(t, s)
			create(t, s, readings(100))
			start := now.Add(-24 * time.Hour).UnixMicro()
			loadReadings(t, s, 100, start, 100_000)
			if name == "delete" {
				time.Sleep(2*tick + tick/2) // the engine merges its files meanwhile
			}
			loadReadings(t, s, 100, start+1000*1_000_000, 100_000)
			check(t, s.Flush())
			full := diskUsage(t, dir)
			empty(s)
			began := time.Now()
			for diskUsage(t, dir) > full/10 {
				if time.Since(began) > 30*time.Second {
					t.Fatalf("%d of %d bytes are left after 30 s", diskUsage(t, dir), full)
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Logf("%d bytes, %d after %s", full, diskUsage(t, dir), time.Since(began).Round(time.Millisecond))
			sn := s.Snapshot()
			defer sn.Close()
			if st := sn.Stats(100); st.Rows != 0 {
				t.Fatalf("%d rows are left", st.Rows)
			}
		})
	}
}

// TestRetention moves the clock: scans hide rows at once, flushes and merges
// leave them out, whole segments go.
func TestRetention(t *testing.T) {
	const hour = 3600 * 1_000_000
	var now atomic.Int64 // the background reads it, too
	now.Store(1_700_000_000 * 1_000_000)
	s := mustOpen(t, vfs.NewMem(), Options{Clock: func() time.Time { return time.UnixMicro(now.Load()) }})
	defer mustClose(t, s)
	schema := readings(100)
	schema.Retention, schema.Bucket, schema.Unique, schema.Key = 10*hour, hour, false, nil
	create(t, s, schema)
	at := func(hours int64) int64 { return now.Load() + hours*hour }
	old, edge, fresh := at(-11), at(-9), at(-1)
	b := readingBatch(reading{"a", old, 1}, reading{"a", edge, 2}, reading{"a", edge + 1, 3}, reading{"a", fresh, 4},
		reading{"a", 1<<63 - 1, 5}, reading{"a", -1 << 63, 6}, reading{"a", 0, 7})
	b.Cols[1].SetNull(6)
	want := func(n int) {
		t.Helper()
		sn := s.Snapshot()
		defer sn.Close()
		if rows := rowsOf(t, sn, 100, table.ScanRequest{Columns: []int{1}}); len(rows) != n {
			t.Fatalf("%d rows, want %d: %v", len(rows), n, rows)
		}
	}
	insert(t, s, 100, b)
	want(6)
	check(t, s.Flush())
	want(6)
	stored := func(n int64) {
		t.Helper()
		got := int64(0)
		for _, g := range s.find(100).segs.segs {
			got += g.info.Rows
		}
		if v := s.find(100); got != n || v.rows != n {
			t.Fatalf("%d rows are stored, %d counted, want %d", got, v.rows, n)
		}
	}
	stored(6)
	now.Add(hour + 1) // the row at edge expires, its neighbour does not
	want(5)
	insert(t, s, 100, readingBatch(reading{"b", edge + 2, 1}))
	check(t, s.Flush())
	_, err := s.compactTable(ctx, 100, true)
	check(t, err)
	stored(6)
	want(6)
	now.Add(hour)
	want(4)
	_, err = s.compactTable(ctx, 100, false)
	check(t, err)
	stored(4)
	if w := s.WriteStats(); w.ExpiredRows != 4 {
		t.Fatalf("%d rows expired, want 4", w.ExpiredRows)
	}
	now.Add(1000 * hour)
	check(t, s.Vacuum(ctx, nil, nil))
	stored(3)
	want(3)
	ownedChunks(t, s)
}

// TestWriteStats counts what one transaction and a merge of its rows write.
func TestWriteStats(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, readings(100))
	insert(t, s, 100, readingBatch(reading{"ab", 1, 1}, reading{"abc", 2, 2}, reading{"abcd", 3, 3}))
	w := s.WriteStats()
	// Rows of 2+8+8, 3+8+8+6 and 4+8+8+6 bytes: the note of the first is NULL.
	if w.Rows != 3 || w.LogicalBytes != 18+25+26 || w.LogBytes == 0 || w.LogSyncs < 2 || w.FlushBytes != 0 {
		t.Fatalf("after a commit %+v", w)
	}
	check(t, s.Flush())
	insert(t, s, 100, readingBatch(reading{"ab", 10, 1}))
	check(t, s.Flush())
	w = s.WriteStats()
	if w.Flushes != 2 || w.FlushBytes == 0 || w.CompactBytes != 0 {
		t.Fatalf("after two flushes %+v", w)
	}
	check(t, s.Vacuum(ctx, nil, nil))
	w = s.WriteStats()
	if w.Compactions == 0 || w.CompactBytes == 0 || w.SweptSegments != 2 || w.Rows != 4 {
		t.Fatalf("after a merge %+v", w)
	}
	if n := naturalBytes([]*vector.Vector{{Kind: vector.Bool, N: 9, Bits: vector.NewBitmap(9, true)}}, 9); n != 9 {
		t.Fatalf("nine booleans take %d bytes", n)
	}
}
