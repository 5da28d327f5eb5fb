// Package eval compiles bound expressions and runs them on batches.
//
// A program is a tree of nodes that work on whole vectors. A node evaluates
// its operands, calls a kernel of sql/functions, and gives the operands' scratch
// vectors back, so that a chain of thousands of calls lives in two vectors.
//
// Rows that CASE, COALESCE, AND or OR exclude are not computed by operands that
// can fail: these run in a frame (see frame) of the rows that remain. Constants
// stay constant vectors; dictionary-encoded columns are computed per distinct
// value where that is less work.
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
type Program struct {
	root   node
	kind   vector.Kind
	m      machine
	result value  // of the last Eval, given back by the next
	dear   bool   // rows may take long
	paces  []pace // by conjunct in Filter, else one
	empty  vector.Vector
}

// Compile prepares e. Param nodes are an error (XX000): the planner replaces them.
func Compile(e scalar.Expr) (*Program, error) {
	root, err := compile(e)
	if err != nil {
		return nil, err
	}
	p := &Program{root: root, kind: e.ResultType().Kind(), dear: dear(e), paces: make([]pace, 1)}
	if and, ok := root.(*logicNode); ok && !and.or {
		p.paces = make([]pace, len(and.args))
	}
	return p, nil
}

// Eval computes the value for every row of b (which has no selection; see
// vector.Batch.Flat). The result is valid until the next Eval of the program
// or the end of b; it may be one of b's own columns, constant, or dictionary encoded if
// the expression is a plain column.
func (p *Program) Eval(env *Env, b *vector.Batch) (*vector.Vector, error) {
	p.m.release(p.result)
	p.result = value{}
	if b.N == 0 {
		p.empty.Reset(p.kind)
		return &p.empty, nil
	}
	p.m.env = env
	f := p.m.frame(b)
	v, err := p.evalPaced(p.root, f, &p.paces[0])
	if err != nil {
		p.m.free(f)
		return nil, err
	}
	if f.owns(v) {
		v = f.keep(v)
	}
	p.m.free(f)
	p.result = v
	return v.Vector, nil
}

// Filter evaluates a boolean program and appends to sel the rows of b for which it is true.
// Rows that a preceding operand of AND excluded are not computed by operands that can fail.
func (p *Program) Filter(env *Env, b *vector.Batch, sel []int32) ([]int32, error) {
	if b.N == 0 {
		return sel, nil
	}
	p.m.env = env
	f := p.m.frame(b)
	defer p.m.free(f)
	conjuncts := []node{p.root}
	if and, ok := p.root.(*logicNode); ok && !and.or {
		conjuncts = and.args
	}
	left := narrowing(f)
	defer left.done()
	for i, c := range conjuncts {
		cur := left.frame(c.info().fails)
		v, err := p.evalPaced(c, cur, &p.paces[i])
		if err != nil {
			return sel, err
		}
		left.keepTrue(v.Vector)
		p.m.release(v)
		if left.count == 0 {
			return sel, nil
		}
	}
	return left.appendRows(sel), nil
}

// Constant evaluates an expression without columns to a one-row vector (Const not set).
func Constant(env *Env, e scalar.Expr) (*vector.Vector, error) {
	p, err := Compile(e)
	if err != nil {
		return nil, err
	}
	v, err := p.Eval(env, &vector.Batch{N: 1})
	if err != nil {
		return nil, err
	}
	out := vector.New(v.Kind, 1)
	out.AppendFrom(v, 0)
	return out, nil
}
