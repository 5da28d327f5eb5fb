package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// withinGroup adds what WITHIN GROUP orders by to the arguments in the brackets.
func (b *binder) withinGroup(n *pg_query.FuncCall, args []operand, inner exprCtx) ([]operand, error) {
	for _, s := range n.AggOrder {
		o, err := b.operand(s.GetSortBy().Node, inner)
		if err != nil {
			return nil, err
		}
		args = append(args, o)
	}
	return args, nil
}

// orderedSet checks that WITHIN GROUP is there if the aggregate wants it, and
// picks the variant for the direction.
func (b *binder) orderedSet(n *pg_query.FuncCall, fn *functions.Aggregate) (*functions.Aggregate, error) {
	switch {
	case !fn.WithinGroup && !n.AggWithinGroup:
		return fn, nil
	case !fn.WithinGroup:
		return nil, b.errorAt(n.Location, pgerr.WrongObjectType, "%s is not an ordered-set aggregate, so it cannot have WITHIN GROUP", fn.Name)
	case !n.AggWithinGroup:
		return nil, b.errorAt(n.Location, pgerr.WrongObjectType, "WITHIN GROUP is required for ordered-set aggregate %s", fn.Name)
	}
	desc, _, err := b.direction(n.AggOrder[0].GetSortBy())
	if err != nil {
		return nil, err
	}
	if desc {
		return fn.Descending, nil
	}
	return fn, nil
}

// checkDirect refuses columns that are not grouped by among the arguments in
// the brackets: they have one value per group.
func (g *grouper) checkDirect(e *aggExpr) error {
	for _, a := range e.call.Args[:e.call.Fn.Direct] {
		if g.rewrite(a, false); g.err != nil {
			return pgerr.From(g.err).WithDetail("Direct arguments of an ordered-set aggregate must use only grouped columns.")
		}
	}
	return nil
}
