package build

import (
	"math"

	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
)

// recursionFactor guesses, as PostgreSQL does, that a recursion makes ten times
// the rows it starts with.
const recursionFactor = 10

func (p *planner) with(n *logical.With) physical.Node {
	out := &physical.With{ID: n.ID, Name: n.Name, Plan: p.node(n.Plan)}
	p.sizes[n.ID] = physical.Rows(out.Plan)
	out.Body = p.node(n.Body)
	return out
}

func (p *planner) recursive(n *logical.Recursive) physical.Node {
	out := &physical.Recursive{ID: n.ID, Name: n.Name, All: n.All, Cols: n.Cols, Seed: p.node(n.Seed)}
	p.sizes[n.ID] = math.Max(1, physical.Rows(out.Seed)) * recursionFactor
	out.Step = p.node(n.Step)
	return out
}

func (p *planner) projectSet(n *logical.ProjectSet) physical.Node {
	out := &physical.ProjectSet{Input: p.node(n.Input), Ordinality: n.Ordinality}
	for _, c := range n.Calls {
		c.Args = p.exprs(c.Args)
		out.Calls = append(out.Calls, c)
	}
	return out
}

// apply plans a join whose right side reads the left row. The rows of a
// function without more to it need no run of a plan per row.
func (p *planner) apply(n *logical.Join) physical.Node {
	if f, ok := n.Right.(*logical.Function); ok && n.Kind == logical.Inner && n.On == nil {
		cols := f.Cols
		if f.Ordinality {
			cols = cols[:len(cols)-1]
		}
		outer := p.exprs(n.Outer)
		args := make([]scalar.Expr, len(f.Args))
		for i, a := range f.Args {
			args[i] = filled(p.expr(a), outer)
		}
		return &physical.ProjectSet{Input: p.node(n.Left), Ordinality: f.Ordinality,
			Calls: []logical.SetCall{{Fn: f.Fn, Args: args, Cols: cols}}}
	}
	return &physical.Apply{Kind: n.Kind, Left: p.node(n.Left), Right: p.node(n.Right), Outer: p.exprs(n.Outer), On: p.expr(n.On)}
}

// filled returns e with the slots replaced by what gives their values.
func filled(e scalar.Expr, outer []scalar.Expr) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		if s, ok := e.(*scalar.Slot); ok {
			return outer[s.Index]
		}
		return e
	})
}
