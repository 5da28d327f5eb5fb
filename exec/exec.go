// Package exec runs physical plans: pull operators on batches of up to 4,096
// rows.
package exec

import (
	"context"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/physical"
	"tsdb/sql/functions"
)

// Storage is what a plan reads from; *colstore.Snapshot is the real one, tests bring their own.
type Storage interface {
	Scan(id table.ID, req table.ScanRequest) (table.Scan, error)
}

// Env is what a running plan may use.
type Env struct {
	Ctx     *functions.Ctx
	Storage Storage
	Budget  *Budget // memory of this query
	Workers int     // goroutines per parallel operator, at least 1
	Profile bool    // collect OpStats (EXPLAIN ANALYZE)
}

// Operator is a pull operator.
//
// Open prepares it and its inputs; Next returns a batch of at least one row, nil at
// the end; the batch is valid until the next Next or Close. Close releases
// everything, may be called at any time after Open, and twice.
type Operator interface {
	Open(ctx context.Context) error
	Next() (*vector.Batch, error)
	Close() error
}

// Build makes the operator tree of a plan. Each call of Open runs it once; it may be
// opened again after Close.
func Build(env *Env, n physical.Node) (Operator, error) { return nil, nil }

// OpStats is what EXPLAIN ANALYZE prints of an operator.
type OpStats struct {
	Rows    int64
	Batches int64
	Nanos   int64 // including inputs
	Scan    *table.ScanStats
	Memory  int64
}

// StatsOf returns the statistics of node n within op, built from the plan that holds n.
func StatsOf(op Operator, n physical.Node) (OpStats, bool) { return OpStats{}, false }

// Budget bounds the memory of a query. Safe for concurrent use.
type Budget struct{}

// NewBudget returns a budget of limit bytes; operator and setting names appear in the error.
func NewBudget(limit int64) *Budget { return &Budget{} }

// Grow takes n bytes for the named operator.
//
// Errors: *pgerr.Error 53200 naming the operator, the size, the setting (tsdb.query_memory, --memory) and the remedy.
func (b *Budget) Grow(op string, n int64) error { return nil }

// Release gives n bytes back.
func (b *Budget) Release(n int64) {}
