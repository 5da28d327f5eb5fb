// Package server puts a data directory, an engine and the wire together, for
// the verbs that serve one.
package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tsdb/cmd/tsdb/internal/config"
	"tsdb/colstore"
	"tsdb/exec/session"
	"tsdb/pgwire"
)

// Superuser is the role and database that every data directory has.
const Superuser = "tsdb"

// Config says what to open and where to listen.
type Config struct {
	MustExist       bool // refuse a data directory without a database instead of making one
	Data            string
	Listen          string // host:port
	AnyPort         bool   // take a free port if the one of Listen is taken
	Memory          config.Size
	PasswordFile    string
	MaxConnections  int
	RequirePassword bool          // also on loopback
	Grace           time.Duration // for running statements at shutdown
	Logger          *slog.Logger
	Version         string
	LogSlow         int64 // default of log_min_duration_statement in milliseconds, plus 1; 0: none is logged
	// Tune, if not nil, changes the store's options before it opens (tests).
	Tune func(*colstore.Options)
}

// Server is an open data directory with an engine and a wire server.
type Server struct {
	Engine *session.Engine
	Wire   *pgwire.Server
	cfg    Config
	store  *colstore.Store
	ln     net.Listener
	served chan error // what Serve returned
}

// Open opens the data directory; no network is involved yet.
func Open(cfg Config) (*Server, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Memory == 0 {
		cfg.Memory = config.DefaultMemory()
	}
	if err := config.CheckMemory(cfg.Memory); err != nil {
		return nil, err
	}
	if err := checkDirectory(cfg.Data, cfg.MustExist); err != nil {
		return nil, err
	}
	split := config.Split(cfg.Memory)
	options := colstore.Options{Memory: split.Store, Logger: cfg.Logger}
	if cfg.Tune != nil {
		cfg.Tune(&options)
	}
	store, err := colstore.Open(cfg.Data, options)
	if err != nil {
		return nil, OpenError(cfg.Data, err)
	}
	engine, err := session.NewEngine(store, session.Options{Logger: cfg.Logger, QueryMemory: split.Query,
		Temp: filepath.Join(cfg.Data, "temporary"), Version: cfg.Version,
		Connections: cfg.MaxConnections, LogSlow: cfg.LogSlow})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("loading the catalog of %s: %w", cfg.Data, err), store.Close())
	}
	wire := pgwire.New(engine, pgwire.Options{Logger: cfg.Logger, MaxConnections: cfg.MaxConnections,
		RequirePassword: cfg.RequirePassword})
	return &Server{Engine: engine, Wire: wire, cfg: cfg, store: store, served: make(chan error, 1)}, nil
}

// ErrInUse is wrapped by Open's error when another process has the data directory open.
var ErrInUse = errors.New("is in use by another tsdb process")

// OpenError words what went wrong with opening a data directory.
func OpenError(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no database in %s", dir)
	}
	if errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process") {
		return fmt.Errorf("data directory %s %w; stop that one, or choose another directory with --data", dir, ErrInUse)
	}
	return fmt.Errorf("opening data directory %s: %w", dir, err)
}

// Listen prepares the listener: passwords first, then the address.
func (s *Server) Listen() error {
	if s.cfg.PasswordFile != "" && !s.Engine.HasPasswords() {
		password, err := config.Password(s.cfg.PasswordFile)
		if err != nil {
			return err
		}
		if err := s.Engine.SetPassword(Superuser, password); err != nil {
			return fmt.Errorf("setting the password of role %s: %w", Superuser, err)
		}
	}
	local, err := config.IsLoopback(s.cfg.Listen)
	if err != nil {
		return err
	}
	if (!local || s.cfg.RequirePassword) && !s.Engine.HasPasswords() {
		return s.needPassword()
	}
	s.ln, err = net.Listen("tcp", s.cfg.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		if !s.cfg.AnyPort {
			return fmt.Errorf("cannot listen on %s: the address is in use; stop what listens there, or choose another one with --listen",
				s.cfg.Listen)
		}
		host, _, _ := net.SplitHostPort(s.cfg.Listen)
		s.ln, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", s.cfg.Listen, err)
	}
	return nil
}

func (s *Server) needPassword() error {
	return fmt.Errorf(`refusing to listen on %s: clients there must prove a password, and no superuser has one
Set one in either way:
  tsdb serve --password-file FILE ...      the first line of FILE becomes the password of role %s
  tsdb sql --data %s -c "ALTER ROLE %s PASSWORD '...'"`, s.cfg.Listen, Superuser, s.cfg.Data, Superuser)
}

// Addr returns the address that Listen got.
func (s *Server) Addr() string { return s.ln.Addr().String() }

// Start serves the listener in the background.
func (s *Server) Start() {
	go func() { s.served <- s.Wire.Serve(s.ln) }()
}

// Store returns the open data directory.
func (s *Server) Store() *colstore.Store { return s.store }

// ErrStoreFailed is wrapped by Wait's error when the store has stopped taking
// writes after an I/O error: close the server and open it again.
var ErrStoreFailed = errors.New("the store stopped after an I/O error")

// Wait returns when ctx is done (nil), the store has failed, or serving ended
// by itself.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.store.Failing():
		return fmt.Errorf("%w: %w", ErrStoreFailed, s.store.Failed())
	case err := <-s.served:
		return err
	}
}

// Dial connects to the engine within the process.
func (s *Server) Dial(context.Context) (net.Conn, error) {
	client, srv := net.Pipe()
	go s.Wire.ServeConn(srv)
	return client, nil
}

// Close drains the sessions and closes the data directory.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.Grace)
	defer cancel()
	if err := s.Wire.Shutdown(ctx); err != nil {
		s.cfg.Logger.Warn("running statements were cancelled", "grace", s.cfg.Grace)
	}
	return errors.Join(s.Engine.Close(), s.store.Close())
}
