package colstore

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

var ctx = context.Background()

// readings is a columnar table: station text, ts timestamp, value float8 and a
// nullable note; primary key (station, ts).
func readings(id uint64) table.Schema {
	return table.Schema{
		ID:     table.ID(id),
		Layout: table.Columnar,
		Columns: []table.Column{
			{ID: 1, Kind: vector.Bytes, Codec: rowkey.CodecBytes},
			{ID: 2, Kind: vector.Int64, Codec: rowkey.CodecInt},
			{ID: 3, Kind: vector.Float64, Codec: rowkey.CodecFloat},
			{ID: 4, Kind: vector.Bytes, Codec: rowkey.CodecBytes},
		},
		Key:    []rowkey.Part{{Column: 0, Codec: rowkey.CodecBytes}, {Column: 1, Codec: rowkey.CodecInt}},
		Unique: true,
		Time:   1,
	}
}

// tags is a table of layout row: id int4 primary key, name text unique.
func tags(id uint64) table.Schema {
	return table.Schema{
		ID:     table.ID(id),
		Layout: table.RowStore,
		Columns: []table.Column{
			{ID: 1, Kind: vector.Int32, Codec: rowkey.CodecInt},
			{ID: 2, Kind: vector.Bytes, Codec: rowkey.CodecBytes},
		},
		Key:     []rowkey.Part{{Column: 0, Codec: rowkey.CodecInt}},
		Unique:  true,
		Indexes: []table.UniqueIndex{{ID: id + 1, Parts: []rowkey.Part{{Column: 1, Codec: rowkey.CodecBytes}}}},
		Time:    -1,
	}
}

type reading struct {
	station string
	ts      int64
	value   float64
}

func readingBatch(rows ...reading) *vector.Batch {
	b := &vector.Batch{N: len(rows), Cols: []*vector.Vector{vector.New(vector.Bytes, 0), vector.New(vector.Int64, 0), vector.New(vector.Float64, 0), vector.New(vector.Bytes, 0)}}
	for i, r := range rows {
		b.Cols[0].AppendString(r.station)
		b.Cols[1].AppendInt64(r.ts)
		b.Cols[2].AppendFloat64(r.value)
		if i%3 == 0 {
			b.Cols[3].AppendNull()
		} else {
			b.Cols[3].AppendString(fmt.Sprint("note ", r.ts%7))
		}
	}
	return b
}

func tagBatch(id int32, name string) *vector.Batch {
	b := &vector.Batch{N: 1, Cols: []*vector.Vector{vector.New(vector.Int32, 0), vector.New(vector.Bytes, 0)}}
	b.Cols[0].AppendInt32(id)
	b.Cols[1].AppendString(name)
	return b
}

func mustOpen(t testing.TB, fs vfs.FS, o Options) *Store {
	t.Helper()
	o.FS = fs
	s, err := Open("db", o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustClose(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create makes tables in a transaction of their own.
func create(t testing.TB, s *Store, schemas ...table.Schema) {
	t.Helper()
	tx := s.Begin()
	for _, c := range schemas {
		check(t, tx.CreateTable(c))
	}
	check(t, tx.Commit(ctx, true, nil))
}

func insert(t testing.TB, s *Store, id table.ID, b *vector.Batch) {
	t.Helper()
	tx := s.Begin()
	_, err := tx.Append(ctx, id, b)
	check(t, err)
	check(t, tx.Commit(ctx, true, nil))
}

// rowsOf reads a table through a scan, each row printed, sorted unless the
// request has an order.
func rowsOf(t testing.TB, sn *Snapshot, id table.ID, req table.ScanRequest) []string {
	t.Helper()
	sc, err := sn.Scan(id, req)
	check(t, err)
	r := sc.NewReader()
	defer r.Close()
	var out []string
	for {
		b, err := r.Next()
		check(t, err)
		if b == nil {
			break
		}
		b = b.Flat(&vector.Batch{})
		for i := 0; i < b.N; i++ {
			line := ""
			for k, v := range b.Cols {
				if v.N != b.N {
					t.Fatalf("column %d has %d rows, the batch %d", k, v.N, b.N)
				}
				line += cell(v, i) + "|"
			}
			out = append(out, line)
		}
	}
	if req.Order == table.AnyOrder {
		sort.Strings(out)
	}
	return out
}

func cell(v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	switch v.Kind {
	case vector.Bool:
		return fmt.Sprint(v.Bool(i))
	case vector.Int16:
		return fmt.Sprint(v.I16[i])
	case vector.Int32:
		return fmt.Sprint(v.I32[i])
	case vector.Int64:
		return fmt.Sprint(v.I64[i])
	case vector.Uint32:
		return fmt.Sprint(v.U32[i])
	case vector.Float32:
		return fmt.Sprint(v.F32[i])
	case vector.Float64:
		return fmt.Sprint(v.F64[i])
	case vector.Fixed16:
		return fmt.Sprintf("%x", v.F16[i])
	}
	return string(v.Bytes(i))
}

func equal(t testing.TB, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		i := 0
		for i < len(got) && i < len(want) && got[i] == want[i] {
			i++
		}
		t.Fatalf("%d rows, want %d; they differ from row %d on\ngot  %.500s\nwant %.500s", len(got), len(want), i,
			strings.Join(got[i:min(len(got), i+3)], "\n"), strings.Join(want[i:min(len(want), i+3)], "\n"))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d is %q, want %q", i, got[i], want[i])
		}
	}
}

var all4 = table.ScanRequest{Columns: []int{0, 1, 2, 3}}

func TestRowsSurviveReopenAndFlush(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{})
	id, err := s.NewID()
	check(t, err)
	create(t, s, readings(id), tags(id+500))
	var want []string
	for i := 0; i < 3; i++ {
		var rows []reading
		for k := 0; k < 3000; k++ {
			rows = append(rows, reading{fmt.Sprint("s", k%5), int64(i*3000+k) * 3_600_000_000, float64(k) / 4})
		}
		b := readingBatch(rows...)
		for r := 0; r < b.N; r++ {
			line := ""
			for _, c := range b.Cols {
				line += cell(c, r) + "|"
			}
			want = append(want, line)
		}
		insert(t, s, table.ID(id), b)
	}
	sort.Strings(want)
	insert(t, s, table.ID(id+500), tagBatch(7, "seven"))
	see := func(segments int) {
		t.Helper()
		sn := s.Snapshot()
		defer sn.Close()
		equal(t, rowsOf(t, sn, table.ID(id), all4), want)
		equal(t, rowsOf(t, sn, table.ID(id+500), table.ScanRequest{Columns: []int{0, 1}}), []string{"7|seven|"})
		if st := sn.Stats(table.ID(id)); st.Rows != 9000 || (st.Segments > 0) != (segments > 0) {
			t.Fatalf("stats %+v", st)
		}
	}
	see(0)
	mustClose(t, s)
	s = mustOpen(t, fs, Options{})
	see(0)
	check(t, s.Flush())
	see(1)
	mustClose(t, s)
	s = mustOpen(t, fs, Options{})
	see(1)
	next, err := s.NewID()
	check(t, err)
	if next <= id {
		t.Fatalf("id %d after %d", next, id)
	}
	mustClose(t, s)
}

func duplicate(t testing.TB, err error, index uint64, row int) {
	t.Helper()
	var d *table.DuplicateKeyError
	if !errors.As(err, &d) || d.Index != index || d.Row != row {
		t.Fatalf("error %v, want a duplicate of index %d in row %d", err, index, row)
	}
}

func TestDuplicateKeys(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, readings(100), tags(200))
	insert(t, s, 100, readingBatch(reading{"a", 1, 1}, reading{"b", 2, 2}))
	insert(t, s, 200, tagBatch(1, "one"))
	for _, flushed := range []bool{false, true} {
		if flushed {
			check(t, s.Flush())
		}
		tx := s.Begin()
		m := tx.Savepoint()
		_, err := tx.Append(ctx, 100, readingBatch(reading{"a", 5, 1}, reading{"b", 2, 9}))
		duplicate(t, err, 0, 1)
		tx.RollbackTo(m)
		_, err = tx.Append(ctx, 100, readingBatch(reading{"c", 5, 1}, reading{"c", 5, 9}))
		duplicate(t, err, 0, 1)
		tx.RollbackTo(m)
		_, err = tx.Append(ctx, 200, tagBatch(1, "uno"))
		duplicate(t, err, 0, 0)
		tx.RollbackTo(m)
		_, err = tx.Append(ctx, 200, tagBatch(2, "one"))
		duplicate(t, err, 201, 0)
		tx.RollbackTo(m)
		tx.Rollback()

		// Both see no conflict, the second commit does.
		key := int64(1000)
		if flushed {
			key = 2000
		}
		x, y := s.Begin(), s.Begin()
		_, err = x.Append(ctx, 100, readingBatch(reading{"a", key, 1}))
		check(t, err)
		_, err = y.Append(ctx, 100, readingBatch(reading{"a", key + 1, 1}, reading{"a", key, 1}))
		check(t, err)
		check(t, x.Commit(ctx, true, nil))
		if flushed {
			check(t, s.Flush())
		}
		duplicate(t, y.Commit(ctx, true, nil), 0, 1)
		x, y = s.Begin(), s.Begin()
		_, err = x.Append(ctx, 200, tagBatch(int32(key), fmt.Sprint("k", key)))
		check(t, err)
		// Layout row: the second waits for the first one's end.
		late := make(chan error, 1)
		go func() {
			_, err := y.Append(ctx, 200, tagBatch(int32(key+1), fmt.Sprint("k", key)))
			late <- err
		}()
		check(t, x.Commit(ctx, true, nil))
		duplicate(t, <-late, 201, 0)
		y.Rollback()
	}
	sn := s.Snapshot()
	defer sn.Close()
	if n := len(rowsOf(t, sn, 100, all4)); n != 4 {
		t.Fatalf("%d rows, want 4", n)
	}
}
