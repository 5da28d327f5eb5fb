package session

import (
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/planner/bind"
	"tsdb/planner/logical"
	"tsdb/sql"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// setCommand runs SET and RESET in all their forms and returns the tag.
func (s *Session) setCommand(st *sql.Statement, n *pg_query.VariableSetStmt) (string, error) {
	if n.IsLocal && (s.tx == nil || !s.tx.block) {
		s.warn(pgerr.NoActiveSQLTransaction, "%s can only be used in transaction blocks", "SET LOCAL")
	}
	switch n.Kind {
	case pg_query.VariableSetKind_VAR_SET_VALUE:
		v, err := s.setValue(st, n)
		if err != nil {
			return "", err
		}
		return "SET", s.set(n.Name, v, n.IsLocal)
	case pg_query.VariableSetKind_VAR_SET_DEFAULT:
		return "SET", s.resetSetting(n.Name, n.IsLocal)
	case pg_query.VariableSetKind_VAR_RESET:
		return "RESET", s.resetSetting(n.Name, false)
	case pg_query.VariableSetKind_VAR_RESET_ALL:
		s.resetAll()
		return "RESET", nil
	case pg_query.VariableSetKind_VAR_SET_CURRENT:
		v, err := s.show(n.Name)
		if err != nil {
			return "", err
		}
		return "SET", s.set(n.Name, v, n.IsLocal)
	case pg_query.VariableSetKind_VAR_SET_MULTI:
		return "SET", s.setMulti(n)
	}
	return "", pgerr.Unsupported("this form of SET")
}

func (s *Session) setMulti(n *pg_query.VariableSetStmt) error {
	switch n.Name {
	case "TRANSACTION":
		if s.tx == nil || !s.tx.block {
			s.warn(pgerr.NoActiveSQLTransaction, "SET TRANSACTION can only be used in transaction blocks")
		}
		return s.transactionModes(n.Args, "transaction_")
	case "SESSION CHARACTERISTICS":
		return s.transactionModes(n.Args, "default_transaction_")
	}
	return pgerr.Unsupported("SET %s", n.Name)
}

// setValue joins the arguments of SET as PostgreSQL does.
func (s *Session) setValue(st *sql.Statement, n *pg_query.VariableSetStmt) (string, error) {
	name := strings.ToLower(n.Name)
	list := name == "search_path" || name == "datestyle" || name == "temp_tablespaces"
	if len(n.Args) > 1 && !list {
		return "", pgerr.New(pgerr.InvalidParameterValue, "SET %s takes only one argument", n.Name)
	}
	parts := make([]string, len(n.Args))
	for i, a := range n.Args {
		if a.GetParamRef() != nil {
			return "", pgerr.New(pgerr.UndefinedParameter, "there is no parameter $%d", a.GetParamRef().Number).
				At(st.Position(a.GetParamRef().Location))
		}
		if c := a.GetTypeCast(); c != nil && name == "timezone" {
			return s.zoneInterval(st, c)
		}
		parts[i] = constText(a)
		if list && a.GetAConst().GetSval() != nil && name != "datestyle" {
			parts[i] = quoteIdent(parts[i])
		}
	}
	return strings.Join(parts, ", "), nil
}

// zoneInterval reads SET TIME ZONE INTERVAL '...' as hours east of Greenwich.
func (s *Session) zoneInterval(st *sql.Statement, c *pg_query.TypeCast) (string, error) {
	text := constText(c.Arg)
	v := vector.New(vector.Fixed16, 1)
	t, err := bind.TypeNameIn(nil, st, c.TypeName)
	if err != nil {
		return "", err
	}
	if err := types.ParseText(v, t, []byte(text), &s.tctx); err != nil {
		return "", err
	}
	us, days, months := intervalFields(v.F16[0])
	if months != 0 {
		return "", pgerr.New(pgerr.InvalidParameterValue, "cannot specify months in time zone interval")
	}
	if days != 0 {
		return "", pgerr.New(pgerr.InvalidParameterValue, "cannot specify days in time zone interval")
	}
	return strconv.FormatFloat(float64(us)/3600e6, 'f', -1, 64), nil
}

func showColumns(name string) []logical.Column {
	if strings.EqualFold(name, "all") {
		return textColumns("name", "setting", "description")
	}
	if p, ok := parameters[strings.ToLower(name)]; ok {
		name = p.name
	}
	return textColumns(name)
}

func (s *Session) showCommand(name string, r Result) (string, error) {
	cols := showColumns(name)
	out := &vector.Batch{}
	for range cols {
		out.Cols = append(out.Cols, vector.New(vector.Bytes, 1))
	}
	if strings.EqualFold(name, "all") {
		for _, n := range parameterNames {
			p := parameters[n]
			if p.hidden {
				continue
			}
			for i, v := range []string{p.name, p.show(s.mustValue(n)), p.doc} {
				out.Cols[i].AppendString(v)
			}
			out.N++
		}
	} else {
		v, err := s.show(name)
		if err != nil {
			return "", err
		}
		out.Cols[0].AppendString(v)
		out.N = 1
	}
	if err := r.Columns(cols); err != nil {
		return "", err
	}
	return "SHOW", r.Rows(out)
}
