package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tsdb/cmd/tsdb/internal/config"
	"tsdb/cmd/tsdb/internal/console"
	"tsdb/cmd/tsdb/internal/progress"
	"tsdb/cmd/tsdb/internal/server"
	"tsdb/colstore"
)

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check DIR",
		Short: "Verify a data directory or a backup",
		Long: `Read everything in a data directory that no server has open, or in a backup,
and verify it: the files of a backup against its manifest, checksums of files,
chunks and records, and whether what belongs together agrees: chunks and their
segment rows, statistics and values, keys and their order, unique entries and
rows. Nothing is changed.

Each problem is one line on standard output. The exit status is 0 only if there
is none.`,
		Example: `  tsdb check ./tsdb-data
  tsdb check /backups/monday`,
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCheck(cmd.Context(), args[0], os.Stdout, progress.NewBytes(os.Stderr, "checking"))
		},
	}
}

// oneDirectory wants the directory and nothing else.
func oneDirectory(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes one directory; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

func runCheck(ctx context.Context, dir string, out io.Writer, bar *progress.Bytes) error {
	r, err := colstore.Check(ctx, dir, colstore.Options{Memory: offlineMemory}, func(p colstore.Problem) {
		bar.Clear()
		word := "problem"
		if p.Harmless {
			word = "leftover"
		}
		fmt.Fprintf(out, "%s: %s\n", word, p.Error())
	}, bar.Set)
	bar.Done()
	if err != nil {
		return server.OpenError(dir, err)
	}
	size := config.Size(r.Bytes)
	fmt.Fprintf(out, "%d tables, %d segments, %d chunks, %d rows, %d files of %s: %s\n",
		r.Tables, r.Segments, r.Chunks, r.Rows, r.Files, size.String(), verdict(r))
	if r.Problems > 0 {
		return console.ErrFailed
	}
	return nil
}

func verdict(r colstore.CheckResult) string {
	text := "no problems"
	if r.Problems == 1 {
		text = "1 problem"
	} else if r.Problems > 1 {
		text = fmt.Sprintf("%d problems", r.Problems)
	}
	if r.Harmless > 0 {
		text += fmt.Sprintf(", %d leftovers that the next start removes", r.Harmless)
	}
	return text
}

// offlineMemory is the budget of verbs that only look at a directory.
const offlineMemory = 128 << 20
