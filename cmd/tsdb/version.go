package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"tsdb/colstore/kernels"
)

// version is the release; a build may set it with -ldflags "-X main.version=...".
var version = "0.1.0"

// grammarVersion is the PostgreSQL release whose grammar reads SQL.
const grammarVersion = "PostgreSQL 17"

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of tsdb and of what it is built from",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			fmt.Fprintln(out, "tsdb", version)
			if c := commit(); c != "" {
				fmt.Fprintln(out, "commit  ", c)
			}
			fmt.Fprintln(out, "go      ", runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
			fmt.Fprintln(out, "kernels ", kernels.Name())
			_, err := fmt.Fprintln(out, "grammar ", grammarVersion)
			return err
		},
	}
}

// commit returns the revision the binary was built from, empty if that is unknown.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " (modified)"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}
