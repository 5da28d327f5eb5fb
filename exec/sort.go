package exec

import (
	"context"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
)

// sortOp orders its input; a limit makes it keep the best rows only.
type sortOp struct {
	in    Operator
	n     *physical.Sort
	ev    *eval.Env
	progs []scalarKey
	scan  *scanOp // may deliver the order by itself
	held  account

	ctx  context.Context
	rows *rowSorter
	vecs []*vector.Vector
	flat vector.Batch

	sorted bool
	pass   bool // the input is in order already
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
	o.rows = newRowSorter(&o.held, kindsOf(n.Columns()), specsOf(o.progs), keyColumns(n.Keys), n.Limit)
	return o, err
}

func specsOf(keys []scalarKey) []sortSpec {
	specs := make([]sortSpec, len(keys))
	for i, k := range keys {
		specs[i] = k.spec
	}
	return specs
}

// keyColumns returns by key the input column that it is, -1: none.
func keyColumns(keys []logical.SortKey) []int {
	out := slices.Repeat([]int{-1}, len(keys))
	for i, k := range keys {
		if c, ok := k.Expr.(*scalar.Column); ok {
			out[i] = c.Index
		}
	}
	return out
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
	o.ctx, o.sorted = ctx, false
	if err := o.in.Open(ctx); err != nil {
		return err
	}
	o.pass = o.scan != nil && o.scan.ordered
	o.rows.start(ctx)
	return nil
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
	return o.rows.next()
}

func (o *sortOp) consume() error {
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := o.in.Next()
		if err != nil {
			return err
		}
		if b == nil {
			return o.rows.finish()
		}
		b = b.Flat(&o.flat)
		for i, k := range o.progs {
			v, err := k.prog.Eval(o.ev, b)
			if err != nil {
				return err
			}
			o.vecs[i] = v
		}
		if err := o.rows.add(b.Cols, o.vecs, b.N); err != nil {
			return err
		}
		if err := o.rows.account(); err != nil {
			return err
		}
	}
}

// Close implements Operator.
func (o *sortOp) Close() error { return firstError(o.rows.close(), o.in.Close()) }
