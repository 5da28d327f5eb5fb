package segment

import (
	"bytes"
	"strconv"
	"testing"

	"tsdb/colstore/encoding"
	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

func TestFoldAndFilterBlocks(t *testing.T) {
	var w ChunkWriter
	var c Chunk
	var d encoding.Decoder
	if err := c.Open(w.Append(nil, sampleInts(), sampleBlocks, rowkey.CodecInt, &Stats{}), "chunk"); err != nil {
		t.Fatal(err)
	}
	if e := c.BlockEncoding(1); e != encoding.FOR|encoding.ValidRuns || c.BlockRows(1) != 3 || c.BlockBytes(1) != 21 {
		t.Errorf("block 1: %s, %d rows, %d bytes", e, c.BlockRows(1), c.BlockBytes(1))
	}
	var f encoding.Fold
	if err := c.Fold(&d, 1, &f); err != nil || f.Count != 2 || f.SumLo != 999_999 || f.Min != -5 || f.Max != 1_000_004 {
		t.Errorf("%+v, %v", f, err)
	}
	bits := vector.NewBitmap(64, false)
	if err := c.Filter(&d, 1, bits, &encoding.Filter{Op: kernels.GT, Int: -6}); err != nil || bits[0] != 0b101 {
		t.Errorf("%b, %v", bits[0], err)
	}
}

// TestFilterTexts compares with values in, between, before and after those of
// the dictionary.
func TestFilterTexts(t *testing.T) {
	v := vector.New(vector.Bytes, 0)
	for i := range 300 {
		v.AppendString([]string{"bergen", "oslo", "oslo", "rome"}[(i*i+i/100)%4])
	}
	for i := 0; i < 300; i += 7 {
		v.SetNull(i)
	}
	blocks := []encoding.Block{{From: 0, To: 200}, {From: 200, To: 300}}
	var w ChunkWriter
	var c Chunk
	var d encoding.Decoder
	if err := c.Open(w.Append(nil, v, blocks, rowkey.CodecBytes, &Stats{}), "chunk"); err != nil {
		t.Fatal(err)
	}
	holds := [...]func(int) bool{
		func(x int) bool { return x == 0 }, func(x int) bool { return x != 0 }, func(x int) bool { return x < 0 },
		func(x int) bool { return x <= 0 }, func(x int) bool { return x > 0 }, func(x int) bool { return x >= 0 },
	}
	bits := vector.NewBitmap(encoding.MaxRows, false)
	for _, value := range []string{"", "bergen", "c", "oslo", "oslo2", "rome", "zagreb"} {
		for op := kernels.EQ; op <= kernels.GE; op++ {
			for i, b := range blocks {
				if ok, err := c.FilterBytes(&d, i, bits, op, []byte(value)); !ok || err != nil {
					t.Fatalf("%v, %v", ok, err)
				}
				for r := b.From; r < b.To; r++ {
					want := !v.IsNull(r) && holds[op](bytes.Compare(v.Bytes(r), []byte(value)))
					if bits.Get(r-b.From) != want {
						t.Fatalf("op %d with %q: row %d is %v", op, value, r, !want)
					}
				}
			}
		}
	}
}

// TestLongDictionaryIsCompressed reads back texts whose dictionary is long.
func TestLongDictionaryIsCompressed(t *testing.T) {
	v := vector.New(vector.Bytes, 0)
	for i := range 4000 {
		v.AppendString("https://example.org/a/rather/long/path/" + strconv.Itoa(i%1000))
	}
	var w ChunkWriter
	var c Chunk
	var d encoding.Decoder
	src := w.Append(nil, v, SplitBlocks(nil, 0, 4000), rowkey.CodecBytes, &Stats{})
	if err := c.Open(src, "chunk"); err != nil {
		t.Fatal(err)
	}
	got := vector.New(vector.Bytes, 0)
	if err := c.DecodeAll(&d, got); err != nil || !equalRows(v, got) || c.Dict == nil || len(src) > 20_000 {
		t.Errorf("%d bytes, %v", len(src), err)
	}
	w.SetEffort(encoding.Quick)
	if n := len(w.Append(nil, v, SplitBlocks(nil, 0, 4000), rowkey.CodecBytes, &Stats{})); n <= len(src) {
		t.Errorf("%d bytes with little effort", n)
	}
}
