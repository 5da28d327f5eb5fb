package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Use says what an expression over a table's columns is for.
type Use uint8

// Uses of ExpressionOver.
const (
	ForCheck      = Use(inCheck)      // CHECK; boolean
	ForGenerated  = Use(inGenerated)  // GENERATED ALWAYS AS; of the column's type, by assignment
	ForIndex      = Use(inIndex)      // column of an index; any type
	ForIndexWhere = Use(inIndexWhere) // predicate of an index; boolean
	ForTransform  = Use(inTransform)  // ALTER COLUMN ... TYPE ... USING; of the new type, by assignment
)

// ExpressionOver binds the text of one expression over the columns of t:
// scalar.Column i reads t.Columns[i]. A target of type unknown takes the
// expression as it is. ok is false where the expression has another type than
// target that assignment does not convert; the caller words that error.
//
// Errors: *pgerr.Error with positions within text; subqueries, aggregates and
// parameters are refused.
func ExpressionOver(env *Env, text string, t *catalog.Table, use Use, target types.Type) (e scalar.Expr, ok bool, err error) {
	const head = "SELECT "
	sts, err := sql.Parse(head + text)
	if err != nil {
		return nil, false, moveBack(err, len(head))
	}
	if len(sts) != 1 || len(sts[0].Node.GetSelectStmt().GetTargetList()) != 1 {
		return nil, false, pgerr.New(pgerr.SyntaxError, "one expression is expected")
	}
	n := sts[0].Node.GetSelectStmt().TargetList[0].GetResTarget().GetVal()
	if e, ok, err = ExpressionIn(env, sts[0], n, t, use, target); err != nil {
		return nil, false, moveBack(err, len(head))
	}
	return e, ok, nil
}

// ExpressionIn is ExpressionOver for an expression n of statement st, where
// positions of errors are.
func ExpressionIn(env *Env, st *sql.Statement, n *pg_query.Node, t *catalog.Table, use Use, target types.Type) (e scalar.Expr, ok bool, err error) {
	b := newBinder(env, st, nil)
	b.noParams = true
	return b.over(n, t, clause(use), target)
}

// Immutable reports whether an expression has the same value at all times: it
// calls immutable functions only.
func Immutable(e scalar.Expr) bool {
	same := true
	scalar.Walk(e, func(e scalar.Expr) bool {
		if c, ok := e.(*scalar.Call); ok && c.Fn.Volatility != functions.Immutable {
			same = false
		}
		return same
	})
	return same
}

// over binds n in a scope that holds one table.
func (b *binder) over(n *pg_query.Node, t *catalog.Table, in clause, target types.Type) (scalar.Expr, bool, error) {
	it := &item{alias: t.Name, relation: t.Name, table: t, relVisible: true, colsVisible: true, cols: make([]column, len(t.Columns))}
	for i := range t.Columns {
		it.cols[i] = column{name: t.Columns[i].Name, typ: t.Columns[i].Type, index: i}
	}
	s := &scope{items: []*item{it}, all: []*item{it}}
	e, err := b.expr(n, exprCtx{scope: s, clause: in})
	if err != nil {
		return nil, false, err
	}
	loc := locate(n)
	switch in {
	case inCheck, inIndexWhere:
		e, err = b.asBoolean(e, map[clause]string{inCheck: "CHECK", inIndexWhere: "WHERE"}[in], n)
		return e, err == nil, err
	}
	if target.OID == types.Unknown {
		e, err = b.resolveUnknown(e, loc)
		return e, err == nil, err
	}
	out, ok, err := b.convert(e, target, assignment(loc))
	if !ok || err != nil {
		return e, false, err
	}
	return out, true, nil
}
