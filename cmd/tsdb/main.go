// Command tsdb is a SQL time-series database: one binary that serves
// PostgreSQL's protocol from a data directory.
//
// Each verb has a file of its own; what they share is in internal.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"tsdb/cmd/tsdb/internal/console"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := rootCommand().ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	if !errors.Is(err, console.ErrFailed) {
		fmt.Fprintln(os.Stderr, "tsdb:", err)
	}
	os.Exit(1)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "tsdb",
		Short: "A SQL time-series database that speaks PostgreSQL's protocol",
		Long: `tsdb is a SQL time-series database in one binary. Any PostgreSQL client talks
to it. Try it with "tsdb demo", run it with "tsdb serve".`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(serveCommand(), demoCommand(), sqlCommand(), versionCommand())
	return root
}
