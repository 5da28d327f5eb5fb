package exec_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/exec"
	"tsdb/planner/physical"
)

// ready is a scan over prepared batches: it costs nothing, so that a benchmark
// measures the operators.
type ready struct {
	batches []*vector.Batch
	next    atomic.Int32
}

func (r *ready) Scan(table.ID, table.ScanRequest) (table.Scan, error) {
	r.next.Store(0)
	return r, nil
}
func (r *ready) Morsels() int            { return len(r.batches) }
func (r *ready) EstimatedRows() int64    { return int64(len(r.batches)) * vector.BatchSize }
func (r *ready) NewReader() table.Reader { return readyReader{r} }

type readyReader struct{ *ready }

func (r readyReader) Next() (*vector.Batch, error) {
	i := int(r.next.Add(1)) - 1
	if i >= len(r.batches) {
		return nil, nil
	}
	return r.batches[i], nil
}
func (r readyReader) Stats() table.ScanStats { return table.ScanStats{} }
func (r readyReader) Close()                 {}

// flights makes n rows of (date, origin, delay): dates ascend unless shuffled,
// 350 origins under one dictionary per 64 batches.
func flights(n int, shuffled bool) *ready {
	rnd := rand.New(rand.NewPCG(1, 2))
	r := &ready{}
	var dict *vector.Vector
	for lo := 0; lo < n; lo += vector.BatchSize {
		if len(r.batches)%64 == 0 {
			dict = vector.New(vector.Bytes, 0)
			for i := range 350 {
				dict.AppendString(fmt.Sprintf("A%02d", i))
			}
		}
		m := min(vector.BatchSize, n-lo)
		date, origin, delay := vector.New(vector.Int64, m), &vector.Vector{Kind: vector.Bytes, Dict: dict, N: m}, vector.New(vector.Int32, m)
		for i := range m {
			minute := (lo + i) / 25
			if shuffled {
				minute = rnd.IntN(n / 25)
			}
			date.AppendInt64(int64(minute) * 60_000_000)
			origin.I32 = append(origin.I32, rnd.Int32N(350))
			delay.AppendInt32(rnd.Int32N(200) - 30)
		}
		r.batches = append(r.batches, &vector.Batch{N: m, Cols: []*vector.Vector{date, origin, delay}})
	}
	return r
}

func benchmarkQuery(b *testing.B, query string, workers int, shuffled bool) {
	const rows = 3_000_000
	d := newDatabase()
	d.big = true
	d.table(b, "flights", "date ts, origin text, delay int", "", "")
	n := d.plan(b, query)
	env := &exec.Env{Ctx: d.ctx, Storage: reordered(n, flights(rows, shuffled)), Budget: exec.NewBudget(4 << 30), Workers: workers}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		op, err := exec.Build(env, n)
		if err != nil {
			b.Fatal(err)
		}
		if err := op.Open(context.Background()); err != nil {
			b.Fatal(err)
		}
		for {
			batch, err := op.Next()
			if err != nil {
				b.Fatal(err)
			}
			if batch == nil {
				break
			}
		}
		if err := op.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// reordered gives the batches the columns that the plan's scan asks for.
func reordered(n physical.Node, r *ready) *ready {
	for len(n.Inputs()) > 0 {
		n = n.Inputs()[0]
	}
	cols := n.(*physical.Scan).Request.Columns
	for i, b := range r.batches {
		c := &vector.Batch{N: b.N}
		for _, x := range cols {
			c.Cols = append(c.Cols, b.Cols[x])
		}
		r.batches[i] = c
	}
	return r
}

func BenchmarkQuery(b *testing.B) {
	for _, q := range []struct{ name, query string }{
		{"count", "SELECT count(*) FROM flights"},
		{"sum", "SELECT sum(delay), avg(delay), min(delay) FROM flights"},
		{"group by text", "SELECT origin, count(*) FROM flights GROUP BY 1"},
		{"group by day", "SELECT date_bin('1 day', date, '2001-01-01'), count(*) FROM flights GROUP BY 1"},
		{"group by day and text", "SELECT date_bin('1 day', date, '2001-01-01'), origin, count(*), avg(delay) FROM flights GROUP BY 1, 2"},
		{"group by minute", "SELECT date, count(*) FROM flights GROUP BY 1"},
		{"filter", "SELECT count(*) FROM flights WHERE origin = 'A17' AND delay > 60"},
		{"top", "SELECT * FROM flights ORDER BY delay DESC, date LIMIT 10"},
		{"sort", "SELECT * FROM flights ORDER BY delay, origin"},
		{"distinct", "SELECT count(DISTINCT origin) FROM flights"},
		{"join", "SELECT count(*) FROM flights f JOIN (VALUES ('A01', 1), ('A02', 2)) v(k, n) ON f.origin = v.k"},
	} {
		for _, workers := range []int{1, 2} {
			for _, shuffled := range []bool{false, true} {
				name := fmt.Sprintf("%s/workers=%d/shuffled=%t", q.name, workers, shuffled)
				b.Run(name, func(b *testing.B) { benchmarkQuery(b, q.query, workers, shuffled) })
			}
		}
	}
}
