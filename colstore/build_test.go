package colstore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// vacuumed checks that VACUUM changes no row of a table.
func vacuumed(t *testing.T, s *Store, id table.ID, req table.ScanRequest) {
	t.Helper()
	sn := s.Snapshot()
	want := rowsOf(t, sn, id, req)
	sn.Close()
	check(t, s.Vacuum(ctx, []table.ID{id}, nil))
	sn = s.Snapshot()
	defer sn.Close()
	equal(t, rowsOf(t, sn, id, req), want)
	if st := sn.Stats(id); st.Rows != int64(len(want)) {
		t.Fatalf("%d rows counted, there are %d", st.Rows, len(want))
	}
}

// TestMergeOfAlteredTable merges segments that lack a column, with and without
// a value for it, and segments that have one which was dropped.
func TestMergeOfAlteredTable(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{SegmentRows: 700})
	defer mustClose(t, s)
	schema := readings(100)
	create(t, s, schema)
	add := func(from int64) {
		var rows []reading
		for i := range int64(500) {
			rows = append(rows, reading{fmt.Sprint("s", i%3), (from + 3*i) * 1_000_000, float64(i)})
		}
		b := readingBatch(rows...)
		for _, c := range schema.Columns[4:] {
			v := vector.New(c.Kind, 0)
			for i := range b.N {
				if v.AppendNull(); c.Kind == vector.Int32 && i%2 == 0 {
					v.I32[i] = int32(i)
					v.Valid.Set(i)
				}
			}
			b.Cols = append(b.Cols, v)
		}
		if len(schema.Columns) > 4 {
			b.Cols = append(b.Cols[:2], b.Cols[3:]...) // without the value
			b.Cols = append(b.Cols, vector.New(vector.Bool, 0))
			for i := range b.N {
				b.Cols[len(b.Cols)-1].AppendBool(i%3 == 0)
			}
			b.Cols = b.Cols[:len(schema.Columns)]
		}
		insert(t, s, 100, b)
		check(t, s.Flush())
	}
	add(0)
	add(1)
	next := schema
	seven := vector.New(vector.Int32, 1)
	seven.AppendInt32(7)
	next.Columns = []table.Column{schema.Columns[0], schema.Columns[1], schema.Columns[3],
		{ID: 9, Kind: vector.Int32, Codec: rowkey.CodecInt, Missing: seven}, {ID: 10, Kind: vector.Bool}}
	tx := s.Begin()
	check(t, tx.AlterTable(next))
	check(t, tx.Commit(ctx, true, nil))
	schema = next
	b := &vector.Batch{}
	for _, c := range next.Columns {
		b.Cols = append(b.Cols, vector.New(c.Kind, 0))
	}
	for i := range int64(500) {
		b.Cols[0].AppendString(fmt.Sprint("s", i%3))
		b.Cols[1].AppendInt64((2 + 3*i) * 1_000_000)
		b.Cols[2].AppendString("new")
		if i%2 == 0 {
			b.Cols[3].AppendNull()
		} else {
			b.Cols[3].AppendInt32(int32(i))
		}
		b.Cols[4].AppendBool(i%3 == 0)
		b.N++
	}
	insert(t, s, 100, b)
	check(t, s.Flush())
	vacuumed(t, s, 100, table.ScanRequest{Columns: []int{0, 1, 2, 3, 4}})
	for _, g := range s.find(100).segs.segs {
		if g.info.Column(3) != nil || g.info.Column(9) == nil || g.info.Column(10) == nil {
			t.Fatal("a merged segment has other columns than the table")
		}
	}
	vacuumed(t, s, 100, table.ScanRequest{Columns: []int{0, 1, 2, 3, 4}, Order: table.KeyOrder})
}

// TestMergeOutsideOfTime merges buckets of NULL and infinite times of a table
// whose key does not hold the time and repeats.
func TestMergeOutsideOfTime(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{SegmentRows: 1500})
	defer mustClose(t, s)
	schema := readings(100)
	schema.Key, schema.Unique = schema.Key[:1], false
	create(t, s, schema)
	rng := rand.New(rand.NewPCG(7, 7))
	for range 4 {
		var rows []reading
		for i := range 3000 {
			at := []int64{math.MaxInt64, math.MinInt64, 5, int64(i) * 1_000_000}[rng.IntN(4)]
			rows = append(rows, reading{fmt.Sprint("s", rng.IntN(4)), at, float64(i)})
		}
		b := readingBatch(rows...)
		for i := range b.N {
			if i%4 == 0 {
				b.Cols[1].SetNull(i)
			}
		}
		insert(t, s, 100, b)
		check(t, s.Flush())
	}
	vacuumed(t, s, 100, all4)
	if n := overlapping(s, 100); n != 0 {
		t.Fatalf("%d pairs of segments overlap", n)
	}
	for _, g := range s.find(100).segs.segs {
		if g.id.Bucket.Special() && g.info.BucketWidth != 0 {
			t.Fatalf("bucket %s is %d wide", g.id.Bucket, g.info.BucketWidth)
		}
	}
}

// TestMergeOfLongTexts bounds the text of a segment, also where it compresses
// to almost nothing.
func TestMergeOfLongTexts(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	s.compactor.maxText = 1 << 20
	create(t, s, readings(100))
	for f := range 3 {
		b := readingBatch()
		for i := range 400 {
			b.Cols[0].AppendString("a")
			b.Cols[1].AppendInt64(int64(i*3+f) * 1_000_000)
			b.Cols[2].AppendFloat64(1)
			b.Cols[3].AppendString(strings.Repeat(string(rune('a'+i%5)), 4000+i))
			b.N++
		}
		insert(t, s, 100, b)
		check(t, s.Flush())
	}
	vacuumed(t, s, 100, all4)
	if n := len(s.find(100).segs.segs); n < 5 || n > 7 {
		t.Fatalf("5 MB of text are in %d segments", n)
	}
}

// TestBySeries sorts rows of series by their keys, whatever the order in which
// they come.
func TestBySeries(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	rng := rand.New(rand.NewPCG(9, 9))
	for _, stations := range []int{1, 7, 900, 5000} {
		var rows []reading
		for i := range 6000 {
			at := int64(i)
			if stations == 7 {
				at = rng.Int64N(50) // they repeat
			}
			rows = append(rows, reading{strings.Repeat("x", i%3) + fmt.Sprint(rng.IntN(stations)), at, 1})
		}
		schema := readings(100)
		cols := readingBatch(rows...)
		b := s.newBuilder(&schema, []input{{mem: newBlock(&schema, cols.Cols, cols.N)}}, ctx.Err)
		refs := func() []rowRef {
			out := make([]rowRef, cols.N)
			for i := range out {
				out[i] = memoryRef(0, i)
			}
			return out
		}
		b.setTail(bucketOf(5, minBucket, 0))
		got := refs()
		b.sort(got)
		if !ascending(&b.keys) {
			t.Fatalf("%d stations: keys do not ascend", stations)
		}
		want := refs()
		b.split = false
		b.sort(want)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%d stations: row %d is %d, by comparison %d", stations, i, got[i].row(), want[i].row())
			}
		}
	}
}
