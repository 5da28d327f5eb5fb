package copyio

import (
	"bytes"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// delimitedWriter writes text and CSV.
type delimitedWriter struct {
	cols  []Column
	o     Options
	ctx   *types.Context
	plain []bool // values of the column never need quotes or escapes
	force []bool
	buf   []byte
}

func newDelimitedWriter(cols []Column, o Options, c *types.Context) *delimitedWriter {
	w := &delimitedWriter{cols: cols, o: o, ctx: c}
	for i, col := range cols {
		force := o.ForceQuoteAll || o.ForceQuote != nil && o.ForceQuote[i]
		w.force = append(w.force, force)
		w.plain = append(w.plain, !force && w.safe(col.Type.OID))
	}
	return w
}

// safe reports whether texts of the type hold nothing that the format treats
// specially: letters, digits and + - . : only, for the usual delimiters.
func (w *delimitedWriter) safe(oid types.OID) bool {
	switch w.o.Delimiter {
	case '\t', ',', '|', ';':
	default:
		return false
	}
	if w.o.Format == CSV && (w.o.Null != "" || w.o.Quote != '"') {
		return false
	}
	switch oid {
	case types.Bool, types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Oid, types.UUID,
		types.Date, types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ:
		return true
	}
	return false
}

// Header appends the line of column names.
func (w *delimitedWriter) Header(dst []byte) []byte {
	if !w.o.Header && !w.o.HeaderMatch {
		return dst
	}
	for i, c := range w.cols {
		if i > 0 {
			dst = append(dst, w.o.Delimiter)
		}
		if w.o.Format == CSV {
			dst = w.appendCSV(dst, []byte(c.Name), false)
		} else {
			dst = w.appendEscaped(dst, []byte(c.Name))
		}
	}
	return append(dst, '\n')
}

// Rows appends the rows of b.
func (w *delimitedWriter) Rows(dst []byte, ends []int, b *vector.Batch) ([]byte, []int) {
	for i := range b.N {
		for j := range w.cols {
			if j > 0 {
				dst = append(dst, w.o.Delimiter)
			}
			dst = w.value(dst, j, b.Cols[j], i)
		}
		dst = append(dst, '\n')
		ends = append(ends, len(dst))
	}
	return dst, ends
}

// Trailer appends nothing.
func (w *delimitedWriter) Trailer(dst []byte) []byte { return dst }

func (w *delimitedWriter) value(dst []byte, j int, v *vector.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, w.o.Null...)
	}
	t := w.cols[j].Type
	if w.plain[j] {
		return types.AppendText(dst, t, v, i, w.ctx)
	}
	w.buf = types.AppendText(w.buf[:0], t, v, i, w.ctx)
	if w.o.Format == CSV {
		return w.appendCSV(dst, w.buf, w.force[j])
	}
	return w.appendEscaped(dst, w.buf)
}

// appendEscaped appends s with backslashes before what the text format treats
// specially.
func (w *delimitedWriter) appendEscaped(dst, s []byte) []byte {
	start := 0
	for i, c := range s {
		esc := byte(0)
		switch {
		case c == '\\' || c == w.o.Delimiter:
			esc = c
		case c >= 0x20:
			continue
		}
		switch c {
		case '\b':
			esc = 'b'
		case '\f':
			esc = 'f'
		case '\n':
			esc = 'n'
		case '\r':
			esc = 'r'
		case '\t':
			esc = 't'
		case '\v':
			esc = 'v'
		}
		if esc == 0 {
			continue
		}
		dst = append(append(dst, s[start:i]...), '\\', esc)
		start = i + 1
	}
	return append(dst, s[start:]...)
}

// appendCSV appends s, quoted where CSV needs it.
func (w *delimitedWriter) appendCSV(dst, s []byte, force bool) []byte {
	if !force && !w.needsQuotes(s) {
		return append(dst, s...)
	}
	dst = append(dst, w.o.Quote)
	for _, c := range s {
		if c == w.o.Quote || c == w.o.Escape {
			dst = append(dst, w.o.Escape)
		}
		dst = append(dst, c)
	}
	return append(dst, w.o.Quote)
}

func (w *delimitedWriter) needsQuotes(s []byte) bool {
	if string(s) == w.o.Null {
		return true
	}
	// Alone on its line, \. would end the data.
	if len(w.cols) == 1 && string(s) == `\.` {
		return true
	}
	return bytes.IndexByte(s, w.o.Delimiter) >= 0 || bytes.IndexByte(s, w.o.Quote) >= 0 ||
		bytes.IndexByte(s, '\n') >= 0 || bytes.IndexByte(s, '\r') >= 0
}
