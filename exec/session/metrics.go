package session

import (
	"sync"
	"sync/atomic"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/pgerr"
)

// LatencyBounds are the upper bounds of the buckets of Latency, in seconds.
var LatencyBounds = [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// Kinds are the kinds by which statements are counted.
var Kinds = [...]string{"select", "insert", "update", "delete", "copy", "transaction", "ddl", "other"}

const (
	selectKind = iota
	insertKind
	updateKind
	deleteKind
	copyKind
	transactionKind
	ddlKind
	otherKind
)

// metrics counts what all sessions of an engine do.
type metrics struct {
	kinds  [len(Kinds)]latency
	errors sync.Map // pgerr.Code → *atomic.Int64
}

type latency struct {
	buckets [len(LatencyBounds) + 1]atomic.Int64
	nanos   atomic.Int64
}

// Latency is a histogram of run times.
type Latency struct {
	Count   uint64
	Sum     float64            // seconds
	Buckets map[float64]uint64 // cumulative, by upper bound
}

// Metrics are counts since the engine started.
type Metrics struct {
	Statements map[string]Latency // by kind, those that succeeded
	Errors     map[string]int64   // by SQLSTATE
	Sessions   map[string]int     // by state, as in pg_stat_activity
}

// Metrics returns the counts of now.
func (e *Engine) Metrics() Metrics {
	m := Metrics{Statements: map[string]Latency{}, Errors: map[string]int64{}, Sessions: map[string]int{}}
	for k := range e.metrics.kinds {
		m.Statements[Kinds[k]] = e.metrics.kinds[k].read()
	}
	e.metrics.errors.Range(func(code, n any) bool {
		m.Errors[string(code.(pgerr.Code))] = n.(*atomic.Int64).Load()
		return true
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		s.mu.Lock()
		m.Sessions[s.state]++
		s.mu.Unlock()
	}
	return m
}

func (l *latency) read() Latency {
	out := Latency{Sum: float64(l.nanos.Load()) / 1e9, Buckets: map[float64]uint64{}}
	for i := range l.buckets {
		out.Count += uint64(l.buckets[i].Load())
		if i < len(LatencyBounds) {
			out.Buckets[LatencyBounds[i]] = out.Count
		}
	}
	return out
}

func (m *metrics) observe(kind int, d time.Duration) {
	l := &m.kinds[kind]
	i, seconds := 0, d.Seconds()
	for i < len(LatencyBounds) && seconds > LatencyBounds[i] {
		i++
	}
	l.buckets[i].Add(1)
	l.nanos.Add(int64(d))
}

// failed counts an error that a client gets.
func (m *metrics) failed(err error) {
	code := pgerr.From(err).Code
	n, ok := m.errors.Load(code)
	if !ok {
		n, _ = m.errors.LoadOrStore(code, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}

// kindOf returns the kind by which a statement is counted.
func kindOf(n *pg_query.Node) int {
	switch n.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		return selectKind
	case *pg_query.Node_InsertStmt:
		return insertKind
	case *pg_query.Node_UpdateStmt:
		return updateKind
	case *pg_query.Node_DeleteStmt:
		return deleteKind
	case *pg_query.Node_CopyStmt:
		return copyKind
	case *pg_query.Node_TransactionStmt:
		return transactionKind
	case *pg_query.Node_CreateStmt, *pg_query.Node_DropStmt, *pg_query.Node_AlterTableStmt, *pg_query.Node_TruncateStmt,
		*pg_query.Node_IndexStmt, *pg_query.Node_RenameStmt, *pg_query.Node_CreateSchemaStmt:
		return ddlKind
	}
	return otherKind
}
