package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"tsdb/colstore"
	"tsdb/exec/session"
	"tsdb/sql/pgerr"
)

// testServer is a server on an engine in memory.
type testServer struct {
	*Server
	addr   string
	served chan error
}

func newEngine(t testing.TB) *session.Engine {
	t.Helper()
	store, err := colstore.Open("db", colstore.Options{FS: vfs.NewMem(), Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := session.NewEngine(store, session.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		engine.Close()
		store.Close()
	})
	return engine
}

func startServer(t testing.TB, o Options) *testServer {
	t.Helper()
	engine := newEngine(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{New(engine, o), l.Addr().String(), make(chan error, 1)}
	go func() { s.served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.shutdown(5 * time.Second)
		if err := <-s.served; err != ErrClosed {
			t.Errorf("Serve returned %v", err)
		}
	})
	return s
}

func (s *testServer) shutdown(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return s.Shutdown(ctx)
}

func (s *testServer) url() string { return "postgres://tsdb@" + s.addr + "/tsdb?sslmode=disable" }

// alive fails the test unless a new client gets an answer.
func (s *testServer) alive(t testing.TB) {
	t.Helper()
	f := dialFrontend(t, s.addr, "tsdb")
	f.send(&pgproto3.Query{String: "SELECT 1 AS a"})
	f.expect("RowDescription a:23/4/-1/0", `DataRow "1"`, "Complete SELECT 1", "Ready I")
	f.send(&pgproto3.Terminate{})
}

// exchange sends raw bytes and returns all that comes back until the server closes.
func exchange(t testing.TB, addr string, sent []byte, halfClose bool) []byte {
	t.Helper()
	got, err := tryExchange(t, addr, sent, halfClose)
	if err != nil {
		t.Fatalf("the server does not close; it sent %q", got)
	}
	return got
}

// tryExchange is exchange with an error if the server does not close.
func tryExchange(t testing.TB, addr string, sent []byte, halfClose bool) ([]byte, error) {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := nc.Write(sent); err != nil {
		t.Fatal(err)
	}
	if halfClose {
		nc.(*net.TCPConn).CloseWrite()
	}
	got, err := io.ReadAll(nc)
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return got, err
	}
	return got, nil
}

func packet(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
}

func hello() []byte { return packet(startupBody(3<<16, "user", "tsdb")) }

func TestMalformed(t *testing.T) {
	s := startServer(t, Options{})
	query := func(text string) []byte { return message('Q', append([]byte(text), 0)) }
	for _, c := range []struct {
		name string
		sent []byte
		half bool
		want string // part of the answer
	}{
		{"nothing", nil, true, ""},
		{"garbage", []byte("GET / HTTP/1.1\r\n\r\n"), false, ""},
		{"length too small", []byte{0, 0, 0, 4}, false, ""},
		{"length too large", []byte{0, 1, 0, 0, 0, 3, 0, 0}, false, ""},
		{"cut", hello()[:9], true, ""},
		{"protocol 2", packet(startupBody(2 << 16)), false, "unsupported frontend protocol"},
		{"no database", packet(startupBody(3<<16, "user", "tsdb", "database", "nope")), false, "C3D000\x00Mdatabase \"nope\" does not exist\x00"},
		{"no role", packet(startupBody(3<<16, "user", "nope", "database", "tsdb")), false, "C28000\x00Mrole \"nope\" does not exist\x00"},
		{"bad setting", packet(startupBody(3<<16, "user", "tsdb", "options", "-c work_mem=")), false, "SFATAL"},
		{"cancel of nobody", packet(binary.BigEndian.AppendUint32(nil, codeCancel)), false, ""},
		{"cancel, too long", packet(append(binary.BigEndian.AppendUint32(nil, codeCancel), make([]byte, 100)...)), false, ""},
		{"SSL and more", append(packet(binary.BigEndian.AppendUint32(nil, codeSSL)), hello()...), false, "received unencrypted data after SSL request"},
		{"unknown message", append(hello(), message('?', nil)...), false, "SFATAL\x00VFATAL\x00C08P01\x00Minvalid frontend message type"},
		{"unknown message with body", append(hello(), message('z', make([]byte, 5000))...), false, "C08P01"},
		{"length 3", append(hello(), 'Q', 0, 0, 0, 3), false, "Minvalid message length"},
		{"length 2 GiB", append(hello(), 'Q', 0x7f, 0xff, 0xff, 0xff), false, "Minvalid message length"},
		{"length never sent", append(hello(), 'Q', 0x3f, 0xff, 0xff, 0xff, 'S'), true, "Z\x00\x00\x00\x05I"},
		{"password out of place", append(hello(), message('p', []byte("x"))...), false, "C08P01"},
		{"half-closed after a query", append(hello(), query("SELECT 4711")...), true, "4711"},
		{"half-closed in COPY", append(hello(), query("CREATE TABLE IF NOT EXISTS half (a int4); COPY half FROM STDIN")...), true, "SFATAL"},
		{"query inside COPY", slices.Concat(hello(), query("CREATE TABLE IF NOT EXISTS half (a int4); COPY half FROM STDIN"), query("SELECT 1")), false,
			"C08P01\x00Munexpected message type 0x51 during COPY from stdin\x00"},
	} {
		got, err := tryExchange(t, s.addr, c.sent, c.half)
		if err != nil {
			t.Errorf("%s: the server does not close; it sent %q", c.name, got)
			continue
		}
		if !bytes.Contains(got, []byte(c.want)) || c.want == "" && len(got) > 0 {
			t.Errorf("%s: %q does not hold %q", c.name, got, c.want)
		}
	}
	s.alive(t)
}

// What a client sent of a COPY before it left is not in the table.
func TestAbandonedCopy(t *testing.T) {
	s := startServer(t, Options{})
	query := func(text string) []byte { return append(hello(), message('Q', append([]byte(text), 0))...) }
	exchange(t, s.addr, query("CREATE TABLE gone (a int4)"), true)
	for _, data := range []string{"1\n", "1\n2", "1\n2\n3\n"} {
		sent := append(query("COPY gone FROM STDIN"), message('d', []byte(data))...)
		for cut := range 4 {
			exchange(t, s.addr, sent[:len(sent)-cut], true)
		}
	}
	if got := exchange(t, s.addr, query("SELECT 'rows', count(*) FROM gone"), true); !bytes.Contains(got, []byte("rows\x00\x00\x00\x010C")) {
		t.Errorf("%q", got)
	}
}

// After a COPY that failed within a long message the session goes on.
func TestFailedCopyOfLongMessage(t *testing.T) {
	s := startServer(t, Options{})
	sent := append(hello(), message('Q', []byte("CREATE TABLE long (a int4)\x00"))...)
	sent = append(sent, message('Q', []byte("COPY long FROM STDIN\x00"))...)
	data := message('d', append([]byte("bad\n"), bytes.Repeat([]byte("1\n"), 1<<20)...))
	sent = slices.Concat(sent, data, data, message('c', nil), message('Q', []byte("SELECT 4711\x00")))
	got := exchange(t, s.addr, append(sent, message('X', nil)...), false)
	if !bytes.Contains(got, []byte("invalid input syntax for type integer")) || !bytes.Contains(got, []byte("4711")) {
		t.Errorf("%q", got)
	}
}

// Malformed bodies of known length fail their request only.
func TestMalformedBodies(t *testing.T) {
	s := startServer(t, Options{})
	f := dialFrontend(t, s.addr, "tsdb")
	for _, typ := range []byte("PBDEC") {
		for _, body := range [][]byte{nil, {1}, []byte("abc"), bytes.Repeat([]byte{0xff}, 40), {0, 0, 0xff, 0xff}} {
			if _, err := f.nc.Write(message(typ, body)); err != nil {
				t.Fatal(err)
			}
			f.send(&pgproto3.Sync{})
			for msg := f.next(); msg != "Ready I"; msg = f.next() {
				if msg == "end" {
					t.Fatalf("%c %q ended the connection", typ, body)
				}
			}
		}
	}
	if _, err := f.nc.Write(message('Q', []byte("no terminator"))); err != nil {
		t.Fatal(err)
	}
	if got := f.next(); !strings.HasPrefix(got, "Error ERROR 08P01 invalid message format") {
		t.Error(got)
	}
	f.expect("Ready I")
	s.alive(t)
}

func TestProtocolVersions(t *testing.T) {
	s := startServer(t, Options{})
	for _, c := range []struct {
		version uint32
		want    string // of NegotiateProtocolVersion
	}{
		{3 << 16, ""}, {3<<16 | 2, ""}, {3<<16 | 7, "v\x00\x00\x00\x0c\x00\x03\x00\x02\x00\x00\x00\x00"},
		{3<<16 | 1, "v\x00\x00\x00\x0c\x00\x03\x00\x00\x00\x00\x00\x00"},
	} {
		got := exchange(t, s.addr, append(packet(startupBody(c.version, "user", "tsdb")), message('X', nil)...), false)
		if !bytes.HasPrefix(got, []byte(c.want+"R\x00\x00\x00\x08\x00\x00\x00\x00")) {
			t.Errorf("version %x: %q", c.version, got)
		}
	}
	sent := packet(startupBody(3<<16, "user", "tsdb", "_pq_.a", "1", "_pq_.b", ""))
	if got := exchange(t, s.addr, append(sent, message('X', nil)...), false); !bytes.HasPrefix(got,
		[]byte("v\x00\x00\x00\x1a\x00\x03\x00\x00\x00\x00\x00\x02_pq_.a\x00_pq_.b\x00R")) {
		t.Errorf("unknown protocol options: %q", got)
	}
}

func TestStartupAnswers(t *testing.T) {
	s := startServer(t, Options{})
	ssl := packet(binary.BigEndian.AppendUint32(nil, codeSSL))
	gss := packet(binary.BigEndian.AppendUint32(nil, codeGSS))
	nc, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(10 * time.Second))
	for _, p := range [][]byte{gss, ssl} {
		nc.Write(p)
		var b [1]byte
		if _, err := io.ReadFull(nc, b[:]); err != nil || b[0] != 'N' {
			t.Fatalf("answer %q, %v", b, err)
		}
	}
	nc.Write(packet(startupBody(3<<16, "user", "tsdb", "application_name", "me", "options", "-c TimeZone=Asia/Tokyo")))
	f := &frontend{pgproto3.NewFrontend(nc, nc), nc, t}
	got := map[string]string{}
	for {
		msg := f.next()
		if msg == "Ready I" {
			break
		}
		if rest, ok := strings.CutPrefix(msg, "Status "); ok {
			k, v, _ := strings.Cut(rest, " ")
			got[k] = v
		} else if msg == "end" || strings.HasPrefix(msg, "Error") {
			t.Fatal(msg)
		}
	}
	for k, want := range map[string]string{"application_name": "me", "TimeZone": "Asia/Tokyo", "client_encoding": "UTF8",
		"standard_conforming_strings": "on", "DateStyle": "ISO, MDY", "integer_datetimes": "on", "server_encoding": "UTF8",
		"IntervalStyle": "postgres", "is_superuser": "on", "session_authorization": "tsdb"} {
		if got[k] != want {
			t.Errorf("%s is %q, want %q", k, got[k], want)
		}
	}
	if !strings.HasPrefix(got["server_version"], "15.") {
		t.Errorf("server_version is %q", got["server_version"])
	}
}

func TestConnectionLimit(t *testing.T) {
	s := startServer(t, Options{MaxConnections: 2})
	a, b := dialFrontend(t, s.addr, "tsdb"), dialFrontend(t, s.addr, "tsdb")
	if got := exchange(t, s.addr, hello(), false); !bytes.Contains(got, []byte("SFATAL\x00VFATAL\x00C53300\x00Msorry, too many clients already\x00")) {
		t.Errorf("third connection: %q", got)
	}
	var idle []net.Conn // connections that say nothing cannot take all places
	for range reserve {
		nc, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, nc)
	}
	if got := exchange(t, s.addr, nil, false); !bytes.Contains(got, []byte("C53300")) {
		t.Errorf("beyond the reserve: %q", got)
	}
	for _, nc := range idle {
		nc.Close()
	}
	a.send(&pgproto3.Terminate{})
	if a.next() != "end" {
		t.Error("Terminate does not close")
	}
	deadline := time.Now().Add(10 * time.Second)
	for !bytes.Contains(exchange(t, s.addr, append(hello(), message('X', nil)...), false), []byte("Z\x00\x00\x00\x05I")) {
		if time.Now().After(deadline) {
			t.Fatal("the place of an ended session is not free again")
		}
		runtime.Gosched()
	}
	b.send(&pgproto3.Query{String: ""})
	b.expect("EmptyQueryResponse", "Ready I")
}

func TestScram(t *testing.T) {
	s := startServer(t, Options{RequirePassword: true})
	if err := s.engine.SetPassword("tsdb", "s3cret"); err != nil {
		t.Fatal(err)
	}
	connect := func(user, password string) error {
		c, err := pgconn.Connect(context.Background(), "postgres://"+user+":"+password+"@"+s.addr+"/tsdb?sslmode=disable")
		if err == nil {
			err = c.Close(context.Background())
		}
		return err
	}
	if err := connect("tsdb", "s3cret"); err != nil {
		t.Errorf("right password: %v", err)
	}
	for _, user := range []string{"tsdb", "nobody", "postgres"} {
		var pe *pgconn.PgError
		if err := connect(user, "wrong"); !errors.As(err, &pe) || pe.Code != "28P01" || pe.Severity != "FATAL" ||
			pe.Message != `password authentication failed for user "`+user+`"` {
			t.Errorf("%s with a wrong password: %v", user, err)
		}
	}
	// The mock exchange of an unknown role must not change between attempts.
	if a, b := s.mockCredentials("x"), s.mockCredentials("x"); a.Salt != b.Salt || s.mockCredentials("y").Salt == a.Salt {
		t.Error("mock salts give unknown roles away")
	}
	sasl := func(mechanism, first string) []byte {
		body := append([]byte(mechanism), 0)
		body = binary.BigEndian.AppendUint32(body, uint32(len(first)))
		return message('p', append(body, first...))
	}
	for name, sent := range map[string][]byte{
		"other mechanism": sasl("SCRAM-SHA-1", "n,,n=,r=abc"),
		"nonsense":        sasl(scramName, "hello"),
		"no response":     message('Q', []byte("SELECT 1\x00")),
		"bad body":        message('p', nil),
		"too long":        message('p', make([]byte, maxStartup+1)),
		"channel binding": sasl(scramName, "p=tls-unique,,n=,r=abc"),
		"bad final":       append(sasl(scramName, "n,,n=,r=abc"), message('p', []byte("c=biws,r=abc,p=AAAA"))...),
	} {
		if got := exchange(t, s.addr, append(hello(), sent...), false); !bytes.Contains(got, []byte("SFATAL")) || bytes.Contains(got, []byte("R\x00\x00\x00\x08\x00\x00\x00\x00")) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if err := connect("tsdb", "s3cret"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

const longQuery = "SELECT count(*) FROM generate_series(1, 4000000000000)"

func TestCancelRequest(t *testing.T) {
	s := startServer(t, Options{})
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, longQuery).ReadAll()
		done <- err
	}()
	deadline := time.After(20 * time.Second)
	for {
		// The statement may not have begun yet; a cancel request that comes early does nothing.
		if err := c.CancelRequest(ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			var pe *pgconn.PgError
			if !errors.As(err, &pe) || pe.Code != "57014" || pe.Message != "canceling statement due to user request" {
				t.Errorf("cancelled with %v", err)
			}
			if _, err := c.Exec(ctx, "SELECT 1").ReadAll(); err != nil {
				t.Errorf("after the cancel: %v", err)
			}
			return
		case <-deadline:
			t.Fatal("the statement goes on")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A client that vanishes takes its statement with it.
func TestVanishedClient(t *testing.T) {
	s := startServer(t, Options{})
	f := dialFrontend(t, s.addr, "tsdb")
	f.send(&pgproto3.Query{String: longQuery})
	f.nc.Close()
	deadline := time.Now().Add(20 * time.Second)
	for s.sessions.Load() > 0 {
		if time.Now().After(deadline) {
			t.Fatal("the statement of a client that is gone goes on")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestShutdown(t *testing.T) {
	s := startServer(t, Options{})
	idle, busy := dialFrontend(t, s.addr, "tsdb"), dialFrontend(t, s.addr, "tsdb")
	silent, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	busy.send(&pgproto3.Query{String: longQuery})
	for start := time.Now(); ; {
		running := 0
		s.each(func(c *conn) {
			if c.running.Load() {
				running++
			}
		})
		if running == 1 {
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatal("the statement does not start")
		}
		time.Sleep(time.Millisecond)
	}
	if err := s.shutdown(100 * time.Millisecond); err != context.DeadlineExceeded {
		t.Errorf("Shutdown with a running statement: %v", err)
	}
	const want = "Error FATAL 57P01 terminating connection due to administrator command"
	idle.expect(want, "end")
	busy.expect("RowDescription count:20/8/-1/0", want, "end")
	if nc, err := net.Dial("tcp", s.addr); err == nil {
		nc.Close()
		t.Error("the listener is open after Shutdown")
	}
}

func TestPipe(t *testing.T) {
	s := New(newEngine(t), Options{RequirePassword: false})
	client, server := net.Pipe()
	go s.ServeConn(server)
	cfg, err := pgconn.ParseConfig("postgres://tsdb@pipe/tsdb?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	cfg.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"pipe"}, nil }
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { return client, nil }
	ctx := context.Background()
	c, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := c.Exec(ctx, "SELECT 6 * 7").ReadAll()
	if err != nil || string(rs[0].Rows[0][0]) != "42" {
		t.Errorf("%v, %v", rs, err)
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

// panicConn panics in its n-th Write.
type panicConn struct {
	fuzzConn
	n int
}

func (c *panicConn) Write(p []byte) (int, error) {
	if c.n--; c.n == 0 {
		panic("as asked")
	}
	return c.fuzzConn.Write(p)
}

// A panic is logged and ends its own connection.
func TestPanic(t *testing.T) {
	panics := &panicCounter{}
	s := New(newEngine(t), Options{Logger: panics.logger()})
	for n := 1; n <= 2; n++ {
		panics.message = ""
		s.ServeConn(&panicConn{fuzzConn{in: slices.Concat(hello(), message('Q', []byte("SELECT 1\x00")))}, n})
		if !strings.Contains(panics.message, "panicked") || !strings.Contains(panics.message, "as asked") {
			t.Errorf("panic in write %d is logged as %q", n, panics.message)
		}
	}
	if n := s.sessions.Load(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

type closedConn struct{}

func (closedConn) Write([]byte) (int, error) { return 0, net.ErrClosed }

// A client that is gone is no failure of its statement.
func TestWriteToClosed(t *testing.T) {
	w := &writer{dst: closedConn{}}
	w.empty('I')
	var e *pgerr.Error
	if err := w.flush(); !errors.As(err, &e) || e.Code != pgerr.ConnectionFailure || !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}
