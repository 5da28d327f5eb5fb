package types

import (
	"cmp"
	"encoding/binary"

	"tsdb/colstore/vector"
)

// AppendRecord appends the stored form of a record, which is PostgreSQL's
// binary form: the number of fields, then per field its type, its length and
// its binary form. Field f is row i of fields[f].
func AppendRecord(dst []byte, ts []Type, fields []*vector.Vector, i int) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(ts)))
	for f, t := range ts {
		dst = binary.BigEndian.AppendUint32(dst, t.OID)
		v := fields[f]
		if v.IsNull(i) {
			dst = binary.BigEndian.AppendUint32(dst, 0xffffffff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = AppendBinary(dst, t, v, i&v.Mask())
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}

// recordReader yields the fields of a stored record.
type recordReader struct {
	rest []byte
	left int
}

func readRecord(b []byte) recordReader {
	if len(b) < 4 {
		return recordReader{}
	}
	return recordReader{rest: b[4:], left: int(binary.BigEndian.Uint32(b))}
}

// next returns the next field as row 0 of v, nil for NULL; ok is false at the end.
func (r *recordReader) next() (t Type, v *vector.Vector, ok bool) {
	if r.left == 0 || len(r.rest) < 8 {
		return t, nil, false
	}
	r.left--
	t = T(binary.BigEndian.Uint32(r.rest))
	n := int32(binary.BigEndian.Uint32(r.rest[4:]))
	r.rest = r.rest[8:]
	if n < 0 {
		return t, nil, true
	}
	if int(n) > len(r.rest) {
		return t, nil, false
	}
	v = vector.New(t.Kind(), 1)
	if t.OID == Record {
		v.AppendBytes(r.rest[:n])
	} else if ParseBinary(v, t, r.rest[:n]) != nil {
		return t, nil, false
	}
	r.rest = r.rest[n:]
	return t, v, true
}

// appendRecordText appends the text form of a stored record: (1,"a b",).
func appendRecordText(dst, b []byte, c *Context) []byte {
	r := readRecord(b)
	dst = append(dst, '(')
	for f := 0; ; f++ {
		t, v, ok := r.next()
		if !ok {
			return append(dst, ')')
		}
		if f > 0 {
			dst = append(dst, ',')
		}
		if v != nil {
			start := len(dst)
			dst = quoteField(AppendText(dst, t, v, 0, c), start)
		}
	}
}

// quoteField quotes the field in dst[start:] where it must be; quotes and
// backslashes are doubled.
func quoteField(dst []byte, start int) []byte {
	need := len(dst) == start
	for _, ch := range dst[start:] {
		need = need || ch == '"' || ch == '\\' || ch == '(' || ch == ')' || ch == ',' || isSpace(ch)
	}
	if !need {
		return dst
	}
	raw := string(dst[start:])
	dst = append(dst[:start], '"')
	for i := 0; i < len(raw); i++ {
		if raw[i] == '"' || raw[i] == '\\' {
			dst = append(dst, raw[i])
		}
		dst = append(dst, raw[i])
	}
	return append(dst, '"')
}

// compareRecords orders field by field, NULL last.
func compareRecords(x, y []byte) int {
	a, b := readRecord(x), readRecord(y)
	for {
		t, v, more := a.next()
		_, w, also := b.next()
		switch {
		case !more || !also:
			return cmp.Compare(a.left, b.left)
		case v == nil && w == nil:
			continue
		case v == nil:
			return 1
		case w == nil:
			return -1
		}
		if v.Kind != w.Kind {
			return cmp.Compare(v.Kind, w.Kind)
		}
		if c := Compare(t, v, 0, w, 0); c != 0 {
			return c
		}
	}
}

// appendRecordEqualKey appends the fields as AppendEqualKey spells them.
func appendRecordEqualKey(dst, b []byte) []byte {
	r := readRecord(b)
	for {
		t, v, ok := r.next()
		if !ok {
			return dst
		}
		if v == nil {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = AppendEqualKey(dst, t, v, 0)
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
}

// appendRecordWire appends a record with the labels of its enums.
func appendRecordWire(dst, b []byte, c *Context) []byte {
	r := readRecord(b)
	dst = binary.BigEndian.AppendUint32(dst, uint32(r.left))
	for {
		t, v, ok := r.next()
		if !ok {
			return dst
		}
		dst = binary.BigEndian.AppendUint32(dst, t.OID)
		if v == nil {
			dst = binary.BigEndian.AppendUint32(dst, 0xffffffff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = AppendWire(dst, t, v, 0, c)
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
}

// RowType returns the type of the rows of a table or view. row is its OID in
// pg_type, 0 for rows of a query: within the server all rows are records, which
// the modifier tells apart.
func RowType(row OID) Type {
	if row == 0 {
		return T(Record)
	}
	return Type{OID: Record, Mod: int32(row)}
}

// Shown returns the type as clients see it, which differs for rows only.
func (t Type) Shown() Type {
	if t.OID == Record && t.Mod > 0 {
		return T(OID(t.Mod))
	}
	return t
}

// AppendRecordField appends field i of a stored record to dst, NULL if there is none.
func AppendRecordField(dst *vector.Vector, record []byte, i int) {
	r := readRecord(record)
	for f := 0; ; f++ {
		_, v, ok := r.next()
		switch {
		case !ok || f == i && (v == nil || v.Kind != dst.Kind):
			dst.AppendNull()
			return
		case f == i:
			dst.AppendFrom(v, 0)
			return
		}
	}
}

// RecordNulls counts the fields of a stored record and those that are NULL.
func RecordNulls(record []byte) (fields, nulls int) {
	r := readRecord(record)
	for {
		_, v, ok := r.next()
		if !ok {
			return fields, nulls
		}
		fields++
		if v == nil {
			nulls++
		}
	}
}
