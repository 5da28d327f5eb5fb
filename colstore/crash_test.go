package colstore

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// hookFS calls after behind every operation that changes the file system.
type hookFS struct {
	vfs.FS
	after func(op string)
	// linking keeps clones out of Link: MemFS takes its clone lock twice there
	// and hangs when a clone waits in between.
	linking sync.Mutex
}

type hookFile struct {
	vfs.File
	fs   *hookFS
	name string
}

func (f *hookFS) wrap(file vfs.File, err error, op, name string, changed bool) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	if changed {
		f.after(op + " " + name)
	}
	return &hookFile{File: file, fs: f, name: name}, nil
}

func (f *hookFS) done(err error, op, name string) error {
	f.after(op + " " + name)
	return err
}

func (f *hookFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return f.wrap(file, err, "create", name, true)
}

func (f *hookFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.Open(name, opts...)
	return f.wrap(file, err, "open", name, false)
}

func (f *hookFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.OpenReadWrite(name, c, opts...)
	return f.wrap(file, err, "open", name, true)
}

func (f *hookFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	return f.wrap(file, err, "open directory", name, false)
}

func (f *hookFS) ReuseForWrite(o, n string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(o, n, c)
	return f.wrap(file, err, "reuse", n, true)
}

func (f *hookFS) Link(o, n string) error {
	f.linking.Lock()
	err := f.FS.Link(o, n)
	f.linking.Unlock()
	return f.done(err, "link", n)
}

func (f *hookFS) Remove(n string) error    { return f.done(f.FS.Remove(n), "remove", n) }
func (f *hookFS) RemoveAll(n string) error { return f.done(f.FS.RemoveAll(n), "remove all", n) }
func (f *hookFS) Rename(o, n string) error { return f.done(f.FS.Rename(o, n), "rename", n) }
func (f *hookFS) Unwrap() vfs.FS           { return f.FS }

func (f *hookFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.fs.done(err, "write", f.name)
}

func (f *hookFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(p, at)
	return n, f.fs.done(err, "write", f.name)
}

func (f *hookFile) Sync() error     { return f.fs.done(f.File.Sync(), "sync", f.name) }
func (f *hookFile) SyncData() error { return f.fs.done(f.File.SyncData(), "sync", f.name) }
func (f *hookFile) SyncTo(n int64) (bool, error) {
	full, err := f.File.SyncTo(n)
	return full, f.fs.done(err, "sync to", f.name)
}

// crashScript drives a store step by step and remembers what each step leaves.
type crashScript struct {
	mu       sync.Mutex
	states   []string // printed contents after each step
	durable  int      // states before this one may not come back
	inflight int      // states after this one may not show
	report   func(durable, inflight int)
}

func (c *crashScript) bounds() (durable, inflight int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.durable, c.inflight
}

// step runs a commit that ends in the state want.
func (c *crashScript) step(sync bool, want string, commit func() error) error {
	c.mu.Lock()
	c.states = append(c.states, want)
	c.inflight = len(c.states) - 1
	c.mu.Unlock()
	c.tell()
	err := commit()
	if sync && err == nil {
		c.mu.Lock()
		c.durable = len(c.states) - 1
		c.mu.Unlock()
		c.tell()
	}
	return err
}

func (c *crashScript) tell() {
	if c.report != nil {
		c.report(c.bounds())
	}
}

// contents prints all tables.
func contents(s *Store, t testing.TB) string {
	sn := s.Snapshot()
	defer sn.Close()
	var out []string
	for _, id := range []table.ID{100, 300, 400} {
		if _, err := sn.source(id); err == nil {
			rows := rowsOf(t, sn, id, all4)
			out = append(out, fmt.Sprintf("%d:%d:%s", id, len(rows), strings.Join(rows, " ")))
			if st := sn.Stats(id); st.Rows != int64(len(rows)) {
				t.Fatalf("table %d: statistics say %d rows, there are %d", id, st.Rows, len(rows))
			}
		}
	}
	if _, err := sn.source(200); err == nil {
		rows := rowsOf(t, sn, 200, table.ScanRequest{Columns: []int{0, 1}})
		out = append(out, fmt.Sprintf("200:%d:%s", len(rows), strings.Join(rows, " ")))
	}
	check(t, s.Meta(nil, func(k, v []byte) error {
		out = append(out, fmt.Sprintf("meta %s=%s", k, v))
		return nil
	}))
	return strings.Join(out, "\n")
}

// ownedChunks fails if a chunk has no segment row.
func ownedChunks(t testing.TB, s *Store) {
	t.Helper()
	st := s.current.Load()
	live := map[keys.SegmentID]bool{}
	for _, v := range st.tables {
		for _, g := range v.segs.segs {
			live[g.id] = true
		}
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{keys.SpaceData}, UpperBound: []byte{keys.SpaceData + 1}})
	check(t, err)
	for ok := it.First(); ok; ok = it.Next() {
		id, _, _, err := keys.DecodeData(it.Key())
		check(t, err)
		if !live[id] {
			t.Fatalf("chunk of dead segment %+v", id)
		}
	}
	check(t, it.Close())
}

type model struct {
	tables map[table.ID][]string
	meta   map[string]string
}

func (m *model) print() string {
	var out []string
	for _, id := range []table.ID{100, 300, 400, 200} {
		rows, ok := m.tables[id]
		if !ok {
			continue
		}
		rows = append([]string(nil), rows...)
		sort.Strings(rows)
		out = append(out, fmt.Sprintf("%d:%d:%s", id, len(rows), strings.Join(rows, " ")))
	}
	var ks []string
	for k := range m.meta {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	for _, k := range ks {
		out = append(out, fmt.Sprintf("meta %s=%s", k, m.meta[k]))
	}
	return strings.Join(out, "\n")
}

// run performs the scripted load: tables of both layouts, synced and unsynced
// commits, flushes, staged transactions, rollbacks and drops.
func (c *crashScript) run(t testing.TB, s *Store) {
	m := &model{tables: map[table.ID][]string{}, meta: map[string]string{}}
	n := int64(0)
	rows := func(tx *Tx, id table.ID, count int) {
		var rs []reading
		for i := 0; i < count; i++ {
			n++
			rs = append(rs, reading{fmt.Sprint("s", n%3), n * 1_000_000_000_000, float64(n)})
		}
		b := readingBatch(rs...)
		_, err := tx.Append(ctx, id, b)
		check(t, err)
		for r := 0; r < b.N; r++ {
			line := ""
			for _, col := range b.Cols {
				line += cell(col, r) + "|"
			}
			m.tables[id] = append(m.tables[id], line)
		}
	}
	tag := func(tx *Tx, k int32) {
		_, err := tx.Append(ctx, 200, tagBatch(k, fmt.Sprint("t", k)))
		check(t, err)
		m.tables[200] = append(m.tables[200], fmt.Sprintf("%d|t%d|", k, k))
	}
	meta := func(tx *Tx, k, v string) {
		check(t, tx.SetMeta([]byte(k), []byte(v)))
		m.meta[k] = v
	}
	// change deletes, or gives another value, to the rows of a table whose value
	// gone takes; value is that of the last column but one.
	change := func(tx *Tx, id table.ID, update bool, gone func(value float64) bool) {
		t.Helper()
		sn := tx.Snapshot()
		defer sn.Close()
		got, err := readAll(t, sn, readings(uint64(id)), table.ScanRequest{Columns: []int{0, 1, 2, 3}, RowIDs: true})
		check(t, err)
		kept := m.tables[id][:0:0]
		sel := []int32{}
		for i := 0; i < got.rows.N; i++ {
			if gone(got.rows.Cols[2].F64[i]) {
				sel = append(sel, int32(i))
				continue
			}
			kept = append(kept, printRow(got.rows.Cols, i))
		}
		if !update {
			_, err = tx.Delete(ctx, sn, id, got.ids, sel)
		} else {
			b := (&vector.Batch{Cols: append(got.rows.Cols, got.ids), N: got.rows.N, Sel: sel}).Clone()
			ids := b.Cols[4]
			b.Cols = b.Cols[:4]
			for i := 0; i < b.N; i++ {
				b.Cols[2].F64[i] += 0.5
				kept = append(kept, printRow(b.Cols, i))
			}
			_, err = tx.Update(ctx, sn, id, ids, b)
		}
		check(t, err)
		m.tables[id] = kept
	}
	below := func(x float64) func(float64) bool { return func(v float64) bool { return v < x } }
	commit := func(tx *Tx, sync bool) {
		t.Helper()
		check(t, c.step(sync, m.print(), func() error { return tx.Commit(ctx, sync, nil) }))
	}
	tx := s.Begin()
	check(t, tx.CreateTable(readings(100)))
	check(t, tx.CreateTable(tags(200)))
	m.tables[100], m.tables[200] = nil, nil
	meta(tx, "catalog", "1")
	commit(tx, true)

	for i := 0; i < 3; i++ { // all spaces in one transaction, the last two unsynced
		tx = s.Begin()
		rows(tx, 100, 5)
		tag(tx, int32(i))
		meta(tx, "turn", fmt.Sprint(i))
		commit(tx, i == 0)
	}
	tx = s.Begin() // rows in memory: one deleted, all changed
	change(tx, 100, false, below(2))
	commit(tx, false)
	tx = s.Begin()
	change(tx, 100, true, below(1e9))
	rows(tx, 100, 2)
	commit(tx, false)
	check(t, s.Flush())
	for i := 0; i < 2; i++ { // rows of segments, then all of some of them
		tx = s.Begin()
		change(tx, 100, i == 0, below(float64(4*i+5)))
		rows(tx, 100, 2)
		commit(tx, i == 1)
	}
	tx = s.Begin()
	change(tx, 100, false, below(14))
	commit(tx, false)

	tx = s.Begin() // a table of its own and a large transaction over two tables
	plain := readings(300)
	plain.Key, plain.Unique = nil, false
	check(t, tx.CreateTable(plain))
	m.tables[300] = nil
	for i := 0; i < 6; i++ {
		rows(tx, 300, 40)
		rows(tx, 100, 30)
	}
	tag(tx, 50)
	change(tx, 300, false, func(v float64) bool { return int(v)%3 == 0 }) // staged rows, too
	change(tx, 100, true, func(v float64) bool { return int(v)%4 == 0 })
	if len(tx.find(300).staged) == 0 || len(tx.find(100).staged) == 0 {
		t.Fatal("nothing was staged")
	}
	commit(tx, false)

	check(t, s.db.Flush()) // Pebble's memtable

	tx = s.Begin() // rolled back after staging
	for i := 0; i < 6; i++ {
		before := append([]string(nil), m.tables[100]...)
		rows(tx, 100, 40)
		m.tables[100] = before
	}
	tx.Rollback()

	tx = s.Begin()
	rows(tx, 100, 3)
	rows(tx, 300, 3)
	commit(tx, false)
	tx = s.Begin()
	rows(tx, 300, 3)
	commit(tx, true)
	tx = s.Begin()
	change(tx, 300, false, func(v float64) bool { return int(v)%5 == 0 })
	change(tx, 100, false, func(v float64) bool { return int(v)%5 == 0 })
	commit(tx, false)
	check(t, s.Flush())
	check(t, s.Vacuum(ctx, []table.ID{100}, nil))
	tx = s.Begin()
	change(tx, 100, true, func(v float64) bool { return int(v)%7 == 0 })
	commit(tx, true)
	check(t, s.Vacuum(ctx, nil, nil))

	tx = s.Begin() // drop one, make another
	check(t, tx.DropTable(300))
	delete(m.tables, 300)
	check(t, tx.CreateTable(readings(400)))
	m.tables[400] = nil
	rows(tx, 400, 4)
	next := withColumn(readings(100), 50)
	next.Columns = append([]table.Column(nil), next.Columns...)
	check(t, tx.AlterTable(next))
	meta(tx, "catalog", "2")
	commit(tx, true)
	tx = s.Begin()
	check(t, tx.DropTable(200))
	delete(m.tables, 200)
	rows(tx, 400, 4)
	commit(tx, false)
	check(t, s.Flush())
}

// crashOptions stage and flush with few rows.
var crashOptions = Options{Memory: 16 << 20, StageBytes: 4 << 10, FlushBytes: 1 << 30, SegmentRows: 64}

// TestCrashAfterEveryFileOperation opens what a crash after each operation of
// the scripted load may leave behind, with none, half and all of the unsynced
// data kept. What comes back must be the state after one of the steps: not
// before the last acknowledged one, not after the one under way.
func TestCrashAfterEveryFileOperation(t *testing.T) {
	type crash struct {
		op                string
		fs                *vfs.MemFS
		durable, inflight int
		flush             bool
	}
	mem := vfs.NewCrashableMem()
	script := &crashScript{states: []string{""}}
	crashes := make(chan crash, 16)
	rng := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	ops := 0
	fs := &hookFS{FS: mem}
	fs.after = func(op string) {
		mu.Lock()
		defer mu.Unlock()
		ops++
		for _, percent := range []int{0, 50, 100} {
			durable, _ := script.bounds()
			fs.linking.Lock()
			clone := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
			fs.linking.Unlock()
			_, inflight := script.bounds()
			crashes <- crash{fmt.Sprintf("%d %s (%d%% kept)", ops, op, percent), clone, durable, inflight, ops%4 == 0}
		}
	}
	var wg sync.WaitGroup
	for w := 0; w < 2; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for c := range crashes {
				// In a goroutine of its own: a fatal failure ends it.
				done := make(chan struct{})
				go func() {
					defer close(done)
					script.verify(t, c.op, c.fs, c.durable, c.inflight, c.flush)
				}()
				<-done
			}
		}()
	}
	s := mustOpen(t, fs, crashOptions)
	script.run(t, s)
	want := contents(s, t)
	mustClose(t, s)
	close(crashes)
	wg.Wait()
	if last := script.states[len(script.states)-1]; want != last {
		t.Fatalf("the script ends with\n%s\nits model with\n%s", want, last)
	}
	t.Logf("%d file operations", ops)
}

func (c *crashScript) verify(t *testing.T, op string, fs vfs.FS, durable, inflight int, flush bool) {
	s, err := Open("db", Options{FS: fs, Memory: 16 << 20})
	if err != nil {
		t.Errorf("after %s: open: %v", op, err)
		return
	}
	defer s.Close()
	c.check(t, op, s, durable, inflight, flush)
}

// check compares what a store holds after op with the states that are possible.
func (c *crashScript) check(t *testing.T, op string, s *Store, durable, inflight int, flush bool) {
	got := contents(s, t)
	if !c.allowed(got, durable, inflight) {
		t.Errorf("after %s: states %d to %d were possible, got\n%.2000s", op, durable, inflight, got)
		return
	}
	ownedChunks(t, s)
	if !flush {
		return
	}
	check(t, s.Flush())
	if again := contents(s, t); again != got {
		t.Errorf("after %s: a flush changed\n%.2000s\nto\n%.2000s", op, got, again)
	}
}

func (c *crashScript) allowed(got string, durable, inflight int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := durable; i <= inflight; i++ {
		if c.states[i] == got {
			return true
		}
	}
	return false
}
