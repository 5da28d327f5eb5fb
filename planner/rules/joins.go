package rules

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
)

// orderJoins reorders inner joins: each relation is joined where an equality
// connects it to those before, instead of by a cross join, and of those that
// are connected the one that leaves the fewest rows goes first: where
// conditions keep the smallest share of its rows, then the smallest. Relations
// of which nothing is known stay in the order of the query.
func orderJoins(c *Context, n logical.Node) logical.Node {
	j, ok := n.(*logical.Join)
	if !ok || !ordered(j) {
		return mapInputs(n, func(in logical.Node) logical.Node { return orderJoins(c, in) })
	}
	g := &joinGroup{}
	g.collect(j, 0)
	if len(g.rels) > maxOrdered {
		return orderBelow(c, n)
	}
	for i, r := range g.rels {
		g.sizes = append(g.sizes, sizeOf(c, r))
		g.rels[i] = orderJoins(c, r)
	}
	return g.build(j.Columns())
}

// ordered reports whether a join's sides may stand in any order.
func ordered(j *logical.Join) bool { return j.Kind == logical.Inner && !j.Lateral }

// orderBelow orders joins below a tree of inner joins that keeps its order.
func orderBelow(c *Context, n logical.Node) logical.Node {
	if j, ok := n.(*logical.Join); ok && ordered(j) {
		return mapInputs(n, func(in logical.Node) logical.Node { return orderBelow(c, in) })
	}
	return orderJoins(c, n)
}

// maxOrdered is the largest number of relations whose order is looked at: the
// search grows with its cube, and who writes more knows their order.
const maxOrdered = 32

// joinGroup is a tree of inner joins taken apart.
type joinGroup struct {
	rels  []logical.Node
	start []int // first column of each relation in the original row
	width []int
	sizes []relationSize
	conds []scalar.Expr // over the original row
}

// collect adds the relations below n, whose first column is at base.
func (g *joinGroup) collect(n logical.Node, base int) {
	j, ok := n.(*logical.Join)
	if !ok || !ordered(j) {
		g.rels = append(g.rels, n)
		g.start = append(g.start, base)
		g.width = append(g.width, logical.Width(n))
		return
	}
	g.collect(j.Left, base)
	g.collect(j.Right, base+logical.Width(j.Left))
	for _, c := range conjuncts(j.On) {
		g.conds = append(g.conds, shifted(c, base))
	}
}

// owner returns the relation of a column of the original row.
func (g *joinGroup) owner(col int) int {
	for i := len(g.start) - 1; ; i-- {
		if col >= g.start[i] && g.width[i] > 0 || i == 0 {
			return i
		}
	}
}

// build joins the relations again and restores the order of the columns.
func (g *joinGroup) build(cols []logical.Column) logical.Node {
	order := g.order()
	m := make(mapping, len(cols))
	at := 0
	for _, r := range order {
		for i := range g.width[r] {
			m[g.start[r]+i] = at
			at++
		}
	}
	joined := make([]bool, len(g.rels))
	used := make([]bool, len(g.conds))
	joined[order[0]] = true
	out := g.rels[order[0]]
	for _, r := range order[1:] {
		joined[r] = true
		var on []scalar.Expr
		for i, c := range g.conds {
			if !used[i] && g.covered(c, joined) {
				used[i] = true
				on = append(on, m.expr(c))
			}
		}
		out = &logical.Join{Kind: logical.Inner, Left: out, Right: g.rels[r], On: conjunction(on)}
	}
	return restored(out, m, cols)
}

func (g *joinGroup) covered(c scalar.Expr, joined []bool) bool {
	ok := true
	columnsOf(c, func(i int) { ok = ok && joined[g.owner(i)] })
	return ok
}

// order picks the relations one by one: of those that an equality connects to
// the ones picked, the most selective; the first one left if there is none.
func (g *joinGroup) order() []int {
	picked := make([]bool, len(g.rels))
	picked[0] = true
	order := []int{0}
	for len(order) < len(g.rels) {
		next, joined := -1, false
		for r := range g.rels {
			if picked[r] {
				continue
			}
			connected := g.connected(r, picked)
			switch {
			case next < 0:
				next, joined = r, connected
			case connected && (!joined || g.sizes[r].less(g.sizes[next])):
				next, joined = r, true
			}
		}
		picked[next] = true
		order = append(order, next)
	}
	return order
}

// connected reports whether an equality joins r to picked relations.
func (g *joinGroup) connected(r int, picked []bool) bool {
	for _, c := range g.conds {
		call, ok := c.(*scalar.Call)
		if !ok || call.Fn.Name != "=" || len(call.Args) != 2 {
			continue
		}
		own, other, foreign := false, false, false
		columnsOf(c, func(i int) {
			switch o := g.owner(i); {
			case o == r:
				own = true
			case picked[o]:
				other = true
			default:
				foreign = true
			}
		})
		if own && other && !foreign {
			return true
		}
	}
	return false
}

// distinctToAggregate turns DISTINCT over all columns into a grouping, which
// several workers can share.
func distinctToAggregate(_ *Context, n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		d, ok := n.(*logical.DistinctRows)
		if !ok || d.On != nil || logical.Width(d.Input) == 0 {
			return n
		}
		if _, sorted := d.Input.(*logical.Sort); sorted {
			return n
		}
		out := &logical.Aggregate{Input: d.Input, Cols: d.Columns()}
		for i, c := range out.Cols {
			out.Keys = append(out.Keys, &scalar.Column{Index: i, Typ: c.Type, Name: c.Name})
		}
		return out
	})
}
