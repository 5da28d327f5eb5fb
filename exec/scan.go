package exec

import (
	"context"
	"errors"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/keyrange"
	"tsdb/planner/physical"
)

// scanOp reads a table with one reader, filters, and hands on the output columns.
type scanOp struct {
	b      *builder
	n      *physical.Scan
	shared *sharedScan // nil: a scan of its own
	filter *eval.Program

	ctx     context.Context
	reader  table.Reader
	ordered bool // storage delivers the order that was asked for
	flat    vector.Batch
	sel     []int32
	out     vector.Batch
	view    vector.Batch
}

func (b *builder) newScan(n *physical.Scan, shared *sharedScan) (Operator, error) {
	op := &scanOp{b: b, n: n, shared: shared}
	if n.Residual != nil {
		p, err := eval.Compile(n.Residual)
		if err != nil {
			return nil, err
		}
		op.filter = p
	}
	return op, nil
}

// openScan starts the scan of n. If storage declines the order, the scan runs
// without one and ordered is false. A nil scan has no rows.
func (b *builder) openScan(n *physical.Scan) (s table.Scan, ordered bool, err error) {
	req := n.Request
	if n.Rebind {
		r := keyrange.Rebind(n.Table, req.Columns, n.Residual, b.ev.Slots, b.env.Ctx)
		if r.Empty {
			return nil, true, nil
		}
		req.Spans, req.Time, req.Filters = r.Spans, r.Time, r.Filters
	}
	s, err = b.env.Storage.Scan(n.Table.Storage.ID, req)
	if req.Order == table.AnyOrder || !errors.Is(err, table.ErrDeclined) {
		return s, req.Order != table.AnyOrder, err
	}
	req.Order, req.Reverse, req.Limit = table.AnyOrder, false, 0
	s, err = b.env.Storage.Scan(n.Table.Storage.ID, req)
	return s, false, err
}

// Open implements Operator.
func (o *scanOp) Open(ctx context.Context) error {
	o.ctx = ctx
	if err := canceled(ctx); err != nil {
		return err
	}
	if o.shared != nil {
		o.reader = o.shared.scan.NewReader()
		return nil
	}
	s, ordered, err := o.b.openScan(o.n)
	if err != nil {
		return err
	}
	o.ordered = ordered
	if s != nil {
		o.reader = s.NewReader()
	}
	return nil
}

// Next implements Operator.
func (o *scanOp) Next() (*vector.Batch, error) {
	if o.reader == nil {
		return nil, nil
	}
	for {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		in, err := o.reader.Next()
		if in == nil || err != nil {
			return nil, err
		}
		in = in.Flat(&o.flat)
		if in.N == 0 {
			continue
		}
		if o.filter == nil {
			return o.project(in), nil
		}
		o.sel, err = o.filter.Filter(o.b.ev, in, o.sel[:0])
		if err != nil {
			return nil, err
		}
		switch len(o.sel) {
		case 0:
			continue
		case in.N:
			return o.project(in), nil
		}
		return gatherRows(&o.out, o.project(in), o.sel), nil
	}
}

// project returns the output columns of in, sharing them.
func (o *scanOp) project(in *vector.Batch) *vector.Batch {
	if o.n.Output == nil {
		return in
	}
	o.view.Cols = o.view.Cols[:0]
	for _, c := range o.n.Output {
		o.view.Cols = append(o.view.Cols, in.Cols[c])
	}
	o.view.N, o.view.Sel = in.N, nil
	return &o.view
}

// Close implements Operator.
func (o *scanOp) Close() error {
	if o.reader == nil {
		return nil
	}
	if o.b.env.Profile {
		o.b.run.counters(o.n).addScan(o.reader.Stats())
	}
	o.reader.Close()
	o.reader = nil
	return nil
}
