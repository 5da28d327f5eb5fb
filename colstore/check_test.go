package colstore

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// checkAll runs Check and returns what it found, harmless leftovers apart.
func checkAll(t testing.TB, fs vfs.FS, dir string) (found []string, r CheckResult) {
	t.Helper()
	r, err := Check(ctx, dir, Options{FS: fs, Memory: 16 << 20}, func(p Problem) {
		if !p.Harmless {
			found = append(found, p.Error())
		}
	}, nil)
	check(t, err)
	return found, r
}

// filled makes a database with rows in segments of several tables and columns,
// in arrival blocks, in rows and in the log.
func filled(t testing.TB, fs vfs.FS) {
	t.Helper()
	s := mustOpen(t, fs, Options{SegmentRows: 140, Memory: 16 << 20})
	other := readings(300)
	other.Unique, other.Key = false, nil
	other.Indexes = []table.UniqueIndex{{ID: 301, Parts: readings(0).Key}}
	create(t, s, readings(100), other, tags(200))
	rng := rand.New(rand.NewPCG(1, 2))
	for round := 0; round < 2; round++ {
		var rows []reading
		for i := 0; i < 300; i++ {
			rows = append(rows, reading{fmt.Sprint("station ", i%7), int64(round*10_000+i) * 1_000_000, rng.NormFloat64()})
		}
		insert(t, s, 100, readingBatch(rows...))
		insert(t, s, 300, readingBatch(rows[:50]...))
		for i := 0; i < 40; i++ {
			insert(t, s, 200, tagBatch(int32(round*100+i), fmt.Sprint("tag ", round, i)))
		}
		check(t, s.Flush())
	}
	check(t, s.db.Flush())
	insert(t, s, 100, readingBatch(reading{"late", 5, 1}))
	insert(t, s, 300, readingBatch(reading{"late", 5, 1}, reading{"late", 6, 1}))
	remove(t, s, 100, []int32{0, 1, 2, 50})
	remove(t, s, 300, []int32{7})
	insert(t, s, 200, tagBatch(999, "late"))
	mustClose(t, s)
}

// remove deletes rows of each batch of a table.
func remove(t testing.TB, s *Store, id table.ID, rows []int32) {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Close()
	sc, err := sn.Scan(id, table.ScanRequest{RowIDs: true})
	check(t, err)
	r := sc.NewReader()
	defer r.Close()
	tx := s.Begin()
	for {
		b, err := r.Next()
		check(t, err)
		if b == nil {
			break
		}
		sel := rows
		for len(sel) > 0 && int(sel[len(sel)-1]) >= b.N {
			sel = sel[:len(sel)-1]
		}
		_, err = tx.Delete(ctx, sn, id, b.Cols[0], sel)
		check(t, err)
	}
	check(t, tx.Commit(ctx, true, nil))
}

func TestCheckOfAHealthyDirectory(t *testing.T) {
	mem := vfs.NewMem()
	filled(t, mem)
	found, r := checkAll(t, mem, "db")
	equal(t, found, nil)
	if r.Tables != 3 || r.Rows != 2*300+2*50+80+2+2 || r.Segments < 8 || r.Chunks < 30 || r.Files == 0 || r.Bytes == 0 {
		t.Errorf("result %+v", r)
	}
	s := mustOpen(t, mem, Options{})
	if _, err := Check(ctx, "db", Options{FS: mem}, func(Problem) {}, nil); err == nil {
		t.Error("a directory in use is checked")
	}
	mustClose(t, s)
	if _, err := Check(ctx, "nothing", Options{FS: mem}, func(Problem) {}, nil); err == nil {
		t.Error("a directory that does not exist is checked")
	}
	check(t, mem.MkdirAll("photos", 0o755))
	if _, err := Check(ctx, "photos", Options{FS: mem}, func(Problem) {}, nil); err == nil {
		t.Error("a directory without a database is checked")
	}
	if names, _ := mem.List("photos"); len(names) != 0 {
		t.Errorf("checking left %v behind", names)
	}
}

// contentsOf reads all tables; an error is as good an answer as any for
// damaged ones.
func contentsOf(fs vfs.FS) (string, error) {
	s, err := Open("db", Options{FS: fs, Memory: 16 << 20})
	if err != nil {
		return "", err
	}
	defer s.Close()
	sn := s.Snapshot()
	defer sn.Close()
	var b strings.Builder
	for _, id := range []table.ID{100, 200, 300} {
		sc, err := sn.Scan(id, table.ScanRequest{Columns: []int{0, 1}})
		if err != nil {
			return "", err
		}
		r := sc.NewReader()
		defer r.Close()
		for {
			batch, err := r.Next()
			if err != nil {
				return "", err
			}
			if batch == nil {
				break
			}
			for i := 0; i < batch.N; i++ {
				b.WriteString(printRow(batch.Cols, i))
			}
		}
	}
	return b.String(), nil
}

// TestCheckFindsFlippedBytes flips bits at random places of sstables: either
// Check says so or what can be read has not changed.
func TestCheckFindsFlippedBytes(t *testing.T) {
	mem := vfs.NewCrashableMem()
	filled(t, mem)
	whole, err := contentsOf(mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}))
	check(t, err)
	names, err := mem.List("db")
	check(t, err)
	var files []string
	for _, n := range names {
		if strings.HasSuffix(n, ".sst") {
			files = append(files, "db/"+n)
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	noticed, rounds := 0, 40
	if testing.Short() {
		rounds = 10
	}
	for i := 0; i < rounds; i++ {
		fs := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
		name, at := files[rng.IntN(len(files))], 0
		rewrite(t, fs, name, func(b []byte) {
			at = rng.IntN(len(b))
			b[at] ^= 1 << rng.IntN(8)
		})
		found, _ := checkAll(t, fs, "db")
		if len(found) > 0 {
			noticed++
			continue
		}
		got, err := contentsOf(fs)
		if err != nil || got != whole {
			t.Errorf("byte %d of %s is flipped unnoticed: %v", at, name, err)
		}
	}
	if noticed < rounds*3/4 {
		t.Errorf("%d of %d flips were noticed", noticed, rounds)
	}
}

// TestCheckComparesWhatBelongsTogether makes directories whose checksums are
// right and whose content is not.
func TestCheckComparesWhatBelongsTogether(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(t *testing.T, s *Store, g *seg)
	}{
		{"chunk without row", "", func(t *testing.T, s *Store, g *seg) {
			check(t, s.db.Delete(keys.AppendSegment(nil, g.id), pebble.Sync))
		}},
		{"row without chunk", "column 3, part 0: it is missing", func(t *testing.T, s *Store, g *seg) {
			check(t, s.db.Delete(keys.AppendData(nil, g.id, 3, 0), pebble.Sync))
		}},
		{"chunks swapped", "it does not match its segment row", func(t *testing.T, s *Store, g *seg) {
			value, closer, err := s.db.Get(keys.AppendData(nil, g.id, 1, 0))
			check(t, err)
			defer closer.Close()
			check(t, s.db.Set(keys.AppendData(nil, g.id, 4, 0), value, pebble.Sync))
		}},
		{"wrong last key", "ends with another key", func(t *testing.T, s *Store, g *seg) {
			info := *g.info
			info.LastKey = []byte("zzz")
			check(t, s.db.Set(keys.AppendSegment(nil, g.id), info.Append(nil), pebble.Sync))
		}},
		{"wrong bounds", "outside of the bounds in the segment row", func(t *testing.T, s *Store, g *seg) {
			info := *g.info
			info.Columns = append(info.Columns[:0:0], info.Columns...)
			info.Columns[0].Stats.Max = []byte("a")
			check(t, s.db.Set(keys.AppendSegment(nil, g.id), info.Append(nil), pebble.Sync))
		}},
		{"wrong times", "has times from", func(t *testing.T, s *Store, g *seg) {
			info := *g.info
			info.BlockTimes = append(info.BlockTimes[:0:0], info.BlockTimes...)
			info.BlockTimes[0].Lo++
			check(t, s.db.Set(keys.AppendSegment(nil, g.id), info.Append(nil), pebble.Sync))
		}},
		{"entry missing", "has no entry", func(t *testing.T, s *Store, _ *seg) {
			from := keys.AppendTable(nil, keys.SpaceIndex, 201)
			it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from})
			check(t, err)
			it.First()
			key := append([]byte(nil), it.Key()...)
			check(t, it.Close())
			check(t, s.db.Delete(key, pebble.Sync))
		}},
		{"entry too many", "there are 82, the rows need 81", func(t *testing.T, s *Store, _ *seg) {
			check(t, s.db.Set(append(keys.AppendTable(nil, keys.SpaceIndex, 201), 'x'), nil, pebble.Sync))
		}},
		{"entry of a segment's row missing", "unique index 301 of table 300", func(t *testing.T, s *Store, _ *seg) {
			from := keys.AppendTable(nil, keys.SpaceIndex, 301)
			check(t, s.db.DeleteRange(from, append(from, "station 1~"...), pebble.Sync))
		}},
		{"delete of a row that is not there", "it names row 5000 of a segment", func(t *testing.T, s *Store, g *seg) {
			r := segment.Tombstone{Segment: g.id.ID, Rows: roaring.BitmapOf(5000)}
			check(t, s.db.Set(recordKey(100, g.id.Bucket, 1<<40), r.Append(nil), pebble.Sync))
		}},
		{"row count", "the table's record says 7", func(t *testing.T, s *Store, _ *seg) {
			check(t, s.db.Set(keys.AppendMetaID(nil, keys.MetaCount, 200), []byte{7, 1, 1}, pebble.Sync))
		}},
		{"arrival block", "arrival block", func(t *testing.T, s *Store, _ *seg) {
			check(t, s.db.Set(keys.AppendArrival(nil, 100, 0, 1<<40), []byte("TSDA etc"), pebble.Sync))
		}},
		{"schema", "schema of table 300", func(t *testing.T, s *Store, _ *seg) {
			check(t, s.db.Set(keys.AppendMetaID(nil, keys.MetaTable, 300), []byte{1, 2}, pebble.Sync))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := vfs.NewMem()
			filled(t, mem)
			s := mustOpen(t, mem, Options{})
			st := s.acquire()
			g := st.find(100).segs.segs[0]
			st.release()
			c.spoil(t, s, g)
			mustClose(t, s)
			found, r := checkAll(t, mem, "db")
			if c.want == "" {
				equal(t, found, nil)
				if r.Harmless != 1 {
					t.Errorf("%d leftovers, want 1", r.Harmless)
				}
				return
			}
			if len(found) == 0 || !strings.Contains(found[0], c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}

func TestOfflineLooksInside(t *testing.T) {
	mem := vfs.NewMem()
	filled(t, mem)
	d, err := OpenOffline("db", Options{FS: mem}, func(p Problem) { t.Error(p.Error()) })
	check(t, err)
	defer func() { check(t, d.Close()) }()
	if ids := fmt.Sprint(d.Tables()); ids != "[100 200 300]" {
		t.Fatalf("tables %s", ids)
	}
	var rows, dead int64
	for _, g := range d.Segments(100) {
		rows += g.Rows
		dead += g.Deleted
	}
	if dead < 4 {
		t.Errorf("%d rows are deleted", dead)
	}
	if rows != 600 {
		t.Errorf("%d rows in segments", rows)
	}
	if n := len(d.Chunks(100, func(p Problem) { t.Error(p.Error()) })); n != 5*len(d.Segments(100)) {
		t.Errorf("%d chunks", n)
	}
	text := func(x string) *vector.Vector { v := vector.New(vector.Bytes, 1); v.AppendString(x); return v }
	number := func(x int32) *vector.Vector { v := vector.New(vector.Int32, 1); v.AppendInt32(x); return v }
	micros := func(x int64) *vector.Vector { v := vector.New(vector.Int64, 1); v.AppendInt64(x); return v }
	for _, c := range []struct {
		id   table.ID
		key  []*vector.Vector
		want string
		rows int
	}{
		{100, []*vector.Vector{text("late"), micros(5)}, "arrival block late|5|1|", 1},
		{100, []*vector.Vector{text("late")}, "arrival block late|5|1|", 1},
		{100, []*vector.Vector{text("station 3"), micros(10_000_000)}, "segment station 3|10000000|", 1},
		{100, []*vector.Vector{text("station 3")}, "segment station 3|3000000|", 86},
		{200, []*vector.Vector{number(999)}, "row 999|late|", 1},
		{200, []*vector.Vector{number(12345)}, "", 0},
	} {
		got, n := "", 0
		err := d.History(c.id, c.key, func(v RowVersion) error {
			n++
			got += v.Where + " " + printRow(v.Values.Cols, 0)
			return nil
		})
		check(t, err)
		if !strings.HasPrefix(got, c.want) || n != c.rows {
			t.Errorf("history of %d rows %.80q, want %d, %q", n, got, c.rows, c.want)
		}
	}
}
