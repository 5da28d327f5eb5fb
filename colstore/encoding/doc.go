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
// The values of NULL rows are unspecified; encoders repeat a neighbour.
//
//	encoding     kinds                 payload
//	Null         all                   empty: every row is NULL
//	Const        all                   one value (Raw form; Bytes: all remaining bytes)
//	Raw          fixed width, Bool     values, little-endian; Bool: bitmap
//	FOR          integers              base i64 | width u8 | packed (value - base)
//	Delta        integers              first i64 | base i64 | width u8 | packed (value[i+1]-value[i]-base)
//	Decimal      floats                exponent u8 | exceptions u16 | base i64 | width u8 |
//	                                   packed (round(value*10^exponent) - base) | positions u16.. | values..
//	Dict         Bytes                 width u8 | packed codes into the chunk's dictionary
//	Plain        Bytes                 base u32 | width u8 | packed (length - base) | data
//	S2           Bytes                 raw size u32 | s2 block holding a Plain payload
package encoding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

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
)

var names = [...]string{"null", "const", "raw", "for", "delta", "decimal", "dict", "plain", "s2"}

func (e Encoding) String() string {
	if int(e) < len(names) {
		return names[e]
	}
	return fmt.Sprintf("unknown(%d)", uint8(e))
}

// ErrMalformed is returned for bytes that are no block of the stated form.
var ErrMalformed = errors.New("malformed block")

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }

// Encoder encodes blocks, reusing its buffers. The zero value is ready.
type Encoder struct {
	u64  []uint64
	i64  []int64
	pos  []uint16
	tmp  []byte
	tmp2 []byte
}

// Decoder decodes blocks, reusing its buffers. The zero value is ready.
type Decoder struct {
	i64 []int64
	tmp []byte
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
	if nulls > 0 {
		dst = appendBits(dst, v.Valid, from, n)
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
		dst, enc = e.appendFloat32(dst, v.F32[from:to], v, from, nulls)
	case vector.Float64:
		dst, enc = e.appendFloat64(dst, v.F64[from:to], v, from, nulls)
	case vector.Fixed16:
		dst, enc = appendFixed(dst, v.F16[from:to])
	case vector.Bytes:
		if codes != nil {
			dst, enc = e.appendCodes(dst, codes), Dict
		} else {
			dst, enc = e.appendText(dst, v, from, to)
		}
	}
	return dst, enc, nulls
}

// Decode decodes a block of rows values with the given number of NULLs and
// appends them to dst, whose kind is that of the block. For encoding Dict the
// codes go to dst.I32; dst.Dict is the caller's to set, and dictLen bounds the
// codes. src must have capacity for Slack more bytes.
func (d *Decoder) Decode(dst *vector.Vector, enc Encoding, src []byte, rows, nulls, dictLen int) error {
	if rows < 0 || rows > MaxRows || nulls < 0 || nulls > rows || cap(src)-len(src) < Slack {
		return malformed("row count")
	}
	if enc == Null || nulls == rows {
		if nulls != rows {
			return malformed("null count")
		}
		appendNulls(dst, rows)
		return nil
	}
	base := dst.N
	var valid []byte
	if nulls > 0 {
		w := vector.Words(rows) * 8
		if len(src) < w {
			return malformed("validity bitmap")
		}
		valid, src = src[:w], src[w:]
	}
	if err := d.values(dst, enc, src, rows, dictLen); err != nil {
		return err
	}
	setValid(dst, base, rows, valid)
	return nil
}

func (d *Decoder) values(dst *vector.Vector, enc Encoding, src []byte, rows, dictLen int) error {
	switch dst.Kind {
	case vector.Bool:
		return decodeBool(dst, enc, src, rows)
	case vector.Int16:
		return intsInto(d, &dst.I16, dst, enc, src, rows)
	case vector.Int32:
		return intsInto(d, &dst.I32, dst, enc, src, rows)
	case vector.Int64:
		return intsInto(d, &dst.I64, dst, enc, src, rows)
	case vector.Uint32:
		return intsInto(d, &dst.U32, dst, enc, src, rows)
	case vector.Float32:
		return d.decodeFloat32(dst, enc, src, rows)
	case vector.Float64:
		return d.decodeFloat64(dst, enc, src, rows)
	case vector.Fixed16:
		return decodeFixed(dst, enc, src, rows)
	case vector.Bytes:
		return d.decodeBytes(dst, enc, src, rows, dictLen)
	}
	return malformed("kind")
}

// appendBits appends n bits of b from bit from on, as whole words.
func appendBits(dst []byte, b vector.Bitmap, from, n int) []byte {
	for i := 0; i < n; i += 64 {
		w := loadBits(b, from+i)
		if r := n - i; r < 64 {
			w &= 1<<uint(r) - 1
		}
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// loadBits returns the 64 bits from bit i on, zero past the end.
func loadBits(b vector.Bitmap, i int) uint64 {
	k, off := i>>6, uint(i)&63
	if k >= len(b) {
		return 0
	}
	w := b[k] >> off
	if off != 0 && k+1 < len(b) {
		w |= b[k+1] << (64 - off)
	}
	return w
}

// storeBits writes n bits of src, whole words, at bit at of b.
func storeBits(b vector.Bitmap, at int, src []byte, n int) {
	for i := 0; i < n; i += 64 {
		w := binary.LittleEndian.Uint64(src[i/8:])
		r := min(64, n-i)
		mask := ^uint64(0)
		if r < 64 {
			mask = 1<<uint(r) - 1
		}
		k, off := (at+i)>>6, uint(at+i)&63
		b[k] = b[k]&^(mask<<off) | w&mask<<off
		if off != 0 && int(off)+r > 64 {
			b[k+1] = b[k+1]&^(mask>>(64-off)) | w&mask>>(64-off)
		}
	}
}

var allOnes = func() (b [MaxRows / 8]byte) {
	for i := range b {
		b[i] = 0xFF
	}
	return b
}()

// setValid records the validity of rows appended after row base; valid is nil
// when none of them is NULL.
func setValid(dst *vector.Vector, base, rows int, valid []byte) {
	dst.N = base + rows
	if valid == nil {
		if dst.Valid != nil {
			dst.Valid = dst.Valid.Resize(dst.N)
			storeBits(dst.Valid, base, allOnes[:], rows)
		}
		return
	}
	if dst.Valid == nil {
		dst.Valid = vector.NewBitmap(max(dst.N, vector.BatchSize), true)[:vector.Words(dst.N)]
	}
	dst.Valid = dst.Valid.Resize(dst.N)
	storeBits(dst.Valid, base, valid, rows)
}

var noneValid [MaxRows / 8]byte

func appendNulls(dst *vector.Vector, rows int) {
	base := dst.N
	switch {
	case dst.Kind != vector.Bytes:
		dst.Resize(base + rows)
		zeroFrom(dst, base)
	case dst.Dict != nil:
		dst.I32 = extend(dst.I32, rows)
		clear(dst.I32[base:])
	default:
		end := int32(len(dst.Data))
		for i := 0; i < rows; i++ {
			dst.Offsets = append(dst.Offsets, end)
		}
	}
	setValid(dst, base, rows, noneValid[:])
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
