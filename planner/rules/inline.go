package rules

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
)

// inlineQueries puts WITH queries where they are read: those with one
// reference, and those that are NOT MATERIALIZED. What nobody reads is dropped.
func inlineQueries(_ *Context, n logical.Node) logical.Node {
	refs := map[int]int{}
	if !countReferences(n, refs) {
		return n
	}
	return inline(n, refs)
}

// countReferences counts the scans of each WITH query; false: there are no
// WITH queries.
func countReferences(n logical.Node, refs map[int]int) bool {
	found := false
	switch n := n.(type) {
	case *logical.With:
		found = true
	case *logical.CTEScan:
		refs[n.ID]++
	}
	mapPlans(n, func(n logical.Node) logical.Node {
		found = countReferences(n, refs) || found
		return n
	})
	for _, in := range n.Inputs() {
		found = countReferences(in, refs) || found
	}
	return found
}

func inline(n logical.Node, refs map[int]int) logical.Node {
	n = mapInputs(n, func(in logical.Node) logical.Node { return inline(in, refs) })
	n = mapPlans(n, func(in logical.Node) logical.Node { return inline(in, refs) })
	w, ok := n.(*logical.With)
	if !ok {
		return n
	}
	if refs[w.ID] == 0 {
		return w.Body
	}
	if !inlines(w, refs[w.ID]) {
		return w
	}
	s := &substitution{with: w, anywhere: !readsSlots(w.Plan), left: refs[w.ID]}
	body := s.node(w.Body, true)
	if s.left > 0 {
		return w // some reference is where the plan's slots mean something else
	}
	return body
}

// inlines reports whether the plan of a WITH query may run at its references.
func inlines(w *logical.With, refs int) bool {
	switch w.Inline {
	case logical.InlineNever:
		return false
	case logical.InlineOnce:
		if refs > 1 {
			return false
		}
	}
	return !planVolatile(w.Plan) && !hasNode(w.Plan, func(n logical.Node) bool {
		switch n.(type) {
		case *logical.Recursive:
			return true
		case *logical.With:
			return refs > 1 // it would be there twice
		}
		return false
	})
}

// hasNode reports whether f holds for an operator of a plan, subqueries' not included.
func hasNode(n logical.Node, f func(logical.Node) bool) bool {
	if f(n) {
		return true
	}
	for _, in := range n.Inputs() {
		if hasNode(in, f) {
			return true
		}
	}
	return false
}

// substitution puts a WITH query's plan in place of its references.
type substitution struct {
	with     *logical.With
	anywhere bool // the plan reads no slots
	left     int  // references not yet found
}

// node substitutes below n; own: its slots are those of the WITH.
func (s *substitution) node(n logical.Node, own bool) logical.Node {
	if c, ok := n.(*logical.CTEScan); ok && c.ID == s.with.ID && (own || s.anywhere) {
		s.left--
		return s.with.Plan
	}
	if j, ok := n.(*logical.Join); ok && j.Lateral {
		c := *j
		c.Left, c.Right = s.node(j.Left, own), s.node(j.Right, false)
		n = &c
	} else {
		n = mapInputs(n, func(in logical.Node) logical.Node { return s.node(in, own) })
	}
	return mapExprs(n, func(e scalar.Expr) scalar.Expr {
		if !hasSubquery(e) {
			return e
		}
		return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
			if sub, ok := e.(*scalar.Subquery); ok {
				return withPlan(sub, func(n logical.Node) logical.Node { return s.node(n, false) })
			}
			return e
		})
	})
}
