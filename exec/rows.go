package exec

import (
	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/sql/types"
)

// columnType is the SQL type of a column and the kind that stores it.
type columnType struct {
	typ  types.Type
	kind vector.Kind
}

// chunkRows is the number of rows of a chunk of a rowStore: one batch, so that
// a chunk can be handed on as it is.
const (
	chunkShift = 12
	chunkRows  = 1 << chunkShift
)

// rowStore keeps rows in memory as chunks of columns; a row's id is its
// position. Chunks bound the size of a text column's buffer.
type rowStore struct {
	kinds  []vector.Kind
	chunks []*vector.Batch
	n      int
	bytes  int64 // of full chunks
}

func newRowStore(kinds []vector.Kind) *rowStore { return &rowStore{kinds: kinds} }

func kindsOf(cols []logical.Column) []vector.Kind {
	out := make([]vector.Kind, len(cols))
	for i, c := range cols {
		out[i] = c.Type.Kind()
	}
	return out
}

// size returns the bytes held.
func (s *rowStore) size() int64 {
	if len(s.chunks) == 0 {
		return 0
	}
	return s.bytes + s.chunks[len(s.chunks)-1].Size()
}

// add appends rows of cols: all n, or those in sel.
func (s *rowStore) add(cols []*vector.Vector, n int, sel []int32) {
	total := n
	if sel != nil {
		total = len(sel)
	}
	for lo := 0; lo < total; {
		c := s.last()
		hi := min(total, lo+chunkRows-c.N)
		for i, v := range c.Cols {
			if sel != nil {
				appendRows(v, cols[i], sel[lo:hi])
			} else {
				appendRange(v, cols[i], lo, hi)
			}
		}
		c.N += hi - lo
		s.n += hi - lo
		lo = hi
	}
}

// last returns the chunk with room for at least one row.
func (s *rowStore) last() *vector.Batch {
	if k := len(s.chunks); k > 0 {
		if c := s.chunks[k-1]; c.N < chunkRows {
			return c
		}
		s.bytes += s.chunks[k-1].Size()
	}
	c := &vector.Batch{Cols: make([]*vector.Vector, len(s.kinds))}
	for i, k := range s.kinds {
		c.Cols[i] = vector.New(k, 0)
	}
	s.chunks = append(s.chunks, c)
	return c
}

// appendColumn appends column col of the rows ids to dst; id noRow gives NULL.
func (s *rowStore) appendColumn(dst *vector.Vector, col int, ids []uint32) {
	for _, id := range ids {
		if id == noRow {
			dst.AppendNull()
			continue
		}
		dst.AppendFrom(s.chunks[id>>chunkShift].Cols[col], int(id&(chunkRows-1)))
	}
}

// noRow stands for no row.
const noRow = ^uint32(0)

// gather makes dst (of the right kind) hold column col of the rows ids.
func (s *rowStore) gather(dst *vector.Vector, col int, ids []uint32) {
	kind := s.kinds[col]
	dst.Reset(kind)
	if kind == vector.Bytes || kind == vector.Bool {
		s.appendColumn(dst, col, ids)
		return
	}
	dst.Resize(len(ids))
	switch kind {
	case vector.Int16:
		gatherIDs(s, col, ids, dst.I16, func(v *vector.Vector) []int16 { return v.I16 })
	case vector.Int32:
		gatherIDs(s, col, ids, dst.I32, func(v *vector.Vector) []int32 { return v.I32 })
	case vector.Int64:
		gatherIDs(s, col, ids, dst.I64, func(v *vector.Vector) []int64 { return v.I64 })
	case vector.Uint32:
		gatherIDs(s, col, ids, dst.U32, func(v *vector.Vector) []uint32 { return v.U32 })
	case vector.Float32:
		gatherIDs(s, col, ids, dst.F32, func(v *vector.Vector) []float32 { return v.F32 })
	case vector.Float64:
		gatherIDs(s, col, ids, dst.F64, func(v *vector.Vector) []float64 { return v.F64 })
	case vector.Fixed16:
		gatherIDs(s, col, ids, dst.F16, func(v *vector.Vector) [][16]byte { return v.F16 })
	}
	s.gatherNulls(dst, col, ids)
}

func gatherIDs[T any](s *rowStore, col int, ids []uint32, dst []T, slice func(*vector.Vector) []T) {
	for i, id := range ids {
		if id != noRow {
			dst[i] = slice(s.chunks[id>>chunkShift].Cols[col])[id&(chunkRows-1)]
		}
	}
}

func (s *rowStore) gatherNulls(dst *vector.Vector, col int, ids []uint32) {
	for i, id := range ids {
		if id == noRow {
			dst.SetNull(i)
			continue
		}
		if v := s.chunks[id>>chunkShift].Cols[col]; v.Valid != nil && !v.Valid.Get(int(id&(chunkRows-1))) {
			dst.SetNull(i)
		}
	}
}

// appendRows appends rows sel of src to the flat vector dst.
func appendRows(dst, src *vector.Vector, sel []int32) {
	for _, i := range sel {
		dst.AppendFrom(src, int(i))
	}
}

// appendRange appends rows lo..hi-1 of src to the flat vector dst.
func appendRange(dst, src *vector.Vector, lo, hi int) {
	if src.Const || src.Dict != nil || src.Kind == vector.Bool {
		for i := lo; i < hi; i++ {
			dst.AppendFrom(src, i)
		}
		return
	}
	at := dst.N
	switch src.Kind {
	case vector.Int16:
		dst.I16 = append(dst.I16, src.I16[lo:hi]...)
	case vector.Int32:
		dst.I32 = append(dst.I32, src.I32[lo:hi]...)
	case vector.Int64:
		dst.I64 = append(dst.I64, src.I64[lo:hi]...)
	case vector.Uint32:
		dst.U32 = append(dst.U32, src.U32[lo:hi]...)
	case vector.Float32:
		dst.F32 = append(dst.F32, src.F32[lo:hi]...)
	case vector.Float64:
		dst.F64 = append(dst.F64, src.F64[lo:hi]...)
	case vector.Fixed16:
		dst.F16 = append(dst.F16, src.F16[lo:hi]...)
	case vector.Bytes:
		base := int32(len(dst.Data)) - src.Offsets[lo]
		dst.Data = append(dst.Data, src.Data[src.Offsets[lo]:src.Offsets[hi]]...)
		for _, o := range src.Offsets[lo+1 : hi+1] {
			dst.Offsets = append(dst.Offsets, o+base)
		}
	}
	dst.N += hi - lo
	appendValid(dst, src, at, lo, hi)
}

// appendValid sets the validity of the rows of dst from at on, which came from
// rows lo..hi-1 of src.
func appendValid(dst, src *vector.Vector, at, lo, hi int) {
	if src.Valid == nil && dst.Valid == nil {
		return
	}
	if dst.Valid == nil {
		dst.Valid = vector.NewBitmap(dst.N, true)
	} else {
		dst.Valid = dst.Valid.Resize(dst.N)
	}
	for i := lo; i < hi; i++ {
		dst.Valid.Put(at+i-lo, src.Valid == nil || src.Valid.Get(i))
	}
}

// slice makes dst hold rows lo..hi-1 of b as flat columns.
func slice(dst, b *vector.Batch, lo, hi int) *vector.Batch {
	shape(dst, len(b.Cols))
	for i, c := range b.Cols {
		dst.Cols[i].Reset(c.Kind)
		appendRange(dst.Cols[i], c, lo, hi)
	}
	dst.N, dst.Sel = hi-lo, nil
	return dst
}

// shape gives dst n columns.
func shape(dst *vector.Batch, n int) {
	for len(dst.Cols) < n {
		dst.Cols = append(dst.Cols, &vector.Vector{})
	}
	dst.Cols = dst.Cols[:n]
}

// gatherRows makes dst hold rows sel of b.
func gatherRows(dst, b *vector.Batch, sel []int32) *vector.Batch {
	shape(dst, len(b.Cols))
	for i, c := range b.Cols {
		c.GatherInto(dst.Cols[i], sel)
	}
	dst.N, dst.Sel = len(sel), nil
	return dst
}
