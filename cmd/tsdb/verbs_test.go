package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tsdb/cmd/tsdb/internal/console"
	"tsdb/cmd/tsdb/internal/server"
)

// serving opens a server on a free port and runs statements on it.
func serving(t *testing.T, dir string, statements ...string) (*server.Server, console.Target) {
	t.Helper()
	srv, err := server.Open(server.Config{Data: dir, Listen: "127.0.0.1:0", Memory: 128 << 20, Grace: time.Second, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Listen(); err != nil {
		t.Fatal(err)
	}
	srv.Start()
	host, port, _ := net.SplitHostPort(srv.Addr())
	n, _ := strconv.Atoi(port)
	to := console.Target{Host: host, Port: n, User: server.Superuser, Database: server.Superuser}
	for _, s := range statements {
		query(t, to, s)
	}
	return srv, to
}

func query(t *testing.T, to console.Target, sql string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := console.Connect(ctx, to, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	text := ""
	for _, r := range results {
		for _, row := range r.Rows {
			text += string(bytes.Join(row, []byte("|"))) + "\n"
		}
	}
	return text
}

func TestBackupCheckInspectRestore(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	data, backup, restored := filepath.Join(dir, "data"), filepath.Join(dir, "backup's"), filepath.Join(dir, "restored")
	srv, to := serving(t, data, `CREATE TABLE readings (station text, ts timestamptz, celsius float8, PRIMARY KEY (station, ts))`,
		`INSERT INTO readings SELECT 'KSEA', timestamptz '2024-01-01 00:00+00' + i * interval '1 minute', i / 10.0 FROM generate_series(0, 2999) i`,
		`CHECKPOINT`, `CREATE TABLE tags (id int PRIMARY KEY, name text UNIQUE)`, `INSERT INTO tags VALUES (1, 'one')`)
	var out bytes.Buffer
	if err := runCheck(ctx, data, &out, nil); !errors.Is(err, server.ErrInUse) {
		t.Errorf("check of a served directory: %v", err)
	}
	if err := backupOnline(ctx, backupOptions{target: to}, backup); err != nil {
		t.Fatal(err)
	}
	if err := backupOnline(ctx, backupOptions{target: to}, backup); err == nil || !strings.Contains(err.Error(), "exists but is not empty") {
		t.Errorf("backup over a backup: %v", err)
	}
	query(t, to, `INSERT INTO tags VALUES (2, 'after the backup')`)
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Open(server.Config{Data: backup, Memory: 128 << 20}); err == nil || !strings.Contains(err.Error(), "tsdb restore") {
		t.Errorf("serving a backup: %v", err)
	}
	for _, d := range []string{data, backup} {
		before := listing(t, d)
		out.Reset()
		if err := runCheck(ctx, d, &out, nil); err != nil || !strings.Contains(out.String(), "no problems") {
			t.Errorf("check: %v, %s", err, out.String())
		}
		if after := listing(t, d); after != before {
			t.Errorf("check changed %s:\n%s\n%s", d, before, after)
		}
	}
	cmd := restoreCommand()
	cmd.SetArgs([]string{backup, "--data", restored})
	if err := cmd.ExecuteContext(ctx); err != nil {
		t.Fatal(err)
	}
	inspected(t, restored)
	srv, to = serving(t, restored)
	if got := query(t, to, `SELECT count(*), sum(celsius), (SELECT count(*) FROM tags) FROM readings`); got != "3000|449850|1\n" {
		t.Errorf("restored %q", got)
	}
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	spoil(t, restored)
	out.Reset()
	if err := runCheck(ctx, restored, &out, nil); !errors.Is(err, console.ErrFailed) || !strings.Contains(out.String(), ".sst") {
		t.Errorf("check of a damaged directory: %v, %s", err, out.String())
	}
}

// inspected looks inside from all sides.
func inspected(t *testing.T, dir string) {
	t.Helper()
	for _, c := range []struct {
		args []string
		o    inspectOptions
		want string
	}{
		{[]string{dir}, inspectOptions{}, " public | readings | columnar | 3000 |"},
		{[]string{dir}, inspectOptions{}, " public | tags     | row      |    1 |"},
		{[]string{dir, "readings"}, inspectOptions{}, "2024-01-03 01:59:00Z"},
		{[]string{dir, "public.readings"}, inspectOptions{}, " celsius "},
		{[]string{dir, "readings"}, inspectOptions{chunks: true}, " celsius |     1 | 3000 |"},
		{[]string{dir, "readings"}, inspectOptions{row: []string{"KSEA", "2024-01-01 00:05+00"}}, " live  | KSEA    | 2024-01-01 00:05:00+00 | 0.5"},
		{[]string{dir, "tags"}, inspectOptions{row: []string{"1"}}, " | 1  | one\n(1 row)"},
		{[]string{dir, "tags"}, inspectOptions{row: []string{"7"}}, "(0 rows)"},
	} {
		var out, errs bytes.Buffer
		if err := runInspect(c.args, c.o, &out, &errs); err != nil || errs.Len() > 0 || !strings.Contains(out.String(), c.want) {
			t.Errorf("inspect %q %+v: %v, %s, want %q in\n%s", c.args[1:], c.o, err, errs.String(), c.want, out.String())
		}
	}
	for _, args := range [][]string{{dir, "nothing"}, {filepath.Join(dir, "nothing")}} {
		if err := runInspect(args, inspectOptions{}, &bytes.Buffer{}, &bytes.Buffer{}); err == nil {
			t.Errorf("inspect %q succeeds", args)
		}
	}
}

// listing names the files of a directory.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// spoil flips a bit in each sstable.
func spoil(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sstables: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b[100] ^= 4
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
