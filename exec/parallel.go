package exec

import (
	"context"
	"sync"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
)

// A chain is a scan with only filters, projections and the left sides of hash
// joins above it: operators that look at one row at a time, so that several
// workers can each run a copy over their share of the scan's morsels. A gather hands the batches of a chain to
// one consumer; an aggregate runs chains itself and merges their groups.

// sharedScan is what the workers of a chain share: the scan, and the tables of
// its hash joins.
type sharedScan struct {
	scan    table.Scan
	joins   map[*physical.HashJoin]*hashTable
	workers int
	tables  []*hashTable // in the order in which they were made: lower joins first
}

// table returns the table of a join, making it for the first worker.
func (s *sharedScan) table(b *builder, n *physical.HashJoin) (*hashTable, error) {
	if t, ok := s.joins[n]; ok {
		return t, nil
	}
	t, err := b.newHashTable(n)
	if err != nil {
		return nil, err
	}
	s.joins[n] = t
	s.tables = append(s.tables, t)
	return t, nil
}

// open builds the tables and starts the scan of n. Workers must not: what the
// right sides compute may run subqueries.
func (s *sharedScan) open(ctx context.Context, b *builder, n *physical.Scan) error {
	for _, t := range s.tables {
		begin := clock()
		if err := t.build(ctx); err != nil {
			return err
		}
		if b.env.Profile {
			b.run.counters(t.n).nanos.Add(clock().Sub(begin).Nanoseconds())
		}
	}
	var err error
	s.scan, _, err = b.openScan(n)
	return err
}

func (s *sharedScan) close() error {
	var err error
	for _, t := range s.tables {
		err = firstError(err, t.close())
	}
	return err
}

// chainScan returns the scan at the bottom of n if n is a chain.
func chainScan(n physical.Node) (*physical.Scan, bool) {
	for {
		switch c := n.(type) {
		case *physical.Scan:
			return c, c.Residual == nil || !hasSubquery(c.Residual)
		case *physical.Filter:
			if hasSubquery(c.Cond) {
				return nil, false
			}
			n = c.Input
		case *physical.Project:
			if hasSubquery(c.Exprs...) {
				return nil, false
			}
			n = c.Input
		case *physical.HashJoin:
			if c.Kind == logical.Full || hasSubquery(c.LeftKeys...) || hasSubquery(c.Residual, c.Test) {
				return nil, false // workers cannot tell which right rows none of them has matched
			}
			n = c.Left
		default:
			return nil, false
		}
	}
}

// parallelChain reports whether n is a chain that is worth several workers.
func (b *builder) parallelChain(n physical.Node) (bool, *physical.Scan) {
	scan, ok := chainScan(n)
	if !ok || b.serial || b.env.Workers < 2 || scan.Parallel < 2 || scan.Rebind || scan.Request.Order != table.AnyOrder {
		return false, nil
	}
	return true, scan
}

// workerCount is the number of workers of a chain over scan.
func (b *builder) workerCount(scan *physical.Scan) int { return min(b.env.Workers, scan.Parallel) }

// buildChains returns one operator tree per worker over the same scan.
func (b *builder) buildChains(n physical.Node, workers int) (*sharedScan, []Operator, error) {
	shared := &sharedScan{workers: workers, joins: map[*physical.HashJoin]*hashTable{}}
	ops := make([]Operator, workers)
	for i := range ops {
		op, err := b.buildOne(n, shared)
		if err != nil {
			return nil, nil, err
		}
		ops[i] = op
	}
	return shared, ops, nil
}

// gatherOp runs the copies of a chain in goroutines and hands on their batches,
// in no order. A worker waits until its batch was used, so nothing is copied;
// one worker more than processors keeps them busy meanwhile.
type gatherOp struct {
	b      *builder
	scan   *physical.Scan
	shared *sharedScan
	chains []Operator

	cancel context.CancelFunc
	out    chan gathered // closed when all workers have ended
	done   chan struct{} // closed by Close: workers stop
	ack    chan struct{} // of the worker whose batch is in use
	inline Operator      // the one chain of a scan too small for workers
	open   bool
}

type gathered struct {
	batch *vector.Batch
	err   error
	ack   chan struct{}
}

func (b *builder) buildGather(n physical.Node, scan *physical.Scan) (Operator, error) {
	shared, chains, err := b.buildChains(n, b.workerCount(scan)+1)
	if err != nil {
		return nil, err
	}
	return &gatherOp{b: b, scan: scan, shared: shared, chains: chains}, nil
}

// Open implements Operator.
func (o *gatherOp) Open(ctx context.Context) error {
	o.open, o.ack, o.inline = true, nil, o.chains[0]
	if err := o.shared.open(ctx, o.b, o.scan); err != nil {
		return err
	}
	workers := min(len(o.chains), o.shared.scan.Morsels())
	if workers < 2 {
		return o.inline.Open(ctx)
	}
	o.inline = nil
	if o.b.env.Profile {
		o.b.run.counters(o.scan).workers.Store(int64(workers))
	}
	ctx, o.cancel = context.WithCancel(ctx)
	o.out, o.done = make(chan gathered), make(chan struct{})
	var running sync.WaitGroup
	for _, c := range o.chains[:workers] {
		running.Go(func() { o.work(ctx, c) })
	}
	go func(out chan gathered) {
		running.Wait()
		close(out)
	}(o.out)
	return nil
}

func (o *gatherOp) work(ctx context.Context, c Operator) {
	ack := make(chan struct{}, 1)
	err := c.Open(ctx)
	for err == nil {
		var batch *vector.Batch
		if batch, err = c.Next(); batch == nil || err != nil {
			break
		}
		select {
		case o.out <- gathered{batch: batch, ack: ack}:
		case <-o.done:
			return
		}
		select {
		case <-ack:
		case <-o.done:
			return
		}
	}
	if err != nil {
		select {
		case o.out <- gathered{err: err}:
		case <-o.done:
		}
	}
}

// Next implements Operator.
func (o *gatherOp) Next() (*vector.Batch, error) {
	if o.inline != nil {
		return o.inline.Next()
	}
	if !o.open {
		return nil, nil
	}
	if o.ack != nil {
		o.ack <- struct{}{}
		o.ack = nil
	}
	g, ok := <-o.out
	if !ok {
		return nil, nil
	}
	o.ack = g.ack
	return g.batch, g.err
}

// Close implements Operator.
func (o *gatherOp) Close() error {
	if !o.open {
		return nil
	}
	o.open = false
	if o.inline == nil {
		close(o.done)
		o.cancel()
		for range o.out { // until the last worker has ended
		}
	}
	var err error
	for _, c := range o.chains {
		err = firstError(err, c.Close())
	}
	return firstError(err, o.shared.close())
}
