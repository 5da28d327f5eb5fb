package segment

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"tsdb/colstore/encoding"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// dump prints bytes in rows of 16 with notes at their offsets.
type dump struct {
	b   []byte
	out strings.Builder
}

func (d *dump) line(from, to int, note string, args ...any) {
	text := fmt.Sprintf(note, args...)
	for at := from; at < to; at += 16 {
		end := min(to, at+16)
		fmt.Fprintf(&d.out, "%04d  %-47x  %s\n", at, spaced(d.b[at:end]), text)
		text = ""
	}
}

type spaced []byte

func (s spaced) Format(f fmt.State, _ rune) {
	parts := make([]string, len(s))
	for i, b := range s {
		parts[i] = fmt.Sprintf("%02x", b)
	}
	w, _ := f.Width()
	fmt.Fprintf(f, "%-*s", w, strings.Join(parts, " "))
}

func (d *dump) envelope() {
	le := binary.LittleEndian
	d.line(0, 4, "magic %q", d.b[:4])
	d.line(4, 8, "format version %d", d.b[4])
	d.line(8, 12, "body of %d bytes", le.Uint32(d.b[8:]))
	d.line(12, 16, "CRC-32C")
}

func (d *dump) chunk(t *testing.T) {
	t.Helper()
	le := binary.LittleEndian
	var c Chunk
	if err := c.Open(d.b, "chunk"); err != nil {
		t.Fatal(err)
	}
	d.envelope()
	d.line(16, 20, "kind %s, flags %d, %d blocks", c.Kind, d.b[17], c.Blocks())
	d.line(20, 24, "%d rows", c.Rows)
	dict, dictLen := int(le.Uint32(d.b[24:])), int(le.Uint32(d.b[28:]))
	d.line(24, 32, "dictionary at %d of %d bytes", dict, dictLen)
	at := chunkHeader
	for i := range c.entries {
		e := &c.entries[i]
		var s Stats
		c.BlockStats(i, &s)
		d.line(at, at+2, "block %d: %s, statistics %05b", i, e.enc, e.flags)
		at += 2
		n := len(binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(e.rows-1)), uint64(e.nulls)), uint64(e.size)))
		d.line(at, at+n, "  %d rows, %d nulls, %d bytes", e.rows, e.nulls, e.size)
		at += n
		if e.flags&HasBounds != 0 {
			n = 2 + int(d.b[at+1])
			d.line(at, at+n, "  min: the first %d bytes of the min before and %d more", d.b[at], d.b[at+1])
			at += n
			n = 2 + int(d.b[at+1])
			d.line(at, at+n, "  max: the first %d bytes of min and %d more", d.b[at], d.b[at+1])
			at += n
		}
		if e.flags&SumInteger != 0 {
			n = len(binary.AppendVarint(nil, int64(e.sumLo)))
			d.line(at, at+n, "  sum %d", int64(e.sumLo))
			at += n
		}
	}
	for i := range c.entries {
		e := &c.entries[i]
		d.line(int(e.at), int(e.at+e.size), "payload of block %d", i)
	}
	if dictLen > 0 {
		d.line(dict, dict+4, "dictionary of %d values", le.Uint32(d.b[dict:]))
		d.line(dict+4, dict+dictLen, "  width of lengths, lengths, values")
	}
	d.line(len(d.b)-Slack, len(d.b), "slack")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s changed: files written before could not be read.\ngot\n%s\nwant\n%s", path, got, want)
	}
}

func sampleInts() *vector.Vector {
	v := vector.New(vector.Int64, 0)
	for i := 0; i < 6; i++ {
		v.AppendInt64(1_000_000 + int64(i*i%7))
	}
	v.AppendNull()
	v.AppendInt64(-5)
	return v
}

func sampleTexts() *vector.Vector {
	v := vector.New(vector.Bytes, 0)
	for _, s := range []string{"oslo", "rome", "oslo", "", "rome", "oslo", "rome", "rome"} {
		v.AppendString(s)
	}
	v.SetNull(3)
	return v
}

var sampleBlocks = []encoding.Block{{From: 0, To: 5}, {From: 5, To: 8}}

func TestFormatIsStable(t *testing.T) {
	var w ChunkWriter
	var out strings.Builder
	var total Stats
	d := dump{b: w.Append(nil, sampleInts(), sampleBlocks, rowkey.CodecInt, &total)}
	d.chunk(t)
	out.WriteString("chunk of 8 int64 in blocks of 5 and 3\n" + d.out.String())
	d = dump{b: w.Append(nil, sampleTexts(), sampleBlocks, rowkey.CodecBytes, &Stats{})}
	d.chunk(t)
	out.WriteString("\nchunk of 8 texts in blocks of 5 and 3\n" + d.out.String())
	golden(t, "chunk.txt", out.String())

	info := sampleInfo()
	info.Columns[0].Stats = total
	d = dump{b: info.Append(nil)}
	d.envelope()
	d.line(16, len(d.b), "body")
	var a ArrivalWriter
	text := "segment row\n" + d.out.String()
	d = dump{b: a.Append(nil, []uint32{1, 2}, []*vector.Vector{sampleInts(), sampleTexts()}, 8)}
	d.envelope()
	d.line(16, 24, "8 rows of 2 columns")
	d.line(24, 40, "column id and length, each")
	d.line(40, len(d.b), "chunks")
	text += "\narrival block\n" + d.out.String()
	d = dump{b: AppendPending(nil, []Pending{{Key: []byte("key"), Row: []byte("row")}})}
	d.envelope()
	d.line(16, 20, "1 segment")
	d.line(20, 28, "lengths of key and row")
	d.line(28, len(d.b), "key, row")
	text += "\ncommit record\n" + d.out.String()
	d = dump{b: AppendArrivalRows(nil, [][]byte{[]byte("first"), []byte("second")})}
	d.envelope()
	d.line(16, 20, "2 rows")
	d.line(20, len(d.b), "lengths and rows")
	text += "\narrival block of rows\n" + d.out.String()
	golden(t, "records.txt", text)
}

func sampleInfo() *Info {
	info := &Info{Rows: 8, Order: OrderKeyTime, BucketWidth: 7_200_000_000, SeqMin: 3, SeqMax: 9, FlushedTo: 9,
		PartBlocks: []int{2}, BlockRows: []uint16{4, 2}, HasKeys: true, LastKey: []byte("rome3"),
		HasTimes: true, BlockTimes: []table.Range{{Lo: 10, Hi: 20}, {Lo: 1 << 62, Hi: -1 << 62}}}
	info.FirstKeys.Append([]byte("oslo1"))
	info.FirstKeys.Append([]byte("oslo2"))
	info.Columns = []Column{{ID: 1, Kind: vector.Int64, Codec: rowkey.CodecInt, Parts: []Part{{Size: 100, CRC: 0x01020304}}}}
	return info
}

func TestChunkRoundTrip(t *testing.T) {
	var w ChunkWriter
	var d encoding.Decoder
	for _, v := range []*vector.Vector{sampleInts(), sampleTexts()} {
		var total Stats
		src := w.Append(nil, v, sampleBlocks, map[vector.Kind]rowkey.Codec{vector.Int64: rowkey.CodecInt, vector.Bytes: rowkey.CodecBytes}[v.Kind], &total)
		var c Chunk
		if err := c.Open(src, "chunk"); err != nil {
			t.Fatal(err)
		}
		got := vector.New(v.Kind, 0)
		if err := c.DecodeAll(&d, got); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < v.N; i++ {
			if got.IsNull(i) != v.IsNull(i) || !v.IsNull(i) && v.Kind == vector.Bytes && string(got.Bytes(i)) != string(v.Bytes(i)) ||
				!v.IsNull(i) && v.Kind == vector.Int64 && got.I64[i] != v.I64[i] {
				t.Errorf("%s row %d differs", v.Kind, i)
			}
		}
		if total.Rows != 8 || total.Nulls != 1 || total.Flags&(HasBounds|MinExact|MaxExact) != HasBounds|MinExact|MaxExact {
			t.Errorf("%s totals %+v", v.Kind, total)
		}
		if v.Kind == vector.Int64 {
			if want := int64(6_000_000 + 0 + 1 + 4 + 2 + 2 + 4 - 5); total.SumLo != uint64(want) || total.SumHi != 0 {
				t.Errorf("sum %d, want %d", total.SumLo, want)
			}
		} else if c.Dict == nil || c.Dict.N != 2 {
			t.Errorf("dictionary %+v", c.Dict)
		}
	}
}

func TestStatsExclude(t *testing.T) {
	v := vector.New(vector.Int32, 0)
	for _, x := range []int32{-5, 3, 9} {
		v.AppendInt32(x)
	}
	v.AppendNull()
	var s Stats
	collect(&s, nil, v, rowkey.CodecInt, 0, 4)
	key := func(x int32) []byte {
		c := vector.New(vector.Int32, 1)
		c.AppendInt32(x)
		return rowkey.AppendKey(nil, rowkey.CodecInt, c, 0)
	}
	for _, c := range []struct {
		op   table.CompareOp
		x    int32
		want bool
	}{
		{table.EQ, -6, false}, {table.EQ, -5, true}, {table.EQ, 4, true}, {table.EQ, 9, true}, {table.EQ, 10, false},
		{table.LT, -5, false}, {table.LT, -4, true}, {table.LE, -5, true}, {table.LE, -6, false},
		{table.GT, 9, false}, {table.GT, 8, true}, {table.GE, 9, true}, {table.GE, 10, false}, {table.NE, 3, true},
		{table.IsNull, 0, true}, {table.IsNotNull, 0, true},
	} {
		if got := s.MayMatch(c.op, key(c.x)); got != c.want {
			t.Errorf("op %d %d: %v, want %v", c.op, c.x, got, c.want)
		}
	}
	one := vector.New(vector.Int32, 0)
	one.AppendInt32(4)
	collect(&s, nil, one, rowkey.CodecInt, 0, 1)
	if s.MayMatch(table.NE, key(4)) || s.MayMatch(table.IsNull, nil) {
		t.Error("a constant block is not excluded")
	}
	long := vector.New(vector.Bytes, 0)
	long.AppendString(strings.Repeat("z", 100))
	collect(&s, nil, long, rowkey.CodecBytes, 0, 1)
	if exact := rowkey.AppendKey(nil, rowkey.CodecBytes, long, 0); !s.MayMatch(table.EQ, exact) || s.Flags&(MinExact|MaxExact) != 0 {
		t.Errorf("cut bounds %+v", s)
	}
	long.Data[0] = 0xFF
	for i := range long.Data {
		long.Data[i] = 0xFF
	}
	collect(&s, nil, long, rowkey.CodecBytes, 0, 1)
	if s.Flags&HasBounds != 0 {
		t.Errorf("bounds of FF.. %+v", s)
	}
}

// TestDamageIsDetected flips and cuts bytes of every kind of value. With the
// checksum repaired, the decoders themselves must hold.
func TestDamageIsDetected(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var w ChunkWriter
	var a ArrivalWriter
	ids, kinds := []uint32{1, 2, 3}, []vector.Kind{vector.Int64, vector.Bytes, vector.Bool}
	info := sampleInfo()
	for name, c := range map[string]struct {
		src    []byte
		decode func([]byte) error
	}{
		"ints":  {w.Append(nil, sampleInts(), sampleBlocks, rowkey.CodecInt, &Stats{}), decodeChunk},
		"texts": {w.Append(nil, sampleTexts(), sampleBlocks, rowkey.CodecBytes, &Stats{}), decodeChunk},
		"row":   {info.Append(nil), func(b []byte) error { _, err := DecodeInfo(b, "row"); return err }},
		"arrival": {a.Append(nil, ids[:2], []*vector.Vector{sampleInts(), sampleTexts()}, 8),
			func(b []byte) error { _, _, err := DecodeArrival(b, ids, kinds, "arrival"); return err }},
		"arrival rows": {AppendArrivalRows(nil, [][]byte{[]byte("a"), []byte("bcd")}),
			func(b []byte) error { _, err := DecodeArrivalRows(b, "arrival"); return err }},
		"pending": {AppendPending(nil, []Pending{{[]byte("a"), []byte("b")}, {[]byte("c"), []byte("d")}}),
			func(b []byte) error { _, err := DecodePending(b, "pending"); return err }},
		"bloom": {AppendBloom(nil, []uint64{1, 2, 3}), func(b []byte) error { _, err := OpenBloom(b, "bloom"); return err }},
	} {
		if err := c.decode(c.src); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		unknown := append([]byte(nil), c.src...)
		unknown[4] = 9
		var corrupt *table.CorruptionError
		if err := c.decode(unknown); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "version 9") {
			t.Errorf("%s: unknown version: %v", name, err)
		}
		for i := 0; i < 3000; i++ {
			bad := append([]byte(nil), c.src...)
			at := rng.IntN(len(bad))
			bad[at] ^= byte(1 + rng.IntN(255))
			// Bytes 5 to 7 are covered by the checksum like all others.
			if err := c.decode(bad); err == nil && name != "bloom" {
				t.Fatalf("%s: a flip at %d of %d goes unseen", name, at, len(bad))
			} else if err != nil && !errors.As(err, &corrupt) {
				t.Fatalf("%s: %v is no corruption error", name, err)
			}
			if rng.IntN(3) == 0 {
				bad = bad[:rng.IntN(len(bad))]
				_ = c.decode(bad)
			}
			repair(bad)
			if err := c.decode(bad); err != nil && !errors.As(err, &corrupt) && !errors.Is(err, encoding.ErrMalformed) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// repair makes length and checksum fit the bytes.
func repair(b []byte) {
	if len(b) < envelopeSize {
		return
	}
	if n := binary.LittleEndian.Uint32(b[8:]); int64(n) > int64(len(b)-envelopeSize) {
		binary.LittleEndian.PutUint32(b[8:], uint32(len(b)-envelopeSize))
	}
	e := b[:envelopeSize+int(binary.LittleEndian.Uint32(b[8:]))]
	binary.LittleEndian.PutUint32(b[12:], checksum(e))
}

func decodeChunk(b []byte) error {
	var c Chunk
	if err := c.Open(b, "chunk"); err != nil {
		return err
	}
	var s Stats
	for i := 0; i < c.Blocks(); i++ {
		c.BlockStats(i, &s)
	}
	var d encoding.Decoder
	return c.DecodeAll(&d, vector.New(c.Kind, 0))
}

func TestBloom(t *testing.T) {
	var hashes []uint64
	x := uint64(1)
	next := func() uint64 { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x }
	for i := 0; i < 10_000; i++ {
		hashes = append(hashes, next())
	}
	b, err := OpenBloom(AppendBloom(nil, hashes), "bloom")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hashes {
		if !b.MayContain(h) {
			t.Fatal("a key is missing")
		}
	}
	wrong := 0
	for i := 0; i < 10_000; i++ {
		if b.MayContain(next()) {
			wrong++
		}
	}
	if wrong > 200 {
		t.Fatalf("%d of 10,000 absent keys pass", wrong)
	}
}
