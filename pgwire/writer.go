package pgwire

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"

	"tsdb/sql/pgerr"
)

const (
	// writeSize is how much is gathered before a write.
	writeSize = 64 << 10
	// writeSlack is the room for the message that crosses writeSize.
	writeSlack = 8 << 10
	// keepWrite is the largest buffer that goes back to the pool: one wide row must not pin its memory.
	keepWrite = 256 << 10
)

var writePool = sync.Pool{New: func() any { return &writeBuffer{make([]byte, 0, writeSize+writeSlack)} }}

type writeBuffer struct{ b []byte }

// writer gathers messages. After a failed write it swallows everything and
// keeps the error.
type writer struct {
	dst  io.Writer
	pool *writeBuffer // owner of buf, nil while nothing is buffered
	buf  []byte
	err  error
	want bool // the client waits for what is buffered
}

// open makes buf usable for appending.
func (w *writer) open() {
	if w.pool == nil {
		w.pool = writePool.Get().(*writeBuffer)
		w.buf = w.pool.b[:0]
	}
}

// begin starts a message and returns where it begins, for end.
func (w *writer) begin(typ byte) int {
	w.open()
	start := len(w.buf)
	w.buf = append(w.buf, typ, 0, 0, 0, 0)
	return start
}

// end sets the length of the message that began at start.
func (w *writer) end(start int) {
	binary.BigEndian.PutUint32(w.buf[start+1:], uint32(len(w.buf)-start-1))
	w.spill()
}

// empty writes a message without a body.
func (w *writer) empty(typ byte) {
	w.open()
	w.buf = append(w.buf, typ, 0, 0, 0, 4)
}

// message writes a message that is not worth an encoder of its own.
func (w *writer) message(m pgproto3.BackendMessage) {
	w.open()
	b, err := m.Encode(w.buf)
	if err != nil {
		if w.err == nil {
			w.err = err
		}
		return
	}
	w.buf = b
	w.spill()
}

func (w *writer) int16(x int) { w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(x)) }

func (w *writer) int32(x uint32) { w.buf = binary.BigEndian.AppendUint32(w.buf, x) }

func (w *writer) string(s string) {
	w.buf = append(w.buf, s...)
	w.buf = append(w.buf, 0)
}

// spill writes if enough has gathered.
func (w *writer) spill() {
	if len(w.buf) >= writeSize {
		w.write()
	}
}

func (w *writer) write() {
	if w.err == nil && len(w.buf) > 0 {
		if _, err := w.dst.Write(w.buf); err != nil {
			w.err = fatal(pgerr.ConnectionFailure, "could not send data to client").WithCause(err)
		}
	}
	w.buf = w.buf[:0]
}

// flush writes all there is and gives the buffer back.
func (w *writer) flush() error {
	w.write()
	w.want = false
	w.release()
	return w.err
}

func (w *writer) release() {
	if w.pool == nil {
		return
	}
	if cap(w.buf) <= keepWrite {
		w.pool.b = w.buf[:0]
		writePool.Put(w.pool)
	}
	w.pool, w.buf = nil, nil
}
