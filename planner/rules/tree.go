package rules

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
)

// bottomUp applies f to every node, inputs first.
func bottomUp(n logical.Node, f func(logical.Node) logical.Node) logical.Node {
	return f(mapInputs(n, func(in logical.Node) logical.Node { return bottomUp(in, f) }))
}

// mapInputs returns n with f applied to its inputs.
func mapInputs(n logical.Node, f func(logical.Node) logical.Node) logical.Node {
	switch n := n.(type) {
	case *logical.Filter:
		c := *n
		c.Input = f(n.Input)
		return &c
	case *logical.Project:
		c := *n
		c.Input = f(n.Input)
		return &c
	case *logical.Aggregate:
		c := *n
		c.Input = f(n.Input)
		return &c
	case *logical.Sort:
		c := *n
		c.Input = f(n.Input)
		return &c
	case *logical.Limit:
		c := *n
		c.Input = f(n.Input)
		return &c
	case *logical.DistinctRows:
		c := *n
		c.Input = f(n.Input)
		return &c
	case *logical.Join:
		c := *n
		c.Left, c.Right = f(n.Left), f(n.Right)
		return &c
	case *logical.SetOp:
		c := *n
		c.Left, c.Right = f(n.Left), f(n.Right)
		return &c
	case *logical.With:
		c := *n
		c.Plan, c.Body = f(n.Plan), f(n.Body)
		return &c
	case *logical.Recursive:
		c := *n
		c.Seed, c.Step = f(n.Seed), f(n.Step)
		return &c
	case *logical.ProjectSet:
		c := *n
		c.Input = f(n.Input)
		return &c
	}
	return n
}

// mapExprs returns n with f applied to its own expressions, not its inputs'.
func mapExprs(n logical.Node, f func(scalar.Expr) scalar.Expr) logical.Node {
	switch n := n.(type) {
	case *logical.Scan:
		c := *n
		c.Filters = mapList(n.Filters, f)
		return &c
	case *logical.Values:
		c := *n
		c.Rows = make([][]scalar.Expr, len(n.Rows))
		for i, r := range n.Rows {
			c.Rows[i] = mapList(r, f)
		}
		return &c
	case *logical.Function:
		c := *n
		c.Args = mapList(n.Args, f)
		return &c
	case *logical.Filter:
		c := *n
		c.Cond = f(n.Cond)
		return &c
	case *logical.Project:
		c := *n
		c.Exprs = mapList(n.Exprs, f)
		return &c
	case *logical.Aggregate:
		c := *n
		c.Keys = mapList(n.Keys, f)
		c.Aggs = mapAggs(n.Aggs, f)
		return &c
	case *logical.Join:
		c := *n
		c.On, c.Test, c.Outer = mapOptional(n.On, f), mapOptional(n.Test, f), mapList(n.Outer, f)
		return &c
	case *logical.ProjectSet:
		c := *n
		c.Calls = mapCalls(n.Calls, f)
		return &c
	case *logical.Sort:
		c := *n
		c.Keys = mapKeys(n.Keys, f)
		return &c
	case *logical.Limit:
		c := *n
		c.Offset, c.Count, c.Ties = mapOptional(n.Offset, f), mapOptional(n.Count, f), mapKeys(n.Ties, f)
		return &c
	case *logical.DistinctRows:
		c := *n
		c.On = mapList(n.On, f)
		return &c
	}
	return n
}

func mapOptional(e scalar.Expr, f func(scalar.Expr) scalar.Expr) scalar.Expr {
	if e == nil {
		return nil
	}
	return f(e)
}

func mapList(list []scalar.Expr, f func(scalar.Expr) scalar.Expr) []scalar.Expr {
	if list == nil {
		return nil
	}
	out := make([]scalar.Expr, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
}

func mapCalls(calls []logical.SetCall, f func(scalar.Expr) scalar.Expr) []logical.SetCall {
	out := make([]logical.SetCall, len(calls))
	for i, c := range calls {
		c.Args = mapList(c.Args, f)
		out[i] = c
	}
	return out
}

func mapKeys(keys []logical.SortKey, f func(scalar.Expr) scalar.Expr) []logical.SortKey {
	if keys == nil {
		return nil
	}
	out := make([]logical.SortKey, len(keys))
	for i, k := range keys {
		k.Expr = f(k.Expr)
		out[i] = k
	}
	return out
}

func mapAggs(aggs []logical.AggCall, f func(scalar.Expr) scalar.Expr) []logical.AggCall {
	out := make([]logical.AggCall, len(aggs))
	for i, a := range aggs {
		a.Args, a.Filter, a.OrderBy = mapList(a.Args, f), mapOptional(a.Filter, f), mapKeys(a.OrderBy, f)
		out[i] = a
	}
	return out
}

// conjuncts splits a condition at AND; nil gives none.
func conjuncts(e scalar.Expr) []scalar.Expr {
	if e == nil {
		return nil
	}
	l, ok := e.(*scalar.Logic)
	if !ok || l.Or {
		return []scalar.Expr{e}
	}
	var out []scalar.Expr
	for _, a := range l.Args {
		out = append(out, conjuncts(a)...)
	}
	return out
}

// conjunction joins conditions by AND; nil for none.
func conjunction(list []scalar.Expr) scalar.Expr {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return &scalar.Logic{Args: list}
}

// filtered puts a Filter above n if there are conditions.
func filtered(n logical.Node, conds []scalar.Expr) logical.Node {
	if len(conds) == 0 {
		return n
	}
	return &logical.Filter{Input: n, Cond: conjunction(conds)}
}

// columnsOf calls f for every column that e reads.
func columnsOf(e scalar.Expr, f func(index int)) {
	scalar.Walk(e, func(e scalar.Expr) bool {
		if c, ok := e.(*scalar.Column); ok {
			f(c.Index)
		}
		return true
	})
}

// within reports whether e reads columns lo..hi-1 only, and at least one.
func within(e scalar.Expr, lo, hi int) bool {
	in, out := false, false
	columnsOf(e, func(i int) {
		if i >= lo && i < hi {
			in = true
		} else {
			out = true
		}
	})
	return in && !out
}

// shifted returns e with every column index moved by delta.
func shifted(e scalar.Expr, delta int) scalar.Expr {
	if delta == 0 {
		return e
	}
	return remapped(e, func(i int) int { return i + delta })
}

// remapped returns e with every column index replaced by to(index).
func remapped(e scalar.Expr, to func(int) int) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		c, ok := e.(*scalar.Column)
		if !ok {
			return e
		}
		if i := to(c.Index); i != c.Index {
			return &scalar.Column{Index: i, Typ: c.Typ, Name: c.Name}
		}
		return e
	})
}

// substituted returns e with every column replaced by the expression of that index.
func substituted(e scalar.Expr, exprs []scalar.Expr) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		if c, ok := e.(*scalar.Column); ok {
			return exprs[c.Index]
		}
		return e
	})
}

// movable reports whether an expression may be computed elsewhere, once more or
// for other rows: it is not volatile and runs no plan.
func movable(e scalar.Expr) bool { return !isVolatile(e) && !hasSubquery(e) }

func isConst(e scalar.Expr) bool {
	_, ok := e.(*scalar.Const)
	return ok
}

// boolValue returns the value of a constant boolean; known is false for anything else.
func boolValue(e scalar.Expr) (value, null, known bool) {
	c, ok := e.(*scalar.Const)
	if !ok {
		return false, false, false
	}
	if c.Value.IsNull(0) {
		return false, true, true
	}
	return c.Value.Bool(0), false, true
}
