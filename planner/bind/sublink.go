package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// subLink binds a subquery inside an expression.
func (b *binder) subLink(n *pg_query.SubLink, c exprCtx) (scalar.Expr, error) {
	if alone := c.clause.alone(); alone != "" {
		return nil, b.errorAt(n.Location, pgerr.FeatureNotSupported, "cannot use subquery in %s", alone)
	}
	sel := n.Subselect.GetSelectStmt()
	if sel == nil {
		return nil, b.unsupportedAt(n.Location, "this kind of subquery")
	}
	below := c.scope.below()
	q, err := b.query(sel, below, queryContext{resolveUnknowns: true})
	if err != nil {
		return nil, err
	}
	out := &scalar.Subquery{}
	cols := q.node.Columns()
	switch n.SubLinkType {
	case pg_query.SubLinkType_EXISTS_SUBLINK:
		out.Kind, out.Typ = scalar.SubExists, types.T(types.Bool)
	case pg_query.SubLinkType_EXPR_SUBLINK, pg_query.SubLinkType_ARRAY_SUBLINK:
		if len(cols) != 1 {
			return nil, b.errorAt(n.Location, pgerr.SyntaxError, "subquery must return only one column")
		}
		out.Kind, out.Typ = scalar.SubScalar, cols[0].Type
		b.subNames[n] = cols[0].Name
		if n.SubLinkType == pg_query.SubLinkType_ARRAY_SUBLINK {
			array := types.ArrayOf(cols[0].Type.OID)
			if array == 0 {
				return nil, b.errorAt(n.Location, pgerr.UndefinedObject, "could not find array type for data type %s", typeText(cols[0].Type.OID))
			}
			out.Kind, out.Typ = scalar.SubArray, types.T(array)
		}
	case pg_query.SubLinkType_ANY_SUBLINK, pg_query.SubLinkType_ALL_SUBLINK:
		if err := b.quantified(n, out, q, c); err != nil {
			return nil, err
		}
	default:
		return nil, b.unsupportedAt(n.Location, "comparison of a row with a subquery")
	}
	out.Plan, out.Outer = q.node, below.run.outer
	return out, nil
}

// quantified binds the comparison of x op ANY|ALL (subquery).
func (b *binder) quantified(n *pg_query.SubLink, out *scalar.Subquery, q *query, c exprCtx) error {
	out.Kind, out.Typ = scalar.SubAny, types.T(types.Bool)
	if n.SubLinkType == pg_query.SubLinkType_ALL_SUBLINK {
		out.Kind = scalar.SubAll
	}
	test, width := n.Testexpr, 1
	if row := test.GetRowExpr(); row != nil {
		if width = len(row.Args); width != 1 {
			return b.unsupportedAt(n.Location, "comparison of a row with a subquery")
		}
		test = row.Args[0]
	}
	l, err := b.operand(test, c)
	if err != nil {
		return err
	}
	cols := q.node.Columns()
	switch {
	case len(cols) < width:
		return b.errorAt(n.Location, pgerr.SyntaxError, "subquery has too few columns")
	case len(cols) > width:
		return b.errorAt(n.Location, pgerr.SyntaxError, "subquery has too many columns")
	}
	symbol := "="
	if len(n.OperName) > 0 {
		if symbol, err = b.operatorName(n.OperName, n.Location); err != nil {
			return err
		}
	}
	fn, want, err := functions.ResolveOperator(symbol, l.expr.ResultType().OID, cols[0].Type.OID)
	if err != nil {
		return b.at(err, n.Location)
	}
	if fn.Ret != types.Bool {
		return b.errorAt(n.Location, pgerr.DatatypeMismatch, "row comparison operator must yield type boolean, not type %s", typeText(fn.Ret))
	}
	if out.Test, err = b.asArgument(l.expr, want[0], locate(test)); err != nil {
		return err
	}
	out.Op = fn
	return b.convertColumns(q, []types.Type{types.T(want[1])}, func(int) conversion { return implicitly(n.Location) }, nil)
}
