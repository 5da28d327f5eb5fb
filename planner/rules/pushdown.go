package rules

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
)

// pushFilters moves conditions towards the scans: through projections, sorts,
// groupings (conditions on keys), set operations and into the sides of joins.
// An equality over a cross join becomes its join condition, and a left join
// whose right side must not be NULL becomes an inner join.
func pushFilters(_ *Context, n logical.Node) logical.Node { return push(n, nil) }

// push returns n with conds, which are over its output, applied as low as they can be.
func push(n logical.Node, conds []scalar.Expr) logical.Node {
	switch n := n.(type) {
	case *logical.Filter:
		return push(n.Input, append(conjuncts(n.Cond), conds...))
	case *logical.Scan:
		return pushScan(n, conds)
	case *logical.Project:
		down, up := split(conds, func(c scalar.Expr) bool { return inlinable(c, n.Exprs) })
		for i, c := range down {
			down[i] = substituted(c, n.Exprs)
		}
		p := *n
		p.Input = push(n.Input, down)
		return filtered(&p, up)
	case *logical.Aggregate:
		down, up := split(conds, func(c scalar.Expr) bool {
			return within(c, 0, len(n.Keys)) && inlinable(c, n.Keys)
		})
		for i, c := range down {
			down[i] = substituted(c, n.Keys)
		}
		a := *n
		a.Input = push(n.Input, down)
		return filtered(&a, up)
	case *logical.Sort:
		down, up := split(conds, movable)
		s := *n
		s.Input = push(n.Input, down)
		return filtered(&s, up)
	case *logical.DistinctRows:
		down, up := split(conds, func(c scalar.Expr) bool { return n.On == nil && movable(c) })
		d := *n
		d.Input = push(n.Input, down)
		return filtered(&d, up)
	case *logical.SetOp:
		down, up := split(conds, movable)
		s := *n
		s.Left, s.Right = push(n.Left, down), push(n.Right, down)
		return filtered(&s, up)
	case *logical.Join:
		return pushJoin(n, conds)
	case *logical.With:
		w := *n
		w.Plan, w.Body = push(n.Plan, nil), push(n.Body, conds)
		return &w
	case *logical.ProjectSet:
		w := logical.Width(n.Input)
		down, up := split(conds, func(c scalar.Expr) bool { return movable(c) && within(c, 0, w) })
		s := *n
		s.Input = push(n.Input, down)
		return filtered(&s, up)
	}
	return filtered(mapInputs(n, func(in logical.Node) logical.Node { return push(in, nil) }), conds)
}

func split(list []scalar.Expr, f func(scalar.Expr) bool) (yes, no []scalar.Expr) {
	for _, e := range list {
		if f(e) {
			yes = append(yes, e)
		} else {
			no = append(no, e)
		}
	}
	return yes, no
}

func pushScan(n *logical.Scan, conds []scalar.Expr) logical.Node {
	down, up := split(conds, movable)
	s := *n
	if n.Output != nil {
		for i, c := range down {
			down[i] = remapped(c, func(i int) int { return n.Output[i] })
		}
	}
	s.Filters = append(append([]scalar.Expr(nil), n.Filters...), down...)
	return filtered(&s, up)
}

// inlinable reports whether c may be computed over the inputs of exprs instead
// of their results.
func inlinable(c scalar.Expr, exprs []scalar.Expr) bool {
	if isVolatile(c) {
		return false
	}
	ok := true
	columnsOf(c, func(i int) { ok = ok && movable(exprs[i]) })
	return ok
}

// joinSides collects where the conditions of a join go.
type joinSides struct {
	nl, nr                int // columns of the sides
	left, right, on, over []scalar.Expr
}

func (s *joinSides) isLeft(c scalar.Expr) bool  { return within(c, 0, s.nl) }
func (s *joinSides) isRight(c scalar.Expr) bool { return within(c, s.nl, s.nl+s.nr) }

func pushJoin(n *logical.Join, conds []scalar.Expr) logical.Node {
	s := &joinSides{nl: logical.Width(n.Left), nr: logical.Width(n.Right)}
	kind := s.reduced(n.Kind, conds)
	if n.Kind == logical.Full && kind == logical.Left && !s.keepsLeft(conds) {
		return pushSwapped(n, conds)
	}
	for _, c := range conjuncts(n.On) {
		s.joinCondition(kind, c)
	}
	for _, c := range conds {
		s.condition(kind, c)
	}
	s.transfer(kind)
	j := *n
	j.Kind = kind
	for i, c := range s.right {
		s.right[i] = shifted(c, -s.nl)
	}
	j.Left, j.Right, j.On = push(n.Left, s.left), push(n.Right, s.right), conjunction(s.on)
	return filtered(&j, s.over)
}

// reduced returns the kind of join that gives the rows for which conds hold: a
// side whose columns must not be NULL is not extended by NULLs.
func (s *joinSides) reduced(kind logical.JoinKind, conds []scalar.Expr) logical.JoinKind {
	if kind != logical.Left && kind != logical.Full {
		return kind
	}
	left, right := s.keepsLeft(conds), s.keepsRight(conds)
	switch {
	case kind == logical.Left && right, left && right:
		return logical.Inner
	case kind == logical.Full && (left || right):
		return logical.Left
	}
	return kind
}

// keepsLeft reports whether conds drop the rows without a left side.
func (s *joinSides) keepsLeft(conds []scalar.Expr) bool {
	for _, c := range conds {
		if rejectsNulls(c, 0, s.nl) {
			return true
		}
	}
	return false
}

// keepsRight reports whether conds drop the rows without a right side.
func (s *joinSides) keepsRight(conds []scalar.Expr) bool {
	for _, c := range conds {
		if rejectsNulls(c, s.nl, s.nl+s.nr) {
			return true
		}
	}
	return false
}

// pushSwapped makes a full join a left join of exchanged sides.
func pushSwapped(n *logical.Join, conds []scalar.Expr) logical.Node {
	nl, nr := logical.Width(n.Left), logical.Width(n.Right)
	to := func(i int) int {
		if i < nl {
			return i + nr
		}
		return i - nl
	}
	j := &logical.Join{Kind: logical.Left, Left: n.Right, Right: n.Left, On: mapOptional(n.On, func(e scalar.Expr) scalar.Expr { return remapped(e, to) })}
	m := make(mapping, nl+nr)
	for i := range m {
		m[i] = to(i)
	}
	return restored(push(j, mapList(conds, m.expr)), m, n.Columns())
}

// joinCondition places a conjunct of ON.
func (s *joinSides) joinCondition(kind logical.JoinKind, c scalar.Expr) {
	// Left rows stay when ON fails.
	preserved := kind != logical.Inner && kind != logical.Semi
	switch {
	case isVolatile(c) || kind == logical.Full:
		s.on = append(s.on, c)
	case s.isRight(c):
		s.right = append(s.right, c)
	case s.isLeft(c) && !preserved:
		s.left = append(s.left, c)
	default:
		s.on = append(s.on, c)
	}
}

// condition places a conjunct from above the join.
func (s *joinSides) condition(kind logical.JoinKind, c scalar.Expr) {
	switch {
	case isVolatile(c) || kind == logical.Full:
		s.over = append(s.over, c)
	case s.isLeft(c):
		s.left = append(s.left, c)
	case kind != logical.Inner:
		s.over = append(s.over, c)
	case s.isRight(c):
		s.right = append(s.right, c)
	case s.readsBoth(c):
		s.on = append(s.on, c)
	default:
		s.over = append(s.over, c)
	}
}

func (s *joinSides) readsBoth(c scalar.Expr) bool {
	l, r := false, false
	columnsOf(c, func(i int) {
		l = l || i < s.nl
		r = r || i >= s.nl
	})
	return l && r
}

// transfer copies conditions on one side of an equality of columns to the other.
func (s *joinSides) transfer(kind logical.JoinKind) {
	if kind != logical.Inner && kind != logical.Semi && kind != logical.Left {
		return
	}
	for _, c := range s.on {
		l, r, ok := equalColumns(c)
		if !ok || l.Typ != r.Typ {
			continue
		}
		if l.Index >= s.nl {
			l, r = r, l
		}
		if l.Index >= s.nl || r.Index < s.nl {
			continue
		}
		fromLeft, fromRight := onlyColumn(s.left, l.Index), onlyColumn(s.right, r.Index)
		for _, e := range fromLeft {
			s.right = append(s.right, about(e, r))
		}
		if kind != logical.Left {
			for _, e := range fromRight {
				s.left = append(s.left, about(e, l))
			}
		}
	}
}

// about returns a condition on one column as a condition on another.
func about(e scalar.Expr, col *scalar.Column) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		if _, ok := e.(*scalar.Column); ok {
			return col
		}
		return e
	})
}

// onlyColumn returns the conditions that read this column alone.
func onlyColumn(list []scalar.Expr, index int) []scalar.Expr {
	var out []scalar.Expr
	for _, e := range list {
		if within(e, index, index+1) && movable(e) {
			out = append(out, e)
		}
	}
	return out
}

// equalColumns returns the columns of `column = column`.
func equalColumns(e scalar.Expr) (l, r *scalar.Column, ok bool) {
	c, isCall := e.(*scalar.Call)
	if !isCall || !c.Fn.Operator || c.Fn.Name != "=" || len(c.Args) != 2 {
		return nil, nil, false
	}
	l, ok = c.Args[0].(*scalar.Column)
	if !ok {
		return nil, nil, false
	}
	r, ok = c.Args[1].(*scalar.Column)
	return l, r, ok
}

// rejectsNulls reports whether a condition cannot be true when all columns
// lo..hi-1 are NULL.
func rejectsNulls(e scalar.Expr, lo, hi int) bool {
	switch e := e.(type) {
	case *scalar.Logic:
		for _, a := range e.Args {
			if rejectsNulls(a, lo, hi) != e.Or {
				return !e.Or
			}
		}
		return e.Or
	case *scalar.IsNull:
		return e.Negate && nullWith(e.Arg, lo, hi)
	case *scalar.BoolTest:
		return !e.Negate && e.Value != scalar.TestUnknown && nullWith(e.Arg, lo, hi)
	}
	return nullWith(e, lo, hi)
}

// nullWith reports whether e is NULL when all columns lo..hi-1 are.
func nullWith(e scalar.Expr, lo, hi int) bool {
	switch e := e.(type) {
	case *scalar.Column:
		return e.Index >= lo && e.Index < hi
	case *scalar.Const:
		return e.Value.IsNull(0)
	case *scalar.Call:
		if e.Fn.NotStrict || e.Fn.Volatility == functions.Volatile {
			return false
		}
		for _, a := range e.Args {
			if nullWith(a, lo, hi) {
				return true
			}
		}
	case *scalar.Cast:
		return nullWith(e.Arg, lo, hi)
	case *scalar.Not:
		return nullWith(e.Arg, lo, hi)
	case *scalar.InList:
		return nullWith(e.Arg, lo, hi)
	}
	return false
}
