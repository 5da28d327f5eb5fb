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
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
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
	root.Version = version
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(serveCommand(), demoCommand(), sqlCommand(), backupCommand(), restoreCommand(), checkCommand(),
		inspectCommand(), versionCommand())
	return root
}

// noArguments refuses words that are not flags: all of them would be mistakes.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes flags only, not %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}
