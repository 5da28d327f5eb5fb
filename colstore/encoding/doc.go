// Package encoding turns one block of one column (at most MaxRows values) into
// bytes and back, choosing the cheapest of a ladder of encodings per block.
//
// It knows vectors and bytes, not chunks, checksums or keys (colstore/segment).
// Decoders trust nothing: malformed bytes give an error, never a panic. The
// source must be followed by Slack readable bytes.
//
// # Block payload
//
//	0             validity bitmap, ceil(rows/64) words  (only if 0 < nulls < rows)
//	v             payload of the encoding               (nothing if nulls == rows)
//
// If the encoding's number has the bit ValidRuns, the validity is in the form
// of bit runs instead of a bitmap. The value of a NULL row repeats a
// neighbour's: bounds may be taken over all rows. All numbers are
// little-endian; varint and uvarint are those of encoding/binary.
//
//	encoding      kinds           payload
//	Null          all             empty: every row is NULL
//	Const         all             one value (Raw form; integers: i64; Bytes: all remaining bytes)
//	Raw           fixed, Bool     values; Bool: bitmap
//	FOR           integers        base i64 | width u8 | packed (value - base)
//	Delta         integers        first i64 | base i64 | width u8 | packed (value[i+1]-value[i]-base)
//	Decimal       floats          exponent u8 | exceptions u16 | base i64 | width u8 |
//	                              packed (value*10^exponent - base) | positions u16.. | values..
//	Dict          Bytes           width u8 | packed codes into the chunk's dictionary
//	Plain         Bytes           base u32 | width u8 | packed (length - base) | data
//	S2            Bytes           raw size u32 | s2 block holding a Plain payload
//	Step          integers        first i64 | step i64: value[i] = first + i*step
//	Linear        integers        first i64 | slope i64 | base i64 | width u8 |
//	                              packed (value[i] - first - (i*slope >> 16) - base)
//	PatchedFOR    integers        base varint | width u8 | patches | packed (value - base)
//	PatchedDelta  integers        first varint | base varint | width u8 | patches | packed (difference - base)
//	Runs          integers        runs u16 | width u8 | packed (length - 1) | encoding u8 | payload: run values
//	Runs          floats          the same of the values' bits as i64 (float4: u32)
//	Runs          Bool            bit runs
//	DecimalInts   floats          exponent u8 | exceptions u16 | positions u16.. | values.. |
//	                              encoding u8 | payload: value*10^exponent as integers
//	Split         floats          cut u8 | entries u8 | exceptions u16 | entries u16.. | positions u16.. |
//	                              left parts u16.. | packed codes | packed right parts of cut bits
//	Codes         Bytes           encoding u8 | payload: codes into the chunk's dictionary as integers
//	Zstd          Bytes           raw size u32 | zstd frame holding a Plain payload
//	Scaled        integers        base varint | factor uvarint | encoding u8 | payload: (value - base) / factor
//	Huffman       integers        0 u8 | base varint | patches | huff0 block of bytes (value - base)
//	              or              1 u8 | first varint | base varint | patches | the same of differences
//
//	patches       count uvarint | per patch: rows skipped uvarint, value - base varint
//	bit runs      first bit u8 | runs u16 | width u8 | packed (length - 1)
//
// A patched value's packed slot repeats that of another row without a patch,
// so that bounds of the packed values are attained ones.
package encoding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/klauspost/compress/huff0"

	"tsdb/colstore/vector"
)

// MaxRows is the largest number of rows of a block. Larger blocks would skip
// less and decode beyond the first-level cache.
const MaxRows = 1024

// Slack is the number of readable bytes that must follow a payload.
const Slack = 64

// Encoding names the form of a block's payload. The numbers are written into
// files: append only.
type Encoding uint8

// The encodings; see the package comment.
const (
	Null    Encoding = 0
	Const   Encoding = 1
	Raw     Encoding = 2
	FOR     Encoding = 3
	Delta   Encoding = 4
	Decimal Encoding = 5
	Dict    Encoding = 6
	Plain   Encoding = 7
	S2      Encoding = 8

	Step         Encoding = 9
	Linear       Encoding = 10
	PatchedFOR   Encoding = 11
	PatchedDelta Encoding = 12
	Runs         Encoding = 13
	DecimalInts  Encoding = 14
	Split        Encoding = 15
	Codes        Encoding = 16
	Zstd         Encoding = 17
	Scaled       Encoding = 18
	Huffman      Encoding = 19

	// ValidRuns is set in the number of a block whose validity is in runs.
	ValidRuns Encoding = 0x80
)

var names = [...]string{"null", "const", "raw", "for", "delta", "decimal", "dict", "plain", "s2", "step", "linear",
	"patched for", "patched delta", "runs", "decimal integers", "split", "codes", "zstd", "scaled", "huffman"}

func (e Encoding) String() string {
	form := e &^ ValidRuns
	switch {
	case int(form) >= len(names):
		return fmt.Sprintf("unknown(%d)", uint8(e))
	case e != form:
		return names[form] + ", validity in runs"
	}
	return names[form]
}

// IsCodes reports whether the values are codes into the chunk's dictionary.
func (e Encoding) IsCodes() bool {
	form := e &^ ValidRuns
	return form == Dict || form == Codes
}

// Effort says how much work an Encoder does to make blocks small.
type Effort uint8

// The efforts; every Decoder reads the blocks of all of them.
const (
	Full  Effort = iota // the whole ladder
	Quick               // one pass over the values: blocks that live for seconds
	Cold                // the smallest form, however it decodes
)

// ErrMalformed is returned for bytes that are no block of the stated form.
var ErrMalformed = errors.New("malformed block")

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }

// Encoder encodes blocks, reusing its buffers. The zero value is ready.
type Encoder struct {
	Effort Effort

	u64   []uint64
	i64   []int64
	f64   []float64
	f32   []float32
	diff  []int64
	runs  []int64
	lens  []uint64
	pos   []uint16
	patch []int64

	exceptions []uint16 // of decimals
	bytes      []byte
	huff       []byte
	scratch    *huff0.Scratch

	trial []byte
	tmp   []byte
	tmp2  []byte
}

// Decoder decodes blocks, reusing its buffers. The zero value is ready.
type Decoder struct {
	i64   []int64
	runs  []int64
	lens  []int64
	tmp   []byte
	valid []uint64
	bits  []uint64
	vec   vector.Vector

	bytes   []byte
	scratch *huff0.Scratch
}

// Block is the position of a block in a column: rows From to To.
type Block struct{ From, To int }

// CountNulls returns the NULL rows of v between from and to.
func CountNulls(v *vector.Vector, from, to int) int {
	if v.Valid == nil {
		return 0
	}
	ones := 0
	for i := from; i < to; i += 64 {
		w := loadBits(v.Valid, i)
		if r := to - i; r < 64 {
			w &= 1<<uint(r) - 1
		}
		ones += bits.OnesCount64(w)
	}
	return to - from - ones
}

// Append encodes rows from to to of a flat vector and returns the extended dst,
// the encoding and the number of NULLs. codes, if not nil, are the dictionary
// codes of these rows of a Bytes vector.
func (e *Encoder) Append(dst []byte, v *vector.Vector, from, to int, codes []int32) ([]byte, Encoding, int) {
	n := to - from
	nulls := CountNulls(v, from, to)
	if nulls == n {
		return dst, Null, nulls
	}
	var validity Encoding
	if nulls > 0 {
		dst, validity = e.appendValidity(dst, v.Valid, from, n)
	}
	var enc Encoding
	switch v.Kind {
	case vector.Bool:
		dst, enc = e.appendBool(dst, v, from, n)
	case vector.Int16:
		dst, enc = appendInts(e, dst, v.I16[from:to], v, from, nulls)
	case vector.Int32:
		dst, enc = appendInts(e, dst, v.I32[from:to], v, from, nulls)
	case vector.Int64:
		dst, enc = appendInts(e, dst, v.I64[from:to], v, from, nulls)
	case vector.Uint32:
		dst, enc = appendInts(e, dst, v.U32[from:to], v, from, nulls)
	case vector.Float32:
		dst, enc = appendFloats(e, dst, v.F32[from:to], &e.f32, v, from, nulls)
	case vector.Float64:
		dst, enc = appendFloats(e, dst, v.F64[from:to], &e.f64, v, from, nulls)
	case vector.Fixed16:
		dst, enc = appendFixed(dst, v.F16[from:to])
	case vector.Bytes:
		if codes != nil {
			dst, enc = e.appendCodes(dst, codes)
		} else {
			dst, enc = e.appendText(dst, v, from, to)
		}
	}
	return dst, enc | validity, nulls
}

// Decode decodes a block of rows values with the given number of NULLs and
// appends them to dst, whose kind is that of the block. For encodings Dict
// and Codes the codes go to dst.I32; dst.Dict is the caller's to set, and dictLen bounds the
// codes. src must have capacity for Slack more bytes.
func (d *Decoder) Decode(dst *vector.Vector, enc Encoding, src []byte, rows, nulls, dictLen int) error {
	valid, src, err := d.open(&enc, src, rows, nulls)
	if err != nil {
		return err
	}
	if enc == Null {
		appendNulls(dst, rows)
		return nil
	}
	base := dst.N
	if err := d.values(dst, enc, src, rows, dictLen); err != nil {
		return err
	}
	setValid(dst, base, rows, valid)
	return nil
}

// open checks the counts and takes the validity off a block: nil words if no
// row is NULL. A block of NULLs alone comes out as encoding Null.
func (d *Decoder) open(enc *Encoding, src []byte, rows, nulls int) ([]uint64, []byte, error) {
	if rows < 0 || rows > MaxRows || nulls < 0 || nulls > rows || cap(src)-len(src) < Slack {
		return nil, nil, malformed("row count")
	}
	form := *enc &^ ValidRuns
	if form == Null || nulls == rows {
		if nulls != rows {
			return nil, nil, malformed("null count")
		}
		*enc = Null
		return nil, nil, nil
	}
	if nulls == 0 {
		return nil, src, nil
	}
	w := vector.Words(rows)
	d.valid = extend(d.valid[:0], w)
	if *enc != form {
		n, err := d.bitRuns(d.valid, src, rows)
		if err != nil {
			return nil, nil, err
		}
		*enc = form
		return d.valid, src[n:], nil
	}
	if len(src) < 8*w {
		return nil, nil, malformed("validity bitmap")
	}
	for i := range d.valid {
		d.valid[i] = binary.LittleEndian.Uint64(src[8*i:])
	}
	return d.valid, src[8*w:], nil
}

func (d *Decoder) values(dst *vector.Vector, enc Encoding, src []byte, rows, dictLen int) error {
	switch dst.Kind {
	case vector.Bool:
		return d.decodeBool(dst, enc, src, rows)
	case vector.Int16:
		return intsInto(d, &dst.I16, dst, enc, src, rows)
	case vector.Int32:
		return intsInto(d, &dst.I32, dst, enc, src, rows)
	case vector.Int64:
		return intsInto(d, &dst.I64, dst, enc, src, rows)
	case vector.Uint32:
		return intsInto(d, &dst.U32, dst, enc, src, rows)
	case vector.Float32:
		return floatsInto(d, &dst.F32, dst, enc, src, rows)
	case vector.Float64:
		return floatsInto(d, &dst.F64, dst, enc, src, rows)
	case vector.Fixed16:
		return decodeFixed(dst, enc, src, rows)
	case vector.Bytes:
		return d.decodeBytes(dst, enc, src, rows, dictLen)
	}
	return malformed("kind")
}

func zeroFrom(v *vector.Vector, base int) {
	switch v.Kind {
	case vector.Bool:
		for i := base; i < v.N; i++ {
			v.Bits.Clear(i)
		}
	case vector.Int16:
		clear(v.I16[base:])
	case vector.Int32:
		clear(v.I32[base:])
	case vector.Int64:
		clear(v.I64[base:])
	case vector.Uint32:
		clear(v.U32[base:])
	case vector.Float32:
		clear(v.F32[base:])
	case vector.Float64:
		clear(v.F64[base:])
	case vector.Fixed16:
		clear(v.F16[base:])
	}
}

// extend makes s n elements longer; their values are unspecified.
func extend[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s[:len(s)+n]
	}
	ns := make([]T, len(s)+n, max(len(s)+n, 2*cap(s), vector.BatchSize))
	copy(ns, s)
	return ns
}
