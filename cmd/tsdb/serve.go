package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"

	"tsdb/cmd/tsdb/internal/config"
	"tsdb/cmd/tsdb/internal/server"
	"tsdb/colstore/kernels"
	"tsdb/sql"
)

const (
	defaultListen = "127.0.0.1:5433"
	defaultData   = "./tsdb-data"
	defaultGrace  = 10 * time.Second
	// heapShare is how much of the cgroup's or machine's memory Go's heap may
	// take before its collector works harder.
	heapShare = 0.9
)

func serveCommand() *cobra.Command {
	cfg := server.Config{Memory: config.DefaultMemory(), Version: version}
	level := "info"
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a data directory to PostgreSQL clients",
		Long: `Serve a data directory to PostgreSQL clients until SIGTERM or Ctrl-C; a second
one does not wait for running statements.

Clients on this machine are trusted: psql -h 127.0.0.1 -p 5433 -U tsdb tsdb
Others prove a password by SCRAM-SHA-256, so an address beyond loopback needs a
superuser with a password; see --password-file.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := newLogger(level)
			if err != nil {
				return err
			}
			if cfg.MaxConnections < 1 {
				return fmt.Errorf("invalid --max-connections %d: at least 1", cfg.MaxConnections)
			}
			cfg.Logger = logger
			return serve(cmd.Context(), cfg)
		},
	}
	f := cmd.Flags()
	f.StringVar(&cfg.Data, "data", defaultData, "data directory, made if it does not exist")
	f.StringVar(&cfg.Listen, "listen", defaultListen, "address to listen on, HOST:PORT; port 0 takes a free one")
	f.Var(&cfg.Memory, "memory", "memory budget in bytes, such as 512MB or 2GiB (at least 64MiB);\nby default half of what the cgroup, or else the machine, has")
	f.StringVar(&cfg.PasswordFile, "password-file", "", "file whose first line becomes the password of role tsdb,\nif no superuser has one yet (default none)")
	f.BoolVar(&cfg.RequirePassword, "require-password", false, "ask for passwords on loopback too (default false)")
	f.IntVar(&cfg.MaxConnections, "max-connections", 1000, "sessions at a time")
	f.DurationVar(&cfg.Grace, "shutdown-grace", defaultGrace, "time that running statements have at shutdown before they are cancelled")
	f.StringVar(&level, "log-level", level, "least level that is logged: debug, info, warn or error")
	return cmd
}

func newLogger(level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(strings.ToUpper(level))); err != nil {
		return nil, fmt.Errorf("invalid --log-level %q: debug, info, warn or error", level)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: l})), nil
}

func serve(ctx context.Context, cfg server.Config) error {
	if err := sql.CheckThreadStack(); err != nil {
		return err
	}
	limitHeap(cfg.Logger)
	srv, err := server.Open(cfg)
	if err != nil {
		return err
	}
	if err := srv.Listen(); err != nil {
		srv.Close()
		return err
	}
	cfg.Logger.Info("serving", "version", version, "address", srv.Addr(), "data", cfg.Data, "memory", cfg.Memory.String(),
		"kernels", kernels.Name())
	srv.Start()
	err = srv.Wait(ctx)
	cfg.Logger.Info("shutting down")
	if closeErr := srv.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		cfg.Logger.Info("closed")
	}
	return err
}

// limitHeap makes Go's collector respect the cgroup's or machine's memory, unless GOMEMLIMIT says otherwise.
func limitHeap(logger *slog.Logger) {
	provider := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
	if _, err := memlimit.Set(memlimit.WithRatio(heapShare), memlimit.WithProvider(provider)); err != nil {
		logger.Debug("no memory limit set", "error", err)
	}
}
