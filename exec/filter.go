package exec

import (
	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
)

// filterOp keeps the rows for which a condition is true.
type filterOp struct {
	Operator // input
	ev       *eval.Env
	cond     *eval.Program
	flat     vector.Batch
	sel      []int32
	out      vector.Batch
}

func (b *builder) newFilter(n *physical.Filter, source *sharedScan) (Operator, error) {
	in, err := b.input(n.Input, source)
	if err != nil {
		return nil, err
	}
	p, err := eval.Compile(n.Cond)
	if err != nil {
		return nil, err
	}
	return &filterOp{Operator: in, ev: b.ev, cond: p}, nil
}

// Next implements Operator.
func (o *filterOp) Next() (*vector.Batch, error) {
	for {
		in, err := o.Operator.Next()
		if in == nil || err != nil {
			return nil, err
		}
		in = in.Flat(&o.flat)
		o.sel, err = o.cond.Filter(o.ev, in, o.sel[:0])
		if err != nil {
			return nil, err
		}
		switch len(o.sel) {
		case 0:
			continue
		case in.N:
			return in, nil
		}
		return gatherRows(&o.out, in, o.sel), nil
	}
}
