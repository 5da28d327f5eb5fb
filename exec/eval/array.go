package eval

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// arrayNode is left op ANY|ALL (array).
type arrayNode struct {
	nodeInfo
	left, array node
	leftType    types.Type
	elem        types.Type
	compare     functions.Kernel
	member      bool // = ANY or <> ALL over one lookup key: a constant array becomes a set
	all         bool
	negate      bool // with member: <> ALL
	set         *inNode
	setOf       []byte // the array that set was made of
}

func compileArrayCompare(e *scalar.ArrayCompare) (node, error) {
	args, err := compileAll([]scalar.Expr{e.Left, e.Array})
	if err != nil {
		return nil, err
	}
	elem := types.T(types.ElemOf(e.Array.ResultType().OID))
	left := e.Left.ResultType()
	n := &arrayNode{nodeInfo: combine(e.Op.CanFail, args...), left: args[0], array: args[1],
		leftType: left, elem: elem, compare: e.Op.Eval, all: e.All}
	if sameKey(left.OID, elem.OID) && e.Op.Operator {
		n.member = e.Op.Name == "=" && !e.All || e.Op.Name == "<>" && e.All
		n.negate = e.All
	}
	return n, nil
}

func (x *arrayNode) eval(f *frame) (value, error) {
	l, err := x.left.eval(f)
	if err != nil {
		return value{}, err
	}
	a, err := x.array.eval(f)
	if err != nil {
		return value{}, err
	}
	var out value
	switch {
	case a.Const && a.IsNull(0):
		out = f.m.nullConst(vector.Bool, f.n)
	case a.Const:
		out, err = x.constArray(f, l, a.Bytes(0))
	default:
		out, err = x.perRow(f, l.Vector, a.Vector)
	}
	f.m.release(l)
	f.m.release(a)
	return out, err
}

// constArray compares all rows with one array: by a set, or element by element.
func (x *arrayNode) constArray(f *frame, l value, array []byte) (value, error) {
	if x.set == nil || string(x.setOf) != string(array) {
		list := vector.New(x.elem.Kind(), 0)
		if err := functions.ArrayElements(list, array); err != nil {
			return value{}, err
		}
		x.setOf = append(x.setOf[:0], array...)
		x.set = &inNode{}
		if x.member && list.N > 0 {
			x.set = newIn(nil, x.elem, list, false, x.negate)
		} else {
			x.set.items = list
		}
	}
	if x.set.set != nil {
		out := f.m.boolResult(l.Vector, f.n)
		x.set.test(f.m, out, l.Vector)
		return finishBool(out, l.Vector, f.n), nil
	}
	return x.elements(f, l.Vector, x.set.items)
}

// elements folds the comparison of l with every item.
func (x *arrayNode) elements(f *frame, l *vector.Vector, items *vector.Vector) (value, error) {
	acc := newFold(f.m, f.n, x.all)
	call := &callNode{kernel: x.compare, kind: vector.Bool, callTraits: callTraits{strict: true},
		args: []node{x.left, nil}, vals: make([]value, 2)}
	item := f.m.vector(items.Kind)
	for i := 0; i < items.N; i++ {
		item.Reset(items.Kind)
		item.AppendFrom(items, i)
		item.Const, item.N = true, f.n
		call.vecs = []*vector.Vector{l, item}
		v, err := call.apply(f)
		f.m.release(call.vals[0])
		call.vals[0] = value{}
		if err != nil {
			return value{}, err
		}
		done := acc.add(v.Vector)
		f.m.release(v)
		if done {
			break
		}
	}
	f.m.release(value{item, true})
	return acc.finish(), nil
}

// perRow compares each row with its own array.
func (x *arrayNode) perRow(f *frame, l, arrays *vector.Vector) (value, error) {
	out := f.m.vector(vector.Bool)
	items, one := vector.New(x.elem.Kind(), 0), vector.New(l.Kind, 1)
	row := &frame{m: f.m}
	for i := 0; i < f.n; i++ {
		if arrays.IsNull(i) {
			out.AppendNull()
			continue
		}
		items.Reset(x.elem.Kind())
		if err := functions.ArrayElements(items, arrays.Bytes(i)); err != nil {
			return value{}, err
		}
		row.n = items.N
		one.Reset(l.Kind)
		one.AppendFrom(l, i)
		one.Const, one.N = true, items.N
		v, err := quantify(row, x.compare, one, items, x.all)
		if err != nil {
			return value{}, err
		}
		appendTruth(out, v)
	}
	return value{out, true}, nil
}

// verdict is a three-valued result.
type verdict uint8

const (
	isFalse verdict = iota
	isTrue
	isNull
)

func appendTruth(out *vector.Vector, v verdict) {
	if v == isNull {
		out.AppendNull()
		return
	}
	out.AppendBool(v == isTrue)
}

// quantify compares one value with all items at once: ANY or ALL.
func quantify(row *frame, compare functions.Kernel, one, items *vector.Vector, all bool) (verdict, error) {
	if items.N == 0 {
		if all {
			return isTrue, nil
		}
		return isFalse, nil
	}
	call := &callNode{kernel: compare, kind: vector.Bool, callTraits: callTraits{strict: true, volatile: true},
		args: make([]node, 2), vals: make([]value, 2), vecs: []*vector.Vector{one, items}}
	v, err := call.apply(row)
	if err != nil {
		return isNull, err
	}
	defer row.m.release(v)
	return reduceTruth(v.Vector, items.N, all), nil
}

// reduceTruth combines n booleans by OR, or by AND for all.
func reduceTruth(v *vector.Vector, n int, all bool) verdict {
	res := isFalse
	if all {
		res = isTrue
	}
	for i := 0; i < n; i++ {
		switch {
		case v.IsNull(i):
			res = isNull
		case v.Bool(i) != all:
			if all {
				return isFalse
			}
			return isTrue
		}
	}
	return res
}

// fold combines booleans by OR (any) or AND (all).
type fold struct {
	m                *machine
	n                int
	all              bool
	decided, unknown vector.Bitmap
}

func newFold(m *machine, n int, all bool) *fold {
	return &fold{m: m, n: n, all: all, decided: m.filled(n, false), unknown: m.filled(n, false)}
}

// add folds v in and reports whether every row is decided.
func (a *fold) add(v *vector.Vector) bool {
	done := true
	for w := range a.decided {
		t, null := truth(v, w)
		if a.all {
			t = ^t &^ null
		}
		a.decided[w] |= t
		a.unknown[w] |= null
		done = done && a.decided[w] == ^uint64(0)
	}
	return done
}

func (a *fold) finish() value {
	out := a.m.vector(vector.Bool)
	out.Resize(a.n)
	var anyNull uint64
	for w, d := range a.decided {
		if a.all {
			out.Bits[w] = ^d
		} else {
			out.Bits[w] = d
		}
		a.unknown[w] = ^a.unknown[w] | d
		anyNull |= ^a.unknown[w]
	}
	a.m.releaseBitmap(a.decided)
	if anyNull != 0 {
		out.Valid = a.unknown
	} else {
		a.m.releaseBitmap(a.unknown)
	}
	return value{out, true}
}
