package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
)

// distinctOp passes the first row of each distinct value of its keys: all
// columns, or the expressions of DISTINCT ON.
type distinctOp struct {
	Operator // input
	ev       *eval.Env
	cols     []columnType
	on       []*eval.Program // nil: all columns
	held     account

	group *grouper
	keys  []*vector.Vector
	nums  []uint32
	sel   []int32
	flat  vector.Batch
	out   vector.Batch
}

func (b *builder) newDistinct(n *physical.Distinct) (Operator, error) {
	serial := b.serial
	b.serial = serial || n.On != nil // the order of the rows counts
	in, err := b.build(n.Input)
	b.serial = serial
	if err != nil {
		return nil, err
	}
	o := &distinctOp{Operator: in, ev: b.ev, held: b.account("Distinct", n)}
	if n.On == nil {
		o.cols = newColumns(n.Columns())
		return o, nil
	}
	for _, t := range argTypes(n.On) {
		o.cols = append(o.cols, columnType{t, t.Kind()})
	}
	o.keys = make([]*vector.Vector, len(n.On))
	o.on, err = compileAll(n.On)
	return o, err
}

// Open implements Operator.
func (o *distinctOp) Open(ctx context.Context) error {
	o.group = newGrouper(o.cols)
	return o.Operator.Open(ctx)
}

// Next implements Operator.
func (o *distinctOp) Next() (*vector.Batch, error) {
	for {
		b, err := o.Operator.Next()
		if b == nil || err != nil {
			return nil, err
		}
		b = b.Flat(&o.flat)
		if err := o.pick(b); err != nil {
			return nil, err
		}
		if len(o.sel) == 0 {
			continue
		}
		if len(o.sel) == b.N {
			return b, nil
		}
		return gatherRows(&o.out, b, o.sel), nil
	}
}

// pick sets sel to the rows of b that are new.
func (o *distinctOp) pick(b *vector.Batch) error {
	keys := b.Cols
	if o.on != nil {
		for i, p := range o.on {
			v, err := p.Eval(o.ev, b)
			if err != nil {
				return err
			}
			o.keys[i] = v
		}
		keys = o.keys
	}
	o.nums = numbersFor(o.nums, b.N)
	seen := uint32(o.group.count())
	if len(o.cols) == 0 { // rows without columns are all equal
		seen = 0
		if o.held.held > 0 {
			seen = 1
		}
	}
	o.group.assign(keys, b.N, o.nums)
	o.sel = o.sel[:0]
	for i, x := range o.nums {
		if x == seen {
			seen++
			o.sel = append(o.sel, int32(i))
		}
	}
	return o.held.set(o.group.size() + 1)
}

// numbersFor returns room for n numbers.
func numbersFor(s []uint32, n int) []uint32 {
	if cap(s) < n {
		s = make([]uint32, max(n, vector.BatchSize))
	}
	return s[:n]
}

// Close implements Operator.
func (o *distinctOp) Close() error {
	o.group = nil
	o.held.release()
	return o.Operator.Close()
}
