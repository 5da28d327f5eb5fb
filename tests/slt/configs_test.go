package slt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/colstore/vector"
	"tsdb/tests/harness"
)

// config is a way to run a script.
type config struct {
	name     string
	extended bool // the extended protocol instead of the simple one
	flush    bool // after each statement
	compact  bool // after each statement
	restart  bool // between statements
	row      bool // tables with a key have layout row unless they say otherwise
}

var configs = []config{{name: "plain"}, {name: "extended", extended: true}, {name: "flush", flush: true}, {name: "compact", flush: true, compact: true},
	{name: "restart", restart: true}, {name: "row", row: true}}

// chosen are the configurations that TSDB_CONFIGS names.
func chosen() []config {
	names := os.Getenv("TSDB_CONFIGS")
	if names == "all" {
		return configs
	}
	if names == "" {
		names = "plain"
	}
	var out []config
	for _, c := range configs {
		if slices.Contains(strings.Split(names, ","), c.name) {
			out = append(out, c)
		}
	}
	return out
}

// TestScripts runs the scripts in the chosen configurations and prints how many
// statements passed in each.
func TestScripts(t *testing.T) {
	for _, c := range chosen() {
		passed, sum := 0, sync.Mutex{}
		t.Run(c.name, func(t *testing.T) {
			for _, f := range scripts(t) {
				t.Run(strings.TrimSuffix(f, ".slt"), func(t *testing.T) {
					t.Parallel()
					n := run(t, filepath.Join("testdata", f), "tsdb", start(t, c, f))
					sum.Lock()
					passed += n
					sum.Unlock()
				})
			}
		})
		fmt.Printf("%s, batches of %d rows: %d statements passed\n", c.name, vector.BatchSize, passed)
	}
}

func start(t *testing.T, c config, file string) *local {
	s := harness.StartTSDB(t, colstore.Options{FS: vfs.NewMem()})
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "# not in layout row") {
		c.row = false
	}
	if stateful.Match(text) {
		c.restart = false // the script needs one session
	}
	return &local{remote: remote{conn: connect(t, s.URL()), extended: c.extended}, server: s, config: c}
}

// target is a server under one configuration.
type target interface {
	exec(sql string) ([]*pgconn.Result, error)
	after(t *testing.T) // once a statement is done
}

type remote struct {
	conn     *pgconn.PgConn
	extended bool
	postgres bool
}

func (r *remote) exec(sql string) ([]*pgconn.Result, error) {
	if r.postgres {
		sql = layout.ReplaceAllString(sql, "")
	}
	if r.extended && !placeholder.MatchString(sql) {
		res := r.conn.ExecParams(context.Background(), sql, nil, nil, nil, nil).Read()
		if e, ok := res.Err.(*pgconn.PgError); !ok || !strings.HasPrefix(e.Message, "cannot insert multiple commands") {
			return []*pgconn.Result{res}, res.Err
		}
	}
	return r.conn.Exec(context.Background(), sql).ReadAll()
}
func (r *remote) after(*testing.T) {}

// local is a tsdb server that flushes, compacts or restarts after every
// statement outside of a transaction.
type local struct {
	remote
	config
	server   *harness.Server
	settings []string // SET statements, which a restart would undo
}

func (l *local) exec(sql string) ([]*pgconn.Result, error) {
	if l.row && keyed.MatchString(sql) && !strings.Contains(strings.ToLower(sql), "with (") {
		sql += " WITH (layout = 'row')"
	}
	rs, err := l.remote.exec(sql)
	if err == nil && setting.MatchString(sql) && !strings.Contains(sql, ";") {
		l.settings = append(l.settings, sql)
	}
	return rs, err
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
	if l.compact {
		if _, err := l.remote.exec("VACUUM"); err != nil {
			t.Fatal(err)
		}
	}
	if l.restart {
		l.conn.Close(context.Background())
		l.server.Restart(t)
		l.conn = connect(t, l.server.URL())
		for _, s := range l.settings {
			if _, err := l.remote.exec(s); err != nil {
				t.Fatal(err)
			}
		}
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
