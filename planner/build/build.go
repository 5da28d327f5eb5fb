// Package build chooses how a logical plan runs: it turns the rewritten tree
// into physical operators.
//
// Scans get their key spans and time ranges (planner/keyrange), equalities
// become hash joins, a limit above a sort becomes a top-k. It never looks at
// data: estimates come from a table's statistics and fixed guesses.
package build

import (
	"tsdb/colstore/table"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/rules"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// Env is what the choices depend on.
type Env struct {
	Ctx     *functions.Ctx
	Stats   func(id table.ID) table.Stats // nil: nothing is known
	Pruning bool
}

// Plan returns the physical plan of n.
//
// Errors: *pgerr.Error 2201W, 2201X for a negative LIMIT or OFFSET.
func Plan(env *Env, n logical.Node) (physical.Node, error) {
	p := &planner{env: env, sizes: map[int]float64{}}
	out := p.node(n)
	if p.err != nil {
		return nil, p.err
	}
	return out, nil
}

// planner keeps the first error, so that the walk need not pass it along.
type planner struct {
	env   *Env
	err   error
	sizes map[int]float64 // estimated rows of WITH queries and work tables
}

func (p *planner) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *planner) node(n logical.Node) physical.Node {
	switch n := n.(type) {
	case *logical.Scan:
		return p.scan(n)
	case *logical.Given:
		return &physical.Given{Cols: n.Cols}
	case *logical.Virtual:
		return &physical.Virtual{Relation: n.Relation, Alias: n.Alias}
	case *logical.Values:
		out := &physical.Values{Cols: n.Cols, Rows: make([][]scalar.Expr, len(n.Rows))}
		for i, r := range n.Rows {
			out.Rows[i] = p.exprs(r)
		}
		return out
	case *logical.Function:
		return &physical.Function{Fn: n.Fn, Args: p.exprs(n.Args), Alias: n.Alias, Cols: n.Cols, Ordinality: n.Ordinality}
	case *logical.Filter:
		return &physical.Filter{Input: p.node(n.Input), Cond: p.expr(n.Cond)}
	case *logical.Project:
		return &physical.Project{Input: p.node(n.Input), Exprs: p.exprs(n.Exprs), Cols: n.Cols}
	case *logical.Aggregate:
		return p.aggregate(n)
	case *logical.Join:
		return p.join(n)
	case *logical.Sort:
		return p.sort(n, -1)
	case *logical.Limit:
		return p.limit(n)
	case *logical.DistinctRows:
		return &physical.Distinct{Input: p.node(n.Input), On: p.exprs(n.On)}
	case *logical.SetOp:
		return p.setOp(n)
	case *logical.ProjectSet:
		return p.projectSet(n)
	case *logical.With:
		return p.with(n)
	case *logical.CTEScan:
		return &physical.CTEScan{ID: n.ID, Name: n.Name, Alias: n.Alias, Cols: n.Cols, Size: p.sizes[n.ID]}
	case *logical.Recursive:
		return p.recursive(n)
	case *logical.WorkTable:
		return &physical.WorkTable{ID: n.ID, Name: n.Name, Alias: n.Alias, Cols: n.Cols, Size: p.sizes[n.ID]}
	}
	p.fail(pgerr.New(pgerr.InternalError, "unknown logical node %T", n))
	return &physical.Values{}
}

func (p *planner) exprs(list []scalar.Expr) []scalar.Expr {
	if list == nil {
		return nil
	}
	out := make([]scalar.Expr, len(list))
	for i, e := range list {
		out[i] = p.expr(e)
	}
	return out
}

// expr plans the subqueries of an expression.
func (p *planner) expr(e scalar.Expr) scalar.Expr {
	if e == nil {
		return nil
	}
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		sub, ok := e.(*scalar.Subquery)
		if !ok {
			return e
		}
		plan, ok := sub.Plan.(logical.Node)
		if !ok {
			return e
		}
		s := *sub
		s.Volatile = len(sub.Outer) > 0 && rules.PlanVolatile(plan)
		s.Plan = p.node(plan)
		return &s
	})
}

func (p *planner) keys(keys []logical.SortKey) []logical.SortKey {
	out := make([]logical.SortKey, len(keys))
	for i, k := range keys {
		k.Expr = p.expr(k.Expr)
		out[i] = k
	}
	return out
}

func (p *planner) aggregate(n *logical.Aggregate) physical.Node {
	out := &physical.Aggregate{Input: p.node(n.Input), Keys: p.exprs(n.Keys), Cols: n.Cols}
	for _, a := range n.Aggs {
		a.Args, a.Filter = p.exprs(a.Args), p.expr(a.Filter)
		if a.OrderBy != nil {
			a.OrderBy = p.keys(a.OrderBy)
		}
		out.Aggs = append(out.Aggs, a)
	}
	return out
}

// setOp makes UNION from an append, flattening UNION ALL of UNION ALL.
func (p *planner) setOp(n *logical.SetOp) physical.Node {
	if n.Kind != logical.Union {
		return &physical.SetOp{Kind: n.Kind, All: n.All, Left: p.node(n.Left), Right: p.node(n.Right), Cols: n.Cols}
	}
	out := &physical.Append{Cols: n.Cols}
	for _, side := range []logical.Node{n.Left, n.Right} {
		in := p.node(side)
		if a, ok := in.(*physical.Append); ok {
			out.Ins = append(out.Ins, a.Ins...)
			continue
		}
		out.Ins = append(out.Ins, in)
	}
	if n.All {
		return out
	}
	return &physical.Distinct{Input: out}
}
