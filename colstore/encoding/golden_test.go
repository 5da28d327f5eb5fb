package encoding

import (
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"tsdb/colstore/vector"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenBlock is a block whose bytes are kept in testdata/blocks.txt.
type goldenBlock struct {
	name   string
	v      *vector.Vector
	codes  []int32
	effort Effort
	want   Encoding
}

// goldenBlocks has one block per form and kind of column at least.
func goldenBlocks() []goldenBlock {
	narrow := func(k vector.Kind) *vector.Vector {
		v := vector.New(k, 0)
		for i := range 9 {
			x := i * i % 7
			switch k {
			case vector.Int16:
				v.AppendInt16(int16(x - 3))
			case vector.Int32:
				v.AppendInt32(int32(x) - 70_000)
			case vector.Uint32:
				v.AppendUint32(uint32(x) + 4_000_000_000)
			case vector.Fixed16:
				v.AppendFixed16([16]byte{0: byte(x), 15: byte(i)})
			}
		}
		return v
	}
	codes := func(f func(i int) int32) []int32 {
		out := make([]int32, 20)
		for i := range out {
			out[i] = f(i)
		}
		return out
	}
	abc := texts(20, func(i int) string { return "abc"[i%3 : i%3+1] })
	long := texts(100, func(i int) string { return strings.Repeat("abcdef", 8) + fmt.Sprint(i) })
	return []goldenBlock{
		{"nulls alone", nulled(series(5, func(int) int64 { return 1 }), 1), nil, Full, Null},
		{"constant", series(5, func(int) int64 { return -2 }), nil, Full, Const},
		{"constant float8", floats(5, func(int) float64 { return 1.5 }), nil, Full, Const},
		{"constant float4", float32s(5, func(int) float32 { return 1.5 }), nil, Full, Const},
		{"constant text", texts(5, func(int) string { return "abc" }), nil, Full, Const},
		{"frame of reference", series(9, func(i int) int64 { return 100 + int64(i*i%7) }), nil, Full, FOR},
		{"int2", narrow(vector.Int16), nil, Full, FOR},
		{"int4", narrow(vector.Int32), nil, Full, FOR},
		{"uint4", narrow(vector.Uint32), nil, Full, FOR},
		{"some NULLs", nulled(series(40, func(i int) int64 { return 100 + int64(i*i%7) }), 3), nil, Full, FOR},
		{"NULLs in runs", nulledFrom(series(70, func(i int) int64 { return 100 + int64(i*i%7) }), 50), nil, Full, FOR | ValidRuns},
		{"delta", series(40, func(i int) int64 { return int64(i * i) }), nil, Full, Delta},
		{"constant step", series(9, func(i int) int64 { return 1_700_000_000_000_000 + int64(i)*10_000_000 }), nil, Full, Step},
		{"line", series(64, func(i int) int64 { return int64(i)*1003 + int64(i*i*i*7919%61) }), nil, Full, Linear},
		{"outliers", series(64, func(i int) int64 { return int64(i*7919%4) + int64(i/63)<<40 - int64(i%40/39)<<30 }), nil, Full, PatchedFOR},
		{"two series", series(64, func(i int) int64 { return int64(i%40*10+i*7%3) + int64(i/40)*123_456_789 }), nil, Full, PatchedDelta},
		{"runs", series(60, func(i int) int64 { return int64(i / 15 * i / 15) }), nil, Full, Runs},
		{"common divisor", series(64, func(i int) int64 { return int64(i*7919%64) * 1000 }), nil, Full, Scaled},
		{"huffman of differences", series(100, walk(9)), nil, Cold, Huffman},
		{"huffman of values", series(100, func(i int) int64 { return []int64{7, 7, 7, 7, 7, 7, 7, 201, 90, 13}[i*i%97%10] }), nil, Cold, Huffman},
		{"decimal float8", floats(9, func(i int) float64 { return float64(i*i%7)/10 + 20 }), nil, Full, Decimal},
		{"decimal float4", float32s(9, func(i int) float32 { return float32(i*i%7)/10 + 20 }), nil, Full, Decimal},
		{"decimal with exceptions", floats(40, func(i int) float64 {
			if i%20 == 5 {
				return math.NaN()
			}
			return float64(i*i%7) / 100
		}), nil, Full, Decimal},
		{"decimals in delta", floats(40, func(i int) float64 { return float64(i*i) / 10 }), nil, Full, DecimalInts},
		{"split float8", floats(40, noise), nil, Full, Split},
		{"split float4", float32s(60, func(i int) float32 { return float32(noise(i) * 1e-25) }), nil, Full, Split},
		{"runs of floats", floats(40, func(i int) float64 { return math.Float64frombits(0x400921FB54442D18 + uint64(i/10)*0x123456789) }), nil, Full, Runs},
		{"raw float8", floats(4, func(i int) float64 { return math.Float64frombits(uint64(i+1) * 0x9E3779B97F4A7C15) }), nil, Full, Raw},
		{"raw float4", float32s(4, func(i int) float32 { return math.Float32frombits(uint32(i+1) * 0x9E3779B9) }), nil, Full, Raw},
		{"uuid", narrow(vector.Fixed16), nil, Full, Raw},
		{"bools", bools(64, func(i int) bool { return uint64(0x9E3779B97F4A7C15)>>uint(i)&1 != 0 }), nil, Full, Raw},
		{"runs of bools", bools(300, func(i int) bool { return i/100 == 1 }), nil, Full, Runs},
		{"codes", abc, codes(func(i int) int32 { return int32(i * i % 5) }), Full, Dict},
		{"codes in runs", abc, codes(func(i int) int32 { return int32(i / 10 * 300) }), Full, Codes},
		{"texts", abc, nil, Full, Plain},
		{"s2", long, nil, Quick, S2},
		{"zstd", long, nil, Full, Zstd},
	}
}

// compressed forms are not compared byte by byte: another version of the
// library may find shorter ones.
func (g *goldenBlock) compressed() bool { return g.want == S2 || g.want == Zstd || g.want == Huffman }

// TestBlocksOfOldFiles decodes the stored bytes of every form, and encodes the
// same rows to the same bytes.
func TestBlocksOfOldFiles(t *testing.T) {
	const path = "testdata/blocks.txt"
	var out strings.Builder
	seen := map[Encoding]bool{}
	for _, g := range goldenBlocks() {
		e := Encoder{Effort: g.effort}
		src, enc, nulls := e.Append(nil, g.v, 0, g.v.N, g.codes)
		if enc != g.want {
			t.Errorf("%s: %s, want %s", g.name, enc, g.want)
		}
		seen[enc&^ValidRuns] = true
		fmt.Fprintf(&out, "%s: %s, encoding %d (%s), %d rows, %d nulls\n", g.name, g.v.Kind, uint8(enc), enc, g.v.N, nulls)
		for len(src) > 0 {
			n := min(len(src), 32)
			fmt.Fprintf(&out, "  %x\n", src[:n])
			src = src[n:]
		}
	}
	for enc := range names {
		if !seen[Encoding(enc)] {
			t.Errorf("no block of encoding %s", Encoding(enc))
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, now := sections(string(text)), sections(out.String())
	for i, g := range goldenBlocks() {
		if i >= len(old) {
			t.Fatalf("%s is not in %s", g.name, path)
		}
		if old[i] != now[i] && !g.compressed() {
			t.Errorf("%s: bytes changed.\ngot\n%s\nwant\n%s", g.name, now[i], old[i])
		}
		g.decode(t, old[i])
	}
}

// sections splits the file at lines that are not indented.
func sections(text string) []string {
	var out []string
	for _, line := range strings.SplitAfter(text, "\n") {
		switch {
		case line == "":
		case line[0] != ' ':
			out = append(out, line)
		default:
			out[len(out)-1] += line
		}
	}
	return out
}

func (g *goldenBlock) decode(t *testing.T, section string) {
	t.Helper()
	head, lines, _ := strings.Cut(section, "\n")
	src, err := hex.DecodeString(strings.Join(strings.Fields(lines), ""))
	if err != nil {
		t.Fatal(err)
	}
	var enc, rows, nulls int
	if _, err := fmt.Sscanf(head[strings.LastIndex(head, "encoding "):], "encoding %d", &enc); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(head[strings.LastIndex(head, "), ")+3:], "%d rows, %d nulls", &rows, &nulls); err != nil {
		t.Fatal(err)
	}
	var d Decoder
	dst := vector.New(g.v.Kind, 0)
	if g.codes != nil {
		dst.Dict = texts(400, func(int) string { return "" })
	}
	if err := d.Decode(dst, Encoding(enc), withSlackBytes(src), rows, nulls, 400); err != nil {
		t.Errorf("%s: %v", g.name, err)
		return
	}
	for i := range g.v.N {
		if g.codes != nil {
			if dst.I32[i] != g.codes[i] {
				t.Errorf("%s: code %d is %d", g.name, i, dst.I32[i])
			}
		} else if row(dst, i) != row(g.v, i) {
			t.Errorf("%s: row %d is %s, want %s", g.name, i, row(dst, i), row(g.v, i))
			return
		}
	}
}
