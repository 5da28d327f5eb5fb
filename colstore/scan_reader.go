package colstore

import (
	"sync"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// reader is one worker of an unordered scan.
type reader struct {
	sc    *scan
	seg   segReader
	cur   *morsel
	left  []int // blocks of the segment morsel still to return
	from  int   // next row of the memory morsel
	batch vector.Batch
	cols  []vector.Vector // decoded rows
	views []vector.Vector // slices of a block in memory, which decoding must not write to
	ids   vector.Vector   // row ids
	mask  mask
	stats table.ScanStats
	group []int
}

// readers keeps closed readers for their buffers: a short scan would spend most
// of its time in getting new ones.
var readers = sync.Pool{New: func() any { return &reader{} }}

func newReader(sc *scan) *reader {
	r := readers.Get().(*reader)
	n := len(sc.req.Columns)
	r.sc, r.cur, r.left, r.stats = sc, nil, nil, table.ScanStats{}
	if cap(r.cols) < n {
		r.cols = append(r.cols[:cap(r.cols)], make([]vector.Vector, n-cap(r.cols))...)
	}
	r.cols = r.cols[:n]
	r.views = append(r.views[:0], make([]vector.Vector, n)...)
	r.batch.Cols = append(r.batch.Cols[:0], make([]*vector.Vector, n)...)
	if sc.req.RowIDs {
		r.batch.Cols = append(r.batch.Cols, &r.ids)
	}
	return r
}

// Next returns the next batch, nil at the end.
func (r *reader) Next() (*vector.Batch, error) {
	for {
		if r.cur == nil && !r.take() {
			return nil, nil
		}
		if r.cur.mem != nil {
			if b := r.nextMemory(); b != nil {
				return b, nil
			}
			continue
		}
		if len(r.left) == 0 {
			r.seg.close()
			r.cur = nil
			continue
		}
		if b, err := r.nextSegment(); b != nil || err != nil {
			return b, err
		}
	}
}

// take claims the next morsel.
func (r *reader) take() bool {
	i := r.sc.next.Add(1) - 1
	if i == 0 {
		r.stats.Add(r.sc.skipped)
	}
	if i >= int64(len(r.sc.morsels)) {
		return false
	}
	r.cur = &r.sc.morsels[i]
	if r.cur.mem != nil {
		r.from = 0
		r.stats.BlocksRead += int64(r.cur.mem.n+1023) / 1024
		r.stats.BytesRead += r.cur.mem.size
		return true
	}
	if r.cur.first {
		r.stats.SegmentsRead++
	}
	r.seg.init(r.sc.s, r.cur.seg, r.sc.schema)
	r.left = r.cur.blocks
	return true
}

// nextMemory shows the next rows of a block in memory.
func (r *reader) nextMemory() *vector.Batch {
	b := r.cur.mem
	if r.cur.picked {
		return r.nextPicked()
	}
	if r.from >= b.n {
		r.cur = nil
		return nil
	}
	to := min(b.n, r.from+vector.BatchSize)
	sel, all := r.mask.memory(r.sc, b, r.from, to)
	if !all && len(sel) == 0 {
		r.from = to
		return nil
	}
	r.batch.Sel = nil
	if !all {
		r.batch.Sel = sel
	}
	for i, c := range r.sc.req.Columns {
		r.views[i] = sliceVector(b.cols[c], r.from, to)
		r.batch.Cols[i] = &r.views[i]
	}
	r.batch.N = to - r.from
	if r.sc.req.RowIDs {
		r.ids.Reset(vector.Int64)
		for row := r.from; row < to; row++ {
			r.ids.AppendInt64(rowID(r.cur.at, row))
		}
	}
	r.stats.Rows += int64(r.batch.Rows())
	r.from = to
	return &r.batch
}

// nextPicked shows the rows of a block in memory that keys picked.
func (r *reader) nextPicked() *vector.Batch {
	b, rows := r.cur.mem, r.cur.rows
	n := min(len(rows), vector.BatchSize)
	if n == 0 {
		r.cur = nil
		return nil
	}
	r.cur.rows = rows[n:]
	rows = rows[:n]
	for i, c := range r.sc.req.Columns {
		b.cols[c].GatherInto(&r.cols[i], rows)
		r.batch.Cols[i] = &r.cols[i]
	}
	r.batch.N, r.batch.Sel = n, nil
	if r.sc.req.RowIDs {
		r.ids.Reset(vector.Int64)
		for _, row := range rows {
			r.ids.AppendInt64(rowID(r.cur.at, int(row)))
		}
	}
	r.stats.Rows += int64(n)
	return &r.batch
}

// nextSegment decodes up to a batch of rows from the kept blocks; nil if zone
// maps exclude all that it looked at.
func (r *reader) nextSegment() (*vector.Batch, error) {
	r.group = r.group[:0]
	n := 0
	for len(r.left) > 0 && n < vector.BatchSize {
		b := r.left[0]
		rows := int(r.cur.seg.info.BlockRows[b]) + 1
		if n > 0 && n+rows > vector.BatchSize {
			break
		}
		r.left = r.left[1:]
		ok, err := r.seg.wanted(r.sc, b)
		if err != nil {
			return nil, err
		}
		if !ok {
			r.stats.BlocksSkipped++
			continue
		}
		r.group = append(r.group, b)
		n += rows
	}
	if n == 0 {
		return nil, nil
	}
	before := r.seg.bytes
	sel, all, err := r.mask.segment(r.sc, &r.seg, r.cur.gone, r.group)
	if err != nil {
		return nil, err
	}
	if !all && len(sel) == 0 {
		return nil, nil
	}
	r.batch.Sel = nil
	if !all {
		r.batch.Sel = sel
	}
	for i, c := range r.sc.req.Columns {
		if err := r.seg.decode(c, r.group, &r.cols[i]); err != nil {
			return nil, err
		}
		r.batch.Cols[i] = &r.cols[i]
	}
	r.batch.N = n
	if r.sc.req.RowIDs {
		r.ids.Reset(vector.Int64)
		for _, b := range r.group {
			start := int(r.cur.seg.starts[b])
			for row := 0; row <= int(r.cur.seg.info.BlockRows[b]); row++ {
				r.ids.AppendInt64(rowID(r.cur.at, start+row))
			}
		}
	}
	r.stats.Rows += int64(r.batch.Rows())
	r.stats.BlocksRead += int64(len(r.group))
	r.stats.BytesRead += r.seg.bytes - before
	return &r.batch, nil
}

// wanted judges a block by the zone maps of the requested columns: those of
// others would have to be read for it.
func (r *segReader) wanted(sc *scan, b int) (bool, error) {
	for _, f := range sc.filters {
		if !sc.requests(f.col) {
			continue
		}
		part := r.partOf(b)
		h, err := r.open(f.col, part)
		if err != nil {
			return false, err
		}
		if h == nil {
			continue
		}
		h.BlockStats(b-r.starts[part], &r.stats)
		if !r.stats.MayMatch(f.op, f.key) {
			return false, nil
		}
	}
	return true, nil
}

func (sc *scan) requests(col int) bool {
	for _, c := range sc.req.Columns {
		if c == col {
			return true
		}
	}
	return false
}

// close gives the reader and its buffers back to the pool.
func (r *reader) close() {
	r.seg.close()
	r.sc, r.cur, r.left = nil, nil, nil
	for i := range r.cols {
		r.cols[i].Dict = nil
		if cap(r.cols[i].Data) > maxPooled {
			r.cols[i] = vector.Vector{}
		}
	}
	clear(r.views)
	readers.Put(r)
}

// maxPooled bounds the text buffer that a pooled reader keeps.
const maxPooled = 1 << 20
