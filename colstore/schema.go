package colstore

import (
	"encoding/binary"
	"fmt"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// schemaVersion is the first byte of a table's record in space M.
// Version 2 adds what altering a table needs.
const (
	schemaVersion        = 1
	schemaVersionAltered = 2
)

// maxColumns bounds what a schema record may claim; PostgreSQL's limit is 1,600.
const maxColumns = 1 << 14

// appendSchema encodes a schema for space M:
//
//	version u8 | then uvarints: id, layout, unique, time + 1, unit, bucket, conflict,
//	columns (id, kind, codec)..., key parts (column, codec)..., indexes (id, parts...)...,
//	version 2: retention, dropped columns (id, kind)..., columns with a missing value (index, length, value as a row)...
func appendSchema(dst []byte, s *table.Schema) []byte {
	version := len(dst)
	dst = append(dst, schemaVersion)
	unique := uint64(0)
	if s.Unique {
		unique = 1
	}
	for _, x := range []uint64{uint64(s.ID), uint64(s.Layout), unique, uint64(s.Time + 1), uint64(s.TimeUnit), uint64(s.Bucket), uint64(s.Conflict), uint64(len(s.Columns))} {
		dst = binary.AppendUvarint(dst, x)
	}
	for _, c := range s.Columns {
		dst = append(binary.AppendUvarint(dst, uint64(c.ID)), byte(c.Kind), byte(c.Codec))
	}
	dst = appendParts(dst, s.Key)
	dst = binary.AppendUvarint(dst, uint64(len(s.Indexes)))
	for _, x := range s.Indexes {
		dst = appendParts(binary.AppendUvarint(dst, x.ID), x.Parts)
	}
	if s.Retention == 0 && len(s.Dropped) == 0 && !hasMissing(s) {
		return dst
	}
	dst[version] = schemaVersionAltered
	dst = binary.AppendUvarint(dst, uint64(s.Retention))
	dst = binary.AppendUvarint(dst, uint64(len(s.Dropped)))
	for _, c := range s.Dropped {
		dst = append(binary.AppendUvarint(dst, uint64(c.ID)), byte(c.Kind))
	}
	for i, c := range s.Columns {
		if c.Missing != nil {
			one := &table.Schema{Columns: []table.Column{{ID: 1, Kind: c.Kind}}}
			value := appendRowValue(nil, one, []*vector.Vector{c.Missing}, 0)
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(i+1)), uint64(len(value)))
			dst = append(dst, value...)
		}
	}
	return binary.AppendUvarint(dst, 0)
}

// hasMissing reports whether a column has a value for rows that lack it.
func hasMissing(s *table.Schema) bool {
	for i := range s.Columns {
		if s.Columns[i].Missing != nil {
			return true
		}
	}
	return false
}

// readAltered reads what version 2 adds.
func (r *schemaReader) readAltered(s *table.Schema) {
	s.Retention = int64(r.uvarint())
	s.Dropped = make([]table.Column, r.count())
	for i := range s.Dropped {
		s.Dropped[i] = table.Column{ID: table.ColumnID(r.uvarint()), Kind: vector.Kind(r.byte())}
	}
	for !r.bad {
		i := r.uvarint()
		if i == 0 {
			return
		}
		n := r.uvarint()
		if i > uint64(len(s.Columns)) || n > uint64(len(r.src)) {
			r.bad = true
			return
		}
		c := &s.Columns[i-1]
		one := &table.Schema{Columns: []table.Column{{ID: 1, Kind: c.Kind}}}
		b, err := newRowDecoder(one).batch(r.src[:n])
		if err != nil {
			r.bad = true
			return
		}
		c.Missing, r.src = b.Cols[0], r.src[n:]
	}
}

func appendParts(dst []byte, parts []rowkey.Part) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(parts)))
	for _, p := range parts {
		dst = append(binary.AppendUvarint(dst, uint64(p.Column)), byte(p.Codec))
	}
	return dst
}

type schemaReader struct {
	src []byte
	bad bool
}

func (r *schemaReader) uvarint() uint64 {
	x, n := binary.Uvarint(r.src)
	if n <= 0 {
		r.bad, r.src = true, nil
		return 0
	}
	r.src = r.src[n:]
	return x
}

func (r *schemaReader) byte() byte {
	if len(r.src) == 0 {
		r.bad = true
		return 0
	}
	b := r.src[0]
	r.src = r.src[1:]
	return b
}

func (r *schemaReader) count() int {
	n := r.uvarint()
	if n > maxColumns {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *schemaReader) parts(columns int) []rowkey.Part {
	parts := make([]rowkey.Part, r.count())
	for i := range parts {
		c := r.uvarint()
		parts[i] = rowkey.Part{Column: int(c), Codec: rowkey.Codec(r.byte())}
		if c >= uint64(columns) {
			r.bad = true
			return nil
		}
	}
	return parts
}

func decodeSchema(src []byte) (*table.Schema, error) {
	r := &schemaReader{src: src}
	version := r.byte()
	if version != schemaVersion && version != schemaVersionAltered {
		return nil, fmt.Errorf("schema version %d is unknown", version)
	}
	s := &table.Schema{ID: table.ID(r.uvarint()), Layout: table.Layout(r.uvarint()), Unique: r.uvarint() == 1}
	s.Time, s.TimeUnit, s.Bucket = int(r.uvarint())-1, table.TimeUnit(r.uvarint()), int64(r.uvarint())
	s.Conflict = table.Conflict(r.uvarint())
	s.Columns = make([]table.Column, r.count())
	for i := range s.Columns {
		s.Columns[i] = table.Column{ID: table.ColumnID(r.uvarint()), Kind: vector.Kind(r.byte()), Codec: rowkey.Codec(r.byte())}
	}
	s.Key = r.parts(len(s.Columns))
	s.Indexes = make([]table.UniqueIndex, r.count())
	for i := range s.Indexes {
		s.Indexes[i] = table.UniqueIndex{ID: r.uvarint(), Parts: r.parts(len(s.Columns))}
		if r.bad {
			break
		}
	}
	if version == schemaVersionAltered {
		r.readAltered(s)
	}
	if r.bad || len(r.src) != 0 {
		return nil, fmt.Errorf("schema record is malformed")
	}
	return s, checkSchema(s)
}

// checkSchema refuses schemas that the rest of the package could not hold.
func checkSchema(s *table.Schema) error {
	if s.Layout != table.Columnar && s.Layout != table.RowStore {
		return fmt.Errorf("layout %d is unknown", s.Layout)
	}
	if len(s.Columns) > maxColumns || s.Time >= len(s.Columns) || s.Time < -1 || s.Bucket < 0 {
		return fmt.Errorf("schema of table %d is out of range", s.ID)
	}
	for i, c := range s.Columns {
		if c.Kind == vector.Invalid || c.Kind > vector.Uint32 {
			return fmt.Errorf("column %d has unknown kind %d", c.ID, c.Kind)
		}
		for _, o := range s.Columns[:i] {
			if o.ID == c.ID {
				return fmt.Errorf("column id %d repeats", c.ID)
			}
		}
	}
	if s.Time >= 0 {
		want := vector.Int64
		if s.TimeUnit == table.Days {
			want = vector.Int32
		}
		if s.TimeUnit > table.Days || s.Columns[s.Time].Kind != want {
			return fmt.Errorf("time column of table %d has kind %s", s.ID, s.Columns[s.Time].Kind)
		}
	}
	for _, p := range s.Key {
		if p.Column < 0 || p.Column >= len(s.Columns) {
			return fmt.Errorf("key of table %d names column %d", s.ID, p.Column)
		}
	}
	for _, c := range s.Dropped {
		if c.Kind == vector.Invalid || c.Kind > vector.Uint32 || columnIndex(s, c.ID) >= 0 {
			return fmt.Errorf("dropped column %d of table %d is out of range", c.ID, s.ID)
		}
	}
	if s.Retention < 0 || s.Retention > 0 && s.Time < 0 {
		return fmt.Errorf("retention of table %d needs a time column", s.ID)
	}
	return nil
}
