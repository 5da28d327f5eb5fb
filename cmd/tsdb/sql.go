package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tsdb/cmd/tsdb/internal/config"
	"tsdb/cmd/tsdb/internal/console"
	"tsdb/cmd/tsdb/internal/server"
)

type sqlOptions struct {
	target  console.Target
	data    string
	memory  config.Size
	command string
	timing  bool
}

func sqlCommand() *cobra.Command {
	o := sqlOptions{memory: config.DefaultMemory()}
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "Run SQL on a server or straight on a data directory",
		Long: `Run SQL on a running server or, with --data, straight on a data directory that
no server has open.

With -c the statements come from the command line. Otherwise they are read from
standard input: at a prompt with history on a terminal, as a script elsewhere.
The exit status is 0 only if every statement succeeded.`,
		Example: `  tsdb sql -c "SELECT version()"
  tsdb sql --data ./tsdb-demo -c "SELECT count(*) FROM weather"
  tsdb sql < script.sql`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSQL(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.command, "command", "c", "", "statements to run; COPY ... FROM STDIN reads standard input")
	f.StringVar(&o.data, "data", "", "open this data directory in this process instead of connecting to a server")
	f.StringVar(&o.target.URL, "url", "", "connection string, postgres://USER:PASSWORD@HOST:PORT/DBNAME or key=value pairs;\nreplaces --host, --port, --user and --dbname")
	f.StringVar(&o.target.Host, "host", "127.0.0.1", "server's host")
	f.IntVar(&o.target.Port, "port", 5433, "server's port")
	f.StringVar(&o.target.User, "user", server.Superuser, "role to connect as; its password comes from PGPASSWORD, or is asked for")
	f.StringVar(&o.target.Database, "dbname", server.Superuser, "database to connect to")
	f.Var(&o.memory, "memory", "memory budget with --data, such as 512MB or 2GiB")
	f.BoolVar(&o.timing, "timing", false, "print the time of each statement")
	cmd.MarkFlagsMutuallyExclusive("data", "url")
	return cmd
}

func runSQL(ctx context.Context, o sqlOptions) (err error) {
	if o.data != "" {
		srv, openErr := server.Open(server.Config{Data: o.data, MustExist: true, Memory: o.memory, Version: version})
		if openErr != nil {
			return openErr
		}
		defer func() {
			if closeErr := srv.Close(); err == nil {
				err = closeErr
			}
		}()
		o.target.Dial = srv.Dial
	}
	conn, err := console.Connect(ctx, o.target, os.Stderr)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	r := &console.Runner{Conn: conn, Out: os.Stdout, Err: os.Stderr, Timing: o.timing}
	switch {
	case strings.TrimSpace(o.command) != "":
		return runCommand(ctx, r, o.command)
	case term.IsTerminal(int(os.Stdin.Fd())):
		// Ctrl-C cancels statements there, not the program.
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		return r.Prompt(context.WithoutCancel(ctx), os.Stdin, o.target.Database)
	}
	return r.Script(ctx, os.Stdin)
}

// runCommand runs the statements of -c up to the first that fails.
func runCommand(ctx context.Context, r *console.Runner, text string) error {
	var split console.Splitter
	var err error
	run := func(stmt, _ string) int {
		if err == nil {
			err = r.Run(ctx, stmt, os.Stdin)
		}
		return 0
	}
	split.Feed(text, run)
	if rest := split.Rest(); rest != "" {
		run(rest, "")
	}
	return err
}
