// Package session is one client's conversation: settings, transactions,
// prepared statements, portals, COPY, DDL.
//
// pgwire drives it: bytes in and out are pgwire's, everything a statement does
// is here.
package session

import (
	"context"
	"io"
	"log/slog"

	"tsdb/colstore"
	"tsdb/colstore/vector"
	"tsdb/exec/copyio"
	"tsdb/planner/logical"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Options configure an engine.
type Options struct {
	Logger      *slog.Logger
	QueryMemory int64  // budget of one query in bytes; 0: 1 GiB
	Workers     int    // per parallel operator; 0: number of CPUs
	Version     string // of the binary, for version()
}

// Engine is the state that all sessions share: store, catalog, caches, and who is connected.
type Engine struct{}

// NewEngine loads the catalog from the store, creating it in a new one.
func NewEngine(store *colstore.Store, o Options) (*Engine, error) { return nil, nil }

// Verifier returns the SCRAM verifier of a role; ok is false if the role does not exist or may not log in.
func (e *Engine) Verifier(role string) (verifier string, ok bool) { return "", false }

// HasPasswords reports whether a superuser has a password (needed to listen beyond loopback).
func (e *Engine) HasPasswords() bool { return false }

// SetPassword sets the password of a role (--password-file); durable when it returns.
func (e *Engine) SetPassword(role, password string) error { return nil }

// Databases returns the names that a client may connect to.
func (e *Engine) Databases() []string { return nil }

// Cancel cancels the running statement of the session with this key pair, if any.
func (e *Engine) Cancel(pid int32, secret [4]byte) {}

// Close ends all sessions (57P01) and waits for them.
func (e *Engine) Close() error { return nil }

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

// NewSession opens a session.
//
// Errors: 28000 unknown role, 3D000 unknown database, 22023 and kin for bad settings.
func (e *Engine) NewSession(st Start) (*Session, error) { return nil, nil }

// Session is one client's state. One goroutine uses it, except Engine.Cancel.
type Session struct{}

// Close ends the session and rolls back.
func (s *Session) Close() {}

// Key returns what BackendKeyData carries.
func (s *Session) Key() (pid int32, secret [4]byte) { return 0, [4]byte{} }

// Status returns the settings reported at start-up (ParameterStatus), in PostgreSQL's order.
func (s *Session) Status() [][2]string { return nil }

// TxStatus returns the state byte of ReadyForQuery: 'I', 'T' or 'E'.
func (s *Session) TxStatus() byte { return 'I' }

// Context returns the text-form settings of now, for encoding results. Read only, valid until the next statement.
func (s *Session) Context() *types.Context { return nil }

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
	// *pgerr.Error 57014 at CopyFail.
	CopyIn(binary bool, columns int) (io.Reader, error)
	// CopyOut announces outgoing data and returns where to write; each Write call is one CopyData message. Close ends it with CopyDone.
	CopyOut(binary bool, columns int) (io.WriteCloser, error)
}

// Simple runs a query string of the simple protocol: all its statements, in one implicit
// transaction where they do not say otherwise. The error, if any, is *pgerr.Error and already rolled back as PostgreSQL does.
func (s *Session) Simple(ctx context.Context, query string, r Result) error { return nil }

// Parse prepares a statement ("" is the unnamed one).
func (s *Session) Parse(ctx context.Context, name, query string, params []types.OID) error {
	return nil
}

// Describe is the shape of a prepared statement or portal. Cols is nil when no rows come back.
type Describe struct {
	Params  []types.OID
	Cols    []logical.Column
	Formats []int16 // of a portal: the result formats, expanded per column
}

// DescribeStatement describes a prepared statement.
func (s *Session) DescribeStatement(ctx context.Context, name string) (*Describe, error) {
	return nil, nil
}

// Bind makes a portal. Formats follow the protocol's rules (none, one for all, one each); a nil value is NULL.
func (s *Session) Bind(ctx context.Context, portal, stmt string, formats []int16, values [][]byte, results []int16) error {
	return nil
}

// DescribePortal describes a portal.
func (s *Session) DescribePortal(portal string) (*Describe, error) { return nil, nil }

// Execute runs a portal to its end or for maxRows rows (0: all).
func (s *Session) Execute(ctx context.Context, portal string, maxRows int64, r Result) error {
	return nil
}

// CloseStatement drops a prepared statement; unknown names are fine.
func (s *Session) CloseStatement(name string) {}

// ClosePortal drops a portal; unknown names are fine.
func (s *Session) ClosePortal(name string) {}

// Sync ends the implicit transaction of the extended protocol: commits, or rolls back after an error.
//
// Errors: what COMMIT may return.
func (s *Session) Sync(ctx context.Context) error { return nil }

// Fail tells the session that an extended-protocol message failed: the implicit transaction is to be rolled back.
func (s *Session) Fail() {}

var _ = copyio.Text
