package session

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner"
	"tsdb/planner/logical"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// filledTable is a table that is made of a query's rows.
type filledTable struct {
	s      *Session
	st     *sql.Statement
	into   *pg_query.IntoClause
	what   string // of the command, for errors: CREATE TABLE AS
	bound  *planner.Bound
	params []planner.ParamValue
	t      *catalog.Table
}

// createTableAs runs CREATE TABLE AS and CREATE MATERIALIZED VIEW.
func (s *Session) createTableAs(ctx context.Context, st *sql.Statement, n *pg_query.CreateTableAsStmt) (string, error) {
	f := &filledTable{s: s, st: st, into: n.Into, what: commandName(st.Node)}
	var err error
	switch q := n.Query.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		if n.Objtype == pg_query.ObjectType_OBJECT_MATVIEW {
			err = f.materialized(q.SelectStmt)
		} else {
			err = f.bind(n.Query)
		}
	case *pg_query.Node_ExecuteStmt:
		var a *analyzed
		if a, f.params, err = s.executed(q.ExecuteStmt, s.catalog()); err == nil {
			f.bound = a.bound
		}
		if err == nil && f.bound.Kind != planner.Select {
			err = pgerr.New(pgerr.WrongObjectType, "prepared statement is not a SELECT")
		}
	default:
		err = pgerr.Unsupported("CREATE TABLE AS of this statement")
	}
	if err != nil {
		return "", err
	}
	return f.create(ctx, n.IfNotExists)
}

// selectIntoTable runs SELECT ... INTO.
func (s *Session) selectIntoTable(ctx context.Context, st *sql.Statement, sel *pg_query.SelectStmt) (string, error) {
	f := &filledTable{s: s, st: st, into: selectInto(sel), what: "SELECT INTO"}
	query := sqltext.Copy(sel)
	left := query
	for left.Larg != nil {
		left = left.Larg
	}
	left.IntoClause = nil
	if err := f.bind(&pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: query}}); err != nil {
		return "", err
	}
	return f.create(ctx, false)
}

func (f *filledTable) bind(query *pg_query.Node) error {
	of := *f.st
	of.Node, of.Bulk = query, nil
	b, err := planner.Bind(f.s.env(f.s.catalog(), f.s.functionCtx(), nil), &of, nil)
	if err != nil {
		return err
	}
	if len(b.Params) > 0 {
		return missingParameter(f.st)
	}
	f.bound = b
	return nil
}

// create makes the table and fills it.
func (f *filledTable) create(ctx context.Context, ifNotExists bool) (string, error) {
	s, rv := f.s, f.into.Rel
	sc, err := s.targetSchema(rv)
	if err != nil {
		return "", err
	}
	if s.relationExists(sc.OID, rv.Relname) {
		e := pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, rv.Relname)
		if !ifNotExists {
			return "", e
		}
		e.Severity, e.Message = pgerr.SevNotice, e.Message+", skipping"
		s.notice(e)
		return f.what, nil
	}
	if err := f.define(sc); err != nil {
		return "", err
	}
	if f.into.SkipData {
		return f.what, s.addTable(f.t)
	}
	v := s.view() // before the table is there
	n, err := s.fillTable(ctx, f.t, f.bound, f.params, v, func() error { return s.addTable(f.t) })
	if err != nil {
		return "", err
	}
	return "SELECT " + itoa(n), nil
}

// define describes the table.
func (f *filledTable) define(sc *catalog.Schema) error {
	s, rv := f.s, f.into.Rel
	if err := s.typeNameTaken(sc.OID, rv.Relname); err != nil {
		return err
	}
	stmt := &pg_query.CreateStmt{Relation: rv, Options: f.into.Options, Oncommit: f.into.OnCommit,
		Tablespacename: f.into.TableSpaceName, AccessMethod: f.into.AccessMethod}
	if err := s.refuseTableClauses(stmt); err != nil {
		return err
	}
	b := &tableBuilder{s: s, st: f.st, stmt: stmt, null: map[int]bool{}, t: f.t}
	if b.t == nil {
		b.t = &catalog.Table{}
	}
	b.t.Schema, b.t.Name, b.t.Owner, b.t.Temp = sc.OID, rv.Relname, s.userOID(), isTemp(sc)
	b.t.OnCommit = onCommit(stmt.Oncommit)
	cols, err := f.columns()
	if err != nil {
		return err
	}
	for _, c := range cols {
		if b.t.ColumnIndex(c.Name) >= 0 {
			return pgerr.New(pgerr.DuplicateColumn, `column "%s" specified more than once`, c.Name)
		}
		if slices.Contains(systemColumns, c.Name) {
			return pgerr.New(pgerr.DuplicateColumn, `column name "%s" conflicts with a system column name`, c.Name)
		}
		b.t.AddColumn(c, codecOf(c.Type))
	}
	switch {
	case len(cols) == 0:
		return pgerr.Unsupported("a table without columns")
	case len(cols) > maxTableColumns:
		return pgerr.New(pgerr.TooManyColumns, "tables can have at most %d columns", maxTableColumns)
	}
	if err := b.assignIDs(); err != nil {
		return err
	}
	if err := b.options(); err != nil {
		return err
	}
	b.t.DeriveKeys()
	f.t = b.t
	return nil
}

// columns are those of the query under the names that the command gives them.
func (f *filledTable) columns() ([]catalog.Column, error) {
	names := f.into.ColNames
	if len(names) > len(f.bound.Cols) {
		return nil, pgerr.New(pgerr.SyntaxError, "too many column names were specified")
	}
	out := make([]catalog.Column, len(f.bound.Cols))
	for i, c := range f.bound.Cols {
		name := c.Name
		if i < len(names) {
			name = names[i].GetString_().GetSval()
		}
		if pseudoType(c.Type.OID) {
			return nil, pgerr.New(pgerr.InvalidTableDefinition, `column "%s" has pseudo-type %s`, name, types.FormatType(c.Type))
		}
		out[i] = catalog.Column{Name: name, Type: c.Type, Domain: f.s.domainOf(c)}
	}
	return out, nil
}

// domainOf returns the domain of the table's column that c shows, 0: none.
func (s *Session) domainOf(c logical.Column) types.OID {
	if c.Table == 0 {
		return 0
	}
	t, ok := s.catalog().TableByOID(c.Table)
	if !ok {
		return 0
	}
	i := t.ColumnByNum(c.AttNum)
	if i < 0 || t.Columns[i].Type != c.Type {
		return 0
	}
	return t.Columns[i].Domain
}

func pseudoType(t types.OID) bool {
	switch t {
	case types.Unknown, types.Void, types.Record, types.Any, types.AnyArray, types.AnyElement, types.AnyNonArray, types.AnyEnum,
		types.AnyCompatible, types.AnyCompatibleArray:
		return true
	}
	return false
}

// addTable makes a described table exist in storage and catalog.
func (s *Session) addTable(t *catalog.Table) error {
	if err := s.writeTx().CreateTable(t.Storage); err != nil {
		return err
	}
	s.tx.local = s.tx.local.WithTable(t)
	return nil
}

// fillTable appends the rows of a query over v, which it closes, to a table
// that begin makes once the query is planned.
func (s *Session) fillTable(ctx context.Context, t *catalog.Table, b *planner.Bound, params []planner.ParamValue, v *view, begin func() error) (int64, error) {
	cur, err := s.open(b, params, v, s.functionCtx(), false)
	if err != nil {
		return 0, err
	}
	defer cur.close()
	if err := begin(); err != nil {
		return 0, err
	}
	w := s.newWriter(ctx, t)
	if err := cur.start(ctx); err != nil {
		return 0, w.finish(err)
	}
	_, err = cur.fetch(ctx, 0, w.append)
	return w.added, w.finish(err)
}
