package bind

import pg_query "github.com/pganalyze/pg_query_go/v6"

// locate returns the leftmost byte offset of an expression of the grammar, -1
// if it has none; errors about the expression as a whole point there.
func locate(n *pg_query.Node) int32 {
	best := int32(-1)
	// Only the left operand of each node is followed, so a chain costs its length.
	for n != nil {
		var here int32
		here, n = locateStep(n)
		if here >= 0 && (best < 0 || here < best) {
			best = here
		}
	}
	return best
}

func firstOf(ns []*pg_query.Node) *pg_query.Node {
	if len(ns) == 0 {
		return nil
	}
	return ns[0]
}

// locateStep returns the node's own offset and the operand that may stand left of it.
func locateStep(n *pg_query.Node) (int32, *pg_query.Node) {
	switch e := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef:
		return e.ColumnRef.Location, nil
	case *pg_query.Node_AConst:
		return e.AConst.Location, nil
	case *pg_query.Node_ParamRef:
		return e.ParamRef.Location, nil
	case *pg_query.Node_AExpr:
		return e.AExpr.Location, e.AExpr.Lexpr
	case *pg_query.Node_BoolExpr:
		return e.BoolExpr.Location, firstOf(e.BoolExpr.Args)
	case *pg_query.Node_FuncCall:
		return e.FuncCall.Location, firstOf(e.FuncCall.Args)
	case *pg_query.Node_TypeCast:
		if literalCast(e.TypeCast) {
			return -1, e.TypeCast.Arg
		}
		return minLocation(e.TypeCast.Location, e.TypeCast.TypeName.GetLocation()), e.TypeCast.Arg
	case *pg_query.Node_CollateClause:
		return e.CollateClause.Location, e.CollateClause.Arg
	case *pg_query.Node_CaseExpr:
		return e.CaseExpr.Location, nil
	case *pg_query.Node_CoalesceExpr:
		return e.CoalesceExpr.Location, nil
	case *pg_query.Node_MinMaxExpr:
		return e.MinMaxExpr.Location, nil
	case *pg_query.Node_SqlvalueFunction:
		return e.SqlvalueFunction.Location, nil
	case *pg_query.Node_NullTest:
		return e.NullTest.Location, e.NullTest.Arg
	case *pg_query.Node_BooleanTest:
		return e.BooleanTest.Location, e.BooleanTest.Arg
	case *pg_query.Node_SubLink:
		return e.SubLink.Location, e.SubLink.Testexpr
	case *pg_query.Node_AArrayExpr:
		return e.AArrayExpr.Location, nil
	case *pg_query.Node_RowExpr:
		return e.RowExpr.Location, nil
	case *pg_query.Node_AIndirection:
		return -1, e.AIndirection.Arg
	case *pg_query.Node_NamedArgExpr:
		return e.NamedArgExpr.Location, e.NamedArgExpr.Arg
	case *pg_query.Node_ResTarget:
		return e.ResTarget.Location, nil
	case *pg_query.Node_SetToDefault:
		return e.SetToDefault.Location, nil
	case *pg_query.Node_GroupingFunc:
		return e.GroupingFunc.Location, nil
	case *pg_query.Node_TypeName:
		return e.TypeName.Location, nil
	case *pg_query.Node_RangeVar:
		return e.RangeVar.Location, nil
	case *pg_query.Node_SortBy:
		return e.SortBy.Location, e.SortBy.Node
	case *pg_query.Node_List:
		return -1, firstOf(e.List.Items)
	}
	return -1, nil
}

// literalCast reports whether a cast only gives a literal its type, as
// DATE '...' does: the literal is all that is left of it then.
func literalCast(n *pg_query.TypeCast) bool {
	k := n.Arg.GetAConst()
	if k == nil || !k.Isnull && k.GetSval() == nil {
		return false
	}
	return len(n.TypeName.GetTypmods()) == 0 || lastName(n.TypeName.GetNames()) == "interval"
}

func minLocation(a, b int32) int32 {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}
