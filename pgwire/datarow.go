package pgwire

import (
	"encoding/binary"

	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Result formats of the protocol.
const (
	textFormat   = 0
	binaryFormat = 1
)

// encoding says how a column's values become wire bytes; chosen once per
// result from type and format, so that the row loop switches on one byte.
type encoding uint8

const (
	textAny encoding = iota // types.AppendText
	raw                     // the stored bytes are the wire's, in either format
	textBool
	textInt16
	textInt32
	textInt64
	textUint32
	textFloat64
	textDate
	textTimestamp
	textTimestampTZ
	binAny // types.AppendWire; from here on the format is binary
	binBool
	binInt16
	binInt32
	binInt64
	binUint32
	binFloat32
	binFloat64
	binDate
	binTimestamp
	binFixed16
	binJSONB
)

// column is one column of the result being sent.
type column struct {
	typ  types.Type
	enc  encoding
	vec  *vector.Vector
	mask int
	time timeText
}

// rowEncoder writes DataRow messages.
type rowEncoder struct {
	cols []column
	ctx  *types.Context
}

// prepare sets the encoder up for a result. formats follow the protocol's
// rules: none, one for all, or one each.
func (e *rowEncoder) prepare(cols []logical.Column, formats []int16, ctx *types.Context) {
	if cap(e.cols) < len(cols) {
		e.cols = make([]column, len(cols))
	}
	e.cols = e.cols[:len(cols)]
	e.ctx = ctx
	for i := range cols {
		e.cols[i] = column{typ: cols[i].Type, enc: encodingOf(cols[i].Type.OID, formatOf(formats, i), ctx)}
	}
}

// formatOf returns the format of column i.
func formatOf(formats []int16, i int) int16 {
	switch {
	case len(formats) == 0:
		return textFormat
	case len(formats) == 1:
		return formats[0]
	case i < len(formats):
		return formats[i]
	}
	return textFormat
}

func encodingOf(oid types.OID, format int16, ctx *types.Context) encoding {
	if format == binaryFormat {
		return binaryEncoding(oid)
	}
	return textEncoding(oid, ctx)
}

func binaryEncoding(oid types.OID) encoding {
	switch oid {
	case types.Bool:
		return binBool
	case types.Int2:
		return binInt16
	case types.Int4:
		return binInt32
	case types.Int8, types.Time:
		return binInt64
	case types.Oid, types.Xid, types.Regproc, types.Regprocedure, types.Regclass, types.Regtype, types.Regnamespace, types.Regrole:
		return binUint32
	case types.Float4:
		return binFloat32
	case types.Float8:
		return binFloat64
	case types.Date:
		return binDate
	case types.Timestamp, types.TimestampTZ:
		return binTimestamp
	case types.UUID:
		return binFixed16
	case types.Text, types.Varchar, types.BPChar, types.Name, types.JSON, types.Bytea, types.Numeric, types.TimeTZ, types.Unknown:
		return raw
	case types.JSONB:
		return binJSONB
	}
	return binAny
}

func textEncoding(oid types.OID, ctx *types.Context) encoding {
	iso := ctx == nil || ctx.DateStyle == types.StyleISO
	switch oid {
	case types.Bool:
		return textBool
	case types.Int2:
		return textInt16
	case types.Int4:
		return textInt32
	case types.Int8:
		return textInt64
	case types.Oid, types.Xid:
		return textUint32
	case types.Float8:
		if ctx == nil || ctx.ExtraFloatDigits >= 1 {
			return textFloat64
		}
	case types.Date:
		if iso {
			return textDate
		}
	case types.Timestamp:
		if iso {
			return textTimestamp
		}
	case types.TimestampTZ:
		if iso {
			return textTimestampTZ
		}
	case types.Text, types.Varchar, types.BPChar, types.Name, types.JSON, types.JSONB, types.Unknown:
		return raw
	}
	return textAny
}

// rows writes the rows of a batch that has no selection.
func (e *rowEncoder) rows(w *writer, b *vector.Batch) error {
	if len(b.Cols) != len(e.cols) {
		return pgerr.New(pgerr.InternalError, "result has %d columns, %d were announced", len(b.Cols), len(e.cols))
	}
	for i, v := range b.Cols {
		e.cols[i].vec, e.cols[i].mask = v, v.Mask()
	}
	for row := 0; row < b.N; row++ {
		start := w.begin('D')
		w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(len(e.cols)))
		for i := range e.cols {
			w.buf = e.cols[i].append(w.buf, row, e.ctx)
		}
		if len(w.buf)-start > maxMessage {
			w.buf = w.buf[:start]
			return pgerr.New(pgerr.ProgramLimitExceeded, "result row is larger than a protocol message can be").
				WithDetail("A message holds at most %d bytes.", maxMessage)
		}
		w.end(start)
		if w.err != nil {
			return w.err
		}
	}
	return nil
}

// append writes the length and the value of one row.
func (c *column) append(dst []byte, row int, ctx *types.Context) []byte {
	v := c.vec
	if v.Valid != nil && v.IsNull(row) {
		return append(dst, 0xff, 0xff, 0xff, 0xff)
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if c.enc >= binAny {
		dst = c.appendBinary(dst, row, ctx)
	} else {
		dst = c.appendText(dst, row, ctx)
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
