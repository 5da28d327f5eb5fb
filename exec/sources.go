package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// valuesOp yields rows of expressions.
type valuesOp struct {
	ev  *eval.Env
	n   *physical.Values
	ctx context.Context
	at  int
	out vector.Batch
}

// Open implements Operator.
func (o *valuesOp) Open(ctx context.Context) error {
	o.ctx, o.at = ctx, 0
	return nil
}

// Next implements Operator.
func (o *valuesOp) Next() (*vector.Batch, error) {
	hi := min(len(o.n.Rows), o.at+vector.BatchSize)
	if o.at == hi {
		return nil, nil
	}
	if err := canceled(o.ctx); err != nil {
		return nil, err
	}
	shape(&o.out, len(o.n.Cols))
	for i, c := range o.n.Cols {
		o.out.Cols[i].Reset(c.Type.Kind())
	}
	for _, row := range o.n.Rows[o.at:hi] {
		for i, e := range row {
			v, err := o.value(e)
			if err != nil {
				return nil, err
			}
			o.out.Cols[i].AppendFrom(v, 0)
		}
	}
	o.out.N = hi - o.at
	o.at = hi
	return &o.out, nil
}

func (o *valuesOp) value(e scalar.Expr) (*vector.Vector, error) {
	if c, ok := e.(*scalar.Const); ok {
		return c.Value, nil
	}
	return eval.Constant(o.ev, e)
}

// Close implements Operator.
func (o *valuesOp) Close() error { return nil }

// givenOp hands on what the caller of the plan brings, of the columns the first.
type givenOp struct {
	env   *Env
	width int
	out   vector.Batch
}

// Open implements Operator.
func (o *givenOp) Open(context.Context) error { return nil }

// Next implements Operator.
func (o *givenOp) Next() (*vector.Batch, error) {
	for {
		b, err := o.env.Given()
		if b == nil || err != nil {
			return nil, err
		}
		if b.N > 0 {
			o.out.Cols, o.out.N = append(o.out.Cols[:0], b.Cols[:o.width]...), b.N
			return &o.out, nil
		}
	}
}

// Close implements Operator.
func (o *givenOp) Close() error { return nil }

// functionOp runs a set-returning function.
type functionOp struct {
	ev    *eval.Env
	n     *physical.Function
	ctx   context.Context
	rows  functions.Rows
	done  bool
	count int64 // rows returned
	out   vector.Batch
	ord   vector.Vector
}

// Open implements Operator.
func (o *functionOp) Open(ctx context.Context) error {
	o.ctx, o.rows, o.done, o.count = ctx, nil, false, 0
	return nil
}

// start evaluates the arguments and opens the call.
func (o *functionOp) start() error {
	args := make([]*vector.Vector, len(o.n.Args))
	for i, e := range o.n.Args {
		v, err := eval.Constant(o.ev, e)
		if err != nil {
			return err
		}
		args[i] = v
	}
	var err error
	o.rows, err = o.n.Fn.Open(o.ev.Ctx, args)
	return err
}

// Next implements Operator.
func (o *functionOp) Next() (*vector.Batch, error) {
	if o.rows == nil && !o.done {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	for !o.done {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		n := len(o.n.Cols)
		if o.n.Ordinality {
			n--
		}
		shape(&o.out, n)
		for i := range n {
			o.out.Cols[i].Reset(o.n.Cols[i].Type.Kind())
		}
		o.out.N = 0
		more, err := o.rows.Next(&o.out, vector.BatchSize)
		if err != nil {
			return nil, err
		}
		o.done = !more
		if n > 0 {
			o.out.N = o.out.Cols[0].N
		}
		if o.out.N > 0 {
			return o.numbered(), nil
		}
	}
	return nil, nil
}

// numbered adds the column of WITH ORDINALITY.
func (o *functionOp) numbered() *vector.Batch {
	if o.n.Ordinality {
		o.ord.Reset(types.T(types.Int8).Kind())
		for range o.out.N {
			o.count++
			o.ord.AppendInt64(o.count)
		}
		o.out.Cols = append(o.out.Cols, &o.ord)
	}
	return &o.out
}

// Close implements Operator.
func (o *functionOp) Close() error {
	o.rows, o.done = nil, true
	return nil
}

// virtualOp reads a computed relation.
type virtualOp struct {
	env  *Env
	n    *physical.Virtual
	ctx  context.Context
	rows *vector.Batch
	at   int
	out  vector.Batch
}

// Open implements Operator.
func (o *virtualOp) Open(ctx context.Context) error {
	o.ctx, o.at = ctx, 0
	b, err := o.n.Relation.Rows(o.env.Ctx)
	if err != nil {
		return err
	}
	o.rows = b.Flat(nil)
	return nil
}

// Next implements Operator.
func (o *virtualOp) Next() (*vector.Batch, error) {
	if err := canceled(o.ctx); err != nil {
		return nil, err
	}
	if o.rows == nil || o.at >= o.rows.N {
		return nil, nil
	}
	lo, hi := o.at, min(o.rows.N, o.at+vector.BatchSize)
	o.at = hi
	if lo == 0 && hi == o.rows.N {
		return o.rows, nil
	}
	return slice(&o.out, o.rows, lo, hi), nil
}

// Close implements Operator.
func (o *virtualOp) Close() error {
	o.rows = nil
	return nil
}
