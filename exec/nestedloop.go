package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
)

// nestedLoop joins by testing every pair; the right input is kept in memory.
type nestedLoop struct {
	n           *physical.NestedLoop
	left, right Operator
	held        account

	ctx   context.Context
	built bool
	pairs pairs
	row   int
	next  uint32
	flat  vector.Batch

	leftKinds []vector.Kind // of a full join
}

func (b *builder) newNestedLoop(n *physical.NestedLoop) (Operator, error) {
	o := &nestedLoop{n: n, held: b.account("Nested Loop", n)}
	o.pairs = pairs{kind: n.Kind, ev: b.ev}
	var err error
	if o.left, err = b.build(n.Left); err != nil {
		return nil, err
	}
	if o.right, err = b.build(n.Right); err != nil {
		return nil, err
	}
	if n.Kind == logical.Full {
		o.leftKinds = kindsOf(n.Left.Columns())
	}
	if n.Test != nil {
		if o.pairs.test, err = eval.Compile(n.Test); err != nil {
			return nil, err
		}
	}
	if n.On != nil {
		o.pairs.cond, err = eval.Compile(n.On)
	}
	return o, err
}

// Open implements Operator.
func (o *nestedLoop) Open(ctx context.Context) error {
	o.ctx, o.built, o.pairs.left, o.pairs.seen, o.pairs.at = ctx, false, nil, nil, 0
	o.pairs.l, o.pairs.r = o.pairs.l[:0], o.pairs.r[:0]
	o.pairs.right = newRowStore(kindsOf(o.n.Right.Columns()))
	return firstError(o.right.Open(ctx), o.left.Open(ctx))
}

func (o *nestedLoop) build() error {
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := o.right.Next()
		if b == nil || err != nil {
			return err
		}
		b = b.Flat(&o.flat)
		o.pairs.right.add(b.Cols, b.N, nil)
		if err := o.held.set(o.pairs.right.size()); err != nil {
			return err
		}
	}
}

// Next implements Operator.
func (o *nestedLoop) Next() (*vector.Batch, error) {
	if !o.built {
		if err := o.build(); err != nil {
			return nil, err
		}
		o.built = true
	}
	p := &o.pairs
	for {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		if p.left == nil {
			b, err := o.left.Next()
			if err != nil {
				return nil, err
			}
			if b == nil {
				return p.unmatched(o.leftKinds), nil
			}
			p.startLeft(b.Flat(&o.flat))
			o.row, o.next = 0, 0
		}
		done := o.collect()
		out, err := p.flush()
		if err != nil {
			return nil, err
		}
		if out != nil {
			return out, nil
		}
		if done {
			rest := p.rest()
			p.left = nil
			if rest != nil {
				return rest, nil
			}
		}
	}
}

// collect gathers pairs until the batch is full; true: the left batch is through.
func (o *nestedLoop) collect() bool {
	p := &o.pairs
	for ; o.row < p.left.N; o.row, o.next = o.row+1, 0 {
		for ; o.next < uint32(p.right.n) && p.wanted(o.row); o.next++ {
			if p.full() {
				return false
			}
			p.add(int32(o.row), o.next)
		}
	}
	return true
}

// Close implements Operator.
func (o *nestedLoop) Close() error {
	o.pairs.right, o.pairs.left, o.pairs.seen = nil, nil, nil
	o.held.release()
	return firstError(o.left.Close(), o.right.Close())
}
