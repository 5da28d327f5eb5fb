package eval

import (
	"bytes"
	"encoding/binary"
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// lookup finds for values of one type the number of an equal entry: the hash
// table behind IN lists and simple CASEs.
type lookup struct {
	typ    types.Type
	ints   intTable
	texts  map[string]int32
	fixed  map[[16]byte]int32
	linear *vector.Vector // entries of types without a hash key, searched one by one
	codes  []int32        // scratch: results per dictionary entry
	key    []byte         // scratch
}

// hashable reports whether values of the type have a key that is equal exactly when they are.
func hashable(t types.Type) bool {
	switch t.OID {
	case types.JSONB, types.TimeTZ:
		return false
	}
	return types.ElemOf(t.OID) == 0
}

func newLookup(t types.Type, capacity int) *lookup {
	l := &lookup{typ: t}
	switch k := t.Kind(); {
	case !hashable(t):
		l.linear = vector.New(k, capacity)
	case k == vector.Bytes:
		l.texts = make(map[string]int32, capacity)
	case k == vector.Fixed16:
		l.fixed = make(map[[16]byte]int32, capacity)
	default:
		l.ints = newIntTable(capacity)
	}
	return l
}

// add enters row i of v, not NULL, under a number; an equal entry before it wins.
func (l *lookup) add(v *vector.Vector, i int, number int32) {
	p := i & v.Mask()
	switch {
	case l.linear != nil:
		l.linear.AppendFrom(v, i)
	case l.texts != nil:
		k := string(l.textKey(v.Bytes(i)))
		if _, ok := l.texts[k]; !ok {
			l.texts[k] = number
		}
	case l.fixed != nil:
		k := l.fixedKey(v.F16[p])
		if _, ok := l.fixed[k]; !ok {
			l.fixed[k] = number
		}
	default:
		l.ints.add(intKey(v, p), number)
	}
}

func intKey(v *vector.Vector, p int) int64 {
	switch v.Kind {
	case vector.Bool:
		if v.Bits.Get(p) {
			return 1
		}
		return 0
	case vector.Int16:
		return int64(v.I16[p])
	case vector.Int32:
		return int64(v.I32[p])
	case vector.Int64:
		return v.I64[p]
	case vector.Uint32:
		return int64(v.U32[p])
	case vector.Float32:
		return floatKey(float64(v.F32[p]))
	}
	return floatKey(v.F64[p])
}

// floatKey maps equal floats to one key: both zeros, and all NaNs.
func floatKey(x float64) int64 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return math.MinInt64 // the bits of -0, which never occur
	}
	return int64(math.Float64bits(x))
}

func (l *lookup) textKey(b []byte) []byte {
	switch l.typ.OID {
	case types.BPChar:
		return bytes.TrimRight(b, " ")
	case types.Numeric:
		l.key = numericKey(l.key[:0], b)
		return l.key
	}
	return b
}

// numericKey drops what equality ignores: the display scale and zero digits at the ends.
func numericKey(dst, b []byte) []byte {
	if len(b) < 8 {
		return append(dst, b...)
	}
	weight, digits := int16(binary.BigEndian.Uint16(b[2:])), b[8:]
	for len(digits) >= 2 && digits[0] == 0 && digits[1] == 0 {
		digits, weight = digits[2:], weight-1
	}
	for n := len(digits); n >= 2 && digits[n-1] == 0 && digits[n-2] == 0; n = len(digits) {
		digits = digits[:n-2]
	}
	sign := binary.BigEndian.Uint16(b[4:])
	if len(digits) == 0 {
		weight = 0
		if sign == 0x4000 {
			sign = 0
		}
	}
	dst = binary.BigEndian.AppendUint16(dst, sign)
	dst = binary.BigEndian.AppendUint16(dst, uint16(weight))
	return append(dst, digits...)
}

// fixedKey normalises an interval to its span; uuids are their own key.
func (l *lookup) fixedKey(v [16]byte) [16]byte {
	if l.typ.OID != types.Interval {
		return v
	}
	const day = int64(24 * 3600 * 1e6)
	micros := int64(binary.LittleEndian.Uint64(v[:]))
	days := int64(int32(binary.LittleEndian.Uint32(v[8:]))) + 30*int64(int32(binary.LittleEndian.Uint32(v[12:])))
	days += micros / day
	if micros %= day; micros < 0 {
		micros, days = micros+day, days-1
	}
	binary.LittleEndian.PutUint64(v[:], uint64(days))
	binary.LittleEndian.PutUint64(v[8:], uint64(micros))
	return v
}

// find writes the number of the entry equal to each of n rows to dst, -1 for
// rows without one and for NULLs. A constant counts as one row.
func (l *lookup) find(v *vector.Vector, n int, dst []int32) {
	if v.Dict != nil && v.Dict.N == 0 { // only NULLs
		for i := range dst[:n] {
			dst[i] = -1
		}
		return
	}
	if v.Dict != nil && !v.Const && v.Dict.N < n {
		l.codes = grown(l.codes, v.Dict.N)
		l.find(v.Dict, v.Dict.N, l.codes)
		for i, c := range v.I32[:n] {
			dst[i] = l.codes[c]
		}
	} else {
		l.findFlat(v, n, dst)
	}
	if v.Valid != nil {
		for i := range dst[:n] {
			if !v.Valid.Get(i) {
				dst[i] = -1
			}
		}
	}
}

func (l *lookup) findFlat(v *vector.Vector, n int, dst []int32) {
	switch {
	case l.linear != nil:
		l.findLinear(v, n, dst)
	case l.texts != nil:
		for i := range dst[:n] {
			dst[i] = -1
			if x, ok := l.texts[string(l.textKey(v.Bytes(i)))]; ok {
				dst[i] = x
			}
		}
	case l.fixed != nil:
		for i := range dst[:n] {
			dst[i] = -1
			if x, ok := l.fixed[l.fixedKey(v.F16[i])]; ok {
				dst[i] = x
			}
		}
	case v.Kind == vector.Int16:
		findInts(&l.ints, v.I16[:n], dst)
	case v.Kind == vector.Int32:
		findInts(&l.ints, v.I32[:n], dst)
	case v.Kind == vector.Int64:
		findInts(&l.ints, v.I64[:n], dst)
	case v.Kind == vector.Uint32:
		findInts(&l.ints, v.U32[:n], dst)
	default:
		for i := range dst[:n] {
			dst[i] = l.ints.find(intKey(v, i))
		}
	}
}

func (l *lookup) findLinear(v *vector.Vector, n int, dst []int32) {
	for i := range dst[:n] {
		dst[i] = -1
		if v.IsNull(i) {
			continue
		}
		for j := 0; j < l.linear.N; j++ {
			if types.Compare(l.typ, v, i, l.linear, j) == 0 {
				dst[i] = int32(j)
				break
			}
		}
	}
}

// intTable is an open-addressing hash table of integers. A slot is free when its number is -1.
type intTable struct {
	keys    []int64
	numbers []int32
	shift   uint
	count   int
}

func newIntTable(capacity int) intTable {
	bits := uint(4)
	for 1<<bits < 2*capacity {
		bits++
	}
	t := intTable{keys: make([]int64, 1<<bits), numbers: make([]int32, 1<<bits), shift: 64 - bits}
	for i := range t.numbers {
		t.numbers[i] = -1
	}
	return t
}

func (t *intTable) slot(k int64) int { return int(uint64(k) * 0x9E3779B97F4A7C15 >> t.shift) }

func (t *intTable) add(k int64, number int32) {
	if 2*(t.count+1) > len(t.keys) {
		old := *t
		*t = newIntTable(len(old.keys))
		for i, n := range old.numbers {
			if n >= 0 {
				t.add(old.keys[i], n)
			}
		}
	}
	mask := len(t.keys) - 1
	for s := t.slot(k); ; s = (s + 1) & mask {
		if t.numbers[s] < 0 {
			t.keys[s], t.numbers[s] = k, number
			t.count++
			return
		}
		if t.keys[s] == k {
			return
		}
	}
}

func (t *intTable) find(k int64) int32 {
	mask := len(t.keys) - 1
	for s := t.slot(k); ; s = (s + 1) & mask {
		if n := t.numbers[s]; n < 0 || t.keys[s] == k {
			return n
		}
	}
}

func findInts[T int16 | int32 | int64 | uint32](t *intTable, x []T, dst []int32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = t.find(int64(v))
	}
}

func grown(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	return s[:n]
}
