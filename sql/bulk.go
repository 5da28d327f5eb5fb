package sql

import (
	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// bulkRows is the number of rows up to which VALUES goes through the grammar:
// small statements keep one code path, and parsing them costs little.
const bulkRows = 32

// BulkValues is the literal rows of a large INSERT ... VALUES, all rows
// including the first, still as text.
type BulkValues struct {
	// Names are the names of the target columns in the order of the VALUES
	// lists, for messages; whoever binds the statement sets them.
	Names []string

	query    string
	start    int // after VALUES
	firstEnd int // after the first row
	end      int // after the last row
	rows     int
	columns  int
}

// Columns returns the number of values in the first row.
func (b *BulkValues) Columns() int { return b.columns }

// Rows returns the number of rows.
func (b *BulkValues) Rows() int { return b.rows }

// measure finds the end of the rows; false if any value is not a plain literal.
func (b *BulkValues) measure() bool {
	var lit literal
	l := lexer{src: b.query, pos: b.start}
	s := l.src
	for {
		l.skipSpace()
		if l.pos >= len(s) || s[l.pos] != '(' {
			return false
		}
		l.pos++
		n, ok := l.measureRow(&lit)
		if !ok {
			return false
		}
		if b.rows == 0 {
			b.columns, b.firstEnd = n, l.pos
		}
		b.rows++
		b.end = l.pos
		l.skipSpace()
		if l.pos >= len(s) || s[l.pos] != ',' {
			return true
		}
		l.pos++
	}
}

// measureRow moves past the values of a row and its closing bracket.
func (l *lexer) measureRow(lit *literal) (n int, ok bool) {
	s := l.src
	for {
		l.skipSpace()
		i := scanLiteral(s, l.pos, lit)
		if i < 0 {
			return 0, false
		}
		n++
		if i < len(s) && s[i] == ',' {
			l.pos = i + 1
			continue
		}
		l.pos = i
		l.skipSpace()
		if l.pos >= len(s) {
			return 0, false
		}
		c := s[l.pos]
		l.pos++
		if c == ')' {
			return n, true
		}
		if c != ',' {
			return 0, false
		}
	}
}

// Read parses the literals as values of the given types and calls f with
// batches; columns are in the order of the VALUES lists. Literals convert as PostgreSQL's
// assignment casts of untyped or numeric literals do. DEFAULT is not a literal.
//
// Errors: those of f; *pgerr.Error: 42601 for rows of different length, 42804
// where a literal's type has no assignment cast, the types' own errors. As in
// PostgreSQL, errors of reading a literal, which carry a position, come before
// errors of converting its value, so that every row is read before one of the
// latter is returned.
func (b *BulkValues) Read(cols []types.Type, c *types.Context, f func(*vector.Batch) error) error {
	if len(cols) != b.columns {
		return pgerr.New(pgerr.InternalError, "bulk VALUES of %d columns read as %d", b.columns, len(cols))
	}
	r := newBulkReader(b, cols, c)
	for row := 0; row < b.rows; row++ {
		if err := r.row(); err != nil {
			return err
		}
		if r.batch.N == vector.BatchSize || row == b.rows-1 {
			if r.later == nil {
				if err := f(&r.batch); err != nil {
					return err
				}
			}
			r.reset()
		}
	}
	if r.later != nil {
		return r.later
	}
	return nil
}

// bulkReader reads rows into column builders.
type bulkReader struct {
	lexer
	bulk    *BulkValues
	ctx     *types.Context
	cols    []bulkColumn
	batch   vector.Batch
	buf     []byte       // text of the present value
	later   *pgerr.Error // first error of converting a value
	scratch vector.Vector
}

func newBulkReader(b *BulkValues, cols []types.Type, c *types.Context) *bulkReader {
	r := &bulkReader{lexer: lexer{src: b.query, pos: b.start}, bulk: b, ctx: c}
	n := min(b.rows, vector.BatchSize)
	for i, t := range cols {
		v := vector.New(t.Kind(), n)
		r.batch.Cols = append(r.batch.Cols, v)
		col := bulkColumn{t: t, v: v, class: classOf(t.OID)}
		if i < len(b.Names) {
			col.name = b.Names[i]
		}
		r.cols = append(r.cols, col)
	}
	return r
}

func (r *bulkReader) reset() {
	for _, v := range r.batch.Cols {
		v.Reset(v.Kind)
	}
	r.batch.N = 0
}

// row reads one row. measure has seen it: its syntax is known to be good.
func (r *bulkReader) row() error {
	r.skipSpace()
	r.pos++ // (
	r.skipSpace()
	first := r.pos
	var lit literal
	for i := 0; ; i++ {
		r.skipSpace()
		r.pos = scanLiteral(r.src, r.pos, &lit)
		if i == len(r.cols) {
			return r.lengthError(first)
		}
		if err := r.value(&r.cols[i], &lit); err != nil {
			// PostgreSQL compares lengths before it looks at values.
			l := lexer{src: r.src, pos: first}
			if n, _ := l.measureRow(&lit); n != len(r.cols) {
				return r.lengthError(first)
			}
			return err
		}
		r.skipSpace()
		r.pos++
		if r.src[r.pos-1] == ')' {
			if i != len(r.cols)-1 {
				return r.lengthError(first)
			}
			break
		}
	}
	r.batch.N++
	r.skipSpace()
	if r.pos < len(r.src) && r.src[r.pos] == ',' {
		r.pos++
	}
	return nil
}

func (r *bulkReader) lengthError(first int) error {
	return pgerr.New(pgerr.SyntaxError, "VALUES lists must all be the same length").At(position(r.src, first))
}
