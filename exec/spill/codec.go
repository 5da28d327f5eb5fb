package spill

import (
	"encoding/binary"
	"unsafe"

	"tsdb/colstore/vector"
)

// raw views a slice of numbers as its bytes.
func raw[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// appendBatch appends the plain form of b.
func appendBatch(dst []byte, b *vector.Batch) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(b.N))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b.Cols)))
	for _, v := range b.Cols {
		dst = appendVector(dst, v, b.N)
	}
	return dst
}

func appendVector(dst []byte, v *vector.Vector, n int) []byte {
	nulls := byte(0)
	if v.Valid != nil {
		nulls = 1
	}
	dst = append(dst, byte(v.Kind), nulls, 0, 0)
	if nulls == 1 {
		dst = append(dst, raw(v.Valid[:vector.Words(n)])...)
	}
	switch v.Kind {
	case vector.Bool:
		return append(dst, raw(v.Bits[:vector.Words(n)])...)
	case vector.Int16:
		return append(dst, raw(v.I16[:n])...)
	case vector.Int32:
		return append(dst, raw(v.I32[:n])...)
	case vector.Int64:
		return append(dst, raw(v.I64[:n])...)
	case vector.Uint32:
		return append(dst, raw(v.U32[:n])...)
	case vector.Float32:
		return append(dst, raw(v.F32[:n])...)
	case vector.Float64:
		return append(dst, raw(v.F64[:n])...)
	case vector.Fixed16:
		return append(dst, raw(v.F16[:n])...)
	case vector.Bytes:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v.Offsets[n]))
		dst = append(dst, raw(v.Offsets[:n+1])...)
		return append(dst, v.Data[:v.Offsets[n]]...)
	}
	return dst
}

// input is the rest of the plain form of a batch.
type input struct {
	b  []byte
	ok bool
}

func (in *input) take(n int) []byte {
	if n < 0 || n > len(in.b) {
		in.ok = false
		return nil
	}
	p := in.b[:n]
	in.b = in.b[n:]
	return p
}

func (in *input) u32() int {
	p := in.take(4)
	if p == nil {
		return 0
	}
	return int(binary.LittleEndian.Uint32(p))
}

// slice makes dst hold the next n values.
func slice[T any](in *input, dst []T, n int) []T {
	var one T
	p := in.take(n * int(unsafe.Sizeof(one)))
	if !in.ok {
		return dst[:0]
	}
	if cap(dst) < n {
		dst = make([]T, n)
	}
	dst = dst[:n]
	copy(raw(dst), p)
	return dst
}

// maxRows bounds the rows of a batch that is read: more is damage.
const maxRows = 1 << 24

// readBatch makes b hold the batch whose plain form is p; false: p is none.
func readBatch(b *vector.Batch, p []byte) bool {
	in := &input{b: p, ok: true}
	n, cols := in.u32(), in.u32()
	if !in.ok || n > maxRows || cols > len(p) {
		return false
	}
	for len(b.Cols) < cols {
		b.Cols = append(b.Cols, &vector.Vector{})
	}
	b.Cols, b.N, b.Sel = b.Cols[:cols], n, nil
	for _, v := range b.Cols {
		readVector(in, v, n)
		if !in.ok {
			return false
		}
	}
	return in.ok && len(in.b) == 0
}

func readVector(in *input, v *vector.Vector, n int) {
	head := in.take(4)
	if head == nil {
		return
	}
	v.Reset(vector.Kind(head[0]))
	if head[1] == 1 {
		v.Valid = slice(in, v.Valid, vector.Words(n))
	}
	v.N = n
	switch v.Kind {
	case vector.Bool:
		v.Bits = slice(in, v.Bits, vector.Words(n))
	case vector.Int16:
		v.I16 = slice(in, v.I16, n)
	case vector.Int32:
		v.I32 = slice(in, v.I32, n)
	case vector.Int64:
		v.I64 = slice(in, v.I64, n)
	case vector.Uint32:
		v.U32 = slice(in, v.U32, n)
	case vector.Float32:
		v.F32 = slice(in, v.F32, n)
	case vector.Float64:
		v.F64 = slice(in, v.F64, n)
	case vector.Fixed16:
		v.F16 = slice(in, v.F16, n)
	case vector.Bytes:
		readBytes(in, v, n)
	default:
		in.ok = false
	}
}

func readBytes(in *input, v *vector.Vector, n int) {
	size := in.u32()
	v.Offsets = slice(in, v.Offsets, n+1)
	v.Data = append(v.Data[:0], in.take(size)...)
	if !in.ok || v.Offsets[0] != 0 || int(v.Offsets[n]) != size {
		in.ok = false
		return
	}
	for i := range n {
		if v.Offsets[i] > v.Offsets[i+1] {
			in.ok = false
			return
		}
	}
}
