package exec

import (
	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
)

// projectOp computes the output columns.
type projectOp struct {
	Operator // input
	ev       *eval.Env
	exprs    []*eval.Program
	flat     vector.Batch
	out      vector.Batch
}

func (b *builder) newProject(n *physical.Project, source *sharedScan) (Operator, error) {
	in, err := b.input(n.Input, source)
	if err != nil {
		return nil, err
	}
	progs, err := compileAll(n.Exprs)
	if err != nil {
		return nil, err
	}
	return &projectOp{Operator: in, ev: b.ev, exprs: progs}, nil
}

// Next implements Operator.
func (o *projectOp) Next() (*vector.Batch, error) {
	in, err := o.Operator.Next()
	if in == nil || err != nil {
		return nil, err
	}
	in = in.Flat(&o.flat)
	o.out.Cols = o.out.Cols[:0]
	for _, p := range o.exprs {
		v, err := p.Eval(o.ev, in)
		if err != nil {
			return nil, err
		}
		o.out.Cols = append(o.out.Cols, v)
	}
	o.out.N = in.N
	return &o.out, nil
}
