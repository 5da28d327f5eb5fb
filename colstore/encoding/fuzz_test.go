package encoding

import (
	"errors"
	"math/rand/v2"
	"testing"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// maxFuzzBytes bounds what a decoder may take for a block that the fuzzer made:
// far more than a block of numbers, far less than a claimed length could ask.
const maxFuzzBytes = 1 << 26

// fuzzDecode feeds arbitrary bytes to the decoder of a kind of column in every
// encoding: an error or rows, never a panic, and no memory for what the bytes
// only claim.
func fuzzDecode(f *testing.F, kind vector.Kind) {
	for _, g := range goldenBlocks() {
		e := Encoder{Effort: g.effort}
		src, enc, nulls := e.Append(nil, g.v, 0, g.v.N, g.codes)
		if g.v.Kind == kind || kind == vector.Int16 && g.v.Kind == vector.Int64 {
			f.Add(uint8(enc), uint16(g.v.N), uint16(nulls), src)
		}
	}
	for enc := range names {
		f.Add(uint8(enc), uint16(64), uint16(0), make([]byte, 24))
		f.Add(uint8(enc)|uint8(ValidRuns), uint16(64), uint16(3), []byte{1, 3, 0, 5, 0xFF, 0xFF, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8})
	}
	f.Fuzz(func(t *testing.T, enc uint8, rows, nulls uint16, src []byte) {
		src = withSlackBytes(src)
		var d Decoder
		dst := vector.New(kind, 0)
		if Encoding(enc).IsCodes() {
			dst.Dict = texts(300, func(int) string { return "" })
		}
		err := d.Decode(dst, Encoding(enc), src, int(rows), int(nulls), 300)
		if err == nil && dst.N != int(rows) {
			t.Fatalf("%d rows, want %d", dst.N, rows)
		}
		if n := cap(d.tmp) + cap(dst.Data); n > maxFuzzBytes && len(dst.Data) < maxFuzzBytes/4 {
			t.Fatalf("%d bytes taken for a block of %d", n, len(src))
		}
		fold := Fold{NoBounds: nulls%2 == 1}
		foldErr := d.Fold(&fold, kind, Encoding(enc), src, int(rows), int(nulls))
		bits := make([]uint64, vector.Words(MaxRows))
		filter := Filter{Op: kernels.Op(rows % 6), Int: int64(nulls), Float: float64(nulls) / 8}
		var filterErr error
		if rows <= MaxRows {
			filterErr = d.Filter(bits, &filter, kind, Encoding(enc), src, int(rows), int(nulls))
		}
		for _, err := range []error{err, foldErr, filterErr} {
			if err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("%v is not ErrMalformed", err)
			}
		}
	})
}

func FuzzDecodeBool(f *testing.F)    { fuzzDecode(f, vector.Bool) }
func FuzzDecodeInt16(f *testing.F)   { fuzzDecode(f, vector.Int16) }
func FuzzDecodeInt32(f *testing.F)   { fuzzDecode(f, vector.Int32) }
func FuzzDecodeInt64(f *testing.F)   { fuzzDecode(f, vector.Int64) }
func FuzzDecodeUint32(f *testing.F)  { fuzzDecode(f, vector.Uint32) }
func FuzzDecodeFloat32(f *testing.F) { fuzzDecode(f, vector.Float32) }
func FuzzDecodeFloat64(f *testing.F) { fuzzDecode(f, vector.Float64) }
func FuzzDecodeBytes(f *testing.F)   { fuzzDecode(f, vector.Bytes) }
func FuzzDecodeFixed16(f *testing.F) { fuzzDecode(f, vector.Fixed16) }

// FuzzRoundTrip encodes columns that a seed draws, decodes, aggregates and
// filters them.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint16(1000), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8, n uint16, effort uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		k, rows := vector.Kind(1+kind%9), 1+int(n)%MaxRows
		v := randomVector(rng, k, rows)
		e, d := Encoder{Effort: Effort(effort % 3)}, Decoder{}
		out, enc, nulls := e.Append(nil, v, 0, rows, nil)
		src, dst := withSlackBytes(out), vector.New(k, 0)
		if err := d.Decode(dst, enc, src, rows, nulls, 0); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if row(dst, i) != row(v, i) {
				t.Fatalf("%s %s: row %d is %s, want %s", k, enc, i, row(dst, i), row(v, i))
			}
		}
		checkFold(t, &d, v, 0, rows, enc, src, nulls)
		checkFilter(t, rng, &d, v, 0, rows, enc, src, nulls)
	})
}

func TestS2LengthIsThatOfTheElements(t *testing.T) {
	for _, n := range []int{1, 100, 70_000, 1_000_000} {
		v := vector.New(vector.Bytes, 0)
		for i := range 3 {
			v.AppendBytes(append(make([]byte, n), byte(i)))
		}
		e := Encoder{Effort: Quick}
		src, enc, _ := e.Append(nil, v, 0, 3, nil)
		if enc != S2 {
			continue
		}
		var d Decoder
		dst := vector.New(vector.Bytes, 0)
		if err := d.Decode(dst, enc, withSlackBytes(src), 3, 0, 0); err != nil || len(dst.Data) != 3*n+3 {
			t.Errorf("%d bytes: %v", n, err)
		}
		d = Decoder{}
		src[0]++ // claims another length, twice
		src[4]++
		if err := d.Decode(dst, enc, withSlackBytes(src), 3, 0, 0); !errors.Is(err, ErrMalformed) || cap(d.tmp) > 0 {
			t.Errorf("%d bytes: a lie gives %v and takes %d", n, err, cap(d.tmp))
		}
	}
}
