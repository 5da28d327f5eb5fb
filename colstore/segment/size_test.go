package segment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tsdb/colstore/encoding"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

const (
	cpuHosts   = 40
	cpuRows    = 1000 // per host
	cpuMetrics = 10
)

// cpuColumns makes the suite's table of processor metrics, sorted by host:
// host, time every 10 s, and metrics that walk between 0 and 100.
func cpuColumns(rng *rand.Rand, kind vector.Kind) []*vector.Vector {
	host, ts := vector.New(vector.Bytes, 0), vector.New(vector.Int64, 0)
	cols := []*vector.Vector{host, ts}
	for range cpuMetrics {
		cols = append(cols, vector.New(kind, 0))
	}
	for h := range cpuHosts {
		var state [cpuMetrics]float64
		for m := range state {
			state[m] = float64(rng.IntN(101))
		}
		for i := range cpuRows {
			host.AppendString(fmt.Sprintf("host_%d", h))
			ts.AppendInt64(1_700_000_000_000_000 + int64(i)*10_000_000)
			for m := range state {
				state[m] = min(max(state[m]+math.Round(rng.NormFloat64()), 0), 100)
				if kind == vector.Int64 {
					cols[2+m].AppendInt64(int64(state[m]))
				} else {
					cols[2+m].AppendFloat64(state[m])
				}
			}
		}
	}
	return cols
}

// cpuBlocks cuts at each host.
func cpuBlocks() []encoding.Block {
	var blocks []encoding.Block
	for h := range cpuHosts {
		blocks = append(blocks, encoding.Block{From: h * cpuRows, To: (h + 1) * cpuRows})
	}
	return blocks
}

var cpuCodecs = map[vector.Kind]rowkey.Codec{vector.Int64: rowkey.CodecInt, vector.Float64: rowkey.CodecFloat, vector.Bytes: rowkey.CodecBytes}

// TestMetricsTakeFewBytes bounds the bytes per row of a table of metrics, with
// directories, bounds and slack.
func TestMetricsTakeFewBytes(t *testing.T) {
	for _, c := range []struct {
		kind   vector.Kind
		effort encoding.Effort
		most   float64
	}{
		{vector.Int64, encoding.Full, 5},
		{vector.Float64, encoding.Full, 5},
		{vector.Int64, encoding.Cold, 3.6},
		{vector.Float64, encoding.Cold, 3.6},
	} {
		cols := cpuColumns(rand.New(rand.NewPCG(1, 2)), c.kind)
		var w ChunkWriter
		w.SetEffort(c.effort)
		total, each := 0, ""
		for i, v := range cols {
			var s Stats
			src := w.Append(nil, v, cpuBlocks(), cpuCodecs[v.Kind], &s)
			total += len(src)
			if i < 3 {
				each += fmt.Sprintf(" %.3f", float64(len(src))/float64(v.N))
			}
			var chunk Chunk
			if err := chunk.Open(src, "chunk"); err != nil {
				t.Fatal(err)
			}
			got := vector.New(v.Kind, 0)
			var d encoding.Decoder
			if err := chunk.DecodeAll(&d, got); err != nil {
				t.Fatal(err)
			}
			if !equalRows(v, got) {
				t.Fatalf("column %d differs", i)
			}
		}
		per := float64(total) / (cpuHosts * cpuRows)
		t.Logf("%s, effort %d: %.2f bytes a row; host, time, first metric:%s", c.kind, c.effort, per, each)
		if per > c.most {
			t.Errorf("%s, effort %d: %.2f bytes a row, at most %.1f wanted", c.kind, c.effort, per, c.most)
		}
	}
}

func BenchmarkEncodeMetrics(b *testing.B) {
	for _, kind := range []vector.Kind{vector.Int64, vector.Float64} {
		cols := cpuColumns(rand.New(rand.NewPCG(1, 2)), kind)
		for name, effort := range map[string]encoding.Effort{"full": encoding.Full, "quick": encoding.Quick} {
			b.Run(kind.String()+"/"+name, func(b *testing.B) {
				var w ChunkWriter
				var dst []byte
				w.SetEffort(effort)
				b.SetBytes(int64(cols[2].N)) // 1 MB/s is a million values a second
				for b.Loop() {
					dst = w.Append(dst[:0], cols[2], cpuBlocks(), cpuCodecs[kind], nil)
				}
			})
		}
	}
}

func BenchmarkEncodeMetricsWithStatistics(b *testing.B) {
	for _, kind := range []vector.Kind{vector.Int64, vector.Float64} {
		cols := cpuColumns(rand.New(rand.NewPCG(1, 2)), kind)
		b.Run(kind.String(), func(b *testing.B) {
			var w ChunkWriter
			var dst []byte
			b.SetBytes(int64(cols[2].N))
			for b.Loop() {
				var s Stats
				dst = w.Append(dst[:0], cols[2], cpuBlocks(), cpuCodecs[kind], &s)
			}
		})
	}
}
