package exec

import (
	"context"
	"reflect"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// aggregateOp groups rows and computes aggregates. Over a chain worth several
// workers, each worker groups its share and the groups are merged.
type aggregateOp struct {
	b      *builder
	n      *physical.Aggregate
	inputs []Operator  // one, or one per worker
	tables []*aggTable // likewise
	scan   *sharedScan // of the workers
	source *physical.Scan
	held   account

	ctx  context.Context
	done bool // all input is read
	next int  // group to return next
	out  vector.Batch
}

func (b *builder) newAggregate(n *physical.Aggregate) (Operator, error) {
	o := &aggregateOp{b: b, n: n, held: b.account("Aggregate", n)}
	parallel, scan := b.parallelChain(n.Input)
	ordered := false
	for i := range n.Aggs {
		a := &n.Aggs[i]
		ordered = ordered || a.Fn.Ordered
		parallel = parallel && !a.Distinct && !a.Fn.Ordered && !aggHasSubquery(a)
	}
	var err error
	if parallel && !hasSubquery(n.Keys...) {
		o.source = scan
		o.scan, o.inputs, err = b.buildChains(n.Input, b.workerCount(scan))
	} else {
		o.inputs = make([]Operator, 1)
		serial := b.serial
		b.serial = serial || ordered
		o.inputs[0], err = b.build(n.Input)
		b.serial = serial
	}
	if err != nil {
		return nil, err
	}
	for range o.inputs {
		t, err := newAggTable(b.ev, n)
		if err != nil {
			return nil, err
		}
		o.tables = append(o.tables, t)
	}
	return o, nil
}

// Open implements Operator.
func (o *aggregateOp) Open(ctx context.Context) error {
	o.ctx, o.done, o.next = ctx, false, 0
	if o.scan == nil {
		return o.inputs[0].Open(ctx)
	}
	return nil
}

// Next implements Operator.
func (o *aggregateOp) Next() (*vector.Batch, error) {
	if !o.done {
		if err := o.consume(); err != nil {
			return nil, err
		}
		o.done = true
	}
	t := o.tables[0]
	total := t.groups()
	if o.next >= total {
		return nil, nil
	}
	hi := min(total, o.next+vector.BatchSize)
	err := t.result(o.b.env.Ctx, &o.out, o.next, hi)
	o.next = hi
	return &o.out, err
}

func (o *aggregateOp) consume() error {
	for _, t := range o.tables {
		t.start()
	}
	if o.scan == nil {
		if err := o.feed(o.ctx, 0, &o.held); err != nil {
			return err
		}
		return o.tables[0].finish()
	}
	if err := o.scan.open(o.ctx, o.b, o.source); err != nil {
		return err
	}
	return o.consumeParallel(min(len(o.inputs), max(1, o.scan.scan.Morsels())))
}

// feed adds all rows of input i to its table.
func (o *aggregateOp) feed(ctx context.Context, i int, held *account) error {
	for {
		if err := canceled(ctx); err != nil {
			return err
		}
		b, err := o.inputs[i].Next()
		if b == nil || err != nil {
			return err
		}
		if err := o.tables[i].add(b); err != nil {
			return err
		}
		if err := held.set(o.tables[i].size()); err != nil {
			return err
		}
	}
}

func (o *aggregateOp) consumeParallel(workers int) error {
	ctx, cancel := context.WithCancel(o.ctx)
	defer cancel()
	errs := make(chan error, workers)
	accounts := make([]account, workers)
	for i := range workers {
		accounts[i] = o.held
		accounts[i].held = 0
		go func() {
			err := o.inputs[i].Open(ctx)
			if err == nil {
				err = o.feed(ctx, i, &accounts[i])
			}
			if err != nil {
				cancel()
			}
			errs <- err
		}()
	}
	var first error
	for range workers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	for i := range accounts {
		o.held.held += accounts[i].held
	}
	if o.held.stats != nil {
		o.held.stats.workers.Store(int64(workers))
	}
	if first != nil {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		return first
	}
	for _, t := range o.tables[1:workers] {
		if err := o.tables[0].merge(t); err != nil {
			return err
		}
		t.drop()
		if err := o.held.set(o.tables[0].size()); err != nil {
			return err
		}
	}
	return o.tables[0].finish()
}

// Close implements Operator.
func (o *aggregateOp) Close() error {
	var err error
	for i, in := range o.inputs {
		err = firstError(err, in.Close())
		o.tables[i].drop()
	}
	if o.scan != nil {
		err = firstError(err, o.scan.close())
	}
	o.held.release()
	return err
}

// aggTable is the groups of one worker.
type aggTable struct {
	n    *physical.Aggregate
	ev   *eval.Env
	keys []*eval.Program
	aggs []*aggRun

	group  *grouper // nil: no keys
	number []uint32 // group of each row of a batch
	vecs   []*vector.Vector
	flat   vector.Batch
	max    int // groups the states have room for
}

func newAggTable(ev *eval.Env, n *physical.Aggregate) (*aggTable, error) {
	t := &aggTable{n: n, ev: ev, vecs: make([]*vector.Vector, len(n.Keys))}
	var err error
	if t.keys, err = compileAll(n.Keys); err != nil {
		return nil, err
	}
	for i := range n.Aggs {
		a, err := newAggRun(ev, &n.Aggs[i])
		if err != nil {
			return nil, err
		}
		t.aggs = append(t.aggs, a)
	}
	return t, nil
}

// start makes the table empty.
func (t *aggTable) start() {
	t.group, t.max = nil, 0
	if len(t.keys) > 0 {
		cols := make([]columnType, len(t.keys))
		for i, k := range t.n.Keys {
			typ := k.ResultType()
			cols[i] = columnType{typ, typ.Kind()}
		}
		t.group = newGrouper(cols)
	}
	for _, a := range t.aggs {
		a.start()
	}
	t.room()
}

// drop releases the memory of the groups.
func (t *aggTable) drop() {
	t.group = nil
	for _, a := range t.aggs {
		a.state, a.distinct, a.buffer = nil, nil, nil
	}
}

func (t *aggTable) groups() int {
	if t.group == nil {
		return 1
	}
	return t.group.count()
}

// room makes the states hold all groups.
func (t *aggTable) room() {
	n := t.groups()
	if n <= t.max {
		return
	}
	t.max = n
	for _, a := range t.aggs {
		a.state.Grow(n)
	}
}

func (t *aggTable) size() int64 {
	var s int64
	if t.group != nil {
		s = t.group.size()
	}
	for _, a := range t.aggs {
		s += a.size()
	}
	return s
}

func (t *aggTable) add(b *vector.Batch) error {
	b = b.Flat(&t.flat)
	var groups []uint32
	if t.group != nil {
		for i, p := range t.keys {
			v, err := p.Eval(t.ev, b)
			if err != nil {
				return err
			}
			t.vecs[i] = v
		}
		if cap(t.number) < b.N {
			t.number = make([]uint32, max(b.N, vector.BatchSize))
		}
		groups = t.number[:b.N]
		t.group.assign(t.vecs, b.N, groups)
		t.room()
	}
	for _, a := range t.aggs {
		if err := a.add(b, groups); err != nil {
			return err
		}
	}
	return nil
}

// merge adds the groups of other, which has seen its whole input.
func (t *aggTable) merge(other *aggTable) error {
	to := make([]uint32, other.groups())
	if t.group != nil {
		for lo := 0; lo < len(to); lo += vector.BatchSize {
			hi := min(len(to), lo+vector.BatchSize)
			for k := range t.keys {
				v := vector.New(t.n.Keys[k].ResultType().Kind(), hi-lo)
				other.group.appendKey(k, v, lo, hi)
				t.vecs[k] = v
			}
			t.group.assign(t.vecs, hi-lo, to[lo:hi])
		}
		t.room()
	}
	for i, a := range t.aggs {
		if err := a.state.Merge(other.aggs[i].state, to); err != nil {
			return err
		}
	}
	return nil
}

// finish runs what had to wait for the last row.
func (t *aggTable) finish() error {
	for _, a := range t.aggs {
		if err := a.finish(); err != nil {
			return err
		}
	}
	return nil
}

// result makes out hold groups lo..hi-1.
func (t *aggTable) result(c *functions.Ctx, out *vector.Batch, lo, hi int) error {
	shape(out, len(t.keys)+len(t.aggs))
	out.N = hi - lo
	for i := range t.keys {
		v := out.Cols[i]
		v.Reset(t.n.Keys[i].ResultType().Kind())
		t.group.appendKey(i, v, lo, hi)
	}
	for i, a := range t.aggs {
		v := out.Cols[len(t.keys)+i]
		v.Reset(a.call.Typ.Kind())
		if err := a.state.Result(c, v, lo, hi); err != nil {
			return err
		}
	}
	return nil
}

// aggRun is one aggregate of one worker.
type aggRun struct {
	call   *logical.AggCall
	ev     *eval.Env
	args   []*eval.Program
	filter *eval.Program
	state  functions.AggState

	vecs   []*vector.Vector
	flats  []vector.Vector // arguments without dictionary
	picked []vector.Vector // arguments of the rows that count
	sel    []int32
	groups []uint32

	distinct *grouper // over (group, arguments)
	numbers  []uint32
	order    []scalarKey
	buffer   *orderedRows // input to be sorted first
}

// scalarKey is a compiled sort key.
type scalarKey struct {
	prog *eval.Program
	spec sortSpec
	arg  int // DISTINCT: the argument that the key is
}

func newAggRun(ev *eval.Env, c *logical.AggCall) (*aggRun, error) {
	a := &aggRun{call: c, ev: ev, vecs: make([]*vector.Vector, len(c.Args)),
		flats: make([]vector.Vector, len(c.Args)), picked: make([]vector.Vector, len(c.Args))}
	var err error
	if a.args, err = compileAll(c.Args); err != nil {
		return nil, err
	}
	if c.Filter != nil {
		if a.filter, err = eval.Compile(c.Filter); err != nil {
			return nil, err
		}
	}
	if !c.Fn.Ordered {
		return a, nil
	}
	keys := c.OrderBy
	if c.Distinct && len(keys) == 0 { // as PostgreSQL, which finds duplicates by sorting
		for _, arg := range c.Args {
			keys = append(keys, logical.SortKey{Expr: arg})
		}
	}
	if a.order, err = compileKeys(keys); err != nil {
		return nil, err
	}
	for i, k := range keys {
		a.order[i].arg = max(0, slices.IndexFunc(c.Args, func(arg scalar.Expr) bool { return reflect.DeepEqual(arg, k.Expr) }))
	}
	return a, nil
}

func argTypes(exprs []scalar.Expr) []types.Type {
	out := make([]types.Type, len(exprs))
	for i, e := range exprs {
		out[i] = e.ResultType()
	}
	return out
}

func (a *aggRun) start() {
	argTypes := argTypes(a.call.Args)
	a.state = a.call.Fn.New(argTypes)
	if a.call.Distinct {
		cols := []columnType{{types.T(types.Oid), vector.Uint32}}
		for _, t := range argTypes {
			cols = append(cols, columnType{t, t.Kind()})
		}
		a.distinct = newGrouper(cols)
	}
	if len(a.order) > 0 {
		a.buffer = newOrderedRows(argTypes, a.order)
	}
}

func (a *aggRun) size() int64 {
	s := a.state.Size()
	if a.distinct != nil {
		s += a.distinct.size()
	}
	if a.buffer != nil {
		s += a.buffer.size()
	}
	return s
}

// add adds the rows of b; groups is nil when there is one group.
func (a *aggRun) add(b *vector.Batch, groups []uint32) error {
	n := b.N
	if a.filter != nil {
		var err error
		if a.sel, err = a.filter.Filter(a.ev, b, a.sel[:0]); err != nil {
			return err
		}
		if len(a.sel) == 0 {
			return nil
		}
		if len(a.sel) < n {
			return a.addSelected(b, groups)
		}
	}
	return a.addRows(b, groups)
}

// addSelected adds rows sel of b. The arguments are computed on these rows
// alone: others may make them fail.
func (a *aggRun) addSelected(b *vector.Batch, groups []uint32) error {
	var part vector.Batch
	gatherRows(&part, b, a.sel)
	if groups == nil {
		return a.addRows(&part, nil)
	}
	a.groups = a.groups[:0]
	for _, i := range a.sel {
		a.groups = append(a.groups, groups[i])
	}
	return a.addRows(&part, a.groups)
}

func (a *aggRun) addRows(b *vector.Batch, groups []uint32) error {
	n := b.N
	for i, p := range a.args {
		v, err := p.Eval(a.ev, b)
		if err != nil {
			return err
		}
		if v.Dict != nil && (a.call.Fn.Name != "count" || a.distinct != nil) {
			v = v.Flat(&a.flats[i])
		}
		a.vecs[i] = v
	}
	if a.distinct != nil {
		if n, groups = a.dropRepeated(n, groups); n == 0 {
			return nil
		}
	}
	if a.buffer != nil {
		return a.buffer.addBatch(a.ev, b, a.vecs, groups, n)
	}
	return a.state.Update(groups, a.vecs, n)
}

// dropRepeated keeps in vecs the rows whose arguments are new in their group.
func (a *aggRun) dropRepeated(n int, groups []uint32) (int, []uint32) {
	key := &vector.Vector{Kind: vector.Uint32, N: n, Const: groups == nil, U32: groups}
	if groups == nil {
		key.U32 = []uint32{0}
	}
	if cap(a.numbers) < n {
		a.numbers = make([]uint32, max(n, vector.BatchSize))
	}
	numbers := a.numbers[:n]
	seen := uint32(a.distinct.count())
	a.distinct.assign(append([]*vector.Vector{key}, a.vecs...), n, numbers)
	keep := a.sel[:0]
	var kept []uint32
	for i, x := range numbers {
		if x == seen {
			seen++
			keep = append(keep, int32(i))
			if groups != nil {
				kept = append(kept, groups[i])
			}
		}
	}
	a.sel = keep
	for i, v := range a.vecs {
		v.GatherInto(&a.picked[i], keep)
		a.vecs[i] = &a.picked[i]
	}
	return len(keep), kept
}

// finish sorts the rows of an ordered aggregate and adds them.
func (a *aggRun) finish() error {
	if a.buffer == nil {
		return nil
	}
	err := a.buffer.replay(func(groups []uint32, args []*vector.Vector, n int) error {
		return a.state.Update(groups, args, n)
	})
	a.buffer = nil
	return err
}
