package copyio

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"tsdb/sql/types"
)

const (
	// postgresEpoch is 2000-01-01 in microseconds since 1970.
	postgresEpoch = 946_684_800_000_000
	// plainMicros is within the bounds of timestamp, a few thousand years.
	plainMicros = 200_000_000_000_000_000
)

// quickRows reads rows that lie in the buffer as a whole, until the batch is
// full or a row needs the reader proper: for more data, the end, or an error.
func (r *binaryReader) quickRows() {
	if len(r.cols) == 0 || r.slow {
		return
	}
	if r.quick.cols == nil {
		r.quick.init(r.cols)
	}
	n := r.batch.N
	r.quick.load(r.batch, r.limit)
	size := r.textBytes()
	for n < r.quick.room && size < maxBatchBytes {
		end := r.quick.binaryRow(r.src.buf[r.src.mark:], n)
		if end < 0 {
			r.quick.forget(n)
			break
		}
		r.src.mark += end
		size += end
		n++
		r.row++
		r.lines = append(r.lines, r.row)
	}
	r.quick.store(n)
	r.batch.N = n
}

// binaryRow reads the row at the start of buf as row n and returns its length,
// -1 if it is not plain.
func (q *quickColumns) binaryRow(buf []byte, n int) int {
	if len(buf) < 2 || int(binary.BigEndian.Uint16(buf)) != len(q.cols) {
		return -1
	}
	at := 2
	for k := range q.cols {
		c := &q.cols[k]
		if len(buf)-at < 4 {
			return -1
		}
		size := int(int32(binary.BigEndian.Uint32(buf[at:])))
		at += 4
		if size == 8 && len(buf)-at >= 8 && (c.form == quickInt64 || c.form == quickFloat64) {
			// The commonest fields, without calls.
			if bits := binary.BigEndian.Uint64(buf[at:]); c.form == quickInt64 {
				c.i64[n] = int64(bits)
			} else {
				c.f64[n] = math.Float64frombits(bits)
			}
			at += 8
			continue
		}
		if size == -1 {
			c.setNull(n, q.room)
			continue
		}
		if size < 0 || size > len(buf)-at {
			return -1
		}
		if !c.binaryField(buf[at:at+size], n) {
			return -1
		}
		at += size
	}
	return at
}

// binaryField reads a value as row n; false if it is not plain.
func (c *quickColumn) binaryField(b []byte, n int) bool {
	switch c.form {
	case quickInt64, quickFloat64, quickTime:
		if len(b) != 8 {
			return false
		}
		bits := binary.BigEndian.Uint64(b)
		switch c.form {
		case quickInt64:
			c.i64[n] = int64(bits)
		case quickFloat64:
			c.f64[n] = math.Float64frombits(bits)
		default:
			us := int64(bits)
			if us < -plainMicros || us > plainMicros {
				return false
			}
			c.i64[n] = types.RoundMicros(us+postgresEpoch, c.typ.Mod)
		}
		return true
	case quickInt32:
		if len(b) != 4 {
			return false
		}
		c.i32[n] = int32(binary.BigEndian.Uint32(b))
		return true
	case quickInt16:
		if len(b) != 2 {
			return false
		}
		c.i16[n] = int16(binary.BigEndian.Uint16(b))
		return true
	}
	if c.form == quickText && plainText(b) {
		c.v.AppendBytes(b)
		return true
	}
	return types.ParseBinary(c.v, c.typ, b) == nil
}

// plainText reports whether b is ASCII without NUL.
func plainText(b []byte) bool {
	for _, x := range b {
		if x-1 >= utf8.RuneSelf-1 {
			return false
		}
	}
	return true
}
