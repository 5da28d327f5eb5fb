package colstore

import (
	"encoding/binary"
	"errors"
	"math"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// The first byte of a row's value in space R:
//
//	rowVersion       | per non-NULL column: uvarint column id, value
//	rowVersionNulls  | uvarint count, column ids that are NULL | as rowVersion
//
// Values are little-endian of the kind's width; Bool is one byte, Bytes a
// uvarint length and the bytes. A column that is absent has its missing value,
// NULL for most; a NULL in a column with another one is named.
const (
	rowVersion      = 1
	rowVersionNulls = 2
)

func appendRowValue(dst []byte, s *table.Schema, cols []*vector.Vector, row int) []byte {
	nulls := 0
	for i := range s.Columns {
		if s.Columns[i].Missing != nil && cols[i].IsNull(row) {
			nulls++
		}
	}
	if nulls == 0 {
		dst = append(dst, rowVersion)
	} else {
		dst = binary.AppendUvarint(append(dst, rowVersionNulls), uint64(nulls))
		for i := range s.Columns {
			if s.Columns[i].Missing != nil && cols[i].IsNull(row) {
				dst = binary.AppendUvarint(dst, uint64(s.Columns[i].ID))
			}
		}
	}
	for i := range s.Columns {
		c, v := &s.Columns[i], cols[i]
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
	parts  [][]byte // by column; nil: absent
	nulls  []bool   // by column: NULL by name; nil: none
}

func newRowDecoder(s *table.Schema) *rowDecoder {
	return &rowDecoder{schema: s, parts: make([][]byte, len(s.Columns))}
}

// split finds the values in src, which they alias.
func (d *rowDecoder) split(src []byte) error {
	clear(d.parts)
	d.nulls = d.nulls[:0]
	if len(src) == 0 || src[0] != rowVersion && src[0] != rowVersionNulls {
		return errRow
	}
	named := src[0] == rowVersionNulls
	src = src[1:]
	if named {
		var ok bool
		if src, ok = d.splitNulls(src); !ok {
			return errRow
		}
	}
	next := 0
	for len(src) > 0 {
		id, n := binary.Uvarint(src)
		if n <= 0 {
			return errRow
		}
		src = src[n:]
		col := d.column(id, next)
		kind := vector.Invalid
		if col < 0 {
			if kind = d.dropped(id); kind == vector.Invalid {
				return errRow
			}
		} else {
			next, kind = col+1, d.schema.Columns[col].Kind
		}
		width := kind.Width()
		switch kind {
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
		if col >= 0 {
			d.parts[col] = src[:width:width]
		}
		src = src[width:]
	}
	return nil
}

// splitNulls reads the columns that are NULL by name.
func (d *rowDecoder) splitNulls(src []byte) (rest []byte, ok bool) {
	n, k := binary.Uvarint(src)
	if k <= 0 || n > uint64(len(src)) {
		return nil, false
	}
	src = src[k:]
	if cap(d.nulls) < len(d.schema.Columns) {
		d.nulls = make([]bool, len(d.schema.Columns))
	}
	d.nulls = d.nulls[:len(d.schema.Columns)]
	clear(d.nulls)
	for ; n > 0; n-- {
		id, k := binary.Uvarint(src)
		if k <= 0 {
			return nil, false
		}
		src = src[k:]
		if col := d.column(id, 0); col >= 0 {
			d.nulls[col] = true
		}
	}
	return src, true
}

// dropped returns the kind of a column that the table no longer has, Invalid
// if it never had it.
func (d *rowDecoder) dropped(id uint64) vector.Kind {
	for _, c := range d.schema.Dropped {
		if uint64(c.ID) == id {
			return c.Kind
		}
	}
	return vector.Invalid
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
		if len(d.nulls) > 0 && d.nulls[col] {
			v.AppendNull()
		} else {
			appendMissing(v, d.schema.Columns[col])
		}
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
