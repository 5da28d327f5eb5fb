package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/sql/pgerr"
)

// cteFrame is one WITH query in sight of a scope.
type cteFrame struct {
	name    string
	node    logical.Node // nil: not bound yet, a reference would be recursive
	cols    []string
	run     *run // of the query level that has the WITH
	usesRun bool // the plan reads slots of run
	next    *cteFrame
}

// with binds the queries of a WITH clause and makes them visible in s.
//
// Each reference reads the query's plan again: WITH is a way to write, not a
// fence. Volatile queries are the exception that a later issue may care about.
func (b *binder) with(w *pg_query.WithClause, s *scope) error {
	if w == nil {
		return nil
	}
	seen := map[string]bool{}
	s.later = seen
	defer func() { s.later = nil }()
	for _, n := range w.Ctes {
		c := n.GetCommonTableExpr()
		if seen[c.Ctename] {
			return b.errorAt(c.Location, pgerr.DuplicateAlias, "WITH query name \"%s\" specified more than once", c.Ctename)
		}
		seen[c.Ctename] = true
	}
	outside := s.ctes
	if w.Recursive {
		for _, n := range w.Ctes {
			outside = &cteFrame{name: n.GetCommonTableExpr().Ctename, run: s.run, next: outside}
		}
		s.ctes = outside
	}
	for _, n := range w.Ctes {
		f, err := b.cte(n.GetCommonTableExpr(), s)
		if err != nil {
			return err
		}
		f.next, s.ctes = s.ctes, f
		delete(s.later, f.name)
	}
	return nil
}

func (b *binder) cte(c *pg_query.CommonTableExpr, s *scope) (*cteFrame, error) {
	sel := c.Ctequery.GetSelectStmt()
	switch {
	case sel == nil:
		return nil, b.unsupportedAt(c.Location, "a data-modifying statement in WITH")
	case c.SearchClause != nil:
		return nil, b.unsupportedAt(c.Location, "SEARCH")
	case c.CycleClause != nil:
		return nil, b.unsupportedAt(c.Location, "CYCLE")
	}
	before := 0
	if s.run != nil {
		before = s.run.uses
	}
	q, err := b.query(sel, s.inner(), queryContext{resolveUnknowns: true})
	if err != nil {
		return nil, err
	}
	f := &cteFrame{name: c.Ctename, node: q.node, run: s.run, usesRun: s.run != nil && s.run.uses > before}
	for _, col := range q.node.Columns() {
		f.cols = append(f.cols, col.Name)
	}
	if len(c.Aliascolnames) > len(f.cols) {
		return nil, b.errorAt(c.Location, pgerr.InvalidColumnReference, "WITH query \"%s\" has %d columns available but %d columns specified",
			c.Ctename, len(f.cols), len(c.Aliascolnames))
	}
	for i, n := range c.Aliascolnames {
		f.cols[i] = stringOf(n)
	}
	return f, nil
}

// ctePart binds a reference to a WITH query; nil if the name is none.
func (b *binder) ctePart(rv *pg_query.RangeVar, s *scope) (*part, error) {
	f := s.ctes
	for f != nil && f.name != rv.Relname {
		f = f.next
	}
	switch {
	case f == nil:
		return nil, nil
	case f.node == nil:
		return nil, b.unsupportedAt(rv.Location, "WITH RECURSIVE")
	case f.usesRun && f.run != s.run:
		return nil, b.unsupportedAt(rv.Location, "a reference from a subquery to a correlated WITH query")
	}
	it := &item{alias: rv.Relname}
	if rv.Alias != nil {
		it.alias = rv.Alias.Aliasname
	}
	p, err := b.itemPart(f.node, it, nil)
	if err != nil {
		return nil, err
	}
	for i := range it.cols {
		it.cols[i].name = f.cols[i]
	}
	return p, renameColumns(it, rv.Alias, "table")
}
