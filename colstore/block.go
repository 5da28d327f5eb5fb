package colstore

import (
	"bytes"
	"slices"
	"sort"
	"sync"

	"tsdb/colstore/segment"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// blockRows is the most rows of a block in memory and of an arrival block.
const blockRows = segment.MaxArrivalRows

// block is up to blockRows rows in memory: the decoded form of one or several
// arrival blocks. Immutable, but the last block of a table (and of a
// transaction) may share its buffers with a longer successor: see extend.
type block struct {
	schema   *table.Schema
	cols     []*vector.Vector // flat, N = n
	n        int
	size     int64
	lo, hi   int64 // times, lo > hi: none
	nullTime bool

	// ord is the ordinal of the first row among all rows that the table (or the
	// transaction) ever had in blocks: the block's name, which stays when it is
	// extended or loses rows.
	ord   uint64
	runs  []seqRun // of a committed block: its arrival blocks, ascending
	gone  *deletes // deleted rows; nil: none
	order *blockOrder
}

// seqRun says that from row on the rows of a block are those of the arrival
// block with the sequence.
type seqRun struct {
	seq uint64
	row int
}

// blockOrder is the order of the rows, shared by blocks with the same rows.
type blockOrder struct {
	once   sync.Once
	sorted *sortedBlock
}

// sortedBlock is the order of a block's rows by key, built when first needed.
type sortedBlock struct {
	perm []int32
	keys segment.Strings // of the rows in that order
}

func newBlock(s *table.Schema, cols []*vector.Vector, n int) *block {
	b := &block{schema: s, cols: cols, n: n, order: &blockOrder{}}
	b.lo, b.hi, b.nullTime = timeBounds(s, cols, n)
	for _, c := range cols {
		b.size += c.Size()
	}
	return b
}

// sorted returns the rows sorted by the parts of the key, and their keys.
func (b *block) sorted() *sortedBlock {
	b.order.once.Do(func() {
		var raw segment.Strings
		var buf []byte
		perm := make([]int32, b.n)
		parts := orderParts(b.schema)
		for i := range perm {
			buf = appendRowKey(buf[:0], parts, b.cols, i)
			raw.Append(buf)
			perm[i] = int32(i)
		}
		slices.SortStableFunc(perm, func(x, y int32) int { return bytes.Compare(raw.At(int(x)), raw.At(int(y))) })
		s := &sortedBlock{perm: perm}
		for _, p := range perm {
			s.keys.Append(raw.At(int(p)))
		}
		b.order.sorted = s
	})
	return b.order.sorted
}

// without returns the block with other deleted rows.
func (b *block) without(gone *deletes) *block {
	nb := *b
	nb.gone = gone
	return &nb
}

// alive returns the number of rows that are not deleted.
func (b *block) alive() int { return b.n - b.gone.count() }

// end returns the ordinal behind the last row.
func (b *block) end() uint64 { return b.ord + uint64(b.n) }

// runOf returns the arrival block of a row and its place there.
func (b *block) runOf(row int) (seq uint64, at int) {
	i := sort.Search(len(b.runs), func(i int) bool { return b.runs[i].row > row }) - 1
	return b.runs[i].seq, row - b.runs[i].row
}

func emptyBlock(s *table.Schema, capacity int) *block {
	cols := make([]*vector.Vector, len(s.Columns))
	for i, c := range s.Columns {
		cols[i] = vector.New(c.Kind, capacity)
	}
	return newBlock(s, cols, 0)
}

// extend returns a block with the rows of add after those of b: see extendWith.
func (b *block) extend(add *block) *block { return b.extendWith(add.cols, nil, 0, add.n) }

// extendWith returns a block with rows from to to of cols (of sel, if not nil)
// after those of b. The buffers are shared: rows of b stay where they are, new
// ones lie behind them, so readers of b see no change. Bitmaps, whose last
// word both would write, are copied. Only the newest of a chain of blocks may
// be extended.
func (b *block) extendWith(add []*vector.Vector, sel []int32, from, to int) *block {
	n := b.n + to - from
	nb := &block{schema: b.schema, cols: make([]*vector.Vector, len(b.cols)), n: n, lo: b.lo, hi: b.hi, nullTime: b.nullTime,
		ord: b.ord, runs: b.runs, gone: b.gone, order: &blockOrder{}}
	for i, c := range b.cols {
		v := *c
		if v.Bits != nil {
			v.Bits = append(make(vector.Bitmap, 0, vector.Words(n)+1), v.Bits...)
		}
		if v.Valid != nil {
			v.Valid = append(make(vector.Bitmap, 0, vector.Words(n)+1), v.Valid...)
		}
		copyRows(&v, add[i], sel, from, to)
		nb.cols[i] = &v
		nb.size += v.Size()
	}
	if s := b.schema; s.Time >= 0 {
		for i := b.n; i < n; i++ {
			t, null := timeOf(s, nb.cols[s.Time], i)
			if null {
				nb.nullTime = true
				continue
			}
			nb.lo, nb.hi = min(nb.lo, t), max(nb.hi, t)
		}
	}
	return nb
}

// prefix returns the first n rows of b as a block that must not be extended.
func (b *block) prefix(n int) *block {
	cols := make([]*vector.Vector, len(b.cols))
	for i, c := range b.cols {
		v := sliceVector(c, 0, n)
		cols[i] = &v
	}
	nb := newBlock(b.schema, cols, n)
	nb.ord, nb.runs, nb.gone = b.ord, b.runs, b.gone
	return nb
}

// batch shows the block as a batch.
func (b *block) batch() *vector.Batch { return &vector.Batch{Cols: b.cols, N: b.n} }

// sliceVector shows rows from to to of a flat vector; from is a multiple of 64.
func sliceVector(v *vector.Vector, from, to int) vector.Vector {
	s := vector.Vector{Kind: v.Kind, N: to - from, Dict: v.Dict}
	if v.Valid != nil {
		s.Valid = v.Valid[from/64 : vector.Words(to) : vector.Words(to)]
	}
	switch v.Kind {
	case vector.Bool:
		s.Bits = v.Bits[from/64 : vector.Words(to) : vector.Words(to)]
	case vector.Int16:
		s.I16 = v.I16[from:to:to]
	case vector.Int32:
		s.I32 = v.I32[from:to:to]
	case vector.Int64:
		s.I64 = v.I64[from:to:to]
	case vector.Uint32:
		s.U32 = v.U32[from:to:to]
	case vector.Float32:
		s.F32 = v.F32[from:to:to]
	case vector.Float64:
		s.F64 = v.F64[from:to:to]
	case vector.Fixed16:
		s.F16 = v.F16[from:to:to]
	case vector.Bytes:
		if v.Dict != nil {
			s.I32 = v.I32[from:to:to]
		} else {
			// Data ends with the last row, where copyRows would go on.
			end := v.Offsets[to]
			s.Offsets, s.Data = v.Offsets[from:to+1:to+1], v.Data[:end:end]
		}
	}
	return s
}

// copyRows appends rows to the flat vector dst: rows sel[from:to] of src, or
// rows from to to where sel is nil.
func copyRows(dst, src *vector.Vector, sel []int32, from, to int) {
	if sel != nil {
		dst.AppendVector(src, sel[from:to])
		return
	}
	if src.Const || src.Dict != nil || src.Kind == vector.Bool {
		for i := from; i < to; i++ {
			dst.AppendFrom(src, i)
		}
		return
	}
	n, base := to-from, dst.N
	switch dst.Kind {
	case vector.Int16:
		dst.I16 = append(dst.I16, src.I16[from:to]...)
	case vector.Int32:
		dst.I32 = append(dst.I32, src.I32[from:to]...)
	case vector.Int64:
		dst.I64 = append(dst.I64, src.I64[from:to]...)
	case vector.Uint32:
		dst.U32 = append(dst.U32, src.U32[from:to]...)
	case vector.Float32:
		dst.F32 = append(dst.F32, src.F32[from:to]...)
	case vector.Float64:
		dst.F64 = append(dst.F64, src.F64[from:to]...)
	case vector.Fixed16:
		dst.F16 = append(dst.F16, src.F16[from:to]...)
	case vector.Bytes:
		shift := int32(len(dst.Data)) - src.Offsets[from]
		dst.Data = append(dst.Data, src.Data[src.Offsets[from]:src.Offsets[to]]...)
		for _, o := range src.Offsets[from+1 : to+1] {
			dst.Offsets = append(dst.Offsets, o+shift)
		}
	}
	dst.N += n
	appendValid(dst, base, src.Valid, from, n)
}

// appendValid extends the validity of dst, which has grown by n rows after
// base, from bits from on of valid.
func appendValid(dst *vector.Vector, base int, valid vector.Bitmap, from, n int) {
	if valid == nil {
		if dst.Valid != nil {
			dst.Valid = dst.Valid.Resize(base + n)
			for i := 0; i < n; i++ {
				dst.Valid.Set(base + i)
			}
		}
		return
	}
	if dst.Valid == nil {
		dst.Valid = vector.NewBitmap(base, true)
	}
	dst.Valid = dst.Valid.Resize(base + n)
	for i := 0; i < n; i++ {
		dst.Valid.Put(base+i, valid.Get(from+i))
	}
}
