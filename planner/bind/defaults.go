package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Expression binds the text of a DEFAULT as a value of type target.
//
// Errors: as Default, positions within text.
func Expression(env *Env, text string, target types.Type) (scalar.Expr, error) {
	return namedExpression(env, text, "", target)
}

func namedExpression(env *Env, text, column string, target types.Type) (scalar.Expr, error) {
	const head = "SELECT "
	sts, err := sql.Parse(head + text)
	if err != nil {
		return nil, moveBack(err, len(head))
	}
	if len(sts) != 1 || len(sts[0].Node.GetSelectStmt().GetTargetList()) != 1 {
		return nil, pgerr.New(pgerr.SyntaxError, "a default is one expression")
	}
	n := sts[0].Node.GetSelectStmt().TargetList[0].GetResTarget().GetVal()
	e, err := Default(env, sts[0], n, column, target)
	if err != nil {
		return nil, moveBack(err, len(head))
	}
	return e, nil
}

// Default binds an expression that stands alone as a value of type target: the
// DEFAULT of the named column. It may not read columns, run subqueries or hold
// aggregates or parameters.
//
// Errors: *pgerr.Error 0A000, 42803, 42804, 42P02.
func Default(env *Env, st *sql.Statement, n *pg_query.Node, column string, target types.Type) (scalar.Expr, error) {
	b := newBinder(env, st, nil)
	b.noParams = true
	e, err := b.expr(n, exprCtx{scope: b.topScope(), clause: inDefault})
	if err != nil {
		return nil, err
	}
	loc := locate(n)
	out, ok, err := b.convert(e, target, assignment(loc))
	if err != nil {
		return nil, err
	}
	if k, folded := b.foldCast(out); ok && folded {
		return k, nil
	}
	if !ok {
		if column != "" {
			column = " \"" + column + "\""
		}
		return nil, b.errorAt(loc, pgerr.DatatypeMismatch, "column%s is of type %s but default expression is of type %s",
			column, typeText(target.OID), typeText(e.ResultType().OID)).WithHint("You will need to rewrite or cast the expression.")
	}
	return out, nil
}

func moveBack(err error, n int) error {
	e := *pgerr.From(err)
	if e.Position > n {
		e.Position -= n
	}
	return &e
}
