package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
)

// sortOp orders its input in memory. With a limit it keeps the best rows only,
// dropping the others whenever a batch of them has gathered (top-k).
type sortOp struct {
	in    Operator
	n     *physical.Sort
	ev    *eval.Env
	progs []scalarKey
	scan  *scanOp // may deliver the order by itself
	held  account

	ctx   context.Context
	rows  *rowStore
	keys  *sortKeys
	vecs  []*vector.Vector
	bound uint64 // with a limit: rows whose first key's word is larger cannot be among the best
	full  bool   // bound is set
	sel   []int32
	flat  vector.Batch

	sorted bool
	pass   bool     // the input is in order already
	ids    []uint32 // rows still to return
	out    vector.Batch
}

func (b *builder) newSort(n *physical.Sort) (Operator, error) {
	o := &sortOp{n: n, ev: b.ev, held: b.account("Sort", n)}
	var err error
	if n.Ordered {
		serial := b.serial
		b.serial = true
		o.in, err = b.build(n.Input)
		b.serial = serial
		o.scan = bottomScan(o.in)
	} else {
		o.in, err = b.build(n.Input)
	}
	if err != nil {
		return nil, err
	}
	o.progs, err = compileKeys(n.Keys)
	o.vecs = make([]*vector.Vector, len(o.progs))
	return o, err
}

// bottomScan returns the scan below filters and projections.
func bottomScan(op Operator) *scanOp {
	for {
		switch o := op.(type) {
		case *profiled:
			op = o.Operator
		case *filterOp:
			op = o.Operator
		case *projectOp:
			op = o.Operator
		case *scanOp:
			return o
		default:
			return nil
		}
	}
}

// Open implements Operator.
func (o *sortOp) Open(ctx context.Context) error {
	o.ctx, o.sorted, o.full = ctx, false, false
	if err := o.in.Open(ctx); err != nil {
		return err
	}
	o.pass = o.scan != nil && o.scan.ordered
	o.reset()
	return nil
}

func (o *sortOp) reset() {
	o.rows = newRowStore(kindsOf(o.n.Columns()))
	specs := make([]sortSpec, len(o.progs))
	for i, k := range o.progs {
		specs[i] = k.spec
	}
	o.keys = newSortKeys(specs)
}

// Next implements Operator.
func (o *sortOp) Next() (*vector.Batch, error) {
	if o.pass {
		return o.in.Next()
	}
	if !o.sorted {
		if err := o.consume(); err != nil {
			return nil, err
		}
		o.sorted = true
	}
	if len(o.ids) == 0 {
		return nil, nil
	}
	n := min(len(o.ids), vector.BatchSize)
	shape(&o.out, len(o.rows.kinds))
	for i := range o.rows.kinds {
		o.rows.gather(o.out.Cols[i], i, o.ids[:n])
	}
	o.out.N = n
	o.ids = o.ids[n:]
	return &o.out, nil
}

// sortBytes is what ordering takes per row: two items and an id.
const sortBytes = 36

// slack is how many rows beyond the limit gather before the worst are dropped.
const slack = 4 * vector.BatchSize

func (o *sortOp) consume() error {
	limit := o.n.Limit
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := o.in.Next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := o.add(b.Flat(&o.flat)); err != nil {
			return err
		}
		if limit >= 0 && int64(o.rows.n) >= 2*limit+slack {
			o.prune(int(limit))
		}
		if err := o.held.set(o.rows.size() + o.keys.size()); err != nil {
			return err
		}
	}
	if err := o.held.set(o.rows.size() + o.keys.size() + int64(o.rows.n)*sortBytes); err != nil {
		return err
	}
	o.ids = o.keys.order(o.rows.n)
	if limit >= 0 && int64(len(o.ids)) > limit {
		o.ids = o.ids[:limit]
	}
	return nil
}

func (o *sortOp) add(b *vector.Batch) error {
	for i, k := range o.progs {
		v, err := k.prog.Eval(o.ev, b)
		if err != nil {
			return err
		}
		o.vecs[i] = v
	}
	var sel []int32
	if o.full {
		if sel = o.candidates(b.N); len(sel) == 0 {
			return nil
		}
	}
	o.keys.add(o.vecs, b.N, sel)
	o.rows.add(b.Cols, b.N, sel)
	return nil
}

// candidates returns the rows of the batch that may be among the best.
func (o *sortOp) candidates(n int) []int32 {
	o.sel = o.sel[:0]
	spec, v := o.progs[0].spec, o.vecs[0]
	for i := range n {
		var w uint64
		switch {
		case v.IsNull(i):
			if !spec.nullsFirst {
				w = ^uint64(0)
			}
		case spec.desc:
			w = ^orderWord(spec.typ, v, i)
		default:
			w = orderWord(spec.typ, v, i)
		}
		if w <= o.bound {
			o.sel = append(o.sel, int32(i))
		}
	}
	return o.sel
}

// prune keeps the first limit rows.
func (o *sortOp) prune(limit int) {
	ids := o.keys.order(o.rows.n)[:limit]
	rows, keys := o.rows, o.keys
	o.reset()
	if limit == 0 {
		return
	}
	if len(keys.cols) > 0 {
		o.full, o.bound = true, keys.cols[0].words[ids[limit-1]]
	}
	for lo := 0; lo < len(ids); lo += chunkRows {
		part := ids[lo:min(len(ids), lo+chunkRows)]
		cols := make([]*vector.Vector, len(rows.kinds))
		for i := range cols {
			cols[i] = vector.New(rows.kinds[i], 0)
			rows.gather(cols[i], i, part)
		}
		o.rows.add(cols, len(part), nil)
	}
	for i := range o.keys.cols {
		o.keys.cols[i].copyFrom(&keys.cols[i], ids)
	}
}

// copyFrom makes c hold rows ids of from.
func (c *keyColumn) copyFrom(from *keyColumn, ids []uint32) {
	for _, id := range ids {
		c.words = append(c.words, from.words[id])
		if from.nulls != nil {
			c.nulls = append(c.nulls, from.nulls[id])
		}
	}
	if from.rows == nil {
		return
	}
	v := vector.New(from.rows.kinds[0], 0)
	for lo := 0; lo < len(ids); lo += chunkRows {
		part := ids[lo:min(len(ids), lo+chunkRows)]
		from.rows.gather(v, 0, part)
		c.rows.add([]*vector.Vector{v}, len(part), nil)
	}
}

// Close implements Operator.
func (o *sortOp) Close() error {
	o.rows, o.keys, o.ids = nil, nil, nil
	o.held.release()
	return o.in.Close()
}
