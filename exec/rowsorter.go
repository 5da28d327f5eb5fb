package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/spill"
)

// rowSorter orders rows. While they fit it keeps them in memory; else it sorts
// what it has, writes it to a file, a run, and merges the runs at the end. With
// a limit it keeps the best rows only, dropping the others whenever a batch of
// them has gathered (top-k). Equal rows keep their order.
type rowSorter struct {
	kinds   []vector.Kind // of the columns of a row, then those of the keys that are none
	width   int           // columns of a row
	specs   []sortSpec
	keyCols []int // by key: the column that holds it
	limit   int64 // -1: none
	held    *account
	ctx     context.Context

	rows  *rowStore
	keys  *sortKeys
	cols  []*vector.Vector
	bound uint64 // with a limit: rows whose first key's word is larger cannot be among the best
	full  bool   // bound is set
	sel   []int32

	runs  []*spill.File
	merge *merger
	ids   []uint32 // rows still to return
	out   vector.Batch
	spill.Scratch
}

// newRowSorter returns a sorter of rows of the given kinds. columns says by key
// which column it is, -1: none.
func newRowSorter(held *account, kinds []vector.Kind, specs []sortSpec, columns []int, limit int64) *rowSorter {
	s := &rowSorter{kinds: kinds[:len(kinds):len(kinds)], width: len(kinds), specs: specs, limit: limit, held: held}
	for i, c := range columns {
		if c < 0 {
			c = len(s.kinds)
			s.kinds = append(s.kinds, specs[i].typ.Kind())
		}
		s.keyCols = append(s.keyCols, c)
	}
	return s
}

// start makes the sorter empty.
func (s *rowSorter) start(ctx context.Context) {
	s.ctx, s.full, s.ids, s.merge = ctx, false, nil, nil
	s.reset()
}

func (s *rowSorter) reset() {
	s.rows, s.keys = newRowStore(s.kinds), newSortKeys(s.specs)
}

func (s *rowSorter) size() int64 {
	if s.rows == nil {
		return 0
	}
	return s.rows.size() + s.keys.size() + int64(s.rows.n)*sortBytes
}

// sortBytes is what ordering takes per row: two items and an id.
const sortBytes = 36

// slack is how many rows beyond the limit gather before the worst are dropped.
const slack = 4 * vector.BatchSize

// add takes n rows and their keys. The caller accounts for the memory.
func (s *rowSorter) add(cols, keys []*vector.Vector, n int) error {
	var sel []int32
	if s.full {
		if sel = s.candidates(keys[0], n); len(sel) == 0 {
			return nil
		}
	}
	s.keys.add(keys, n, sel)
	s.cols = append(s.cols[:0], cols[:s.width]...)
	for i, c := range s.keyCols {
		if c == len(s.cols) {
			s.cols = append(s.cols, keys[i])
		}
	}
	s.rows.add(s.cols, n, sel)
	if s.limit >= 0 && int64(s.rows.n) >= 2*s.limit+slack {
		return s.prune(int(s.limit))
	}
	return nil
}

// candidates returns the rows that may be among the best.
func (s *rowSorter) candidates(v *vector.Vector, n int) []int32 {
	s.sel = s.sel[:0]
	spec := s.specs[0]
	for i := range n {
		var w uint64
		switch {
		case v.IsNull(i):
			if !spec.nullsFirst {
				w = ^uint64(0)
			}
		case spec.desc:
			w = ^orderWord(spec.typ, v, i)
		default:
			w = orderWord(spec.typ, v, i)
		}
		if w <= s.bound {
			s.sel = append(s.sel, int32(i))
		}
	}
	return s.sel
}

// prune keeps the first limit rows.
func (s *rowSorter) prune(limit int) error {
	ids, err := s.keys.order(s.ctx, s.rows.n)
	if err != nil {
		return err
	}
	ids = ids[:limit]
	rows, keys := s.rows, s.keys
	s.reset()
	if limit == 0 {
		return nil
	}
	if len(keys.cols) > 0 {
		s.full, s.bound = true, keys.cols[0].words[ids[limit-1]]
	}
	for lo := 0; lo < len(ids); lo += chunkRows {
		part := ids[lo:min(len(ids), lo+chunkRows)]
		cols := make([]*vector.Vector, len(rows.kinds))
		for i := range cols {
			cols[i] = vector.New(rows.kinds[i], 0)
			rows.gather(cols[i], i, part)
		}
		s.rows.add(cols, len(part), nil)
	}
	for i := range s.keys.cols {
		s.keys.cols[i].copyFrom(&keys.cols[i], ids)
	}
	return nil
}

// account sets what the sorter holds, writing a run where that is too much.
func (s *rowSorter) account() error {
	size := s.size()
	if s.held.pressed(size) {
		s.held.force(size)
		return s.spill()
	}
	err := s.held.set(size)
	if err != nil && s.held.spills() && s.rows.n > 0 {
		s.held.force(size)
		return s.spill()
	}
	return err
}

// spill writes the rows in memory as a run.
func (s *rowSorter) spill() error {
	ids, err := s.keys.order(s.ctx, s.rows.n)
	if err != nil {
		return err
	}
	if s.limit >= 0 && int64(len(ids)) > s.limit {
		ids = ids[:s.limit]
	}
	f, err := s.held.space.Create()
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	step := blockRows(s.rows, s.block())
	shape(&s.out, len(s.kinds))
	for len(ids) > 0 {
		if err := canceled(s.ctx); err != nil {
			return err
		}
		n := min(len(ids), step)
		for i := range s.kinds {
			s.rows.gather(s.out.Cols[i], i, ids[:n])
		}
		s.out.N = n
		if err := f.Write(&s.out, &s.Scratch); err != nil {
			return err
		}
		ids = ids[n:]
	}
	s.held.spilled(f.Size(), 1)
	s.reset()
	return s.held.set(0)
}

// block is the size of a batch of a run.
func (s *rowSorter) block() int64 { return min(64<<10, max(4<<10, s.held.share/64)) }

// blockRows returns how many rows of s make about size bytes.
func blockRows(s *rowStore, size int64) int {
	row := max(1, s.size()/int64(max(1, s.n)))
	return int(min(vector.BatchSize, max(1, size/row)))
}

// fanIn is how many runs are merged at once: each holds a batch, its keys and
// what it was read from.
const fanIn = 20

// finish ends the input.
func (s *rowSorter) finish() error {
	if len(s.runs) == 0 {
		ids, err := s.keys.order(s.ctx, s.rows.n)
		if err != nil {
			return err
		}
		if s.limit >= 0 && int64(len(ids)) > s.limit {
			ids = ids[:s.limit]
		}
		s.ids = ids
		return nil
	}
	if s.rows.n > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.held.force(s.block() * 3 * fanIn)
	for len(s.runs) > fanIn {
		if err := s.mergeRuns(); err != nil {
			return err
		}
	}
	s.merge = newMerger(s, s.runs)
	return nil
}

// mergeRuns makes one run of every fanIn.
func (s *rowSorter) mergeRuns() error {
	var longer []*spill.File
	for len(s.runs) > 0 {
		part := s.runs[:min(fanIn, len(s.runs))]
		if len(part) == 1 {
			longer = append(longer, part...)
			s.runs = nil
			break
		}
		f, err := s.held.space.Create()
		if err != nil {
			return err
		}
		m := newMerger(s, part)
		for {
			b, err := m.next()
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			if err := f.Write(b, &s.Scratch); err != nil {
				return err
			}
			if s.limit >= 0 && f.Rows() >= s.limit {
				break
			}
		}
		s.held.spilled(f.Size(), 1)
		for _, r := range part {
			if err := r.Close(); err != nil {
				return err
			}
		}
		longer = append(longer, f)
		s.runs = s.runs[len(part):]
	}
	s.runs = longer
	return nil
}

// next returns the next rows in order, nil at the end.
func (s *rowSorter) next() (*vector.Batch, error) {
	if s.merge != nil {
		return s.nextMerged()
	}
	if len(s.ids) == 0 {
		return nil, nil
	}
	n := min(len(s.ids), vector.BatchSize)
	shape(&s.out, s.width)
	for i := range s.width {
		s.rows.gather(s.out.Cols[i], i, s.ids[:n])
	}
	s.out.N = n
	s.ids = s.ids[n:]
	return &s.out, nil
}

func (s *rowSorter) nextMerged() (*vector.Batch, error) {
	left := s.limit - s.merge.returned
	if s.limit >= 0 && left <= 0 {
		return nil, nil
	}
	b, err := s.merge.next()
	if b == nil || err != nil {
		return nil, err
	}
	s.out.Cols, s.out.N, s.out.Sel = append(s.out.Cols[:0], b.Cols[:s.width]...), b.N, nil
	if s.limit >= 0 && int64(b.N) > left {
		for _, c := range s.out.Cols {
			c.N = int(left)
		}
		s.out.N = int(left)
	}
	return &s.out, nil
}

// close drops rows and files.
func (s *rowSorter) close() error {
	s.rows, s.keys, s.ids, s.merge = nil, nil, nil, nil
	s.out.Cols = nil
	var err error
	for _, f := range s.runs {
		err = firstError(err, f.Close())
	}
	s.runs = nil
	s.held.release()
	return err
}

// copyFrom makes c hold rows ids of from.
func (c *keyColumn) copyFrom(from *keyColumn, ids []uint32) {
	for _, id := range ids {
		c.words = append(c.words, from.words[id])
		if from.nulls != nil {
			c.nulls = append(c.nulls, from.nulls[id])
		}
	}
	if from.rows == nil {
		return
	}
	v := vector.New(from.rows.kinds[0], 0)
	for lo := 0; lo < len(ids); lo += chunkRows {
		part := ids[lo:min(len(ids), lo+chunkRows)]
		from.rows.gather(v, 0, part)
		c.rows.add([]*vector.Vector{v}, len(part), nil)
	}
}
