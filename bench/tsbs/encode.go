package tsbs

import (
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"time"
)

// signature starts a binary COPY: its 11 bytes, flags and extension length.
const signature = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// postgresEpoch is 2000-01-01 in seconds since 1970.
const postgresEpoch = 946684800

// Text returns all rows in COPY's text format.
func (g *Generator) Text() []byte { return readAll(&reader{g: g}) }

// Binary returns all rows in COPY's binary format.
func (g *Generator) Binary() []byte { return readAll(&reader{g: g, binary: true}) }

// TextChunk returns the next rows, so many at most, in COPY's text format;
// nothing at the end.
func (g *Generator) TextChunk(rows int) []byte {
	r := reader{g: g}
	var x row
	for ; rows > 0 && g.next(&x); rows-- {
		r.appendText(&x)
	}
	return r.buf
}

func readAll(r *reader) []byte {
	var all []byte
	for r.fill() {
		all = append(all, r.buf...)
	}
	return all
}

// TextReader streams the rows in COPY's text format.
func (g *Generator) TextReader() io.Reader { return &reader{g: g} }

// BinaryReader streams the rows in COPY's binary format.
func (g *Generator) BinaryReader() io.Reader { return &reader{g: g, binary: true} }

// reader makes rows while it is read.
type reader struct {
	g           *Generator
	binary      bool
	begun, done bool
	buf         []byte
	at          int
	stamp       []byte // text of the time of tick stampTick
	stampTick   int32
}

// chunk is the bytes that are made at a time.
const chunk = 1 << 20

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.at == len(r.buf) && !r.fill() {
		return 0, io.EOF
	}
	n := copy(p, r.buf[r.at:])
	r.at += n
	return n, nil
}

// fill makes the next chunk; false at the end.
func (r *reader) fill() bool {
	r.buf, r.at = r.buf[:0], 0
	if r.done {
		return false
	}
	if r.binary && !r.begun {
		r.buf = append(r.buf, signature...)
	}
	r.begun = true
	var x row
	for len(r.buf) < chunk {
		if !r.g.next(&x) {
			r.done = true
			if r.binary {
				r.buf = append(r.buf, 0xff, 0xff)
			}
			break
		}
		if r.binary {
			r.appendBinary(&x)
		} else {
			r.appendText(&x)
		}
	}
	return len(r.buf) > 0
}

func (r *reader) appendText(x *row) {
	if r.stamp == nil || r.stampTick != x.tick {
		r.stamp = time.Unix(Start+Step*int64(x.tick), 0).UTC().AppendFormat(r.stamp[:0], "2006-01-02 15:04:05+00\t")
		r.stampTick = x.tick
	}
	b := append(r.buf, r.stamp...)
	b = append(b, r.g.names[x.host]...)
	for _, v := range x.values {
		b = strconv.AppendUint(append(b, '\t'), uint64(v), 10)
	}
	r.buf = append(b, '\n')
}

func (r *reader) appendBinary(x *row) {
	b := binary.BigEndian.AppendUint16(r.buf, 2+metrics)
	b = binary.BigEndian.AppendUint32(b, 8)
	b = binary.BigEndian.AppendUint64(b, uint64(Start-postgresEpoch+Step*int64(x.tick))*1e6)
	name := r.g.names[x.host]
	b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
	b = append(b, name...)
	for _, v := range x.values {
		bits := uint64(v)
		if r.g.o.Float {
			bits = math.Float64bits(float64(v))
		}
		b = binary.BigEndian.AppendUint32(b, 8)
		b = binary.BigEndian.AppendUint64(b, bits)
	}
	r.buf = b
}
