package logical

import (
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// SetCall is a set-returning function over the rows of a ProjectSet.
type SetCall struct {
	Fn         *functions.SetReturning
	Args       []scalar.Expr // over the input
	Cols       []Column      // of the function's result
	Ordinality bool          // one int8 column more
}

// OrdinalityColumn is what WITH ORDINALITY adds.
var OrdinalityColumn = Column{Name: "ordinality", Type: types.T(types.Int8)}

func (c *SetCall) width() int {
	if c.Ordinality {
		return len(c.Cols) + 1
	}
	return len(c.Cols)
}

// ProjectSet runs its functions for each row of the input in step: the output
// is the input's row followed by one row of each call, NULLs where a call has
// no more. A row for which no call has rows yields none.
type ProjectSet struct {
	Input Node
	Calls []SetCall
}

// CallColumns returns the columns of set-returning calls one after the other.
func CallColumns(dst []Column, calls []SetCall) []Column {
	for i := range calls {
		dst = append(dst, calls[i].Cols...)
		if calls[i].Ordinality {
			dst = append(dst, OrdinalityColumn)
		}
	}
	return dst
}

// Columns implements Node.
func (n *ProjectSet) Columns() []Column {
	in := n.Input.Columns()
	return CallColumns(in[:len(in):len(in)], n.Calls)
}

// Inputs implements Node.
func (n *ProjectSet) Inputs() []Node { return []Node{n.Input} }
