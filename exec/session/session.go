// Package session is one client's conversation: settings, transactions,
// prepared statements, portals, COPY, DDL.
//
// pgwire drives it: bytes in and out are pgwire's, everything a statement does
// is here. The Engine is what sessions share: the store, the published catalog
// snapshot, the caches of parsed and bound statements, and the registry that
// cancel requests look into.
//
// # Life of a statement
//
//	text ─ sql.Parse (cached) ─ planner.Bind (cached by text, catalog and settings)
//	     ─ view: catalog and storage snapshot of one instant
//	     ─ planner.Plan ─ exec.Build ─ Result.Rows, or Tx.Append for INSERT
//
// DDL works on a snapshot of the catalog that belongs to the transaction and
// holds the engine's DDL lock until the end; COMMIT publishes it under the
// store's commit lock, so catalog and storage change at one instant.
//
// # Invariants
//
// One goroutine at a time is inside a session; Engine.Cancel and Engine.Close
// only cancel its running statement or wait for it. A view's catalog and
// storage snapshot are of the same instant. An acknowledged statement is
// durable unless synchronous_commit is off.
package session

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Options configure an engine.
type Options struct {
	Logger      *slog.Logger
	QueryMemory int64            // budget of one query in bytes; 0: 1 GiB
	Temp        string           // directory of temporary files, for this engine alone; empty: queries do not spill
	Workers     int              // per parallel operator; 0: number of CPUs
	Version     string           // of the binary, for version()
	Connections int              // what SHOW max_connections says; 0: 1000
	LogSlow     int64            // default of log_min_duration_statement, plus 1; 0: -1
	Clock       func() time.Time // nil: time.Now
}

// Client is what a session sends to its client outside of results. pgwire implements it.
type Client interface {
	Notice(n *pgerr.Error)
	ParameterStatus(name, value string)
	RemoteAddr() string
}

// Start describes a connection after authentication.
type Start struct {
	User, Database string
	Settings       map[string]string // start-up parameters other than user, database, replication, options; and those from options
	Client         Client
}

// Session is one client's state. One goroutine uses it, except Engine.Cancel.
type Session struct {
	e        *Engine
	client   Client // nil: nobody listens to notices
	user     string // authenticated
	database string
	pid      int32
	tempName string // of its schema of temporary objects
	secret   [4]byte
	started  time.Time
	random   functions.Random
	done     chan struct{} // closed when the engine ends the session

	inside sync.Mutex // held while a method runs

	mu     sync.Mutex // guards what other goroutines read or set
	cancel context.CancelCauseFunc
	ended  *pgerr.Error // why no more calls are served
	query  string       // for pg_stat_activity
	since  time.Time
	state  string
	// application is application_name, for other sessions' pg_stat_activity.
	application string

	vals        settingValues
	reset       map[string]string // values that RESET returns to
	known       map[string]string // reported values as the client has them
	tctx        types.Context
	pathNames   []string
	settingsKey string

	tx         *transaction // nil: no statement since the last Sync or commit
	failedWait bool         // an extended-protocol error waits for Sync
	stmtTime   int64
	running    context.Context // of the statement that runs, nil between two

	sequences    map[types.OID]*takenValues // for currval and CACHE
	lastSequence types.OID

	prepared map[string]*prepared
	portals  map[string]*portal
}

// Describe is the shape of a prepared statement or portal. Cols is nil when no rows come back.
type Describe struct {
	Params  []types.OID
	Cols    []logical.Column
	Formats []int16 // of a portal: the result formats, expanded per column
}

// Result receives what a statement yields. pgwire implements it; an error returned from it ends the statement.
type Result interface {
	// Columns announces rows (simple protocol and Execute of the first batch); nil for statements without rows is not sent.
	Columns(cols []logical.Column) error
	// Rows delivers a batch (flat: no selection; vectors may be constant or dictionary encoded), valid during the call.
	Rows(b *vector.Batch) error
	// Complete ends a statement with its command tag.
	Complete(tag string) error
	// Empty ends an empty query string.
	Empty() error
	// Suspended ends an Execute whose row limit was reached.
	Suspended() error
	// CopyIn asks the client for data and returns the stream; Read returns io.EOF at CopyDone and
	// *pgerr.Error 57014 at CopyFail. When ctx ends, a Read that waits for the client returns its cause.
	CopyIn(ctx context.Context, binary bool, columns int) (io.Reader, error)
	// CopyOut announces outgoing data and returns where to write; each Write call is one CopyData message. Close ends it with CopyDone.
	CopyOut(binary bool, columns int) (io.WriteCloser, error)
}

// Close ends the session and rolls back.
func (s *Session) Close() {
	s.inside.Lock()
	defer s.inside.Unlock()
	s.end(pgerr.New(pgerr.ConnectionFailure, "session is closed"))
}

// end releases everything; s.inside is held.
func (s *Session) end(why *pgerr.Error) {
	s.mu.Lock()
	first := s.ended == nil
	if first {
		s.ended = why
	}
	s.mu.Unlock()
	s.rollback()
	if first {
		s.endTemp()
	}
	s.prepared, s.portals = map[string]*prepared{}, map[string]*portal{}
	s.e.remove(s)
}

// Done is closed when the engine ends the session from its side (57P01).
func (s *Session) Done() <-chan struct{} { return s.done }

// Key returns what BackendKeyData carries.
func (s *Session) Key() (pid int32, secret [4]byte) { return s.pid, s.secret }

// Status returns the settings reported at start-up (ParameterStatus), in PostgreSQL's order.
func (s *Session) Status() [][2]string {
	out := make([][2]string, 0, len(reportNames))
	for _, n := range reportNames {
		v := s.mustValue(n)
		s.known[n] = v
		out = append(out, [2]string{parameters[n].name, v})
	}
	return out
}

// TxStatus returns the state byte of ReadyForQuery: 'I', 'T' or 'E'.
func (s *Session) TxStatus() byte {
	switch {
	case s.tx == nil || !s.tx.block:
		return 'I'
	case s.tx.failed:
		return 'E'
	}
	return 'T'
}

// Context returns the text-form settings of now, for encoding results. Read only, valid until the next statement.
func (s *Session) Context() *types.Context { return &s.tctx }

// enter serves one call: it excludes Engine.Close and makes the context that
// cancel requests end. The returned function ends the call.
func (s *Session) enter(ctx context.Context) (context.Context, func(), error) {
	s.inside.Lock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		s.inside.Unlock()
		return nil, nil, s.ended
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s.cancel = cancel
	return ctx, func() {
		s.mu.Lock()
		s.cancel = nil
		s.mu.Unlock()
		cancel(nil)
		s.inside.Unlock()
	}, nil
}

// interrupt ends the running call, if any, with the error.
func (s *Session) interrupt(why *pgerr.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(why)
	}
}

// withTimeout bounds a statement by statement_timeout. The returned function
// ends the statement.
func (s *Session) withTimeout(ctx context.Context) (context.Context, func()) {
	ms := s.intValue("statement_timeout")
	if ms <= 0 {
		s.running = ctx
		return ctx, func() { s.running = nil }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(time.Duration(ms)*time.Millisecond, func() {
		cancel(pgerr.New(pgerr.QueryCanceled, "canceling statement due to statement timeout"))
	})
	s.running = ctx
	return ctx, func() {
		t.Stop()
		cancel(nil)
		s.running = nil
	}
}

func (s *Session) notice(n *pgerr.Error) {
	if s.client == nil || severityRank(n.Severity) < minRank(s.mustValue("client_min_messages")) {
		return
	}
	s.client.Notice(n)
}

func (s *Session) warn(code pgerr.Code, format string, args ...any) {
	s.notice(pgerr.Warning(code, format, args...))
}

func severityRank(sev pgerr.Severity) int {
	if sev == pgerr.SevWarning {
		return 2
	}
	return 1
}

func minRank(level string) int {
	switch level {
	case "warning":
		return 2
	case "error":
		return 3
	}
	return 1
}

// setActivity records what pg_stat_activity shows.
func (s *Session) setActivity(state, query string) {
	s.mu.Lock()
	s.state, s.since = state, s.e.now()
	if query != "" {
		s.query = query
	}
	s.mu.Unlock()
}
