package eval

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/types"
)

// caseNode is CASE WHEN ... END.
type caseNode struct {
	nodeInfo
	conds []node
	thens []node
	other node // ELSE, may be nil
	kind  vector.Kind
}

func compileCase(e *scalar.Case) (node, error) {
	e = flattened(e)
	if n, err := compileSwitch(e); n != nil || err != nil {
		return n, err
	}
	c := &caseNode{kind: e.Typ.Kind()}
	all := make([]node, 0, 2*len(e.Whens)+1)
	for _, w := range e.Whens {
		pair, err := compileAll([]scalar.Expr{w.Cond, w.Then})
		if err != nil {
			return nil, err
		}
		c.conds, c.thens = append(c.conds, pair[0]), append(c.thens, pair[1])
		all = append(all, pair...)
	}
	if e.Else != nil {
		var err error
		if c.other, err = compile(e.Else); err != nil {
			return nil, err
		}
		all = append(all, c.other)
	}
	c.nodeInfo = combine(false, all...)
	return c, nil
}

// flattened joins a CASE that is the ELSE of another to it, so that long chains do not nest.
func flattened(e *scalar.Case) *scalar.Case {
	inner, ok := e.Else.(*scalar.Case)
	if !ok {
		return e
	}
	out := &scalar.Case{Typ: e.Typ, Whens: append([]scalar.When(nil), e.Whens...)}
	for ; ok; inner, ok = inner.Else.(*scalar.Case) {
		out.Whens = append(out.Whens, inner.Whens...)
		out.Else = inner.Else
	}
	return out
}

func (c *caseNode) eval(f *frame) (value, error) {
	left := narrowing(f)
	defer left.done()
	out := f.m.assembly(c.kind, f.n)
	hits := f.m.sel()
	defer func() { f.m.releaseSel(hits) }()
	for i, cond := range c.conds {
		cur := left.frame(cond.info().fails)
		v, err := cond.eval(cur)
		if err != nil {
			return value{}, err
		}
		hits = left.takeTrue(v.Vector, hits[:0])
		f.m.release(v)
		if len(hits) > 0 {
			if err := putRows(out, c.thens[i], cur, hits, left); err != nil {
				return value{}, err
			}
		}
		if left.count == 0 {
			return out.finish(), nil
		}
	}
	hits = left.left.AppendIndexes(hits[:0], left.cur.n)
	if err := putRows(out, c.other, left.cur, hits, left); err != nil {
		return value{}, err
	}
	return out.finish(), nil
}

// putRows evaluates n on rows hits of cur and stores the values at the rows of the base frame.
func putRows(out *assembly, n node, cur *frame, hits []int32, left *rest) error {
	sub := cur
	if _, ok := n.(*constNode); !ok && n != nil && len(hits) < cur.n {
		sub = cur.narrow(hits)
		defer cur.m.free(sub)
	}
	rows := hits
	if left != nil && left.rows != nil {
		rows = cur.m.sel()
		for _, h := range hits {
			rows = append(rows, left.rows[h])
		}
		defer cur.m.releaseSel(rows)
	}
	if n == nil {
		out.null(rows)
		return nil
	}
	v, err := n.eval(sub)
	if err != nil {
		return err
	}
	out.put(rows, v.Vector)
	cur.m.release(v)
	return nil
}

// coalesceNode is COALESCE.
type coalesceNode struct {
	nodeInfo
	args []node
	kind vector.Kind
}

func (c *coalesceNode) eval(f *frame) (value, error) {
	v, err := c.args[0].eval(f)
	if err != nil || !v.HasNulls() || len(c.args) == 1 {
		return v, err
	}
	out := f.m.assembly(c.kind, f.n)
	out.put(nil, v.Vector)
	left := narrowing(f)
	defer left.done()
	for w := range left.left {
		left.left[w] &= nulls(v.Vector, w)
	}
	left.count = left.left.Count(f.n)
	f.m.release(v)
	if out.out.Valid != nil {
		out.out.Valid.Fill(true)
	}
	hits := f.m.sel()
	defer func() { f.m.releaseSel(hits) }()
	for _, a := range c.args[1:] {
		cur := left.frame(a.info().fails)
		v, err := a.eval(cur)
		if err != nil {
			return value{}, err
		}
		hits = left.takePresent(v.Vector, hits[:0])
		c.store(out, left, v.Vector, hits)
		f.m.release(v)
		if left.count == 0 {
			return out.finish(), nil
		}
	}
	out.null(left.appendRows(hits[:0]))
	return out.finish(), nil
}

// store puts rows hits of v, which has the current frame's rows, at their rows of the base.
func (c *coalesceNode) store(out *assembly, left *rest, v *vector.Vector, hits []int32) {
	if len(hits) == 0 {
		return
	}
	m := out.m
	part := v
	if !v.Const && len(hits) < v.N {
		part = m.vector(v.Kind)
		v.GatherInto(part, hits)
		defer m.release(value{part, true})
	}
	rows := m.sel()
	for _, h := range hits {
		rows = append(rows, left.baseRow(h))
	}
	out.put(rows, part)
	m.releaseSel(rows)
}

// takePresent moves the rows of which v is not NULL out of left and appends
// them, as rows of the current frame, to dst.
func (r *rest) takePresent(v *vector.Vector, dst []int32) []int32 {
	at := len(dst)
	for w := range r.left[:vector.Words(r.cur.n)] {
		hit := r.left[w] &^ nulls(v, w)
		r.left[w] &^= hit
		dst = appendBits(dst, hit, w)
	}
	r.count -= len(dst) - at
	return dst
}

// minMaxNode is GREATEST or LEAST: NULLs do not count.
type minMaxNode struct {
	nodeInfo
	args     []node
	typ      types.Type
	greatest bool
}

func (x *minMaxNode) eval(f *frame) (value, error) {
	best, err := x.args[0].eval(f)
	if err != nil {
		return best, err
	}
	for _, a := range x.args[1:] {
		v, err := a.eval(f)
		if err != nil {
			return value{}, err
		}
		out := f.m.vector(x.typ.Kind())
		for i := 0; i < f.n; i++ {
			out.AppendFrom(x.choose(best.Vector, v.Vector, i), i)
		}
		f.m.release(best)
		f.m.release(v)
		best = value{out, true}
	}
	return best, nil
}

func (x *minMaxNode) choose(a, b *vector.Vector, i int) *vector.Vector {
	switch {
	case b.IsNull(i):
		return a
	case a.IsNull(i):
		return b
	}
	c := types.Compare(x.typ, a, i&a.Mask(), b, i&b.Mask())
	if x.greatest && c < 0 || !x.greatest && c > 0 {
		return b
	}
	return a
}
