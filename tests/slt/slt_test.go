// Package slt runs SQL scripts, testdata/*.slt, under several configurations
// of the server: as it comes, flushing after every statement, and restarting
// after every statement. With TSDB_ORACLE set the same scripts run on
// PostgreSQL 15, which protects the expectations themselves.
//
// A script is a list of records separated by empty lines:
//
//	statement ok | statement error SQLSTATE [message]
//	<SQL>
//
//	query [rowsort]
//	<SQL>
//	----
//	<one line per row, values joined by |, NULL for null>
//
// `only tsdb` or `only postgres` before a record limits it to one server; a
// line that starts with # is a comment.
package slt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

// record is one step of a script.
type record struct {
	line      int
	only      string // tsdb, postgres or empty
	query     bool
	sorted    bool
	code, msg string // expected error
	sql       string
	want      []string
}

func parse(t *testing.T, path string) []record {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []record
	only := ""
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		head := strings.TrimSpace(lines[i])
		if head == "" || head[0] == '#' {
			continue
		}
		f := strings.Fields(head)
		if f[0] == "only" {
			only = f[1]
			continue
		}
		r := record{line: i + 1, only: only, query: f[0] == "query"}
		only = ""
		switch {
		case f[0] == "statement" && f[1] == "error":
			r.code = f[2]
			r.msg = strings.Join(f[3:], " ")
		case r.query:
			r.sorted = len(f) > 1 && f[1] == "rowsort"
		case f[0] != "statement":
			t.Fatalf("%s:%d: unknown record %q", path, i+1, head)
		}
		var sql []string
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "" && lines[i] != "----"; i++ {
			sql = append(sql, lines[i])
		}
		r.sql = strings.Join(sql, "\n")
		if r.query {
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
				r.want = append(r.want, lines[i])
			}
		}
		out = append(out, r)
	}
	return out
}

// target is a server under one configuration.
type target interface {
	exec(sql string) ([]*pgconn.Result, error)
	after(t *testing.T) // once a statement is done
}

type remote struct{ conn *pgconn.PgConn }

func (r *remote) exec(sql string) ([]*pgconn.Result, error) {
	return r.conn.Exec(context.Background(), sql).ReadAll()
}
func (r *remote) after(*testing.T) {}

// local is a tsdb server that flushes or restarts after every statement
// outside of a transaction.
type local struct {
	remote
	server  *harness.Server
	restart bool
	flush   bool
}

func (l *local) after(t *testing.T) {
	if l.conn.TxStatus() != 'I' {
		return
	}
	if l.flush {
		if err := l.server.Store.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if l.restart {
		l.conn.Close(context.Background())
		l.server.Restart(t)
		l.conn = connect(t, l.server.URL())
	}
}

func connect(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func run(t *testing.T, path, server string, tg target) {
	for _, r := range parse(t, path) {
		if r.only != "" && r.only != server {
			continue
		}
		rs, err := tg.exec(r.sql)
		if e := check(r, rs, err); e != nil {
			t.Errorf("%s:%d: %v\n%s", filepath.Base(path), r.line, e, r.sql)
		}
		tg.after(t)
	}
}

func check(r record, rs []*pgconn.Result, err error) error {
	if r.code != "" {
		e, ok := err.(*pgconn.PgError)
		if !ok {
			return fmt.Errorf("no error, want %s", r.code)
		}
		if e.Code != r.code || !strings.Contains(e.Message, r.msg) {
			return fmt.Errorf("error %s %s, want %s %s", e.Code, e.Message, r.code, r.msg)
		}
		return nil
	}
	if err != nil {
		if e, ok := err.(*pgconn.PgError); ok {
			return fmt.Errorf("%s: %s", e.Code, e.Message)
		}
		return err
	}
	if !r.query {
		return nil
	}
	var got []string
	for _, row := range rs[len(rs)-1].Rows {
		parts := make([]string, len(row))
		for i, v := range row {
			if v == nil {
				parts[i] = "NULL"
			} else {
				parts[i] = string(v)
			}
		}
		got = append(got, strings.Join(parts, "|"))
	}
	if r.sorted {
		slices.Sort(got)
		slices.Sort(r.want)
	}
	if !slices.Equal(got, r.want) {
		return fmt.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(r.want, "\n"))
	}
	return nil
}

func scripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.slt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	return files
}

func TestScripts(t *testing.T) {
	for _, cfg := range []struct {
		name           string
		flush, restart bool
	}{{"plain", false, false}, {"flush", true, false}, {"restart", false, true}, {"flush and restart", true, true}} {
		for _, f := range scripts(t) {
			t.Run(cfg.name+"/"+filepath.Base(f), func(t *testing.T) {
				s := harness.StartTSDB(t, colstore.Options{})
				run(t, f, "tsdb", &local{remote{connect(t, s.URL())}, s, cfg.restart, cfg.flush})
			})
		}
	}
}

func TestScriptsOnPostgreSQL(t *testing.T) {
	if os.Getenv("TSDB_ORACLE") == "" {
		t.Skip("runs the scripts on PostgreSQL 15: set TSDB_ORACLE=1, or run make oracle")
	}
	pg := harness.StartPostgres(t, "fsync = off")
	for i, f := range scripts(t) {
		t.Run(filepath.Base(f), func(t *testing.T) {
			admin := connect(t, pg.URL())
			if _, err := admin.Exec(context.Background(), fmt.Sprintf("CREATE DATABASE d%d", i)).ReadAll(); err != nil {
				t.Fatal(err)
			}
			url := strings.Replace(pg.URL(), "/postgres?", fmt.Sprintf("/d%d?", i), 1)
			run(t, f, "postgres", &remote{connect(t, url)})
		})
	}
}
