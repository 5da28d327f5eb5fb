package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"

	"tsdb/cmd/tsdb/internal/config"
	"tsdb/cmd/tsdb/internal/server"
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
	level, file, httpAddress, slow := "info", "", "", int64(-1)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a data directory to PostgreSQL clients",
		Long: `Serve a data directory to PostgreSQL clients until SIGTERM or Ctrl-C; a second
one does not wait for running statements.

Clients on this machine are trusted: psql -h 127.0.0.1 -p 5433 -U tsdb tsdb
Others prove a password by SCRAM-SHA-256, so an address beyond loopback needs a
superuser with a password; see --password-file.

After an I/O error on the log nothing is acknowledged any more: clients are
disconnected, the data directory is closed and opened again. If that does not
help, the process ends with status 1.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" {
				if err := config.ApplyFile(file, cmd); err != nil {
					return err
				}
			}
			logger, err := newLogger(level)
			if err != nil {
				return err
			}
			if cfg.MaxConnections < 1 {
				return fmt.Errorf("invalid --max-connections %d: at least 1", cfg.MaxConnections)
			}
			if slow < -1 {
				return fmt.Errorf("invalid --log-min-duration-statement %d: milliseconds, or -1", slow)
			}
			cfg.Logger, cfg.LogSlow = logger, slow+1
			return serve(cmd.Context(), cfg, httpAddress)
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
	f.StringVar(&file, "config", "", "TOML file with the names of these flags, such as memory = \"2GiB\"; flags win over the file (default none)")
	f.StringVar(&httpAddress, "http", "", "address for /metrics (Prometheus), /healthz and /readyz, such as 127.0.0.1:5480 (default none)")
	f.Int64Var(&slow, "log-min-duration-statement", slow, "log statements that run so many milliseconds or longer; 0 logs all, -1 none")
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

func serve(ctx context.Context, cfg server.Config, httpAddress string) error {
	if err := sql.CheckThreadStack(); err != nil {
		return err
	}
	limitHeap(cfg.Logger, cfg.Memory)
	s := &supervisor{cfg: cfg, http: httpAddress, log: cfg.Logger}
	return s.run(ctx)
}

// limitHeap makes Go's collector keep the process within the budget, the fixed
// overhead and the memory of cgroup or machine, unless GOMEMLIMIT says
// otherwise. The engine's memtables and cache, half of the store's part, lie
// outside of Go's heap.
func limitHeap(logger *slog.Logger, memory config.Size) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := int64(memory) + config.Overhead - config.Split(memory).Store/2
	if system, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)(); err == nil && system > 0 {
		limit = min(limit, int64(float64(system)*heapShare))
	}
	debug.SetMemoryLimit(limit)
	logger.Debug("limit of Go's heap", "bytes", limit)
}
