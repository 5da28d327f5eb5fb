package session

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestLatencyBuckets(t *testing.T) {
	var m metrics
	for _, d := range []time.Duration{0, 100 * time.Microsecond, 101 * time.Microsecond, time.Second, 61 * time.Second} {
		m.observe(copyKind, d)
	}
	l := m.kinds[copyKind].read()
	if l.Count != 5 || l.Buckets[0.0001] != 2 || l.Buckets[0.00025] != 3 || l.Buckets[1] != 4 || l.Buckets[60] != 4 || l.Sum < 62 || l.Sum > 62.1 {
		t.Errorf("%+v", l)
	}
}

func TestStatementsAreCountedAndSlowOnesLogged(t *testing.T) {
	s := newServer(t)
	var lines bytes.Buffer
	s.e.o.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	c := s.connect("tsdb")
	c.run("SELECT 1")
	if lines.Len() > 0 {
		t.Errorf("logged by default: %s", lines.String())
	}
	c.run("SET log_min_duration_statement = 0")
	c.run("SELECT 'all'")
	c.run("SELECT 1/0")
	c.run("SET log_min_duration_statement = '1h'")
	c.run("SELECT 'short'")
	text := lines.String()
	for _, want := range []string{`msg=duration`, `statement="SELECT 'all'"`, `statement="SELECT 1/0"`, "user=tsdb", "protocol=simple", "ms="} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "short") {
		t.Errorf("a short statement is logged:\n%s", text)
	}
	m := s.e.Metrics()
	if m.Statements["select"].Count != 3 || m.Statements["other"].Count != 2 || m.Errors["22012"] != 1 || m.Sessions["idle"] != 1 {
		t.Errorf("%+v", m)
	}
}
