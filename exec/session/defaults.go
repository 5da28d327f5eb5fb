package session

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/bind"
	"tsdb/planner/scalar"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// defaultText checks a DEFAULT expression against its column and returns its
// text, empty for NULL.
func (s *Session) defaultText(st *sql.Statement, n *pg_query.Node, c *catalog.Column) (string, error) {
	if n.GetAConst() != nil && n.GetAConst().GetIsnull() {
		return "", nil
	}
	if _, err := s.boundDefault(s.functionCtx(), s.catalog(), st, n, c); err != nil {
		return "", err
	}
	return deparse(n)
}

// deparse prints an expression of the grammar.
func deparse(n *pg_query.Node) (string, error) {
	target := &pg_query.Node{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: n}}}
	sel := &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: &pg_query.SelectStmt{
		TargetList: []*pg_query.Node{target}, LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE}}}
	text, err := pg_query.Deparse(&pg_query.ParseResult{Stmts: []*pg_query.RawStmt{{Stmt: sel}}})
	if err != nil {
		return "", pgerr.New(pgerr.InternalError, "expression cannot be printed: %s", err)
	}
	return strings.TrimPrefix(text, "SELECT "), nil
}

func (s *Session) boundDefault(c *functions.Ctx, cat *catalog.Snapshot, st *sql.Statement, n *pg_query.Node, col *catalog.Column) (scalar.Expr, error) {
	return bind.Default(s.env(cat, c, nil), st, n, col.Name, col.Type)
}

// defaultValue computes a column's DEFAULT for many rows.
type defaultValue struct {
	prog *eval.Program
	env  *eval.Env
	in   vector.Batch
}

func (s *Session) compileDefault(c *functions.Ctx, cat *catalog.Snapshot, t *catalog.Table, col int) (*defaultValue, error) {
	sts, err := sql.Parse("SELECT " + t.Columns[col].Default)
	if err != nil {
		return nil, err
	}
	if len(sts) != 1 || len(sts[0].Node.GetSelectStmt().GetTargetList()) != 1 {
		return nil, pgerr.New(pgerr.DataCorrupted, `default of column "%s" cannot be read`, t.Columns[col].Name)
	}
	n := sts[0].Node.GetSelectStmt().TargetList[0].GetResTarget().GetVal()
	e, err := s.boundDefault(c, cat, sts[0], n, &t.Columns[col])
	if err != nil {
		return nil, err
	}
	prog, err := eval.Compile(e)
	if err != nil {
		return nil, err
	}
	return &defaultValue{prog: prog, env: &eval.Env{Ctx: c}}, nil
}

// values returns n values, valid until the next call.
func (d *defaultValue) values(n int) (*vector.Vector, error) {
	d.in.N = n
	return d.prog.Eval(d.env, &d.in)
}
