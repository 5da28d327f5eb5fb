package colstore

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
)

// rewrite changes a file of an in-memory file system.
func rewrite(t testing.TB, fs vfs.FS, name string, change func([]byte)) {
	t.Helper()
	f, err := fs.Open(name)
	check(t, err)
	content, err := io.ReadAll(f)
	check(t, err)
	check(t, f.Close())
	change(content)
	f, err = fs.Create(name, vfs.WriteCategoryUnspecified)
	check(t, err)
	_, err = f.Write(content)
	check(t, err)
	check(t, f.Sync())
	check(t, f.Close())
}

// backupWriter writes transactions of ten readings and one tag, numbered.
func backupWriter(s *Store, w int, acknowledged *atomic.Int64, stop <-chan struct{}) error {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		tx := s.Begin()
		var rows []reading
		for k := 0; k < 10; k++ {
			rows = append(rows, reading{fmt.Sprint("w", w), int64(i*10+k) * 1_000_000, float64(i)})
		}
		_, err := tx.Append(ctx, 100, readingBatch(rows...))
		if err == nil {
			_, err = tx.Append(ctx, 200, tagBatch(int32(w*1_000_000+i), fmt.Sprint(w, "-", i)))
		}
		if err == nil {
			err = tx.Commit(ctx, i%3 == 0, nil)
		}
		if err != nil {
			return err
		}
		acknowledged.Store(int64(i + 1))
	}
}

// TestBackupUnderLoad makes backups while writers commit and flushes run: each
// restored store has, of every writer, whole transactions up to one that is
// not older than the last acknowledged before the backup.
func TestBackupUnderLoad(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{Memory: 16 << 20, FlushBytes: 20_000, SegmentRows: 300})
	create(t, s, readings(100), tags(200))
	const writers = 3
	var acknowledged [writers]atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := backupWriter(s, w, &acknowledged[w], stop); err != nil {
				t.Error(err)
			}
		}()
	}
	var before [6][writers]int64
	for b := range before {
		for w := range writers {
			for acknowledged[w].Load() < int64(b*20) {
				runtime.Gosched()
			}
			before[b][w] = acknowledged[w].Load()
		}
		if _, err := s.Backup(ctx, fmt.Sprint("backup", b), BackupOptions{Link: b%2 == 0}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	mustClose(t, s)
	for b := range before {
		backup := fmt.Sprint("backup", b)
		found, _ := checkAll(t, fs, backup)
		equal(t, found, nil)
		data := fmt.Sprint("restored", b)
		if _, err := Restore(ctx, backup, data, Options{FS: fs}, BackupOptions{}); err != nil {
			t.Fatal(err)
		}
		restored, err := Open(data, Options{FS: fs, Memory: 16 << 20})
		check(t, err)
		wholePrefixes(t, restored, before[b][:])
		mustClose(t, restored)
	}
}

// wholePrefixes checks that each writer's transactions are there up to one not
// below its minimum, and nothing else.
func wholePrefixes(t *testing.T, s *Store, least []int64) {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Close()
	readings, tags := map[string]int64{}, map[string]int64{}
	for _, row := range rowsOf(t, sn, 100, table.ScanRequest{Columns: []int{0, 1}}) {
		w, ts, _ := strings.Cut(row, "|")
		n, err := strconv.ParseInt(strings.TrimSuffix(ts, "|"), 10, 64)
		check(t, err)
		readings[w]++
		tags[w] = max(tags[w], n/10_000_000+1)
	}
	byWriter := map[string]int64{}
	for _, row := range rowsOf(t, sn, 200, table.ScanRequest{Columns: []int{0}}) {
		n, err := strconv.ParseInt(strings.TrimSuffix(row, "|"), 10, 64)
		check(t, err)
		byWriter[fmt.Sprint("w", n/1_000_000)]++
	}
	for w, want := range least {
		name := fmt.Sprint("w", w)
		if n := byWriter[name]; n < want || readings[name] != 10*n || tags[name] != n {
			t.Errorf("writer %d: %d tags, %d readings up to transaction %d; %d were acknowledged", w, n, readings[name], tags[name], want)
		}
	}
}

func TestRestoreVerifies(t *testing.T) {
	fs := vfs.NewMem()
	filled(t, fs)
	var last, all int64
	m, err := BackupOffline(ctx, "db", "backup", Options{FS: fs}, BackupOptions{Version: "9", Progress: func(d, a int64) { last, all = d, a }})
	check(t, err)
	if last != all || all != m.Bytes() || m.Program != "tsdb 9" || len(m.Files) < 4 {
		t.Errorf("progress %d of %d, manifest %+v", last, all, m)
	}
	if _, err := BackupOffline(ctx, "db", "backup", Options{FS: fs}, BackupOptions{}); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("backup into a backup: %v", err)
	}
	if _, err := Restore(ctx, "db", "other", Options{FS: fs}, BackupOptions{}); !errors.Is(err, ErrNoBackup) {
		t.Errorf("restore from a data directory: %v", err)
	}
	if _, err := Restore(ctx, "backup", "db", Options{FS: fs}, BackupOptions{}); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("restore over a data directory: %v", err)
	}
	for _, f := range m.Files {
		if f.Bytes == 0 {
			continue
		}
		name := fs.PathJoin("backup", f.Name)
		rewrite(t, fs, name, func(b []byte) { b[len(b)/2] ^= 1 })
		var bad *table.CorruptionError
		if _, err := Restore(ctx, "backup", "other", Options{FS: fs}, BackupOptions{}); !errors.As(err, &bad) || bad.File != f.Name {
			t.Errorf("restore with a flipped bit in %s: %v", f.Name, err)
		}
		if _, err := fs.Stat("other"); err == nil {
			t.Errorf("a failed restore leaves files behind")
		}
		if found, _ := checkAll(t, fs, "backup"); len(found) == 0 || !strings.Contains(found[0], f.Name) {
			t.Errorf("check with a flipped bit in %s found %q", f.Name, found)
		}
		rewrite(t, fs, name, func(b []byte) { b[len(b)/2] ^= 1 })
	}
	if _, err := Restore(ctx, "backup", "other", Options{FS: fs}, BackupOptions{Link: true}); err != nil {
		t.Fatal(err)
	}
	want, err := contentsOf(fs)
	check(t, err)
	check(t, fs.Rename("db", "first"))
	check(t, fs.Rename("other", "db"))
	if got, err := contentsOf(fs); err != nil || got != want {
		t.Errorf("the restored rows differ: %v", err)
	}
}
