package demo

import (
	"bytes"
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tsdb/cmd/tsdb/internal/console"
	"tsdb/cmd/tsdb/internal/server"
)

// What PostgreSQL 15 answers to the tour's questions (with date_bin for time_bucket).
//
//go:embed testdata/answers.txt
var answers string

func TestTour(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	if err := Prepare(dir); err != nil {
		t.Fatal(err)
	}
	srv, err := server.Open(server.Config{Data: dir, Memory: 256 << 20, Grace: time.Second, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	var out bytes.Buffer
	ctx := context.Background()
	conn, err := console.Connect(ctx, console.Target{User: server.Superuser, Database: server.Superuser, Dial: srv.Dial}, &out)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	tour := &Tour{Conn: conn, Out: &out, Progress: Line(&out)}
	if err := tour.Run(ctx); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	text := out.String()
	for _, want := range append(strings.SplitAfter(answers, ")\n\n"), "loading 3", "COPY 8759\n", "Key Ranges: 1 span (station = 'KSEA', ts >= ", "Execution Time: ", "rows per second", "Time: ") {
		if !strings.Contains(text, want) {
			t.Errorf("the tour does not print\n%s", want)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("plain output holds escape sequences")
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestPrepare(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b")
	if err := Prepare(dir); err != nil {
		t.Fatal(err)
	}
	if !Used(dir) {
		t.Error("a prepared directory does not look like a demo's")
	}
	old := filepath.Join(dir, "000001.log")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(dir); err != nil {
		t.Errorf("a demo's directory: %v", err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the earlier demo's files stay")
	}
	mine := filepath.Join(root, "mine")
	if err := os.MkdirAll(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(mine); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
	os.Remove(filepath.Join(mine, marker))
	if err := os.WriteFile(filepath.Join(mine, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(mine); err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("somebody's directory: %v", err)
	}
	if _, err := os.Stat(filepath.Join(mine, "precious")); err != nil {
		t.Error("somebody's file is gone")
	}
}

func TestReadings(t *testing.T) {
	data, err := readings()
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(lines) != 8759 || string(lines[0]) != "KSEA,2010-01-01T01:00:00,1016.6,4.0,3.8" {
		t.Errorf("%d lines, the first is %s", len(lines), lines[0])
	}
}
