package exec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

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

func (c *keyColumn) compare(i, j uint32) int {
	if c.nulls != nil && (c.nulls[i] || c.nulls[j]) {
		switch {
		case c.nulls[i] && c.nulls[j]:
			return 0
		case c.nulls[i] == c.spec.nullsFirst:
			return -1
		}
		return 1
	}
	if r := cmp.Compare(c.words[i], c.words[j]); r != 0 || c.rows == nil {
		return r
	}
	return c.compareValues(i, j)
}

func (c *keyColumn) compareValues(i, j uint32) int {
	a, b := c.rows.chunks[i>>chunkShift].Cols[0], c.rows.chunks[j>>chunkShift].Cols[0]
	ri, rj := int(i&(chunkRows-1)), int(j&(chunkRows-1))
	var r int
	if c.text {
		r = bytes.Compare(a.Bytes(ri), b.Bytes(rj))
	} else {
		r = types.Compare(c.spec.typ, a, ri, b, rj)
	}
	if c.spec.desc {
		return -r
	}
	return r
}

// orderedRows keeps the input of an ordered aggregate until it can be sorted.
type orderedRows struct {
	order []scalarKey
	kinds []vector.Kind
	rows  *rowStore // arguments and group
	keys  *sortKeys
	vecs  []*vector.Vector
}

func newOrderedRows(args []types.Type, order []scalarKey) *orderedRows {
	o := &orderedRows{order: order, vecs: make([]*vector.Vector, len(order))}
	for _, t := range args {
		o.kinds = append(o.kinds, t.Kind())
	}
	o.kinds = append(o.kinds, vector.Uint32)
	o.rows = newRowStore(o.kinds)
	specs := make([]sortSpec, len(order))
	for i, k := range order {
		specs[i] = k.spec
	}
	o.keys = newSortKeys(specs)
	return o
}

func (o *orderedRows) size() int64 { return o.rows.size() + o.keys.size() }

// addBatch keeps n rows. Where DISTINCT has left some rows of b out, the keys
// are the arguments themselves, as SQL demands.
func (o *orderedRows) addBatch(ev *eval.Env, b *vector.Batch, args []*vector.Vector, groups []uint32, n int) error {
	for i, k := range o.order {
		if n < b.N {
			o.vecs[i] = args[k.arg]
			continue
		}
		v, err := k.prog.Eval(ev, b)
		if err != nil {
			return err
		}
		o.vecs[i] = v
	}
	o.keys.add(o.vecs, n, nil)
	o.keep(args, groups, n)
	return nil
}

func (o *orderedRows) keep(args []*vector.Vector, groups []uint32, n int) {
	g := &vector.Vector{Kind: vector.Uint32, N: n, U32: groups}
	if groups == nil {
		g.Const, g.U32 = true, []uint32{0}
	}
	o.rows.add(append(slices.Clip(args), g), n, nil)
}

// replay calls f with the rows in order.
func (o *orderedRows) replay(f func(groups []uint32, args []*vector.Vector, n int) error) error {
	ids := o.keys.order(o.rows.n)
	var b vector.Batch
	shape(&b, len(o.kinds))
	for len(ids) > 0 {
		n := min(len(ids), vector.BatchSize)
		for c := range o.kinds {
			o.rows.gather(b.Cols[c], c, ids[:n])
		}
		last := len(o.kinds) - 1
		if err := f(b.Cols[last].U32[:n], b.Cols[:last], n); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}
