package copyio

import (
	"io"

	"tsdb/sql/pgerr"
)

const (
	// readSize is how much is asked of the stream at a time.
	readSize = 64 << 10
	// maxRecord bounds a line or a binary field, as PostgreSQL's string
	// buffers do; the buffer grows with the data that arrived, not with what
	// a length word announces.
	maxRecord = 1<<30 - 1
)

// source is a buffer over a stream. Bytes from mark on are kept; slices of the
// buffer are valid until the next fill.
type source struct {
	r    io.Reader
	buf  []byte // buf[mark:] is data not yet consumed
	mark int
	eof  bool
}

// fill reads more data behind the buffer. Data before mark may go, so that
// offsets change: callers keep them relative to mark. It returns false at the
// end of the stream.
func (s *source) fill() (bool, error) {
	if s.eof {
		return false, nil
	}
	if s.mark > 0 {
		n := copy(s.buf, s.buf[s.mark:])
		s.buf, s.mark = s.buf[:n], 0
	}
	if len(s.buf) > maxRecord {
		return false, pgerr.New(pgerr.ProgramLimitExceeded, "out of memory").
			WithDetail("Cannot enlarge string buffer containing %d bytes by %d more bytes.", len(s.buf), readSize)
	}
	if cap(s.buf)-len(s.buf) < readSize {
		grown := make([]byte, len(s.buf), max(2*cap(s.buf), len(s.buf)+2*readSize))
		copy(grown, s.buf)
		s.buf = grown
	}
	for range 100 {
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if err == io.EOF { // an error that wraps it is a failure
			s.eof = true
			return n > 0, nil
		}
		if err != nil {
			return false, err
		}
		if n > 0 {
			return true, nil
		}
	}
	return false, io.ErrNoProgress
}

// need makes at least n bytes available; false if the stream ends before.
func (s *source) need(n int) (bool, error) {
	for len(s.buf)-s.mark < n {
		more, err := s.fill()
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// drain reads the stream to its end and forgets it.
func (s *source) drain() error {
	for !s.eof {
		s.mark = len(s.buf)
		if _, err := s.fill(); err != nil {
			return err
		}
	}
	s.mark = len(s.buf)
	return nil
}
