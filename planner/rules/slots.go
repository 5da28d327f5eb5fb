package rules

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
)

// readsSlots reports whether a plan reads values of the row around it. The
// plans of its own subqueries, and the right sides of its own LATERAL joins,
// have slots of their own.
func readsSlots(n logical.Node) bool {
	found := false
	mapExprs(n, func(e scalar.Expr) scalar.Expr {
		found = found || hasSlot(e)
		return e
	})
	if found {
		return true
	}
	in := n.Inputs()
	if j, ok := n.(*logical.Join); ok && j.Lateral {
		in = in[:1]
	}
	for _, i := range in {
		if readsSlots(i) {
			return true
		}
	}
	return false
}

func hasSlot(e scalar.Expr) bool {
	found := false
	scalar.Walk(e, func(e scalar.Expr) bool {
		_, ok := e.(*scalar.Slot)
		found = found || ok
		return !found
	})
	return found
}

func hasColumn(e scalar.Expr) bool {
	found := false
	columnsOf(e, func(int) { found = true })
	return found
}

// unslotted replaces the slots of e by the expressions that give their values.
func unslotted(e scalar.Expr, outer []scalar.Expr) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		if s, ok := e.(*scalar.Slot); ok {
			return outer[s.Index]
		}
		return e
	})
}

// mapPlans returns n with f applied to the plans of the subqueries in its own
// expressions.
func mapPlans(n logical.Node, f func(logical.Node) logical.Node) logical.Node {
	return mapExprs(n, func(e scalar.Expr) scalar.Expr {
		if !hasSubquery(e) {
			return e
		}
		return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
			if sub, ok := e.(*scalar.Subquery); ok {
				return withPlan(sub, f)
			}
			return e
		})
	})
}

// identityColumns reads the columns of n as they are.
func identityColumns(n logical.Node) []scalar.Expr {
	cols := n.Columns()
	out := make([]scalar.Expr, len(cols))
	for i, c := range cols {
		out[i] = &scalar.Column{Index: i, Typ: c.Type, Name: c.Name}
	}
	return out
}
