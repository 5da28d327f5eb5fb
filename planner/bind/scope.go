package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// scope is one query level: what its FROM clause makes visible, and the
// aggregates found in its expressions.
type scope struct {
	parent  *scope          // the enclosing query level as written, for hints
	run     *run            // the subquery expression that this level belongs to; nil: the statement itself
	skip    int             // levels around it that it does not see: the left sides of joins, without LATERAL
	ctes    *cteFrame       // WITH names, innermost first
	later   map[string]bool // WITH names not in sight yet, for hints
	items   []*item         // visible now
	all     []*item         // every relation of FROM so far, for hints
	aggs    []*aggExpr
	srfs    []*srfExpr
	withs   []*logical.With // WITH queries of this level, to put around its plan
	changes []*WithChange   // its data-modifying WITH queries
	// barred: of a level that LATERAL sees but may not use, as the side of a join that can be NULL
	barred bool
}

// run is a subquery expression, or the right side of a LATERAL join, being
// bound: its plan reads columns from around it as slots.
type run struct {
	around *scope
	outer  []scalar.Expr // over the row of around, one per slot
}

// item is one entry of a FROM clause.
type item struct {
	alias       string         // as the query calls it; empty: a join without alias
	schema      string         // schema of a base or virtual relation without alias
	relation    string         // the relation's own name, if it is one
	table       *catalog.Table // of a base table
	virtual     catalog.VirtualRelation
	cols        []column
	relVisible  bool // alias.column works
	colsVisible bool // column works
	join        bool
	work        bool      // rows of a recursive query's round before
	row         types.OID // the row type of a table or view
	value       bool      // the only column of a function in FROM: the row is the value itself
	nullable    bool      // a side of an outer join that may be missing
}

// column is a visible column.
type column struct {
	name  string
	typ   types.Type
	index int         // of the FROM row
	expr  scalar.Expr // a merged column of USING that is not a plain column; over the FROM row
	// origin is the column of a table or view that it shows, for CREATE VIEW.
	origin catalog.Ref
}

func (c *column) use() scalar.Expr {
	if c.expr != nil {
		return c.expr
	}
	return &scalar.Column{Index: c.index, Typ: c.typ, Name: c.name}
}

// shift moves an item's columns right by n positions of the FROM row.
func (it *item) shift(n int) {
	for i := range it.cols {
		c := &it.cols[i]
		c.index += n
		if c.expr != nil {
			c.expr = shiftExpr(c.expr, n)
		}
	}
}

func shiftExpr(e scalar.Expr, n int) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		if c, ok := e.(*scalar.Column); ok {
			m := *c
			m.Index += n
			return &m
		}
		return e
	})
}

// inner makes the scope of a query in FROM or WITH: it sees what s sees from outside, not s's own FROM.
func (s *scope) inner() *scope { return &scope{parent: s, run: s.run, skip: s.skip, ctes: s.ctes} }

// below makes the scope of a subquery expression within s.
func (s *scope) below() *scope {
	return &scope{parent: s, run: &run{around: s}, ctes: s.ctes}
}

// slot returns the expression that reads e, over the row around r, from inside r.
func (r *run) slot(e scalar.Expr, name string) scalar.Expr {
	for i, o := range r.outer {
		if sameExpr(o, e) {
			return &scalar.Slot{Index: i, Typ: o.ResultType(), Name: name}
		}
	}
	r.outer = append(r.outer, e)
	return &scalar.Slot{Index: len(r.outer) - 1, Typ: e.ResultType(), Name: name}
}

// columnRef binds a reference to a column.
func (b *binder) columnRef(n *pg_query.ColumnRef, s *scope) (scalar.Expr, error) {
	names := make([]string, len(n.Fields))
	for i, f := range n.Fields {
		if f.GetAStar() != nil {
			if i > 0 {
				return b.rowOfStar(n, s)
			}
			return nil, b.errorAt(n.Location, pgerr.SyntaxError, "row expansion via \"*\" is not supported here")
		}
		names[i] = stringOf(f)
	}
	var schema, rel string
	col := names[len(names)-1]
	switch len(names) {
	case 1:
	case 2:
		rel = names[0]
	case 3:
		schema, rel = names[0], names[1]
	case 4:
		if err := b.checkDatabase(names[0], dotted(n.Fields), n.Location); err != nil {
			return nil, err
		}
		schema, rel = names[1], names[2]
	default:
		return nil, b.errorAt(n.Location, pgerr.SyntaxError, "improper qualified name (too many dotted names): %s", dotted(n.Fields))
	}
	if rel != "" {
		return b.qualifiedColumn(s, schema, rel, col, n.Location)
	}
	e, err := b.plainColumn(s, col, n.Location)
	if err != nil || e != nil {
		return e, err
	}
	if it, up, err := b.findItem(s, "", col, n.Location); err != nil {
		return nil, err
	} else if it != nil {
		return b.wholeRow(s, it, up, n.Location), nil
	}
	return nil, b.missingColumn(s, "", col, n.Location)
}

func (b *binder) checkDatabase(db, whole string, location int32) error {
	if c := b.functionCtx(); c.Session == nil || c.Session.Database() == db {
		return nil
	}
	return b.errorAt(location, pgerr.FeatureNotSupported, "cross-database references are not implemented: %s", whole)
}

// plainColumn finds an unqualified column, level by level; nil if there is none.
func (b *binder) plainColumn(s *scope, name string, location int32) (scalar.Expr, error) {
	hidden := 0
	for at, up := s, 0; ; up++ {
		if hidden > 0 {
			hidden--
		} else {
			c, it, err := b.ownColumn(at, name, location)
			if err != nil {
				return nil, err
			}
			if c != nil {
				if at.barred {
					return nil, b.barredItem(it.alias, location)
				}
				return lift(s, b.useColumn(c, it, location), up, name), nil
			}
			if systemColumn(name) {
				if e := at.systemOf(name); e != nil {
					return lift(s, e, up, name), nil
				}
			}
			hidden = at.skip
		}
		if at.run == nil {
			return nil, nil
		}
		at = at.run.around
	}
}

// ownColumn finds an unqualified column among the items of one level.
func (b *binder) ownColumn(s *scope, name string, location int32) (found *column, in *item, err error) {
	for _, it := range s.items {
		if !it.colsVisible {
			continue
		}
		for i := range it.cols {
			if it.cols[i].name != name {
				continue
			}
			if found != nil {
				return nil, nil, b.errorAt(location, pgerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", name)
			}
			found, in = &it.cols[i], it
		}
	}
	return found, in, nil
}

// barredItem is the error of a LATERAL reference to a side of a join that the
// join has not computed then.
func (b *binder) barredItem(rel string, location int32) error {
	return b.errorAt(location, pgerr.InvalidColumnReference, "invalid reference to FROM-clause entry for table \"%s\"", rel).
		WithDetail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.")
}

func (b *binder) useColumn(c *column, it *item, location int32) scalar.Expr {
	b.note(c)
	e := c.use()
	if ce, ok := e.(*scalar.Column); ok {
		if c.expr != nil {
			m := *ce
			ce, e = &m, &m
		}
		b.columnAt[ce] = columnUse{location: location, table: it.alias}
	}
	return e
}

// findItem finds the item that a qualifier names and how many levels up it is.
func (b *binder) findItem(s *scope, schema, rel string, location int32) (*item, int, error) {
	hidden := 0
	for up := 0; ; up++ {
		if hidden > 0 {
			hidden--
		} else {
			var found *item
			for _, it := range s.items {
				if !it.relVisible || it.alias != rel || schema != "" && it.schema != schema {
					continue
				}
				if found != nil {
					return nil, 0, b.errorAt(location, pgerr.DuplicateAlias, "table reference \"%s\" is ambiguous", rel)
				}
				found = it
			}
			if found != nil && s.barred {
				return nil, 0, b.barredItem(rel, location)
			}
			if found != nil {
				return found, up, nil
			}
			hidden = s.skip
		}
		if s.run == nil {
			return nil, 0, nil
		}
		s = s.run.around
	}
}

func (b *binder) qualifiedColumn(s *scope, schema, rel, col string, location int32) (scalar.Expr, error) {
	it, up, err := b.findItem(s, schema, rel, location)
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, b.missingItem(s, rel, location)
	}
	var found *column
	for i := range it.cols {
		if it.cols[i].name == col {
			if found != nil {
				return nil, b.errorAt(location, pgerr.AmbiguousColumn, "column reference \"%s\" is ambiguous", col)
			}
			found = &it.cols[i]
		}
	}
	if found == nil {
		if e := it.systemValue(col); e != nil {
			return lift(s, e, up, col), nil
		}
		return nil, b.missingColumn(s, rel, col, location)
	}
	e := b.useColumn(found, it, location)
	return lift(s, e, up, col), nil
}

// lift reads e, bound up levels above s, from within s.
func lift(s *scope, e scalar.Expr, up int, name string) scalar.Expr {
	if up == 0 {
		return e
	}
	return s.run.slot(lift(s.run.around, e, up-1, name), name)
}

// visibleScopes calls f for s and the levels around it.
func visibleScopes(s *scope, f func(*scope)) {
	for ; s != nil; s = s.parent {
		f(s)
	}
}

// missingItem is the error of a qualifier that names nothing visible.
func (b *binder) missingItem(s *scope, rel string, location int32) error {
	var hidden *item
	visibleScopes(s, func(s *scope) {
		for _, it := range s.all {
			if hidden == nil && !it.join && (it.alias == rel || it.relation == rel) {
				hidden = it
			}
		}
	})
	if hidden == nil {
		return b.errorAt(location, pgerr.UndefinedTable, "missing FROM-clause entry for table \"%s\"", rel)
	}
	e := b.errorAt(location, pgerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", rel)
	if hidden.alias != rel {
		if it, _, _ := b.findItem(s, "", hidden.alias, location); it == hidden {
			return e.WithHint("Perhaps you meant to reference the table alias \"%s\".", hidden.alias)
		}
		return e
	}
	return e.WithHint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", rel)
}

// readsTable tells whether a table, and not only subqueries, is in scope under
// this name; any name if rel is empty.
func readsTable(s *scope, rel string) (found bool) {
	visibleScopes(s, func(s *scope) {
		for _, it := range s.all {
			found = found || it.table != nil && (rel == "" || it.alias == rel)
		}
	})
	return found
}

// missingColumn is the error of a column that no item has, with a hint at a similar one.
func (b *binder) missingColumn(s *scope, rel, col string, location int32) error {
	if systemColumn(col) && readsTable(s, rel) {
		return b.unsupportedAt(location, "system column %s", col)
	}
	var e *pgerr.Error
	if rel != "" {
		e = b.errorAt(location, pgerr.UndefinedColumn, "column %s.%s does not exist", rel, col)
	} else {
		e = b.errorAt(location, pgerr.UndefinedColumn, "column \"%s\" does not exist", col)
	}
	var m nearest
	m.distance = maxFuzzyDistance + 1
	visibleScopes(s, func(s *scope) {
		for _, it := range s.all {
			if !it.join && m.hidden == "" {
				m.try(it, rel, col)
			}
		}
	})
	return m.hint(e, col)
}
