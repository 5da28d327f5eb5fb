package bind

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
)

// change binds one UPDATE or DELETE: the rows of the target table, first in the
// row of its FROM clause, and what becomes of them.
type change struct {
	inserter
	level
	source logical.Node // the target's rows joined with FROM or USING
}

// changeOf binds the target of a statement and the other relations that it reads.
func (b *binder) changeOf(rv *pg_query.RangeVar, with *pg_query.WithClause, others []*pg_query.Node, what writes) (*change, error) {
	s := b.topScope()
	if err := b.with(with, s); err != nil {
		return nil, err
	}
	r, err := b.findRelation(rv)
	if err != nil {
		return nil, err
	}
	through, err := b.writable(r, rv, what)
	if err != nil {
		return nil, err
	}
	it := &item{alias: rv.Relname, schema: r.schema, relation: rv.Relname, table: r.table, row: r.rowType()}
	if rv.Alias != nil {
		it.alias, it.schema = rv.Alias.Aliasname, ""
	}
	scan := &logical.Scan{Table: r.table, Alias: it.alias, Cols: make([]int, len(r.table.Columns), len(r.table.Columns)+1)}
	for i := range scan.Cols {
		scan.Cols[i] = i
	}
	p, err := b.itemPart(scan, it, nil)
	if err != nil {
		return nil, err
	}
	if through != nil {
		it.cols = append([]column(nil), through.cols...)
	}
	if err := renameColumns(it, rv.Alias, "table"); err != nil {
		return nil, err
	}
	scan.Cols = append(scan.Cols, logical.RowID)
	p.width++
	s.all = append(s.all, it)
	for _, n := range others {
		if p, err = b.beside(p, n, s); err != nil {
			return nil, err
		}
	}
	s.items = p.items
	c := &change{inserter: inserter{binder: b, table: r.table, behind: through, defaults: map[int]scalar.Expr{}},
		level: level{binder: b, scope: s, node: p.node}, source: p.node}
	if through != nil {
		for _, cond := range through.where {
			c.source = &logical.Filter{Input: c.source, Cond: cond}
		}
	}
	return c, nil
}

// notWritten refuses to change a relation that is no table.
func (b *binder) notWritten(r *relation, rv *pg_query.RangeVar) error {
	if q, ok := b.env.Catalog.SequenceByOID(r.virtual.RelOID()); ok {
		return pgerr.New(pgerr.WrongObjectType, "cannot change sequence \"%s\"", q.Name)
	}
	return pgerr.New(pgerr.InsufficientPrivilege, "permission denied: \"%s\" is a system catalog", rv.Relname)
}

// filter applies WHERE. A row that joins several times is changed once.
func (c *change) filter(where *pg_query.Node, joined bool) error {
	cond, err := c.condition(where, inWhere)
	if err != nil {
		return err
	}
	if cond != nil {
		c.source = &logical.Filter{Input: c.source, Cond: cond}
	}
	if joined {
		c.source = &logical.DistinctRows{Input: c.source, On: []scalar.Expr{c.rowID()}}
	}
	return nil
}

func (c *change) rowID() scalar.Expr {
	n := len(c.table.Columns)
	col := columnAt(c.node, n)
	return &scalar.Column{Index: n, Typ: col.Type, Name: col.Name}
}

func (b *binder) update(n *pg_query.UpdateStmt) (*Bound, error) {
	c, err := b.changeOf(n.Relation, n.WithClause, n.FromClause, writesUpdate)
	if err != nil {
		return nil, err
	}
	if err := c.filter(n.WhereClause, len(n.FromClause) > 0); err != nil {
		return nil, err
	}
	out := &Bound{Kind: Update, Table: c.table, RowID: len(c.table.Columns)}
	if c.behind != nil {
		out.Checks = c.behind.checks
	}
	if err := c.returning(out, n.ReturningList); err != nil {
		return nil, err
	}
	row, err := c.assignments(n.TargetList, c.scope)
	if err != nil {
		return nil, err
	}
	out.Root = c.project(row, len(n.ReturningList) > 0)
	return out, nil
}

func (b *binder) delete(n *pg_query.DeleteStmt) (*Bound, error) {
	c, err := b.changeOf(n.Relation, n.WithClause, n.UsingClause, writesDelete)
	if err != nil {
		return nil, err
	}
	if err := c.filter(n.WhereClause, len(n.UsingClause) > 0); err != nil {
		return nil, err
	}
	out := &Bound{Kind: Delete, Table: c.table}
	if err := c.returning(out, n.ReturningList); err != nil {
		return nil, err
	}
	if len(n.ReturningList) == 0 {
		id := c.rowID()
		out.Root = &logical.Project{Input: c.source, Exprs: []scalar.Expr{id}, Cols: []logical.Column{{Name: "row id", Type: id.ResultType()}}}
		return out, nil
	}
	out.RowID = len(c.table.Columns)
	row := make([]scalar.Expr, len(c.table.Columns))
	for i := range row {
		row[i] = c.old(i)
	}
	out.Root = c.project(row, true)
	return out, nil
}

// old reads column i of the target's row.
func (c *change) old(i int) scalar.Expr {
	col := &c.table.Columns[i]
	return &scalar.Column{Index: i, Typ: col.Type, Name: col.Name}
}

// project yields the row, the row id, and with all the columns of the other
// relations, for RETURNING.
func (c *change) project(row []scalar.Expr, all bool) logical.Node {
	cols := c.node.Columns()
	p := &logical.Project{Input: c.source, Exprs: append(row, c.rowID()), Cols: cols[:len(row)+1]}
	if all {
		for i := len(row) + 1; i < len(cols); i++ {
			p.Exprs = append(p.Exprs, &scalar.Column{Index: i, Typ: cols[i].Type, Name: cols[i].Name})
		}
		p.Cols = cols
	}
	return p
}

// returning binds RETURNING over the changed rows and what they were joined with.
func (c *change) returning(out *Bound, list []*pg_query.Node) error {
	return c.level.binder.returning(out, list, &scope{ctes: c.scope.ctes, items: c.scope.items, all: c.scope.all}, c.node.Columns())
}

// returning binds RETURNING in s, whose row has the columns cols.
func (b *binder) returning(out *Bound, list []*pg_query.Node, s *scope, cols []logical.Column) error {
	if len(list) == 0 {
		return nil
	}
	l := &level{binder: b, scope: s, node: &logical.Given{Cols: cols}}
	if err := l.targetList(list, inReturning); err != nil {
		return err
	}
	if err := l.resolveTargets(); err != nil {
		return err
	}
	l.project()
	out.Returning, out.Cols = l.node, l.node.Columns()
	return nil
}

// assignments binds a SET list and returns the new row: the columns that it
// leaves out keep the values of the first columns of s's row.
func (in *inserter) assignments(list []*pg_query.Node, s *scope) ([]scalar.Expr, error) {
	c := exprCtx{scope: s, clause: inUpdate}
	sources := make([]*pg_query.Node, len(list))
	bound := make([]scalar.Expr, len(list))
	for i, n := range list {
		var err error
		if sources[i], bound[i], err = in.source(n.GetResTarget(), c); err != nil {
			return nil, err
		}
	}
	row := make([]scalar.Expr, len(in.table.Columns))
	given, parts := map[int]bool{}, map[int]bool{}
	twice := -1
	for i, n := range list {
		rt := n.GetResTarget()
		at, err := in.assigned(rt)
		if err != nil {
			return nil, err
		}
		part, err := in.partOf(rt, at, c)
		if err != nil {
			return nil, err
		}
		e, err := in.assignedValue(part, bound[i], sources[i], at, rt.Location)
		if err != nil {
			return nil, err
		}
		if row[at] != nil && twice < 0 && (part == nil || !parts[at]) {
			twice = at
		}
		if part != nil {
			old := row[at]
			if old == nil {
				old = &scalar.Column{Index: at, Typ: in.table.Columns[at].Type, Name: in.table.Columns[at].Name}
			}
			e = part.put(old, e)
		}
		row[at], parts[at] = e, part != nil
		given[at] = given[at] || bound[i] != nil
	}
	if twice >= 0 {
		return nil, pgerr.New(pgerr.SyntaxError, "multiple assignments to same column \"%s\"", in.table.Columns[twice].Name)
	}
	for i := range row {
		if row[i] == nil {
			row[i] = &scalar.Column{Index: i, Typ: in.table.Columns[i].Type, Name: in.table.Columns[i].Name}
		}
	}
	return row, in.checkAssigned(given)
}

// assigned finds the column that an item of SET names.
func (in *inserter) assigned(rt *pg_query.ResTarget) (int, error) {
	at := in.columnNamed(rt.Name)
	switch {
	case at == -1 && systemColumn(rt.Name):
		return 0, in.errorAt(rt.Location, pgerr.FeatureNotSupported, "cannot assign to system column \"%s\"", rt.Name)
	case at == -1:
		return 0, in.errorAt(rt.Location, pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", rt.Name, in.relationName())
	case at < 0:
		return 0, in.ofTable([]int{at}, "update")
	}
	return at, nil
}

// source binds the value of an item of SET; nil is DEFAULT.
func (in *inserter) source(rt *pg_query.ResTarget, c exprCtx) (*pg_query.Node, scalar.Expr, error) {
	n := rt.Val
	if m := n.GetMultiAssignRef(); m != nil {
		if sub := m.Source.GetSubLink(); sub != nil && sub.SubLinkType == pg_query.SubLinkType_EXPR_SUBLINK {
			e, err := in.subqueryColumn(sub, int(m.Colno)-1, int(m.Ncolumns), c)
			return m.Source, e, err
		}
		row := m.Source.GetRowExpr()
		if row == nil {
			return nil, nil, in.errorAt(locate(m.Source), pgerr.FeatureNotSupported,
				"source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
		}
		if len(row.Args) != int(m.Ncolumns) {
			return nil, nil, in.errorAt(row.Location, pgerr.SyntaxError, "number of columns does not match number of values")
		}
		n = row.Args[m.Colno-1]
	}
	if n.GetSetToDefault() != nil {
		return n, nil, nil
	}
	e, err := in.expr(n, c)
	return n, e, err
}

// subqueryColumn binds column i of a subquery that is assigned to several
// columns; each reads a copy of it.
func (in *inserter) subqueryColumn(n *pg_query.SubLink, i, count int, c exprCtx) (scalar.Expr, error) {
	sel := n.Subselect.GetSelectStmt()
	if sel == nil {
		return nil, in.unsupportedAt(n.Location, "this kind of subquery")
	}
	below := c.scope.below()
	q, err := in.binder.query(sel, below, queryContext{resolveUnknowns: true})
	if err != nil {
		return nil, err
	}
	cols := q.node.Columns()
	if len(cols) != count {
		return nil, in.errorAt(n.Location, pgerr.SyntaxError, "number of columns does not match number of values")
	}
	plan := &logical.Project{Input: q.node, Cols: cols[i : i+1],
		Exprs: []scalar.Expr{&scalar.Column{Index: i, Typ: cols[i].Type, Name: cols[i].Name}}}
	return &scalar.Subquery{Kind: scalar.SubScalar, Typ: cols[i].Type, Plan: plan, Outer: below.run.outer}, nil
}

// sameColumns reports whether two lists hold the same columns in any order.
func sameColumns(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for _, c := range a {
		if !slices.Contains(b, c) {
			return false
		}
	}
	return true
}
