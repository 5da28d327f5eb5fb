package colstore

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// cpuTable has a host tag, a time and ten metrics, as the cpu rows of TSBS;
// primary key (host, time).
func cpuTable(id uint64) table.Schema {
	s := table.Schema{ID: table.ID(id), Layout: table.Columnar, Time: 1, Unique: true,
		Columns: []table.Column{
			{ID: 1, Kind: vector.Bytes, Codec: rowkey.CodecBytes},
			{ID: 2, Kind: vector.Int64, Codec: rowkey.CodecInt},
		},
		Key: []rowkey.Part{{Column: 0, Codec: rowkey.CodecBytes}, {Column: 1, Codec: rowkey.CodecInt}},
	}
	for i := range 10 {
		s.Columns = append(s.Columns, table.Column{ID: table.ColumnID(3 + i), Kind: vector.Int64, Codec: rowkey.CodecInt})
	}
	return s
}

// cpuBatches calls f with rows of all hosts, 10 s apart, metrics walking
// between 0 and 100, in batches of 8,000 rows. The part late of them comes up
// to a million rows later than its turn.
func cpuBatches(hosts, rows int, late float64, f func(*vector.Batch)) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := make([]string, hosts)
	walks := make([][10]int64, hosts)
	for h := range names {
		names[h] = fmt.Sprint("host_", h)
		for m := range walks[h] {
			walks[h][m] = rng.Int64N(101)
		}
	}
	b := newCPUBatch()
	held := map[int]*vector.Batch{} // late rows by the turn at which they come
	for n := range rows {
		h := n % hosts
		for m, x := range walks[h] {
			walks[h][m] = min(100, max(0, x+rng.Int64N(3)-1))
		}
		to := b
		if late > 0 && rng.Float64() < late {
			turn := n/8000 + 1 + rng.IntN(min(125, rows/8000+1))
			if held[turn] == nil {
				held[turn] = newCPUBatch()
			}
			to = held[turn]
		}
		to.Cols[0].AppendString(names[h])
		to.Cols[1].AppendInt64(1_700_000_000_000_000 + int64(n/hosts)*10_000_000)
		for m, x := range walks[h] {
			to.Cols[2+m].AppendInt64(x)
		}
		to.N++
		if n%8000 == 7999 {
			if l := held[n/8000]; l != nil {
				f(l)
				delete(held, n/8000)
			}
			f(b)
			b = newCPUBatch()
		}
	}
	f(b)
	for turn := range rows/8000 + 200 {
		if held[turn] != nil {
			f(held[turn])
		}
	}
}

func newCPUBatch() *vector.Batch {
	b := &vector.Batch{}
	for _, c := range cpuTable(1).Columns {
		b.Cols = append(b.Cols, vector.New(c.Kind, 8000))
	}
	return b
}

// BenchmarkAmplification loads 3 M rows in commits of 8,000, in order and with
// 30 % late ones, then runs VACUUM, and says what that wrote.
func BenchmarkAmplification(b *testing.B) {
	for _, hosts := range []int{100, 4000} {
		for _, late := range []float64{0, 0.3} {
			b.Run(fmt.Sprintf("hosts=%d/late=%.0f%%", hosts, late*100), func(b *testing.B) {
				for b.Loop() {
					amplification(b, hosts, late)
				}
			})
		}
	}
}

func amplification(b *testing.B, hosts int, late float64) {
	const rows = 3_000_000
	b.StopTimer()
	var batches []*vector.Batch
	cpuBatches(hosts, rows, late, func(v *vector.Batch) {
		if v.N > 0 {
			batches = append(batches, v)
		}
	})
	dir := b.TempDir()
	s, err := Open(dir, Options{})
	check(b, err)
	create(b, s, cpuTable(1))
	b.StartTimer()
	for _, v := range batches {
		tx := s.Begin()
		_, err := tx.Append(ctx, 1, v)
		check(b, err)
		check(b, tx.Commit(ctx, true, nil))
	}
	load := b.Elapsed()
	loaded := s.WriteStats()
	check(b, s.Vacuum(ctx, nil, nil))
	w := s.WriteStats()
	b.StopTimer()
	report := func(name string, bytes int64) {
		b.ReportMetric(float64(bytes)/float64(w.LogicalBytes), name+"/logical")
	}
	report("log", w.LogBytes)
	report("flush", w.FlushBytes)
	report("compact", w.CompactBytes)
	report("ingest", w.IngestBytes)
	b.ReportMetric(loaded.Amplification(), "amp-loaded")
	b.ReportMetric(w.Amplification(), "amp")
	b.ReportMetric(rows/load.Seconds()/1e6, "Mrows/s-load")
	b.ReportMetric((b.Elapsed() - load).Seconds(), "s-vacuum")
	var size, segs int64
	for _, g := range s.find(1).segs.segs {
		size, segs = size+g.bytes, segs+1
	}
	b.ReportMetric(float64(size)/rows, "B/row")
	b.ReportMetric(float64(segs), "segments")
	b.ReportMetric(float64(w.Compactions), "compactions")
	mustClose(b, s)
	b.StartTimer()
}
