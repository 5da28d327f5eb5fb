package pgwire

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"tsdb/exec/session"
	"tsdb/sql/pgerr"
)

const (
	// defaultConnections is the default of Options.MaxConnections.
	defaultConnections = 1000
	// reserve is how many connections beyond the limit are served far enough to
	// cancel a statement or to be told that there are too many.
	reserve = 32
	// startupTimeout bounds start-up and authentication.
	startupTimeout = 60 * time.Second
	// killGrace is how long a cancelled statement has to notice before its socket is closed.
	killGrace = 5 * time.Second
	// acceptPause is the wait after a failed Accept (out of file descriptors).
	acceptPause = 50 * time.Millisecond
	// goodbye bounds a last message to a client that may not read.
	goodbye = time.Second
)

// Options configure a server. The zero value is valid.
type Options struct {
	Logger          *slog.Logger  // nil: discard
	MaxConnections  int           // sessions at a time; 0: 1000
	RequirePassword bool          // SCRAM-SHA-256 on loopback too
	StartupTimeout  time.Duration // 0: 60 s
}

// Server serves clients on listeners and connections.
type Server struct {
	engine     *session.Engine
	opt        Options
	log        *slog.Logger
	mockSecret [32]byte
	draining   atomic.Bool
	sessions   atomic.Int64 // past the connection limit check

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	done      sync.WaitGroup // one per connection
}

// New returns a server of an engine.
func New(engine *session.Engine, o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = defaultConnections
	}
	if o.StartupTimeout <= 0 {
		o.StartupTimeout = startupTimeout
	}
	s := &Server{engine: engine, opt: o, log: o.Logger,
		listeners: map[net.Listener]struct{}{}, conns: map[*conn]struct{}{}}
	rand.Read(s.mockSecret[:])
	return s
}

// ErrClosed is what Serve returns after Shutdown.
var ErrClosed = errors.New("pgwire: server closed")

// Serve accepts connections until Shutdown; it closes l.
//
// Errors: ErrClosed after Shutdown, else what Accept returned.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.draining.Load() {
		s.mu.Unlock()
		l.Close()
		return ErrClosed
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
		l.Close()
	}()
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.draining.Load() {
				return ErrClosed
			}
			if errors.Is(err, net.ErrClosed) {
				return err
			}
			s.log.Warn("accept failed", "error", err)
			time.Sleep(acceptPause)
			continue
		}
		c := s.register(nc)
		if c == nil {
			continue
		}
		go c.serve()
	}
}

// ServeConn serves one connection, of a network or of net.Pipe, to its end.
func (s *Server) ServeConn(nc net.Conn) {
	if c := s.register(nc); c != nil {
		c.serve()
	}
}

// register enters a connection; nil if it was turned away.
func (s *Server) register(nc net.Conn) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() || len(s.conns) >= s.opt.MaxConnections+reserve {
		go turnAway(nc)
		return nil
	}
	c := newConn(s, nc)
	s.conns[c] = struct{}{}
	s.done.Add(1)
	return c
}

// turnAway answers a connection that gets no goroutine of its own for long.
func turnAway(nc net.Conn) {
	nc.SetDeadline(time.Now().Add(goodbye))
	w := &writer{dst: nc}
	w.report('E', errTooMany())
	w.flush()
	nc.Close()
}

func errTooMany() *pgerr.Error {
	return fatal(pgerr.TooManyConnections, "sorry, too many clients already")
}

func (s *Server) unregister(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.done.Done()
}

func (s *Server) each(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f(c)
	}
}

// Shutdown stops accepting, ends idle sessions with 57P01 and waits for
// running statements, whose sessions end the same way. When ctx is done it
// cancels what still runs. It returns when every connection is closed.
//
// Errors: ctx's, if statements had to be cancelled.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining.Store(true)
	for l := range s.listeners {
		l.Close()
	}
	s.mu.Unlock()
	s.each((*conn).wake)
	ended := make(chan struct{})
	go func() {
		s.done.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	s.each((*conn).kill)
	select {
	case <-ended:
		return ctx.Err()
	case <-time.After(killGrace):
	}
	s.each(func(c *conn) { c.nc.Close() })
	<-ended
	return ctx.Err()
}
