package pgwire

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
)

// Limits on what a client may send.
const (
	// maxStartup is PostgreSQL's limit of a start-up packet in bytes.
	maxStartup = 10_000
	// maxMessage is PostgreSQL's limit of a message in bytes, length word included.
	maxMessage = 1<<30 - 1
	// smallRead is the read buffer of an idle connection.
	smallRead = 2 << 10
	// largeRead is the pooled read buffer of a connection that sends more than a little at a time.
	largeRead = 64 << 10
	// growBody is the most memory taken for a message body ahead of its bytes.
	growBody = 1 << 20
	// keepBody is the largest body buffer that is kept for the next message.
	keepBody = 256 << 10
)

// errLength is a length word that no message can have.
var errLength = errors.New("invalid message length")

var readPool = sync.Pool{New: func() any { return new([largeRead]byte) }}

// reader frames messages out of a stream.
type reader struct {
	src   io.Reader
	buf   []byte // small or large
	r, w  int    // buf[r:w] is unread
	owed  int    // bytes of a message given up that stand before the next header
	small []byte
	large *[largeRead]byte // nil while the small buffer serves
	body  []byte           // of a message that is larger than buf
}

func newReader(src io.Reader) *reader {
	small := make([]byte, smallRead)
	return &reader{src: src, buf: small, small: small}
}

// buffered returns the number of bytes that arrived and were not consumed.
func (r *reader) buffered() int { return r.w - r.r }

// enlarge moves the unread bytes into a pooled buffer.
func (r *reader) enlarge() {
	r.large = readPool.Get().(*[largeRead]byte)
	r.w = copy(r.large[:], r.buf[r.r:r.w])
	r.r, r.buf = 0, r.large[:]
}

// shrink gives the pooled buffer back if nothing is in it.
func (r *reader) shrink() {
	if r.large == nil || r.r != r.w {
		return
	}
	readPool.Put(r.large)
	r.large, r.buf, r.r, r.w = nil, r.small, 0, 0
}

// fill makes at least n bytes available; n is at most smallRead.
func (r *reader) fill(n int) error {
	for r.w-r.r < n {
		if r.r == r.w {
			r.r, r.w = 0, 0
		}
		if len(r.buf)-r.r < n {
			r.w = copy(r.buf, r.buf[r.r:r.w])
			r.r = 0
		}
		m, err := r.src.Read(r.buf[r.w:])
		r.w += m
		if r.w == len(r.buf) && r.large == nil {
			r.enlarge()
		}
		if m == 0 && err != nil {
			if err == io.EOF && r.w != r.r {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// giveUp leaves the next size bytes, the rest of a message, to be dropped when
// the next header is read: dropping them now might wait for the client.
func (r *reader) giveUp(size int) { r.owed += size }

// header reads a message's type and the length of its body. After an error it
// may be called again: what had arrived is still there.
func (r *reader) header() (typ byte, size int, err error) {
	for r.owed > 0 {
		n := min(r.owed, r.w-r.r)
		r.r += n
		if r.owed -= n; r.owed > 0 {
			if err := r.fill(1); err != nil {
				return 0, 0, unexpected(err)
			}
		}
	}
	if err := r.fill(5); err != nil {
		return 0, 0, err
	}
	typ = r.buf[r.r]
	n := int64(binary.BigEndian.Uint32(r.buf[r.r+1:]))
	r.r += 5
	if n < 4 || n > maxMessage {
		return typ, 0, errLength
	}
	return typ, int(n) - 4, nil
}

// payload returns the next size bytes; they stay valid until the next call.
func (r *reader) payload(size int) ([]byte, error) {
	if size > r.w-r.r && size > smallRead && r.large == nil {
		r.enlarge()
	}
	if size <= smallRead || (r.large != nil && size <= r.w-r.r) {
		if err := r.fill(size); err != nil {
			return nil, unexpected(err)
		}
		b := r.buf[r.r : r.r+size]
		r.r += size
		return b, nil
	}
	if cap(r.body) > keepBody {
		r.body = nil
	}
	body := r.body[:0]
	for len(body) < size {
		step := min(size-len(body), max(growBody, len(body)))
		start := len(body)
		body = append(body, make([]byte, step)...)
		if err := r.full(body[start:]); err != nil {
			return nil, unexpected(err)
		}
	}
	r.body = body
	return body, nil
}

// full fills dst from the buffer and the stream.
func (r *reader) full(dst []byte) error {
	n := copy(dst, r.buf[r.r:r.w])
	r.r += n
	_, err := io.ReadFull(r.src, dst[n:])
	return err
}

// some reads up to len(dst) bytes, at least one.
func (r *reader) some(dst []byte) (int, error) {
	if r.r == r.w {
		if r.large == nil {
			r.enlarge()
		}
		if len(dst) >= len(r.buf) {
			return r.src.Read(dst)
		}
		if err := r.fill(1); err != nil {
			return 0, err
		}
	}
	n := copy(dst, r.buf[r.r:r.w])
	r.r += n
	return n, nil
}

// skip drops size bytes.
func (r *reader) skip(size int) error {
	for size > 0 {
		n := min(size, r.w-r.r)
		r.r += n
		size -= n
		if size > 0 {
			if err := r.fill(1); err != nil {
				return unexpected(err)
			}
		}
	}
	return nil
}

// startup reads a start-up packet: a length word and a body without a type.
func (r *reader) startup() ([]byte, error) {
	if err := r.fill(4); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(r.buf[r.r:]))
	r.r += 4
	if n < 8 || n > maxStartup {
		return nil, errLength
	}
	return r.payload(int(n) - 4)
}

// release gives pooled memory back; the reader is not used afterwards.
func (r *reader) release() {
	r.r, r.w, r.body = 0, 0, nil
	r.shrink()
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
