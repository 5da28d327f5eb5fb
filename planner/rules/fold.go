package rules

import (
	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// substituteParams replaces parameters by their values, also in the plans of
// subqueries, which may become joins before the rules reach them.
func substituteParams(c *Context, n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		return mapExprs(n, func(e scalar.Expr) scalar.Expr {
			return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
				if sub, ok := e.(*scalar.Subquery); ok {
					return withPlan(sub, func(n logical.Node) logical.Node { return substituteParams(c, n) })
				}
				p, ok := e.(*scalar.Param)
				if !ok || p.Number < 1 || p.Number > len(c.Params) || c.Params[p.Number-1] == nil {
					return e
				}
				return &scalar.Const{Value: c.Params[p.Number-1], Typ: p.Typ}
			})
		})
	})
}

// withPlan returns the subquery with f applied to its plan.
func withPlan(sub *scalar.Subquery, f func(logical.Node) logical.Node) scalar.Expr {
	plan, ok := sub.Plan.(logical.Node)
	if !ok {
		return sub
	}
	s := *sub
	s.Plan = f(plan)
	return &s
}

// foldConstants computes what does not depend on rows, also in the plans of
// subqueries. A plan is made for one execution, so stable calls count as
// constant too.
func foldConstants(c *Context, n logical.Node) logical.Node {
	f := folder{ctx: c.Ctx}
	return bottomUp(n, func(n logical.Node) logical.Node {
		return mapExprs(n, func(e scalar.Expr) scalar.Expr {
			return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
				if sub, ok := e.(*scalar.Subquery); ok {
					return withPlan(sub, func(n logical.Node) logical.Node { return foldConstants(c, n) })
				}
				return f.fold(e)
			})
		})
	})
}

// Fold returns e with what does not depend on rows computed.
func Fold(c *functions.Ctx, e scalar.Expr) scalar.Expr {
	f := folder{ctx: c}
	return scalar.Rewrite(e, f.fold)
}

type folder struct{ ctx *functions.Ctx }

// fold simplifies one node whose operands are folded.
func (f *folder) fold(e scalar.Expr) scalar.Expr {
	switch e := e.(type) {
	case *scalar.Logic:
		return foldLogic(e)
	case *scalar.Case:
		return f.foldCase(e)
	case *scalar.Coalesce:
		return foldCoalesce(e)
	case *scalar.Call:
		if e.Fn.Volatility == functions.Volatile {
			return e
		}
		if !e.Fn.NotStrict && anyNull(e.Args) {
			return nullOf(e.Typ)
		}
	case *scalar.Const, *scalar.Column, *scalar.Param, *scalar.Slot, *scalar.Subquery:
		return e
	}
	for _, a := range scalar.Children(e) {
		if !isConst(a) {
			return e
		}
	}
	return f.compute(e)
}

// compute evaluates e; if that fails it stays, to fail when a row needs it.
func (f *folder) compute(e scalar.Expr) scalar.Expr {
	v, err := eval.Constant(&eval.Env{Ctx: f.ctx}, e)
	if err != nil || v == nil {
		return e
	}
	return &scalar.Const{Value: v, Typ: e.ResultType()}
}

func anyNull(args []scalar.Expr) bool {
	for _, a := range args {
		if c, ok := a.(*scalar.Const); ok && c.Value.IsNull(0) {
			return true
		}
	}
	return false
}

func nullOf(t types.Type) *scalar.Const {
	v := vector.New(t.Kind(), 1)
	v.AppendNull()
	return &scalar.Const{Value: v, Typ: t}
}

func boolConst(x bool) *scalar.Const {
	v := vector.New(vector.Bool, 1)
	v.AppendBool(x)
	return &scalar.Const{Value: v, Typ: types.T(types.Bool)}
}

// foldLogic drops operands that do not matter.
func foldLogic(e *scalar.Logic) scalar.Expr {
	var rest []scalar.Expr
	null := false
	for _, a := range e.Args {
		value, isNull, known := boolValue(a)
		switch {
		case !known:
			rest = append(rest, a)
		case isNull:
			null = true
		case value == e.Or: // true in OR, false in AND
			return boolConst(value)
		}
	}
	if null {
		if len(rest) == 0 {
			return nullOf(types.T(types.Bool))
		}
		rest = append(rest, nullOf(types.T(types.Bool)))
	}
	switch {
	case len(rest) == len(e.Args):
		return e
	case len(rest) == 0:
		return boolConst(!e.Or)
	case len(rest) == 1:
		return rest[0]
	}
	return &scalar.Logic{Or: e.Or, Args: rest}
}

// foldCase drops arms that cannot be taken and those after one that always is.
func (f *folder) foldCase(e *scalar.Case) scalar.Expr {
	out := &scalar.Case{Typ: e.Typ, Else: e.Else}
	for _, w := range e.Whens {
		value, _, known := boolValue(w.Cond)
		if known && !value {
			continue
		}
		if known {
			out.Else = w.Then
			break
		}
		out.Whens = append(out.Whens, w)
	}
	switch {
	case len(out.Whens) > 0:
		return out
	case out.Else == nil:
		return nullOf(e.Typ)
	}
	return out.Else
}

// foldCoalesce drops NULLs and what follows a constant.
func foldCoalesce(e *scalar.Coalesce) scalar.Expr {
	var rest []scalar.Expr
	for _, a := range e.Args {
		c, ok := a.(*scalar.Const)
		if ok && c.Value.IsNull(0) {
			continue
		}
		rest = append(rest, a)
		if ok {
			break
		}
	}
	switch {
	case len(rest) == 0:
		return nullOf(e.Typ)
	case len(rest) == 1 && rest[0].ResultType() == e.Typ:
		return rest[0]
	}
	return &scalar.Coalesce{Args: rest, Typ: e.Typ}
}

// isVolatile reports whether two evaluations of e may differ.
func isVolatile(e scalar.Expr) bool {
	found := false
	scalar.Walk(e, func(e scalar.Expr) bool {
		switch e := e.(type) {
		case *scalar.Call:
			found = found || e.Fn.Volatility == functions.Volatile
		case *scalar.Subquery:
			if plan, ok := e.Plan.(logical.Node); ok {
				found = found || planVolatile(plan)
			}
		}
		return !found
	})
	return found
}

// PlanVolatile reports whether two runs of a plan may differ.
func PlanVolatile(n logical.Node) bool { return planVolatile(n) }

func planVolatile(n logical.Node) bool {
	found := false
	mapExprs(n, func(e scalar.Expr) scalar.Expr {
		found = found || isVolatile(e)
		return e
	})
	for _, in := range n.Inputs() {
		found = found || planVolatile(in)
	}
	return found
}

func hasSubquery(e scalar.Expr) bool {
	found := false
	scalar.Walk(e, func(e scalar.Expr) bool {
		if _, ok := e.(*scalar.Subquery); ok {
			found = true
		}
		return !found
	})
	return found
}

// constantFilters removes conditions that are always true and replaces the
// input of those that never are by no rows.
func constantFilters(_ *Context, n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		switch n := n.(type) {
		case *logical.Filter:
			value, _, known := boolValue(foldConjunction(conjuncts(n.Cond)))
			switch {
			case known && value:
				return n.Input
			case known:
				return &logical.Values{Cols: n.Columns()}
			}
		case *logical.Scan:
			if len(n.Filters) == 0 {
				return n
			}
			e := foldConjunction(n.Filters)
			value, _, known := boolValue(e)
			if known && !value {
				return &logical.Values{Cols: n.Columns()}
			}
			c := *n
			c.Filters = nil
			if !known {
				c.Filters = conjuncts(e)
			}
			return &c
		case *logical.Join:
			if n.On == nil {
				return n
			}
			rest, trues := split(conjuncts(n.On), func(c scalar.Expr) bool {
				value, _, known := boolValue(c)
				return !known || !value
			})
			if len(trues) > 0 {
				c := *n
				c.On = conjunction(rest)
				return &c
			}
		}
		return n
	})
}

// foldConjunction returns list joined by AND as a filter sees it: NULL is false.
func foldConjunction(list []scalar.Expr) scalar.Expr {
	var rest []scalar.Expr
	for _, e := range list {
		value, _, known := boolValue(e)
		switch {
		case !known:
			rest = append(rest, e)
		case !value:
			return boolConst(false)
		}
	}
	if len(rest) == 0 {
		return boolConst(true)
	}
	return conjunction(rest)
}
