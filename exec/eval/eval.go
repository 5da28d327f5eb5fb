// Package eval compiles bound expressions and runs them on batches.
package eval

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
)

// Runner runs the subqueries of an expression; exec implements it.
type Runner interface {
	// Run executes the subquery's plan with the given values of Slot 0, 1, ...
	// (row i of each vector in slots) and returns all its rows. The batch is
	// valid until the next Run.
	Run(sub *scalar.Subquery, slots []*vector.Vector, row int) (*vector.Batch, error)
}

// Env is what a program runs in.
type Env struct {
	Ctx   *functions.Ctx
	Slots []*vector.Vector // one-row vectors: values of the enclosing row
	Run   Runner           // nil where no subquery can occur
}

// Program is a compiled expression. It owns its scratch vectors: one program
// serves one goroutine at a time.
type Program struct{}

// Compile prepares e. Param nodes are an error (XX000): the planner replaces them.
func Compile(e scalar.Expr) (*Program, error) { return nil, nil }

// Eval computes the value for every row of b (which has no selection; see
// vector.Batch.Flat). The result is valid until the next Eval of the program
// or the end of b; it may be one of b's own columns, constant, or dictionary encoded if
// the expression is a plain column.
func (p *Program) Eval(env *Env, b *vector.Batch) (*vector.Vector, error) { return nil, nil }

// Filter evaluates a boolean program and appends to sel the rows of b for which it is true.
// Rows that a preceding operand of AND excluded are not computed by operands that can fail.
func (p *Program) Filter(env *Env, b *vector.Batch, sel []int32) ([]int32, error) { return nil, nil }

// Constant evaluates an expression without columns to a one-row vector (Const not set).
func Constant(env *Env, e scalar.Expr) (*vector.Vector, error) { return nil, nil }
