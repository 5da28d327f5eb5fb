package exec

import (
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
)

// builder makes the operators of one plan or subplan.
type builder struct {
	env *Env
	ev  *eval.Env // of every expression in this plan; its Slots change per run of a correlated subplan
	run *runner   // shared with all subplans
	// serial forbids workers: inside subplans that run per row, and below
	// operators whose result depends on the order of rows.
	serial bool
}

func newBuilder(env *Env) *builder {
	run := newRunner(env)
	return &builder{env: env, run: run, ev: &eval.Env{Ctx: env.Ctx, Run: run}}
}

// build returns the operator of n, wrapped for profiling where asked.
func (b *builder) build(n physical.Node) (Operator, error) {
	if top, scan := b.parallelChain(n); top {
		return b.buildGather(n, scan)
	}
	return b.buildOne(n, nil)
}

// buildOne returns the operator of n itself. source, if not nil, replaces the
// scan at the bottom of a chain with one worker of it.
func (b *builder) buildOne(n physical.Node, source *sharedScan) (Operator, error) {
	op, err := b.operator(n, source)
	if err != nil || !b.env.Profile {
		return op, err
	}
	return &profiled{Operator: op, c: b.run.counters(n)}, nil
}

func (b *builder) input(n physical.Node, source *sharedScan) (Operator, error) {
	if source != nil {
		return b.buildOne(n, source)
	}
	return b.build(n)
}

func (b *builder) operator(n physical.Node, source *sharedScan) (Operator, error) {
	switch n := n.(type) {
	case *physical.Scan:
		return b.newScan(n, source)
	case *physical.Filter:
		return b.newFilter(n, source)
	case *physical.Project:
		return b.newProject(n, source)
	case *physical.Aggregate:
		return b.newAggregate(n)
	case *physical.HashJoin:
		return b.newHashJoin(n, source)
	case *physical.NestedLoop:
		return b.newNestedLoop(n)
	case *physical.Sort:
		return b.newSort(n)
	case *physical.Limit:
		return b.newLimit(n)
	case *physical.Distinct:
		return b.newDistinct(n)
	case *physical.Append:
		return b.newAppend(n)
	case *physical.SetOp:
		return b.newSetOp(n)
	case *physical.Values:
		return &valuesOp{ev: b.ev, n: n}, nil
	case *physical.Function:
		return &functionOp{ev: b.ev, n: n}, nil
	case *physical.Apply:
		return b.newApply(n)
	case *physical.ProjectSet:
		return b.newProjectSet(n)
	case *physical.With:
		return b.newWith(n)
	case *physical.CTEScan:
		return b.newCTEScan(n)
	case *physical.Recursive:
		return b.newRecursion(n)
	case *physical.WorkTable:
		return b.newWorkTable(n)
	case *physical.Given:
		return &givenOp{env: b.env, width: len(n.Cols)}, nil
	case *physical.Virtual:
		return &virtualOp{env: b.env, n: n}, nil
	}
	return nil, pgerr.New(pgerr.InternalError, "unknown plan node %T", n)
}

// account returns the budget account of an operator of n.
func (b *builder) account(name string, n physical.Node) account {
	a := account{budget: b.env.Budget, op: name, space: b.env.Spill}
	if a.spills() {
		a.share = a.budget.limit / sharePart / int64(max(1, b.run.keepers))
	}
	if b.env.Profile {
		a.stats = b.run.counters(n)
	}
	return a
}

func compileAll(exprs []scalar.Expr) ([]*eval.Program, error) {
	out := make([]*eval.Program, len(exprs))
	for i, e := range exprs {
		p, err := eval.Compile(e)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

// hasSubquery reports whether an expression runs a plan, which workers cannot.
func hasSubquery(exprs ...scalar.Expr) bool {
	found := false
	for _, e := range exprs {
		scalar.Walk(e, func(e scalar.Expr) bool {
			if _, ok := e.(*scalar.Subquery); ok {
				found = true
			}
			return !found
		})
	}
	return found
}

func aggHasSubquery(a *logical.AggCall) bool {
	if hasSubquery(a.Args...) || a.Filter != nil && hasSubquery(a.Filter) {
		return true
	}
	for _, k := range a.OrderBy {
		if hasSubquery(k.Expr) {
			return true
		}
	}
	return false
}

// newColumns returns the types of columns with the kinds that store them.
func newColumns(cols []logical.Column) []columnType {
	out := make([]columnType, len(cols))
	for i, c := range cols {
		out[i] = columnType{typ: c.Type, kind: c.Type.Kind()}
	}
	return out
}

// keepers returns how many operators of a plan keep rows.
func keepers(n physical.Node) int {
	count := 0
	switch n.(type) {
	case *physical.Aggregate, *physical.HashJoin, *physical.NestedLoop, *physical.Sort, *physical.Distinct, *physical.SetOp,
		*physical.With, *physical.Recursive:
		count = 1
	}
	for _, in := range n.Inputs() {
		count += keepers(in)
	}
	return count
}
