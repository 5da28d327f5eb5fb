// Package copyio reads and writes the formats of COPY: text, CSV, binary,
// Parquet and Arrow IPC, as batches.
package copyio

import (
	"io"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Format is a COPY format.
type Format uint8

// Formats.
const (
	Text Format = iota
	CSV
	Binary
	Parquet
	Arrow
)

// Options are the options of COPY that matter to a format, after validation.
type Options struct {
	Format                              Format
	Delimiter                           byte   // text: tab, CSV: comma
	Null                                string // text: \N, CSV: empty; the caller sets it
	Header                              bool
	HeaderMatch                         bool   // HEADER MATCH
	Quote                               byte   // CSV
	Escape                              byte   // CSV, default Quote
	ForceQuote, ForceNotNull, ForceNull []bool // per column; nil: none
	ForceQuoteAll                       bool
}

// Column is a column of the data in order.
type Column struct {
	Name string
	Type types.Type
}

// Reader parses a stream into batches.
//
// Errors: *pgerr.Error, 22P04 and the type's own codes, with Where as
// PostgreSQL words it: `COPY t, line 3, column price: "x"`. NULL in NOT NULL
// columns is for the caller, who asks Lines.
//
// Owner: batches are the caller's, with the memory they stand in.
type Reader interface {
	// Next returns up to MaxRows rows, nil at the end.
	Next() (*vector.Batch, error)
	// Lines tells where the rows of the last batch came from.
	Lines() Lines
}

// Lines are the input lines of a batch's rows, counted from 1; for binary and
// columnar formats the numbers of the rows.
type Lines struct {
	first int64
	each  []int64 // nil: consecutive from first on
}

// Of returns the line of row i.
func (l Lines) Of(i int) int64 {
	if l.each == nil {
		return l.first + int64(i)
	}
	return l.each[i]
}

// NewReader returns a reader of text, CSV or binary data from a stream.
//
// Errors: 22P04 for a binary stream without its header.
func NewReader(r io.Reader, table string, cols []Column, o Options, c *types.Context) (Reader, error) {
	src := source{r: r}
	switch o.Format {
	case Text, CSV:
		return newDelimitedReader(src, table, cols, o.withDefaults(), c), nil
	case Binary:
		b := &binaryReader{rows: newRows(table, cols, c), src: src}
		if err := b.readHeader(); err != nil {
			return nil, err
		}
		return b, nil
	}
	return nil, pgerr.Unsupported("reading this COPY format from a stream")
}

// withDefaults fills in the characters that are not set.
func (o Options) withDefaults() Options {
	if o.Delimiter == 0 {
		o.Delimiter = '\t'
		if o.Format == CSV {
			o.Delimiter = ','
		}
	}
	if o.Quote == 0 {
		o.Quote = '"'
	}
	if o.Escape == 0 {
		o.Escape = o.Quote
	}
	return o
}

// NewFileReader returns a reader of Parquet or Arrow data. Columns are matched by name,
// case-insensitively where unambiguous; types are converted where no value is lost, else 42804.
func NewFileReader(f interface {
	io.ReaderAt
	io.ReadSeeker
}, table string, cols []Column, format Format) (Reader, error) {
	return newColumnarReader(f, table, cols, format)
}

// Writer formats batches.
type Writer interface {
	// Header appends what comes before the first row (CSV header, binary signature).
	Header(dst []byte) []byte
	// Rows appends the rows of b (no selection). ends receives the end offset of each row in dst, so that
	// the wire can send one CopyData per row.
	Rows(dst []byte, ends []int, b *vector.Batch) ([]byte, []int)
	// Trailer appends what comes after the last row.
	Trailer(dst []byte) []byte
}

// NewWriter returns a writer of text, CSV or binary.
func NewWriter(cols []Column, o Options, c *types.Context) Writer {
	if o.Format == Binary {
		return &binaryWriter{cols: cols, ctx: c}
	}
	return newDelimitedWriter(cols, o.withDefaults(), c)
}
