package bind

import pg_query "github.com/pganalyze/pg_query_go/v6"

// columnName is the name that PostgreSQL gives a result column without AS.
func (b *binder) columnName(n *pg_query.Node) string {
	name, _ := b.figureName(n)
	if name == "" {
		return "?column?"
	}
	return name
}

// figureName returns a name and how good it is: 2 from a column or function,
// 1 from a cast or CASE, which a better name inside replaces.
func (b *binder) figureName(n *pg_query.Node) (string, int) {
	switch e := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef:
		return lastField(e.ColumnRef.Fields)
	case *pg_query.Node_AIndirection:
		if name, s := lastField(e.AIndirection.Indirection); s > 0 {
			return name, s
		}
		return b.figureName(e.AIndirection.Arg)
	case *pg_query.Node_FuncCall:
		return lastName(e.FuncCall.Funcname), 2
	case *pg_query.Node_AExpr:
		if e.AExpr.Kind == pg_query.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", 2
		}
	case *pg_query.Node_TypeCast:
		if name, s := b.figureName(e.TypeCast.Arg); s > 1 {
			return name, s
		}
		return lastName(e.TypeCast.TypeName.GetNames()), 1
	case *pg_query.Node_CollateClause:
		return b.figureName(e.CollateClause.Arg)
	case *pg_query.Node_GroupingFunc:
		return "grouping", 2
	case *pg_query.Node_SubLink:
		return b.subLinkName(e.SubLink)
	case *pg_query.Node_CaseExpr:
		if name, s := b.figureName(e.CaseExpr.Defresult); s > 1 {
			return name, s
		}
		return "case", 1
	case *pg_query.Node_AArrayExpr:
		return "array", 2
	case *pg_query.Node_RowExpr:
		return "row", 2
	case *pg_query.Node_CoalesceExpr:
		return "coalesce", 2
	case *pg_query.Node_MinMaxExpr:
		if e.MinMaxExpr.Op == pg_query.MinMaxOp_IS_GREATEST {
			return "greatest", 2
		}
		return "least", 2
	case *pg_query.Node_SqlvalueFunction:
		return sqlValueName(e.SqlvalueFunction.Op), 2
	}
	return "", 0
}

// lastField returns the last name among fields and subscripts.
func lastField(fields []*pg_query.Node) (string, int) {
	for i := len(fields) - 1; i >= 0; i-- {
		if s := fields[i].GetString_(); s != nil {
			return s.Sval, 2
		}
		if fields[i].GetAStar() != nil {
			return "", 0
		}
	}
	return "", 0
}

func (b *binder) subLinkName(n *pg_query.SubLink) (string, int) {
	switch n.SubLinkType {
	case pg_query.SubLinkType_EXISTS_SUBLINK:
		return "exists", 2
	case pg_query.SubLinkType_ARRAY_SUBLINK:
		return "array", 2
	case pg_query.SubLinkType_EXPR_SUBLINK:
		return b.subNames[n], 2
	}
	return "", 0
}
