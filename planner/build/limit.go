package build

import (
	"math"

	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
)

// limit plans LIMIT and OFFSET, and tells the sort below how many rows matter.
func (p *planner) limit(n *logical.Limit) physical.Node {
	out := &physical.Limit{Count: -1}
	known := true
	if n.Offset != nil {
		out.Offset, out.OffsetExpr = p.rowCount(n.Offset, 0, pgerr.InvalidRowCountInOffset, "OFFSET must not be negative")
		known = known && out.OffsetExpr == nil
	}
	if n.Count != nil {
		out.Count, out.CountExpr = p.rowCount(n.Count, -1, pgerr.InvalidRowCountInLimit, "LIMIT must not be negative")
		known = known && out.CountExpr == nil
	}
	top := int64(-1)
	if known && out.Count >= 0 && out.Offset <= math.MaxInt64-out.Count {
		top = out.Offset + out.Count
	}
	for _, k := range n.Ties {
		out.Ties = append(out.Ties, p.expr(k.Expr))
		top = -1
	}
	out.Input = p.limited(n.Input, top)
	return out
}

// rowCount returns the number that a constant is, or the expression to evaluate.
func (p *planner) rowCount(e scalar.Expr, null int64, code pgerr.Code, negative string) (int64, scalar.Expr) {
	c, ok := e.(*scalar.Const)
	if !ok {
		return null, p.expr(e)
	}
	if c.Value.IsNull(0) {
		return null, nil
	}
	if c.Value.I64[0] < 0 {
		p.fail(pgerr.New(code, "%s", negative))
		return 0, nil
	}
	return c.Value.I64[0], nil
}

// limited plans n, of which top rows are read at most (-1: unknown).
func (p *planner) limited(n logical.Node, top int64) physical.Node {
	switch n := n.(type) {
	case *logical.Sort:
		return p.sort(n, top)
	case *logical.Project:
		return &physical.Project{Input: p.limited(n.Input, top), Exprs: p.exprs(n.Exprs), Cols: n.Cols}
	case *logical.Scan:
		out := p.node(n)
		if s, ok := out.(*physical.Scan); ok && top >= 0 && s.Residual == nil {
			s.Request.Limit = top
			if top <= inlineRows {
				s.Parallel = 1
			}
		}
		return out
	}
	return p.node(n)
}

// sort plans ORDER BY; keys that are constant do not order.
func (p *planner) sort(n *logical.Sort, top int64) physical.Node {
	in := p.node(n.Input)
	var keys []logical.SortKey
	for _, k := range p.keys(n.Keys) {
		if _, constant := k.Expr.(*scalar.Const); !constant {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return in
	}
	out := &physical.Sort{Input: in, Keys: keys, Limit: top}
	out.Ordered = p.requestOrder(in, keys, top)
	return out
}
