package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// clause is the part of a statement that an expression stands in.
type clause uint8

const (
	inTarget clause = iota
	inWhere
	inHaving
	inGroupBy
	inOrderBy
	inDistinctOn
	inJoin
	inLimit
	inOffset
	inValues
	inFunctionArg // of a function in FROM
	inFilter
	inDefault
	inAggregate
	inUpdate
	inReturning
	inCheck      // CHECK of a table or domain
	inGenerated  // GENERATED ALWAYS AS
	inIndex      // expression of an index
	inIndexWhere // predicate of an index
	inTransform  // USING of ALTER COLUMN ... TYPE
)

// place is the construct's name in PostgreSQL's errors.
func (c clause) place() string {
	switch c {
	case inWhere:
		return "WHERE"
	case inHaving:
		return "HAVING"
	case inGroupBy:
		return "GROUP BY"
	case inOrderBy:
		return "ORDER BY"
	case inDistinctOn:
		return "DISTINCT ON"
	case inJoin:
		return "JOIN conditions"
	case inLimit:
		return "LIMIT"
	case inOffset:
		return "OFFSET"
	case inValues:
		return "VALUES"
	case inFunctionArg:
		return "functions in FROM"
	case inFilter:
		return "FILTER"
	case inUpdate:
		return "UPDATE"
	case inReturning:
		return "RETURNING"
	case inDefault:
		return "DEFAULT expressions"
	case inCheck:
		return "check constraints"
	case inGenerated:
		return "column generation expressions"
	case inIndex:
		return "index expressions"
	case inIndexWhere:
		return "index predicates"
	case inTransform:
		return "transform expressions"
	}
	return "SELECT"
}

// alone is the name of a construct that stands outside of a query, where no
// subquery may be; empty for the clauses of queries.
func (c clause) alone() string {
	switch c {
	case inDefault:
		return "DEFAULT expression"
	case inCheck:
		return "check constraint"
	case inGenerated:
		return "column generation expression"
	case inIndex:
		return "index expression"
	case inIndexWhere:
		return "index predicate"
	case inTransform:
		return "transform expression"
	}
	return ""
}

// aggregates reports whether an aggregate may stand in the clause.
func (c clause) aggregates() bool {
	return c == inTarget || c == inHaving || c == inOrderBy || c == inDistinctOn
}

// exprCtx is where an expression is bound.
type exprCtx struct {
	scope  *scope
	clause clause
	arms   string // CASE or COALESCE around it: no set-returning functions
}

func (b *binder) expr(n *pg_query.Node, c exprCtx) (scalar.Expr, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	switch e := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef:
		return b.columnExpr(e.ColumnRef, c)
	case *pg_query.Node_AConst:
		return b.constant(e.AConst)
	case *pg_query.Node_ParamRef:
		return b.paramRef(e.ParamRef)
	case *pg_query.Node_AExpr:
		return b.operatorExpr(e.AExpr, c)
	case *pg_query.Node_BoolExpr:
		return b.boolExpr(e.BoolExpr, c)
	case *pg_query.Node_FuncCall:
		return b.funcCall(e.FuncCall, c)
	case *pg_query.Node_TypeCast:
		return b.typeCast(e.TypeCast, c)
	case *pg_query.Node_CaseExpr:
		return b.caseExpr(e.CaseExpr, c)
	case *pg_query.Node_CoalesceExpr:
		return b.coalesce(e.CoalesceExpr, c)
	case *pg_query.Node_MinMaxExpr:
		return b.minMax(e.MinMaxExpr, c)
	case *pg_query.Node_NullTest:
		return b.nullTest(e.NullTest, c)
	case *pg_query.Node_BooleanTest:
		return b.booleanTest(e.BooleanTest, c)
	case *pg_query.Node_SubLink:
		return b.subLink(e.SubLink, c)
	case *pg_query.Node_SqlvalueFunction:
		return b.sqlValue(e.SqlvalueFunction)
	case *pg_query.Node_AArrayExpr:
		return b.arrayExpr(e.AArrayExpr, types.Type{}, c)
	case *pg_query.Node_AIndirection:
		return b.indirection(e.AIndirection, c)
	case *pg_query.Node_CollateClause:
		return b.collate(e.CollateClause, c)
	case *pg_query.Node_RowExpr:
		return b.rowValue(e.RowExpr, c)
	case *pg_query.Node_SetToDefault:
		return nil, b.errorAt(e.SetToDefault.Location, pgerr.SyntaxError, "DEFAULT is not allowed in this context")
	case *pg_query.Node_NamedArgExpr:
		return nil, b.errorAt(e.NamedArgExpr.Location, pgerr.SyntaxError, "named arguments are not allowed here")
	case *pg_query.Node_GroupingFunc:
		return nil, b.unsupportedAt(e.GroupingFunc.Location, "GROUPING")
	case *pg_query.Node_CurrentOfExpr:
		return nil, unsupported("WHERE CURRENT OF")
	case nil:
		return nil, pgerr.New(pgerr.InternalError, "expression without content")
	}
	return nil, b.otherExpr(n)
}

// otherExpr names the families of expressions that are out of scope.
func (b *binder) otherExpr(n *pg_query.Node) error {
	switch e := n.GetNode().(type) {
	case *pg_query.Node_XmlExpr:
		return b.unsupportedAt(e.XmlExpr.Location, "XML")
	case *pg_query.Node_XmlSerialize:
		return b.unsupportedAt(e.XmlSerialize.Location, "XMLSERIALIZE")
	case *pg_query.Node_JsonObjectConstructor:
		return b.unsupportedAt(e.JsonObjectConstructor.Location, "JSON_OBJECT")
	case *pg_query.Node_JsonArrayConstructor:
		return b.unsupportedAt(e.JsonArrayConstructor.Location, "JSON_ARRAY")
	case *pg_query.Node_JsonIsPredicate:
		return b.unsupportedAt(e.JsonIsPredicate.Location, "IS JSON")
	case *pg_query.Node_JsonFuncExpr:
		return b.unsupportedAt(e.JsonFuncExpr.Location, "SQL/JSON query functions")
	case *pg_query.Node_MergeSupportFunc:
		return b.unsupportedAt(e.MergeSupportFunc.Location, "MERGE_ACTION")
	}
	return b.unsupportedAt(locate(n), "this kind of expression")
}

func (b *binder) columnExpr(n *pg_query.ColumnRef, c exprCtx) (scalar.Expr, error) {
	if c.clause == inDefault {
		return nil, b.errorAt(n.Location, pgerr.FeatureNotSupported, "cannot use column reference in DEFAULT expression")
	}
	return b.columnRef(n, c.scope)
}

// boolExpr binds AND, OR and NOT; chains of one operator become one flat node.
func (b *binder) boolExpr(n *pg_query.BoolExpr, c exprCtx) (scalar.Expr, error) {
	if n.Boolop == pg_query.BoolExprType_NOT_EXPR {
		e, err := b.expr(n.Args[0], c)
		if err != nil {
			return nil, err
		}
		if e, err = b.asBoolean(e, "NOT", n.Args[0]); err != nil {
			return nil, err
		}
		return &scalar.Not{Arg: e}, nil
	}
	or, name := n.Boolop == pg_query.BoolExprType_OR_EXPR, "AND"
	if or {
		name = "OR"
	}
	out := &scalar.Logic{Or: or}
	// The stack replaces recursion: (a OR (b OR (c ...))) may be thousands deep.
	stack := [][]*pg_query.Node{n.Args}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		if len(top) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		stack[len(stack)-1] = top[1:]
		if inner := top[0].GetBoolExpr(); inner != nil && inner.Boolop == n.Boolop {
			stack = append(stack, inner.Args)
			continue
		}
		e, err := b.expr(top[0], c)
		if err != nil {
			return nil, err
		}
		if e, err = b.asBoolean(e, name, top[0]); err != nil {
			return nil, err
		}
		out.Args = append(out.Args, e)
	}
	return out, nil
}

func (b *binder) nullTest(n *pg_query.NullTest, c exprCtx) (scalar.Expr, error) {
	negate := n.Nulltesttype == pg_query.NullTestType_IS_NOT_NULL
	if row := n.Arg.GetRowExpr(); row != nil {
		// A row is (NOT) NULL when all its fields are.
		return b.eachField(row, c, func(e scalar.Expr) scalar.Expr { return &scalar.IsNull{Arg: e, Negate: negate} })
	}
	e, err := b.expr(n.Arg, c)
	if err != nil {
		return nil, err
	}
	return rowNullTest(e, negate), nil
}

func (b *binder) eachField(row *pg_query.RowExpr, c exprCtx, f func(scalar.Expr) scalar.Expr) (scalar.Expr, error) {
	var list []scalar.Expr
	for _, a := range row.Args {
		e, err := b.expr(a, c)
		if err != nil {
			return nil, err
		}
		list = append(list, f(e))
	}
	return conjunction(list), nil
}

func conjunction(list []scalar.Expr) scalar.Expr {
	switch len(list) {
	case 0:
		return boolConst(true)
	case 1:
		return list[0]
	}
	return &scalar.Logic{Args: list}
}

func disjunction(list []scalar.Expr) scalar.Expr {
	switch len(list) {
	case 0:
		return boolConst(false)
	case 1:
		return list[0]
	}
	return &scalar.Logic{Or: true, Args: list}
}

func (b *binder) booleanTest(n *pg_query.BooleanTest, c exprCtx) (scalar.Expr, error) {
	out := &scalar.BoolTest{}
	name := ""
	switch n.Booltesttype {
	case pg_query.BoolTestType_IS_TRUE:
		out.Value, name = scalar.TestTrue, "IS TRUE"
	case pg_query.BoolTestType_IS_NOT_TRUE:
		out.Value, out.Negate, name = scalar.TestTrue, true, "IS NOT TRUE"
	case pg_query.BoolTestType_IS_FALSE:
		out.Value, name = scalar.TestFalse, "IS FALSE"
	case pg_query.BoolTestType_IS_NOT_FALSE:
		out.Value, out.Negate, name = scalar.TestFalse, true, "IS NOT FALSE"
	case pg_query.BoolTestType_IS_UNKNOWN:
		out.Value, name = scalar.TestUnknown, "IS UNKNOWN"
	default:
		out.Value, out.Negate, name = scalar.TestUnknown, true, "IS NOT UNKNOWN"
	}
	e, err := b.expr(n.Arg, c)
	if err != nil {
		return nil, err
	}
	out.Arg, err = b.asBoolean(e, name, n.Arg)
	return out, err
}

// typeCast binds CAST(x AS t), x::t and t 'literal'.
func (b *binder) typeCast(n *pg_query.TypeCast, c exprCtx) (scalar.Expr, error) {
	if p := n.Arg.GetParamRef(); p != nil && n.TypeName.GetLocation() < p.Location && n.Location == n.TypeName.GetLocation() {
		// The grammar takes interval $1, PostgreSQL does not.
		return nil, b.errorAt(p.Location, pgerr.SyntaxError, "syntax error at or near \"$%d\"", p.Number)
	}
	if err := b.checkTypeSchema(n.TypeName); err != nil {
		return nil, err
	}
	want, domain, err := DeclaredType(b.env, b.st, n.TypeName)
	if err != nil {
		return nil, err
	}
	var e scalar.Expr
	if arr := n.Arg.GetAArrayExpr(); arr != nil && types.ElemOf(want.OID) != 0 {
		// ARRAY[...]::t[] casts the elements, so an empty one is legal here.
		e, err = b.arrayExpr(arr, want, c)
	} else {
		e, err = b.expr(n.Arg, c)
	}
	if err != nil {
		return nil, err
	}
	out, err := b.explicitCast(e, want, n, locateIfUnknown(operand{e, n.Arg}))
	if err != nil || domain == nil {
		return out, err
	}
	return b.inDomain(out, domain)
}

// checkTypeSchema refuses a type's name in a schema that does not exist.
func (b *binder) checkTypeSchema(n *pg_query.TypeName) error {
	if len(n.Names) != 2 {
		return nil
	}
	schema := stringOf(n.Names[0])
	if _, ok := b.env.Catalog.Schema(schema); !ok {
		return b.errorAt(n.Location, pgerr.InvalidSchemaName, "schema \"%s\" does not exist", schema)
	}
	return nil
}

func (b *binder) explicitCast(e scalar.Expr, want types.Type, n *pg_query.TypeCast, argAt int32) (scalar.Expr, error) {
	loc := n.Location
	if loc < 0 {
		loc = n.TypeName.GetLocation()
	}
	how := conversion{context: functions.CastExplicit, written: true, location: argAt}
	out, ok, err := b.convert(e, want, how)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, b.cannotCast(e.ResultType().OID, want.OID, loc)
	}
	return out, nil
}

// collations are those whose order is by bytes, as all of tsdb's text.
var collations = map[string]bool{"C": true, "POSIX": true, "default": true, "C.UTF-8": true, "C.utf8": true, "ucs_basic": true}

func (b *binder) collate(n *pg_query.CollateClause, c exprCtx) (scalar.Expr, error) {
	e, err := b.expr(n.Arg, c)
	if err != nil {
		return nil, err
	}
	switch e.ResultType().OID {
	case types.Unknown, types.Text, types.Varchar, types.BPChar, types.Name, types.TextArray, types.VarcharArray, types.NameArray, types.BPCharArray:
	default:
		return nil, b.errorAt(n.Location, pgerr.DatatypeMismatch, "collations are not supported by type %s", typeText(e.ResultType().OID))
	}
	name := lastName(n.Collname)
	if !collations[name] || len(n.Collname) > 1 && stringOf(n.Collname[0]) != "pg_catalog" {
		return nil, b.errorAt(n.Location, pgerr.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", dotted(n.Collname))
	}
	return e, nil
}
