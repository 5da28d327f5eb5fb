package session

import (
	"strings"
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/bind"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// defaultText checks a DEFAULT expression against its column and returns its
// text, empty for NULL.
func (s *Session) defaultText(n *pg_query.Node, c *catalog.Column) (string, error) {
	if n.GetAConst() != nil && n.GetAConst().GetIsnull() {
		return "", nil
	}
	text, err := deparse(n)
	if err != nil {
		return "", err
	}
	if _, err := s.boundDefault(s.functionCtx(), s.catalog(), text, c); err != nil {
		return "", err
	}
	return text, nil
}

// grammarVersion is the version that the grammar's library wants in a tree.
var grammarVersion = sync.OnceValue(func() int32 {
	tree, err := pg_query.Parse("SELECT 1")
	if err != nil {
		return 0
	}
	return tree.Version
})

// deparse prints an expression of the grammar.
func deparse(n *pg_query.Node) (string, error) {
	target := &pg_query.Node{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: n}}}
	sel := &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: &pg_query.SelectStmt{
		TargetList: []*pg_query.Node{target}, LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE}}}
	text, err := pg_query.Deparse(&pg_query.ParseResult{Version: grammarVersion(), Stmts: []*pg_query.RawStmt{{Stmt: sel}}})
	if err != nil {
		return "", pgerr.New(pgerr.InternalError, "expression cannot be printed: %s", err)
	}
	return strings.TrimPrefix(text, "SELECT "), nil
}

// boundDefault binds the text of a DEFAULT. Positions in it mean nothing in the
// statement and are left out.
func (s *Session) boundDefault(c *functions.Ctx, cat *catalog.Snapshot, text string, col *catalog.Column) (scalar.Expr, error) {
	e, err := bind.Expression((*bind.Env)(s.env(cat, c, nil)), text, col.Type)
	if err != nil {
		pe := *pgerr.From(err)
		pe.Position = 0
		if rest, ok := strings.CutPrefix(pe.Message, "column is of type"); ok {
			pe.Message = `column "` + col.Name + `" is of type` + rest
		}
		return nil, &pe
	}
	return e, nil
}

// defaultValue computes a column's DEFAULT for many rows.
type defaultValue struct {
	prog *eval.Program
	env  *eval.Env
	in   vector.Batch
}

func (s *Session) compileDefault(c *functions.Ctx, cat *catalog.Snapshot, t *catalog.Table, col int) (*defaultValue, error) {
	e, err := s.boundDefault(c, cat, t.Columns[col].Default, &t.Columns[col])
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
