package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
)

// appendOp yields the rows of its inputs one after the other.
type appendOp struct {
	ins    []Operator
	ctx    context.Context
	at     int
	opened int // inputs that were opened
}

func (b *builder) newAppend(n *physical.Append) (Operator, error) {
	o := &appendOp{}
	for _, in := range n.Ins {
		op, err := b.build(in)
		if err != nil {
			return nil, err
		}
		o.ins = append(o.ins, op)
	}
	return o, nil
}

// Open implements Operator.
func (o *appendOp) Open(ctx context.Context) error {
	o.ctx, o.at, o.opened = ctx, 0, 0
	return nil
}

// Next implements Operator.
func (o *appendOp) Next() (*vector.Batch, error) {
	for o.at < len(o.ins) {
		if o.opened == o.at {
			o.opened++
			if err := o.ins[o.at].Open(o.ctx); err != nil {
				return nil, err
			}
		}
		b, err := o.ins[o.at].Next()
		if b != nil || err != nil {
			return b, err
		}
		if err := o.ins[o.at].Close(); err != nil {
			return nil, err
		}
		o.at++
	}
	return nil, nil
}

// Close implements Operator.
func (o *appendOp) Close() error {
	var err error
	for _, in := range o.ins[:o.opened] {
		err = firstError(err, in.Close())
	}
	o.at = len(o.ins)
	return err
}

// setOp is INTERSECT and EXCEPT: it counts the right rows per distinct value,
// then passes or drops left rows by these counts.
type setOp struct {
	n           *physical.SetOp
	left, right Operator
	held        account

	ctx    context.Context
	built  bool
	group  *grouper
	counts []int64 // right rows by number
	nums   []uint32
	sel    []int32
	flat   vector.Batch
	out    vector.Batch
}

func (b *builder) newSetOp(n *physical.SetOp) (Operator, error) {
	l, err := b.build(n.Left)
	if err != nil {
		return nil, err
	}
	r, err := b.build(n.Right)
	return &setOp{n: n, left: l, right: r, held: b.account("SetOp", n)}, err
}

// Open implements Operator.
func (o *setOp) Open(ctx context.Context) error {
	o.ctx, o.built, o.counts = ctx, false, o.counts[:0]
	o.group = newGrouper(newColumns(o.n.Cols))
	return firstError(o.left.Open(ctx), o.right.Open(ctx))
}

// Next implements Operator.
func (o *setOp) Next() (*vector.Batch, error) {
	if !o.built {
		if err := o.countRight(); err != nil {
			return nil, err
		}
		o.built = true
	}
	for {
		b, err := o.left.Next()
		if b == nil || err != nil {
			return nil, err
		}
		b = b.Flat(&o.flat)
		if err := o.number(b); err != nil {
			return nil, err
		}
		o.sel = o.sel[:0]
		for i, x := range o.nums {
			if o.passes(&o.counts[x]) {
				o.sel = append(o.sel, int32(i))
			}
		}
		if len(o.sel) > 0 {
			return gatherRows(&o.out, b, o.sel), nil
		}
	}
}

// returned marks a value that was returned and is not to be returned again.
const returned = -1

// passes decides on one left row and updates the count of its value.
func (o *setOp) passes(count *int64) bool {
	intersect := o.n.Kind == logical.Intersect
	if o.n.All {
		if *count > 0 {
			*count--
			return intersect
		}
		return !intersect
	}
	pass := *count > 0
	if !intersect {
		pass = *count == 0
	}
	if pass {
		*count = returned
	}
	return pass
}

func (o *setOp) countRight() error {
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := o.right.Next()
		if b == nil || err != nil {
			return err
		}
		if err := o.number(b.Flat(&o.flat)); err != nil {
			return err
		}
		for _, x := range o.nums {
			o.counts[x]++
		}
	}
}

// number sets nums to the numbers of the rows of b.
func (o *setOp) number(b *vector.Batch) error {
	o.nums = numbersFor(o.nums, b.N)
	o.group.assign(b.Cols, b.N, o.nums)
	for len(o.counts) < o.group.count() {
		o.counts = append(o.counts, 0)
	}
	return o.held.set(o.group.size() + int64(cap(o.counts))*8)
}

// Close implements Operator.
func (o *setOp) Close() error {
	o.group = nil
	o.held.release()
	return firstError(o.left.Close(), o.right.Close())
}
