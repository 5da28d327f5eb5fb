package session

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec"
	"tsdb/planner"
	"tsdb/planner/logical"
	"tsdb/sql/functions"
)

// rowPlan is a plan over rows that are given to it batch by batch.
type rowPlan struct {
	op     exec.Operator
	given  *vector.Batch
	budget *exec.Budget
}

// newRowPlan plans n, a part of the bound statement b.
func (s *Session) newRowPlan(v *view, c *functions.Ctx, b *planner.Bound, n logical.Node, params []planner.ParamValue) (*rowPlan, error) {
	plan, err := planner.Plan(s.env(v.cat, c, v.snap), b, n, params)
	if err != nil {
		return nil, err
	}
	p := &rowPlan{budget: exec.NewBudget(s.intValue("tsdb.query_memory") << 10)}
	env := &exec.Env{Ctx: c, Storage: v.snap, Budget: p.budget, Spill: s.newSpill(), Workers: s.workers(), Given: p.next, Queries: v.queries}
	p.op, err = exec.Build(env, plan)
	return p, err
}

// next gives the batch once.
func (p *rowPlan) next() (*vector.Batch, error) {
	b := p.given
	p.given = nil
	return b, nil
}

// run hands the rows that the plan makes of b to f, flat.
func (p *rowPlan) run(ctx context.Context, b *vector.Batch, f func(*vector.Batch) error) error {
	p.given = b
	if err := p.op.Open(ctx); err != nil {
		return err
	}
	for {
		out, err := p.op.Next()
		if err == nil && out != nil {
			err = f(out.Flat(nil))
		}
		if err != nil {
			_ = p.op.Close() // the statement has failed already
			return err
		}
		if out == nil {
			return p.op.Close()
		}
	}
}

// returning collects the rows of RETURNING: a client gets them when the
// statement has succeeded, for it may have to be repeated.
type returning struct {
	plan *rowPlan
	done []*vector.Batch
}

func (r *returning) add(ctx context.Context, changed *vector.Batch) error {
	return r.plan.run(ctx, changed, func(b *vector.Batch) error {
		kept := b.Clone()
		r.done = append(r.done, kept)
		return r.plan.budget.Grow("RETURNING", kept.Size())
	})
}
