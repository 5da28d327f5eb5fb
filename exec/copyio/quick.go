package copyio

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"tsdb/sql/types"
)

// quick reads plain lines of text and CSV in one pass over their bytes. A line
// that is not plain (escapes, quotes, carriage returns, values that are wrong
// or unusual) is left to the reader proper, which also finds the words for
// what is wrong with it; so quick may refuse anything and must never accept
// what the reader refuses, nor read it differently.
type quick struct {
	quickColumns
	ctx       *types.Context
	delimiter byte
	quote     byte // CSV
	csv       bool
	// nullIsEmpty: NULL is the empty string, else \N.
	nullIsEmpty bool
	stop        [256]bool
}

// quickDelimiters are those that no number or time contains.
const quickDelimiters = "\t,;|"

// newQuick returns nil for options under which plain lines cannot be told.
func newQuick(cols []Column, o *Options, c *types.Context) *quick {
	q := &quick{ctx: c, delimiter: o.Delimiter, quote: o.Quote, csv: o.Format == CSV, nullIsEmpty: o.Null == ""}
	if !q.nullIsEmpty && o.Null != `\N` {
		return nil
	}
	if len(cols) == 0 || o.ForceNotNull != nil || o.ForceNull != nil || strings.IndexByte(quickDelimiters, o.Delimiter) < 0 {
		return nil
	}
	for _, b := range []byte{0, '\n', '\r', o.Delimiter} {
		q.stop[b] = true
	}
	if q.csv {
		q.stop[o.Quote], q.stop[o.Escape] = true, true
	} else {
		q.stop['\\'] = true
	}
	q.init(cols)
	return q
}

// quickLines reads plain lines until the batch is full or a line is not plain.
func (r *delimitedReader) quickLines() {
	q, l := r.quick, &r.lines
	if q == nil || l.eol != eolNL || l.done || r.header {
		return
	}
	n := r.batch.N
	q.load(r.batch, r.limit)
	size := r.textBytes()
	for n < q.room && size < maxBatchBytes {
		end := bytes.IndexByte(l.buf[l.mark:], '\n')
		if end < 0 {
			// What goes wrong here goes wrong again for the reader proper.
			if more, err := l.fill(); more && err == nil {
				continue
			}
			break
		}
		if !q.row(l.buf[l.mark:l.mark+end+1], n) {
			q.forget(n)
			break
		}
		l.mark += end + 1
		l.lineNo++
		r.rows.lines = append(r.rows.lines, l.lineNo)
		size += end
		n++
	}
	q.store(n)
	r.batch.N = n
}

// row reads a line, which ends with its line feed, as row n; false if the line
// is not plain.
func (q *quick) row(line []byte, n int) bool {
	if q.csv && line[0] == '\\' {
		return false // maybe the end of the data
	}
	last := len(q.cols) - 1
	for k := range q.cols {
		c := &q.cols[k]
		next := -1
		if d := line[0] - '0'; d <= 9 && c.form == quickInt64 {
			// The commonest field, without calls; longer ones are checked for overflow.
			x, i := int64(d), 1
			for d = line[1] - '0'; d <= 9 && i < len(line)-1; d = line[i] - '0' {
				x = x*10 + int64(d)
				i++
			}
			if i <= maxQuickDigits {
				c.i64[n], next = x, i
			}
		} else if q.csv && line[0] == q.quote {
			next = q.quoted(c, line[1:], n)
		} else if !q.null(c, line, n, &next) {
			next = q.field(c, line, n)
		}
		if next < 0 {
			return false
		}
		if k == last {
			return next == len(line)-1
		}
		if line[next] != q.delimiter {
			return false
		}
		line = line[next+1:]
	}
	return false
}

// null reads a NULL and sets next to where it ends; false if there is none.
func (q *quick) null(c *quickColumn, rest []byte, n int, next *int) bool {
	first := rest[0]
	switch {
	case q.nullIsEmpty && (first == q.delimiter || first == '\n'):
		*next = 0
	case !q.nullIsEmpty && first == '\\' && rest[1] == 'N' && (rest[2] == q.delimiter || rest[2] == '\n'):
		*next = 2
	default:
		return false
	}
	c.setNull(n, q.room)
	return true
}

// quoted reads a field behind its opening quote and returns where the next
// byte after the closing one is, counted from the opening one. Quoted fields
// are never NULL.
func (q *quick) quoted(c *quickColumn, rest []byte, n int) int {
	if rest[0] == q.quote {
		return -1 // empty, or a quote in the field
	}
	end := q.field(c, rest, n)
	if end < 0 || rest[end] != q.quote {
		return -1
	}
	return end + 2
}

// field reads the first field of rest and returns where it ends, -1 if it is
// not plain. The byte there is any that cannot be of the field.
func (q *quick) field(c *quickColumn, rest []byte, n int) int {
	switch c.form {
	case quickInt64:
		x, end := quickInt(rest)
		c.i64[n] = x
		return end
	case quickInt32:
		x, end := quickInt(rest)
		c.i32[n] = int32(x)
		if int64(int32(x)) != x {
			return -1
		}
		return end
	case quickInt16:
		x, end := quickInt(rest)
		c.i16[n] = int16(x)
		if int64(int16(x)) != x {
			return -1
		}
		return end
	case quickFloat64:
		x, end := quickFloat(rest)
		if end < 0 || !q.stop[rest[end]] {
			x, end = q.float(rest)
		}
		c.f64[n] = x
		return end
	case quickTime:
		return q.time(c, rest, n)
	}
	end := q.end(rest)
	if end < 0 {
		return -1
	}
	if c.form == quickText {
		c.v.AppendBytes(rest[:end])
	} else if types.ParseText(c.v, c.typ, rest[:end], q.ctx) != nil {
		return -1
	}
	return end
}

// end returns the end of a field of any bytes, -1 if they are not plain.
func (q *quick) end(rest []byte) int {
	var all byte
	for i, b := range rest {
		if q.stop[b] {
			if all >= utf8.RuneSelf && !utf8.Valid(rest[:i]) {
				return -1
			}
			return i
		}
		all |= b
	}
	return -1
}

// float reads a number of any spelling.
func (q *quick) float(rest []byte) (float64, int) {
	end := q.end(rest)
	if end <= 0 {
		return 0, -1
	}
	x, err := types.ParseFloat(rest[:end], 64)
	if err != nil {
		return 0, -1
	}
	return x, end
}

// time reads a timestamp. Rows that come in the order of time repeat it.
func (q *quick) time(c *quickColumn, rest []byte, n int) int {
	if end := len(c.last); end > 0 && end < len(rest) && bytes.Equal(rest[:end], c.last) && q.stop[rest[end]] {
		c.i64[n] = c.since
		return end
	}
	end := q.end(rest)
	if end <= 0 {
		return -1
	}
	var us int64
	var err error
	if c.typ.OID == types.TimestampTZ {
		us, err = types.ParseTimestampTZ(rest[:end], q.ctx, c.typ.Mod)
	} else {
		us, err = types.ParseTimestamp(rest[:end], q.ctx, c.typ.Mod)
	}
	if err != nil {
		return -1
	}
	c.last, c.since = append(c.last[:0], rest[:end]...), us
	c.i64[n] = us
	return end
}
