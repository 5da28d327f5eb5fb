package pgwire

import (
	"errors"
	"io"
	"os"

	"tsdb/sql/pgerr"
)

// copyState is the COPY ... FROM STDIN of the running statement.
type copyState struct {
	in     *copyReader // nil: none
	broken bool        // the client left in the middle, or where the next message begins is unknown
}

// drain reads what is left of the data after a COPY that succeeded.
func (s *copyState) drain() error {
	if s.in == nil {
		return nil
	}
	err := s.in.rest()
	s.in = nil
	return err
}

// abandon skips what is left of the message that a failed COPY was reading;
// whole messages after it are ignored where they arrive.
func (s *copyState) abandon() {
	if s.in == nil || s.broken {
		return
	}
	if err := s.in.c.in.skip(s.in.left); err != nil {
		s.broken = true
	}
	s.in = nil
}

// CopyIn asks the client for data.
func (c *conn) CopyIn(binary bool, columns int) (io.Reader, error) {
	if err := c.copy.drain(); err != nil {
		return nil, err
	}
	c.copyResponse('G', binary, columns)
	if err := c.out.flush(); err != nil {
		return nil, err
	}
	c.copy.in = &copyReader{c: c}
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
	left int   // bytes of the current CopyData
	err  error // how it ended
}

// Read returns what the client sent, io.EOF after CopyDone.
//
// Errors: 57014 after CopyFail; FATAL errors when the conversation is broken.
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
		r.err = r.broken(err)
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
		if err := r.c.in.skip(r.left); err != nil {
			r.err = r.broken(err)
			return r.err
		}
		r.left = 0
	}
}

// next makes left positive or reports the end.
func (r *copyReader) next() error {
	for r.err == nil && r.left == 0 {
		typ, size, err := r.c.in.header()
		if err != nil {
			r.err = r.broken(err)
			break
		}
		switch typ {
		case 'd':
			r.left = size
		case 'H', 'S': // some drivers send them after Execute without looking
			if err := r.c.in.skip(size); err != nil {
				r.err = r.broken(err)
			}
		case 'c':
			r.err = io.EOF
			if err := r.c.in.skip(size); err != nil {
				r.err = r.broken(err)
			}
		case 'f':
			r.err = r.failed(size)
		default:
			r.c.copy.broken = true
			r.err = fatal(pgerr.ProtocolViolation, "unexpected message type 0x%02X during COPY from stdin", typ)
		}
	}
	return r.err
}

func (r *copyReader) failed(size int) error {
	body, err := r.c.in.payload(size)
	if err != nil {
		return r.broken(err)
	}
	reason, _, ok := cut(body)
	if !ok {
		reason = string(body)
	}
	return pgerr.New(pgerr.QueryCanceled, "COPY from stdin failed: %s", reason)
}

// broken turns a failed read into the error of the statement; the connection ends with it.
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
