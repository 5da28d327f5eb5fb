package colstore

import (
	"bytes"
	"container/heap"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"tsdb/colstore/encoding"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// canOrder reports whether the order that a request names is the order of runs
// (segments, blocks): then merging them delivers it.
func (sc *scan) canOrder() bool {
	s := sc.schema
	if sc.req.Order == table.KeyOrder {
		return len(s.Key) > 0
	}
	if s.Time < 0 || s.Columns[s.Time].Codec == rowkey.CodecNone {
		return false
	}
	return len(s.Key) == 0 || s.Key[0].Column == s.Time
}

// orderedScan merges the runs of a scan. It has one worker.
type orderedScan struct {
	*scan
	handed atomic.Bool
}

// NewReader returns the worker, then readers without rows.
func (sc *orderedScan) NewReader() table.Reader {
	m := &mergeReader{sc: sc.scan, out: vector.Batch{}}
	if sc.handed.Swap(true) {
		return m
	}
	m.stats.Add(sc.skipped)
	m.addCursors()
	heap.Init(m)
	return m
}

// Morsels is 1: runs are merged by one worker.
func (sc *orderedScan) Morsels() int { return 1 }

// cursor walks one run in the scan's order, a block of at most
// encoding.MaxRows rows at a time. Before it is loaded it stands on a bound
// that no row of the run precedes, so that a run is read only when its turn
// comes.
type cursor struct {
	m      *mergeReader
	number int // of the container in row ids
	seg    *seg
	gone   *deletes // of seg
	blocks []int    // still to load, in reading order
	mem    *block
	at     int // rows of mem loaded

	reader segReader
	cols   []vector.Vector // requested columns, then key columns that were not
	turned []vector.Vector // the same, reversed
	view   []*vector.Vector
	keyed  []*vector.Vector // view by column of the schema, for key columns
	n, pos int
	sel    []int32 // rows of the block that are shown, in the scan's order
	mask   mask
	ids    vector.Vector
	head   []byte // key at pos, or the bound
	loaded bool
	buf    []byte
}

// addCursors makes one cursor per segment and block in memory.
func (m *mergeReader) addCursors() {
	sc := m.sc
	m.parts = orderParts(sc.schema)
	m.columns = append(m.columns, sc.req.Columns...)
	for _, p := range m.parts {
		if !sc.requests(p.Column) {
			m.columns = append(m.columns, p.Column)
		}
	}
	var last *cursor
	for i := range sc.morsels {
		x := &sc.morsels[i]
		if x.mem == nil && last != nil && last.seg == x.seg {
			last.blocks = append(last.blocks, x.blocks...)
			continue
		}
		last = &cursor{m: m, number: x.at, seg: x.seg, gone: x.gone, mem: x.mem, blocks: append([]int(nil), x.blocks...)}
		m.cursors = append(m.cursors, last)
	}
	for _, c := range m.cursors {
		if sc.req.Reverse {
			for i, j := 0, len(c.blocks)-1; i < j; i, j = i+1, j-1 {
				c.blocks[i], c.blocks[j] = c.blocks[j], c.blocks[i]
			}
		}
		c.bound()
	}
}

// bound sets head to a key that no row of the run precedes.
func (c *cursor) bound() {
	reverse := c.m.sc.req.Reverse
	if c.mem != nil {
		k := &c.mem.sorted().keys
		c.head = k.At(0)
		if reverse {
			c.head = k.At(k.Len() - 1)
		}
		return
	}
	info, b := c.seg.info, c.blocks[0]
	switch {
	case !info.HasKeys:
		c.head = c.m.timeKey(info.BlockTimes[b], reverse)
	case !reverse:
		c.head = info.FirstKeys.At(b)
	case b+1 < info.FirstKeys.Len():
		c.head = info.FirstKeys.At(b + 1)
	default:
		c.head = info.LastKey
	}
}

// timeKey returns the key of a bound of times; of NULL if there are none.
func (m *mergeReader) timeKey(r table.Range, upper bool) []byte {
	if r.Lo > r.Hi {
		return nullPart
	}
	t := r.Lo
	if upper {
		t = r.Hi
	}
	s := m.sc.schema
	v := vector.New(s.Columns[s.Time].Kind, 1)
	if s.TimeUnit == table.Days {
		v.AppendInt32(boundDay(t, upper))
	} else {
		v.AppendInt64(t)
	}
	return rowkey.AppendKey(nil, m.parts[0].Codec, v, 0)
}

// boundDay returns a day whose time in microseconds was t. Clamped times stand
// for many days: the outermost bounds them all.
func boundDay(t int64, upper bool) int32 {
	switch {
	case t == math.MaxInt64, t == math.MaxInt64-1 && upper:
		return math.MaxInt32
	case t == math.MinInt64, t == math.MinInt64+1 && !upper:
		return math.MinInt32
	}
	return int32(t / microsPerDay)
}

// key returns the key of the loaded row i.
func (c *cursor) key(i int) []byte {
	if c.mem != nil {
		return c.mem.sorted().keys.At(int(c.sel[i]))
	}
	c.buf = appendRowKey(c.buf[:0], c.m.parts, c.keyed, i)
	return c.buf
}

// load reads the next block of the run; false at its end.
func (c *cursor) load() (bool, error) {
	c.n, c.pos, c.loaded = 0, 0, true
	for c.n == 0 {
		if c.mem != nil {
			if c.at >= c.mem.n {
				return false, nil
			}
			c.loadMemory()
		} else {
			if len(c.blocks) == 0 {
				c.reader.close()
				return false, nil
			}
			if err := c.loadBlock(); err != nil {
				return false, err
			}
		}
	}
	c.head = append([]byte(nil), c.key(0)...)
	return true, nil
}

func (c *cursor) prepare() {
	if c.cols != nil {
		return
	}
	n := len(c.m.columns)
	c.cols, c.turned, c.view = make([]vector.Vector, n), make([]vector.Vector, n), make([]*vector.Vector, n)
	c.keyed = make([]*vector.Vector, len(c.m.sc.schema.Columns))
	if c.seg != nil {
		c.reader.init(c.m.sc.s, c.seg, c.m.sc.schema)
		c.m.stats.SegmentsRead++
	}
}

// loadMemory loads the next rows of a block in memory, in the order of its keys.
func (c *cursor) loadMemory() {
	c.prepare()
	sc, b := c.m.sc, c.mem
	perm := b.sorted().perm
	n := min(encoding.MaxRows, b.n-c.at)
	c.sel = c.sel[:0] // positions in the order
	rows := make([]int32, 0, n)
	limited := sc.schema.Time >= 0 && sc.expires(table.Range{Lo: b.lo, Hi: b.hi}) > 0
	for i := c.at; i < c.at+n; i++ {
		p := i
		if sc.req.Reverse {
			p = len(perm) - 1 - i
		}
		row := perm[p]
		if b.gone.contains(int(row)) || limited && sc.hides(b.cols[sc.schema.Time], int(row)) {
			continue
		}
		c.sel, rows = append(c.sel, int32(p)), append(rows, row)
	}
	c.at += n
	c.m.stats.BlocksRead++
	if c.n = len(rows); c.n == 0 {
		return
	}
	for i, col := range c.m.columns {
		b.cols[col].GatherInto(&c.cols[i], rows)
		c.view[i] = &c.cols[i]
	}
	if sc.req.RowIDs {
		c.ids.Reset(vector.Int64)
		for _, row := range rows {
			c.ids.AppendInt64(rowID(c.number, int(row)))
		}
	}
}

func (c *cursor) loadBlock() error {
	c.prepare()
	b := c.blocks[0]
	c.blocks = c.blocks[1:]
	ok, err := c.wanted(b)
	if err != nil || !ok {
		return err
	}
	sc := c.m.sc
	n := int(c.seg.info.BlockRows[b]) + 1
	sel, all, err := c.mask.segment(sc, &c.reader, c.gone, []int{b})
	if err != nil || !all && len(sel) == 0 {
		return err
	}
	if all && sc.req.Reverse {
		sel = sel[:0]
		for i := 0; i < n; i++ {
			sel = append(sel, int32(i))
		}
	}
	if sc.req.Reverse {
		slices.Reverse(sel)
	}
	gather := !all || sc.req.Reverse
	before := c.reader.bytes
	for i, col := range c.m.columns {
		if err := c.reader.decode(col, []int{b}, &c.cols[i]); err != nil {
			return err
		}
		c.view[i] = &c.cols[i]
		if gather {
			c.cols[i].GatherInto(&c.turned[i], sel)
			c.view[i] = &c.turned[i]
		}
		c.keyed[col] = c.view[i]
	}
	if c.n = n; gather {
		c.n = len(sel)
	}
	if sc.req.RowIDs {
		c.ids.Reset(vector.Int64)
		for i := 0; i < c.n; i++ {
			row := i
			if gather {
				row = int(sel[i])
			}
			c.ids.AppendInt64(rowID(c.number, int(c.seg.starts[b])+row))
		}
	}
	c.m.stats.BlocksRead++
	c.m.stats.BytesRead += c.reader.bytes - before
	return nil
}

func (c *cursor) wanted(b int) (bool, error) {
	ok, err := c.reader.wanted(c.m.sc, b)
	if err == nil && !ok {
		c.m.stats.BlocksSkipped++
	}
	return ok, err
}

// mergeReader is the worker of an ordered scan: a heap of cursors.
type mergeReader struct {
	sc      *scan
	parts   []rowkey.Part
	columns []int // requested, then further key columns
	cursors []*cursor
	out     vector.Batch
	stats   table.ScanStats
	shown   *cursor // its block is the last batch
}

// Len, Less, Swap, Push and Pop make the reader a heap of its cursors.
func (m *mergeReader) Len() int { return len(m.cursors) }

// Less orders cursors by their heads.
func (m *mergeReader) Less(i, j int) bool { return m.before(m.cursors[i].head, m.cursors[j].head) < 0 }

// Swap swaps two cursors.
func (m *mergeReader) Swap(i, j int) { m.cursors[i], m.cursors[j] = m.cursors[j], m.cursors[i] }

// Push adds a cursor.
func (m *mergeReader) Push(x any) { m.cursors = append(m.cursors, x.(*cursor)) }

// Pop removes the last cursor.
func (m *mergeReader) Pop() any {
	c := m.cursors[len(m.cursors)-1]
	m.cursors = m.cursors[:len(m.cursors)-1]
	return c
}

// before compares keys in the scan's direction.
func (m *mergeReader) before(a, b []byte) int {
	if m.sc.req.Reverse {
		return bytes.Compare(b, a)
	}
	return bytes.Compare(a, b)
}

// Next returns the next batch, nil at the end.
func (m *mergeReader) Next() (*vector.Batch, error) {
	m.reset()
	for len(m.cursors) > 0 {
		c := m.cursors[0]
		if !c.loaded || c.pos >= c.n {
			if m.out.N > 0 && c == m.shown {
				break // loading would overwrite what the batch shows
			}
			if err := m.reload(c); err != nil {
				return nil, err
			}
			continue
		}
		run := m.run(c)
		if run == c.n && c.pos == 0 {
			if m.out.N > 0 {
				break
			}
			m.show(c)
			break
		}
		m.copy(c, run)
		c.pos = run
		if c.pos < c.n {
			c.head = append(c.head[:0:0], c.key(c.pos)...)
			heap.Fix(m, 0)
		}
		if m.out.N >= vector.BatchSize {
			break
		}
	}
	if m.out.N == 0 {
		return nil, nil
	}
	m.stats.Rows += int64(m.out.N)
	return &m.out, nil
}

func (m *mergeReader) reset() {
	m.shown = nil
	m.out.N = 0
	m.out.Cols = m.out.Cols[:0]
}

func (m *mergeReader) reload(c *cursor) error {
	ok, err := c.load()
	if err != nil {
		return err
	}
	if !ok {
		heap.Pop(m)
		return nil
	}
	heap.Fix(m, 0)
	return nil
}

// run returns the end of the rows from pos on that come before every other
// cursor's head.
func (m *mergeReader) run(c *cursor) int {
	if len(m.cursors) == 1 {
		return c.n
	}
	other := m.cursors[1].head
	if len(m.cursors) > 2 && m.before(m.cursors[2].head, other) < 0 {
		other = m.cursors[2].head
	}
	n := sort.Search(c.n-c.pos-1, func(i int) bool { return m.before(c.key(c.pos+1+i), other) > 0 })
	return c.pos + 1 + n
}

// show returns a whole block of a cursor without copying it.
func (m *mergeReader) show(c *cursor) {
	for i := range m.sc.req.Columns {
		m.out.Cols = append(m.out.Cols, c.view[i])
	}
	if m.sc.req.RowIDs {
		m.out.Cols = append(m.out.Cols, &c.ids)
	}
	m.out.N = c.n
	m.shown = c
	c.pos = c.n
}

// copy appends rows pos to end of a cursor to the batch.
func (m *mergeReader) copy(c *cursor, end int) {
	if m.out.N == 0 {
		for _, col := range m.sc.req.Columns {
			m.out.Cols = append(m.out.Cols, vector.New(m.sc.schema.Columns[col].Kind, vector.BatchSize))
		}
		if m.sc.req.RowIDs {
			m.out.Cols = append(m.out.Cols, vector.New(vector.Int64, vector.BatchSize))
		}
	}
	for i := range m.sc.req.Columns {
		copyRows(m.out.Cols[i], c.view[i], nil, c.pos, end)
	}
	if m.sc.req.RowIDs {
		copyRows(m.out.Cols[len(m.sc.req.Columns)], &c.ids, nil, c.pos, end)
	}
	m.out.N += end - c.pos
}

// Stats returns the counts so far.
func (m *mergeReader) Stats() table.ScanStats { return m.stats }

// Close releases what the cursors hold.
func (m *mergeReader) Close() {
	for _, c := range m.cursors {
		c.reader.close()
	}
	m.cursors = nil
}
