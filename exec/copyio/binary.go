package copyio

import (
	"encoding/binary"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// signature starts every binary COPY.
const signature = "PGCOPY\n\xff\r\n\x00"

// binaryReader reads PostgreSQL's binary COPY format:
//
//	signature (11) | flags int32 | extension length int32, extension
//	per row: number of fields int16 | per field: length int32 (-1: NULL), value
//	trailer: int16 -1
type binaryReader struct {
	rows
	src   source
	row   int64 // 1-based
	done  bool
	quick quickColumns
	slow  bool // tests: no row is read quickly
}

func badFormat(format string, args ...any) *pgerr.Error {
	return pgerr.New(pgerr.BadCopyFileFormat, format, args...)
}

// bytes returns the next n bytes; ok is false if the data ends before.
func (r *binaryReader) bytes(n int) (b []byte, ok bool, err error) {
	if ok, err := r.src.need(n); !ok {
		return nil, false, err
	}
	b = r.src.buf[r.src.mark : r.src.mark+n]
	r.src.mark += n
	return b, true, nil
}

func (r *binaryReader) int32() (v int32, ok bool, err error) {
	b, ok, err := r.bytes(4)
	if !ok {
		return 0, false, err
	}
	return int32(binary.BigEndian.Uint32(b)), true, nil
}

func (r *binaryReader) readHeader() error {
	b, ok, err := r.bytes(len(signature))
	if err != nil {
		return err
	}
	if !ok || string(b) != signature {
		return badFormat("COPY file signature not recognized")
	}
	flags, ok, err := r.int32()
	if err != nil {
		return err
	}
	switch {
	case !ok:
		return badFormat("invalid COPY file header (missing flags)")
	case flags&(1<<16) != 0:
		return badFormat("invalid COPY file header (WITH OIDS)")
	case uint32(flags)>>16 != 0:
		return badFormat("unrecognized critical flags in COPY file header")
	}
	n, ok, err := r.int32()
	if err != nil {
		return err
	}
	if !ok || n < 0 {
		return badFormat("invalid COPY file header (missing length)")
	}
	for n > 0 {
		_, ok, err := r.bytes(int(min(n, readSize)))
		if err != nil {
			return err
		}
		if !ok {
			return badFormat("invalid COPY file header (wrong length)")
		}
		n -= min(n, readSize)
	}
	return nil
}

// Next returns the next batch, nil at the end.
func (r *binaryReader) Next() (*vector.Batch, error) {
	r.begin()
	for !r.done {
		if r.quickRows(); r.full() {
			break
		}
		r.row++
		if err := r.readRow(); err != nil {
			return nil, where(err, r.table, r.row, "", nil, false)
		}
	}
	if r.batch.N == 0 {
		return nil, nil
	}
	return r.batch, nil
}

func (r *binaryReader) readRow() error {
	b, ok, err := r.bytes(2)
	if err != nil {
		return err
	}
	if !ok { // the end of the data counts as a trailer
		r.done = true
		return nil
	}
	fields := int(int16(binary.BigEndian.Uint16(b)))
	if fields == -1 {
		r.done = true
		if more, err := r.src.need(1); err != nil {
			return err
		} else if more {
			return badFormat("received copy data after EOF marker")
		}
		return nil
	}
	if fields != len(r.cols) {
		return badFormat("row field count is %d, expected %d", fields, len(r.cols))
	}
	for i := range r.cols {
		if err := r.readField(i); err != nil {
			return where(err, r.table, r.row, r.cols[i].Name, nil, false)
		}
	}
	r.lines = append(r.lines, r.row)
	r.batch.N++
	return nil
}

func (r *binaryReader) readField(i int) error {
	n, ok, err := r.int32()
	if err != nil {
		return err
	}
	if !ok {
		return badFormat("unexpected EOF in COPY data")
	}
	if n == -1 {
		r.batch.Cols[i].AppendNull()
		return nil
	}
	if n < 0 {
		return badFormat("invalid field size")
	}
	if n > maxRecord {
		return pgerr.New(pgerr.ProgramLimitExceeded, "out of memory").
			WithDetail("Cannot enlarge string buffer containing 0 bytes by %d more bytes.", n)
	}
	b, ok, err := r.bytes(int(n))
	if err != nil {
		return err
	}
	if !ok {
		return badFormat("unexpected EOF in COPY data")
	}
	return types.ParseWire(r.batch.Cols[i], r.cols[i].Type, b, r.ctx)
}

// binaryWriter writes the same format.
type binaryWriter struct {
	cols []Column
	ctx  *types.Context
}

// Header appends the signature, no flags and no extension.
func (w *binaryWriter) Header(dst []byte) []byte {
	return append(append(dst, signature...), 0, 0, 0, 0, 0, 0, 0, 0)
}

// Rows appends the rows of b.
func (w *binaryWriter) Rows(dst []byte, ends []int, b *vector.Batch) ([]byte, []int) {
	for i := range b.N {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(w.cols)))
		for j, c := range w.cols {
			v := b.Cols[j]
			if v.IsNull(i) {
				dst = append(dst, 0xff, 0xff, 0xff, 0xff)
				continue
			}
			at := len(dst)
			dst = append(dst, 0, 0, 0, 0)
			dst = types.AppendWire(dst, c.Type, v, i, w.ctx)
			binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		}
		ends = append(ends, len(dst))
	}
	return dst, ends
}

// Trailer appends the end marker.
func (w *binaryWriter) Trailer(dst []byte) []byte { return append(dst, 0xff, 0xff) }
