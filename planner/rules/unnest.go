package rules

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/types"
)

// unnestSubqueries makes joins of subqueries and of LATERAL joins, so that they
// run once and not per row: EXISTS and IN among the conditions of WHERE become
// semi and anti joins, elsewhere marks; a scalar subquery becomes a left join
// with its value, grouped where it aggregates. What depends on the row around
// by more than conditions on its rows stays and runs per row.
func unnestSubqueries(c *Context, n logical.Node) logical.Node {
	u := &unnester{ctx: c, done: map[*scalar.Subquery]*scalar.Subquery{}}
	n = u.node(n)
	if u.joined {
		n = foldConstants(c, n)
	}
	return n
}

type unnester struct {
	ctx    *Context
	joined bool // some subquery became a join
	// done holds the subqueries whose plans were looked at: one is tried in
	// several ways, and nested ones would be once more at each level.
	done map[*scalar.Subquery]*scalar.Subquery
}

func (u *unnester) node(n logical.Node) logical.Node {
	n = mapInputs(n, u.node)
	switch n := n.(type) {
	case *logical.Filter:
		return u.filter(n.Input, conjuncts(n.Cond))
	case *logical.Project:
		return u.project(n)
	case *logical.Aggregate:
		return u.aggregate(n)
	case *logical.Join:
		return u.join(n)
	}
	return mapPlans(n, u.node)
}

func (u *unnester) join(n *logical.Join) logical.Node {
	if n.Lateral {
		if out := u.lateral(n); out != nil {
			return out
		}
	}
	if n.Kind != logical.Inner || n.Lateral || n.On == nil || !hasSubquery(n.On) {
		return mapPlans(n, u.node)
	}
	plain, subs := split(conjuncts(n.On), func(c scalar.Expr) bool { return !hasSubquery(c) })
	j := *n
	j.On = conjunction(plain)
	return u.filter(&j, subs)
}

// filter applies conditions, those with subqueries as joins where possible.
func (u *unnester) filter(in logical.Node, conds []scalar.Expr) logical.Node {
	plain, subs := split(conds, func(c scalar.Expr) bool { return !hasSubquery(c) })
	in = filtered(in, plain)
	if len(subs) == 0 {
		return in
	}
	a := &attached{u: u, node: in, width: logical.Width(in)}
	var rest []scalar.Expr
	for _, c := range subs {
		if !a.condition(c) {
			rest = append(rest, a.expr(c, true))
		}
	}
	return a.trimmed(filtered(a.node, rest))
}

func (u *unnester) project(n *logical.Project) logical.Node {
	if !anySubquery(n.Exprs) {
		return n
	}
	a := &attached{u: u, node: n.Input, width: logical.Width(n.Input)}
	p := *n
	p.Exprs = mapList(n.Exprs, func(e scalar.Expr) scalar.Expr { return a.expr(e, true) })
	p.Input = a.node
	return &p
}

func (u *unnester) aggregate(n *logical.Aggregate) logical.Node {
	a := &attached{u: u, node: n.Input, width: logical.Width(n.Input)}
	out := mapExprs(n, func(e scalar.Expr) scalar.Expr {
		if !hasSubquery(e) {
			return e
		}
		return a.expr(e, false)
	}).(*logical.Aggregate)
	out.Input = a.node
	return out
}

func anySubquery(list []scalar.Expr) bool {
	for _, e := range list {
		if hasSubquery(e) {
			return true
		}
	}
	return false
}

// attached is an operator's input with what its subqueries add to it, to the right.
type attached struct {
	u     *unnester
	node  logical.Node
	width int // of the input alone
}

// trimmed drops the added columns again.
func (a *attached) trimmed(n logical.Node) logical.Node {
	w := logical.Width(n)
	if w == a.width {
		return n
	}
	cols := n.Columns()[:a.width]
	return restored(n, identity(a.width), cols)
}

// condition makes a join of a condition that is one subquery or its negation.
func (a *attached) condition(c scalar.Expr) bool {
	kind := logical.Semi
	if not, ok := c.(*scalar.Not); ok {
		kind, c = logical.Anti, not.Arg
	}
	sub, ok := c.(*scalar.Subquery)
	if !ok {
		return false
	}
	s, plan := a.own(sub)
	if plan == nil || planVolatile(plan) {
		return false
	}
	switch {
	case s.Kind == scalar.SubExists && len(s.Outer) > 0:
		l, always := liftExists(plan)
		if always {
			a.node = filtered(a.node, []scalar.Expr{boolConst(kind == logical.Semi)})
			return true
		}
		if l == nil || !a.worth(l) {
			return false
		}
		a.join(kind, l, s.Outer, nil)
		return true
	case s.Kind == scalar.SubAny && kind == logical.Semi && movableTests(s):
		l := lift(plan)
		if l == nil || l.empty != nil || !a.worth(l) {
			return false
		}
		test := a.test(s, l)
		if len(l.conds) == 0 && !isEquality(test) {
			return false
		}
		a.join(kind, l, s.Outer, test)
		return true
	}
	return false
}

func movableTests(s *scalar.Subquery) bool {
	for _, t := range s.Tests {
		if !movable(t) {
			return false
		}
	}
	return s.Test == nil || movable(s.Test)
}

// isEquality reports whether a join can be a hash join by a test alone.
func isEquality(e scalar.Expr) bool {
	for _, c := range conjuncts(e) {
		if call, ok := c.(*scalar.Call); ok && call.Fn.Operator && call.Fn.Name == "=" {
			return true
		}
	}
	return false
}

// own returns the subquery and its plan with the subqueries inside unnested.
func (a *attached) own(sub *scalar.Subquery) (*scalar.Subquery, logical.Node) {
	plan, ok := sub.Plan.(logical.Node)
	if !ok {
		return sub, nil
	}
	if s, ok := a.u.done[sub]; ok {
		return s, s.Plan.(logical.Node)
	}
	s := *sub
	plan = a.u.node(plan)
	s.Plan = plan
	a.u.done[sub], a.u.done[&s] = &s, &s
	return &s, plan
}

// join adds the rows of l. The conditions and the test are over the added
// columns from 0 on and slots.
func (a *attached) join(kind logical.JoinKind, l *lifted, outer []scalar.Expr, test scalar.Expr) {
	a.u.joined = true
	w := logical.Width(a.node)
	var on []scalar.Expr
	for _, c := range l.conds {
		on = append(on, unslotted(shifted(c, w), outer))
	}
	j := &logical.Join{Kind: kind, Left: a.node, Right: l.node}
	if test != nil && kind == logical.Mark {
		j.Test = test
	} else if test != nil {
		on = append(on, conjuncts(test)...)
	}
	j.On = conjunction(on)
	a.node = j
}

// test is the comparison of a quantified subquery over the joined row.
func (a *attached) test(s *scalar.Subquery, l *lifted) scalar.Expr {
	w := logical.Width(a.node)
	cols := mapList(l.cols, func(c scalar.Expr) scalar.Expr { return unslotted(shifted(c, w), s.Outer) })
	if s.Match != nil {
		return substituted(s.Match, append(append([]scalar.Expr(nil), s.Tests...), cols...))
	}
	return &scalar.Call{Fn: s.Op, Args: []scalar.Expr{s.Test, cols[0]}, Typ: types.T(types.Bool)}
}

// expr returns e with its subqueries replaced by added columns where possible.
// sure says that e is computed for every row.
func (a *attached) expr(e scalar.Expr, sure bool) scalar.Expr {
	if !hasSubquery(e) {
		return e
	}
	if sub, ok := e.(*scalar.Subquery); ok {
		s, plan := a.own(sub)
		if plan == nil {
			return s
		}
		if out := a.value(s, plan, sure); out != nil {
			return out
		}
		return s
	}
	old := scalar.Children(e)
	repl := make([]scalar.Expr, len(old))
	for i, c := range old {
		repl[i] = a.expr(c, sure && (i == 0 || !conditional(e)))
	}
	return scalar.WithChildren(e, repl)
}

// conditional reports whether operands after the first may not be computed.
func conditional(e scalar.Expr) bool {
	switch e.(type) {
	case *scalar.Case, *scalar.Coalesce, *scalar.Logic:
		return true
	}
	return false
}

// value adds a correlated subquery's value and returns what reads it; nil if
// it must run per row.
func (a *attached) value(s *scalar.Subquery, plan logical.Node, sure bool) scalar.Expr {
	if len(s.Outer) == 0 || planVolatile(plan) {
		return nil
	}
	switch s.Kind {
	case scalar.SubExists:
		l, always := liftExists(plan)
		if always {
			return boolConst(true)
		}
		if l != nil && a.worth(l) {
			return a.mark(l, s.Outer, nil)
		}
	case scalar.SubAny, scalar.SubAll:
		return a.quantified(s, plan)
	case scalar.SubScalar:
		if l := lift(plan); l != nil && a.worth(l) {
			return a.scalarValue(l, s, sure)
		}
	}
	return nil
}

// mark adds a mark join and returns the mark.
func (a *attached) mark(l *lifted, outer []scalar.Expr, test scalar.Expr) scalar.Expr {
	a.join(logical.Mark, l, outer, test)
	return &scalar.Column{Index: logical.Width(a.node) - 1, Typ: types.T(types.Bool), Name: logical.MarkColumn.Name}
}

func (a *attached) quantified(s *scalar.Subquery, plan logical.Node) scalar.Expr {
	l := lift(plan)
	if l == nil || l.empty != nil || len(l.conds) == 0 || !movableTests(s) || !a.worth(l) {
		return nil
	}
	if s.Kind == scalar.SubAny {
		return a.mark(l, s.Outer, a.test(s, l))
	}
	if s.Match != nil {
		return nil
	}
	eq := negator(s.Op)
	if eq == nil {
		return nil
	}
	any := *s
	any.Op = eq
	return &scalar.Not{Arg: a.mark(l, s.Outer, a.test(&any, l))}
}

// scalarValue joins the one value of a subquery.
func (a *attached) scalarValue(l *lifted, s *scalar.Subquery, sure bool) scalar.Expr {
	w := logical.Width(a.node)
	read := func(e scalar.Expr) scalar.Expr { return unslotted(shifted(e, w), s.Outer) }
	if l.empty != nil {
		key := l.node.Columns()[l.group]
		there := &scalar.Column{Index: w + l.group, Typ: key.Type, Name: key.Name}
		a.join(logical.Left, l, s.Outer, nil)
		return orEmpty(read(l.cols[0]), unslotted(l.empty[0], s.Outer), there, w)
	}
	if oneRow(l.node) && len(l.conds) == 0 {
		a.join(logical.Left, l, s.Outer, nil)
		return read(l.cols[0])
	}
	if !sure {
		return nil
	}
	value := l.cols[0]
	if _, plain := value.(*scalar.Column); plain {
		a.join(logical.Single, l, s.Outer, nil)
		return read(value)
	}
	at := logical.Width(l.node)
	l.node = withExprs(l.node, []scalar.Expr{boolConst(true)})
	there := &scalar.Column{Index: w + at, Typ: types.T(types.Bool), Name: "there"}
	a.join(logical.Single, l, s.Outer, nil)
	return orEmpty(read(value), nullOf(value.ResultType()), there, w)
}

// orEmpty is value where the column there is not NULL, else empty. The columns
// of the joined side begin at w.
func orEmpty(value, empty scalar.Expr, there *scalar.Column, w int) scalar.Expr {
	if k, ok := empty.(*scalar.Const); ok {
		if c, plain := value.(*scalar.Column); plain && c.Index >= w {
			if k.Value.IsNull(0) {
				return value
			}
			return &scalar.Coalesce{Args: []scalar.Expr{value, empty}, Typ: value.ResultType()}
		}
	}
	return &scalar.Case{Whens: []scalar.When{{Cond: &scalar.IsNull{Arg: there}, Then: empty}}, Else: value, Typ: value.ResultType()}
}

// oneRow reports whether a plan always makes exactly one row.
func oneRow(n logical.Node) bool {
	switch n := n.(type) {
	case *logical.Aggregate:
		return len(n.Keys) == 0
	case *logical.Values:
		return len(n.Rows) == 1
	case *logical.Project:
		return oneRow(n.Input)
	case *logical.Sort:
		return oneRow(n.Input)
	}
	return false
}

// liftExists lifts a plan of which only matters whether it has rows; always
// says that it has.
func liftExists(n logical.Node) (l *lifted, always bool) {
	for {
		switch x := n.(type) {
		case *logical.Project:
			n = x.Input
		case *logical.Sort:
			n = x.Input
		case *logical.DistinctRows:
			n = x.Input
		case *logical.Limit:
			c, ok := x.Count.(*scalar.Const)
			if x.Offset != nil || !ok || !c.Value.IsNull(0) && c.Value.I64[0] < 1 {
				return nil, false
			}
			n = x.Input
		case *logical.Aggregate:
			if len(x.Keys) == 0 {
				return nil, true
			}
			n = x.Input
		default:
			l = lift(n)
			if l == nil || l.empty != nil {
				return nil, false
			}
			return l, false
		}
	}
}

// lateral makes a plain join of a LATERAL one; nil if that cannot be.
func (u *unnester) lateral(n *logical.Join) logical.Node {
	if planVolatile(n.Right) {
		return nil
	}
	l := lift(n.Right)
	if l == nil {
		return nil
	}
	a := &attached{u: u, node: n.Left, width: logical.Width(n.Left)}
	if !a.worth(l) {
		return nil
	}
	w := a.width
	cols := mapList(l.cols, func(e scalar.Expr) scalar.Expr { return unslotted(shifted(e, w), n.Outer) })
	full := append(identityColumns(n.Left), cols...)
	if l.empty != nil {
		return u.lateralAggregate(n, l, a, full)
	}
	kind, on := n.Kind, mapOptional(n.On, func(e scalar.Expr) scalar.Expr { return substituted(e, full) })
	if kind == logical.Left && !onlyColumns(l.cols) {
		at := logical.Width(l.node)
		l.node = withExprs(l.node, []scalar.Expr{boolConst(true)})
		there := &scalar.Column{Index: w + at, Typ: types.T(types.Bool), Name: "there"}
		for i := w; i < len(full); i++ {
			full[i] = orEmpty(full[i], nullOf(full[i].ResultType()), there, w)
		}
	}
	a.join(kind, l, n.Outer, on)
	return projected(a.node, full, n.Columns())
}

func onlyColumns(list []scalar.Expr) bool {
	for _, e := range list {
		if _, ok := e.(*scalar.Column); !ok {
			return false
		}
	}
	return true
}

// lateralAggregate joins an aggregate, which has a row for each left row.
func (u *unnester) lateralAggregate(n *logical.Join, l *lifted, a *attached, full []scalar.Expr) logical.Node {
	if n.Kind != logical.Inner && n.On != nil && !isConst(n.On) {
		return nil
	}
	w := a.width
	key := l.node.Columns()[l.group]
	there := &scalar.Column{Index: w + l.group, Typ: key.Type, Name: key.Name}
	for i := range l.cols {
		full[w+i] = orEmpty(full[w+i], unslotted(l.empty[i], n.Outer), there, w)
	}
	a.join(logical.Left, l, n.Outer, nil)
	out := projected(a.node, full, n.Columns())
	if n.Kind == logical.Inner {
		out = filtered(out, conjuncts(n.On))
	}
	return out
}

func projected(n logical.Node, exprs []scalar.Expr, cols []logical.Column) logical.Node {
	return &logical.Project{Input: n, Exprs: exprs, Cols: cols}
}
