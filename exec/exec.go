// Package exec runs physical plans: pull operators on batches of up to 4,096
// rows.
//
// It is not where plans are made (planner) nor where expressions are compiled
// (exec/eval). One file holds one operator; grouper.go and rows.go hold what
// several of them share: numbering of distinct values, and rows kept in memory.
//
// Invariants: operators of this package return batches without a selection;
// whatever they keep longer than a batch is counted in the query's Budget;
// every operator looks at the context once per batch.
package exec

import (
	"context"
	"errors"
	"time"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/exec/spill"
	"tsdb/planner/physical"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// Storage is what a plan reads from; *colstore.Snapshot is the real one, tests bring their own.
type Storage interface {
	Scan(id table.ID, req table.ScanRequest) (table.Scan, error)
}

// Env is what a running plan may use.
type Env struct {
	Ctx     *functions.Ctx
	Storage Storage
	Budget  *Budget // memory of this query; nil: unlimited
	// Spill is where operators write rows that Budget has no room for; nil: they
	// fail instead. The plan removes its files when it is closed.
	Spill   *spill.Space
	Workers int  // goroutines per parallel operator, at least 1
	Profile bool // collect OpStats (EXPLAIN ANALYZE)
	// Given returns the next batch of a plan's physical.Given, flat, nil at the
	// end; it may have more columns behind. The batch need not be valid longer
	// than until the next call.
	Given func() (*vector.Batch, error)
	// Queries holds the rows of WITH queries that ran before the plan, by ID.
	Queries map[int][]*vector.Batch
}

// Operator is a pull operator.
//
// Open prepares it and its inputs; Next returns a batch of at least one row, nil at
// the end; the batch is valid until the next Next or Close. Close releases
// everything, may be called at any time after Open, and twice.
type Operator interface {
	Open(ctx context.Context) error
	Next() (*vector.Batch, error)
	Close() error
}

// Build makes the operator tree of a plan. Each call of Open runs it once; it may be
// opened again after Close.
func Build(env *Env, n physical.Node) (Operator, error) {
	b := newBuilder(env)
	b.run.keepers = keepers(n)
	op, err := b.build(n)
	if err != nil {
		return nil, err
	}
	return &plan{Operator: op, b: b}, nil
}

// plan is the root of an operator tree: it owns the state that all its operators share.
type plan struct {
	Operator
	b    *builder
	done bool
}

// Open implements Operator.
func (p *plan) Open(ctx context.Context) error {
	p.b.run.start(ctx)
	p.done = false
	return p.Operator.Open(ctx)
}

// Next implements Operator. At the end everything is released at once, which
// also completes the statistics.
func (p *plan) Next() (*vector.Batch, error) {
	if p.done {
		return nil, nil
	}
	b, err := p.Operator.Next()
	if b == nil || err != nil {
		p.done = true
		return nil, firstError(err, p.Close())
	}
	return b, nil
}

// Close implements Operator.
func (p *plan) Close() error {
	err := firstError(p.Operator.Close(), p.b.run.close())
	if s := p.b.env.Spill; s != nil {
		err = firstError(err, s.Close())
	}
	return err
}

// canceled returns the error of a context that has ended: its cause if that is
// an error for users (a timeout, a shutdown), else the user's request.
func canceled(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	var e *pgerr.Error
	if errors.As(context.Cause(ctx), &e) {
		return e
	}
	return pgerr.New(pgerr.QueryCanceled, "canceling statement due to user request")
}

// clock is the time source of profiles.
var clock = time.Now

// firstError returns the first of errs that is one: users see one error, the
// one that came first.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
