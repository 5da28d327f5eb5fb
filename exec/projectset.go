package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
	"tsdb/sql/functions"
)

// projectSetOp runs set-returning functions for each row of its input, in step.
type projectSetOp struct {
	Operator // input
	n        *physical.ProjectSet
	ev       *eval.Env
	calls    []*setCall

	ctx    context.Context
	batch  *vector.Batch // input rows in work
	row    int
	number int64 // rows made of the input row, -1: its calls are not started
	flat   vector.Batch
	out    vector.Batch
}

// setCall is one function while it runs for an input row.
type setCall struct {
	fn     *functions.SetReturning // nil: the argument is the one row
	args   []*eval.Program
	kinds  []vector.Kind
	values []*vector.Vector // arguments of the batch
	one    []*vector.Vector // arguments of the row
	rows   functions.Rows
	buffer vector.Batch
	at     int // next row of buffer
	done   bool
}

func (b *builder) newProjectSet(n *physical.ProjectSet) (Operator, error) {
	in, err := b.build(n.Input)
	if err != nil {
		return nil, err
	}
	o := &projectSetOp{Operator: in, n: n, ev: b.ev}
	for _, c := range n.Calls {
		s := &setCall{fn: c.Fn, kinds: kindsOf(c.Cols), values: make([]*vector.Vector, len(c.Args))}
		if s.args, err = compileAll(c.Args); err != nil {
			return nil, err
		}
		for range c.Args {
			s.one = append(s.one, &vector.Vector{})
		}
		shape(&s.buffer, len(s.kinds))
		o.calls = append(o.calls, s)
	}
	return o, nil
}

// Open implements Operator.
func (o *projectSetOp) Open(ctx context.Context) error {
	o.ctx, o.batch = ctx, nil
	kinds := kindsOf(o.n.Columns())
	shape(&o.out, len(kinds))
	for i, k := range kinds {
		o.out.Cols[i].Reset(k)
	}
	return o.Operator.Open(ctx)
}

// Next implements Operator.
func (o *projectSetOp) Next() (*vector.Batch, error) {
	for _, c := range o.out.Cols {
		c.Reset(c.Kind)
	}
	o.out.N = 0
	for o.out.N < vector.BatchSize {
		more, err := o.step()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if o.out.N == 0 {
		return nil, nil
	}
	return &o.out, nil
}

// step makes some rows of the input row in work, or takes the next; false:
// there is no more.
func (o *projectSetOp) step() (bool, error) {
	if o.batch == nil {
		return o.nextBatch()
	}
	if err := canceled(o.ctx); err != nil {
		return false, err
	}
	if o.number < 0 {
		o.number = 0
		for _, c := range o.calls {
			if err := c.start(o.ev.Ctx, o.row); err != nil {
				return false, err
			}
		}
	}
	n := vector.BatchSize - o.out.N
	live := false
	for _, c := range o.calls {
		if err := c.fill(); err != nil {
			return false, err
		}
		if left := c.buffer.N - c.at; left > 0 {
			live, n = true, min(n, left)
		}
	}
	if live {
		o.emit(n)
		return true, nil
	}
	o.number = -1
	if o.row++; o.row == o.batch.N {
		o.batch = nil
	}
	return true, nil
}

func (o *projectSetOp) nextBatch() (bool, error) {
	b, err := o.Operator.Next()
	if b == nil || err != nil {
		return false, err
	}
	o.batch, o.row, o.number = b.Flat(&o.flat), 0, -1
	for _, c := range o.calls {
		for i, p := range c.args {
			if c.values[i], err = p.Eval(o.ev, o.batch); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// start opens the call for a row.
func (c *setCall) start(ctx *functions.Ctx, row int) error {
	for i, v := range c.values {
		c.one[i].Reset(v.Kind)
		c.one[i].AppendFrom(v, row)
	}
	c.at, c.buffer.N, c.done = 0, 0, false
	if c.fn == nil {
		c.buffer.Cols[0].Reset(c.kinds[0])
		c.buffer.Cols[0].AppendFrom(c.one[0], 0)
		c.buffer.N, c.done = 1, true
		return nil
	}
	var err error
	c.rows, err = c.fn.Open(ctx, c.one)
	return err
}

// fill makes the buffer have rows unless the call has no more.
func (c *setCall) fill() error {
	for !c.done && c.at == c.buffer.N {
		for i, k := range c.kinds {
			c.buffer.Cols[i].Reset(k)
		}
		c.at, c.buffer.N = 0, 0
		more, err := c.rows.Next(&c.buffer, vector.BatchSize)
		if err != nil {
			return err
		}
		c.buffer.N = c.buffer.Cols[0].N
		c.done = !more
	}
	return nil
}

// emit makes n rows: each call's next rows, NULLs of calls without more.
func (o *projectSetOp) emit(n int) {
	for i, c := range o.batch.Cols {
		for range n {
			o.out.Cols[i].AppendFrom(c, o.row)
		}
	}
	col := len(o.batch.Cols)
	for _, c := range o.calls {
		some := c.at < c.buffer.N
		for _, v := range c.buffer.Cols {
			dst := o.out.Cols[col]
			col++
			if some {
				appendRange(dst, v, c.at, c.at+n)
				continue
			}
			for range n {
				dst.AppendNull()
			}
		}
		if some {
			c.at += n
		}
	}
	if o.n.Ordinality {
		for range n {
			o.number++
			o.out.Cols[col].AppendInt64(o.number)
		}
	}
	o.out.N += n
}

// Close implements Operator.
func (o *projectSetOp) Close() error {
	o.batch = nil
	for _, c := range o.calls {
		c.rows = nil
	}
	return o.Operator.Close()
}
