package bind

import (
	"cmp"
	"maps"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// viewState is what a binder knows of views: of the one whose query it binds,
// and what a query reads that is to become a view.
type viewState struct {
	names []catalog.UsedName // what the names of relations in the view's text mean
	open  []types.OID        // views being expanded, outermost first
	uses  *Uses              // nil: nobody asks
	// defining: of a view's definition, which may read what has not been filled.
	defining bool
}

// Uses is what a query reads, for CREATE VIEW.
type Uses struct {
	Names   []catalog.UsedName
	Depends []catalog.Ref // relations, and columns of them
	// Stars gives the columns that * and t.* of a select list stand for, by the
	// ResTarget's expression.
	Stars map[*pg_query.Node][]StarColumn
	Temp  bool // it reads a temporary relation

	seen map[catalog.Ref]bool
}

// StarColumn is one column that * stands for.
type StarColumn struct{ Alias, Name string }

// Query binds a SELECT that is to become a view, and tells what it reads.
//
// Errors: as Bind.
func Query(env *Env, st *sql.Statement, sel *pg_query.SelectStmt) (*Bound, *Uses, error) {
	b := newBinder(env, st, nil)
	b.noParams, b.defining = true, true
	b.uses = &Uses{Stars: map[*pg_query.Node][]StarColumn{}, seen: map[catalog.Ref]bool{}}
	q, err := b.query(sel, b.topScope(), queryContext{resolveUnknowns: true})
	if err != nil {
		return nil, nil, err
	}
	u := b.uses
	for ref := range u.seen { // a column stands for its relation
		if ref.Column != 0 {
			delete(u.seen, catalog.Ref{Class: ref.Class, OID: ref.OID})
		}
	}
	u.Depends = slices.SortedFunc(maps.Keys(u.seen), func(a, b catalog.Ref) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.OID, b.OID), cmp.Compare(a.Column, b.Column))
	})
	return &Bound{Kind: Select, Root: q.node, Cols: q.node.Columns()}, u, nil
}

// relation notes a name and what it means.
func (u *Uses) relation(rv *pg_query.RangeVar, r *relation) {
	n := catalog.UsedName{Schema: rv.Schemaname, Name: rv.Relname}
	switch {
	case r.table != nil:
		n.OID = r.table.OID
		u.Temp = u.Temp || r.table.Temp
		for i := range r.table.Columns {
			n.Columns = append(n.Columns, catalog.UsedColumn{Num: r.table.Columns[i].AttNum, Name: r.table.Columns[i].Name})
		}
	case r.view != nil:
		n.OID = r.view.OID
		u.Temp = u.Temp || r.view.Temp
		for i := range r.view.Columns {
			n.Columns = append(n.Columns, catalog.UsedColumn{Num: int16(i + 1), Name: r.view.Columns[i].Name})
		}
	default:
		return
	}
	u.seen[catalog.Ref{Class: catalog.ClassRelation, OID: n.OID}] = true
	if !slices.ContainsFunc(u.Names, func(o catalog.UsedName) bool { return o.Schema == n.Schema && o.Name == n.Name }) {
		u.Names = append(u.Names, n)
	}
}

// note notes that a column is read.
func (b *binder) note(c *column) {
	if b.uses != nil && c.origin.OID != 0 {
		b.uses.seen[c.origin] = true
	}
}

// noteStar notes a column that a * stands for.
func (b *binder) noteStar(n *pg_query.Node, it *item, c *column) {
	if b.uses == nil {
		return
	}
	s := StarColumn{Name: c.name}
	if it.relVisible {
		s.Alias = it.alias
	}
	b.uses.Stars[n] = append(b.uses.Stars[n], s)
}

// usedRelation resolves a name in a view's text; nil if it is not among those
// that the view has noted, such as a relation of pg_catalog.
func (b *binder) usedRelation(rv *pg_query.RangeVar) *relation {
	for i := range b.names {
		n := &b.names[i]
		if n.Schema != rv.Schemaname || n.Name != rv.Relname {
			continue
		}
		r, ok := b.env.Catalog.RelationByOID(n.OID)
		if !ok {
			return nil
		}
		schema := ""
		if sc, ok := b.env.Catalog.SchemaByOID(r.Schema); ok {
			schema = sc.Name
		}
		return &relation{table: r.Table, view: r.View, schema: schema, used: n}
	}
	return nil
}

// from says which columns of a table or view an item's columns are.
func (it *item) from(r *relation) {
	for i := range it.cols {
		switch {
		case r.table != nil:
			it.cols[i].origin = catalog.Ref{Class: catalog.ClassRelation, OID: r.table.OID, Column: r.table.Columns[i].AttNum}
		case r.view != nil:
			it.cols[i].origin = catalog.Ref{Class: catalog.ClassRelation, OID: r.view.OID, Column: int16(i + 1)}
		}
	}
	it.asUsed(r)
}

// asUsed leaves, in a view's text, the columns that the relation had when the
// view was made, under their names of then.
func (it *item) asUsed(r *relation) {
	if r.used == nil {
		return
	}
	cols := make([]column, 0, len(r.used.Columns))
	for _, u := range r.used.Columns {
		i := int(u.Num) - 1
		if r.table != nil {
			i = r.table.ColumnByNum(u.Num)
		}
		if i < 0 || i >= len(it.cols) {
			continue
		}
		c := it.cols[i]
		c.name = u.Name
		cols = append(cols, c)
	}
	it.cols = cols
}

// viewNode binds the query of a view.
func (b *binder) viewNode(v *catalog.View) (logical.Node, error) {
	if slices.Contains(b.open, v.OID) {
		return nil, pgerr.New(pgerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation \"%s\"", v.Name)
	}
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	sub, sel, err := b.forView(v)
	if err != nil {
		return nil, err
	}
	q, err := sub.query(sel, sub.topScope(), queryContext{resolveUnknowns: true})
	b.queries = sub.queries
	if err != nil {
		return nil, withoutPosition(err)
	}
	cols := q.node.Columns()
	p := &logical.Project{Input: q.node, Exprs: make([]scalar.Expr, len(v.Columns)), Cols: make([]logical.Column, len(v.Columns))}
	for i, c := range v.Columns {
		if i >= len(cols) {
			return nil, pgerr.New(pgerr.InternalError, "view \"%s\" has fewer columns than it was made with", v.Name)
		}
		p.Exprs[i] = &scalar.Column{Index: i, Typ: cols[i].Type, Name: cols[i].Name}
		p.Cols[i] = logical.Column{Name: c.Name, Type: cols[i].Type, Table: v.OID, AttNum: int16(i + 1)}
	}
	return p, nil
}

// forView makes a binder for the query of a view: the names in its text mean
// what they meant when the view was made.
func (b *binder) forView(v *catalog.View) (*binder, *pg_query.SelectStmt, error) {
	sts, err := sql.Parse(v.Query)
	if err != nil {
		return nil, nil, withoutPosition(err)
	}
	var sel *pg_query.SelectStmt
	if len(sts) == 1 {
		sel = sts[0].Node.GetSelectStmt()
	}
	if sel == nil {
		return nil, nil, pgerr.New(pgerr.InternalError, "view \"%s\" has no query", v.Name)
	}
	env := *b.env
	env.SearchPath = nil
	for _, name := range v.Path {
		if sc, ok := env.Catalog.Schema(name); ok {
			env.SearchPath = append(env.SearchPath, sc.OID)
		}
	}
	sub := newBinder(&env, sts[0], nil)
	sub.noParams, sub.defining, sub.depth, sub.queries = true, b.defining, b.depth, b.queries
	sub.names, sub.open = v.Names, append(b.open[:len(b.open):len(b.open)], v.OID)
	return sub, sel, nil
}

// withoutPosition drops the position of an error in a view's text, which means
// nothing in the statement.
func withoutPosition(err error) error {
	e := *pgerr.From(err)
	e.Position = 0
	return &e
}

// ViewQuery binds the query of a view.
//
// Errors: as Bind, without position.
func ViewQuery(env *Env, v *catalog.View) (*Bound, error) {
	b := newBinder(env, nil, nil)
	n, err := b.viewNode(v)
	if err != nil {
		return nil, err
	}
	return &Bound{Kind: Select, Root: n, Cols: n.Columns()}, nil
}
