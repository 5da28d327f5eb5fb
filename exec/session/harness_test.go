package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore"
	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// server is an engine over an in-memory store that can be restarted.
type server struct {
	t      *testing.T
	fs     vfs.FS
	store  *colstore.Store
	e      *Engine
	now    time.Time
	memory int64 // of the store; 0: the default
}

func newServer(t *testing.T) *server {
	s := &server{t: t, fs: vfs.NewMem(), now: time.Date(2024, 3, 1, 12, 0, 0, 123456000, time.UTC)}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) start() {
	s.t.Helper()
	var err error
	if s.store, err = colstore.Open("data", colstore.Options{FS: s.fs, Memory: s.memory}); err != nil {
		s.t.Fatal(err)
	}
	s.e, err = NewEngine(s.store, Options{Workers: 2, Version: "test", Clock: func() time.Time { return s.now }})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) stop() {
	if err := s.e.Close(); err != nil {
		s.t.Error(err)
	}
	if err := s.store.Close(); err != nil {
		s.t.Error(err)
	}
}

// client is a session with what it was sent.
type client struct {
	t *testing.T
	s *Session
	log
}

// log records results as text: rows joined by |, one line each.
type log struct {
	s       *Session
	cols    []logical.Column
	out     strings.Builder
	notices []*pgerr.Error
	status  []string
	copyIn  string
	copied  bytes.Buffer
}

func (s *server) connect(user string, settings ...string) *client {
	s.t.Helper()
	c := &client{t: s.t}
	m := map[string]string{}
	for i := 0; i+1 < len(settings); i += 2 {
		m[settings[i]] = settings[i+1]
	}
	sess, err := s.e.NewSession(Start{User: user, Database: "tsdb", Settings: m, Client: &c.log})
	if err != nil {
		s.t.Fatal(err)
	}
	c.s, c.log.s = sess, sess
	sess.Status()
	return c
}

func (l *log) Notice(n *pgerr.Error)            { l.notices = append(l.notices, n) }
func (l *log) ParameterStatus(n, v string)      { l.status = append(l.status, n+"="+v) }
func (l *log) RemoteAddr() string               { return "127.0.0.1:5" }
func (l *log) Columns(c []logical.Column) error { l.cols = c; return nil }
func (l *log) Complete(tag string) error        { l.out.WriteString("[" + tag + "]"); return nil }
func (l *log) Empty() error                     { l.out.WriteString("[]"); return nil }
func (l *log) Suspended() error                 { l.out.WriteString("[...]"); return nil }

func (l *log) Rows(b *vector.Batch) error {
	if b.Sel != nil {
		return fmt.Errorf("batch has a selection")
	}
	for i := 0; i < b.N; i++ {
		for c, v := range b.Cols {
			if c > 0 {
				l.out.WriteByte('|')
			}
			if v.IsNull(i) {
				l.out.WriteString("NULL")
				continue
			}
			var flat vector.Vector
			v := v.Flat(&flat)
			l.out.Write(types.AppendText(nil, l.cols[c].Type, v, i, l.s.Context()))
		}
		l.out.WriteByte('\n')
	}
	return nil
}

func (l *log) CopyIn(context.Context, bool, int) (io.Reader, error) {
	return strings.NewReader(l.copyIn), nil
}

func (l *log) CopyOut(bool, int) (io.WriteCloser, error) { l.copied.Reset(); return l, nil }
func (l *log) Write(p []byte) (int, error)               { l.out.Write(p); return l.copied.Write(p) }
func (l *log) Close() error                              { return nil }

func errText(err error) string {
	e := pgerr.From(err)
	s := "ERROR " + string(e.Code) + ": " + e.Message
	if e.Detail != "" {
		s += " DETAIL: " + e.Detail
	}
	if e.Where != "" {
		s += " WHERE: " + e.Where
	}
	return s
}

// run executes a simple query and returns rows, tags and the error as text.
func (c *client) run(query string) string {
	c.out.Reset()
	c.notices, c.status = nil, nil
	err := c.s.Simple(context.Background(), query, &c.log)
	if err != nil {
		c.out.WriteString(errText(err))
	}
	return c.out.String()
}

// want runs a query and compares.
func (c *client) want(query, want string) {
	c.t.Helper()
	if got := c.run(query); got != want {
		c.t.Errorf("%s\n got: %s\nwant: %s", cutText(query, min(len(query), 200)), got, want)
	}
}

// script runs pairs of query and expected outcome.
func (c *client) script(pairs ...string) {
	c.t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		c.want(pairs[i], pairs[i+1])
	}
}

// noticeText joins the notices of the last query.
func (c *client) noticeText() string {
	var out []string
	for _, n := range c.notices {
		out = append(out, string(n.Severity)+" "+string(n.Code)+": "+n.Message)
	}
	return strings.Join(out, "; ")
}
