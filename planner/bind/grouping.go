package bind

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
)

// grouper rewrites expressions over the FROM row into expressions over the
// row of the Aggregate: keys, then aggregates.
type grouper struct {
	l    *level
	keys []groupKey
	done map[scalar.Expr]scalar.Expr // shared operands are rewritten once
	err  error
}

// aggregate puts an Aggregate (and HAVING's Filter) above the rows and
// rewrites the targets.
func (l *level) aggregate(keys []groupKey, having scalar.Expr) error {
	g := &grouper{l: l, done: map[scalar.Expr]scalar.Expr{}}
	for _, k := range keys {
		if g.keyOf(k.expr) < 0 {
			k.name = shownName(k.expr)
			g.keys = append(g.keys, k)
		}
	}
	g.addDependent(having)
	for i := range l.targets {
		if l.targets[i].expr = g.rewrite(l.targets[i].expr, false); g.err != nil {
			return g.err
		}
	}
	if having != nil {
		if having = g.rewrite(having, false); g.err != nil {
			return g.err
		}
	}
	a := &logical.Aggregate{Input: l.node}
	for _, k := range g.keys {
		a.Keys = append(a.Keys, k.expr)
		a.Cols = append(a.Cols, logical.Column{Name: k.name, Type: k.expr.ResultType()})
	}
	for _, e := range l.scope.aggs {
		if err := g.checkDirect(e); err != nil {
			return err
		}
		a.Aggs = append(a.Aggs, e.call)
		a.Cols = append(a.Cols, logical.Column{Name: e.name, Type: e.call.Typ})
	}
	l.node = a
	if having != nil {
		l.node = &logical.Filter{Input: a, Cond: having}
	}
	return nil
}

func (g *grouper) keyOf(e scalar.Expr) int {
	for i, k := range g.keys {
		if sameExpr(k.expr, e) {
			return i
		}
	}
	return -1
}

// addDependent makes keys of the other columns of tables whose primary key is
// grouped by: they are the same within a group.
func (g *grouper) addDependent(having scalar.Expr) {
	for _, it := range g.l.scope.all {
		if it.table == nil || !g.primaryKeyGrouped(it) {
			continue
		}
		for i := range it.cols {
			e := it.cols[i].use()
			if g.keyOf(e) < 0 && g.used(it.cols[i].index, having) {
				g.keys = append(g.keys, groupKey{e, it.cols[i].name})
			}
		}
	}
}

func (g *grouper) primaryKeyGrouped(it *item) bool {
	pk := it.table.PrimaryKey()
	if pk == nil {
		return false
	}
	for _, c := range pk.Columns {
		if g.keyOf(it.cols[c].use()) < 0 {
			return false
		}
	}
	return true
}

// used reports whether a target or HAVING reads the column outside of aggregates.
func (g *grouper) used(index int, having scalar.Expr) bool {
	found := false
	look := func(e scalar.Expr) bool {
		c, ok := e.(*scalar.Column)
		found = found || ok && c.Index == index
		return !found
	}
	scalar.Walk(having, look)
	for _, f := range g.l.scope.srfs {
		for _, a := range f.args {
			scalar.Walk(a, look)
		}
	}
	for i := range g.l.targets {
		scalar.Walk(g.l.targets[i].expr, look)
	}
	return found
}

func (g *grouper) rewrite(e scalar.Expr, inSub bool) scalar.Expr {
	if g.err != nil {
		return e
	}
	if out, ok := g.done[e]; ok {
		return out
	}
	out := g.rewriteNode(e, inSub)
	g.done[e] = out
	return out
}

func (g *grouper) rewriteNode(e scalar.Expr, inSub bool) scalar.Expr {
	switch e.(type) {
	case *scalar.Const, *scalar.Param:
	default:
		if i := g.keyOf(e); i >= 0 {
			return &scalar.Column{Index: i, Typ: e.ResultType(), Name: g.keys[i].name}
		}
	}
	switch e := e.(type) {
	case *aggExpr:
		for i, a := range g.l.scope.aggs {
			if a == e {
				return &scalar.Column{Index: len(g.keys) + i, Typ: e.call.Typ, Name: e.text()}
			}
		}
	case *srfExpr: // it runs over the groups
		for i, a := range e.args {
			e.args[i] = g.rewrite(a, inSub)
		}
		return e
	case *scalar.Column:
		g.err = g.ungrouped(e, inSub)
		return e
	}
	_, sub := e.(*scalar.Subquery)
	return mapChildren(e, func(c scalar.Expr) scalar.Expr { return g.rewrite(c, inSub || sub) })
}

// mapChildren rebuilds e with f applied to its direct operands.
func mapChildren(e scalar.Expr, f func(scalar.Expr) scalar.Expr) scalar.Expr {
	old := scalar.Children(e)
	if len(old) == 0 {
		return e
	}
	repl, changed := make([]scalar.Expr, len(old)), false
	for i, c := range old {
		repl[i] = f(c)
		changed = changed || repl[i] != c
	}
	if !changed {
		return e
	}
	return scalar.WithChildren(e, repl)
}

func (g *grouper) ungrouped(c *scalar.Column, inSub bool) error {
	use, ok := g.l.columnAt[c]
	if !ok {
		use.location = -1
	}
	name := c.Name
	for _, it := range g.l.scope.all {
		for i := range it.cols {
			if it.cols[i].index == c.Index && it.cols[i].expr == nil && !it.join {
				name = it.cols[i].name
				if it.alias != "" {
					name = it.alias + "." + name
				}
			}
		}
	}
	if inSub {
		return g.l.errorAt(use.location, pgerr.GroupingError, "subquery uses ungrouped column \"%s\" from outer query", name)
	}
	return g.l.errorAt(use.location, pgerr.GroupingError,
		"column \"%s\" must appear in the GROUP BY clause or be used in an aggregate function", name)
}
