package eval

import (
	"tsdb/colstore/vector"
)

// value is a vector and whether it is scratch that the receiver gives back.
type value struct {
	*vector.Vector
	scratch bool
}

// machine holds a program's reusable memory and the environment of its run.
type machine struct {
	env     *Env
	vectors [16][]*vector.Vector // idle, by kind
	bitmaps []vector.Bitmap
	sels    [][]int32
	frames  []*frame
}

// vector returns an empty scratch vector of the kind.
func (m *machine) vector(k vector.Kind) *vector.Vector {
	idle := m.vectors[k]
	if len(idle) == 0 {
		v := &vector.Vector{}
		v.Reset(k)
		return v
	}
	v := idle[len(idle)-1]
	m.vectors[k] = idle[:len(idle)-1]
	v.Reset(k)
	return v
}

// release takes a scratch vector back; other vectors are left alone.
func (m *machine) release(v value) {
	if !v.scratch {
		return
	}
	if v.Valid != nil {
		m.bitmaps = append(m.bitmaps, v.Valid)
		v.Valid = nil
	}
	m.vectors[v.Kind] = append(m.vectors[v.Kind], v.Vector)
}

// bitmap returns a scratch bitmap of n bits with unspecified content.
func (m *machine) bitmap(n int) vector.Bitmap {
	if k := len(m.bitmaps); k > 0 {
		b := m.bitmaps[k-1]
		m.bitmaps = m.bitmaps[:k-1]
		return b.Resize(n)
	}
	return make(vector.Bitmap, vector.Words(n))
}

func (m *machine) filled(n int, v bool) vector.Bitmap {
	b := m.bitmap(n)
	b.Fill(v)
	return b
}

func (m *machine) releaseBitmap(b vector.Bitmap) {
	if b != nil {
		m.bitmaps = append(m.bitmaps, b)
	}
}

func (m *machine) sel() []int32 {
	if k := len(m.sels); k > 0 {
		s := m.sels[k-1]
		m.sels = m.sels[:k-1]
		return s[:0]
	}
	return nil
}

func (m *machine) releaseSel(s []int32) {
	if cap(s) > 0 {
		m.sels = append(m.sels, s)
	}
}

// frame is the set of rows that a node is asked for: all rows of the batch or a
// selection. Columns are gathered when first used and kept for the frame's life.
type frame struct {
	m     *machine
	b     *vector.Batch
	n     int
	sel   []int32          // rows of b; nil: all
	cols  []*vector.Vector // gathered columns, by index
	flat  []*vector.Vector // columns without their dictionary, by index
	used  []int            // indexes set in cols or flat
	owned bool             // sel belongs to the frame
}

func (m *machine) frame(b *vector.Batch) *frame {
	var f *frame
	if k := len(m.frames); k > 0 {
		f = m.frames[k-1]
		m.frames = m.frames[:k-1]
	} else {
		f = &frame{m: m}
	}
	f.b, f.n, f.sel, f.owned = b, b.N, nil, false
	if len(f.cols) < len(b.Cols) {
		f.cols = make([]*vector.Vector, len(b.Cols))
		f.flat = make([]*vector.Vector, len(b.Cols))
	}
	return f
}

// narrow returns a frame of the given rows of f, which is copied.
func (f *frame) narrow(rows []int32) *frame {
	s := f.m.frame(f.b)
	s.n, s.owned = len(rows), true
	s.sel = append(f.m.sel(), rows...)
	if f.sel != nil {
		for i, r := range s.sel {
			s.sel[i] = f.sel[r]
		}
	}
	return s
}

// free ends a frame and takes its columns back.
func (m *machine) free(f *frame) {
	for _, i := range f.used {
		for _, v := range []*vector.Vector{f.cols[i], f.flat[i]} {
			if v != nil {
				m.release(value{v, true})
			}
		}
		f.cols[i], f.flat[i] = nil, nil
	}
	f.used = f.used[:0]
	if f.owned {
		m.releaseSel(f.sel)
	}
	f.sel, f.b = nil, nil
	m.frames = append(m.frames, f)
}

// column returns column i of the frame's rows, possibly with a dictionary.
func (f *frame) column(i int) *vector.Vector {
	if f.sel == nil {
		return f.b.Cols[i]
	}
	if f.cols[i] == nil {
		src := f.b.Cols[i]
		v := f.m.vector(src.Kind)
		src.GatherInto(v, f.sel)
		f.cols[i] = v
		f.used = append(f.used, i)
	}
	return f.cols[i]
}

// flatColumn returns column i without a dictionary.
func (f *frame) flatColumn(i int) *vector.Vector {
	c := f.column(i)
	if c.Dict == nil {
		return c
	}
	if f.flat[i] == nil {
		f.flat[i] = f.m.expand(c)
		f.used = append(f.used, i)
	}
	return f.flat[i]
}

// expand copies a dictionary-encoded vector without its dictionary.
func (m *machine) expand(c *vector.Vector) *vector.Vector {
	v := m.vector(vector.Bytes)
	d := c.Dict
	for i, code := range c.I32[:c.Phys()] {
		if c.IsNull(i) { // its code may have no entry
			v.Offsets = append(v.Offsets, int32(len(v.Data)))
			continue
		}
		v.Data = append(v.Data, d.Data[d.Offsets[code]:d.Offsets[code+1]]...)
		v.Offsets = append(v.Offsets, int32(len(v.Data)))
	}
	v.N, v.Const = c.N, c.Const
	if c.Valid != nil {
		v.Valid = m.bitmap(c.Phys())
		copy(v.Valid, c.Valid)
	}
	return v
}

// owns reports whether v is a column that the frame gathered or expanded.
func (f *frame) owns(v value) bool {
	if v.scratch {
		return false
	}
	for _, i := range f.used {
		if f.cols[i] == v.Vector || f.flat[i] == v.Vector {
			return true
		}
	}
	return false
}

// keep takes v, which the frame owns, out of it: it becomes scratch of the caller.
func (f *frame) keep(v value) value {
	for _, i := range f.used {
		if f.cols[i] == v.Vector {
			f.cols[i] = nil
		}
		if f.flat[i] == v.Vector {
			f.flat[i] = nil
		}
	}
	return value{v.Vector, true}
}

// rest follows the rows of a base frame that are still wanted while operands
// are evaluated one after the other.
//
// The current frame covers at least these rows. It is narrowed to exactly them
// before an operand that can fail, and when fewer than half are left.
type rest struct {
	base  *frame
	cur   *frame
	rows  []int32       // current row → row of base; nil: the same
	left  vector.Bitmap // wanted rows of cur
	count int           // ones in left
}

func narrowing(f *frame) *rest {
	r := &rest{base: f, cur: f, count: f.n}
	r.left = f.m.filled(f.n, true)
	r.trim()
	return r
}

// trim clears the bits above the last row, so that words can be tested whole.
func (r *rest) trim() {
	if k := uint(r.cur.n) & 63; k != 0 {
		r.left[r.cur.n>>6] &= 1<<k - 1
	}
}

func (r *rest) done() {
	m := r.base.m
	if r.cur != r.base {
		m.free(r.cur)
	}
	m.releaseSel(r.rows)
	m.releaseBitmap(r.left)
}

// frame returns the frame in which to evaluate the next operand.
func (r *rest) frame(exact bool) *frame {
	if r.count == r.cur.n || !exact && r.count*2 > r.cur.n {
		return r.cur
	}
	m := r.base.m
	sel := r.appendRows(m.sel())
	next := r.base.narrow(sel)
	if r.cur != r.base {
		m.free(r.cur)
	}
	m.releaseSel(r.rows)
	r.cur, r.rows = next, sel
	r.left = r.left.Resize(r.count)
	r.left.Fill(true)
	r.trim()
	return r.cur
}

// appendRows appends the wanted rows, as rows of base.
func (r *rest) appendRows(dst []int32) []int32 {
	at := len(dst)
	dst = r.left.AppendIndexes(dst, r.cur.n)
	if r.rows != nil {
		for i, p := range dst[at:] {
			dst[at+i] = r.rows[p]
		}
	}
	return dst
}

// baseRow returns the row of base of a row of the current frame.
func (r *rest) baseRow(i int32) int32 {
	if r.rows == nil {
		return i
	}
	return r.rows[i]
}

// keepTrue drops the rows for which the condition v is not true.
func (r *rest) keepTrue(v *vector.Vector) {
	for w := range r.left[:vector.Words(r.cur.n)] {
		t, _ := truth(v, w)
		r.left[w] &= t
	}
	r.count = r.left.Count(r.cur.n)
}

// takeTrue moves the rows for which v is true out of left and appends them, as
// rows of the current frame, to dst.
func (r *rest) takeTrue(v *vector.Vector, dst []int32) []int32 {
	at := len(dst)
	for w := range r.left[:vector.Words(r.cur.n)] {
		if r.left[w] == 0 {
			continue
		}
		t, _ := truth(v, w)
		hit := t & r.left[w]
		r.left[w] &^= hit
		dst = appendBits(dst, hit, w)
	}
	r.count -= len(dst) - at
	return dst
}

// truth returns 64 rows of a boolean vector: which are true, which are NULL.
func truth(v *vector.Vector, w int) (t, null uint64) {
	if v.Const {
		switch {
		case v.IsNull(0):
			return 0, ^uint64(0)
		case v.Bits.Get(0):
			return ^uint64(0), 0
		}
		return 0, 0
	}
	if v.Valid == nil {
		return v.Bits[w], 0
	}
	return v.Bits[w] & v.Valid[w], ^v.Valid[w]
}
