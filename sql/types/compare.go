package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"tsdb/colstore/vector"
)

// CompareFloat orders floats as PostgreSQL does: NaN equals NaN and is the
// largest, -0 equals 0.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	}
	return -1
}

// Compare orders row i of a against row j of b, both not NULL and of type t,
// as the type's btree operator class does. Text orders by bytes.
func Compare(t Type, a *vector.Vector, i int, b *vector.Vector, j int) int {
	p, q := i&a.Mask(), j&b.Mask()
	switch t.Kind() {
	case vector.Bool:
		x, y := a.Bool(i), b.Bool(j)
		if x == y {
			return 0
		}
		if y {
			return -1
		}
		return 1
	case vector.Int16:
		return cmp.Compare(a.I16[p], b.I16[q])
	case vector.Int32:
		return cmp.Compare(a.I32[p], b.I32[q])
	case vector.Int64:
		return cmp.Compare(a.I64[p], b.I64[q])
	case vector.Uint32:
		return cmp.Compare(a.U32[p], b.U32[q])
	case vector.Float32:
		return CompareFloat(float64(a.F32[p]), float64(b.F32[q]))
	case vector.Float64:
		return CompareFloat(a.F64[p], b.F64[q])
	case vector.Fixed16:
		if t.OID == Interval {
			return DecodeInterval(a.F16[p]).Compare(DecodeInterval(b.F16[q]))
		}
		return bytes.Compare(a.F16[p][:], b.F16[q][:])
	}
	return compareBytes(t, a.Bytes(i), b.Bytes(j))
}

func compareBytes(t Type, x, y []byte) int {
	switch t.OID {
	case Text, Varchar, Name, Bytea:
		return bytes.Compare(x, y)
	case Numeric:
		return CompareNumeric(x, y)
	case BPChar:
		return bytes.Compare(trimPad(x), trimPad(y))
	case TimeTZ:
		return compareTimeTZ(x, y)
	case JSONB:
		return CompareJSONB(x, y)
	case Record:
		return compareRecords(x, y)
	}
	if ElemOf(t.OID) != 0 {
		return compareArrays(x, y)
	}
	return bytes.Compare(x, y)
}

// compareTimeTZ orders by instant, then by zone, western zones last.
func compareTimeTZ(x, y []byte) int {
	a, ae := DecodeTimeTZ(x)
	b, be := DecodeTimeTZ(y)
	if c := cmp.Compare(a-int64(ae)*usecPerSec, b-int64(be)*usecPerSec); c != 0 {
		return c
	}
	return cmp.Compare(-ae, -be)
}

// AppendEqualKey appends bytes that are equal for two non-NULL values of type
// t exactly when Compare calls the values equal: what a hash table compares.
// The bytes of one value are not a prefix-free code: add a length between
// columns. They do not order like the values.
func AppendEqualKey(dst []byte, t Type, v *vector.Vector, i int) []byte {
	p := i & v.Mask()
	switch t.Kind() {
	case vector.Float32:
		return binary.LittleEndian.AppendUint64(dst, equalFloat(float64(v.F32[p])))
	case vector.Float64:
		return binary.LittleEndian.AppendUint64(dst, equalFloat(v.F64[p]))
	case vector.Fixed16:
		if t.OID == Interval {
			hi, lo := DecodeInterval(v.F16[p]).Span()
			dst = binary.LittleEndian.AppendUint64(dst, lo)
			return binary.LittleEndian.AppendUint64(dst, uint64(hi))
		}
	case vector.Bytes:
		b := v.Bytes(i)
		switch t.OID {
		case Numeric:
			return AppendNumericEqualKey(dst, b)
		case BPChar:
			return append(dst, trimPad(b)...)
		case Record:
			return appendRecordEqualKey(dst, b)
		case JSONB:
			if n, ok := parseNode(b); ok {
				return n.appendEqualKey(dst)
			}
		}
		if elem := ElemOf(t.OID); elem != 0 {
			return appendArrayEqualKey(dst, b)
		}
	}
	return AppendBinary(dst, t, v, i)
}

// AppendNumericEqualKey appends a stored numeric without its display scale.
func AppendNumericEqualKey(dst, stored []byte) []byte {
	dst = append(dst, stored[2:6]...)
	return append(dst, stored[8:]...)
}

func equalFloat(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

func appendArrayEqualKey(dst, b []byte) []byte {
	a, err := DecodeArray(b)
	if err != nil {
		return append(dst, b...)
	}
	for _, d := range a.Dims {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(d.Len))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(d.Lower))
	}
	t := T(a.Elem)
	v := vector.New(t.Kind(), a.n)
	if a.AppendElems(v) != nil {
		return append(dst, b...)
	}
	for i := range v.N {
		if v.IsNull(i) {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = AppendEqualKey(dst, t, v, i)
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}
