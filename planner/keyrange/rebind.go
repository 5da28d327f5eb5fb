package keyrange

import (
	"tsdb/colstore/vector"
	"tsdb/planner/rules"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
)

// Rebind derives from a condition that reads values of the enclosing row, which
// slots gives: one row each.
func Rebind(t *catalog.Table, cols []int, cond scalar.Expr, slots []*vector.Vector, c *functions.Ctx) Result {
	bound := scalar.Rewrite(cond, func(e scalar.Expr) scalar.Expr {
		s, ok := e.(*scalar.Slot)
		if !ok || s.Index >= len(slots) {
			return e
		}
		v := vector.New(s.Typ.Kind(), 1)
		v.AppendFrom(slots[s.Index], 0)
		return &scalar.Const{Value: v, Typ: s.Typ}
	})
	bound = rules.Fold(c, bound)
	conds := []scalar.Expr{bound}
	if l, ok := bound.(*scalar.Logic); ok && !l.Or {
		conds = l.Args
	}
	return Derive(t, cols, conds, c)
}
