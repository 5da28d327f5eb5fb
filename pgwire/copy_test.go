package pgwire

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	timedOut    = "Error ERROR 57014 canceling statement due to statement timeout"
	copyStarted = "CopyIn 0 [0]"
)

// expectError compares the next message but for where the rows were.
func (f *frontend) expectError(want string) {
	f.t.Helper()
	if got, _, _ := strings.Cut(f.next(), " | where"); got != want {
		f.t.Fatalf("got\n  %s\nwant\n  %s", got, want)
	}
}

// write sends raw bytes.
func (f *frontend) write(b []byte) {
	f.t.Helper()
	if _, err := f.nc.Write(b); err != nil {
		f.t.Fatal(err)
	}
}

// A COPY whose client is silent ends with statement_timeout wherever in a
// message the client stopped, and the conversation goes on with what is left.
func TestSilentCopyTimesOut(t *testing.T) {
	s := startServer(t, Options{})
	f := dialFrontend(t, s.addr, "tsdb")
	f.send(&pgproto3.Query{String: "CREATE TABLE silent (a int4); SET statement_timeout = '40ms'"})
	f.expect("Complete CREATE TABLE", "Complete SET", "Ready I")
	sent := slices.Concat(message('d', []byte("1\n")), message('d', bytes.Repeat([]byte("2\n"), 5000)), message('f', []byte("why\x00")))
	sent2 := slices.Concat(message('d', []byte("1\n")), message('f', bytes.Repeat([]byte("why "), 5000)))
	for _, c := range []struct {
		sent []byte
		cut  int
	}{
		{sent, 0}, {sent, 1}, {sent, 4}, {sent, 5}, {sent, 6}, {sent, 7}, {sent, 9}, {sent, 12}, {sent, 13}, {sent, 3000}, {sent, 10011},
		{sent, 10012}, {sent, 10014}, {sent, 10018}, {sent2, 11}, {sent2, 13}, {sent2, 1000}, {sent, 0},
	} {
		f.send(&pgproto3.Query{String: "COPY silent FROM STDIN"})
		f.expect(copyStarted)
		f.write(c.sent[:c.cut])
		f.expectError(timedOut)
		f.expect("Ready I")
		f.write(c.sent[c.cut:])
		f.send(&pgproto3.Query{String: "SELECT count(*) AS n FROM silent"})
		f.expect("RowDescription n:20/8/-1/0", `DataRow "0"`, "Complete SELECT 1", "Ready I")
	}
	// The extended protocol waits for Sync.
	f.send(&pgproto3.Parse{Query: "COPY silent FROM STDIN"}, &pgproto3.Bind{}, &pgproto3.Execute{})
	f.expect("ParseComplete", "BindComplete", copyStarted)
	f.expectError(timedOut)
	f.send(&pgproto3.CopyData{Data: []byte("1\n")}, &pgproto3.CopyDone{}, &pgproto3.Sync{})
	f.expect("Ready I")
	// After the rows' end the client may still fail the statement, or be silent.
	f.send(&pgproto3.Query{String: "COPY silent FROM STDIN"})
	f.expect(copyStarted)
	f.send(&pgproto3.CopyData{Data: []byte("1\n\\.\n")})
	f.expectError(timedOut)
	f.expect("Ready I")
	f.send(&pgproto3.CopyDone{}, &pgproto3.Query{String: "SET statement_timeout = 0; COPY silent FROM STDIN"})
	f.expect("Complete SET", copyStarted)
	time.Sleep(60 * time.Millisecond) // no deadline is left over
	f.send(&pgproto3.CopyData{Data: []byte("7\n")}, &pgproto3.CopyDone{})
	f.expect("Complete COPY 1", "Ready I")
}

// waitForCopy returns when a statement runs.
func (s *testServer) waitForCopy(t *testing.T) {
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(time.Millisecond) {
		running := false
		s.each(func(c *conn) { running = running || c.running.Load() })
		if running {
			return
		}
	}
	t.Fatal("no statement runs")
}

func TestSilentCopyIsCancelled(t *testing.T) {
	s := startServer(t, Options{})
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "CREATE TABLE silent (a int4)").ReadAll(); err != nil {
		t.Fatal(err)
	}
	never, writer := net.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := c.CopyFrom(ctx, never, "COPY silent FROM STDIN")
		done <- err
	}()
	s.waitForCopy(t)
	if err := c.CancelRequest(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case err = <-done:
	case <-time.After(500 * time.Millisecond):
		writer.Close() // pgconn waits for its source, too
		err = <-done
	}
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != "57014" || pe.Message != "canceling statement due to user request" {
		t.Errorf("cancelled with %v", err)
	}
	if _, err := c.Exec(ctx, "SELECT 1").ReadAll(); err != nil {
		t.Errorf("after the cancel: %v", err)
	}
}

func TestSilentCopyAtShutdown(t *testing.T) {
	s := startServer(t, Options{})
	f := dialFrontend(t, s.addr, "tsdb")
	f.send(&pgproto3.Query{String: "CREATE TABLE silent (a int4); COPY silent FROM STDIN"})
	f.expect("Complete CREATE TABLE", copyStarted)
	f.write([]byte{'d', 0, 0})
	start := time.Now()
	if err := s.shutdown(50 * time.Millisecond); err != context.DeadlineExceeded {
		t.Errorf("Shutdown: %v", err)
	}
	if d := time.Since(start); d > goodbye+time.Second {
		t.Errorf("Shutdown took %v", d)
	}
	f.expectError("Error FATAL 57P01 terminating connection due to administrator command")
	f.expect("end")
}
