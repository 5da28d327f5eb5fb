package pgwire

import (
	"fmt"
	"io"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/sql/types"
)

// readings is a batch as a dashboard reads it: time, host, two measurements.
func readings() ([]logical.Column, *vector.Batch) {
	cols := []logical.Column{{Name: "ts", Type: types.T(types.TimestampTZ)}, {Name: "host", Type: types.T(types.Text)},
		{Name: "usage", Type: types.T(types.Float8)}, {Name: "n", Type: types.T(types.Int4)}}
	const n = vector.BatchSize
	dict := vector.New(vector.Bytes, 10)
	for i := range 10 {
		dict.AppendString(fmt.Sprint("host_", i))
	}
	ts, host, usage, count := vector.New(vector.Int64, n), vector.New(vector.Bytes, 0), vector.New(vector.Float64, n), vector.New(vector.Int32, n)
	host.Dict, host.N = dict, n
	for i := range n {
		ts.AppendInt64(1_700_000_000_000_000 + int64(i)*10_000_000)
		host.I32 = append(host.I32, int32(i%10))
		usage.AppendFloat64(float64(i%1000) / 10)
		count.AppendInt32(int32(i))
	}
	usage.SetNull(7)
	return cols, &vector.Batch{Cols: []*vector.Vector{ts, host, usage, count}, N: n}
}

func TestRowsDoNotAllocate(t *testing.T) {
	cols, b := readings()
	for _, formats := range [][]int16{{textFormat}, {binaryFormat}} {
		var e rowEncoder
		w := &writer{dst: io.Discard}
		ctx := &types.Context{ExtraFloatDigits: 1}
		e.prepare(cols, formats, ctx)
		w.open()
		allocs := testing.AllocsPerRun(10, func() {
			if err := e.rows(w, b); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 1 {
			t.Errorf("format %d: %v allocations for %d rows", formats[0], allocs, b.N)
		}
	}
}

func BenchmarkDataRow(b *testing.B) {
	cols, batch := readings()
	for name, format := range map[string]int16{"text": textFormat, "binary": binaryFormat} {
		b.Run(name, func(b *testing.B) {
			var e rowEncoder
			w := &writer{dst: io.Discard}
			e.prepare(cols, []int16{format}, &types.Context{ExtraFloatDigits: 1})
			b.SetBytes(int64(batch.N * 24)) // logical: 8 + 4 + 8 + 4
			for b.Loop() {
				if err := e.rows(w, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
