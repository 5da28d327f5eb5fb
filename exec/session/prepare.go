package session

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/exec/eval"
	"tsdb/planner"
	"tsdb/planner/bind"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// prepareCommand is SQL's PREPARE name (types) AS statement.
func (s *Session) prepareCommand(st *sql.Statement, n *pg_query.PrepareStmt) error {
	declared := make([]types.OID, len(n.Argtypes))
	for i, t := range n.Argtypes {
		typ, err := bind.TypeNameIn(s.bindEnv(), st, t.GetTypeName())
		if err != nil {
			return err
		}
		declared[i] = typ.OID
	}
	if !planned(n.Query) {
		return pgerr.Unsupported("PREPARE of %s", commandName(n.Query))
	}
	inner := *st
	inner.Node, inner.Bulk = n.Query, nil
	p := &prepared{st: &inner, declared: declared, fromSQL: true}
	var err error
	if p.a, err = s.analyze(&inner, declared, s.catalog()); err != nil {
		return err
	}
	return s.keepStatement(n.Name, p)
}

// executeCommand is SQL's EXECUTE name (values).
func (s *Session) executeCommand(ctx context.Context, n *pg_query.ExecuteStmt, r Result) (string, error) {
	v := s.view()
	a, params, err := s.executed(n, v.cat)
	if err != nil {
		v.close()
		return "", err
	}
	return s.run(ctx, a, params, v, r)
}

// executed finds the statement of an EXECUTE, bound against cat, and evaluates
// its values.
func (s *Session) executed(n *pg_query.ExecuteStmt, cat *catalog.Snapshot) (*analyzed, []planner.ParamValue, error) {
	p, err := s.findStatement(n.Name)
	if err != nil {
		return nil, nil, err
	}
	if p.a == nil || p.a.bound == nil {
		return nil, nil, pgerr.Unsupported("EXECUTE of this statement")
	}
	if err := s.refresh(p, cat); err != nil {
		return nil, nil, err
	}
	if len(n.Params) != len(p.a.params) {
		return nil, nil, pgerr.New(pgerr.SyntaxError, `wrong number of parameters for prepared statement "%s"`, n.Name).
			WithDetail("Expected %d parameters but got %d.", len(p.a.params), len(n.Params))
	}
	params := make([]planner.ParamValue, len(n.Params))
	c := s.functionCtx()
	for i, a := range n.Params {
		if params[i], err = s.argument(c, a, p.a.params[i]); err != nil {
			return nil, nil, err
		}
	}
	return p.a, params, nil
}

// argument evaluates one value of EXECUTE as the parameter's type.
func (s *Session) argument(c *functions.Ctx, n *pg_query.Node, t types.Type) (planner.ParamValue, error) {
	text, err := deparse(n)
	if err != nil {
		return nil, err
	}
	e, err := s.boundDefault(c, s.catalog(), text, &catalog.Column{Type: t})
	if err != nil {
		return nil, err
	}
	return eval.Constant(&eval.Env{Ctx: c}, e)
}
