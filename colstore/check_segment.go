package colstore

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"

	"tsdb/colstore/encoding"
	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// segmentCheck is the state of checking one segment: the columns by which its
// rows are sorted, of the part at hand.
type segmentCheck struct {
	c      *checker
	t      *offlineTable
	g      *seg
	name   string
	parts  []rowkey.Part
	cols   []*vector.Vector // by column of the schema; nil: not needed
	needed []bool           // columns of the sort order and of unique indexes
	keys   bool             // all needed ones could be read
	row    int              // first of the part
	last   []byte
	bloom  segment.Bloom
	filter bool
}

func (c *checker) segment(t *offlineTable, g *seg) {
	c.result.Segments++
	c.result.Rows += g.info.Rows
	s := &segmentCheck{c: c, t: t, g: g, name: segmentName(g.id), parts: sortParts(t.schema), cols: make([]*vector.Vector, len(t.schema.Columns))}
	if t.schema.Time >= 0 && !g.id.Bucket.Special() && g.info.BucketWidth > 0 && g.lo <= g.hi &&
		(g.lo < g.id.Bucket.Start || g.hi-g.id.Bucket.Start >= g.info.BucketWidth) {
		c.bad(s.name, "its times from %d to %d lie outside of its bucket", g.lo, g.hi)
	}
	s.openBloom()
	s.needed = make([]bool, len(s.cols))
	for _, k := range s.parts {
		s.needed[k.Column] = true
	}
	for _, x := range t.schema.Indexes {
		for _, k := range x.Parts {
			s.needed[k.Column] = true
		}
	}
	first := 0
	for p, n := range g.info.PartBlocks {
		s.part(p, first, n)
		first += n
	}
	s.totals()
}

func (s *segmentCheck) openBloom() {
	if s.g.info.Column(keys.ColumnBloom) == nil {
		return
	}
	value, closer, err := s.c.s.db.Get(keys.AppendData(nil, s.g.id, keys.ColumnBloom, 0))
	if err == nil {
		s.bloom, err = segment.OpenBloom(bytes.Clone(value), "")
		_ = closer.Close()
	}
	s.c.result.Chunks++
	if err != nil {
		s.c.found(problem(s.c.s.chunkError(s.g, keys.ColumnBloom, 0, err)))
		return
	}
	s.filter = true
}

// part checks the chunks of one part, and the order of its rows.
func (s *segmentCheck) part(p, first, blocks int) {
	rows := 0
	for _, n := range s.g.info.BlockRows[first : first+blocks] {
		rows += int(n) + 1
	}
	for i, c := range s.t.schema.Columns {
		s.cols[i] = nil
		if s.needed[i] && s.g.info.Column(uint32(c.ID)) == nil {
			s.cols[i] = vector.New(c.Kind, rows)
			for range rows {
				appendMissing(s.cols[i], c)
			}
		}
	}
	for i := range s.g.info.Columns {
		col := &s.g.info.Columns[i]
		if col.ID == keys.ColumnBloom {
			continue
		}
		v, err := s.chunk(col, p, first, blocks, rows)
		if err != nil {
			s.c.found(problem(s.c.s.chunkError(s.g, col.ID, uint32(p), err)))
			continue
		}
		for i, c := range s.t.schema.Columns {
			if s.needed[i] && uint32(c.ID) == col.ID {
				s.cols[i] = v
			}
		}
	}
	s.keys = true
	for i, v := range s.cols {
		s.keys = s.keys && (v != nil || !s.needed[i])
	}
	if s.keys {
		s.order(first, blocks)
		s.unique(rows)
	}
	s.row += rows
}

// unique looks up the unique entries of the rows of a part that are not deleted.
func (s *segmentCheck) unique(rows int) {
	if len(s.t.schema.Indexes) == 0 {
		return
	}
	dead := s.t.dead[s.g.id.ID]
	for i := range rows {
		if dead != nil && dead.Contains(uint32(s.row+i)) {
			continue
		}
		if err := s.c.lookUp(s.t.schema, s.cols, i); err != nil {
			s.c.found(problem(err))
			return
		}
	}
}

// chunk decodes one chunk and compares it with its segment row and its own
// statistics.
func (s *segmentCheck) chunk(col *segment.Column, p, first, blocks, rows int) (*vector.Vector, error) {
	s.c.result.Chunks++
	value, closer, err := s.c.s.db.Get(keys.AppendData(nil, s.g.id, col.ID, uint32(p)))
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	var c segment.Chunk
	if err := c.Open(value, ""); err != nil {
		return nil, err
	}
	if part := col.Parts[p]; segment.Checksum(value) != part.CRC || uint32(len(value)) != part.Size || c.Kind != col.Kind ||
		c.Blocks() != blocks || c.Rows != rows {
		return nil, malformed("", errors.New("it does not match its segment row"))
	}
	v := vector.New(col.Kind, rows)
	if err := c.DecodeAll(&s.c.dec, v); err != nil {
		return nil, malformed("", err)
	}
	if v.N != rows {
		return nil, malformed("", fmt.Errorf("it holds %d rows, not %d", v.N, rows))
	}
	from := 0
	var st segment.Stats
	for b := 0; b < blocks; b++ {
		to := from + int(s.g.info.BlockRows[first+b]) + 1
		if c.BlockRows(b) != to-from {
			return nil, malformed("", fmt.Errorf("block %d holds %d rows, its segment row says %d", b, c.BlockRows(b), to-from))
		}
		c.BlockStats(b, &st)
		if why := s.c.statistics(&st, &col.Stats, v, col.Codec, from, to); why != "" {
			return nil, malformed("", fmt.Errorf("block %d: %s", b, why))
		}
		from = to
	}
	return v, nil
}

// statistics compares the statistics of a block, and the bounds of the whole
// column, with the values; it returns what is wrong.
func (c *checker) statistics(st, whole *segment.Stats, v *vector.Vector, codec rowkey.Codec, from, to int) string {
	if n := encoding.CountNulls(v, from, to); n != st.Nulls {
		return fmt.Sprintf("%d values are NULL, its statistics say %d", n, st.Nulls)
	}
	bounds, outer := st.Flags&segment.HasBounds != 0, whole.Flags&segment.HasBounds != 0
	if codec != rowkey.CodecNone && (bounds || outer) {
		for i := from; i < to; i++ {
			if v.IsNull(i) {
				continue
			}
			c.buf = rowkey.AppendKey(c.buf[:0], codec, v, i)
			if bounds && !st.MayMatch(table.EQ, c.buf) {
				return fmt.Sprintf("row %d lies outside of the bounds of its statistics", i)
			}
			if outer && !whole.MayMatch(table.EQ, c.buf) {
				return fmt.Sprintf("row %d lies outside of the bounds in the segment row", i)
			}
		}
	}
	if st.Flags&segment.SumInteger != 0 {
		if hi, lo := sumOf(v, from, to); hi != st.SumHi || lo != st.SumLo {
			return "its sum differs from that of its values"
		}
	}
	return ""
}

// sumOf adds integers up.
func sumOf(v *vector.Vector, from, to int) (hi int64, lo uint64) {
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			continue
		}
		var x int64
		switch v.Kind {
		case vector.Int16:
			x = int64(v.I16[i])
		case vector.Int32:
			x = int64(v.I32[i])
		case vector.Int64:
			x = v.I64[i]
		case vector.Uint32:
			x = int64(v.U32[i])
		}
		var carry uint64
		lo, carry = bits.Add64(lo, uint64(x), 0)
		hi += x>>63 + int64(carry)
	}
	return hi, lo
}

// order checks that the rows of a part are sorted, that the first key and the
// times of each block are those of the segment row, and that the filter knows
// the keys.
func (s *segmentCheck) order(first, blocks int) {
	info, schema := s.g.info, s.t.schema
	var key []byte
	row := 0
	for b := first; b < first+blocks; b++ {
		lo, hi, from := int64(1), int64(0), row
		for end := row + int(info.BlockRows[b]) + 1; row < end; row++ {
			if schema.Time >= 0 {
				if t, null := timeOf(schema, s.cols[schema.Time], row); !null {
					if lo > hi {
						lo, hi = t, t
					}
					lo, hi = min(lo, t), max(hi, t)
				}
			}
			key = appendRowKey(key[:0], s.parts, s.cols, row)
			if info.Order == segment.OrderKeyTime && bytes.Compare(key, s.last) < 0 {
				s.c.bad(s.name, "row %d of block %d is out of order", row-from, b)
				return
			}
			s.last = append(s.last[:0], key...)
			if !info.HasKeys {
				continue
			}
			key = appendRowKey(key[:0], schema.Key, s.cols, row)
			if row == from && info.Order == segment.OrderKeyTime && !bytes.Equal(key, info.FirstKeys.At(b)) {
				s.c.bad(s.name, "block %d begins with another key than it says", b)
				return
			}
			if s.filter && !s.bloom.MayContain(hashKey(key)) {
				s.c.bad(s.name, "its filter lacks a key of block %d", b)
				return
			}
		}
		if r := boundsAt(info, b); info.HasTimes && (r.Lo <= r.Hi || lo <= hi) && (r.Lo != lo || r.Hi != hi) {
			s.c.bad(s.name, "block %d has times from %d to %d, it says %d to %d", b, lo, hi, r.Lo, r.Hi)
			return
		}
	}
}

func boundsAt(info *segment.Info, b int) table.Range {
	if b < len(info.BlockTimes) {
		return info.BlockTimes[b]
	}
	return table.Range{Lo: 1, Hi: 0}
}

// totals checks what the segment row says of the whole segment.
func (s *segmentCheck) totals() {
	if !s.keys || !s.g.info.HasKeys || s.g.info.Order != segment.OrderKeyTime {
		return
	}
	// last may go on behind the row key with the time.
	if !bytes.HasPrefix(s.last, s.g.info.LastKey) {
		s.c.bad(s.name, "it ends with another key than it says")
	}
}
