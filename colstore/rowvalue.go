package colstore

import (
	"encoding/binary"
	"errors"
	"math"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// rowVersion is the first byte of a row's value in space R:
//
//	version u8 | per non-NULL column: uvarint column id, value
//
// Values are little-endian of the kind's width; Bool is one byte, Bytes a
// uvarint length and the bytes. A column that is absent is NULL.
const rowVersion = 1

func appendRowValue(dst []byte, s *table.Schema, cols []*vector.Vector, row int) []byte {
	dst = append(dst, rowVersion)
	for i, c := range s.Columns {
		v := cols[i]
		if v.IsNull(row) {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(c.ID))
		p := row & v.Mask()
		switch c.Kind {
		case vector.Bool:
			b := byte(0)
			if v.Bits.Get(p) {
				b = 1
			}
			dst = append(dst, b)
		case vector.Int16:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(v.I16[p]))
		case vector.Int32:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(v.I32[p]))
		case vector.Int64:
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v.I64[p]))
		case vector.Uint32:
			dst = binary.LittleEndian.AppendUint32(dst, v.U32[p])
		case vector.Float32:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v.F32[p]))
		case vector.Float64:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.F64[p]))
		case vector.Fixed16:
			dst = append(dst, v.F16[p][:]...)
		case vector.Bytes:
			x := v.Bytes(row)
			dst = append(binary.AppendUvarint(dst, uint64(len(x))), x...)
		}
	}
	return dst
}

var errRow = errors.New("malformed row")

// rowDecoder splits row values into the columns of a schema.
type rowDecoder struct {
	schema *table.Schema
	parts  [][]byte // by column; nil: NULL
}

func newRowDecoder(s *table.Schema) *rowDecoder {
	return &rowDecoder{schema: s, parts: make([][]byte, len(s.Columns))}
}

// split finds the values in src, which they alias.
func (d *rowDecoder) split(src []byte) error {
	clear(d.parts)
	if len(src) == 0 || src[0] != rowVersion {
		return errRow
	}
	src = src[1:]
	next := 0
	for len(src) > 0 {
		id, n := binary.Uvarint(src)
		if n <= 0 {
			return errRow
		}
		src = src[n:]
		col := d.column(id, next)
		if col < 0 {
			return errRow
		}
		next = col + 1
		width := d.schema.Columns[col].Kind.Width()
		switch d.schema.Columns[col].Kind {
		case vector.Bool:
			width = 1
		case vector.Bytes:
			size, n := binary.Uvarint(src)
			if n <= 0 || size > uint64(len(src)-n) {
				return errRow
			}
			src, width = src[n:], int(size)
		}
		if width > len(src) {
			return errRow
		}
		d.parts[col] = src[:width:width]
		src = src[width:]
	}
	return nil
}

func (d *rowDecoder) column(id uint64, hint int) int {
	cols := d.schema.Columns
	if hint < len(cols) && uint64(cols[hint].ID) == id {
		return hint
	}
	for i := range cols {
		if uint64(cols[i].ID) == id {
			return i
		}
	}
	return -1
}

// appendTo appends column col of the split row to v.
func (d *rowDecoder) appendTo(v *vector.Vector, col int) {
	x := d.parts[col]
	if x == nil {
		v.AppendNull()
		return
	}
	switch v.Kind {
	case vector.Bool:
		v.AppendBool(x[0] != 0)
	case vector.Int16:
		v.AppendInt16(int16(binary.LittleEndian.Uint16(x)))
	case vector.Int32:
		v.AppendInt32(int32(binary.LittleEndian.Uint32(x)))
	case vector.Int64:
		v.AppendInt64(int64(binary.LittleEndian.Uint64(x)))
	case vector.Uint32:
		v.AppendUint32(binary.LittleEndian.Uint32(x))
	case vector.Float32:
		v.AppendFloat32(math.Float32frombits(binary.LittleEndian.Uint32(x)))
	case vector.Float64:
		v.AppendFloat64(math.Float64frombits(binary.LittleEndian.Uint64(x)))
	case vector.Fixed16:
		v.AppendFixed16([16]byte(x))
	case vector.Bytes:
		v.AppendBytes(x)
	}
}

// batch decodes one row value into a batch of one row.
func (d *rowDecoder) batch(src []byte) (*vector.Batch, error) {
	if err := d.split(src); err != nil {
		return nil, err
	}
	b := &vector.Batch{N: 1}
	for i, c := range d.schema.Columns {
		v := vector.New(c.Kind, 1)
		d.appendTo(v, i)
		b.Cols = append(b.Cols, v)
	}
	return b, nil
}
