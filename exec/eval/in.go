package eval

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// inNode is arg [NOT] IN (constants).
type inNode struct {
	nodeInfo
	arg     node
	set     *lookup
	hasNull bool
	negate  bool
	found   []int32
	items   *vector.Vector // instead of set, for comparisons that are not membership
}

// newIn enters the list into a lookup; arg is nil if the caller tests vectors itself.
func newIn(arg node, t types.Type, list *vector.Vector, hasNull, negate bool) *inNode {
	set := newLookup(t, list.N)
	for i := 0; i < list.N; i++ {
		if list.IsNull(i) {
			hasNull = true
			continue
		}
		set.add(list, i, 0)
	}
	x := &inNode{arg: arg, set: set, hasNull: hasNull, negate: negate}
	if arg != nil {
		x.nodeInfo = combine(false, arg)
	}
	return x
}

func (x *inNode) eval(f *frame) (value, error) {
	v, err := x.arg.eval(f)
	if err != nil {
		return v, err
	}
	out := f.m.boolResult(v.Vector, f.n)
	x.test(f.m, out, v.Vector)
	res := finishBool(out, v.Vector, f.n)
	f.m.release(v)
	return res, nil
}

// test fills out for the physical rows of v. A row that matches nothing is
// NULL if the list holds a NULL.
func (x *inNode) test(m *machine, out, v *vector.Vector) {
	n := out.N
	x.found = grown(x.found, n)
	x.set.find(v, n, x.found)
	for w := range out.Bits[:vector.Words(n)] {
		var hit uint64
		for j, c := range x.found[w*64 : min(n, w*64+64)] {
			hit |= uint64(uint32(^c)>>31) << uint(j)
		}
		out.Bits[w] = hit
	}
	if x.hasNull {
		out.Valid = m.bitmap(n)
		copy(out.Valid, out.Bits)
	} else if v.Valid != nil {
		out.Valid = m.bitmap(n)
		copy(out.Valid, v.Valid)
	}
	if x.negate {
		for w := range out.Bits {
			out.Bits[w] = ^out.Bits[w]
		}
	}
}
