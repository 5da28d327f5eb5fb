package colstore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/compaction"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// TestRandomOperations runs random appends, deletes, updates, upserts,
// rollbacks, commits, flushes, merges of any segments, restarts, expiry and
// scans, also by readers that began long before, against a model, for tables of
// both layouts with and without keys. Every scan is compared with its exact
// answer, and pruning on with pruning off.
func TestRandomOperations(t *testing.T) {
	randomOperations(t, 4, func(*Store) func() { return func() {} })
}

// opsPerRound is how many operations a round has.
const opsPerRound = 60

// randomOperations runs several rounds. beside starts what happens beside the
// operations of an open store and returns what ends it. A round that fails is
// repeated with fewer operations, as long as it still fails.
func randomOperations(t *testing.T, rounds uint64, beside func(*Store) (stop func())) {
	seed := uint64(time.Now().UnixNano())
	if x := os.Getenv("TSDB_TEST_SEED"); x != "" {
		seed, _ = strconv.ParseUint(x, 10, 64)
	}
	t.Logf("seed %d", seed)
	for round := uint64(0); round < rounds; round++ {
		ops := make([]int, opsPerRound)
		for i := range ops {
			ops[i] = i
		}
		why, done := attempt(t, seed, round, ops, beside)
		if why == "" {
			continue
		}
		ops, why = reduce(t, seed, round, ops[:done], why, beside)
		t.Fatalf("seed %d, round %d, reduced to operations %v: %s", seed, round, ops, why)
	}
}

// softTB ends the goroutine instead of the test at a failure.
type softTB struct {
	testing.TB
	why string
}

func (s *softTB) Helper() {}

func (s *softTB) Logf(string, ...any) {}

func (s *softTB) Fatal(args ...any) {
	s.why = fmt.Sprint(args...)
	runtime.Goexit()
}

func (s *softTB) Fatalf(format string, args ...any) {
	s.why = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// attempt runs some operations of a round and returns why they failed, and how
// many were done then.
func attempt(t *testing.T, seed, round uint64, ops []int, beside func(*Store) func()) (why string, done int) {
	tb := &softTB{TB: t}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				tb.why = fmt.Sprintf("panic: %v", p)
			}
		}()
		r := newOpRound(tb, seed, round, beside)
		for _, op := range ops {
			done++
			r.do(uint64(op))
		}
		r.end()
	}()
	<-ended
	return tb.why, done
}

// reduceTime bounds the search for a smaller failing case.
const reduceTime = 20 * time.Second

// reduce leaves out operations, halves of the list first, then single ones.
func reduce(t *testing.T, seed, round uint64, ops []int, why string, beside func(*Store) func()) ([]int, string) {
	until := time.Now().Add(reduceTime)
	for size := max(1, len(ops)/2); ; size = max(1, size/2) {
		for from := 0; from+size <= len(ops) && time.Now().Before(until); {
			fewer := slices.Delete(slices.Clone(ops), from, from+size)
			if w, done := attempt(t, seed, round, fewer, beside); w != "" {
				ops, why = fewer[:min(done, len(fewer))], w
				continue
			}
			from += size
		}
		if size == 1 || time.Now().After(until) {
			return ops, why
		}
	}
}

// opRound is the state of a round.
type opRound struct {
	t           testing.TB
	seed, round uint64
	fs          vfs.FS
	o           Options
	s           *Store
	clock       atomic.Int64
	models      []*modelTable
	readers     []oldReader
	beside      func(*Store) func()
	stop        func()
}

// oldReader is a snapshot and what it has to show.
type oldReader struct {
	sn     *Snapshot
	models []*modelTable
}

// keepFor is the retention of the table whose rows expire.
const keepFor = 300 * 3_600_000_000

func newOpRound(t testing.TB, seed, round uint64, beside func(*Store) func()) *opRound {
	r := &opRound{t: t, seed: seed, round: round, fs: vfs.NewMem(), beside: beside}
	rng := rand.New(rand.NewPCG(seed, round))
	r.clock.Store(keepFor)
	r.o = Options{Memory: 16 << 20, StageBytes: int64(20000 + rng.IntN(1<<20)), SegmentRows: 500 + rng.IntN(4000),
		FlushBytes: int64(20000 + rng.IntN(1<<20)), Clock: func() time.Time { return time.UnixMicro(r.clock.Load()) }}
	part := func(c int) rowkey.Part { return rowkey.Part{Column: c, Codec: wide(1, 1).Columns[c].Codec} }
	series, bag, timeFirst := wide(1, table.Columnar), wide(2, table.Columnar), wide(3, table.Columnar)
	series.Key, series.Unique = []rowkey.Part{part(0), part(1), part(2), part(3)}, true
	series.Bucket = 86_400_000_000
	timeFirst.Key, timeFirst.Unique, timeFirst.Conflict = []rowkey.Part{part(2), part(1), part(0)}, true, table.ConflictIgnore
	rowsT, rowBag := wide(4, table.RowStore), wide(5, table.RowStore)
	rowsT.Key, rowsT.Unique, rowsT.Time, rowsT.Conflict = []rowkey.Part{part(0), part(1)}, true, -1, table.ConflictIgnore
	rowBag.Time = -1
	last := wide(6, table.Columnar)
	last.Key, last.Unique, last.Conflict = []rowkey.Part{part(0), part(2)}, true, table.ConflictReplace
	aging := wide(7, table.Columnar)
	aging.Retention = keepFor
	schemas := []table.Schema{series, bag, timeFirst, rowsT, rowBag, last, aging}
	for _, c := range schemas {
		r.models = append(r.models, newModelTable(c))
	}
	r.open()
	create(t, r.s, schemas...)
	return r
}

func (r *opRound) open() {
	r.s = mustOpen(r.t, r.fs, r.o)
	r.stop = r.beside(r.s)
}

func (r *opRound) end() {
	for _, x := range r.readers {
		x.sn.Close()
	}
	r.readers = nil
	r.stop()
	mustClose(r.t, r.s)
}

// do runs one operation, which depends on its number alone.
func (r *opRound) do(op uint64) {
	rng := rand.New(rand.NewPCG(r.seed^r.round<<32, op))
	switch rng.IntN(12) {
	case 0:
		check(r.t, r.s.Flush())
	case 1:
		r.end()
		r.open()
	case 2:
		r.merge(rng)
	case 3:
		r.old(rng)
	case 4:
		if rng.IntN(2) == 0 {
			check(r.t, r.s.Vacuum(ctx, nil, nil))
		} else {
			r.clock.Add(rng.Int64N(30 * 3_600_000_000))
			r.expire(r.models)
		}
	case 5, 6, 7, 8:
		r.transaction(rng)
	default:
		sn := r.s.Snapshot()
		for _, m := range r.models {
			m.compare(r.t, sn, randomRequestNoTime(rng, m))
		}
		sn.Close()
	}
}

// expire removes what retention hides from models.
func (r *opRound) expire(models []*modelTable) {
	limit := r.clock.Load() - keepFor
	for _, m := range models {
		if m.schema.Retention > 0 {
			m.remove(func(i int) bool {
				t, null := timeOf(&m.schema, m.rows.Cols[m.schema.Time], i)
				return !null && t < limit && t != math.MinInt64
			})
		}
	}
}

// old opens a reader that stays, or compares and closes one.
func (r *opRound) old(rng *rand.Rand) {
	if len(r.readers) < 3 && rng.IntN(2) == 0 {
		x := oldReader{sn: r.s.Snapshot()}
		for _, m := range r.models {
			x.models = append(x.models, m.clone())
		}
		r.readers = append(r.readers, x)
		return
	}
	for _, x := range r.readers {
		for _, m := range x.models {
			m.compare(r.t, x.sn, randomRequestNoTime(rng, m))
		}
	}
	if n := len(r.readers); n > 0 && rng.IntN(2) == 0 {
		k := rng.IntN(n)
		r.readers[k].sn.Close()
		r.readers = slices.Delete(r.readers, k, k+1)
	}
}

// merge compacts random segments of one bucket, whatever the decisions say.
func (r *opRound) merge(rng *rand.Rand) {
	s := r.s
	s.compactor.mu.Lock()
	defer s.compactor.mu.Unlock()
	st := s.acquire()
	defer st.release()
	var tables []*version
	for _, v := range st.tables {
		if len(v.segs.segs) > 0 {
			tables = append(tables, v)
		}
	}
	if len(tables) == 0 {
		return
	}
	v := tables[rng.IntN(len(tables))]
	segs, _ := s.describe(v)
	if len(segs) == 0 {
		return
	}
	first := segs[rng.IntN(len(segs))]
	var picked []*seg
	for _, g := range segs {
		if g.id.Bucket == first.id.Bucket && (g == first || rng.IntN(2) == 0) {
			picked = append(picked, g)
		}
	}
	check(r.t, s.compact(ctx, v, compaction.Merge, picked, true))
}

// transaction runs some statements and commits them or not.
func (r *opRound) transaction(rng *rand.Rand) {
	tx := r.s.Begin()
	drafts := make([]*modelTable, len(r.models))
	for i, m := range r.models {
		drafts[i] = m.clone()
	}
	for k := 0; k < 1+rng.IntN(4); k++ {
		n := 1 + rng.IntN(5)
		if rng.IntN(2) == 0 {
			n = 1 + rng.IntN(2500)
		}
		m := drafts[rng.IntN(len(drafts))]
		if m.schema.Layout == table.RowStore {
			n = 1 + n/10
		}
		switch rng.IntN(6) {
		case 0, 1:
			m.change(r.t, rng, tx)
		case 2:
			if m.schema.Unique {
				m.upsert(r.t, rng, tx, n)
			}
		default:
			m.append(r.t, rng, tx, n)
		}
		r.expire([]*modelTable{m})
	}
	sn := tx.Snapshot()
	m := drafts[rng.IntN(len(drafts))]
	m.compare(r.t, sn, randomRequestNoTime(rng, m))
	sn.Close()
	if rng.IntN(5) == 0 {
		tx.Rollback()
		return
	}
	check(r.t, tx.Commit(ctx, rng.IntN(2) == 0, nil))
	r.models = drafts
}

// upsert gives rows whose key exists another text and adds the others.
func (m *modelTable) upsert(t testing.TB, rng *rand.Rand, tx *Tx, n int) {
	t.Helper()
	var never []int
	for _, p := range m.schema.Key {
		never = append(never, p.Column)
	}
	b := randomBatch(rng, n, never...)
	once := map[string]bool{}
	sel := []int32{}
	for i := 0; i < n; i++ {
		if key := string(appendRowKey(nil, m.schema.Key, b.Cols, i)); !once[key] {
			once[key] = true
			sel = append(sel, int32(i))
		}
	}
	b = (&vector.Batch{Cols: b.Cols, N: b.N, Sel: sel}).Clone()
	found, err := tx.Find(ctx, m.schema.ID, 0, b)
	check(t, err)
	defer found.Close()
	fresh := []int32{}
	hit := map[int32]int{}
	for k, i := range found.Of {
		hit[i] = k
	}
	last := len(b.Cols) - 1
	want := 0
	for i := 0; i < b.N; i++ {
		if m.keys[string(appendRowKey(nil, m.schema.Key, b.Cols, i))] {
			want++
		}
		if _, ok := hit[int32(i)]; !ok {
			fresh = append(fresh, int32(i))
		}
	}
	if want != len(found.Of) {
		t.Fatalf("table %d: %d keys found, want %d", m.schema.ID, len(found.Of), want)
	}
	if len(found.Of) > 0 {
		rows := found.Rows.Clone()
		rows.Cols[last] = vector.New(vector.Bytes, rows.N)
		for k := range found.Of {
			rows.Cols[last].AppendString(fmt.Sprint("upserted ", k))
		}
		_, err = tx.Update(ctx, found.Snap, m.schema.ID, found.IDs, rows)
		check(t, err)
		gone := map[string]bool{}
		for k := 0; k < rows.N; k++ {
			gone[string(appendRowKey(nil, m.schema.Key, rows.Cols, k))] = true
		}
		m.remove(func(i int) bool { return gone[string(appendRowKey(nil, m.schema.Key, m.rows.Cols, i))] })
		m.take(rows)
	}
	if len(fresh) > 0 {
		rest := (&vector.Batch{Cols: b.Cols, N: b.N, Sel: fresh}).Clone()
		_, err = tx.AppendWith(ctx, m.schema.ID, rest, table.AppendOptions{Conflict: table.ConflictError})
		check(t, err)
		m.take(rest)
	}
}

// take adds all rows of a batch, whose keys are new.
func (m *modelTable) take(b *vector.Batch) {
	for i := 0; i < b.N; i++ {
		m.add(b, i)
		m.keys[string(appendRowKey(nil, m.schema.Key, b.Cols, i))] = true
	}
}
