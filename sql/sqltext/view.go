package sqltext

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// Relation is what a name in the text of a view stands for now.
type Relation struct {
	Schema, Name string   // Schema empty: the search path finds it
	Columns      []string // under the names of now, in the order of When
	When         []string // under the names that the text uses
}

// View prints a view's query with the names of now. names tells what a name in
// the text means, ok is false for one that is to stay. columns are the names of
// the view's own columns.
//
// Errors: as Select; a text that does not parse.
func View(query string, columns []string, names func(schema, name string) (Relation, bool)) (string, error) {
	tree, err := pg_query.Parse(query)
	if err != nil {
		return "", err
	}
	if len(tree.Stmts) != 1 || tree.Stmts[0].Stmt.GetSelectStmt() == nil {
		return query, nil
	}
	sel := tree.Stmts[0].Stmt.GetSelectStmt()
	var with []string
	Walk(sel, func(m proto.Message) {
		if c, ok := m.(*pg_query.CommonTableExpr); ok {
			with = append(with, c.Ctename)
		}
	})
	Walk(sel, func(m proto.Message) {
		rv, ok := m.(*pg_query.RangeVar)
		if !ok || rv.Schemaname == "" && slices.Contains(with, rv.Relname) {
			return
		}
		if r, ok := names(rv.Schemaname, rv.Relname); ok {
			rename(rv, r)
		}
	})
	nameColumns(sel, columns)
	return Select(sel)
}

// rename makes rv mean r under the alias and column names that the text uses.
func rename(rv *pg_query.RangeVar, r Relation) {
	alias := rv.Alias
	if alias == nil && (rv.Relname != r.Name || !slices.Equal(r.Columns, r.When)) {
		alias = &pg_query.Alias{Aliasname: rv.Relname}
	}
	if !slices.Equal(r.Columns, r.When) {
		for i := len(alias.Colnames); i < len(r.When); i++ {
			alias.Colnames = append(alias.Colnames, String(r.When[i]))
		}
	}
	rv.Schemaname, rv.Relname, rv.Alias = r.Schema, r.Name, alias
}

// nameColumns makes the first select list of a query give its columns these names.
func nameColumns(sel *pg_query.SelectStmt, columns []string) {
	for sel.Larg != nil {
		sel = sel.Larg
	}
	if len(sel.TargetList) != len(columns) {
		return
	}
	for i, t := range sel.TargetList {
		rt := t.GetResTarget()
		have := rt.Name
		if f := rt.Val.GetColumnRef().GetFields(); have == "" && len(f) > 0 {
			have = f[len(f)-1].GetString_().GetSval()
		}
		if have != columns[i] {
			rt.Name = columns[i]
		}
	}
}
