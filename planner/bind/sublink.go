package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
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
	case pg_query.SubLinkType_ROWCOMPARE_SUBLINK:
		if err := b.rowQuantified(n, n.Testexpr.GetRowExpr(), out, q, c); err != nil {
			return nil, err
		}
		out.Kind, out.Typ = scalar.SubRow, types.T(types.Bool)
	default:
		return nil, b.unsupportedAt(n.Location, "this kind of subquery")
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
	const width = 1
	test := n.Testexpr
	if row := test.GetRowExpr(); row != nil {
		if len(row.Args) != 1 {
			return b.rowQuantified(n, row, out, q, c)
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

// rowQuantified binds the comparison of a row with the rows of a subquery.
func (b *binder) rowQuantified(n *pg_query.SubLink, row *pg_query.RowExpr, out *scalar.Subquery, q *query, c exprCtx) error {
	cols := q.node.Columns()
	switch {
	case row == nil:
		return b.unsupportedAt(n.Location, "comparison of a value with the rows of a subquery")
	case len(cols) < len(row.Args):
		return b.errorAt(n.Location, pgerr.SyntaxError, "subquery has too few columns")
	case len(cols) > len(row.Args):
		return b.errorAt(n.Location, pgerr.SyntaxError, "subquery has too many columns")
	}
	symbol := "="
	var err error
	if len(n.OperName) > 0 {
		if symbol, err = b.operatorName(n.OperName, n.Location); err != nil {
			return err
		}
	}
	if out.Tests, err = b.resolvedFields(row, cols, c); err != nil {
		return err
	}
	ls, rs := make([]operand, len(cols)), make([]operand, len(cols))
	for i, col := range cols {
		ls[i] = operand{&scalar.Column{Index: i, Typ: out.Tests[i].ResultType(), Name: shownName(out.Tests[i])}, row.Args[i]}
		rs[i] = operand{&scalar.Column{Index: len(cols) + i, Typ: col.Type, Name: col.Name}, nil}
	}
	out.Match, err = b.compareFields(symbol, ls, rs, n.Location)
	return err
}

// resolvedFields binds the fields of a row; untyped ones take the types of cols.
func (b *binder) resolvedFields(row *pg_query.RowExpr, cols []logical.Column, c exprCtx) ([]scalar.Expr, error) {
	out := make([]scalar.Expr, len(cols))
	for i, a := range row.Args {
		o, err := b.operand(a, c)
		if err != nil {
			return nil, err
		}
		out[i] = o.expr
		if o.expr.ResultType().OID != types.Unknown {
			continue
		}
		e, ok, err := b.convert(o.expr, types.T(cols[i].Type.OID), implicitly(locate(a)))
		if err != nil {
			return nil, err
		}
		if ok {
			out[i] = e
		}
	}
	return out, nil
}
