package exec

import (
	"context"

	"tsdb/colstore/vector"
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
