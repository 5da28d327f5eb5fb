// Package sqltext prints trees of the grammar as SQL: the queries of views, with
// the names that relations and columns have now.
//
// The grammar's library does the printing; this package changes trees before
// that. It works on copies, for parsed statements are shared by a cache.
package sqltext

import (
	"slices"
	"strings"
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"tsdb/sql/pgerr"
)

// grammarVersion is the version that the grammar's library wants in a tree.
var grammarVersion = sync.OnceValue(func() int32 {
	tree, err := pg_query.Parse("SELECT 1")
	if err != nil {
		return 0
	}
	return tree.Version
})

// Select prints a query.
//
// Errors: XX000 for a tree that the grammar's library cannot print.
func Select(sel *pg_query.SelectStmt) (string, error) {
	stmt := &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}
	text, err := pg_query.Deparse(&pg_query.ParseResult{Version: grammarVersion(), Stmts: []*pg_query.RawStmt{{Stmt: stmt}}})
	if err != nil {
		return "", pgerr.New(pgerr.InternalError, "query cannot be printed: %s", err)
	}
	return text, nil
}

// Copy returns a copy of a query that may be changed.
func Copy(sel *pg_query.SelectStmt) *pg_query.SelectStmt {
	c, ok := proto.Clone(sel).(*pg_query.SelectStmt)
	if !ok {
		return sel
	}
	return c
}

// Walk calls f for every message of a tree, outer ones first.
func Walk(m proto.Message, f func(proto.Message)) { walk(m.ProtoReflect(), f) }

func walk(m protoreflect.Message, f func(proto.Message)) {
	f(m.Interface())
	m.Range(func(d protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if d.Message() == nil {
			return true
		}
		if d.IsList() {
			l := v.List()
			for i := range l.Len() {
				walk(l.Get(i).Message(), f)
			}
			return true
		}
		walk(v.Message(), f)
		return true
	})
}

// String makes a name of the grammar.
func String(s string) *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_String_{String_: &pg_query.String{Sval: s}}}
}

// Column is one column that * stands for.
type Column struct{ Alias, Name string }

// ExpandStars puts columns in the place of * and t.* of the select lists of a
// query; stars has them by the expression of the list's item.
func ExpandStars(sel *pg_query.SelectStmt, stars func(*pg_query.Node) []Column) {
	Walk(sel, func(m proto.Message) {
		s, ok := m.(*pg_query.SelectStmt)
		if !ok {
			return
		}
		var list []*pg_query.Node
		for _, t := range s.TargetList {
			cols := stars(t.GetResTarget().GetVal())
			if cols == nil {
				list = append(list, t)
			}
			for _, c := range cols {
				list = append(list, columnTarget(c))
			}
		}
		s.TargetList = list
	})
}

func columnTarget(c Column) *pg_query.Node {
	var fields []*pg_query.Node
	if c.Alias != "" {
		fields = append(fields, String(c.Alias))
	}
	ref := &pg_query.ColumnRef{Fields: append(fields, String(c.Name))}
	val := &pg_query.Node{Node: &pg_query.Node_ColumnRef{ColumnRef: ref}}
	return &pg_query.Node{Node: &pg_query.Node_ResTarget{ResTarget: &pg_query.ResTarget{Val: val}}}
}

// RenameColumns renames the columns in the text of an expression over one
// table: f gets the qualifier, empty for none, and the name of a column, and
// returns those to write.
//
// Errors: as Select; a text that does not parse.
func RenameColumns(text string, f func(table, column string) (string, string)) (string, error) {
	return Rewrite(text, func(m proto.Message) {
		ref, ok := m.(*pg_query.ColumnRef)
		if !ok || len(ref.Fields) == 0 || len(ref.Fields) > 2 {
			return
		}
		last := ref.Fields[len(ref.Fields)-1].GetString_()
		if last == nil {
			return
		}
		table := ""
		if len(ref.Fields) == 2 {
			table = ref.Fields[0].GetString_().GetSval()
		}
		table, column := f(table, last.Sval)
		ref.Fields = []*pg_query.Node{String(column)}
		if table != "" {
			ref.Fields = []*pg_query.Node{String(table), String(column)}
		}
	})
}

// Columns lists the names of columns in the text of an expression, none twice;
// nothing for a text that does not parse.
func Columns(text string) []string {
	tree, err := pg_query.Parse("SELECT " + text)
	if err != nil {
		return nil
	}
	var out []string
	for _, st := range tree.Stmts {
		Walk(st.Stmt, func(m proto.Message) {
			ref, ok := m.(*pg_query.ColumnRef)
			if !ok || len(ref.Fields) == 0 {
				return
			}
			if name := ref.Fields[len(ref.Fields)-1].GetString_().GetSval(); name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		})
	}
	return out
}

// RenameTypeIn writes another schema and name for a type if m names that type;
// schema and name are those of before.
func RenameTypeIn(m proto.Message, schema, name, newSchema, newName string) {
	n, ok := m.(*pg_query.TypeName)
	if !ok || len(n.Names) == 0 || len(n.Names) > 2 || n.Names[len(n.Names)-1].GetString_().GetSval() != name {
		return
	}
	if len(n.Names) == 2 && n.Names[0].GetString_().GetSval() != schema {
		return
	}
	n.Names = []*pg_query.Node{String(newSchema), String(newName)}
}

// Rewrite parses an expression, lets change alter its tree, and prints it. The
// text stays as it is if nothing changes.
//
// Errors: as RenameColumns.
func Rewrite(text string, change func(proto.Message)) (string, error) {
	const head = "SELECT "
	out, err := RewriteQuery(head+text, change)
	return strings.TrimPrefix(out, head), err
}

// RewriteQuery is Rewrite for a whole query.
func RewriteQuery(text string, change func(proto.Message)) (string, error) {
	tree, err := pg_query.Parse(text)
	if err != nil {
		return "", pgerr.New(pgerr.InternalError, "stored text does not parse: %s", err)
	}
	if len(tree.Stmts) != 1 || tree.Stmts[0].Stmt.GetSelectStmt() == nil {
		return text, nil
	}
	sel := tree.Stmts[0].Stmt.GetSelectStmt()
	before := Copy(sel)
	Walk(sel, change)
	if proto.Equal(before, sel) {
		return text, nil
	}
	return Select(sel)
}
