package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"tsdb/cmd/tsdb/internal/config"
	"tsdb/cmd/tsdb/internal/metrics"
	"tsdb/cmd/tsdb/internal/server"
	"tsdb/colstore"
	"tsdb/colstore/kernels"
	"tsdb/exec/session"
)

const (
	// maxReopens within reopenWindow are tried; then the disk needs somebody.
	maxReopens   = 3
	reopenWindow = 10 * time.Minute
	// reopenPause is the wait before the first of them; each further one waits
	// four times as long.
	reopenPause = 250 * time.Millisecond
	// closeLimit is how long closing a failed store may take: its engine may
	// wait for a disk that does not answer.
	closeLimit = 30 * time.Second
	// spacePoll is the time between two looks at a full disk.
	spacePoll = time.Second
)

// supervisor serves a data directory and opens it again after an I/O error of
// its log: then nothing is acknowledged until recovery has read what is on disk.
type supervisor struct {
	cfg     server.Config
	http    string // address of the HTTP server; empty: none
	log     *slog.Logger
	current atomic.Pointer[server.Server]
	failed  []time.Time          // recent failures
	opened  func(*server.Server) // called when serving has begun (tests); may be nil
}

func (s *supervisor) run(ctx context.Context) error {
	stop, err := s.serveHTTP()
	if err != nil {
		return err
	}
	defer stop()
	for {
		began, err := s.once(ctx)
		// A disk that is still in trouble refuses the reopening, too.
		again := errors.Is(err, server.ErrStoreFailed) || !began && len(s.failed) > 0 && ctx.Err() == nil
		if !again {
			return err
		}
		now := time.Now()
		s.failed = append(s.failed, now)
		for now.Sub(s.failed[0]) > reopenWindow {
			s.failed = s.failed[1:]
		}
		if len(s.failed) > maxReopens {
			return fmt.Errorf("%w; reopening was tried %d times within %s: check the disk", err, maxReopens, reopenWindow)
		}
		pause := reopenPause << (2 * (len(s.failed) - 1))
		s.log.Warn("reopening the data directory", "data", s.cfg.Data, "in", pause, "error", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// once opens, serves and closes.
func (s *supervisor) once(ctx context.Context) (began bool, err error) {
	srv, err := server.Open(s.cfg)
	if err != nil {
		return false, err
	}
	if err := srv.Listen(); err != nil {
		return false, errors.Join(err, srv.Close())
	}
	s.cfg.Listen = srv.Addr() // port 0 stays the same when the store is reopened
	s.log.Info("serving", "version", version, "address", srv.Addr(), "data", s.cfg.Data, "memory", s.cfg.Memory.String(),
		"kernels", kernels.Name())
	srv.Start()
	s.current.Store(srv)
	if s.opened != nil {
		s.opened(srv)
	}
	err = srv.Wait(ctx)
	if errors.Is(err, server.ErrStoreFailed) {
		s.log.Error("no more writes until the data directory is reopened", "error", err)
		if errors.Is(err, syscall.ENOSPC) {
			s.awaitSpace(ctx, srv)
		}
	}
	s.current.Store(nil)
	return true, s.close(srv, err)
}

// awaitSpace waits for room on a full disk; reads are served meanwhile.
func (s *supervisor) awaitSpace(ctx context.Context, srv *server.Server) {
	tick := time.NewTicker(spacePoll)
	defer tick.Stop()
	for srv.Store().Space() != nil {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// close closes a server that ended with why. A failed store's own complaints
// add nothing, but one that does not close cannot be opened again.
func (s *supervisor) close(srv *server.Server, why error) error {
	s.log.Info("shutting down")
	done := make(chan error, 1)
	go func() { done <- srv.Close() }()
	limit := time.NewTimer(closeLimit + s.cfg.Grace)
	defer limit.Stop()
	if !errors.Is(why, server.ErrStoreFailed) {
		if err := <-done; why == nil {
			why = err
		}
		if why == nil {
			s.log.Info("closed")
		}
		return why
	}
	select {
	case err := <-done:
		if err != nil {
			s.log.Warn("closing the failed store", "error", err)
		}
		return why
	case <-limit.C:
		// Not wrapped: reopening would find the directory in use.
		return fmt.Errorf("the failed store did not close within %s: %v", closeLimit+s.cfg.Grace, why)
	}
}

// serveHTTP starts the HTTP server; the returned function stops it.
func (s *supervisor) serveHTTP() (stop func(), err error) {
	if s.http == "" {
		return func() {}, nil
	}
	ln, err := net.Listen("tcp", s.http)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s for --http: %w", s.http, err)
	}
	split := config.Split(s.cfg.Memory)
	h := metrics.Server(metrics.Source{Engine: s.engine, Store: s.store, Version: version,
		Memory: map[string]int64{"all": int64(s.cfg.Memory), "store": split.Store, "query": split.Query, "rest": split.Rest}})
	s.http = ln.Addr().String()
	s.log.Info("serving metrics", "address", s.http)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the HTTP server ended", "error", err)
		}
	}()
	return func() {
		h.Close()
		<-done
	}, nil
}

func (s *supervisor) engine() *session.Engine {
	if srv := s.current.Load(); srv != nil {
		return srv.Engine
	}
	return nil
}

func (s *supervisor) store() *colstore.Store {
	if srv := s.current.Load(); srv != nil {
		return srv.Store()
	}
	return nil
}
