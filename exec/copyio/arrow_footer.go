package copyio

import (
	"encoding/binary"
	"errors"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The tail of an Arrow file is its footer, the footer's length and the magic.
const (
	arrowTail = 4 + 6

	footerSchema  = 6 // slots of the tables, from the format's definition
	schemaFields  = 6
	fieldChildren = 14

	maxArrowDepth = 64
)

var errDamagedArrow = errors.New("the file's schema is damaged")

// checkFooter looks at the lengths in an Arrow file's schema before the reader
// does, which allocates what they say: a damaged file must not end the process.
func checkFooter(f readerAtSeeker) (err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	tail := make([]byte, arrowTail)
	if size < arrowTail {
		return errDamagedArrow
	}
	if _, err := f.ReadAt(tail, size-arrowTail); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n < flatbuffers.SizeUOffsetT || n > size-arrowTail {
		return errDamagedArrow
	}
	footer := make([]byte, n)
	if _, err := f.ReadAt(footer, size-arrowTail-n); err != nil {
		return err
	}
	defer func() {
		if recover() != nil { // an offset outside the footer
			err = errDamagedArrow
		}
	}()
	t := flatbuffers.Table{Bytes: footer, Pos: flatbuffers.GetUOffsetT(footer)}
	at := flatbuffers.UOffsetT(t.Offset(footerSchema))
	if at == 0 {
		return errDamagedArrow
	}
	left := len(footer) // no field is smaller than a byte
	return checkFields(flatbuffers.Table{Bytes: footer, Pos: t.Indirect(at + t.Pos)}, schemaFields, &left, 0)
}

// checkFields follows a vector of fields and their children.
func checkFields(t flatbuffers.Table, slot flatbuffers.VOffsetT, left *int, depth int) error {
	at := flatbuffers.UOffsetT(t.Offset(slot))
	if at == 0 {
		return nil
	}
	n, from := t.VectorLen(at), t.Vector(at)
	if *left -= n; n < 0 || *left < 0 || depth > maxArrowDepth || int(from)+n*flatbuffers.SizeUOffsetT > len(t.Bytes) {
		return errDamagedArrow
	}
	for i := range n {
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(from + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT))}
		if err := checkFields(field, fieldChildren, left, depth+1); err != nil {
			return err
		}
	}
	return nil
}
