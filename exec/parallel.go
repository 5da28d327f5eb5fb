package exec

import (
	"context"
	"sync"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/physical"
)

// A chain is a scan with only filters and projections above it: operators that
// look at one row at a time, so that several workers can each run a copy over
// their share of the scan's morsels. A gather hands the batches of a chain to
// one consumer; an aggregate runs chains itself and merges their groups.

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
	shared := &sharedScan{}
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
	s, _, err := o.b.openScan(o.scan)
	if err != nil {
		return err
	}
	o.shared.scan = s
	o.open, o.ack, o.inline = true, nil, nil
	workers := min(len(o.chains), s.Morsels())
	if workers < 2 {
		o.inline = o.chains[0]
		return o.inline.Open(ctx)
	}
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
	return err
}
