// Package logical is the plan as the query says it: relational operators over
// bound expressions, before any choice of how.
//
// The binder builds it, the rules rewrite it (each returns a new tree), the
// physical planner reads it. Expressions refer to the columns of their
// operator's input by index; the input row of a Join is the left row followed
// by the right row.
package logical

import (
	"tsdb/colstore/table"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// Column describes one output column.
type Column struct {
	Name string
	Type types.Type
	// Table and AttNum name the base column this is, for RowDescription; 0: none.
	Table  types.OID
	AttNum int16
}

// Node is a relational operator.
type Node interface {
	// Columns is the shape of the output row.
	Columns() []Column
	// Inputs are the child operators.
	Inputs() []Node
}

// RowID stands in Scan.Cols, as the last of them only, for the column that
// names each row to storage: bigint in layout columnar, bytea in layout row.
const RowID = -1

// Scan reads a base table. Cols lists the indexes into Table.Columns that are
// read, and perhaps RowID.
type Scan struct {
	Table *catalog.Table
	Alias string
	Cols  []int
	// Filters are conjuncts over Cols that were pushed down; rows are filtered
	// by them exactly.
	Filters []scalar.Expr
	// Output keeps only these of Cols, after the filters; nil: all.
	Output []int
}

// Given yields the batches that the caller of the plan brings while it runs:
// the rows that a statement changes, for its RETURNING.
type Given struct{ Cols []Column }

// Virtual reads a relation of pg_catalog or information_schema.
type Virtual struct {
	Relation catalog.VirtualRelation
	Alias    string
}

// Values yields literal rows; every row has the columns' types. No columns and
// one row is the input of a SELECT without FROM.
type Values struct {
	Cols []Column
	Rows [][]scalar.Expr
}

// Function reads a set-returning function. Args are constant in the query
// (they may hold Param, Slot and stable calls).
type Function struct {
	Fn         *functions.SetReturning
	Args       []scalar.Expr
	Alias      string
	Cols       []Column
	Ordinality bool // WITH ORDINALITY: one int8 column more
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
	Cols  []Column
}

// AggCall is one aggregate of an Aggregate.
type AggCall struct {
	Fn       *functions.Aggregate
	Args     []scalar.Expr // over the input
	Distinct bool
	Filter   scalar.Expr // nil: all rows
	OrderBy  []SortKey   // order of the input for ordered aggregates
	Typ      types.Type
}

// Aggregate groups by Keys; output is the keys followed by the aggregates. No
// keys: exactly one row.
type Aggregate struct {
	Input Node
	Keys  []scalar.Expr
	Aggs  []AggCall
	Cols  []Column
}

// JoinKind is the kind of a Join.
type JoinKind uint8

// Join kinds.
const (
	Inner JoinKind = iota
	Left
	Semi // left rows with a match; output is the left row
	Anti // left rows without a match; output is the left row
	Full // all rows of both sides, NULLs where one has no match
	// Mark outputs the left row and one boolean: over the right rows for which
	// On is true (nil: all), whether Test is true for one (nil Test: true);
	// NULL if for none but NULL for one; else false. It is EXISTS, IN and ANY as
	// a value.
	Mark
	// Single is Left that fails with 21000 where a left row has more than one
	// match: a scalar subquery as a join.
	Single
)

// Join combines two inputs. On is over left row ++ right row; nil is a cross join.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	On          scalar.Expr
	Test        scalar.Expr // of a Mark join only, over left ++ right
	// Lateral says that the right side reads columns of the left row as Slots:
	// it runs once per left row, with Outer giving the values of Slot 0, 1, ...
	Lateral bool
	Outer   []scalar.Expr // over the left row
}

// MarkColumn is what a Mark join adds to the left row.
var MarkColumn = Column{Name: "mark", Type: types.T(types.Bool)}

// LeftOnly reports whether a join's output has the columns of the left side
// only, and perhaps a mark.
func LeftOnly(k JoinKind) bool { return k == Semi || k == Anti || k == Mark }

// SortKey is one ORDER BY item.
type SortKey struct {
	Expr       scalar.Expr
	Desc       bool
	NullsFirst bool
}

// Sort orders the rows.
type Sort struct {
	Input Node
	Keys  []SortKey
}

// Limit skips Offset rows and passes Count. Either may be nil; both are constant in the query.
type Limit struct {
	Input         Node
	Offset, Count scalar.Expr // int8
	// Ties, if not nil, are the keys by which Input is sorted: rows equal to the
	// last one that Count passes are passed too.
	Ties []SortKey
}

// DistinctRows drops repeated rows. On, if not nil, is DISTINCT ON: the first row per
// value of these expressions in the order of the input.
type DistinctRows struct {
	Input Node
	On    []scalar.Expr
}

// SetOpKind is a set operation.
type SetOpKind uint8

// Set operations.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// SetOp combines inputs of equal types.
type SetOp struct {
	Kind        SetOpKind
	All         bool
	Left, Right Node
	Cols        []Column
}

// Columns implements Node.
func (n *Scan) Columns() []Column {
	out := make([]Column, len(n.Cols))
	for i, c := range n.Cols {
		if c == RowID {
			out[i] = rowIDColumn(n.Table)
			continue
		}
		col := &n.Table.Columns[c]
		out[i] = Column{Name: col.Name, Type: col.Type, Table: n.Table.OID, AttNum: col.AttNum}
	}
	if n.Output == nil {
		return out
	}
	kept := make([]Column, len(n.Output))
	for i, c := range n.Output {
		kept[i] = out[c]
	}
	return kept
}

func rowIDColumn(t *catalog.Table) Column {
	if t.Storage.Layout == table.RowStore {
		return Column{Name: "row id", Type: types.T(types.Bytea)}
	}
	return Column{Name: "row id", Type: types.T(types.Int8)}
}

// Columns implements Node.
func (n *Given) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Virtual) Columns() []Column {
	rel := n.Relation.RelColumns()
	out := make([]Column, len(rel))
	for i, c := range rel {
		out[i] = Column{Name: c.Name, Type: c.Type, Table: n.Relation.RelOID(), AttNum: int16(i + 1)}
	}
	return out
}

// Columns implements Node.
func (n *Values) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Function) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Filter) Columns() []Column { return n.Input.Columns() }

// Columns implements Node.
func (n *Project) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Aggregate) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Join) Columns() []Column { return appendColumns(make([]Column, 0, Width(n)), n) }

// appendColumns appends the columns of n, those of a chain of joins without
// making a slice per join.
func appendColumns(dst []Column, n Node) []Column {
	j, ok := n.(*Join)
	if !ok {
		return append(dst, n.Columns()...)
	}
	dst = appendColumns(dst, j.Left)
	switch j.Kind {
	case Semi, Anti:
		return dst
	case Mark:
		return append(dst, MarkColumn)
	}
	return appendColumns(dst, j.Right)
}

// Columns implements Node.
func (n *Sort) Columns() []Column { return n.Input.Columns() }

// Columns implements Node.
func (n *Limit) Columns() []Column { return n.Input.Columns() }

// Columns implements Node.
func (n *DistinctRows) Columns() []Column { return n.Input.Columns() }

// Columns implements Node.
func (n *SetOp) Columns() []Column { return n.Cols }

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
func (n *Join) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *DistinctRows) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *SetOp) Inputs() []Node { return []Node{n.Left, n.Right} }
