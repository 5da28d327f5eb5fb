package segment

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"tsdb/colstore/encoding"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// undump returns the bytes of the dumps in a golden file.
func undump(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return undumped(string(text))
}

func undumped(text string) [][]byte {
	var out [][]byte
	for _, line := range strings.Split(text, "\n") {
		switch {
		case len(line) < 53 || line[4:6] != "  ":
			continue
		case strings.HasPrefix(line, "0000"):
			out = append(out, nil)
		}
		b, _ := hex.DecodeString(strings.ReplaceAll(line[6:53], " ", "")) // a test opens them
		out[len(out)-1] = append(out[len(out)-1], b...)
	}
	return out
}

func equalRows(a, b *vector.Vector) bool {
	for i := 0; i < a.N; i++ {
		switch {
		case a.IsNull(i) != b.IsNull(i):
			return false
		case a.IsNull(i):
		case a.Kind == vector.Bytes && string(a.Bytes(i)) != string(b.Bytes(i)):
			return false
		case a.Kind == vector.Int64 && a.I64[i] != b.I64[i], a.Kind == vector.Float64 && a.F64[i] != b.F64[i]:
			return false
		}
	}
	return a.N == b.N
}

// TestFirstFormatIsRead opens the chunks that the first release wrote.
func TestFirstFormatIsRead(t *testing.T) {
	chunks := undump(t, "testdata/chunk-v1.txt")
	if len(chunks) != 2 {
		t.Fatalf("%d chunks", len(chunks))
	}
	for k, v := range []*vector.Vector{sampleInts(), sampleTexts()} {
		var c Chunk
		if err := c.Open(chunks[k], "chunk"); err != nil {
			t.Fatal(err)
		}
		got := vector.New(v.Kind, 0)
		var d encoding.Decoder
		if err := c.DecodeAll(&d, got); err != nil {
			t.Fatal(err)
		}
		if !equalRows(v, got) {
			t.Errorf("%s: rows differ", v.Kind)
		}
		var s Stats
		c.BlockStats(1, &s)
		if v.Kind == vector.Int64 && (int64(s.SumLo) != 999_999 || s.Nulls != 1 || len(s.Min) != 8 || len(s.Max) != 8) ||
			v.Kind == vector.Bytes && string(s.Min)+string(s.Max) != "oslo\x00\x01rome\x00\x01" {
			t.Errorf("%s: statistics %+v", v.Kind, s)
		}
	}
}

// FuzzChunk opens arbitrary chunks whose length and checksum fit, and reads all
// that they hold.
func FuzzChunk(f *testing.F) {
	var w ChunkWriter
	f.Add(w.Append(nil, sampleInts(), sampleBlocks, rowkey.CodecInt, &Stats{}))
	f.Add(w.Append(nil, sampleTexts(), sampleBlocks, rowkey.CodecBytes, &Stats{}))
	f.Add(w.Append(nil, sampleTexts(), sampleBlocks, rowkey.CodecNone, nil))
	text, err := os.ReadFile("testdata/chunk-v1.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range undumped(string(text)) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) < envelopeSize+Slack {
			return
		}
		n := len(src) - Slack
		clear(src[n:])
		binary.LittleEndian.PutUint32(src[8:], uint32(n-envelopeSize))
		repair(src)
		var corrupt *table.CorruptionError
		if err := decodeChunk(src); err != nil && !errors.As(err, &corrupt) && !errors.Is(err, encoding.ErrMalformed) {
			t.Fatal(err)
		}
	})
}
