package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"tsdb/cmd/tsdb/internal/config"
	"tsdb/cmd/tsdb/internal/console"
	"tsdb/cmd/tsdb/internal/progress"
	"tsdb/cmd/tsdb/internal/server"
	"tsdb/colstore"
)

type backupOptions struct {
	target console.Target
	data   string
	link   bool
}

func backupCommand() *cobra.Command {
	var o backupOptions
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up a running server, or a data directory, into a new directory",
		Long: `Back up the whole database into a new or empty directory DIR: of a running
server, or, with --data, of a data directory that no server has open.

A running server writes the backup itself, so DIR is a path on its machine and
the role must be a superuser. Clients go on working meanwhile. The backup holds
everything that was acknowledged before it began, and each later transaction
whole or not at all. Its file MANIFEST.tsdb lists all files with size and
SHA-256 and is written last.

"tsdb check DIR" verifies a backup, "tsdb restore" makes a data directory of it.`,
		Example: `  tsdb backup /backups/monday
  tsdb backup /backups/monday --host db.example.com --user tsdb
  tsdb backup /backups/monday --data ./tsdb-data`,
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.data != "" {
				return backupOffline(cmd.Context(), o, args[0])
			}
			return backupOnline(cmd.Context(), o, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.data, "data", "", "back up this data directory, which no server has open, instead of a running server")
	f.BoolVar(&o.link, "link", false, "make hard links of the large files where the file system can: at once and without space,\nbut damage to one copy is damage to both (default false)")
	connectFlags(cmd, &o.target)
	cmd.MarkFlagsMutuallyExclusive("data", "url")
	return cmd
}

// connectFlags adds the flags that say where a server is.
func connectFlags(cmd *cobra.Command, t *console.Target) {
	f := cmd.Flags()
	f.StringVar(&t.URL, "url", "", "connection string, postgres://USER:PASSWORD@HOST:PORT/DBNAME or key=value pairs;\nreplaces --host, --port and --user")
	f.StringVar(&t.Host, "host", "127.0.0.1", "server's host")
	f.IntVar(&t.Port, "port", 5433, "server's port")
	f.StringVar(&t.User, "user", server.Superuser, "role to connect as; its password comes from PGPASSWORD, or is asked for")
	t.Database = server.Superuser
}

func backupOffline(ctx context.Context, o backupOptions, dir string) error {
	bar := progress.NewBytes(os.Stderr, "copying")
	m, err := colstore.BackupOffline(ctx, o.data, dir, colstore.Options{}, colstore.BackupOptions{Link: o.link, Version: version, Progress: bar.Set})
	bar.Done()
	if err != nil {
		return server.OpenError(o.data, err)
	}
	return printBackup("backup", m, dir)
}

func printBackup(what string, m *colstore.Manifest, dir string) error {
	size := config.Size(m.Bytes())
	_, err := fmt.Printf("%s: %d files, %s in %s\n", what, len(m.Files), size.String(), dir)
	return err
}

func backupOnline(ctx context.Context, o backupOptions, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	bar := progress.NewBytes(os.Stderr, "copying")
	result := ""
	conn, err := console.ConnectNotices(ctx, o.target, os.Stderr, func(n *pgconn.Notice) bool {
		var done, all int64
		if k, _ := fmt.Sscanf(n.Message, "backup: %d of %d bytes", &done, &all); k == 2 {
			bar.Set(done, all)
			return true
		}
		if strings.HasPrefix(n.Message, "backup of ") {
			result = n.Message
			return true
		}
		return false
	})
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cancel, done := context.WithTimeout(context.Background(), defaultGrace)
		defer done()
		_ = conn.CancelRequest(cancel)
	})
	defer stop()
	sql := fmt.Sprintf("CALL tsdb_catalog.backup('%s', link => %t)", strings.ReplaceAll(dir, "'", "''"), o.link)
	_, err = conn.Exec(context.WithoutCancel(ctx), sql).ReadAll()
	bar.Done()
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return fmt.Errorf("backup: %s", pe.Message)
	}
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	fmt.Println(result)
	return nil
}

func restoreCommand() *cobra.Command {
	data, link := "", false
	cmd := &cobra.Command{
		Use:   "restore BACKUP --data DIR",
		Short: "Make a data directory of a backup",
		Long: `Copy a backup into a new or empty data directory, comparing every file with the
backup's manifest. "tsdb serve --data DIR" serves it then. The backup stays as
it is and can be restored any number of times.`,
		Example: "  tsdb restore /backups/monday --data ./tsdb-data",
		Args:    oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			bar := progress.NewBytes(os.Stderr, "copying")
			m, err := colstore.Restore(cmd.Context(), args[0], data, colstore.Options{}, colstore.BackupOptions{Link: link, Progress: bar.Set})
			bar.Done()
			if err != nil {
				return err
			}
			return printBackup("restored", m, data)
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "data directory to make")
	cmd.Flags().BoolVar(&link, "link", false, "make hard links of the large files where the file system can: at once and without space,\nbut damage to one copy is damage to both (default false)")
	return cmd
}
