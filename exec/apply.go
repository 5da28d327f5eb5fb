package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
)

// applyOp runs its right side once per left row, whose values it gives it as
// slots, and joins the row with what comes.
type applyOp struct {
	n           *physical.Apply
	left, right Operator
	ev          *eval.Env
	outer       []*eval.Program
	cond        *eval.Program    // nil: every right row counts
	slots       []*vector.Vector // of the right side: one row each

	ctx     context.Context
	batch   *vector.Batch // left rows in work
	values  []*vector.Vector
	row     int
	open    bool // the right side runs for row
	matched bool
	rows    *vector.Batch // right rows in work
	at      int           // the next of them, of sel if there is a condition
	sel     []int32
	end     int
	flat    vector.Batch
	rflat   vector.Batch
	pair    vector.Batch
	out     vector.Batch
}

func (b *builder) newApply(n *physical.Apply) (Operator, error) {
	o := &applyOp{n: n, ev: b.ev, slots: make([]*vector.Vector, len(n.Outer)), values: make([]*vector.Vector, len(n.Outer))}
	for i := range o.slots {
		o.slots[i] = &vector.Vector{}
	}
	var err error
	if o.left, err = b.build(n.Left); err != nil {
		return nil, err
	}
	inner := &builder{env: b.env, run: b.run, serial: true,
		ev: &eval.Env{Ctx: b.env.Ctx, Run: b.run, Slots: o.slots}}
	if o.right, err = inner.build(n.Right); err != nil {
		return nil, err
	}
	if o.outer, err = compileAll(n.Outer); err != nil {
		return nil, err
	}
	if n.On != nil {
		o.cond, err = eval.Compile(n.On)
	}
	return o, err
}

// Open implements Operator.
func (o *applyOp) Open(ctx context.Context) error {
	o.ctx, o.batch, o.rows, o.open = ctx, nil, nil, false
	kinds := kindsOf(o.n.Columns())
	shape(&o.out, len(kinds))
	for i, k := range kinds {
		o.out.Cols[i].Reset(k)
	}
	return o.left.Open(ctx)
}

// Next implements Operator.
func (o *applyOp) Next() (*vector.Batch, error) {
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

// step goes on by one batch of either side; false: there is no more.
func (o *applyOp) step() (bool, error) {
	switch {
	case o.batch == nil:
		return o.nextBatch()
	case o.rows != nil:
		o.emit()
		return true, nil
	case !o.open:
		return true, o.start()
	}
	rows, err := o.right.Next()
	if err != nil {
		return false, err
	}
	if rows == nil {
		return true, o.finishRow()
	}
	return true, o.match(rows.Flat(&o.rflat))
}

func (o *applyOp) nextBatch() (bool, error) {
	b, err := o.left.Next()
	if b == nil || err != nil {
		return false, err
	}
	o.batch, o.row = b.Flat(&o.flat), 0
	for i, p := range o.outer {
		if o.values[i], err = p.Eval(o.ev, o.batch); err != nil {
			return false, err
		}
	}
	return true, nil
}

// start runs the right side for the next left row.
func (o *applyOp) start() error {
	if err := canceled(o.ctx); err != nil {
		return err
	}
	for i, v := range o.values {
		o.slots[i].Reset(v.Kind)
		o.slots[i].AppendFrom(v, o.row)
	}
	o.open, o.matched = true, false
	return o.right.Open(o.ctx)
}

// match takes right rows into work, those that the condition keeps.
func (o *applyOp) match(rows *vector.Batch) error {
	o.rows, o.at, o.end = rows, 0, rows.N
	if o.cond != nil {
		o.pair.Cols, o.pair.N = o.pair.Cols[:0], rows.N
		for _, c := range o.batch.Cols {
			v := vector.New(c.Kind, 1)
			v.AppendFrom(c, o.row)
			v.Const, v.N = true, rows.N
			o.pair.Cols = append(o.pair.Cols, v)
		}
		o.pair.Cols = append(o.pair.Cols, rows.Cols...)
		var err error
		if o.sel, err = o.cond.Filter(o.ev, &o.pair, o.sel[:0]); err != nil {
			return err
		}
		o.end = len(o.sel)
	}
	if o.end == 0 {
		o.rows = nil
		return nil
	}
	o.matched = true
	return nil
}

// emit joins the left row with as many of the right rows as there is room for.
func (o *applyOp) emit() {
	n := min(o.end-o.at, vector.BatchSize-o.out.N)
	for i, c := range o.batch.Cols {
		for range n {
			o.out.Cols[i].AppendFrom(c, o.row)
		}
	}
	for i, c := range o.rows.Cols {
		dst := o.out.Cols[len(o.batch.Cols)+i]
		if o.cond != nil {
			appendRows(dst, c, o.sel[o.at:o.at+n])
		} else {
			appendRange(dst, c, o.at, o.at+n)
		}
	}
	o.out.N += n
	if o.at += n; o.at == o.end {
		o.rows = nil
	}
}

// finishRow closes the right side after its last row.
func (o *applyOp) finishRow() error {
	o.open = false
	if o.n.Kind == logical.Left && !o.matched {
		for i, c := range o.batch.Cols {
			o.out.Cols[i].AppendFrom(c, o.row)
		}
		for _, c := range o.out.Cols[len(o.batch.Cols):] {
			c.AppendNull()
		}
		o.out.N++
	}
	if o.row++; o.row == o.batch.N {
		o.batch = nil
	}
	return o.right.Close()
}

// Close implements Operator.
func (o *applyOp) Close() error {
	o.batch, o.rows = nil, nil
	var err error
	if o.open {
		o.open = false
		err = o.right.Close()
	}
	return firstError(err, o.left.Close())
}
