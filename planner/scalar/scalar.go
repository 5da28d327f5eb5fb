// Package scalar is the bound form of expressions: names are resolved, every
// node has a type, casts are explicit.
//
// The planner makes and rewrites these trees, exec/eval compiles them. A tree
// is immutable once built: rewrites return new nodes (Rewrite).
package scalar

import (
	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// Expr is a bound expression.
type Expr interface {
	// ResultType is the SQL type of the value.
	ResultType() types.Type
}

// Column reads a column of the operator's input.
type Column struct {
	Index int // of the input row
	Typ   types.Type
	Name  string // for EXPLAIN
}

// Const is a literal or folded value.
type Const struct {
	Value *vector.Vector // one row of Typ's kind; never nil (NULL is a NULL row)
	Typ   types.Type
}

// Param is the statement parameter $Number; the physical planner replaces it by a Const.
type Param struct {
	Number int // 1-based
	Typ    types.Type
}

// Slot reads a value of the enclosing query's current row, set before each run
// of a correlated subquery.
type Slot struct {
	Index int
	Typ   types.Type
	Name  string
}

// Call applies a function or operator. Arguments already have the overload's types.
type Call struct {
	Fn   *functions.Overload
	Args []Expr
	Typ  types.Type
}

// Cast converts to Typ. A nil Kernel means that the bytes stay as they are.
type Cast struct {
	Arg      Expr
	Typ      types.Type
	Kernel   functions.Kernel
	CanFail  bool
	Implicit bool // not written by the user
}

// Logic is AND or OR over two or more operands (flat, so that long chains do not nest).
type Logic struct {
	Or   bool
	Args []Expr
}

// Not negates a boolean.
type Not struct{ Arg Expr }

// IsNull is IS [NOT] NULL.
type IsNull struct {
	Arg    Expr
	Negate bool
}

// BoolTest is IS [NOT] TRUE, FALSE or UNKNOWN.
type BoolTest struct {
	Arg    Expr
	Value  BoolValue
	Negate bool
}

// BoolValue is what BoolTest compares with.
type BoolValue uint8

// The three values of a boolean.
const (
	TestTrue BoolValue = iota
	TestFalse
	TestUnknown
)

// Distinct is IS [NOT] DISTINCT FROM; Eq is the types' equality operator.
type Distinct struct {
	Left, Right Expr
	Eq          *functions.Overload
	Negate      bool
}

// When is one arm of a Case.
type When struct{ Cond, Then Expr }

// Case is a searched CASE (a simple one is bound to comparisons). Else may be nil.
type Case struct {
	Whens []When
	Else  Expr
	Typ   types.Type
}

// Coalesce is the first non-NULL argument.
type Coalesce struct {
	Args []Expr
	Typ  types.Type
}

// MinMax is GREATEST or LEAST.
type MinMax struct {
	Greatest bool
	Args     []Expr
	Typ      types.Type
}

// InList is arg [NOT] IN (constants): the list is a flat vector of Arg's type,
// HasNull says that a NULL was among the items. Lists with non-constant items
// are bound to Logic over comparisons.
type InList struct {
	Arg     Expr
	List    *vector.Vector
	HasNull bool
	Negate  bool
}

// ArrayCompare is left op ANY|ALL (array).
type ArrayCompare struct {
	Left  Expr
	Array Expr                // of an array type
	Op    *functions.Overload // over (left type, element type)
	All   bool
}

// SubqueryKind is the use of a subquery inside an expression.
type SubqueryKind uint8

// Kinds of subqueries.
const (
	SubScalar SubqueryKind = iota // one value, NULL for no row, 21000 for several
	SubExists                     // EXISTS
	SubAny                        // Test op ANY (subquery); IN is = ANY
	SubAll                        // Test op ALL (subquery); NOT IN is <> ALL
	SubArray                      // ARRAY(subquery)
	SubRow                        // Match over the one row, NULL for no row, 21000 for several
)

// Subquery runs a plan. Plan is a logical.Node while planning, a physical.Node
// in a physical plan.
type Subquery struct {
	Kind SubqueryKind
	Plan any
	// Outer holds the expressions over the enclosing row whose values the plan
	// reads as Slot 0, 1, ...; empty: the plan is not correlated and runs once.
	Outer []Expr
	Test  Expr                // left side of SubAny, SubAll
	Op    *functions.Overload // comparison of SubAny, SubAll
	// Tests and Match take the place of Test and Op where rows are compared:
	// Match is over the Tests followed by the columns of the plan.
	Tests []Expr
	Match Expr
	Typ   types.Type
	// Volatile says that two runs for the same values may differ.
	Volatile bool
}

// ResultType implements Expr.
func (e *Column) ResultType() types.Type { return e.Typ }

// ResultType implements Expr.
func (e *Const) ResultType() types.Type { return e.Typ }

// ResultType implements Expr.
func (e *Param) ResultType() types.Type { return e.Typ }

// ResultType implements Expr.
func (e *Slot) ResultType() types.Type { return e.Typ }

// ResultType implements Expr.
func (e *Call) ResultType() types.Type { return e.Typ }

// ResultType implements Expr.
func (e *Cast) ResultType() types.Type { return e.Typ }

// ResultType implements Expr.
func (e *Logic) ResultType() types.Type { return types.T(types.Bool) }

// ResultType implements Expr.
func (e *Not) ResultType() types.Type { return types.T(types.Bool) }

// ResultType implements Expr.
func (e *IsNull) ResultType() types.Type { return types.T(types.Bool) }

// ResultType implements Expr.
func (e *BoolTest) ResultType() types.Type { return types.T(types.Bool) }

// ResultType implements Expr.
func (e *Distinct) ResultType() types.Type { return types.T(types.Bool) }

// ResultType implements Expr.
func (e *Case) ResultType() types.Type { return e.Typ }

// ResultType implements Expr.
func (e *Coalesce) ResultType() types.Type { return e.Typ }

// ResultType implements Expr.
func (e *MinMax) ResultType() types.Type { return e.Typ }

// ResultType implements Expr.
func (e *InList) ResultType() types.Type { return types.T(types.Bool) }

// ResultType implements Expr.
func (e *ArrayCompare) ResultType() types.Type { return types.T(types.Bool) }

// ResultType implements Expr.
func (e *Subquery) ResultType() types.Type { return e.Typ }

// Children returns the direct operands of e in evaluation order. The plan of a
// Subquery is not among them.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *Cast:
		return []Expr{e.Arg}
	case *Logic:
		return e.Args
	case *Not:
		return []Expr{e.Arg}
	case *IsNull:
		return []Expr{e.Arg}
	case *BoolTest:
		return []Expr{e.Arg}
	case *Distinct:
		return []Expr{e.Left, e.Right}
	case *Case:
		out := make([]Expr, 0, 2*len(e.Whens)+1)
		for _, w := range e.Whens {
			out = append(out, w.Cond, w.Then)
		}
		if e.Else != nil {
			out = append(out, e.Else)
		}
		return out
	case *Coalesce:
		return e.Args
	case *MinMax:
		return e.Args
	case *InList:
		return []Expr{e.Arg}
	case *ArrayCompare:
		return []Expr{e.Left, e.Array}
	case *Subquery:
		out := append([]Expr(nil), e.Outer...)
		if e.Test != nil {
			out = append(out, e.Test)
		}
		return append(out, e.Tests...)
	}
	return nil
}

// Walk calls f for e and everything below it, parents first; f returns false to skip the operands.
func Walk(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, c := range Children(e) {
		Walk(c, f)
	}
}

// Rewrite returns e with f applied bottom-up: operands first, then the node
// that holds them. f returns its argument to keep it. Nodes without a changed
// operand are shared, not copied.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	old := Children(e)
	var repl []Expr
	for i, c := range old {
		n := Rewrite(c, f)
		if n != c && repl == nil {
			repl = append([]Expr(nil), old...)
		}
		if repl != nil {
			repl[i] = n
		}
	}
	if repl != nil {
		e = withChildren(e, repl)
	}
	return f(e)
}

func withChildren(e Expr, c []Expr) Expr {
	switch e := e.(type) {
	case *Call:
		n := *e
		n.Args = c
		return &n
	case *Cast:
		n := *e
		n.Arg = c[0]
		return &n
	case *Logic:
		return &Logic{Or: e.Or, Args: c}
	case *Not:
		return &Not{Arg: c[0]}
	case *IsNull:
		return &IsNull{Arg: c[0], Negate: e.Negate}
	case *BoolTest:
		return &BoolTest{Arg: c[0], Value: e.Value, Negate: e.Negate}
	case *Distinct:
		return &Distinct{Left: c[0], Right: c[1], Eq: e.Eq, Negate: e.Negate}
	case *Case:
		n := &Case{Typ: e.Typ, Whens: make([]When, len(e.Whens))}
		for i := range e.Whens {
			n.Whens[i] = When{Cond: c[2*i], Then: c[2*i+1]}
		}
		if e.Else != nil {
			n.Else = c[len(c)-1]
		}
		return n
	case *Coalesce:
		return &Coalesce{Args: c, Typ: e.Typ}
	case *MinMax:
		return &MinMax{Greatest: e.Greatest, Args: c, Typ: e.Typ}
	case *InList:
		n := *e
		n.Arg = c[0]
		return &n
	case *ArrayCompare:
		n := *e
		n.Left, n.Array = c[0], c[1]
		return &n
	case *Subquery:
		n := *e
		n.Outer, c = c[:len(e.Outer):len(e.Outer)], c[len(e.Outer):]
		if e.Test != nil {
			n.Test, c = c[0], c[1:]
		}
		if e.Tests != nil {
			n.Tests = c
		}
		return &n
	}
	return e
}
