package eval

import (
	"math/bits"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
)

// minSet is the number of equality tests of one expression from which a hash
// lookup replaces them.
const minSet = 8

// logicNode is AND or OR over any number of operands.
type logicNode struct {
	nodeInfo
	or   bool
	args []node
}

func compileLogic(e *scalar.Logic) (node, error) {
	es := e.Args
	var in node
	if e.Or {
		var err error
		if in, es, err = gatherEqualities(e.Args); err != nil {
			return nil, err
		}
	}
	args, err := compileAll(es)
	if err != nil {
		return nil, err
	}
	if in != nil {
		args = append([]node{in}, args...)
		if len(args) == 1 {
			return in, nil
		}
	}
	return &logicNode{nodeInfo: combine(false, args...), or: e.Or, args: args}, nil
}

// gatherEqualities turns a OR of many x = constant over one column x into one lookup.
func gatherEqualities(args []scalar.Expr) (node, []scalar.Expr, error) {
	if len(args) < minSet {
		return nil, args, nil
	}
	var col *scalar.Column
	var list *vector.Vector
	var others []scalar.Expr
	hasNull, count := false, 0
	for _, a := range args {
		left, c, t, ok := equality(a)
		x, isCol := left.(*scalar.Column)
		if !ok || !isCol || col != nil && (x.Index != col.Index || c.Kind != list.Kind) || !hashable(t) {
			others = append(others, a)
			continue
		}
		if col == nil {
			col, list = x, vector.New(c.Kind, len(args))
		}
		count++
		if c.IsNull(0) {
			hasNull = true
		} else {
			list.AppendFrom(c, 0)
		}
	}
	if count < minSet {
		return nil, args, nil
	}
	return newIn(&columnNode{index: col.Index}, col.Typ, list, hasNull, false), others, nil
}

// eval keeps two bitmaps: rows that are decided (false for AND, true for OR) and
// rows that saw a NULL.
func (l *logicNode) eval(f *frame) (value, error) {
	m := f.m
	decided, unknown := m.filled(f.n, false), m.filled(f.n, false)
	left := narrowing(f)
	defer left.done()
	for _, a := range l.args {
		v, err := a.eval(left.frame(a.info().fails))
		if err != nil {
			return value{}, err
		}
		l.fold(left, v.Vector, decided, unknown)
		m.release(v)
		if left.count == 0 {
			break
		}
	}
	out := m.vector(vector.Bool)
	out.Resize(f.n)
	var anyNull uint64
	for w := range decided {
		out.Bits[w] = decided[w]
		if !l.or {
			out.Bits[w] = ^decided[w]
		}
		unknown[w] &^= decided[w]
		anyNull |= unknown[w]
		unknown[w] = ^unknown[w]
	}
	m.releaseBitmap(decided)
	if anyNull != 0 {
		out.Valid = unknown
	} else {
		m.releaseBitmap(unknown)
	}
	return value{out, true}, nil
}

// fold adds an operand's value to the decided and unknown rows.
func (l *logicNode) fold(left *rest, v *vector.Vector, decided, unknown vector.Bitmap) {
	n := 0
	for w := range left.left[:vector.Words(left.cur.n)] {
		want := left.left[w]
		if want == 0 {
			continue
		}
		t, null := truth(v, w)
		hit := t & want
		if !l.or {
			hit = ^t &^ null & want
		}
		null &= want
		left.left[w] = want &^ hit
		n += bits.OnesCount64(hit)
		if left.rows == nil {
			decided[w] |= hit
			unknown[w] |= null
			continue
		}
		setRows(decided, left.rows, hit, w)
		setRows(unknown, left.rows, null, w)
	}
	left.count -= n
}

func setRows(b vector.Bitmap, rows []int32, word uint64, w int) {
	for word != 0 {
		b.Set(int(rows[w*64+bits.TrailingZeros64(word)]))
		word &= word - 1
	}
}

func appendBits(dst []int32, word uint64, w int) []int32 {
	for word != 0 {
		dst = append(dst, int32(w*64+bits.TrailingZeros64(word)))
		word &= word - 1
	}
	return dst
}

// boolResult makes a boolean scratch vector with room for the rows of v: one if
// v is constant.
func (m *machine) boolResult(v *vector.Vector, n int) *vector.Vector {
	out := m.vector(vector.Bool)
	if v.Const {
		n = 1
	}
	out.Resize(n)
	return out
}

func finishBool(out, v *vector.Vector, n int) value {
	out.Const, out.N = v.Const, n
	return value{out, true}
}

// notNode is NOT.
type notNode struct {
	nodeInfo
	arg node
}

func (x *notNode) eval(f *frame) (value, error) {
	v, err := x.arg.eval(f)
	if err != nil {
		return v, err
	}
	out := f.m.boolResult(v.Vector, f.n)
	for w := range out.Bits {
		out.Bits[w] = ^v.Bits[w]
	}
	if v.Valid != nil {
		out.Valid = f.m.bitmap(out.N)
		copy(out.Valid, v.Valid)
	}
	res := finishBool(out, v.Vector, f.n)
	f.m.release(v)
	return res, nil
}

// isNullNode is IS NULL and IS NOT NULL.
type isNullNode struct {
	nodeInfo
	arg    node
	negate bool
}

func (x *isNullNode) eval(f *frame) (value, error) {
	v, err := x.arg.eval(f)
	if err != nil {
		return v, err
	}
	out := f.m.boolResult(v.Vector, f.n)
	for w := range out.Bits {
		valid := ^uint64(0)
		if v.Valid != nil {
			valid = v.Valid[w]
		}
		if !x.negate {
			valid = ^valid
		}
		out.Bits[w] = valid
	}
	res := finishBool(out, v.Vector, f.n)
	f.m.release(v)
	return res, nil
}

// boolTestNode is IS [NOT] TRUE, FALSE, UNKNOWN.
type boolTestNode struct {
	nodeInfo
	arg    node
	test   scalar.BoolValue
	negate bool
}

func (x *boolTestNode) eval(f *frame) (value, error) {
	v, err := x.arg.eval(f)
	if err != nil {
		return v, err
	}
	out := f.m.boolResult(v.Vector, f.n)
	for w := range out.Bits {
		r, null := truth(v.Vector, w)
		switch x.test {
		case scalar.TestFalse:
			r = ^r &^ null
		case scalar.TestUnknown:
			r = null
		}
		if x.negate {
			r = ^r
		}
		out.Bits[w] = r
	}
	res := finishBool(out, v.Vector, f.n)
	f.m.release(v)
	return res, nil
}

// distinctNode is IS [NOT] DISTINCT FROM.
type distinctNode struct {
	nodeInfo
	left, right node
	eq          functions.Kernel
	negate      bool
}

func (x *distinctNode) eval(f *frame) (value, error) {
	l, err := x.left.eval(f)
	if err != nil {
		return value{}, err
	}
	r, err := x.right.eval(f)
	if err != nil {
		return value{}, err
	}
	eq := &callNode{kernel: x.eq, kind: vector.Bool, callTraits: callTraits{strict: true},
		args: []node{x.left, x.right}, vals: []value{l, r}, vecs: []*vector.Vector{l.Vector, r.Vector}}
	same, err := eq.apply(f)
	if err != nil {
		return value{}, err
	}
	out := f.m.vector(vector.Bool)
	out.Resize(f.n)
	for w := range out.Bits {
		nl, nr := nulls(l.Vector, w), nulls(r.Vector, w)
		t, _ := truth(same.Vector, w)
		d := nl ^ nr | ^(nl | nr | t)
		if x.negate {
			d = ^d
		}
		out.Bits[w] = d
	}
	f.m.release(same)
	f.m.release(eq.vals[0])
	f.m.release(eq.vals[1])
	return value{out, true}, nil
}

// nulls returns which of 64 rows are NULL.
func nulls(v *vector.Vector, w int) uint64 {
	switch {
	case v.Valid == nil:
		return 0
	case v.Const:
		if v.IsNull(0) {
			return ^uint64(0)
		}
		return 0
	}
	return ^v.Valid[w]
}
