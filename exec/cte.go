package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/planner/physical"
	"tsdb/sql/pgerr"
)

// sharedRows are the rows of a WITH query: computed as far as some scan has
// read, kept for all scans.
type sharedRows struct {
	op   Operator
	rows *rowSpool

	open bool // op is running
	done bool // rows has all
	flat vector.Batch
}

// more computes the next batch of rows; false: rows has all.
func (s *sharedRows) more(ctx context.Context) (bool, error) {
	if s.done {
		return false, nil
	}
	if !s.open {
		s.open = true
		if err := s.op.Open(ctx); err != nil {
			return false, err
		}
	}
	b, err := s.op.Next()
	if err != nil {
		return false, err
	}
	if b == nil {
		s.done, s.open = true, false
		return false, s.op.Close()
	}
	return true, s.rows.add(b.Flat(&s.flat), 0)
}

func (s *sharedRows) reset() error {
	var err error
	if s.open {
		s.open = false
		err = s.op.Close()
	}
	s.done = false
	return firstError(err, s.rows.reset())
}

// withOp runs its input, whose scans may read the rows of a WITH query.
type withOp struct {
	Operator // of the body
	shared   *sharedRows
}

func (b *builder) newWith(n *physical.With) (Operator, error) {
	op, err := b.build(n.Plan)
	if err != nil {
		return nil, err
	}
	s := &sharedRows{op: op, rows: newRowSpool(b.account("WITH query", n), kindsOf(n.Plan.Columns()))}
	b.run.queries[n.ID] = s
	body, err := b.build(n.Body)
	return &withOp{Operator: body, shared: s}, err
}

// Open implements Operator.
func (o *withOp) Open(ctx context.Context) error {
	return firstError(o.shared.reset(), o.Operator.Open(ctx))
}

// Close implements Operator.
func (o *withOp) Close() error { return firstError(o.Operator.Close(), o.shared.reset()) }

// sharedScanOp reads the rows of a WITH query, or of a recursion's round before.
type sharedScanOp struct {
	s    *sharedRows
	ctx  context.Context
	read spoolReader
}

func (b *builder) newCTEScan(n *physical.CTEScan) (Operator, error) {
	s, ok := b.run.queries[n.ID]
	if rows, ran := b.env.Queries[n.ID]; ran && !ok {
		// The statement that returned the rows holds them.
		s, ok = &sharedRows{rows: newRowSpool(account{}, kindsOf(n.Cols)), done: true}, true
		for _, r := range rows {
			if err := s.rows.add(r, 0); err != nil {
				return nil, err
			}
		}
		b.run.queries[n.ID] = s
	}
	if !ok {
		return nil, pgerr.New(pgerr.InternalError, "no plan of WITH query \"%s\"", n.Name)
	}
	return &sharedScanOp{s: s}, nil
}

func (b *builder) newWorkTable(n *physical.WorkTable) (Operator, error) {
	s, ok := b.run.work[n.ID]
	if !ok {
		return nil, pgerr.New(pgerr.InternalError, "no work table of WITH query \"%s\"", n.Name)
	}
	return &sharedScanOp{s: s}, nil
}

// Open implements Operator.
func (o *sharedScanOp) Open(ctx context.Context) error {
	o.ctx, o.read = ctx, spoolReader{s: o.s.rows, out: o.read.out}
	return nil
}

// Next implements Operator.
func (o *sharedScanOp) Next() (*vector.Batch, error) {
	for {
		if b, err := o.read.next(o.ctx); b != nil || err != nil {
			return b, err
		}
		if more, err := o.s.more(o.ctx); err != nil || !more {
			return nil, err
		}
	}
}

// Close implements Operator.
func (o *sharedScanOp) Close() error { return nil }
