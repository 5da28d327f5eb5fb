package console_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tsdb/cmd/tsdb/internal/console"
	"tsdb/cmd/tsdb/internal/server"
)

func newRunner(t *testing.T) (*console.Runner, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	srv, err := server.Open(server.Config{Data: filepath.Join(t.TempDir(), "db"), Memory: 128 << 20, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	var out, errs bytes.Buffer
	ctx := context.Background()
	conn, err := console.Connect(ctx, console.Target{User: "tsdb", Database: "tsdb", Dial: srv.Dial}, &errs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	return &console.Runner{Conn: conn, Out: &out, Err: &errs}, &out, &errs
}

// A script in, what psql would print out.
func TestScript(t *testing.T) {
	r, out, errs := newRunner(t)
	script := `CREATE TABLE t (id int4, name text); -- a table
COPY t FROM STDIN;
1	one; two
2	\N
\.
SELECT id, name FROM t
 ORDER BY id;
SELECT nope
FROM t;
COPY t FROM STDIN;
x	y
z	z
\.
DROP TABLE IF EXISTS u;
COPY (SELECT id FROM t ORDER BY id) TO STDOUT;
SELECT count(*) FROM t`
	err := r.Script(context.Background(), strings.NewReader(script))
	if !errors.Is(err, console.ErrFailed) {
		t.Errorf("a script with errors ends with %v", err)
	}
	const want = `CREATE TABLE
COPY 2
 id |   name   
----+----------
  1 | one; two
  2 | 
(2 rows)

DROP TABLE
1
2
 count 
-------
     2
(1 row)

`
	if out.String() != want {
		t.Errorf("out:\n%s\nwant:\n%s", out, want)
	}
	const wantErrs = `ERROR:  column "nope" does not exist
LINE 1: SELECT nope
               ^
HINT:  Perhaps you meant to reference the column "t.name".
ERROR:  invalid input syntax for type integer: "x"
CONTEXT:  COPY t, line 1, column id: "x"
NOTICE:  table "u" does not exist, skipping
`
	if errs.String() != wantErrs {
		t.Errorf("errors:\n%s\nwant:\n%s", errs, wantErrs)
	}
}

func TestRunTiming(t *testing.T) {
	r, out, _ := newRunner(t)
	r.Timing = true
	if err := r.Run(context.Background(), "SELECT 1 AS a", nil); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), " a \n---\n 1\n(1 row)\n\nTime: ") || !strings.HasSuffix(out.String(), " ms\n") {
		t.Errorf("printed %q", out)
	}
}
