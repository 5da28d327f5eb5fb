package colstore

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
)

// brokenFS fails writes and syncs of the files whose name holds a word, once
// it is told to.
type brokenFS struct {
	vfs.FS
	broken atomic.Pointer[string]
	free   atomic.Uint64
}

var errDisk = errors.New("input/output error")

func (f *brokenFS) fails(name string) bool {
	w := f.broken.Load()
	return w != nil && strings.Contains(name, *w)
}

type brokenFile struct {
	vfs.File
	fs   *brokenFS
	name string
}

func (f *brokenFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return &brokenFile{file, f, name}, err
}

func (f *brokenFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	if n := f.free.Load(); n > 0 {
		return vfs.DiskUsage{AvailBytes: n}, nil
	}
	return vfs.DiskUsage{}, errors.New("unsupported")
}

func (f *brokenFile) Write(p []byte) (int, error) {
	if f.fs.fails(f.name) {
		return 0, errDisk
	}
	return f.File.Write(p)
}

func (f *brokenFile) Sync() error {
	if f.fs.fails(f.name) {
		return errDisk
	}
	return f.File.Sync()
}

func (f *brokenFile) SyncData() error {
	if f.fs.fails(f.name) {
		return errDisk
	}
	return f.File.SyncData()
}

func (f *brokenFile) SyncTo(n int64) (bool, error) {
	if f.fs.fails(f.name) {
		return false, errDisk
	}
	return f.File.SyncTo(n)
}

// TestLostWriteIsNotAcknowledged breaks the log under commits: none may
// succeed from then on, reads go on, and reopening shows what was acknowledged.
func TestLostWriteIsNotAcknowledged(t *testing.T) {
	mem := vfs.NewCrashableMem()
	fs := &brokenFS{FS: mem}
	s := mustOpen(t, fs, Options{})
	create(t, s, readings(100))
	insert(t, s, 100, readingBatch(reading{"a", 1, 1}))
	word := ".log"
	fs.broken.Store(&word)
	for i := int64(2); i < 5; i++ {
		tx := s.Begin()
		_, err := tx.Append(ctx, 100, readingBatch(reading{"a", i, 1}))
		if err == nil {
			err = tx.Commit(ctx, true, nil)
		}
		var failed *table.FailedError
		if !errors.As(err, &failed) {
			t.Fatalf("commit over a broken log: %v", err)
		}
	}
	if s.Failed() == nil {
		t.Fatal("the store is not marked failed")
	}
	if err := s.Flush(); err == nil {
		t.Fatal("a failed store flushes")
	}
	sn := s.Snapshot()
	if n := len(rowsOf(t, sn, 100, all4)); n != 1 {
		t.Fatalf("%d rows visible, want 1", n)
	}
	sn.Close()
	s2 := mustOpen(t, mem.CrashClone(vfs.CrashCloneCfg{}), Options{})
	sn = s2.Snapshot()
	if n := len(rowsOf(t, sn, 100, all4)); n != 1 {
		t.Fatalf("%d rows after reopening, want 1", n)
	}
	sn.Close()
	mustClose(t, s2)
	_ = s.Close()
}

func TestSpaceGuard(t *testing.T) {
	fs := &brokenFS{FS: vfs.NewMem()}
	fs.free.Store(1 << 30)
	s := mustOpen(t, fs, Options{MinFreeBytes: 1 << 20})
	defer mustClose(t, s)
	create(t, s, readings(100))
	fs.free.Store(1 << 19)
	tx := s.Begin()
	_, err := tx.Append(ctx, 100, readingBatch(reading{"a", 1, 1}))
	check(t, err)
	var full *table.DiskFullError
	if err := tx.Commit(ctx, true, nil); !errors.As(err, &full) || full.Free != 1<<19 || full.Need != 1<<20 {
		t.Fatalf("commit on a full disk: %v", err)
	}
	fs.free.Store(1 << 30)
	insert(t, s, 100, readingBatch(reading{"a", 1, 1}))
}

func TestTransactionSeesItsOwnWrites(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{StageBytes: 4 << 10, Memory: 16 << 20})
	defer mustClose(t, s)
	create(t, s, readings(100), tags(200))
	insert(t, s, 200, tagBatch(1, "one"))
	tx := s.Begin()
	count := func(sn *Snapshot, id table.ID) int {
		defer sn.Close()
		return len(rowsOf(t, sn, id, table.ScanRequest{Columns: []int{0}}))
	}
	var rows []reading
	for i := int64(0); i < 300; i++ {
		rows = append(rows, reading{"a", i, 1})
	}
	_, err := tx.Append(ctx, 100, readingBatch(rows...))
	check(t, err)
	early := tx.Snapshot()
	mark := tx.Savepoint()
	_, err = tx.Append(ctx, 100, readingBatch(reading{"b", 1, 1}, reading{"b", 2, 1}))
	check(t, err)
	_, err = tx.Append(ctx, 200, tagBatch(2, "two"))
	check(t, err)
	_, err = tx.Append(ctx, 200, tagBatch(0, "zero"))
	check(t, err)
	sn := tx.Snapshot()
	got := rowsOf(t, sn, 200, table.ScanRequest{Columns: []int{1}, Order: table.KeyOrder})
	equal(t, got, []string{"zero|", "one|", "two|"})
	got = rowsOf(t, sn, 200, table.ScanRequest{Columns: []int{1}, Order: table.KeyOrder, Reverse: true})
	equal(t, got, []string{"two|", "one|", "zero|"})
	sn.Close()
	if n := count(tx.Snapshot(), 100); n != 302 {
		t.Fatalf("%d own rows, want 302", n)
	}
	if n := count(s.Snapshot(), 100); n != 0 {
		t.Fatalf("others see %d rows", n)
	}
	tx.RollbackTo(mark)
	if a, b := count(tx.Snapshot(), 100), count(tx.Snapshot(), 200); a != 300 || b != 1 {
		t.Fatalf("%d and %d rows after the rollback, want 300 and 1", a, b)
	}
	check(t, tx.DropTable(200))
	sn = tx.Snapshot()
	if _, err := sn.Scan(200, table.ScanRequest{}); err != table.ErrUnknownTable {
		t.Fatalf("scan of a dropped table: %v", err)
	}
	sn.Close()
	published := false
	old := s.Snapshot()
	check(t, tx.Commit(ctx, true, func(show func()) { show(); published = true }))
	if !published {
		t.Fatal("onPublish did not run")
	}
	if n := count(early, 100); n != 300 {
		t.Fatalf("an early snapshot shows %d rows, want 300", n)
	}
	// A snapshot from before the drop keeps the rows.
	if n := count(old, 200); n != 1 {
		t.Fatalf("the old snapshot shows %d tags, want 1", n)
	}
	if n := count(s.Snapshot(), 100); n != 300 {
		t.Fatalf("%d rows committed, want 300", n)
	}
}

func TestDroppedChunksStayForReaders(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, readings(100))
	insert(t, s, 100, readingBatch(reading{"a", 1, 1}, reading{"b", 1, 1}))
	check(t, s.Flush())
	sn := s.Snapshot()
	tx := s.Begin()
	check(t, tx.DropTable(100))
	check(t, tx.Commit(ctx, true, nil))
	s.runSweeps()
	if n := len(rowsOf(t, sn, 100, all4)); n != 2 {
		t.Fatalf("%d rows, want 2", n)
	}
	sn.Close()
	s.runSweeps()
	ownedChunks(t, s)
}

func TestConflictModes(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	ignore, replace := readings(100), tags(200)
	ignore.Conflict, replace.Conflict = table.ConflictIgnore, table.ConflictReplace
	create(t, s, ignore, replace)
	insert(t, s, 200, tagBatch(1, "one"))
	insert(t, s, 200, tagBatch(1, "uno"))
	insert(t, s, 200, tagBatch(2, "one")) // free again
	tx := s.Begin()
	_, err := tx.Append(ctx, 200, tagBatch(3, "uno"))
	duplicate(t, err, 201, 0)
	tx.Rollback()
	// Both transactions hold the key; with ignore the second loses its row only.
	x, y := s.Begin(), s.Begin()
	_, err = x.Append(ctx, 100, readingBatch(reading{"a", 1, 1}))
	check(t, err)
	n, err := y.Append(ctx, 100, readingBatch(reading{"a", 1, 2}, reading{"a", 2, 2}, reading{"a", 2, 3}))
	check(t, err)
	if n != 2 {
		t.Fatalf("%d rows added, want 2", n)
	}
	check(t, x.Commit(ctx, true, nil))
	check(t, y.Commit(ctx, true, nil))
	sn := s.Snapshot()
	defer sn.Close()
	equal(t, rowsOf(t, sn, 100, table.ScanRequest{Columns: []int{0, 1, 2}}), []string{"a|1|1|", "a|2|2|"})
	equal(t, rowsOf(t, sn, 200, table.ScanRequest{Columns: []int{0, 1}}), []string{"1|uno|", "2|one|"})
	if st := sn.Stats(200); st.Rows != 2 {
		t.Fatalf("%d rows, want 2", st.Rows)
	}
}

// TestConcurrentWork runs writers, readers and flushes at once; each reader
// must see whole transactions.
func TestConcurrentWork(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{Memory: 16 << 20, FlushBytes: 30_000})
	create(t, s, readings(100), tags(200))
	const writers, turns = 4, 60
	var wg sync.WaitGroup
	for w := 0; w < writers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < turns; i++ {
				tx := s.Begin()
				var rows []reading
				for k := 0; k < 10; k++ {
					rows = append(rows, reading{fmt.Sprint("w", w), int64(i*10+k) * 1_000_000, float64(i)})
				}
				_, err := tx.Append(ctx, 100, readingBatch(rows...))
				if err == nil {
					_, err = tx.Append(ctx, 200, tagBatch(int32(w*1000+i), fmt.Sprint(w, "-", i)))
				}
				if err == nil {
					err = tx.Commit(ctx, i%2 == 0, nil)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for r := 0; r < 2; r++ {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				sn := s.Snapshot()
				a := countRows(t, sn, 100)
				b := countRows(t, sn, 200)
				sn.Close()
				if a != 10*b {
					t.Errorf("%d readings and %d tags in one snapshot", a, b)
					return
				}
			}
		}()
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	check(t, s.Flush())
	sn := s.Snapshot()
	if n := countRows(t, sn, 100); n != writers*turns*10 {
		t.Errorf("%d rows, want %d", n, writers*turns*10)
	}
	sn.Close()
	mustClose(t, s)
}

func countRows(t *testing.T, sn *Snapshot, id table.ID) int {
	sc, err := sn.Scan(id, table.ScanRequest{Columns: []int{0}})
	if err != nil {
		t.Error(err)
		return -1
	}
	r := sc.NewReader()
	defer r.Close()
	n := 0
	for {
		b, err := r.Next()
		if err != nil {
			t.Error(err)
			return -1
		}
		if b == nil {
			return n
		}
		n += b.N
	}
}

func TestMalformedRecords(t *testing.T) {
	s := wide(1, table.Columnar)
	s.Key, s.Unique = readings(1).Key[:0], false
	good := appendSchema(nil, &s)
	if got, err := decodeSchema(good); err != nil || fmt.Sprint(*got) != fmt.Sprint(s) {
		t.Fatalf("schema came back as %+v, %v", got, err)
	}
	for i := range good {
		_, _ = decodeSchema(good[:i])
		for x := 0; x < 256; x += 5 {
			bad := append([]byte(nil), good...)
			bad[i] = byte(x)
			_, _ = decodeSchema(bad)
		}
	}
	r := tags(200)
	row := appendRowValue(nil, &r, tagBatch(7, "seven").Cols, 0)
	d := newRowDecoder(&r)
	for i := range row {
		_ = d.split(row[:i])
		for x := 0; x < 256; x++ {
			bad := append([]byte(nil), row...)
			bad[i] = byte(x)
			if d.split(bad) == nil {
				_, _ = d.batch(bad)
			}
		}
	}
	if err := d.split([]byte{2}); err == nil {
		t.Error("an unknown row version is accepted")
	}
	b, err := d.batch(row)
	check(t, err)
	if printRow(b.Cols, 0) != "7|seven|" {
		t.Errorf("row came back as %s", printRow(b.Cols, 0))
	}
}
