package copyio

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// quickForm is how a field of a column is read.
type quickForm uint8

const (
	quickOther quickForm = iota // by the type's own reader
	quickText
	quickInt16
	quickInt32
	quickInt64
	quickFloat64
	quickTime // a timestamp
)

// quickColumn writes numbers by row, without the bookkeeping of appending:
// load takes the vector's buffers over and store gives them back.
type quickColumn struct {
	form  quickForm
	typ   types.Type
	v     *vector.Vector
	i16   []int16
	i32   []int32
	i64   []int64
	f64   []float64
	valid vector.Bitmap // nil: no NULL so far; bits of rows to come are one
	last  []byte        // quickTime: the field that means lastTime
	since int64
}

// quickColumns are the columns of a batch while its rows are read quickly.
type quickColumns struct {
	cols []quickColumn
	room int // rows that the columns have memory for
}

func (q *quickColumns) init(cols []Column) {
	for _, c := range cols {
		f := quickOther
		switch c.Type.OID {
		case types.Text:
			f = quickText
		case types.Int2:
			f = quickInt16
		case types.Int4:
			f = quickInt32
		case types.Int8:
			f = quickInt64
		case types.Float8:
			f = quickFloat64
		case types.Timestamp, types.TimestampTZ:
			f = quickTime
		}
		q.cols = append(q.cols, quickColumn{form: f, typ: c.Type})
	}
}

// load takes over the vectors of a batch, with memory for limit rows.
func (q *quickColumns) load(b *vector.Batch, limit int) {
	q.room = limit
	n := b.N
	for i := range q.cols {
		c := &q.cols[i]
		c.v = b.Cols[i]
		switch c.form {
		case quickInt16:
			c.v.Resize(limit)
			c.i16 = c.v.I16
		case quickInt32:
			c.v.Resize(limit)
			c.i32 = c.v.I32
		case quickInt64, quickTime:
			c.v.Resize(limit)
			c.i64 = c.v.I64
		case quickFloat64:
			c.v.Resize(limit)
			c.f64 = c.v.F64
		default:
			continue
		}
		c.valid = nil
		if old := c.v.Valid; old != nil {
			c.valid = vector.NewBitmap(limit, true)
			copy(c.valid, old[:vector.Words(n)])
			if n&63 != 0 {
				c.valid[n>>6] |= ^uint64(0) << (uint(n) & 63)
			}
		}
	}
}

// store gives the vectors back with n rows.
func (q *quickColumns) store(n int) {
	for i := range q.cols {
		c := &q.cols[i]
		if c.form == quickOther || c.form == quickText {
			continue
		}
		c.v.Resize(n)
		if c.v.Valid = nil; c.valid != nil {
			c.v.Valid = c.valid[:vector.Words(n)]
		}
	}
}

// forget drops what row n, which was not plain, has left in the columns that
// are appended to.
func (q *quickColumns) forget(n int) {
	for i := range q.cols {
		c := &q.cols[i]
		if c.form != quickOther && c.form != quickText {
			if c.valid != nil {
				c.valid.Set(n)
			}
			continue
		}
		v := c.v
		if v.N <= n {
			continue
		}
		if v.Valid != nil {
			v.Valid = v.Valid[:vector.Words(n)]
		}
		if v.Kind != vector.Bytes {
			v.Resize(n)
			continue
		}
		v.N = n
		v.Offsets = v.Offsets[:n+1]
		v.Data = v.Data[:v.Offsets[n]]
	}
}

func (c *quickColumn) setNull(n, room int) {
	if c.form == quickOther || c.form == quickText {
		c.v.AppendNull()
		return
	}
	if c.valid == nil {
		c.valid = vector.NewBitmap(room, true)
	}
	c.valid.Clear(n)
}
