package copyio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// readerAtSeeker is what both file formats need.
type readerAtSeeker interface {
	io.ReaderAt
	io.ReadSeeker
}

// columnarReader reads Parquet or Arrow files record batch by record batch.
// Columns of the file that are not asked for are not read.
type columnarReader struct {
	table  string
	format Format
	cols   []Column
	next   func() (arrow.RecordBatch, error) // io.EOF at the end
	pick   []int                             // per column: index in the records
	conv   []converter
	rec    arrow.RecordBatch
	at     int   // rows of rec already delivered
	row    int64 // rows delivered before the last batch
	total  int64 // rows delivered
}

func newColumnarReader(f readerAtSeeker, table string, cols []Column, format Format) (r *columnarReader, err error) {
	r = &columnarReader{table: table, format: format, cols: cols}
	defer r.recovered(&err)
	switch format {
	case Parquet:
		err = r.openParquet(f)
	case Arrow:
		err = r.openArrow(f)
	default:
		err = pgerr.Unsupported("reading this COPY format from a file")
	}
	if err != nil {
		return nil, r.malformed(err)
	}
	return r, nil
}

func (r *columnarReader) formatName() string {
	if r.format == Parquet {
		return "Parquet"
	}
	return "Arrow"
}

// malformed is the error of a file that the format's library refuses.
func (r *columnarReader) malformed(err error) error {
	var e *pgerr.Error
	if errors.As(err, &e) {
		return e
	}
	return pgerr.New(pgerr.BadCopyFileFormat, "could not read the %s file", r.formatName()).
		WithDetail("%s", strings.TrimSpace(err.Error())).WithCause(err)
}

// recovered turns a panic of the format's library, which trusts its input in
// places, into an error.
func (r *columnarReader) recovered(err *error) {
	if p := recover(); p != nil {
		*err = r.malformed(fmt.Errorf("%v", p))
	}
}

func (r *columnarReader) openParquet(f readerAtSeeker) error {
	props := parquet.NewReaderProperties(memory.DefaultAllocator)
	props.BufferedStreamEnabled = true // pages as they are needed, not whole column chunks
	pf, err := file.NewParquetReader(f, file.WithReadProps(props))
	if err != nil {
		return err
	}
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: vector.BatchSize}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	schema, err := fr.Schema()
	if err != nil {
		return err
	}
	if err := r.match(schema); err != nil {
		return err
	}
	var leaves []int
	for i, p := range r.pick {
		field := &fr.Manifest.Fields[p]
		if !field.IsLeaf() {
			return r.mismatch(i, schema.Field(p).Type)
		}
		leaves = append(leaves, field.ColIndex)
	}
	if len(leaves) == 0 || pf.NumRows() == 0 {
		r.next = func() (arrow.RecordBatch, error) { return nil, io.EOF }
		return nil
	}
	rr, err := fr.GetRecordReader(context.Background(), leaves, nil)
	if err != nil {
		return err
	}
	// The records hold the chosen columns only, in the order of the file.
	for i, p := range r.pick {
		r.pick[i] = rr.Schema().FieldIndices(schema.Field(p).Name)[0]
	}
	r.next = rr.Read
	return nil
}

func (r *columnarReader) openArrow(f readerAtSeeker) error {
	magic := make([]byte, 6)
	if _, err := f.ReadAt(magic, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.Equal(magic, []byte("ARROW1")) {
		if err := checkFooter(f); err != nil {
			return err
		}
		fr, err := ipc.NewFileReader(f)
		if err != nil {
			return err
		}
		n := 0
		r.next = func() (arrow.RecordBatch, error) {
			if n == fr.NumRecords() {
				return nil, io.EOF
			}
			n++
			return fr.RecordBatchAt(n - 1)
		}
		return r.match(fr.Schema())
	}
	sr, err := ipc.NewReader(f) // the stream form
	if err != nil {
		return err
	}
	r.next = sr.Read
	return r.match(sr.Schema())
}

// match finds the file's column and the conversion for every column.
func (r *columnarReader) match(schema *arrow.Schema) error {
	for i, c := range r.cols {
		p := fieldIndex(schema, c.Name)
		if p < 0 {
			return pgerr.New(pgerr.BadCopyFileFormat, "missing data for column \"%s\"", c.Name).
				WithDetail("The columns of the file are %s.", fieldNames(schema))
		}
		conv := convert(schema.Field(p).Type, c.Type)
		if conv == nil {
			return r.mismatch(i, schema.Field(p).Type)
		}
		r.pick = append(r.pick, p)
		r.conv = append(r.conv, conv)
	}
	return nil
}

func fieldIndex(schema *arrow.Schema, name string) int {
	folded, n := -1, 0
	for i, f := range schema.Fields() {
		if f.Name == name {
			return i
		}
		if strings.EqualFold(f.Name, name) {
			folded = i
			n++
		}
	}
	if n == 1 {
		return folded
	}
	return -1
}

func fieldNames(schema *arrow.Schema) string {
	var names []string
	for i, f := range schema.Fields() {
		if i == 20 {
			names = append(names, "...")
			break
		}
		names = append(names, "\""+f.Name+"\"")
	}
	return strings.Join(names, ", ")
}

// Lines returns the row numbers of the last batch.
func (r *columnarReader) Lines() Lines { return Lines{first: r.row + 1} }

// Next returns the next batch, nil at the end.
func (r *columnarReader) Next() (b *vector.Batch, err error) {
	defer r.recovered(&err)
	for r.rec == nil || r.at >= int(r.rec.NumRows()) {
		if r.rec != nil {
			r.rec.Release()
			r.rec = nil
		}
		rec, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, r.malformed(err)
		}
		rec.Retain()
		r.rec, r.at = rec, 0
	}
	n := min(int(r.rec.NumRows())-r.at, vector.BatchSize)
	r.row = r.total
	batch := &vector.Batch{Cols: make([]*vector.Vector, len(r.cols)), N: n}
	for i, conv := range r.conv {
		v := vector.New(r.cols[i].Type.Kind(), n)
		batch.Cols[i] = v
		if bad, err := conv(v, r.rec.Column(r.pick[i]), r.at, n); err != nil {
			return nil, where(err, r.table, r.row+int64(bad-r.at)+1, r.cols[i].Name, nil, false)
		}
	}
	r.at += n
	r.total += int64(n)
	return batch, nil
}
