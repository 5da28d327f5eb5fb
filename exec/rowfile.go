package exec

import (
	"tsdb/colstore/vector"
	"tsdb/exec/spill"
	"tsdb/sql/types"
)

// rowFile collects rows into batches and writes them to a temporary file.
type rowFile struct {
	file  *spill.File
	buf   vector.Batch
	block int64 // bytes of a batch
}

func newRowFile(a *account, kinds []vector.Kind, block int64) (*rowFile, error) {
	f, err := a.space.Create()
	if err != nil {
		return nil, err
	}
	a.spilled(0, 1)
	w := &rowFile{file: f, block: block}
	shape(&w.buf, len(kinds))
	for i, k := range kinds {
		w.buf.Cols[i].Reset(k)
	}
	return w, nil
}

// add appends rows sel of cols, or all n if sel is nil.
func (w *rowFile) add(a *account, s *spill.Scratch, cols []*vector.Vector, n int, sel []int32) error {
	total := n
	if sel != nil {
		total = len(sel)
	}
	for lo := 0; lo < total; {
		hi := min(total, lo+w.room())
		for i, c := range w.buf.Cols {
			if sel != nil {
				appendRows(c, cols[i], sel[lo:hi])
			} else {
				appendRange(c, cols[i], lo, hi)
			}
		}
		w.buf.N += hi - lo
		lo = hi
		if w.buf.N >= vector.BatchSize || w.buf.Size() >= w.block {
			if err := w.flush(a, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// room is how many rows to add before the size is looked at again.
func (w *rowFile) room() int { return min(vector.BatchSize-w.buf.N, 64) }

// flush writes what has been collected.
func (w *rowFile) flush(a *account, s *spill.Scratch) error {
	if w.buf.N == 0 {
		return nil
	}
	old := w.file.Size()
	if err := w.file.Write(&w.buf, s); err != nil {
		return err
	}
	a.spilled(w.file.Size()-old, 0)
	w.buf.N = 0
	for _, c := range w.buf.Cols {
		c.Reset(c.Kind)
	}
	return nil
}

// rowHasher hashes rows so that equal ones, as a grouper means it, hash alike,
// by other bits than the tables in memory use.
type rowHasher struct {
	cols  []columnType
	canon []func(dst, b []byte) []byte
	words []uint64
	buf   []byte
	sums  []uint64
}

func newRowHasher(cols []columnType) *rowHasher {
	h := &rowHasher{cols: cols, canon: make([]func(dst, b []byte) []byte, len(cols))}
	for i, c := range cols {
		h.canon[i] = canonicalForm(c.typ)
	}
	return h
}

const (
	hashStart = 0x5851f42d4c957f2d
	hashNull  = 0x14057b7ef767814f
)

// hash returns the hashes of n rows; they are valid until the next call.
func (h *rowHasher) hash(keys []*vector.Vector, n int) []uint64 {
	if cap(h.sums) < n {
		h.sums = make([]uint64, max(n, vector.BatchSize))
	}
	sums := h.sums[:n]
	for i := range sums {
		sums[i] = hashStart
	}
	for c, v := range keys {
		h.column(c, v, n)
		m := v.Mask()
		for i := range sums {
			w := h.words[i&m]
			if v.IsNull(i) {
				w = hashNull
			}
			sums[i] = mix(mix(sums[i]^w) + w)
		}
	}
	return sums
}

// column sets words to one word per physical row of v.
func (h *rowHasher) column(c int, v *vector.Vector, n int) {
	phys := min(n, v.Phys())
	switch v.Kind {
	case vector.Fixed16:
		h.words = h.words[:0]
		for _, x := range v.F16[:phys] {
			if h.cols[c].typ.OID == types.Interval {
				x = intervalSpan(x)
			}
			h.words = append(h.words, hashBytes(x[:]))
		}
	case vector.Bytes:
		h.words = h.words[:0]
		for i := range phys {
			b := v.Bytes(i)
			if f := h.canon[c]; f != nil && !v.IsNull(i) {
				h.buf = f(h.buf[:0], b)
				b = h.buf
			}
			h.words = append(h.words, hashBytes(b))
		}
	default:
		h.words = words(h.words, v, phys)
	}
}

// partitions are files among which rows are spread by hash bits.
type partitions struct {
	held  *account
	kinds []vector.Kind
	level int // how often the rows were spread before
	bits  int
	files []*rowFile // nil: no row yet
	sels  [][]int32
	spill.Scratch
}

// maxLevel is the last level whose hash bits are fresh.
const maxLevel = 8

// newPartitions makes partitions of level; the account pays for their buffers.
func newPartitions(a *account, kinds []vector.Kind, level int) *partitions {
	p := &partitions{held: a, kinds: kinds, level: level, bits: 4}
	if a.share >= 1<<20 {
		p.bits = 6
	}
	p.files, p.sels = make([]*rowFile, 1<<p.bits), make([][]int32, 1<<p.bits)
	return p
}

// block is how many bytes a partition collects before it writes.
func (p *partitions) block() int64 {
	return min(64<<10, max(4<<10, p.held.share>>(p.bits+1)))
}

// size is the memory of the buffers.
func (p *partitions) size() int64 {
	if p == nil {
		return 0
	}
	return p.block() * int64(len(p.files)+4)
}

// add spreads rows sel of cols (nil: all n) by their hashes.
func (p *partitions) add(cols []*vector.Vector, n int, sel []int32, hashes []uint64) error {
	for i := range p.sels {
		p.sels[i] = p.sels[i][:0]
	}
	shift, mask := p.bits*min(p.level, maxLevel), uint64(len(p.files)-1)
	if sel == nil {
		for i, h := range hashes[:n] {
			at := h >> shift & mask
			p.sels[at] = append(p.sels[at], int32(i))
		}
	} else {
		for _, i := range sel {
			at := hashes[i] >> shift & mask
			p.sels[at] = append(p.sels[at], i)
		}
	}
	for at, rows := range p.sels {
		if len(rows) == 0 {
			continue
		}
		if p.files[at] == nil {
			var err error
			if p.files[at], err = newRowFile(p.held, p.kinds, p.block()); err != nil {
				return err
			}
		}
		if err := p.files[at].add(p.held, &p.Scratch, cols, n, rows); err != nil {
			return err
		}
	}
	return nil
}

// finish writes what is left and returns the files, nil where a partition is empty.
func (p *partitions) finish() ([]*spill.File, error) {
	out := make([]*spill.File, len(p.files))
	for i, f := range p.files {
		if f == nil {
			continue
		}
		if err := f.flush(p.held, &p.Scratch); err != nil {
			return nil, err
		}
		out[i] = f.file
	}
	p.files = nil
	return out, nil
}

// close removes the files.
func (p *partitions) close() error {
	if p == nil {
		return nil
	}
	var err error
	for _, f := range p.files {
		if f != nil {
			err = firstError(err, f.file.Close())
		}
	}
	p.files = nil
	return err
}

// fileRows reads the rows of a temporary file as batches.
type fileRows struct {
	file  *spill.File
	read  *spill.Reader
	batch vector.Batch
	spill.Scratch
}

func readRows(f *spill.File) *fileRows { return &fileRows{file: f, read: f.Read()} }

// next returns the next batch, nil at the end.
func (r *fileRows) next() (*vector.Batch, error) {
	ok, err := r.read.Next(&r.batch, &r.Scratch)
	if !ok || err != nil {
		return nil, err
	}
	return &r.batch, nil
}

// whole makes it one file.
func (p *partitions) whole() {
	p.bits, p.files, p.sels = 0, make([]*rowFile, 1), make([][]int32, 1)
}
