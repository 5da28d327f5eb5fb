package exec

import (
	"context"
	"reflect"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// aggRun is one aggregate of one worker.
type aggRun struct {
	call   *logical.AggCall
	ev     *eval.Env
	args   []*eval.Program
	filter *eval.Program
	state  functions.AggState
	types  []types.Type // of the arguments

	vecs   []*vector.Vector
	flats  []vector.Vector // arguments without dictionary
	picked []vector.Vector // arguments of the rows that count
	sel    []int32
	groups []uint32

	distinct *grouper   // over (group, arguments)
	held     account    // of distinct
	repeats  bool       // distinct was emptied: the sorted rows have repetitions
	set      *rowSorter // of an aggregate without order: what distinct held
	setHeld  account
	numbers  []uint32

	order    []scalarKey
	buffer   *rowSorter // rows to be sorted first, by group and order
	rowsHeld account
	keyVecs  []*vector.Vector
	load     []uint32      // rows of the buffer by group
	sorted   *vector.Batch // rows of the buffer in work: arguments, group
	at       int
	last     vector.Batch // the row before, of a DISTINCT with repetitions
}

// scalarKey is a compiled sort key.
type scalarKey struct {
	prog *eval.Program
	spec sortSpec
	arg  int // the argument that the key is, -1: none
}

func newAggRun(ev *eval.Env, c *logical.AggCall, held account) (*aggRun, error) {
	a := &aggRun{call: c, ev: ev, vecs: make([]*vector.Vector, len(c.Args)), types: argTypes(c.Args),
		flats: make([]vector.Vector, len(c.Args)), picked: make([]vector.Vector, len(c.Args)),
		held: held, setHeld: held, rowsHeld: held}
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
		a.order[i].arg = slices.IndexFunc(c.Args, func(arg scalar.Expr) bool { return reflect.DeepEqual(arg, k.Expr) })
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

// groupType is the type of group numbers.
var groupType = types.T(types.Oid)

// collects reports whether the state grows with its rows instead of its groups.
func (a *aggRun) collects() bool { return a.call.Fn.Ordered || a.call.Fn.WithinGroup }

// start makes the aggregate empty. gather: keep the rows of a state that grows
// with them, sorted by group.
func (a *aggRun) start(ctx context.Context, gather bool) {
	a.state = a.call.Fn.New(a.types)
	a.repeats, a.load, a.sorted, a.at, a.last.N = false, nil, nil, 0, 0
	a.distinct, a.buffer, a.set = nil, nil, nil
	if a.call.Distinct {
		a.distinct = newGrouper(a.distinctTypes())
	}
	if len(a.order) > 0 || gather && a.collects() {
		a.startBuffer(ctx)
	} else if a.call.Distinct {
		a.startSet(ctx)
	}
}

func (a *aggRun) distinctTypes() []columnType {
	cols := []columnType{{groupType, vector.Uint32}}
	for _, t := range a.types {
		cols = append(cols, columnType{t, t.Kind()})
	}
	return cols
}

// drop releases memory and removes files.
func (a *aggRun) drop() error {
	var err error
	if a.buffer != nil {
		err = a.buffer.close()
	}
	if a.set != nil {
		err = firstError(err, a.set.close())
	}
	a.state, a.distinct, a.buffer, a.set, a.sorted, a.load = nil, nil, nil, nil, nil, nil
	a.held.release()
	return err
}

// room makes the state hold n groups.
func (a *aggRun) room(n int) {
	if a.buffer == nil {
		a.state.Grow(n)
		return
	}
	for len(a.load) < n {
		a.load = append(a.load, 0)
	}
}

// size is what the table accounts for: rows and distinct values have accounts of their own.
func (a *aggRun) size() int64 { return a.state.Size() + int64(cap(a.load))*4 }

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
		if a.buffer == nil {
			a.number(n, groups)
			return a.accountDistinct()
		}
		if n, groups = a.dropRepeated(n, groups); n == 0 {
			return nil
		}
	}
	if a.buffer != nil {
		return a.keep(b, groups, n)
	}
	return a.state.Update(groups, a.vecs, n)
}

// dropRepeated keeps in vecs the rows whose arguments are new in their group.
func (a *aggRun) dropRepeated(n int, groups []uint32) (int, []uint32) {
	seen := uint32(a.distinct.count())
	numbers := a.number(n, groups)
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

// number numbers the rows among the distinct ones.
func (a *aggRun) number(n int, groups []uint32) []uint32 {
	key := &vector.Vector{Kind: vector.Uint32, N: n, Const: groups == nil, U32: groups}
	if groups == nil {
		key.U32 = []uint32{0}
	}
	a.numbers = numbersFor(a.numbers, n)
	a.distinct.assign(append([]*vector.Vector{key}, a.vecs...), n, a.numbers)
	return a.numbers
}

// finish ends the input.
func (a *aggRun) finish() error {
	if a.buffer != nil {
		a.distinct = nil
		a.held.release()
		return a.buffer.finish()
	}
	if a.distinct != nil {
		return a.addDistinct()
	}
	return nil
}

// until returns where the groups from lo on end whose rows may be in memory at
// once, at most hi.
func (a *aggRun) until(lo, hi int) int {
	if a.buffer == nil || len(a.buffer.runs) == 0 {
		return hi
	}
	most := max(64, a.rowsHeld.share/a.buffer.rowSize())
	var n int64
	for g := lo; g < hi; g++ {
		if n += int64(a.load[g]); n > most && g > lo {
			return g
		}
	}
	return hi
}

// result appends the results of groups lo..hi-1; groups come in ascending order.
func (a *aggRun) result(c *functions.Ctx, out *vector.Vector, lo, hi int) error {
	if a.buffer == nil {
		return a.state.Result(c, out, lo, hi)
	}
	a.state = a.call.Fn.New(a.types)
	a.state.Grow(hi - lo)
	if err := a.replay(lo, hi); err != nil {
		return err
	}
	return a.state.Result(c, out, 0, hi-lo)
}
