package pgwire

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"tsdb/exec/session"
	"tsdb/sql/pgerr"
)

// watchInterval is how often a running statement's socket is looked at.
const watchInterval = 500 * time.Millisecond

// conn is one client's connection. Its goroutine owns everything but what mu guards.
type conn struct {
	srv    *Server
	nc     net.Conn
	in     *reader
	out    *writer
	log    *slog.Logger
	remote string
	sess   *session.Session
	ctx    context.Context // ends when the client is gone or the server must stop
	cancel context.CancelFunc

	rows    rowEncoder
	query   bool      // a simple query runs: rows are announced, in text
	skip    bool      // an extended-protocol message failed: wait for Sync
	copy    copyState // of the running statement
	bound   boundPortal
	formats []int16 // of the portal being executed
	flyweights

	watch   *time.Timer
	running atomic.Bool

	mu   sync.Mutex
	idle bool // blocked on the next message
}

// flyweights are messages decoded again and again.
type flyweights struct {
	parse    pgproto3.Parse
	bind     pgproto3.Bind
	describe pgproto3.Describe
	execute  pgproto3.Execute
	close    pgproto3.Close
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, nc: nc, in: newReader(nc), out: &writer{dst: nc}, log: s.log, remote: "[local]"}
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		c.remote = a.String()
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.watch = time.AfterFunc(watchInterval, c.look)
	c.watch.Stop()
	c.idle = true // start-up may be interrupted at any point
	return c
}

// serve runs the connection from start-up to its end.
func (c *conn) serve() {
	defer c.srv.unregister(c)
	defer c.finish()
	c.nc.SetDeadline(time.Now().Add(c.srv.opt.StartupTimeout))
	p := c.startup()
	if p == nil {
		return
	}
	defer c.srv.sessions.Add(-1)
	if c.srv.sessions.Add(1) > int64(c.srv.opt.MaxConnections) {
		c.fail(errTooMany())
		return
	}
	if !c.open(p) {
		return
	}
	c.nc.SetDeadline(time.Time{})
	c.log.Debug("session opened", "remote", c.remote, "user", p.user, "database", p.database)
	for c.step() {
	}
}

// finish ends the connection after whatever happened, a panic included.
func (c *conn) finish() {
	if r := recover(); r != nil {
		c.log.Error("session panicked", "remote", c.remote, "panic", r, "stack", string(debug.Stack()))
		c.guard(func() { c.fail(fatal(pgerr.InternalError, "internal error; the server's log has the details")) })
	}
	c.cancel()
	c.stopWatch()
	c.guard(func() {
		if c.sess != nil {
			c.sess.Close()
		}
	})
	c.nc.Close()
	c.in.release()
	c.out.release()
	c.log.Debug("connection closed", "remote", c.remote)
}

// guard runs a step of the connection's end, which after a panic may meet any state.
func (c *conn) guard(f func()) {
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("ending a session panicked", "remote", c.remote, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	f()
}

// fail sends an error that ends the connection.
func (c *conn) fail(e *pgerr.Error) {
	fe := *e
	fe.Severity = pgerr.SevFatal
	c.nc.SetWriteDeadline(time.Now().Add(goodbye))
	c.out.report('E', &fe)
	c.out.flush()
}

// open authenticates and starts the session; false ends the connection.
func (c *conn) open(p *startupPacket) bool {
	ok, e := c.authenticate(p.user)
	if !ok {
		if e != nil {
			c.log.Warn("authentication failed", "remote", c.remote, "user", p.user, "error", e.Message)
			c.fail(e)
		}
		return false
	}
	c.out.message(&pgproto3.AuthenticationOk{})
	sess, err := c.srv.engine.NewSession(session.Start{User: p.user, Database: p.database, Settings: p.settings, Client: c})
	if err != nil {
		c.fail(asError(err))
		return false
	}
	c.sess = sess
	for _, kv := range sess.Status() {
		c.ParameterStatus(kv[0], kv[1])
	}
	pid, secret := sess.Key()
	c.out.message(&pgproto3.BackendKeyData{ProcessID: uint32(pid), SecretKey: secret[:]})
	c.ready()
	return c.out.flush() == nil
}

// ready writes ReadyForQuery; what was written is due to the client.
func (c *conn) ready() {
	c.out.open()
	c.out.buf = append(c.out.buf, 'Z', 0, 0, 0, 5, c.sess.TxStatus())
	c.out.want = true
}

// step serves one message; false ends the connection.
func (c *conn) step() bool {
	if c.in.buffered() < 5+c.in.owed {
		if c.out.want && c.out.flush() != nil {
			return false
		}
		c.in.shrink()
	}
	if !c.setIdle() {
		c.fail(errShutdown())
		return false
	}
	typ, size, err := c.in.header()
	c.mu.Lock()
	c.idle = false
	c.mu.Unlock()
	if err != nil {
		c.lost(err)
		return false
	}
	body, err := c.body(typ, size)
	if err != nil {
		c.lost(err)
		return false
	}
	return c.dispatch(typ, body) && c.out.err == nil
}

// errUnknownType is a message type that no client message has.
var errUnknownType = errors.New("invalid frontend message type")

// body reads the body of a message that may stand between statements.
func (c *conn) body(typ byte, size int) ([]byte, error) {
	switch typ {
	case 'd': // of a COPY that has failed: however much it is, none of it is kept
		return nil, c.in.skip(size)
	case 'Q', 'P', 'B', 'E', 'D', 'C', 'S', 'H', 'F', 'X', 'c', 'f', 'p':
		return c.in.payload(size)
	}
	return nil, errUnknownType
}

// lost ends a connection whose next message cannot be read.
func (c *conn) lost(err error) {
	switch {
	case errors.Is(err, errLength):
		c.fail(fatal(pgerr.ProtocolViolation, "invalid message length"))
	case errors.Is(err, errUnknownType):
		c.fail(fatal(pgerr.ProtocolViolation, "invalid frontend message type"))
	case errors.Is(err, os.ErrDeadlineExceeded) && c.srv.draining.Load():
		c.fail(errShutdown())
	default:
		c.out.flush()
		c.log.Debug("client is gone", "remote", c.remote, "error", err)
	}
}

// setIdle marks the connection as waiting; false when the server is stopping.
func (c *conn) setIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.srv.draining.Load() {
		return false
	}
	c.idle = true
	return true
}

// wake interrupts the wait for a message so that the connection sees that the server stops.
func (c *conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle {
		c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// kill cancels the running statement and bounds what may block on the socket.
func (c *conn) kill() {
	c.cancel()
	c.nc.SetDeadline(time.Now().Add(goodbye))
}

// startWatch begins to look after the client while a statement runs.
func (c *conn) startWatch() {
	c.running.Store(true)
	c.watch.Reset(watchInterval)
}

func (c *conn) stopWatch() {
	c.running.Store(false)
	c.watch.Stop()
}

// look runs on the timer's goroutine.
func (c *conn) look() {
	if !c.running.Load() {
		return
	}
	if hungUp(c.nc) {
		c.cancel()
		return
	}
	c.watch.Reset(watchInterval)
}
