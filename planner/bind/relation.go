package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// relation is a table, a view or a computed relation of the catalog.
type relation struct {
	table   *catalog.Table
	view    *catalog.View
	virtual catalog.VirtualRelation
	schema  string
	used    *catalog.UsedName // in the text of a view: what the name meant there
}

// findRelation resolves a relation's name by schema or search path; pg_catalog
// is searched first unless the path names it.
func (b *binder) findRelation(rv *pg_query.RangeVar) (*relation, error) {
	if r := b.usedRelation(rv); r != nil {
		return r, nil
	}
	r, err := b.searchRelation(rv)
	if err == nil && r.table != nil && r.table.Temp && r.table.Schema != b.env.Temp {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "cannot access temporary tables of other sessions")
	}
	if err == nil && b.uses != nil {
		b.uses.relation(rv, r)
	}
	return r, err
}

func (b *binder) searchRelation(rv *pg_query.RangeVar) (*relation, error) {
	name := rv.Relname
	if rv.Schemaname != "" {
		whole := rv.Schemaname + "." + name
		if rv.Catalogname != "" {
			if err := b.checkDatabase(rv.Catalogname, "\""+rv.Catalogname+"."+whole+"\"", rv.Location); err != nil {
				return nil, err
			}
		}
		if sc, ok := b.schema(rv.Schemaname); ok {
			if r := b.inSchema(sc.OID, sc.Name, name); r != nil {
				return r, nil
			}
		}
		return nil, b.errorAt(rv.Location, pgerr.UndefinedTable, "relation \"%s\" does not exist", whole)
	}
	for _, oid := range b.searchPath() {
		if sc, ok := b.env.Catalog.SchemaByOID(oid); ok {
			if r := b.inSchema(oid, sc.Name, name); r != nil {
				return r, nil
			}
		}
	}
	return nil, b.errorAt(rv.Location, pgerr.UndefinedTable, "relation \"%s\" does not exist", name)
}

func (b *binder) schema(name string) (*catalog.Schema, bool) {
	if name == "pg_temp" {
		return b.env.Catalog.SchemaByOID(b.env.Temp)
	}
	return b.env.Catalog.Schema(name)
}

func (b *binder) searchPath() []types.OID {
	for _, oid := range b.env.SearchPath {
		if oid == catalog.PgCatalogOID {
			return b.env.SearchPath
		}
	}
	return append([]types.OID{catalog.PgCatalogOID}, b.env.SearchPath...)
}

func (b *binder) inSchema(oid types.OID, schema, name string) *relation {
	if t, ok := b.env.Catalog.Table(oid, name); ok {
		return &relation{table: t, schema: schema}
	}
	if v, ok := b.env.Catalog.View(oid, name); ok {
		return &relation{view: v, schema: schema}
	}
	if q, ok := b.env.Catalog.Sequence(oid, name); ok && b.env.Sequence != nil {
		return &relation{virtual: b.env.Sequence(q, schema), schema: schema}
	}
	if b.env.Virtual != nil && catalog.IsSystem(oid) {
		if v := b.env.Virtual(schema, name); v != nil {
			return &relation{virtual: v, schema: schema}
		}
	}
	return nil
}

// part is a bound piece of a FROM clause.
type part struct {
	node  logical.Node
	width int
	items []*item // what it makes visible
	top   *item   // its columns as one list: the item itself or the join
}

// tablePart binds a table, a computed relation or a WITH name in FROM.
func (b *binder) tablePart(rv *pg_query.RangeVar, s *scope) (*part, error) {
	if rv.Schemaname == "" {
		p, err := b.ctePart(rv, s)
		if p != nil || err != nil {
			return p, err
		}
	}
	r, err := b.findRelation(rv)
	if err != nil {
		visibleScopes(s, func(s *scope) {
			if rv.Schemaname == "" && s.later[rv.Relname] {
				err = pgerr.From(err).
					WithDetail("There is a WITH item named \"%s\", but it cannot be referenced from this part of the query.", rv.Relname).
					WithHint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.")
			}
		})
		return nil, err
	}
	it := &item{alias: rv.Relname, schema: r.schema, relation: rv.Relname, table: r.table, virtual: r.virtual, row: r.rowType()}
	if rv.Alias != nil {
		it.alias, it.schema = rv.Alias.Aliasname, ""
	}
	var node logical.Node
	switch {
	case r.view != nil:
		if node, err = b.viewNode(r.view); err != nil {
			return nil, err
		}
	case r.table != nil:
		if r.table.Unpopulated && !b.defining {
			return nil, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "materialized view \"%s\" has not been populated", r.table.Name).
				WithHint("Use the REFRESH MATERIALIZED VIEW command.")
		}
		scan := &logical.Scan{Table: r.table, Alias: it.alias, Cols: make([]int, len(r.table.Columns))}
		for i := range scan.Cols {
			scan.Cols[i] = i
		}
		node = scan
	default:
		node = &logical.Virtual{Relation: r.virtual, Alias: it.alias}
	}
	p, err := b.itemPart(node, it, nil)
	if err != nil {
		return nil, err
	}
	it.from(r)
	return p, renameColumns(it, rv.Alias, "table")
}

// itemPart makes a part whose item has the columns of the node, renamed by the alias.
func (b *binder) itemPart(node logical.Node, it *item, alias *pg_query.Alias) (*part, error) {
	cols := node.Columns()
	it.cols = make([]column, len(cols))
	for i, c := range cols {
		it.cols[i] = column{name: c.Name, typ: c.Type, index: i}
	}
	if err := renameColumns(it, alias, "table"); err != nil {
		return nil, err
	}
	it.relVisible, it.colsVisible = it.alias != "", true
	return &part{node: node, width: len(cols), items: []*item{it}, top: it}, nil
}

// renameColumns applies the column names of an alias.
func renameColumns(it *item, alias *pg_query.Alias, what string) error {
	names := alias.GetColnames()
	if len(names) > len(it.cols) {
		return pgerr.New(pgerr.InvalidColumnReference, "%s \"%s\" has %d columns available but %d columns specified",
			what, it.alias, len(it.cols), len(names))
	}
	for i, n := range names {
		it.cols[i].name = stringOf(n)
	}
	return nil
}
