package colstore

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// metrics is a table like TSBS's cpu: host, time and ten readings.
func metrics(id uint64) table.Schema {
	s := table.Schema{ID: table.ID(id), Layout: table.Columnar, Time: 1, Unique: true}
	s.Columns = []table.Column{{ID: 1, Kind: vector.Bytes, Codec: rowkey.CodecBytes}, {ID: 2, Kind: vector.Int64, Codec: rowkey.CodecInt}}
	for i := 0; i < 10; i++ {
		s.Columns = append(s.Columns, table.Column{ID: table.ColumnID(3 + i), Kind: vector.Int64, Codec: rowkey.CodecInt})
	}
	s.Key = []rowkey.Part{{Column: 0, Codec: rowkey.CodecBytes}, {Column: 1, Codec: rowkey.CodecInt}}
	return s
}

func metricsBatch(hosts, from, to int) *vector.Batch {
	s := metrics(1)
	b := &vector.Batch{}
	for _, c := range s.Columns {
		b.Cols = append(b.Cols, vector.New(c.Kind, 0))
	}
	for i := from; i < to; i++ {
		b.Cols[0].AppendString(fmt.Sprintf("host_%d", i%hosts))
		b.Cols[1].AppendInt64(int64(i/hosts) * 10_000_000)
		for k := 2; k < len(b.Cols); k++ {
			b.Cols[k].AppendInt64(int64((i*k*7919)>>4) % 100)
		}
		b.N++
	}
	return b
}

func loadMetrics(t testing.TB, s *Store, rows int) {
	create(t, s, metrics(100))
	for from := 0; from < rows; from += 8192 {
		insert(t, s, 100, metricsBatch(100, from, min(rows, from+8192)))
	}
}

// pointSpan is the span of the key of row i.
func pointSpan(i int) []rowkey.Span {
	b := metricsBatch(100, i, i+1)
	key := appendRowKey(nil, metrics(100).Key, b.Cols, 0)
	return []rowkey.Span{{Start: key, End: rowkey.Successor(key)}}
}

// BenchmarkPoint reads single rows by key, from segments and from memory.
func BenchmarkPoint(b *testing.B) {
	for _, flush := range []bool{true, false} {
		b.Run(fmt.Sprintf("flushed=%v", flush), func(b *testing.B) {
			s := mustOpen(b, vfs.NewMem(), Options{Memory: 1 << 30})
			defer mustClose(b, s)
			loadMetrics(b, s, 200_000)
			if flush {
				check(b, s.Flush())
			}
			spans := make([][]rowkey.Span, 1000)
			for i := range spans {
				spans[i] = pointSpan(i * 7919 % 200_000)
			}
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				sn := s.Snapshot()
				sc, err := sn.Scan(100, table.ScanRequest{Columns: []int{0, 1, 2, 3}, Spans: spans[i%len(spans)], RowIDs: true})
				check(b, err)
				r := sc.NewReader()
				for {
					x, err := r.Next()
					check(b, err)
					if x == nil {
						break
					}
				}
				r.Close()
				sn.Close()
			}
		})
	}
}

// BenchmarkUpdate updates the 2,000 rows of one host in one transaction.
func BenchmarkUpdate(b *testing.B) {
	s := mustOpen(b, vfs.NewMem(), Options{Memory: 1 << 30})
	defer mustClose(b, s)
	loadMetrics(b, s, 200_000)
	check(b, s.Flush())
	lo := appendRowKey(nil, metrics(100).Key[:1], metricsBatch(100, 7, 8).Cols, 0)
	span := []rowkey.Span{{Start: lo, End: rowkey.Successor(lo)}}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		tx := s.Begin()
		sn := tx.Snapshot()
		sc, err := sn.Scan(100, table.ScanRequest{Columns: allColumns(&table.Schema{Columns: metrics(100).Columns}), Spans: span, RowIDs: true})
		check(b, err)
		r := sc.NewReader()
		for {
			x, err := r.Next()
			check(b, err)
			if x == nil {
				break
			}
			x = x.Clone()
			ids := x.Cols[len(x.Cols)-1]
			x.Cols = x.Cols[:len(x.Cols)-1]
			_, err = tx.Update(ctx, sn, 100, ids, x)
			check(b, err)
		}
		r.Close()
		sn.Close()
		check(b, tx.Commit(ctx, false, nil))
	}
}

// BenchmarkDeletePoint deletes single rows by key, one transaction each without
// a sync, and reads the place of each afterwards: ns/op is both together.
func BenchmarkDeletePoint(b *testing.B) {
	for _, flush := range []bool{true, false} {
		b.Run(fmt.Sprintf("flushed=%v", flush), func(b *testing.B) {
			s := mustOpen(b, vfs.NewMem(), Options{Memory: 1 << 30})
			defer mustClose(b, s)
			loadMetrics(b, s, 200_000)
			if flush {
				check(b, s.Flush())
			}
			spans := make([][]rowkey.Span, 200_000)
			for i := range spans {
				spans[i] = pointSpan(i * 7919 % 200_000)
			}
			parts, key := metrics(100).Key, []byte(nil)
			read := func(sn *Snapshot, span []rowkey.Span, each func(*vector.Batch)) {
				sc, err := sn.Scan(100, table.ScanRequest{Columns: []int{0, 1, 2}, Spans: span, RowIDs: true})
				check(b, err)
				r := sc.NewReader()
				defer r.Close()
				for {
					x, err := r.Next()
					check(b, err)
					if x == nil {
						return
					}
					each(x)
				}
			}
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				span := spans[i%len(spans)]
				tx := s.Begin()
				sn := tx.Snapshot()
				read(sn, span, func(x *vector.Batch) {
					for k := range x.Rows() {
						row := k
						if x.Sel != nil {
							row = int(x.Sel[k])
						}
						if key = appendRowKey(key[:0], parts, x.Cols, row); span[0].Contains(key) {
							_, err := tx.Delete(ctx, sn, 100, x.Cols[3], []int32{int32(row)})
							check(b, err)
							break
						}
					}
				})
				sn.Close()
				check(b, tx.Commit(ctx, false, nil))
				sn = s.Snapshot()
				read(sn, span, func(*vector.Batch) {})
				sn.Close()
			}
		})
	}
}
