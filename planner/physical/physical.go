// Package physical is the plan as it will run: every choice is made, parameters
// are values, key ranges are bytes. exec builds one operator per node.
package physical

import (
	"tsdb/colstore/table"
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
)

// Node is a physical operator. Expressions refer to the input row by index, as
// in package logical.
type Node interface {
	Columns() []logical.Column
	Inputs() []Node
}

// Scan reads a base table through storage, then keeps the rows for which
// Residual is true.
type Scan struct {
	Table   *catalog.Table
	Alias   string
	Request table.ScanRequest // Columns in output order
	// Residual is over the scan's output; nil: none. Storage may return rows
	// outside of Request, so every pushed predicate is in here too.
	Residual scalar.Expr
	// Output keeps only these columns of Request.Columns after the filter (nil: all), so that a
	// column that only the residual reads is not handed on.
	Output []int
	Spans  []SpanText // for EXPLAIN: the first of Request.Spans in words; spans that meet count apart
	Times  []string   // for EXPLAIN, one per Request.Time
	// Rebind says that Residual reads values of the enclosing row: spans, times
	// and filters are derived anew each time the scan opens.
	Rebind bool
	// Fixed lists the table's columns that have one value in all rows that pass.
	Fixed map[int]bool
	// Parallel is the number of workers that make sense; 1: inline.
	Parallel int
	Rows     float64 // estimate
}

// Given yields the batches of exec.Env.Given.
type Given struct{ Cols []logical.Column }

// SpanText is a key span as EXPLAIN prints it.
type SpanText struct{ Text string }

// Virtual materialises a catalog relation.
type Virtual struct {
	Relation catalog.VirtualRelation
	Alias    string
}

// Values yields rows of expressions without columns to read.
type Values struct {
	Cols []logical.Column
	Rows [][]scalar.Expr
}

// Function runs a set-returning function.
type Function struct {
	Fn         *functions.SetReturning
	Args       []scalar.Expr
	Alias      string
	Cols       []logical.Column
	Ordinality bool
}

// Filter keeps the rows for which Cond is true.
type Filter struct {
	Input Node
	Cond  scalar.Expr
}

// Project computes the output row.
type Project struct {
	Input Node
	Exprs []scalar.Expr
	Cols  []logical.Column
}

// Aggregate groups rows in a hash table or direct array.
type Aggregate struct {
	Input Node
	Keys  []scalar.Expr
	Aggs  []logical.AggCall
	Cols  []logical.Column
}

// HashJoin builds a table over the right input and probes it with the left.
type HashJoin struct {
	Kind                logical.JoinKind
	Left, Right         Node
	LeftKeys, RightKeys []scalar.Expr // of equal types, pairwise
	NullEqual           []bool        // per key: NULL matches NULL (IS NOT DISTINCT FROM); nil: none
	Residual            scalar.Expr   // over left ++ right; nil: none
	Test                scalar.Expr   // of a Mark join, over left ++ right; nil: true
}

// NestedLoop joins without equality keys; the right input is materialised.
type NestedLoop struct {
	Kind        logical.JoinKind
	Left, Right Node
	On          scalar.Expr
	Test        scalar.Expr // of a Mark join, over left ++ right; nil: true
}

// Sort orders all rows, or finds the first Limit of them when Limit >= 0 (top-k).
type Sort struct {
	Input Node
	Keys  []logical.SortKey
	Limit int64 // -1: all
	// Ordered says that the scan at the bottom of Input, below filters and
	// projections only, requests an order that implies Keys: rows pass through
	// unless storage declines the order when the scan opens.
	Ordered bool
}

// Limit skips and stops.
type Limit struct {
	Input  Node
	Offset int64
	Count  int64 // -1: no limit
	// OffsetExpr and CountExpr, where not nil, give the numbers at run time
	// (a subquery, a volatile call).
	OffsetExpr, CountExpr scalar.Expr
	Ties                  []scalar.Expr // WITH TIES: what the input is sorted by; nil: without
}

// Distinct drops repeated rows, or with On all but the first per value.
type Distinct struct {
	Input Node
	On    []scalar.Expr
}

// Append yields the rows of its inputs one input after the other (UNION ALL).
type Append struct {
	Ins  []Node
	Cols []logical.Column
}

// SetOp is INTERSECT or EXCEPT [ALL] by counting in a hash table. UNION is Distinct over Append.
type SetOp struct {
	Kind        logical.SetOpKind
	All         bool
	Left, Right Node
	Cols        []logical.Column
}

// Columns implements Node.
func (n *Scan) Columns() []logical.Column {
	cols := n.Request.Columns
	if n.Request.RowIDs {
		cols = append(cols[:len(cols):len(cols)], logical.RowID)
	}
	all := (&logical.Scan{Table: n.Table, Cols: cols}).Columns()
	if n.Output == nil {
		return all
	}
	out := make([]logical.Column, len(n.Output))
	for i, c := range n.Output {
		out[i] = all[c]
	}
	return out
}

// Columns implements Node.
func (n *Given) Columns() []logical.Column { return n.Cols }

// Columns implements Node.
func (n *Virtual) Columns() []logical.Column {
	return (&logical.Virtual{Relation: n.Relation}).Columns()
}

// Columns implements Node.
func (n *Values) Columns() []logical.Column { return n.Cols }

// Columns implements Node.
func (n *Function) Columns() []logical.Column { return n.Cols }

// Columns implements Node.
func (n *Filter) Columns() []logical.Column { return n.Input.Columns() }

// Columns implements Node.
func (n *Project) Columns() []logical.Column { return n.Cols }

// Columns implements Node.
func (n *Aggregate) Columns() []logical.Column { return n.Cols }

// Columns implements Node.
func (n *HashJoin) Columns() []logical.Column {
	return appendColumns(make([]logical.Column, 0, Width(n)), n)
}

// Columns implements Node.
func (n *NestedLoop) Columns() []logical.Column {
	return appendColumns(make([]logical.Column, 0, Width(n)), n)
}

// joinSides returns the inputs whose columns a join hands on, and whether it
// adds a mark to those of the left; ok is false if n is not a join.
func joinSides(n Node) (left, right Node, mark, ok bool) {
	var kind logical.JoinKind
	switch n := n.(type) {
	case *HashJoin:
		kind, left, right = n.Kind, n.Left, n.Right
	case *NestedLoop:
		kind, left, right = n.Kind, n.Left, n.Right
	case *Apply:
		kind, left, right = n.Kind, n.Left, n.Right
	default:
		return nil, nil, false, false
	}
	if logical.LeftOnly(kind) {
		right = nil
	}
	return left, right, kind == logical.Mark, true
}

// appendColumns appends the columns of n, those of a chain of joins without
// making a slice per join.
func appendColumns(dst []logical.Column, n Node) []logical.Column {
	l, r, mark, ok := joinSides(n)
	if !ok {
		return append(dst, n.Columns()...)
	}
	dst = appendColumns(dst, l)
	if mark {
		dst = append(dst, logical.MarkColumn)
	}
	if r == nil {
		return dst
	}
	return appendColumns(dst, r)
}

// Width returns len(n.Columns()) without making the columns of joins.
func Width(n Node) int {
	l, r, mark, ok := joinSides(n)
	if !ok {
		if s, isScan := n.(*Scan); isScan && s.Output == nil {
			if s.Request.RowIDs {
				return len(s.Request.Columns) + 1
			}
			return len(s.Request.Columns)
		}
		return len(n.Columns())
	}
	w := Width(l)
	if mark {
		w++
	}
	if r != nil {
		w += Width(r)
	}
	return w
}

// Columns implements Node.
func (n *Sort) Columns() []logical.Column { return n.Input.Columns() }

// Columns implements Node.
func (n *Limit) Columns() []logical.Column { return n.Input.Columns() }

// Columns implements Node.
func (n *Distinct) Columns() []logical.Column { return n.Input.Columns() }

// Columns implements Node.
func (n *Append) Columns() []logical.Column { return n.Cols }

// Columns implements Node.
func (n *SetOp) Columns() []logical.Column { return n.Cols }

// Inputs implements Node.
func (n *Scan) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Given) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Virtual) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Values) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Function) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *HashJoin) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *NestedLoop) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Distinct) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Append) Inputs() []Node { return n.Ins }

// Inputs implements Node.
func (n *SetOp) Inputs() []Node { return []Node{n.Left, n.Right} }
