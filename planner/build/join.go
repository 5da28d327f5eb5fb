package build

import (
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// join plans a hash join on the equalities of ON, else a nested loop. The right
// side is the one kept in memory, so an inner or full join puts the smaller one
// there.
func (p *planner) join(n *logical.Join) physical.Node {
	if n.Lateral {
		return p.apply(n)
	}
	l, r := p.node(n.Left), p.node(n.Right)
	nl, nr := logical.Width(n.Left), logical.Width(n.Right)
	if (n.Kind == logical.Inner || n.Kind == logical.Full) && physical.Rows(l)*2 < physical.Rows(r) {
		return p.swapped(n, r, l)
	}
	on := n.On
	if on != nil {
		on = p.expr(on)
	}
	p.checkFull(n.Kind, on, nl, nr)
	return p.joinNodes(&logical.Join{Kind: n.Kind, On: on, Test: p.expr(n.Test)}, l, r, nl, nr)
}

func (p *planner) checkFull(kind logical.JoinKind, on scalar.Expr, nl, nr int) {
	if kind == logical.Full && !fullJoinable(on, nl, nr) {
		p.fail(pgerr.New(pgerr.FeatureNotSupported, "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions"))
	}
}

// fullJoinable reports whether a FULL JOIN can find the matches of each side:
// by an equality, or because all rows match or none does.
func fullJoinable(on scalar.Expr, nl, nr int) bool {
	constant := true
	for _, c := range conjuncts(on) {
		if _, _, _, ok := equality(c, nl, nr); ok {
			return true
		}
		if _, ok := c.(*scalar.Const); !ok {
			constant = false
		}
	}
	return constant
}

// swapped joins with the sides exchanged and puts the columns back in order.
func (p *planner) swapped(n *logical.Join, first, second physical.Node) physical.Node {
	nl, nr := physical.Width(second), physical.Width(first)
	to := func(i int) int {
		if i < nl {
			return i + nr
		}
		return i - nl
	}
	on := n.On
	if on != nil {
		on = p.expr(scalar.Rewrite(on, func(e scalar.Expr) scalar.Expr {
			if c, ok := e.(*scalar.Column); ok {
				return &scalar.Column{Index: to(c.Index), Typ: c.Typ, Name: c.Name}
			}
			return e
		}))
	}
	p.checkFull(n.Kind, on, nr, nl)
	out := &physical.Project{Input: p.joinNodes(&logical.Join{Kind: n.Kind, On: on}, first, second, nr, nl), Cols: n.Columns()}
	for i, c := range out.Cols {
		out.Exprs = append(out.Exprs, &scalar.Column{Index: to(i), Typ: c.Type, Name: c.Name})
	}
	return out
}

// joinNodes joins l and r by the kind, the condition and the test of n.
func (p *planner) joinNodes(n *logical.Join, l, r physical.Node, nl, nr int) physical.Node {
	h := &physical.HashJoin{Kind: n.Kind, Left: l, Right: r, Test: n.Test}
	var rest []scalar.Expr
	nulls := false
	for _, c := range conjuncts(n.On) {
		lk, rk, nullEqual, ok := equality(c, nl, nr)
		if !ok {
			rest = append(rest, c)
			continue
		}
		nulls = nulls || nullEqual
		h.LeftKeys, h.RightKeys, h.NullEqual = append(h.LeftKeys, lk), append(h.RightKeys, rk), append(h.NullEqual, nullEqual)
	}
	if len(h.LeftKeys) == 0 {
		return &physical.NestedLoop{Kind: n.Kind, Left: l, Right: r, On: n.On, Test: n.Test}
	}
	if !nulls {
		h.NullEqual = nil
	}
	if len(rest) == 0 && n.Test == nil && !nulls && logical.LeftOnly(n.Kind) {
		distinctRight(h)
	}
	if len(rest) > 0 {
		h.Residual = conjunction(rest)
	}
	return h
}

// distinctRows is the number of rows from which on the right side of a semi
// join is made distinct first, which several workers share, if the left side has
// few rows: else the join would keep them all.
const distinctRows = 50_000

func distinctRight(h *physical.HashJoin) {
	if r := physical.Rows(h.Right); r < distinctRows || r < 4*physical.Rows(h.Left) {
		return
	}
	a := &physical.Aggregate{Input: h.Right, Keys: h.RightKeys}
	keys := make([]scalar.Expr, len(h.RightKeys))
	for i, k := range h.RightKeys {
		name := scalar.Format(k)
		a.Cols = append(a.Cols, logical.Column{Name: name, Type: k.ResultType()})
		keys[i] = &scalar.Column{Index: i, Typ: k.ResultType(), Name: name}
	}
	h.Right, h.RightKeys = a, keys
}

func conjuncts(e scalar.Expr) []scalar.Expr {
	if e == nil {
		return nil
	}
	if l, ok := e.(*scalar.Logic); ok && !l.Or {
		var out []scalar.Expr
		for _, a := range l.Args {
			out = append(out, conjuncts(a)...)
		}
		return out
	}
	return []scalar.Expr{e}
}

// equality splits `left expression = right expression`; the keys get one type.
func equality(e scalar.Expr, nl, nr int) (l, r scalar.Expr, nullEqual, ok bool) {
	switch e := e.(type) {
	case *scalar.Call:
		if !e.Fn.Operator || e.Fn.Name != "=" || len(e.Args) != 2 {
			return nil, nil, false, false
		}
		l, r = e.Args[0], e.Args[1]
	case *scalar.Distinct:
		if !e.Negate {
			return nil, nil, false, false
		}
		l, r, nullEqual = e.Left, e.Right, true
	default:
		return nil, nil, false, false
	}
	if within(r, 0, nl) && within(l, nl, nl+nr) {
		l, r = r, l
	}
	if !within(l, 0, nl) || !within(r, nl, nl+nr) {
		return nil, nil, false, false
	}
	r = scalar.Rewrite(r, func(e scalar.Expr) scalar.Expr {
		if c, isColumn := e.(*scalar.Column); isColumn {
			return &scalar.Column{Index: c.Index - nl, Typ: c.Typ, Name: c.Name}
		}
		return e
	})
	l, r, ok = oneType(l, r)
	return l, r, nullEqual, ok
}

// within reports whether e can be computed from columns lo..hi-1 alone and
// reads at least one.
func within(e scalar.Expr, lo, hi int) bool {
	in, ok := false, true
	scalar.Walk(e, func(e scalar.Expr) bool {
		switch e := e.(type) {
		case *scalar.Column:
			in = true
			ok = ok && e.Index >= lo && e.Index < hi
		case *scalar.Call:
			ok = ok && e.Fn.Volatility != functions.Volatile
		case *scalar.Subquery:
			ok = false
		}
		return ok
	})
	return in && ok
}

// oneType casts one side of an equality over two types where no value is lost.
func oneType(l, r scalar.Expr) (scalar.Expr, scalar.Expr, bool) {
	lt, rt := l.ResultType().OID, r.ResultType().OID
	if lt == rt {
		return l, r, true
	}
	text := func(o types.OID) bool { return o == types.Text || o == types.Varchar || o == types.Name }
	if text(lt) && text(rt) {
		return l, r, true
	}
	if e, ok := widened(l, rt); ok {
		return e, r, true
	}
	if e, ok := widened(r, lt); ok {
		return l, e, true
	}
	return nil, nil, false
}

func widened(e scalar.Expr, to types.OID) (scalar.Expr, bool) {
	rank := func(o types.OID) int {
		switch o {
		case types.Int2:
			return 1
		case types.Int4:
			return 2
		case types.Int8:
			return 3
		case types.Numeric:
			return 4
		case types.Float4:
			return 11
		case types.Float8:
			return 12
		case types.Date:
			return 21
		case types.Timestamp:
			return 22
		case types.TimestampTZ:
			return 23
		}
		return 0
	}
	from := e.ResultType().OID
	if a, b := rank(from), rank(to); a == 0 || b <= a || a/10 != b/10 {
		return nil, false
	}
	cast, ok := functions.FindCast(from, to, functions.CastImplicit)
	if !ok || cast.Make == nil {
		return nil, false
	}
	return &scalar.Cast{Arg: e, Typ: types.T(to), Kernel: cast.Make(-1, false), CanFail: cast.CanFail, Implicit: true}, true
}
