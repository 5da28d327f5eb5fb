package physical

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
)

// Apply runs the right side once per left row, which it reads as Slots.
type Apply struct {
	Kind        logical.JoinKind // Inner or Left
	Left, Right Node
	Outer       []scalar.Expr // values of Slot 0, 1, ... over the left row
	On          scalar.Expr   // over left ++ right; nil: none
}

// With makes the rows of Plan readable by the CTEScans of ID in Body.
type With struct {
	ID         int
	Name       string
	Plan, Body Node
}

// CTEScan reads the rows of a With, which it makes run if none did before.
type CTEScan struct {
	ID    int
	Name  string
	Alias string
	Cols  []logical.Column
	Size  float64 // estimate of rows
}

// Recursive is the plan of a WITH RECURSIVE query.
type Recursive struct {
	ID         int
	Name       string
	All        bool
	Seed, Step Node
	Cols       []logical.Column
}

// WorkTable reads the rows of a Recursive's round before.
type WorkTable struct {
	ID    int
	Name  string
	Alias string
	Cols  []logical.Column
	Size  float64 // estimate of rows
}

// ProjectSet runs set-returning functions over the rows of its input.
type ProjectSet struct {
	Input      Node
	Calls      []logical.SetCall
	Ordinality bool
}

// Columns implements Node.
func (n *Apply) Columns() []logical.Column {
	return appendColumns(make([]logical.Column, 0, Width(n)), n)
}

// Columns implements Node.
func (n *With) Columns() []logical.Column { return n.Body.Columns() }

// Columns implements Node.
func (n *CTEScan) Columns() []logical.Column { return n.Cols }

// Columns implements Node.
func (n *Recursive) Columns() []logical.Column { return n.Cols }

// Columns implements Node.
func (n *WorkTable) Columns() []logical.Column { return n.Cols }

// Columns implements Node.
func (n *ProjectSet) Columns() []logical.Column {
	in := n.Input.Columns()
	return logical.SetColumns(in[:len(in):len(in)], n.Calls, n.Ordinality)
}

// Inputs implements Node.
func (n *Apply) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *With) Inputs() []Node { return []Node{n.Plan, n.Body} }

// Inputs implements Node.
func (n *CTEScan) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Recursive) Inputs() []Node { return []Node{n.Seed, n.Step} }

// Inputs implements Node.
func (n *WorkTable) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *ProjectSet) Inputs() []Node { return []Node{n.Input} }
