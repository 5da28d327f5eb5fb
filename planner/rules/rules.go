// Package rules rewrites logical plans: an ordered list of small named
// functions, each from a tree to an equivalent one.
//
// A rule never changes its argument: it returns new nodes where something
// changes. It does not choose how anything runs; that is planner/build. Every
// rule may be left out without changing an answer, except "parameters".
package rules

import (
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
)

// Context is what rules may use besides the tree.
type Context struct {
	Ctx    *functions.Ctx
	Params []*vector.Vector              // values of $1, $2, ...: one row each
	Stats  func(id table.ID) table.Stats // nil: nothing is known
}

// Rule is one rewrite.
type Rule struct {
	Name  string
	Apply func(*Context, logical.Node) logical.Node
	// Deep says that the rule rewrites the plans of subqueries with the tree
	// they are in, so that it runs once for a statement.
	Deep bool
}

// All returns the rules in the order in which they run.
func All() []Rule {
	return []Rule{
		{"parameters", substituteParams, true},
		{"fold constants", foldConstants, true},
		{"inline queries", inlineQueries, true},
		{"unnest subqueries", unnestSubqueries, true},
		{"push filters", pushFilters, false},
		{"join order", orderJoins, false},
		{"constant filters", constantFilters, false},
		{"distinct to aggregate", distinctToAggregate, false},
		{"prune columns", pruneColumns, false},
		{"subqueries", rewriteSubqueries, false},
	}
}

// Rewrite applies all rules.
func Rewrite(c *Context, n logical.Node) logical.Node {
	for _, r := range All() {
		n = r.Apply(c, n)
	}
	return n
}

// rewriteSubqueries applies the rules that are not deep to the plans inside expressions.
func rewriteSubqueries(c *Context, n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		return mapExprs(n, func(e scalar.Expr) scalar.Expr {
			return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
				sub, ok := e.(*scalar.Subquery)
				if !ok {
					return e
				}
				return withPlan(sub, func(n logical.Node) logical.Node { return rewriteLevel(c, n) })
			})
		})
	})
}

func rewriteLevel(c *Context, n logical.Node) logical.Node {
	for _, r := range All() {
		if !r.Deep {
			n = r.Apply(c, n)
		}
	}
	return n
}
