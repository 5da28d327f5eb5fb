package copyio

import (
	"bytes"
	"unicode/utf8"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// maxBatchBytes ends a batch early when its values are large.
const maxBatchBytes = 32 << 20

// MaxRows is the most rows of a batch of text, CSV or binary data: as many as
// storage keeps together in a block, which then need no copying.
const MaxRows = 8192

// maxValues bounds the memory of a batch of very many columns.
const maxValues = 1 << 20

// firstRows is the size of the first batch: most COPYs of a client are short.
const firstRows = 256

// rows is what the row-wise readers share: the batch under construction and
// the line of each of its rows.
type rows struct {
	table string
	cols  []Column
	ctx   *types.Context
	batch *vector.Batch
	lines []int64
	limit int // rows of the batch at most
}

func newRows(table string, cols []Column, c *types.Context) rows {
	return rows{table: table, cols: cols, ctx: c}
}

// begin starts a batch in new memory: the last one is the caller's.
func (r *rows) begin() {
	r.limit = min(MaxRows, max(firstRows, 8*r.limit), max(64, maxValues/max(1, len(r.cols))))
	r.batch = &vector.Batch{Cols: make([]*vector.Vector, len(r.cols))}
	for i, col := range r.cols {
		r.batch.Cols[i] = vector.New(col.Type.Kind(), r.limit)
	}
	r.lines = make([]int64, 0, r.limit)
}

// Lines returns the lines of the last batch.
func (r *rows) Lines() Lines { return Lines{each: r.lines} }

// full reports whether the batch should be delivered.
func (r *rows) full() bool {
	if r.batch.N >= r.limit {
		return true
	}
	if r.batch.N&63 != 0 {
		return false
	}
	return r.textBytes() >= maxBatchBytes
}

// textBytes returns the size of the values that are not of fixed width.
func (r *rows) textBytes() int {
	size := 0
	for _, v := range r.batch.Cols {
		size += len(v.Data)
	}
	return size
}

// delimitedReader reads text and CSV.
type delimitedReader struct {
	rows
	lines  lines
	o      Options
	null   []byte
	header bool   // the header is still to come
	buf    []byte // content of the present field, where it is not part of the line
	line   []byte
	quick  *quick // nil: no line is plain
}

func newDelimitedReader(src source, table string, cols []Column, o Options, c *types.Context) *delimitedReader {
	r := &delimitedReader{rows: newRows(table, cols, c), o: o, null: []byte(o.Null), header: o.Header || o.HeaderMatch}
	r.lines, r.quick = lines{source: src}, newQuick(cols, &o, c)
	if o.Format == CSV {
		r.lines.csv, r.lines.quote = true, o.Quote
		if o.Escape != o.Quote {
			r.lines.escape = o.Escape
		}
	}
	return r
}

// Next returns the next batch, nil at the end.
func (r *delimitedReader) Next() (*vector.Batch, error) {
	r.begin()
	if r.header {
		r.header = false
		if err := r.readHeader(); err != nil {
			return nil, err
		}
	}
	for {
		if r.quickLines(); r.full() {
			break
		}
		ok, err := r.nextLine()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if err := r.row(); err != nil {
			return nil, err
		}
		r.rows.lines = append(r.rows.lines, r.lines.lineNo)
		r.batch.N++
	}
	if r.batch.N == 0 {
		return nil, nil
	}
	return r.batch, nil
}

func (r *delimitedReader) nextLine() (bool, error) {
	line, ok, err := r.lines.next()
	if err != nil {
		return false, where(err, r.table, r.lines.lineNo, "", nil, false)
	}
	if !ok {
		return false, nil
	}
	if !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
		return false, where(badBytes(line), r.table, r.lines.lineNo, "", nil, false)
	}
	r.line = line
	return true, nil
}

// lineError gives err the present line as context.
func (r *delimitedReader) lineError(err error) error {
	return where(err, r.table, r.lines.lineNo, "", r.line, true)
}

// valueError gives err the present column and value as context.
func (r *delimitedReader) valueError(err error, col int, value []byte) error {
	return where(err, r.table, r.lines.lineNo, r.cols[col].Name, value, true)
}

// row takes the fields of the present line apart and appends their values.
func (r *delimitedReader) row() error {
	if len(r.cols) == 0 {
		if len(r.line) > 0 {
			return r.lineError(extraData())
		}
		return nil
	}
	// PostgreSQL splits a line before it reads values, so that a broken or
	// long line is refused before a bad value in it.
	if n, err := r.count(); err != nil {
		return r.lineError(err)
	} else if n > len(r.cols) {
		return r.lineError(extraData())
	}
	rest, more := r.line, true
	for i := range r.cols {
		if !more {
			return r.lineError(pgerr.New(pgerr.BadCopyFileFormat, "missing data for column \"%s\"", r.cols[i].Name))
		}
		var f field
		f, rest, more = r.split(rest)
		if f.decoded {
			if err := badBytes(f.content); err != nil {
				return r.lineError(err)
			}
		}
		if err := r.value(i, f); err != nil {
			return err
		}
	}
	return nil
}

func extraData() error {
	return pgerr.New(pgerr.BadCopyFileFormat, "extra data after last expected column")
}

// field is one field of a line: its content, in the line or in buf.
type field struct {
	content []byte
	null    bool
	decoded bool // text: a numeric escape made a byte that must be checked
}

// split takes the first field off rest; more is false when it was the last.
func (r *delimitedReader) split(rest []byte) (f field, after []byte, more bool) {
	n := bytes.IndexByte(rest, r.o.Delimiter)
	raw := rest
	if n >= 0 {
		raw = rest[:n]
	}
	if r.o.Format == CSV {
		if bytes.IndexByte(raw, r.o.Quote) >= 0 {
			return r.splitQuoted(rest)
		}
	} else if bytes.IndexByte(raw, '\\') >= 0 {
		return r.splitEscaped(rest)
	}
	f = field{content: raw, null: bytes.Equal(raw, r.null)}
	if n < 0 {
		return f, nil, false
	}
	return f, rest[n+1:], true
}

// count returns the number of fields of the line.
func (r *delimitedReader) count() (int, error) {
	if r.o.Format == CSV {
		if bytes.IndexByte(r.line, r.o.Quote) >= 0 {
			return r.countQuoted()
		}
	} else if bytes.IndexByte(r.line, '\\') >= 0 {
		return r.countEscaped(), nil
	}
	return bytes.Count(r.line, []byte{r.o.Delimiter}) + 1, nil
}

// value appends the field to column i.
func (r *delimitedReader) value(i int, f field) error {
	v := r.batch.Cols[i]
	if f.null && r.o.ForceNotNull != nil && r.o.ForceNotNull[i] {
		f.null = false
	} else if !f.null && r.o.ForceNull != nil && r.o.ForceNull[i] && bytes.Equal(f.content, r.null) {
		f.null = true
	}
	if f.null {
		v.AppendNull()
		return nil
	}
	t := r.cols[i].Type
	if t.OID == types.Text {
		v.AppendBytes(f.content)
		return nil
	}
	if err := types.ParseText(v, t, f.content, r.ctx); err != nil {
		return r.valueError(err, i, f.content)
	}
	return nil
}

// readHeader skips the header line and compares it for HEADER MATCH.
func (r *delimitedReader) readHeader() error {
	r.line = nil // what HEADER MATCH sees of empty data
	if _, err := r.nextLine(); err != nil || !r.o.HeaderMatch {
		return err
	}
	n, err := r.count()
	if err != nil {
		return r.lineError(err)
	}
	if n != len(r.cols) {
		return r.lineError(pgerr.New(pgerr.BadCopyFileFormat, "wrong number of fields in header line: got %d, expected %d", n, len(r.cols)))
	}
	rest := r.line
	for i := range r.cols {
		var f field
		f, rest, _ = r.split(rest)
		if f.null {
			return r.lineError(pgerr.New(pgerr.BadCopyFileFormat, "column name mismatch in header line field %d: got null value (\"%s\"), expected \"%s\"",
				i+1, r.o.Null, r.cols[i].Name))
		}
		if string(f.content) != r.cols[i].Name {
			return r.lineError(pgerr.New(pgerr.BadCopyFileFormat, "column name mismatch in header line field %d: got \"%s\", expected \"%s\"",
				i+1, f.content, r.cols[i].Name))
		}
	}
	return nil
}
