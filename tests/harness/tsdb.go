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
}

// URL returns the connection string of the superuser.
func (s *Server) URL() string { return "postgres://tsdb@" + s.Addr + "/tsdb?sslmode=disable" }

// StartTSDB starts a server on a new data directory. It stops with the test.
func StartTSDB(t testing.TB, o colstore.Options) *Server {
	t.Helper()
	store, err := colstore.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := session.NewEngine(store, session.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := pgwire.New(engine, pgwire.Options{})
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		server.Shutdown(ctx)
		<-done
		engine.Close()
		if err := store.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return &Server{Addr: l.Addr().String(), Store: store, Engine: engine}
}
