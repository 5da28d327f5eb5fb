package copyio

import (
	"bytes"
	"fmt"
	"testing"

	"tsdb/sql/types"
)

var benchColumns = []Column{{"ts", tTS}, {"host", tText}, {"a", tInt4}, {"b", tInt8}, {"x", tFloat8}, {"y", tFloat8}, {"n", tNumeric}, {"ok", tBool}}

func benchData(sep, quote string) []byte {
	var w bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&w, "2024-01-%02d 12:%02d:%02d%s%shost-%d%s%s%d%s%d%s%d.25%s-%d.5e-3%s%d.50%st\n", i%28+1, i%60, i%60, sep, quote, i%100, quote, sep,
			i, sep, i*1000, sep, i, sep, i, sep, i%1000, sep)
	}
	return w.Bytes()
}

func benchRead(b *testing.B, data []byte, o Options) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r, _ := NewReader(bytes.NewReader(data), "t", benchColumns, o, &types.Context{})
		for {
			batch, err := r.Next()
			if err != nil {
				b.Fatal(err)
			}
			if batch == nil {
				break
			}
		}
	}
}

func BenchmarkReadText(b *testing.B) { benchRead(b, benchData("\t", ""), Options{Null: `\N`}) }

func BenchmarkReadCSV(b *testing.B) { benchRead(b, benchData(",", `"`), Options{Format: CSV}) }

func BenchmarkWriteText(b *testing.B) { benchWrite(b, Options{Null: `\N`}) }

func BenchmarkWriteBinary(b *testing.B) { benchWrite(b, Options{Format: Binary}) }

func benchWrite(b *testing.B, o Options) {
	ctx := &types.Context{ExtraFloatDigits: 1}
	r, _ := NewReader(bytes.NewReader(benchData("\t", "")), "t", benchColumns, Options{Null: `\N`}, ctx)
	batch, err := r.Next()
	if err != nil || batch.N == 0 {
		b.Fatal(err)
	}
	w := NewWriter(benchColumns, o, ctx)
	var out []byte
	var ends []int
	b.ReportAllocs()
	for b.Loop() {
		out, ends = w.Rows(out[:0], ends[:0], batch)
	}
	b.SetBytes(int64(len(out)))
}
