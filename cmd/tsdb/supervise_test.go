package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"tsdb/cmd/tsdb/internal/console"
	"tsdb/cmd/tsdb/internal/server"
	"tsdb/colstore"
)

// faultyDisk fails writes and syncs of files whose name contains a word.
type faultyDisk struct {
	word atomic.Pointer[string]
	err  error
	full atomic.Bool // what GetDiskUsage says
}

func (d *faultyDisk) MaybeError(op errorfs.Op) error {
	w := d.word.Load()
	if w == nil || !strings.Contains(filepath.Base(op.Path), *w) {
		return nil
	}
	switch op.Kind {
	case errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpCreate:
		return d.err
	}
	return nil
}

func (d *faultyDisk) String() string { return "faulty disk" }

type diskFS struct {
	vfs.FS
	d *faultyDisk
}

func (f diskFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	if f.d.full.Load() {
		return vfs.DiskUsage{AvailBytes: 1, TotalBytes: 1 << 40}, nil
	}
	return vfs.DiskUsage{AvailBytes: 1 << 39, TotalBytes: 1 << 40}, nil
}

// supervised runs a supervisor over a faulty disk until the test ends.
func supervised(t *testing.T, d *faultyDisk) (to console.Target, address string, opened <-chan *server.Server, ended <-chan error) {
	t.Helper()
	began, done := make(chan *server.Server, 10), make(chan error, 1)
	s := &supervisor{http: "127.0.0.1:0", log: slog.New(slog.DiscardHandler), opened: func(srv *server.Server) { began <- srv }}
	s.cfg = server.Config{Data: filepath.Join(t.TempDir(), "db"), Listen: "127.0.0.1:0", Memory: 128 << 20, Grace: time.Second,
		Logger: s.log, Tune: func(o *colstore.Options) { o.FS = diskFS{errorfs.Wrap(vfs.Default, d), d} }}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- s.run(ctx) }()
	var srv *server.Server
	select {
	case srv = <-began:
	case err := <-done:
		t.Fatal(err)
	}
	t.Cleanup(cancel)
	host, port, _ := net.SplitHostPort(srv.Addr())
	n, _ := strconv.Atoi(port)
	return console.Target{Host: host, Port: n, User: server.Superuser, Database: server.Superuser}, s.http, began, done
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func attempt(to console.Target, sql string) error {
	ctx := context.Background()
	conn, err := console.Connect(ctx, to, io.Discard)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql).ReadAll()
	return err
}

// TestReopensAfterAnIOError breaks the log: the statement fails, the store is
// reopened at the same address, and holds what was acknowledged.
func TestReopensAfterAnIOError(t *testing.T) {
	for _, word := range []string{".log", "MANIFEST"} {
		t.Run(word, func(t *testing.T) {
			d := &faultyDisk{err: syscall.EIO}
			to, address, opened, ended := supervised(t, d)
			query(t, to, `CREATE TABLE readings (station text, ts timestamptz, v float8, PRIMARY KEY (station, ts)) WITH (time = 'ts')`)
			query(t, to, `INSERT INTO readings VALUES ('a', '2024-01-01', 1)`)
			d.word.Store(&word)
			// CHECKPOINT reaches the MANIFEST, INSERT the log.
			err := attempt(to, `INSERT INTO readings VALUES ('a', '2024-01-02', 1)`)
			if word == ".log" && err == nil {
				t.Fatal("an INSERT over a broken log is acknowledged")
			}
			if word == "MANIFEST" {
				if err != nil {
					t.Fatal(err)
				}
				if err := attempt(to, `CHECKPOINT`); err == nil {
					t.Fatal("CHECKPOINT over a broken MANIFEST succeeds")
				}
			}
			d.word.Store(nil)
			select {
			case <-opened:
			case err := <-ended:
				t.Fatalf("the server ended: %v", err)
			case <-time.After(time.Minute):
				t.Fatal("the store is not reopened")
			}
			if got := query(t, to, `SELECT count(*) FROM readings WHERE ts < '2024-01-02'`); got != "1\n" {
				t.Errorf("%q rows after reopening", got)
			}
			query(t, to, `INSERT INTO readings VALUES ('a', '2024-01-03', 1)`)
			if code, text := get(t, "http://"+address+"/readyz"); code != http.StatusOK {
				t.Errorf("not ready after reopening: %d %s", code, text)
			}
		})
	}
}

// TestFullDisk refuses writes while the disk is full, serves reads, and takes
// writes again when there is room, also if the engine met ENOSPC before.
func TestFullDisk(t *testing.T) {
	d := &faultyDisk{err: syscall.ENOSPC}
	to, address, opened, _ := supervised(t, d)
	query(t, to, `CREATE TABLE t (id int PRIMARY KEY)`)
	query(t, to, `INSERT INTO t VALUES (1)`)
	refused := func(want string) {
		t.Helper()
		if err := attempt(to, `INSERT INTO t VALUES (2)`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("INSERT on a full disk: %v, want %s", err, want)
		}
		if got := query(t, to, `SELECT count(*) FROM t`); got != "1\n" {
			t.Errorf("%q rows on a full disk", got)
		}
		if code, _ := get(t, "http://"+address+"/readyz"); code != http.StatusServiceUnavailable {
			t.Errorf("ready on a full disk: %d", code)
		}
	}
	d.full.Store(true)
	refused("53100")
	d.full.Store(false)
	query(t, to, `BEGIN; INSERT INTO t VALUES (3); ROLLBACK`)
	word := ".log"
	d.word.Store(&word)
	if err := attempt(to, `INSERT INTO t VALUES (2)`); err == nil || !strings.Contains(err.Error(), "53100") {
		t.Errorf("INSERT that meets ENOSPC: %v", err)
	}
	d.word.Store(nil)
	<-opened
	query(t, to, `INSERT INTO t VALUES (2)`)
	if code, text := get(t, "http://"+address+"/readyz"); code != http.StatusOK {
		t.Errorf("not ready with room on the disk: %d %s", code, text)
	}
}

func TestMetricsAndHealth(t *testing.T) {
	to, address, _, _ := supervised(t, &faultyDisk{})
	query(t, to, `CREATE TABLE t (id int PRIMARY KEY)`)
	query(t, to, `INSERT INTO t VALUES (1), (2)`)
	if err := attempt(to, `INSERT INTO t VALUES (1)`); err == nil {
		t.Error("a duplicate key is accepted")
	}
	if code, text := get(t, "http://"+address+"/healthz"); code != http.StatusOK || text != "ok\n" {
		t.Errorf("healthz: %d %s", code, text)
	}
	code, text := get(t, "http://"+address+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("metrics: %d %s", code, text)
	}
	for _, want := range []string{`tsdb_statements_total{kind="insert"} 1`, `tsdb_statements_total{kind="ddl"} 1`, `tsdb_errors_total{sqlstate="23505"} 1`,
		`tsdb_statement_duration_seconds_bucket{kind="insert",le="60"} 1`, "tsdb_ingest_rows_total 2", "tsdb_log_syncs_total", "tsdb_disk_free_bytes",
		`tsdb_memory_bytes{part="cache"}`, `tsdb_memory_budget_bytes{part="all"} 1.34217728e+08`, "tsdb_ready 1", "tsdb_tables 1",
		"tsdb_log_sync_duration_nanoseconds_count", `tsdb_connections{state="active"} 0`} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if t.Failed() {
		fmt.Println(text)
	}
}
