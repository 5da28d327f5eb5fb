package pgwire

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

// fuzzConn is a connection whose client sent all of in and went away.
type fuzzConn struct {
	in  []byte
	out int
}

func (c *fuzzConn) Read(p []byte) (int, error) {
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.in)
	c.in = c.in[n:]
	return n, nil
}

func (c *fuzzConn) Write(p []byte) (int, error)      { c.out += len(p); return len(p), nil }
func (c *fuzzConn) Close() error                     { return nil }
func (c *fuzzConn) LocalAddr() net.Addr              { return nil }
func (c *fuzzConn) RemoteAddr() net.Addr             { return nil }
func (c *fuzzConn) SetDeadline(time.Time) error      { return nil }
func (c *fuzzConn) SetReadDeadline(time.Time) error  { return nil }
func (c *fuzzConn) SetWriteDeadline(time.Time) error { return nil }

// FuzzConversation feeds bytes to start-up and, behind a good start-up packet,
// to the message loop. Nothing may panic or hang.
func FuzzConversation(f *testing.F) {
	s := New(newEngine(f), Options{})
	query := message('Q', []byte("SELECT 1 AS a, 'x'\x00"))
	for _, seed := range [][]byte{
		hello(), query, slices.Concat(message('P', []byte("\x00SELECT $1::int4\x00\x00\x00")),
			message('B', []byte("\x00\x00\x00\x00\x00\x01\x00\x00\x00\x011\x00\x00")), message('E', []byte("\x00\x00\x00\x00\x00")), message('S', nil)),
		message('D', []byte("S\x00")), message('C', []byte("P\x00")), message('d', []byte("1\t2\n")), message('c', nil),
		message('f', []byte("no\x00")), message('H', nil), message('F', []byte{0, 0, 0, 1}), {0, 0, 0, 8, 4, 210, 22, 47},
		slices.Concat(message('Q', []byte("COPY (SELECT 1) TO STDOUT\x00")), query), {'Q', 0x3f, 0xff, 0xff, 0xff},
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, started bool) {
		if started {
			data = append(hello(), data...)
		}
		panics := &panicCounter{}
		srv := New(s.engine, Options{Logger: panics.logger()})
		srv.ServeConn(&fuzzConn{in: data})
		if panics.message != "" {
			t.Fatal(panics.message)
		}
	})
}
