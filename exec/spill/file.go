package spill

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"

	"github.com/klauspost/compress/s2"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// File is one sequence of batches.
type File struct {
	space *Space
	f     *os.File
	name  string
	size  int64
	rows  int64
	gone  bool
}

// Rows returns the number of rows written.
func (f *File) Rows() int64 { return f.rows }

// Size returns the number of bytes written.
func (f *File) Size() int64 { return f.size }

// Close removes the file. It may be called twice.
func (f *File) Close() error {
	f.space.forget(f)
	return f.remove()
}

func (f *File) remove() error {
	if f.gone {
		return nil
	}
	f.gone = true
	f.space.used.Add(-f.size)
	err := f.f.Close()
	if e := os.Remove(f.name); err == nil {
		err = e
	}
	if err != nil {
		return failure(err)
	}
	return nil
}

// frameHead is the length of what precedes the packed bytes.
const frameHead = 12

var checksums = crc32.MakeTable(crc32.Castagnoli)

// Scratch is the memory of writing and reading; several files may share one.
type Scratch struct{ plain, packed []byte }

// Write appends a batch without selection, constants and dictionaries.
func (f *File) Write(b *vector.Batch, s *Scratch) error {
	s.plain = appendBatch(s.plain[:0], b)
	if need := frameHead + s2.MaxEncodedLen(len(s.plain)); cap(s.packed) < need {
		s.packed = make([]byte, need)
	}
	frame := s.packed[:cap(s.packed)]
	body := s2.Encode(frame[frameHead:], s.plain)
	if len(body) >= len(s.plain) {
		body = append(frame[frameHead:frameHead], s.plain...)
	}
	frame = frame[:frameHead+len(body)]
	binary.LittleEndian.PutUint32(frame, uint32(len(body)))
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(s.plain)))
	binary.LittleEndian.PutUint32(frame[8:], crc32.Checksum(body, checksums))
	if err := f.space.take(int64(len(frame))); err != nil {
		return err
	}
	if _, err := f.f.WriteAt(frame, f.size); err != nil {
		f.space.used.Add(-int64(len(frame)))
		return failure(err)
	}
	f.size += int64(len(frame))
	f.rows += int64(b.N)
	return nil
}

// Reader reads a file from the front. Several readers may read one file.
type Reader struct {
	f  *File
	at int64
}

// Read returns a reader at the first batch.
func (f *File) Read() *Reader { return &Reader{f: f} }

// Next makes dst hold the next batch; false at the end.
func (r *Reader) Next(dst *vector.Batch, s *Scratch) (bool, error) {
	if r.at >= r.f.size {
		return false, nil
	}
	var head [frameHead]byte
	if err := r.read(head[:]); err != nil {
		return false, err
	}
	packed, plain := int(binary.LittleEndian.Uint32(head[:])), int(binary.LittleEndian.Uint32(head[4:]))
	if int64(packed) > r.f.size-r.at || packed > plain {
		return false, corrupt()
	}
	if cap(s.packed) < packed {
		s.packed = make([]byte, packed)
	}
	body := s.packed[:packed]
	if err := r.read(body); err != nil {
		return false, err
	}
	if crc32.Checksum(body, checksums) != binary.LittleEndian.Uint32(head[8:]) {
		return false, corrupt()
	}
	if packed < plain {
		if n, err := s2.DecodedLen(body); err != nil || n != plain {
			return false, corrupt()
		}
		if cap(s.plain) < plain {
			s.plain = make([]byte, plain)
		}
		var err error
		if body, err = s2.Decode(s.plain[:plain], body); err != nil {
			return false, corrupt()
		}
	}
	if !readBatch(dst, body) {
		return false, corrupt()
	}
	return true, nil
}

func (r *Reader) read(p []byte) error {
	n, err := r.f.f.ReadAt(p, r.at)
	r.at += int64(n)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return corrupt()
	}
	return failure(err)
}

func corrupt() error {
	return pgerr.New(pgerr.DataCorrupted, "a temporary file does not hold what was written to it")
}
