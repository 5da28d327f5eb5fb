package exec

import (
	"context"
	"sync"
	"sync/atomic"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/physical"
)

// OpStats is what EXPLAIN ANALYZE prints of an operator.
type OpStats struct {
	Rows    int64
	Batches int64
	Nanos   int64 // including inputs; of parallel workers: their sum
	Scan    *table.ScanStats
	Memory  int64 // most bytes held at once
	Workers int   // goroutines that ran it, 0: none of its own
	Spilled int64 // bytes written to temporary files
	Files   int64 // temporary files: partitions or sorted runs
}

// StatsOf returns the statistics of node n within op, built from the plan that holds n.
func StatsOf(op Operator, n physical.Node) (OpStats, bool) {
	p, ok := op.(*plan)
	if !ok {
		return OpStats{}, false
	}
	c, ok := p.b.run.stats[n]
	if !ok {
		return OpStats{}, false
	}
	return c.snapshot(), true
}

// counters are the statistics of a node, shared by the operators that run it.
type counters struct {
	rows, batches, nanos atomic.Int64
	memory, workers      atomic.Int64
	spilled, files       atomic.Int64

	mu   sync.Mutex
	scan *table.ScanStats
}

func (c *counters) peak(n int64) {
	for {
		old := c.memory.Load()
		if n <= old || c.memory.CompareAndSwap(old, n) {
			return
		}
	}
}

func (c *counters) addScan(s table.ScanStats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scan == nil {
		c.scan = &table.ScanStats{}
	}
	c.scan.Add(s)
}

func (c *counters) snapshot() OpStats {
	out := OpStats{Rows: c.rows.Load(), Batches: c.batches.Load(), Nanos: c.nanos.Load(),
		Memory: c.memory.Load(), Workers: int(c.workers.Load()),
		Spilled: c.spilled.Load(), Files: c.files.Load()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scan != nil {
		s := *c.scan
		out.Scan = &s
	}
	return out
}

// profiled counts and times the calls of an operator.
type profiled struct {
	Operator
	c *counters
}

// Open implements Operator.
func (p *profiled) Open(ctx context.Context) error {
	t := clock()
	err := p.Operator.Open(ctx)
	p.c.nanos.Add(clock().Sub(t).Nanoseconds())
	return err
}

// Next implements Operator.
func (p *profiled) Next() (*vector.Batch, error) {
	t := clock()
	b, err := p.Operator.Next()
	p.c.nanos.Add(clock().Sub(t).Nanoseconds())
	if b != nil {
		p.c.batches.Add(1)
		p.c.rows.Add(int64(b.Rows()))
	}
	return b, err
}
