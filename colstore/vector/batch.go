package vector

// Batch is a set of rows: equally long columns and an optional selection.
//
// Shape: every column has N rows. Sel, if not nil, lists the rows that count,
// ascending; operators that do not handle a selection call Flat first.
type Batch struct {
	Cols []*Vector
	N    int
	Sel  []int32
}

// Rows returns the number of rows that count.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.N
}

// Flat returns b itself when it has no selection, else a batch that holds the
// selected rows only, built in dst's memory (dst may be nil).
func (b *Batch) Flat(dst *Batch) *Batch {
	if b.Sel == nil {
		return b
	}
	if dst == nil {
		dst = &Batch{}
	}
	for len(dst.Cols) < len(b.Cols) {
		dst.Cols = append(dst.Cols, &Vector{})
	}
	dst.Cols = dst.Cols[:len(b.Cols)]
	for i, c := range b.Cols {
		c.GatherInto(dst.Cols[i], b.Sel)
	}
	dst.N, dst.Sel = len(b.Sel), nil
	return dst
}

// Clone returns a deep copy of the selected rows; the copy is flat: without
// selection, dictionaries or constants.
func (b *Batch) Clone() *Batch {
	out := &Batch{N: b.Rows(), Cols: make([]*Vector, len(b.Cols))}
	for i, c := range b.Cols {
		v := New(c.Kind, out.N)
		v.AppendVector(c, b.Sel)
		out.Cols[i] = v
	}
	return out
}

func gather[T any](dst []T, src []T, sel []int32) []T {
	dst = grow(dst[:0], len(sel))
	for i, s := range sel {
		dst[i] = src[s]
	}
	return dst
}

// GatherInto makes dst hold rows sel of v, in that order. A dictionary is
// shared, not copied; a constant stays constant.
func (v *Vector) GatherInto(dst *Vector, sel []int32) {
	dst.Reset(v.Kind)
	if v.Const {
		dst.AppendFrom(v, 0)
		dst.Const, dst.N = true, len(sel)
		return
	}
	n := len(sel)
	switch v.Kind {
	case Bool:
		dst.Bits = dst.Bits.Resize(n)
		for i, s := range sel {
			dst.Bits.Put(i, v.Bits.Get(int(s)))
		}
	case Int16:
		dst.I16 = gather(dst.I16, v.I16, sel)
	case Int32:
		dst.I32 = gather(dst.I32, v.I32, sel)
	case Int64:
		dst.I64 = gather(dst.I64, v.I64, sel)
	case Uint32:
		dst.U32 = gather(dst.U32, v.U32, sel)
	case Float32:
		dst.F32 = gather(dst.F32, v.F32, sel)
	case Float64:
		dst.F64 = gather(dst.F64, v.F64, sel)
	case Fixed16:
		dst.F16 = gather(dst.F16, v.F16, sel)
	case Bytes:
		if v.Dict != nil {
			dst.I32 = gather(dst.I32, v.I32, sel)
			dst.Dict = v.Dict
			break
		}
		for _, s := range sel {
			dst.Data = append(dst.Data, v.Data[v.Offsets[s]:v.Offsets[s+1]]...)
			dst.Offsets = append(dst.Offsets, int32(len(dst.Data)))
		}
	}
	dst.N = n
	if v.Valid != nil {
		dst.Valid = NewBitmap(n, false)
		for i, s := range sel {
			if v.Valid.Get(int(s)) {
				dst.Valid.Set(i)
			}
		}
	}
}

// AppendVector appends all rows of src, or rows sel of it, as flat values.
func (v *Vector) AppendVector(src *Vector, sel []int32) {
	if sel != nil {
		for _, s := range sel {
			v.AppendFrom(src, int(s))
		}
		return
	}
	if src.Const || src.Dict != nil || v.Kind == Bool || src.Valid != nil || v.Valid != nil {
		for i := 0; i < src.N; i++ {
			v.AppendFrom(src, i)
		}
		return
	}
	switch v.Kind {
	case Int16:
		v.I16 = append(v.I16, src.I16[:src.N]...)
	case Int32:
		v.I32 = append(v.I32, src.I32[:src.N]...)
	case Int64:
		v.I64 = append(v.I64, src.I64[:src.N]...)
	case Uint32:
		v.U32 = append(v.U32, src.U32[:src.N]...)
	case Float32:
		v.F32 = append(v.F32, src.F32[:src.N]...)
	case Float64:
		v.F64 = append(v.F64, src.F64[:src.N]...)
	case Fixed16:
		v.F16 = append(v.F16, src.F16[:src.N]...)
	case Bytes:
		base := int32(len(v.Data)) - src.Offsets[0]
		v.Data = append(v.Data, src.Data[src.Offsets[0]:src.Offsets[src.N]]...)
		for _, o := range src.Offsets[1 : src.N+1] {
			v.Offsets = append(v.Offsets, o+base)
		}
	}
	v.N += src.N
}

// Flat returns v without dictionary and constant forms: v itself when it has
// neither, else the values copied into dst.
func (v *Vector) Flat(dst *Vector) *Vector {
	if !v.Const && v.Dict == nil {
		return v
	}
	dst.Reset(v.Kind)
	dst.AppendVector(v, nil)
	return dst
}

// Size returns the bytes that the vector's buffers occupy in use.
func (v *Vector) Size() int64 {
	s := int64(len(v.Valid)+len(v.Bits)+len(v.I64)+len(v.F64))*8 + int64(len(v.I16))*2
	s += int64(len(v.I32)+len(v.U32)+len(v.F32)+len(v.Offsets))*4 + int64(len(v.F16))*16 + int64(len(v.Data))
	return s
}

// Size returns the bytes in use by all columns.
func (b *Batch) Size() int64 {
	s := int64(len(b.Sel)) * 4
	for _, c := range b.Cols {
		s += c.Size()
	}
	return s
}
