package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tsdb/cmd/tsdb/internal/config"
	"tsdb/cmd/tsdb/internal/console"
	"tsdb/cmd/tsdb/internal/demo"
	"tsdb/cmd/tsdb/internal/server"
	"tsdb/sql"
)

const defaultDemoData = "./tsdb-demo"

func demoCommand() *cobra.Command {
	cfg := server.Config{Memory: config.DefaultMemory(), AnyPort: true, Grace: defaultGrace, Version: version}
	exit := false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Load a year of weather, ask it questions, and go on serving it",
		Long: `Make a data directory, create tables with row keys, load a year of hourly
weather that is part of this binary, and run a few queries that show what tsdb
is for. Then go on serving, for psql or any other client, until Ctrl-C.

The weather is NOAA's hourly normals for Seattle-Tacoma International Airport,
in the public domain, as packaged by vega-datasets (BSD-3-Clause).`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), cfg, exit, os.Stdout) },
	}
	f := cmd.Flags()
	f.StringVar(&cfg.Data, "data", defaultDemoData, "data directory; made afresh, and emptied first if an earlier demo made it")
	f.StringVar(&cfg.Listen, "listen", defaultListen, "address to listen on, HOST:PORT; if the port is taken, a free one is used")
	f.Var(&cfg.Memory, "memory", "memory budget in bytes, such as 512MB or 2GiB")
	f.BoolVar(&exit, "exit", false, "end after the tour instead of serving (default false)")
	return cmd
}

func runDemo(ctx context.Context, cfg server.Config, exit bool, out *os.File) (err error) {
	if err := sql.CheckThreadStack(); err != nil {
		return err
	}
	if err := closeEarlier(cfg); err != nil {
		return err
	}
	if err := demo.Prepare(cfg.Data); err != nil {
		return err
	}
	srv, err := server.Open(cfg)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := srv.Close(); err == nil {
			err = closeErr
		}
	}()
	if err := srv.Listen(); err != nil {
		return err
	}
	srv.Start()
	terminal := term.IsTerminal(int(out.Fd()))
	fmt.Fprintf(out, "tsdb %s, data in %s\n", version, cfg.Data)
	if err := tour(ctx, srv, out, terminal); err != nil || exit {
		return err
	}
	if err := invite(out, cfg.Listen, srv.Addr()); err != nil {
		return err
	}
	return srv.Wait(ctx)
}

// closeEarlier refuses to empty a directory that a running demo serves.
func closeEarlier(cfg server.Config) error {
	if !demo.Used(cfg.Data) {
		return nil
	}
	srv, err := server.Open(cfg)
	if errors.Is(err, server.ErrInUse) {
		return err
	}
	if err != nil {
		return nil // unreadable: it is emptied anyway
	}
	return srv.Close()
}

func tour(ctx context.Context, srv *server.Server, out io.Writer, terminal bool) error {
	conn, err := console.Connect(ctx, console.Target{User: server.Superuser, Database: server.Superuser, Dial: srv.Dial}, out)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	t := &demo.Tour{Conn: conn, Out: out, Color: terminal, Progress: demo.Line(out)}
	if terminal {
		t.Progress = demo.Bar(out)
	}
	return t.Run(ctx)
}

// invite says how to connect.
func invite(out io.Writer, wanted, got string) error {
	host, port, err := net.SplitHostPort(got)
	if err != nil {
		return err
	}
	if _, wantedPort, _ := net.SplitHostPort(wanted); wantedPort != port && wantedPort != "0" {
		fmt.Fprintf(out, "\nPort %s is taken, so another one is used.\n", wantedPort)
	}
	_, err = fmt.Fprintf(out, `
Serving. Connect from another terminal with either of

    psql -h %s -p %s -U tsdb tsdb
    tsdb sql --host %s --port %s

Ctrl-C ends.
`, host, port, host, port)
	return err
}
