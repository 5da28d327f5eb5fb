package logical

import (
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// SetCall is a set-returning function over the rows of a ProjectSet. Without Fn
// it is a value, the one argument, which makes one row.
type SetCall struct {
	Fn   *functions.SetReturning
	Args []scalar.Expr // over the input
	Cols []Column      // of the function's result
}

// OrdinalityColumn is what WITH ORDINALITY adds.
var OrdinalityColumn = Column{Name: "ordinality", Type: types.T(types.Int8)}

// ProjectSet runs its functions for each row of the input in step: the output
// is the input's row followed by one row of each call, NULLs where a call has
// no more. A row for which no call has rows yields none.
type ProjectSet struct {
	Input      Node
	Calls      []SetCall
	Ordinality bool // one int8 column more: the number of the row within its input row
}

// SetColumns appends the columns that set-returning calls make.
func SetColumns(dst []Column, calls []SetCall, ordinality bool) []Column {
	for i := range calls {
		dst = append(dst, calls[i].Cols...)
	}
	if ordinality {
		dst = append(dst, OrdinalityColumn)
	}
	return dst
}

func (n *ProjectSet) added() int {
	w := 0
	for i := range n.Calls {
		w += len(n.Calls[i].Cols)
	}
	if n.Ordinality {
		w++
	}
	return w
}

// Columns implements Node.
func (n *ProjectSet) Columns() []Column {
	in := n.Input.Columns()
	return SetColumns(in[:len(in):len(in)], n.Calls, n.Ordinality)
}

// Inputs implements Node.
func (n *ProjectSet) Inputs() []Node { return []Node{n.Input} }
