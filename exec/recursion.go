package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/planner/physical"
)

// recursionOp is WITH RECURSIVE: the rows of the seed are the first round, and
// the step makes each further round from the one before, until it is empty.
type recursionOp struct {
	n          *physical.Recursive
	seed, step Operator
	work       *sharedRows // the round before
	next       *rowSpool   // the round in work
	group      *grouper    // rows so far; nil: UNION ALL
	held       account

	ctx     context.Context
	started bool // the seed is done
	open    Operator
	nums    []uint32
	sel     []int32
	flat    vector.Batch
	out     vector.Batch
}

func (b *builder) newRecursion(n *physical.Recursive) (Operator, error) {
	kinds := kindsOf(n.Cols)
	o := &recursionOp{n: n, held: b.account("Recursive Union", n), next: newRowSpool(b.account("Recursive Union", n), kinds),
		work: &sharedRows{rows: newRowSpool(b.account("Recursive Union", n), kinds), done: true}}
	var err error
	if o.seed, err = b.build(n.Seed); err != nil {
		return nil, err
	}
	b.run.work[n.ID] = o.work
	o.step, err = b.build(n.Step)
	return o, err
}

// Open implements Operator.
func (o *recursionOp) Open(ctx context.Context) error {
	o.ctx, o.started = ctx, false
	o.group = nil
	if !o.n.All {
		o.group = newGrouper(newColumns(o.n.Cols))
	}
	o.open = o.seed
	return firstError(o.work.rows.reset(), o.next.reset(), o.seed.Open(ctx))
}

// Next implements Operator.
func (o *recursionOp) Next() (*vector.Batch, error) {
	for o.open != nil {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		b, err := o.open.Next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			if err := o.nextRound(); err != nil {
				return nil, err
			}
			continue
		}
		if b = o.fresh(b.Flat(&o.flat)); b == nil {
			continue
		}
		if err := o.next.add(b, 0); err != nil {
			return nil, err
		}
		if o.group != nil {
			if err := o.held.set(o.group.size()); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return nil, nil
}

// nextRound makes the rows of the round that ended the work of the next.
func (o *recursionOp) nextRound() error {
	ended := o.open
	o.open = nil
	if err := ended.Close(); err != nil {
		return err
	}
	o.work.rows, o.next = o.next, o.work.rows
	if err := o.next.reset(); err != nil {
		return err
	}
	if o.work.rows.n == 0 {
		return nil
	}
	o.open = o.step
	return o.step.Open(o.ctx)
}

// fresh returns the rows of b that were not there before, nil if there are none.
func (o *recursionOp) fresh(b *vector.Batch) *vector.Batch {
	if o.group == nil {
		return b
	}
	o.nums = numbersFor(o.nums, b.N)
	seen := uint32(o.group.count())
	o.group.assign(b.Cols, b.N, o.nums)
	o.sel = o.sel[:0]
	for i, x := range o.nums {
		if x == seen {
			seen++
			o.sel = append(o.sel, int32(i))
		}
	}
	switch len(o.sel) {
	case 0:
		return nil
	case b.N:
		return b
	}
	return gatherRows(&o.out, b, o.sel)
}

// Close implements Operator.
func (o *recursionOp) Close() error {
	var err error
	if o.open != nil {
		err = o.open.Close()
		o.open = nil
	}
	o.group = nil
	o.held.release()
	return firstError(err, o.work.rows.reset(), o.next.reset())
}

// clear drops the rows; the memory of a small store stays.
func (s *rowStore) clear() {
	s.n, s.bytes = 0, 0
	if len(s.chunks) != 1 {
		s.chunks = nil
		return
	}
	c := s.chunks[0]
	c.N = 0
	for i, v := range c.Cols {
		v.Reset(s.kinds[i])
	}
}
