package colstore

import (
	"bytes"
	"container/heap"

	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/vector"
)

// merge writes the rows of segments of nested buckets, each sorted, as
// consecutive segments in key order. On an error the files are removed.
func (b *builder) merge() error {
	err := b.s.writable()
	if err == nil {
		err = b.mergeAll()
	}
	b.gather.close()
	if err != nil {
		b.abandon()
	}
	return err
}

func (b *builder) mergeAll() error {
	m := &merger{b: b}
	defer m.close()
	total := 0
	for i := range b.in {
		in := &b.in[i]
		total += int(in.seg.info.Rows)
		if in.dead != nil {
			total -= int(in.dead.GetCardinality())
		}
		m.heap = append(m.heap, &mergeCursor{m: m, in: in, number: i, block: -1})
	}
	heap.Init(&m.heap)
	m.most = evenly(total, b.s.segRows)
	for i := range b.in { // nested ones end in the widest
		if g := b.in[i].seg; i == 0 || g.info.BucketWidth > m.width {
			m.bucket, m.width = g.id.Bucket, g.info.BucketWidth
		}
	}
	b.setTail(m.bucket)
	m.measureText()
	for len(m.heap) > 0 {
		if err := m.take(); err != nil {
			return err
		}
	}
	return m.flush()
}

// merger merges sorted segments. The heap holds segments that are not open yet,
// ordered by their first row key, and open ones, ordered by their next row.
type merger struct {
	b      *builder
	heap   mergeHeap
	bucket keys.Bucket
	width  int64
	most   int
	rows   []rowRef
	long   bool // texts may be long: their sizes are measured
	text   float64
	texts  vector.Vector
}

// mergeCursor walks over the live rows of one segment.
type mergeCursor struct {
	m      *merger
	in     *input
	number int
	reader segReader
	cols   []*vector.Vector // the sort columns of the block
	block  int              // -1: not open
	rows   []uint16         // live rows of the block
	keys   segment.Strings  // their sort keys
	at     int
	text   float64 // average bytes of the texts of a row of the block
}

// key returns a bound for the next row's sort key: the key itself once open.
func (c *mergeCursor) key() []byte {
	if c.block < 0 {
		if c.in.seg.info.HasKeys {
			return c.in.seg.info.FirstKeys.At(0)
		}
		return nil
	}
	return c.keys.At(c.at)
}

func (c *mergeCursor) less(o *mergeCursor) bool {
	if x := bytes.Compare(c.key(), o.key()); x != 0 {
		return x < 0
	}
	return c.number < o.number
}

type mergeHeap []*mergeCursor

func (c mergeHeap) Len() int           { return len(c) }
func (c mergeHeap) Less(i, j int) bool { return c[i].less(c[j]) }
func (c mergeHeap) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *mergeHeap) Push(x any)        { *c = append(*c, x.(*mergeCursor)) }
func (c *mergeHeap) Pop() any {
	old := *c
	x := old[len(old)-1]
	*c = old[:len(old)-1]
	return x
}

// take moves rows of the first cursor to the output for as long as it stays
// the first.
func (m *merger) take() error {
	c := m.heap[0]
	if c.block < 0 {
		return m.advance(c)
	}
	var next *mergeCursor
	for _, o := range m.heap[1:min(3, len(m.heap))] {
		if next == nil || o.less(next) {
			next = o
		}
	}
	for c.at < len(c.rows) && (next == nil || c.less(next)) {
		m.rows = append(m.rows, segmentRef(c.number, c.block, int(c.rows[c.at])))
		if len(sortParts(m.b.schema)) > 0 {
			m.b.keys.Append(c.keys.At(c.at))
		}
		c.at++
		m.text += c.text
		if len(m.rows) >= m.most || m.text > float64(m.b.text) {
			if err := m.flush(); err != nil {
				return err
			}
		}
	}
	if c.at < len(c.rows) {
		heap.Fix(&m.heap, 0)
		return nil
	}
	return m.advance(c)
}

// advance moves the first cursor to its next live row's block.
func (m *merger) advance(c *mergeCursor) error {
	more, err := c.next()
	if err != nil {
		return err
	}
	if more {
		heap.Fix(&m.heap, 0)
		return nil
	}
	c.reader.close()
	heap.Pop(&m.heap)
	return nil
}

// flush writes the rows collected so far as a segment.
func (m *merger) flush() error {
	if len(m.rows) == 0 {
		return nil
	}
	err := m.b.segment(m.bucket, m.width, m.rows, 0)
	m.rows, m.text = m.rows[:0], 0
	m.b.keys.Reset()
	return err
}

func (m *merger) close() {
	for _, c := range m.heap {
		if c.block >= 0 {
			c.reader.close()
		}
	}
}

// next loads the next block that has live rows; false at the end.
func (c *mergeCursor) next() (bool, error) {
	b := c.m.b
	if c.block < 0 {
		c.reader.init(b.s, c.in.seg, b.schema)
		c.cols = make([]*vector.Vector, len(b.schema.Columns))
		for _, p := range sortParts(b.schema) {
			c.cols[p.Column] = &vector.Vector{}
		}
	}
	for c.block++; c.block < len(c.in.seg.info.BlockRows); c.block++ {
		if err := b.stop(); err != nil {
			return false, err
		}
		if err := c.load(); err != nil {
			return false, err
		}
		if len(c.rows) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// load finds the live rows of the current block and their keys.
func (c *mergeCursor) load() error {
	b := c.m.b
	parts := sortParts(b.schema)
	for _, p := range parts {
		if err := c.reader.decode(p.Column, []int{c.block}, c.cols[p.Column]); err != nil {
			return err
		}
	}
	c.keys.Reset()
	c.rows, c.at, c.text = c.rows[:0], 0, 0
	first := int(c.in.seg.firstRow(c.block))
	for i := range int(c.in.seg.info.BlockRows[c.block]) + 1 {
		if c.in.isDead(first + i) {
			continue
		}
		if b.live != noExpiry {
			if t, null := timeOf(b.schema, c.cols[b.schema.Time], i); !null && b.isExpired(t) {
				continue
			}
		}
		c.rows = append(c.rows, uint16(i))
		c.keys.Data = appendRowKey(c.keys.Data, parts, c.cols, i)
		c.keys.Ends = append(c.keys.Ends, uint32(len(c.keys.Data)))
	}
	if c.m.long {
		return c.measure()
	}
	return nil
}

// measure finds how long the texts of the block are.
func (c *mergeCursor) measure() error {
	size := int64(0)
	for i, sc := range c.m.b.schema.Columns {
		if sc.Kind != vector.Bytes {
			continue
		}
		if err := c.reader.decode(i, []int{c.block}, &c.m.texts); err != nil {
			return err
		}
		size += textSize(&c.m.texts)
	}
	c.text = float64(size) / float64(int(c.in.seg.info.BlockRows[c.block])+1)
	return nil
}

// textSize returns the length of all texts of a vector.
func textSize(v *vector.Vector) int64 {
	if v.Dict == nil {
		return int64(v.Offsets[v.N] - v.Offsets[0])
	}
	size := int64(0)
	for _, code := range v.I32[:v.N] {
		size += int64(v.Dict.Offsets[code+1] - v.Dict.Offsets[code])
	}
	return size
}

// measureText decides whether the output could hold too much text. What a
// segment of one part encodes may be a small part of what it decodes to.
func (m *merger) measureText() {
	text := int64(0)
	for _, c := range m.b.schema.Columns {
		if c.Kind != vector.Bytes {
			continue
		}
		most := int64(0)
		for i := range m.b.in {
			g := m.b.in[i].seg
			most = max(most, g.textBytes(uint32(c.ID)))
			m.long = m.long || len(g.info.PartBlocks) == 1
		}
		text += most
	}
	m.long = m.long || text*8*int64(m.most) > m.b.text
}

// firstRow returns the number of a block's first row.
func (g *seg) firstRow(block int) uint32 { return g.starts[block] }
