package eval

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
)

// switchNode is a CASE whose arms all compare one expression with constants:
// one lookup per row finds the arm.
type switchNode struct {
	nodeInfo
	arg    node
	table  *lookup
	thens  []node
	other  node
	kind   vector.Kind
	values *vector.Vector // if all results are constant: per arm, then ELSE
	arms   []int32
	starts []int32
	order  []int32
}

// compileSwitch returns nil if e is not such a CASE.
func compileSwitch(e *scalar.Case) (node, error) {
	if len(e.Whens) < minSet {
		return nil, nil
	}
	first, _, t, ok := equality(e.Whens[0].Cond)
	if !ok || !hashable(t) {
		return nil, nil
	}
	s := &switchNode{kind: e.Typ.Kind(), table: newLookup(t, len(e.Whens))}
	for i, w := range e.Whens {
		left, c, _, ok := equality(w.Cond)
		if !ok || !sameExpr(first, left) {
			return nil, nil
		}
		if !c.IsNull(0) {
			s.table.add(c, 0, int32(i))
		}
	}
	var err error
	if s.arg, err = compile(first); err != nil {
		return nil, err
	}
	values := vector.New(s.kind, len(e.Whens)+1)
	constant := true
	all := []node{s.arg}
	for _, w := range e.Whens {
		n, err := compile(w.Then)
		if err != nil {
			return nil, err
		}
		constant = addConst(values, n) && constant
		s.thens, all = append(s.thens, n), append(all, n)
	}
	if e.Else != nil {
		if s.other, err = compile(e.Else); err != nil {
			return nil, err
		}
		constant = addConst(values, s.other) && constant
		all = append(all, s.other)
	} else {
		values.AppendNull()
	}
	if constant {
		s.values = values
	}
	s.nodeInfo = combine(false, all...)
	return s, nil
}

func addConst(values *vector.Vector, n node) bool {
	c, ok := n.(*constNode)
	if ok {
		values.AppendFrom(&c.v, 0)
	}
	return ok
}

func (s *switchNode) eval(f *frame) (value, error) {
	v, err := s.arg.eval(f)
	if err != nil {
		return v, err
	}
	s.arms = grown(s.arms, f.n)
	if v.Const {
		s.table.find(v.Vector, 1, s.arms)
		for i := range s.arms {
			s.arms[i] = s.arms[0]
		}
	} else {
		s.table.find(v.Vector, f.n, s.arms)
	}
	f.m.release(v)
	for i, a := range s.arms {
		if a < 0 {
			s.arms[i] = int32(len(s.thens))
		}
	}
	if s.values != nil {
		out := f.m.vector(s.kind)
		s.values.GatherInto(out, s.arms)
		return value{out, true}, nil
	}
	return s.spread(f)
}

// spread groups the rows by arm and evaluates each arm once.
func (s *switchNode) spread(f *frame) (value, error) {
	s.starts = grown(s.starts, len(s.thens)+2)
	clear(s.starts)
	for _, a := range s.arms {
		s.starts[a+1]++
	}
	for i := 1; i < len(s.starts); i++ {
		s.starts[i] += s.starts[i-1]
	}
	s.order = grown(s.order, f.n)
	for i, a := range s.arms {
		s.order[s.starts[a]] = int32(i)
		s.starts[a]++
	}
	out := f.m.assembly(s.kind, f.n)
	lo := int32(0)
	for a, hi := range s.starts[:len(s.thens)+1] {
		if hi == lo {
			continue
		}
		then := s.other
		if a < len(s.thens) {
			then = s.thens[a]
		}
		if err := putRows(out, then, f, s.order[lo:hi], nil); err != nil {
			return value{}, err
		}
		lo = hi
	}
	return out.finish(), nil
}
