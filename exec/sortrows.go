package exec

import (
	"encoding/binary"
	"math"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/sql/types"
)

// sortSpec says how one key orders.
type sortSpec struct {
	typ        types.Type
	desc       bool
	nullsFirst bool
}

func compileKeys(keys []logical.SortKey) ([]scalarKey, error) {
	var out []scalarKey
	for _, k := range keys {
		p, err := eval.Compile(k.Expr)
		if err != nil {
			return nil, err
		}
		out = append(out, scalarKey{prog: p, spec: sortSpec{k.Expr.ResultType(), k.Desc, k.NullsFirst}})
	}
	return out, nil
}

// sortKeys holds the key columns of rows in memory, in a form that compares fast.
type sortKeys struct{ cols []keyColumn }

// keyColumn is one key of all rows: a word per row that orders as the values
// do, and the values where equal words do not mean equal values.
type keyColumn struct {
	spec  sortSpec
	words []uint64
	nulls []bool    // nil: no NULL so far
	rows  *rowStore // nil: the words are exact
	text  bool      // values compare as bytes
}

func newSortKeys(specs []sortSpec) *sortKeys {
	s := &sortKeys{cols: make([]keyColumn, len(specs))}
	for i, sp := range specs {
		c := &s.cols[i]
		c.spec = sp
		if k := sp.typ.Kind(); k == vector.Bytes || k == vector.Fixed16 {
			c.rows = newRowStore([]vector.Kind{k})
			c.text = bytewise(sp.typ.OID)
		}
	}
	return s
}

// bytewise reports whether values of the type order as their bytes.
func bytewise(oid types.OID) bool {
	switch oid {
	case types.Text, types.Varchar, types.Name, types.Bytea, types.Unknown, types.Char:
		return true
	}
	return false
}

func (s *sortKeys) size() int64 {
	var n int64
	for i := range s.cols {
		c := &s.cols[i]
		n += int64(cap(c.words))*8 + int64(cap(c.nulls))
		if c.rows != nil {
			n += c.rows.size()
		}
	}
	return n
}

// add appends the keys of rows sel (nil: all n).
func (s *sortKeys) add(vecs []*vector.Vector, n int, sel []int32) {
	for i := range s.cols {
		s.cols[i].add(vecs[i], n, sel)
	}
}

func (c *keyColumn) add(v *vector.Vector, n int, sel []int32) {
	at := len(c.words)
	count := n
	if sel != nil {
		count = len(sel)
	}
	for i := range count {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		if v.IsNull(row) {
			c.null(at + i)
			continue
		}
		w := orderWord(c.spec.typ, v, row)
		if c.spec.desc {
			w = ^w
		}
		c.words = append(c.words, w)
		if c.nulls != nil {
			c.nulls = append(c.nulls, false)
		}
	}
	if c.rows != nil {
		c.rows.add([]*vector.Vector{v}, n, sel)
	}
}

func (c *keyColumn) null(at int) {
	if c.nulls == nil {
		c.nulls = make([]bool, at, at+vector.BatchSize)
	}
	c.nulls = append(c.nulls, true)
	w := uint64(math.MaxUint64)
	if c.spec.nullsFirst {
		w = 0
	}
	c.words = append(c.words, w)
}

// orderWord returns a word that orders as the values of the type do; values
// with equal words may differ unless the kind has up to 8 bytes.
func orderWord(t types.Type, v *vector.Vector, row int) uint64 {
	const sign = 1 << 63
	i := row & v.Mask()
	switch v.Kind {
	case vector.Bool:
		if v.Bits.Get(i) {
			return 1
		}
		return 0
	case vector.Int16:
		return uint64(v.I16[i]) ^ sign
	case vector.Int32:
		return uint64(v.I32[i]) ^ sign
	case vector.Int64:
		return uint64(v.I64[i]) ^ sign
	case vector.Uint32:
		return uint64(v.U32[i])
	case vector.Float32:
		return floatOrder(float64(v.F32[i]))
	case vector.Float64:
		return floatOrder(v.F64[i])
	case vector.Fixed16:
		if t.OID == types.UUID {
			return binary.BigEndian.Uint64(v.F16[i][:])
		}
		if t.OID == types.Interval {
			return spanWord(intervalSpan(v.F16[i]))
		}
	case vector.Bytes:
		switch b := v.Bytes(row); {
		case bytewise(t.OID):
			return prefixWord(b)
		case t.OID == types.Numeric:
			return numericOrder(b)
		}
	}
	return 0
}

func floatOrder(x float64) uint64 {
	w := floatWord(x)
	if x != x {
		return math.MaxUint64
	}
	if w>>63 != 0 {
		return ^w
	}
	return w | 1<<63
}

// spanWord returns a 128-bit number as a word, the least or greatest for one
// that does not fit.
func spanWord(span [16]byte) uint64 {
	hi, lo := int64(binary.BigEndian.Uint64(span[:])), binary.BigEndian.Uint64(span[8:])
	switch {
	case hi == int64(lo)>>63:
		return lo ^ 1<<63
	case hi < 0:
		return 0
	}
	return math.MaxUint64
}

// prefixWord returns the first 8 bytes as a number.
func prefixWord(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var buf [8]byte
	copy(buf[:], b)
	return binary.BigEndian.Uint64(buf[:])
}

// numericOrder returns sign, weight and first three digits of a numeric as a
// number. It is odd when there are no further digits: then it says everything.
func numericOrder(b []byte) uint64 {
	if len(b) < 8 {
		return 0
	}
	switch sign := binary.BigEndian.Uint16(b[4:]); sign {
	case numericNaN:
		return math.MaxUint64
	case numericPlusInf:
		return math.MaxUint64 - 1
	case numericMinusInf:
		return 0
	default:
		weight := int64(int16(binary.BigEndian.Uint16(b[2:])))
		digits := b[8:]
		for len(digits) >= 2 && digits[0] == 0 && digits[1] == 0 {
			digits = digits[2:]
			weight--
		}
		if len(digits) < 2 {
			return numericZero
		}
		w := uint64(weight+1<<16) << 43
		for i := range 3 {
			if len(digits) >= 2*i+2 {
				w |= uint64(binary.BigEndian.Uint16(digits[2*i:])) << (29 - 14*i)
			}
		}
		for i := 6; i < len(digits); i++ {
			if digits[i] != 0 {
				w |= 1
			}
		}
		if sign == numericNegative {
			return numericZero - 1 - w
		}
		return numericZero + 1 + w
	}
}

const numericZero = 1 << 62

func (s *sortKeys) compareFrom(first int, i, j uint32) int {
	for k := first; k < len(s.cols); k++ {
		if r := s.cols[k].compare(i, j); r != 0 {
			return r
		}
	}
	return 0
}

func (c *keyColumn) compare(i, j uint32) int { return c.compareWith(i, c, j) }
