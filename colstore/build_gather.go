package colstore

import "tsdb/colstore/vector"

// gatherer collects the rows of one segment from the inputs, column by column.
// plan finds once what all columns share: the blocks to decode and the runs of
// rows to copy. Its memory is reused from column to column and from segment to
// segment.
type gatherer struct {
	slots []*slot // of the inputs that the segment has rows of
	free  []*slot
	index []int32 // of an input's slot + 1
	runs  []rowRun
	text  int64 // bytes per row of the longest text column, an estimate

	out vector.Vector
}

// slot is an input that the segment has rows of.
type slot struct {
	in     *input
	number int
	need   []int // blocks to decode, ascending
	last   int
	base   uint32 // of block last in the decoded rows
	next   uint32
	reader segReader
	open   bool
	vec    *vector.Vector // the rows of the column that is being gathered
	flat   vector.Vector
	coded  vector.Vector
}

// rowRun is n consecutive rows of a slot's vector.
type rowRun struct{ slot, pos, n uint32 }

// plan prepares for the rows of the next segment.
func (g *gatherer) plan(b *builder, rows []rowRef) error {
	g.reset(b)
	for _, r := range rows {
		k := g.index[r.input()]
		if k == 0 {
			k = g.addSlot(b, r.input())
		}
		s := g.slots[k-1]
		pos := uint32(r.row())
		if s.in.seg != nil {
			if block := r.block(); block != s.last {
				s.need = append(s.need, block)
				s.last, s.base = block, s.next
				s.next += uint32(s.in.seg.info.BlockRows[block]) + 1
			}
			pos += s.base
		}
		if n := len(g.runs); n > 0 && g.runs[n-1].slot == uint32(k-1) && g.runs[n-1].pos+g.runs[n-1].n == pos {
			g.runs[n-1].n++
			continue
		}
		g.runs = append(g.runs, rowRun{uint32(k - 1), pos, 1})
	}
	g.measure(b)
	return nil
}

func (g *gatherer) reset(b *builder) {
	if len(g.index) != len(b.in) {
		g.index = make([]int32, len(b.in))
	}
	for _, s := range g.slots {
		g.index[s.number] = 0
	}
	g.close()
	g.runs = g.runs[:0]
}

// close releases the chunks of the last segment.
func (g *gatherer) close() {
	for _, s := range g.slots {
		if s.open {
			s.reader.close()
		}
		s.open, s.in, s.vec = false, nil, nil
	}
	g.free = append(g.free, g.slots...)
	g.slots = g.slots[:0]
}

func (g *gatherer) addSlot(b *builder, in int) int32 {
	s := &slot{}
	if n := len(g.free); n > 0 {
		s, g.free = g.free[n-1], g.free[:n-1]
	}
	s.in, s.number, s.need, s.last, s.base, s.next = &b.in[in], in, s.need[:0], -1, 0, 0
	if s.in.seg != nil {
		s.reader.init(b.s, s.in.seg, b.schema)
		s.open = true
	}
	g.slots = append(g.slots, s)
	g.index[in] = int32(len(g.slots))
	return g.index[in]
}

// measure estimates how long texts are. Segments do not say, but where they
// are long their parts are narrow.
func (g *gatherer) measure(b *builder) {
	g.text = 0
	for c := range b.schema.Columns {
		if b.schema.Columns[c].Kind != vector.Bytes {
			continue
		}
		var size, rows int64
		for _, s := range g.slots {
			if s.in.mem == nil {
				g.text = max(g.text, s.in.seg.textBytes(uint32(b.schema.Columns[c].ID)))
				continue
			}
			if c := s.in.mem.cols[c]; c.N > 0 {
				size, rows = size+int64(c.Offsets[c.N]-c.Offsets[0]), rows+int64(c.N)
			}
		}
		if rows > 0 {
			g.text = max(g.text, size/rows)
		}
	}
}

// textBytes estimates the length of the texts of a column.
func (g *seg) textBytes(id uint32) int64 {
	col := g.info.Column(id)
	if col == nil {
		return 0
	}
	var size int64
	for _, p := range col.Parts {
		size += int64(p.Size)
	}
	n := size / g.info.Rows
	if len(g.info.PartBlocks) > 1 {
		rows := int64(0)
		for _, r := range g.info.BlockRows[:g.info.PartBlocks[0]] {
			rows += int64(r) + 1
		}
		if rows <= partRows/2 {
			n = max(n, partBytes/2/rows)
		}
	}
	return n
}

// column returns the n rows of one column, valid until the next call.
func (g *gatherer) column(b *builder, c, n int) (*vector.Vector, error) {
	for _, s := range g.slots {
		if err := s.load(b, g, c); err != nil {
			return nil, err
		}
	}
	g.copy(b.schema.Columns[c].Kind, n)
	return &g.out, nil
}

// load makes s.vec the rows of a column that the segment needs of this input.
func (s *slot) load(b *builder, g *gatherer, c int) error {
	if s.in.mem != nil {
		s.vec = s.in.mem.cols[c]
		return nil
	}
	s.flat.Reset(b.schema.Columns[c].Kind)
	s.vec = &s.flat
	for from := 0; from < len(s.need); {
		part := s.reader.partOf(s.need[from])
		to := from + 1
		for to < len(s.need) && s.reader.partOf(s.need[to]) == part {
			to++
		}
		if from == 0 && to == len(s.need) {
			if err := s.reader.decode(c, s.need, &s.coded); err != nil {
				return err
			}
			if s.vec = &s.coded; s.coded.Dict == nil && !s.coded.Const {
				break
			}
			s.vec = &s.flat
		} else if err := s.reader.decode(c, s.need[from:to], &s.coded); err != nil {
			return err
		}
		appendFlat(&s.flat, &s.coded)
		from = to
	}
	// One open chunk per reader, not one per column.
	s.reader.chunks[c].close()
	s.reader.chunks[c].part = -1
	return nil
}

// appendFlat appends all rows of src to the flat vector dst.
func appendFlat(dst, src *vector.Vector) {
	if src.Dict == nil {
		copyRows(dst, src, nil, 0, src.N)
		return
	}
	base, n := dst.N, src.N
	for i, code := range src.I32[:n] {
		if src.Valid == nil || src.Valid.Get(i) {
			dst.Data = append(dst.Data, src.Dict.Data[src.Dict.Offsets[code]:src.Dict.Offsets[code+1]]...)
		}
		dst.Offsets = append(dst.Offsets, int32(len(dst.Data)))
	}
	dst.N += n
	appendValid(dst, base, src.Valid, 0, n)
}

// copy makes g.out the n rows of the plan's runs.
func (g *gatherer) copy(kind vector.Kind, n int) {
	v := &g.out
	v.Reset(kind)
	switch kind {
	case vector.Int16:
		v.I16 = copyRuns(g, v.I16, n, func(x *vector.Vector) []int16 { return x.I16 })
	case vector.Int32:
		v.I32 = copyRuns(g, v.I32, n, func(x *vector.Vector) []int32 { return x.I32 })
	case vector.Int64:
		v.I64 = copyRuns(g, v.I64, n, func(x *vector.Vector) []int64 { return x.I64 })
	case vector.Uint32:
		v.U32 = copyRuns(g, v.U32, n, func(x *vector.Vector) []uint32 { return x.U32 })
	case vector.Float32:
		v.F32 = copyRuns(g, v.F32, n, func(x *vector.Vector) []float32 { return x.F32 })
	case vector.Float64:
		v.F64 = copyRuns(g, v.F64, n, func(x *vector.Vector) []float64 { return x.F64 })
	case vector.Fixed16:
		v.F16 = copyRuns(g, v.F16, n, func(x *vector.Vector) [][16]byte { return x.F16 })
	case vector.Bool:
		v.Bits = v.Bits.Resize(n)
		g.copyBits(v.Bits, func(x *vector.Vector) vector.Bitmap { return x.Bits })
	case vector.Bytes:
		g.copyBytes(v)
	}
	v.N = n
	for _, s := range g.slots {
		if s.vec.Valid != nil {
			v.Valid = vector.NewBitmap(n, true)
			g.copyBits(v.Valid, func(x *vector.Vector) vector.Bitmap { return x.Valid })
			return
		}
	}
}

func copyRuns[T any](g *gatherer, dst []T, n int, of func(*vector.Vector) []T) []T {
	if cap(dst) < n {
		dst = make([]T, n)
	}
	dst = dst[:n]
	var src []T
	last, at := ^uint32(0), 0
	for _, r := range g.runs {
		if r.slot != last {
			src, last = of(g.slots[r.slot].vec), r.slot
		}
		if r.n == 1 {
			dst[at] = src[r.pos]
			at++
			continue
		}
		at += copy(dst[at:], src[r.pos:r.pos+r.n])
	}
	return dst
}

// copyBits copies bitmaps; a missing one is all ones.
func (g *gatherer) copyBits(dst vector.Bitmap, of func(*vector.Vector) vector.Bitmap) {
	at := 0
	for _, r := range g.runs {
		src := of(g.slots[r.slot].vec)
		for i := range int(r.n) {
			dst.Put(at+i, src == nil || src.Get(int(r.pos)+i))
		}
		at += int(r.n)
	}
}

func (g *gatherer) copyBytes(v *vector.Vector) {
	for _, r := range g.runs {
		src := g.slots[r.slot].vec
		from, to := r.pos, r.pos+r.n
		shift := int32(len(v.Data)) - src.Offsets[from]
		v.Data = append(v.Data, src.Data[src.Offsets[from]:src.Offsets[to]]...)
		for _, o := range src.Offsets[from+1 : to+1] {
			v.Offsets = append(v.Offsets, o+shift)
		}
	}
}

// position returns the row's number in its segment or block.
func (r rowRef) position(in *input) uint32 {
	if in.mem != nil {
		return uint32(r.row())
	}
	return in.seg.firstRow(r.block()) + uint32(r.row())
}
