package harness

import (
	"context"
	"net"
	"testing"
	"time"

	"tsdb/colstore"
	"tsdb/exec/session"
	"tsdb/pgwire"
)

// Server is a tsdb of this process on a loopback address.
type Server struct {
	Addr   string
	Store  *colstore.Store
	Engine *session.Engine

	dir     string
	options colstore.Options
	wire    *pgwire.Server
	done    chan error
}

// URL returns the connection string of the superuser.
func (s *Server) URL() string { return "postgres://tsdb@" + s.Addr + "/tsdb?sslmode=disable" }

// Dir returns the data directory.
func (s *Server) Dir() string { return s.dir }

// StartTSDB starts a server on a new data directory. It stops with the test.
func StartTSDB(t testing.TB, o colstore.Options) *Server {
	t.Helper()
	return StartTSDBAt(t, t.TempDir(), o)
}

// StartTSDBAt starts a server on a directory, new or not.
func StartTSDBAt(t testing.TB, dir string, o colstore.Options) *Server {
	t.Helper()
	s := &Server{dir: dir, options: o}
	s.start(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// Restart stops the server cleanly and starts it on the same data directory;
// the address changes.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.stop(t)
	s.start(t)
}

func (s *Server) start(t testing.TB) {
	t.Helper()
	var err error
	if s.Store, err = colstore.Open(s.dir, s.options); err != nil {
		t.Fatal(err)
	}
	if s.Engine, err = session.NewEngine(s.Store, session.Options{Version: "test"}); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Addr = l.Addr().String()
	s.wire = pgwire.New(s.Engine, pgwire.Options{})
	s.done = make(chan error, 1)
	go func(w *pgwire.Server, done chan error) { done <- w.Serve(l) }(s.wire, s.done)
}

func (s *Server) stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s.wire.Shutdown(ctx)
	<-s.done
	s.Engine.Close()
	if err := s.Store.Close(); err != nil {
		t.Errorf("closing the store: %v", err)
	}
}
