package exec

import (
	"context"
	"math"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
)

// limitOp skips rows, passes some, and stops.
type limitOp struct {
	Operator // input
	n        *physical.Limit
	ev       *eval.Env
	started  bool
	skip     int64
	left     int64
	ties     *ties // WITH TIES; nil: without
	flat     vector.Batch
	out      vector.Batch
}

func (b *builder) newLimit(n *physical.Limit) (Operator, error) {
	in, err := b.build(n.Input)
	if err != nil {
		return nil, err
	}
	o := &limitOp{Operator: in, n: n, ev: b.ev}
	if n.Ties != nil {
		o.ties, err = newTies(b.ev, n.Ties)
	}
	return o, err
}

// Open implements Operator.
func (o *limitOp) Open(ctx context.Context) error {
	o.started = false
	if o.ties != nil {
		o.ties.open = false
	}
	return o.Operator.Open(ctx)
}

func (o *limitOp) start() error {
	o.started = true
	o.skip, o.left = o.n.Offset, o.n.Count
	var err error
	if o.n.OffsetExpr != nil {
		if o.skip, err = rowCount(o.ev, o.n.OffsetExpr, 0, pgerr.InvalidRowCountInOffset, "OFFSET must not be negative"); err != nil {
			return err
		}
	}
	if o.n.CountExpr != nil {
		if o.left, err = rowCount(o.ev, o.n.CountExpr, -1, pgerr.InvalidRowCountInLimit, "LIMIT must not be negative"); err != nil {
			return err
		}
	}
	if o.left < 0 {
		o.left = math.MaxInt64
	}
	return nil
}

func rowCount(ev *eval.Env, e scalar.Expr, null int64, code pgerr.Code, negative string) (int64, error) {
	v, err := eval.Constant(ev, e)
	if err != nil {
		return 0, err
	}
	if v.IsNull(0) {
		return null, nil
	}
	if v.I64[0] < 0 {
		return 0, pgerr.New(code, "%s", negative)
	}
	return v.I64[0], nil
}

// Next implements Operator.
func (o *limitOp) Next() (*vector.Batch, error) {
	if !o.started {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	if o.left == 0 && o.ties != nil && o.ties.open {
		return o.ties.more(o.Operator, &o.flat, &o.out)
	}
	for o.left > 0 {
		b, err := o.Operator.Next()
		if b == nil || err != nil {
			o.left = 0
			return nil, err
		}
		b = b.Flat(&o.flat)
		n := int64(b.N)
		if o.skip >= n {
			o.skip -= n
			continue
		}
		lo, hi := o.skip, n
		if hi-lo > o.left {
			hi = lo + o.left
		}
		o.skip = 0
		o.left -= hi - lo
		if o.left == 0 && o.ties != nil {
			if hi, err = o.ties.last(b, hi); err != nil {
				return nil, err
			}
		}
		if lo == 0 && hi == n {
			return b, nil
		}
		return slice(&o.out, b, int(lo), int(hi)), nil
	}
	return nil, nil
}
