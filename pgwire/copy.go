package pgwire

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"tsdb/sql/pgerr"
)

// copyState is the COPY ... FROM STDIN of the running statement.
type copyState struct {
	in     *copyReader // nil: none
	broken bool        // the client left in the middle, or where the next message begins is unknown
}

// release ends the hold that the statement's context has on reads.
func (s *copyState) release() {
	if s.in != nil {
		s.in.hold.release()
	}
}

// drain reads what is left of the data after a COPY that succeeded.
func (s *copyState) drain() error {
	if s.in == nil {
		return nil
	}
	s.release()
	err := s.in.rest()
	s.in = nil
	return err
}

// abandon gives up what is left of the message that a failed COPY was reading;
// whole messages after it are ignored where they arrive. It does not wait for
// the client, whom the error has yet to reach.
func (s *copyState) abandon() {
	if s.in == nil || s.broken {
		return
	}
	s.in.c.in.giveUp(s.in.left)
	s.in = nil
}

// readHold ends the connection's reads when a context ends.
type readHold struct {
	c     *conn
	ctx   context.Context
	stop  func() bool
	fired bool // guarded by c.mu, as the next
	over  bool
}

func (c *conn) holdReads(ctx context.Context) *readHold {
	h := &readHold{c: c, ctx: ctx}
	h.stop = context.AfterFunc(ctx, h.interrupt)
	return h
}

// interrupt runs on a goroutine of its own, maybe after release.
func (h *readHold) interrupt() {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if !h.over {
		h.fired = true
		h.c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// release makes reads wait again; those of a connection that must end keep
// their deadline.
func (h *readHold) release() {
	h.stop()
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if h.fired && !h.over && h.c.ctx.Err() == nil {
		h.c.nc.SetReadDeadline(time.Time{})
	}
	h.over = true
}

// CopyIn asks the client for data. The end of ctx ends the wait for it.
func (c *conn) CopyIn(ctx context.Context, binary bool, columns int) (io.Reader, error) {
	if err := c.copy.drain(); err != nil {
		return nil, err
	}
	c.copyResponse('G', binary, columns)
	if err := c.out.flush(); err != nil {
		return nil, err
	}
	c.copy.in = &copyReader{c: c, hold: c.holdReads(ctx)}
	return c.copy.in, nil
}

// CopyOut announces outgoing data.
func (c *conn) CopyOut(binary bool, columns int) (io.WriteCloser, error) {
	c.copyResponse('H', binary, columns)
	return &copyWriter{c: c}, c.out.err
}

func (c *conn) copyResponse(typ byte, binary bool, columns int) {
	format := textFormat
	if binary {
		format = binaryFormat
	}
	start := c.out.begin(typ)
	c.out.buf = append(c.out.buf, byte(format))
	c.out.int16(columns)
	for range columns {
		c.out.int16(format)
	}
	c.out.end(start)
}

// copyReader is the stream of CopyData messages of a client.
type copyReader struct {
	c    *conn
	hold *readHold
	left int   // bytes of the current CopyData
	err  error // how it ended
}

// Read returns what the client sent, io.EOF after CopyDone.
//
// Errors: 57014 after CopyFail; the cause of the context's end; FATAL errors
// when the conversation is broken.
func (r *copyReader) Read(p []byte) (int, error) {
	if err := r.next(); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := r.c.in.some(p[:min(len(p), r.left)])
	r.left -= n
	if n == 0 && err != nil {
		r.err = r.lost(err)
		return 0, r.err
	}
	return n, nil
}

// rest skips to the end of the data.
func (r *copyReader) rest() error {
	for {
		if err := r.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		r.c.in.giveUp(r.left)
		r.left = 0
	}
}

// next makes left positive or reports the end.
func (r *copyReader) next() error {
	for r.err == nil && r.left == 0 {
		typ, size, err := r.c.in.header()
		if err != nil {
			r.err = r.lost(err)
			break
		}
		switch typ {
		case 'd':
			r.left = size
		case 'H', 'S': // some drivers send them after Execute without looking
			r.c.in.giveUp(size)
		case 'c':
			r.err = io.EOF
			r.c.in.giveUp(size)
		case 'f':
			r.err = r.failed(size)
		default:
			r.c.copy.broken = true
			r.err = fatal(pgerr.ProtocolViolation, "unexpected message type 0x%02X during COPY from stdin", typ)
		}
	}
	if r.err != nil {
		r.hold.release()
	}
	return r.err
}

// failed reads CopyFail. Of a reason that no read buffer holds the rest is
// left out, so that an interrupted read knows what it still has to drop.
func (r *copyReader) failed(size int) error {
	n := min(size, smallRead)
	r.c.in.giveUp(size - n)
	body, err := r.c.in.payload(n)
	if err != nil {
		r.c.in.giveUp(n)
		return r.lost(err)
	}
	reason, _, ok := cut(body)
	if !ok {
		reason = strings.ToValidUTF8(string(body), "")
	}
	return pgerr.New(pgerr.QueryCanceled, "COPY from stdin failed: %s", reason)
}

// lost turns a failed read into the error of the statement. The conversation
// goes on if it was the statement's context that ended the read.
func (r *copyReader) lost(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && r.hold.ctx.Err() != nil && r.c.ctx.Err() == nil {
		r.hold.release()
		return asError(context.Cause(r.hold.ctx))
	}
	return r.broken(err)
}

// broken makes a failed read the error of the statement; the connection ends with it.
func (r *copyReader) broken(err error) error {
	r.c.copy.broken = true
	switch {
	case errors.Is(err, errLength):
		return fatal(pgerr.ProtocolViolation, "invalid message length")
	case errors.Is(err, os.ErrDeadlineExceeded) && r.c.srv.draining.Load():
		return errShutdown()
	}
	// A cause of io.EOF would be taken for the end of the data.
	return fatal(pgerr.ConnectionFailure, "unexpected EOF on client connection with an open transaction").WithCause(unexpected(err))
}

// copyWriter sends CopyData messages.
type copyWriter struct {
	c      *conn
	closed bool
}

// Write sends p as one CopyData.
func (w *copyWriter) Write(p []byte) (int, error) {
	if len(p) > maxMessage-4 {
		return 0, pgerr.New(pgerr.ProgramLimitExceeded, "row is larger than a protocol message can be")
	}
	out := w.c.out
	start := out.begin('d')
	out.buf = append(out.buf, p...)
	out.end(start)
	if out.err != nil {
		return 0, out.err
	}
	return len(p), nil
}

// Close ends the data with CopyDone.
func (w *copyWriter) Close() error {
	if !w.closed {
		w.closed = true
		w.c.out.empty('c')
	}
	return w.c.out.err
}
