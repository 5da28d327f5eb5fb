package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// cteFrame is one WITH query in sight of a scope.
type cteFrame struct {
	name string
	id   int
	cols []logical.Column
	// recursive: its own query is being bound, references are to the rows of the
	// round before
	recursive bool
	silent    bool // a data-modifying query without RETURNING
	run       *run // of the query level that has the WITH
	usesRun   int  // slots of run that the plan may read
	next      *cteFrame
}

// with binds the queries of a WITH clause and makes them visible in s, which
// puts them around its plan.
func (b *binder) with(w *pg_query.WithClause, s *scope) error {
	if b.written == nil {
		b.written = s
	}
	if w == nil {
		return nil
	}
	seen := map[string]bool{}
	list := make([]*pg_query.CommonTableExpr, len(w.Ctes))
	for i, n := range w.Ctes {
		c := n.GetCommonTableExpr()
		list[i] = c
		if seen[c.Ctename] {
			return b.errorAt(c.Location, pgerr.DuplicateAlias, "WITH query name \"%s\" specified more than once", c.Ctename)
		}
		seen[c.Ctename] = true
	}
	recursive := make([]bool, len(list))
	if w.Recursive {
		var err error
		if list, recursive, err = b.orderQueries(list); err != nil {
			return err
		}
	} else {
		s.later = seen
		defer func() { s.later = nil }()
	}
	for i, c := range list {
		if err := b.withQuery(c, s, recursive[i]); err != nil {
			return err
		}
		delete(s.later, c.Ctename)
	}
	return nil
}

// withQuery binds one WITH query.
func (b *binder) withQuery(c *pg_query.CommonTableExpr, s *scope, recursive bool) error {
	f := &cteFrame{name: c.Ctename, run: s.run, next: s.ctes}
	b.queries++
	f.id = b.queries
	switch {
	case c.SearchClause != nil:
		return b.unsupportedAt(c.SearchClause.Location, "SEARCH")
	case c.CycleClause != nil:
		return b.unsupportedAt(c.CycleClause.Location, "CYCLE")
	}
	sel := c.Ctequery.GetSelectStmt()
	if sel == nil {
		return b.withChange(c, s, f)
	}
	var plan logical.Node
	var err error
	if recursive {
		plan, err = b.recursiveQuery(c, sel, s, f)
	} else {
		var q *query
		if q, err = b.query(sel, s.inner(), queryContext{resolveUnknowns: true}); err == nil {
			plan = q.node
			f.cols, err = b.namedColumns(c, plan.Columns())
		}
	}
	if err != nil {
		return err
	}
	if f.run != nil {
		f.usesRun = len(f.run.outer)
	}
	n := &logical.With{ID: f.id, Name: f.name, Plan: plan}
	switch c.Ctematerialized {
	case pg_query.CTEMaterialize_CTEMaterializeAlways:
		n.Inline = logical.InlineNever
	case pg_query.CTEMaterialize_CTEMaterializeNever:
		n.Inline = logical.InlineAll
	}
	f.recursive = false
	s.ctes, s.withs = f, append(s.withs, n)
	return nil
}

// namedColumns applies the column list of a WITH query.
func (b *binder) namedColumns(c *pg_query.CommonTableExpr, cols []logical.Column) ([]logical.Column, error) {
	out := append([]logical.Column(nil), cols...)
	if len(c.Aliascolnames) > len(out) {
		return nil, b.errorAt(c.Location, pgerr.InvalidColumnReference, "WITH query \"%s\" has %d columns available but %d columns specified",
			c.Ctename, len(out), len(c.Aliascolnames))
	}
	for i, n := range c.Aliascolnames {
		out[i].Name = stringOf(n)
	}
	return out, nil
}

// recursiveQuery binds a WITH query that reads itself. The columns have the
// types of the term that does not.
func (b *binder) recursiveQuery(c *pg_query.CommonTableExpr, sel *pg_query.SelectStmt, s *scope, f *cteFrame) (logical.Node, error) {
	inner := s.inner()
	if err := b.with(sel.WithClause, inner); err != nil {
		return nil, err
	}
	f.next = inner.ctes
	seed, err := b.query(sel.Larg, inner.inner(), queryContext{resolveUnknowns: true})
	if err != nil {
		return nil, err
	}
	if f.cols, err = b.namedColumns(c, seed.node.Columns()); err != nil {
		return nil, err
	}
	for i := range f.cols {
		f.cols[i].Table, f.cols[i].AttNum = 0, 0
	}
	f.recursive = true
	step := inner.inner()
	step.ctes = f
	right, err := b.query(sel.Rarg, step, queryContext{})
	if err != nil {
		return nil, err
	}
	f.next = s.ctes
	op := &logical.SetOp{Kind: logical.Union, All: sel.All}
	if err := b.matchRecursive(f, op, seed, right); err != nil {
		return nil, err
	}
	plan := &logical.Recursive{ID: f.id, Name: f.name, All: sel.All, Seed: op.Left, Step: op.Right, Cols: f.cols}
	return inner.withQueries(plan), nil
}

// matchRecursive casts the recursive term to the types of the other, which must
// be those that a UNION of both would have.
func (b *binder) matchRecursive(f *cteFrame, op *logical.SetOp, seed, step *query) error {
	if err := b.matchColumns(op, "UNION", seed, step); err != nil {
		return err
	}
	for i, c := range op.Cols {
		if have := f.cols[i].Type; have != c.Type {
			return b.errorAt(locate(at(seed, i)), pgerr.DatatypeMismatch,
				"recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall",
				f.name, i+1, types.FormatType(have), types.FormatType(c.Type)).
				WithHint("Cast the output of the non-recursive term to the correct type.")
		}
	}
	return nil
}

// ctePart binds a reference to a WITH query; nil if the name is none.
func (b *binder) ctePart(rv *pg_query.RangeVar, s *scope) (*part, error) {
	f := s.ctes
	for f != nil && f.name != rv.Relname {
		f = f.next
	}
	if f == nil {
		return nil, nil
	}
	if f.silent {
		return nil, b.errorAt(rv.Location, pgerr.FeatureNotSupported, "WITH query \"%s\" does not have a RETURNING clause", rv.Relname)
	}
	it := &item{alias: rv.Relname}
	if rv.Alias != nil {
		it.alias = rv.Alias.Aliasname
	}
	var n logical.Node
	if f.recursive {
		it.work = true
		n = &logical.WorkTable{ID: f.id, Name: f.name, Alias: it.alias, Cols: f.cols}
	} else {
		n = &logical.CTEScan{ID: f.id, Name: f.name, Alias: it.alias, Cols: f.cols}
		dependOn(s, f)
	}
	return b.itemPart(n, it, rv.Alias)
}

// dependOn makes the subqueries between s and the level of a correlated WITH
// query depend on what that query reads of its surroundings: its rows change
// with them.
func dependOn(s *scope, f *cteFrame) {
	if f.usesRun == 0 || s.run == f.run {
		return
	}
	var between []*run
	for r := s.run; r != nil && r != f.run; r = r.around.run {
		between = append(between, r)
	}
	for i, o := range f.run.outer[:f.usesRun] {
		var e scalar.Expr = &scalar.Slot{Index: i, Typ: o.ResultType(), Name: f.name}
		for j := len(between) - 1; j >= 0; j-- {
			e = between[j].slot(e, f.name)
		}
	}
}
