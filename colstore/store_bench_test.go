package colstore

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// flights is a columnar table without a key: time, delay, distance, origin and
// destination, like the data set of the end-to-end benchmark.
func flights(id uint64) table.Schema {
	return table.Schema{
		ID: table.ID(id), Layout: table.Columnar, Time: 0,
		Columns: []table.Column{
			{ID: 1, Kind: vector.Int64, Codec: rowkey.CodecInt},
			{ID: 2, Kind: vector.Int16, Codec: rowkey.CodecInt},
			{ID: 3, Kind: vector.Int32, Codec: rowkey.CodecInt},
			{ID: 4, Kind: vector.Bytes, Codec: rowkey.CodecBytes},
			{ID: 5, Kind: vector.Bytes, Codec: rowkey.CodecBytes},
		},
	}
}

const flightRows = 3_000_000

// flightBatches calls f with batches that hold flightRows rows.
func flightBatches(f func(*vector.Batch)) {
	var airports [300]string
	for i := range airports {
		airports[i] = fmt.Sprintf("%c%c%c", 'A'+i%26, 'A'+i/26, 'A'+i%7)
	}
	x := uint64(1)
	next := func() uint64 { x = x*6364136223846793005 + 1442695040888963407; return x >> 33 }
	b := &vector.Batch{N: vector.BatchSize}
	for _, c := range flights(1).Columns {
		b.Cols = append(b.Cols, vector.New(c.Kind, b.N))
	}
	for n := 0; n < flightRows; n += b.N {
		for i, c := range flights(1).Columns {
			b.Cols[i].Reset(c.Kind)
		}
		b.N = min(vector.BatchSize, flightRows-n)
		for i := 0; i < b.N; i++ {
			b.Cols[0].AppendInt64(978_307_200_000_000 + int64(n+i)*5_000_000/60*60)
			b.Cols[1].AppendInt16(int16(next()%120) - 20)
			b.Cols[2].AppendInt32(int32(next() % 2500))
			b.Cols[3].AppendString(airports[next()%300])
			b.Cols[4].AppendString(airports[next()%300])
		}
		f(b)
	}
}

func loadFlights(b *testing.B, s *Store) {
	create(b, s, flights(1))
	tx := s.Begin()
	flightBatches(func(v *vector.Batch) {
		_, err := tx.Append(ctx, 1, v)
		check(b, err)
	})
	check(b, tx.Commit(ctx, true, nil))
}

func BenchmarkLoad3M(b *testing.B) {
	for b.Loop() {
		s, err := Open(b.TempDir(), Options{})
		check(b, err)
		loadFlights(b, s)
		mustClose(b, s)
	}
	b.ReportMetric(float64(flightRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkScan3M(b *testing.B) {
	s := mustOpen(b, vfs.NewMem(), Options{})
	defer mustClose(b, s)
	loadFlights(b, s)
	check(b, s.Flush())
	var rows int64
	for b.Loop() {
		sn := s.Snapshot()
		sc, err := sn.Scan(1, table.ScanRequest{Columns: []int{0, 1, 3}})
		check(b, err)
		r := sc.NewReader()
		for {
			v, err := r.Next()
			check(b, err)
			if v == nil {
				break
			}
			rows += int64(v.N)
		}
		r.Close()
		sn.Close()
	}
	b.ReportMetric(float64(rows)*3/b.Elapsed().Seconds()/1e6, "Mvalues/s")
}

// BenchmarkCopyWithKey loads 100,000 interleaved series rows into a table with
// a primary key.
func BenchmarkCopyWithKey(b *testing.B) {
	var batches []*vector.Batch
	for n := 0; n < 100_000; n += 4000 {
		var rows []reading
		for i := 0; i < 4000; i++ {
			rows = append(rows, reading{fmt.Sprint("station ", (n+i)%100), int64(n+i) * 1_000_000, float64(i%500) / 10})
		}
		batches = append(batches, readingBatch(rows...))
	}
	for b.Loop() {
		s, err := Open(b.TempDir(), Options{})
		check(b, err)
		create(b, s, readings(1))
		tx := s.Begin()
		for _, v := range batches {
			_, err := tx.Append(ctx, 1, v)
			check(b, err)
		}
		check(b, tx.Commit(ctx, true, nil))
		mustClose(b, s)
	}
	b.ReportMetric(1e5*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkInsertOneRow(b *testing.B) {
	s, err := Open(b.TempDir(), Options{})
	check(b, err)
	defer mustClose(b, s)
	create(b, s, readings(1))
	i := int64(0)
	for b.Loop() {
		i++
		tx := s.Begin()
		tx.Savepoint()
		_, err := tx.Append(ctx, 1, readingBatch(reading{"a", i, 1}))
		check(b, err)
		check(b, tx.Commit(ctx, false, nil))
	}
}
