package session

import (
	"strings"
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/bind"
	"tsdb/planner/scalar"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// setDefault makes an expression of a statement the DEFAULT of a column.
// Sequences that it names are kept by OID, so that they may be renamed.
func (s *Session) setDefault(st *sql.Statement, c *catalog.Column, n *pg_query.Node) error {
	c.Default, c.Depends = "", nil
	if n.GetAConst() != nil && n.GetAConst().GetIsnull() {
		return nil
	}
	if _, err := bind.Default((*bind.Env)(s.env(s.catalog(), s.functionCtx(), nil)), st, n, c.Name, c.Type); err != nil {
		pe := *pgerr.From(err)
		if pe.Code == pgerr.DatatypeMismatch {
			pe.Position = 0 // as in PostgreSQL
		}
		return &pe
	}
	text, err := deparse(n)
	if err != nil {
		return err
	}
	if text, err = sqltext.Rewrite(text, s.sequencesByOID); err != nil {
		return err
	}
	e, err := s.boundDefault(s.functionCtx(), s.catalog(), text, c)
	if err != nil {
		return err
	}
	c.Default, c.Depends = text, s.sequencesOf(e)
	return nil
}

// sequencesByOID puts OIDs in the place of the names in calls of nextval and
// kin.
func (s *Session) sequencesByOID(m proto.Message) {
	call, ok := m.(*pg_query.FuncCall)
	if !ok || len(call.Args) == 0 {
		return
	}
	switch stringOf(call.Funcname[len(call.Funcname)-1]) {
	case "nextval", "currval", "setval":
	default:
		return
	}
	arg := call.Args[0]
	if cast := arg.GetTypeCast(); cast != nil && stringOf(cast.TypeName.Names[len(cast.TypeName.Names)-1]) == "regclass" {
		arg = cast.Arg
	}
	name := arg.GetAConst().GetSval()
	if name == nil {
		return
	}
	oid, err := s.tctx.Names.ObjectID(types.Regclass, name.Sval)
	if _, ok := s.catalog().SequenceByOID(oid); err == nil && ok {
		name.Sval = itoa(int64(oid))
	}
}

// sequencesOf lists the sequences that an expression names.
func (s *Session) sequencesOf(e scalar.Expr) []catalog.Ref {
	var out []catalog.Ref
	scalar.Walk(e, func(e scalar.Expr) bool {
		k, ok := e.(*scalar.Const)
		if !ok || k.Typ.OID != types.Regclass || k.Value.IsNull(0) {
			return true
		}
		if _, ok := s.catalog().SequenceByOID(k.Value.U32[0]); ok {
			out = append(out, relationRef(k.Value.U32[0]))
		}
		return true
	})
	return out
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
	e, err := s.boundDefault(c, cat, cat.DefaultOf(&t.Columns[col]), &t.Columns[col])
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
