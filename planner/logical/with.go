package logical

// Inline says whether a WITH query may be put where it is read.
type Inline uint8

// Choices of MATERIALIZED.
const (
	InlineOnce  Inline = iota // where one reference reads it
	InlineNever               // MATERIALIZED
	InlineAll                 // NOT MATERIALIZED
)

// With makes the rows of Plan readable in Body, and in everything below it, by
// the CTEScans of the same ID. Plan runs once per run of the With, when first
// read.
type With struct {
	ID         int // unique in the statement
	Name       string
	Inline     Inline
	Plan, Body Node
}

// CTEScan reads the rows of the With or the Changed of the same ID around it.
type CTEScan struct {
	ID    int
	Name  string
	Alias string
	Cols  []Column
}

// Recursive is the plan of a WITH RECURSIVE query: the rows of Seed, then those
// that Step makes of the rows of the round before, until there are none.
type Recursive struct {
	ID         int // of the WorkTable in Step
	Name       string
	All        bool // UNION ALL; else a row is returned, and worked on, once
	Seed, Step Node
	Cols       []Column
}

// WorkTable reads the rows of the round before, in the Step of a Recursive.
type WorkTable struct {
	ID    int
	Name  string
	Alias string
	Cols  []Column
}

// Columns implements Node.
func (n *With) Columns() []Column { return n.Body.Columns() }

// Columns implements Node.
func (n *CTEScan) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Recursive) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *WorkTable) Columns() []Column { return n.Cols }

// Inputs implements Node.
func (n *With) Inputs() []Node { return []Node{n.Plan, n.Body} }

// Inputs implements Node.
func (n *CTEScan) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Recursive) Inputs() []Node { return []Node{n.Seed, n.Step} }

// Inputs implements Node.
func (n *WorkTable) Inputs() []Node { return nil }
