package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
)

// runner runs the subqueries in expressions. One runner serves a whole
// statement; only the goroutine that pulls the root uses it.
type runner struct {
	env   *Env
	ctx   context.Context
	plans map[*scalar.Subquery]*subplan
	stats map[physical.Node]*counters
	// keepers is the number of operators among which the shares of the budget are divided.
	keepers int

	queries map[int]*sharedRows // WITH queries by ID
	work    map[int]*sharedRows // work tables of recursions by ID
}

// subplan is the built plan of one subquery.
type subplan struct {
	op     Operator
	ev     *eval.Env
	slots  []*vector.Vector
	result *vector.Batch
	ran    bool // an uncorrelated plan has its result
	held   account
	memo   memo
}

func newRunner(env *Env) *runner {
	return &runner{env: env, plans: map[*scalar.Subquery]*subplan{}, stats: map[physical.Node]*counters{},
		queries: map[int]*sharedRows{}, work: map[int]*sharedRows{}}
}

// counters returns the statistics of a node. Called while building, and by
// operators only for nodes that were built.
func (r *runner) counters(n physical.Node) *counters {
	c, ok := r.stats[n]
	if !ok {
		c = &counters{}
		r.stats[n] = c
	}
	return c
}

func (r *runner) start(ctx context.Context) {
	r.ctx = ctx
	for _, p := range r.plans {
		p.ran = false
		p.memo.forget()
	}
}

func (r *runner) close() error {
	var err error
	for _, p := range r.plans {
		err = firstError(err, p.op.Close())
		p.result, p.ran = nil, false
		p.held.release()
		p.memo.forget()
	}
	return err
}

// Run implements eval.Runner.
func (r *runner) Run(sub *scalar.Subquery, slots []*vector.Vector, row int) (*vector.Batch, error) {
	p, err := r.plan(sub)
	if err != nil {
		return nil, err
	}
	if p.ran && len(sub.Outer) == 0 {
		return p.result, nil
	}
	if b, ok := p.memo.find(slots, row); ok {
		return b, nil
	}
	for i, s := range slots {
		v := p.slots[i]
		v.Reset(s.Kind)
		v.AppendFrom(s, row)
	}
	if err := p.drain(r.ctx, sub); err != nil {
		return nil, firstError(err, p.op.Close())
	}
	p.ran = true
	p.memo.add(p.result)
	return p.result, p.op.Close()
}

func (r *runner) plan(sub *scalar.Subquery) (*subplan, error) {
	if p, ok := r.plans[sub]; ok {
		return p, nil
	}
	n, ok := sub.Plan.(physical.Node)
	if !ok {
		return nil, pgerr.New(pgerr.InternalError, "subquery without a physical plan")
	}
	p := &subplan{slots: make([]*vector.Vector, len(sub.Outer)), held: account{budget: r.env.Budget, op: "Subquery"}}
	for i := range p.slots {
		p.slots[i] = &vector.Vector{}
	}
	p.ev = &eval.Env{Ctx: r.env.Ctx, Run: r, Slots: p.slots}
	b := &builder{env: r.env, ev: p.ev, run: r, serial: len(sub.Outer) > 0}
	op, err := b.build(n)
	if err != nil {
		return nil, err
	}
	p.op = op
	p.memo = memo{on: len(sub.Outer) > 0 && !sub.Volatile, held: account{budget: r.env.Budget, op: "Memoize"}}
	r.plans[sub] = p
	return p, nil
}

// drain runs the plan and keeps its rows; for EXISTS the first batch is enough.
func (p *subplan) drain(ctx context.Context, sub *scalar.Subquery) error {
	if err := p.op.Open(ctx); err != nil {
		return err
	}
	kinds := kindsOf(sub.Plan.(physical.Node).Columns())
	out := &vector.Batch{Cols: make([]*vector.Vector, len(kinds))}
	for i, k := range kinds {
		out.Cols[i] = vector.New(k, 0)
	}
	p.result = out
	for {
		b, err := p.op.Next()
		if b == nil || err != nil {
			return err
		}
		b = b.Flat(nil)
		for i, c := range b.Cols {
			appendRange(out.Cols[i], c, 0, b.N)
		}
		out.N += b.N
		if sub.Kind == scalar.SubExists || sub.Kind == scalar.SubScalar && out.N > 1 {
			return nil
		}
		if err := p.held.set(out.Size()); err != nil {
			return err
		}
	}
}
