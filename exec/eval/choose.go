package eval

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/types"
)

// assembly puts a result together from the values of disjoint sets of rows.
// Fixed-width values go to their rows at once; byte strings are collected and
// permuted at the end.
type assembly struct {
	m    *machine
	n    int
	out  *vector.Vector
	pool *vector.Vector // byte strings in order of arrival
	from []int32        // row → row of pool
}

func (m *machine) assembly(k vector.Kind, n int) *assembly {
	a := &assembly{m: m, n: n, out: m.vector(k)}
	if k == vector.Bytes {
		a.pool = m.vector(k)
		a.from = grown(m.sel(), n)
		return a
	}
	a.out.Resize(n)
	return a
}

// put stores row i of v at rows[i]; rows nil means all in order.
func (a *assembly) put(rows []int32, v *vector.Vector) {
	count := len(rows)
	if rows == nil {
		count = a.n
	}
	if a.pool != nil {
		a.collect(rows, v, count)
		return
	}
	mask := v.Mask()
	switch v.Kind {
	case vector.Bool:
		for i := 0; i < count; i++ {
			a.out.Bits.Put(at(rows, i), v.Bits.Get(i&mask))
		}
	case vector.Int16:
		scatter(a.out.I16, v.I16, rows, mask, count)
	case vector.Int32:
		scatter(a.out.I32, v.I32, rows, mask, count)
	case vector.Int64:
		scatter(a.out.I64, v.I64, rows, mask, count)
	case vector.Uint32:
		scatter(a.out.U32, v.U32, rows, mask, count)
	case vector.Float32:
		scatter(a.out.F32, v.F32, rows, mask, count)
	case vector.Float64:
		scatter(a.out.F64, v.F64, rows, mask, count)
	case vector.Fixed16:
		scatter(a.out.F16, v.F16, rows, mask, count)
	}
	if v.Valid != nil {
		for i := 0; i < count; i++ {
			if !v.Valid.Get(i & mask) {
				a.out.SetNull(at(rows, i))
			}
		}
	}
}

func at(rows []int32, i int) int {
	if rows == nil {
		return i
	}
	return int(rows[i])
}

func scatter[T any](dst, src []T, rows []int32, mask, n int) {
	if rows == nil {
		for i := range dst[:n] {
			dst[i] = src[i&mask]
		}
		return
	}
	for i, r := range rows {
		dst[r] = src[i&mask]
	}
}

func (a *assembly) collect(rows []int32, v *vector.Vector, count int) {
	base, mask := int32(a.pool.N), int32(v.Mask())
	if v.Const {
		a.pool.AppendFrom(v, 0)
	} else {
		a.pool.AppendVector(v, nil)
	}
	for i := 0; i < count; i++ {
		a.from[at(rows, i)] = base + int32(i)&mask
	}
}

// null makes rows NULL.
func (a *assembly) null(rows []int32) {
	if len(rows) == 0 {
		return
	}
	if a.pool == nil {
		for _, r := range rows {
			a.out.SetNull(int(r))
		}
		return
	}
	for _, r := range rows {
		a.from[r] = int32(a.pool.N)
	}
	a.pool.AppendNull()
}

func (a *assembly) finish() value {
	if a.pool != nil {
		a.pool.GatherInto(a.out, a.from)
		a.m.release(value{a.pool, true})
		a.m.releaseSel(a.from)
	}
	return value{a.out, true}
}

// caseNode is CASE WHEN ... END.
type caseNode struct {
	nodeInfo
	conds []node
	thens []node
	other node // ELSE, may be nil
	kind  vector.Kind
}

func compileCase(e *scalar.Case) (node, error) {
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
