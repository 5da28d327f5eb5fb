package colstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"tsdb/colstore/encoding"
	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// CheckResult counts what Check looked at and found.
type CheckResult struct {
	Files    int
	Tables   int
	Segments int
	Chunks   int64
	Rows     int64
	Bytes    int64 // of files
	Problems int64
	Harmless int64
}

// Check reads everything in a directory that no server has open and compares
// what belongs together: checksums of files, chunks and records; chunks with
// their segment rows; statistics and keys with values; unique entries with
// rows. In a backup it compares the files with the backup's manifest first.
//
// report receives each finding, progress (may be nil) the bytes done of all.
//
// Errors: as OpenOffline where nothing can be looked at, for instance because
// the directory is in use.
func Check(ctx context.Context, dir string, o Options, report func(Problem), progress func(done, all int64)) (CheckResult, error) {
	c := &checker{report: report, progress: progress}
	fs := newStore(dir, o)
	fs.popts.Cache.Unref()
	if isBackup(fs.fs, dir) {
		if err := c.manifest(ctx, fs.fs, dir); err != nil {
			return c.result, err
		}
	}
	d, err := OpenOffline(dir, o, c.found)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || !pebble.IsCorruptionError(err) && c.result.Problems == 0 {
			return c.result, err
		}
		c.found(Problem{CorruptionError: table.CorruptionError{What: "data directory", Why: "it cannot be opened: " + rootText(err)}})
		return c.result, nil
	}
	c.d, c.s = d, d.s
	err = c.run(ctx)
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return c.result, err
}

// checker is a running Check.
type checker struct {
	d        *Offline
	s        *Store
	report   func(Problem)
	progress func(done, all int64)
	done     int64
	all      int64
	result   CheckResult
	dec      encoding.Decoder
	buf      []byte
}

func (c *checker) found(p Problem) {
	if p.Harmless {
		c.result.Harmless++
	} else {
		c.result.Problems++
	}
	c.report(p)
}

// bad reports a mismatch.
func (c *checker) bad(what, why string, args ...any) {
	c.found(Problem{CorruptionError: table.CorruptionError{What: what, Why: fmt.Sprintf(why, args...)}})
}

func (c *checker) advance(n int64) {
	c.done += n
	if c.progress != nil {
		c.progress(min(c.done, c.all), c.all)
	}
}

func (c *checker) run(ctx context.Context) error {
	levels, err := c.s.db.SSTables()
	if err != nil {
		return fmt.Errorf("list sstables: %w", err)
	}
	for _, l := range levels {
		for _, t := range l {
			c.result.Bytes += int64(t.Size)
		}
	}
	c.all = 2 * c.result.Bytes // once as files, once as values
	for _, l := range levels {
		for _, t := range l {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.file(t)
			c.advance(int64(t.Size))
		}
	}
	for _, id := range c.d.Tables() {
		if err := c.table(ctx, c.d.tables[id]); err != nil {
			return err
		}
	}
	c.orphans()
	c.done = c.all
	c.advance(0)
	return nil
}

// file verifies the checksums of all blocks of an sstable.
func (c *checker) file(t pebble.SSTableInfo) {
	c.result.Files++
	name := tableFile(t)
	err := c.blocks(name)
	if err == nil {
		return
	}
	from, to := keyName(t.Smallest.UserKey), keyName(t.Largest.UserKey)
	if from != to {
		from += " to " + to
	}
	c.found(Problem{CorruptionError: table.CorruptionError{What: "file with " + from, Why: rootText(err), File: name}})
}

func (c *checker) blocks(name string) error {
	f, err := c.s.fs.Open(c.s.fs.PathJoin(c.s.dir, name))
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		_ = f.Close()
		return err
	}
	r, err := sstable.NewReader(context.Background(), readable, c.s.popts.MakeReaderOptions())
	if err != nil {
		return err // it has closed the file
	}
	err = r.ValidateBlockChecksums()
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return err
}

// keyName says what a key is of.
func keyName(key []byte) string {
	if len(key) < 9 {
		return "catalog records"
	}
	var space string
	switch key[0] {
	case keys.SpaceData, keys.SpaceSegment:
		space = "segments"
	case keys.SpaceArrival:
		space = "arrival blocks"
	case keys.SpaceRow:
		space = "rows"
	case keys.SpaceTombstone:
		space = "deletes"
	case keys.SpaceIndex:
		return fmt.Sprintf("entries of index %d", bigEndian(key[1:]))
	default:
		return "catalog records"
	}
	return fmt.Sprintf("%s of table %d", space, bigEndian(key[1:]))
}

func bigEndian(b []byte) (x uint64) {
	for _, v := range b[:8] {
		x = x<<8 | uint64(v)
	}
	return x
}

// table checks one table.
func (c *checker) table(ctx context.Context, t *offlineTable) error {
	c.result.Tables++
	for _, g := range inKeyOrder(t.segs) {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.segment(t, g)
		c.advance(g.bytes)
	}
	c.arrivals(t)
	if t.schema.Layout == table.RowStore {
		c.rows(t)
	}
	return nil
}

// segmentCheck is the state of checking one segment: the columns by which its
// rows are sorted, of the part at hand.
type segmentCheck struct {
	c      *checker
	t      *offlineTable
	g      *seg
	name   string
	parts  []rowkey.Part
	cols   []*vector.Vector // by column of the schema; nil: not needed
	keys   bool             // they could be read
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
	s.keys = true
	for _, k := range s.parts {
		s.cols[k.Column] = nil
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
		for _, k := range s.parts {
			if uint32(s.t.schema.Columns[k.Column].ID) == col.ID {
				s.cols[k.Column] = v
			}
		}
	}
	for _, k := range s.parts {
		s.keys = s.keys && s.cols[k.Column] != nil
	}
	if s.keys {
		s.order(first, blocks)
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

// arrivals checks the arrival blocks that are not in segments yet.
func (c *checker) arrivals(t *offlineTable) {
	id := uint64(t.schema.ID)
	what := fmt.Sprintf("arrival blocks of table %d", id)
	c.d.each(keys.AppendTable(nil, keys.SpaceArrival, id), what, c.found, func(key, value []byte) error {
		_, _, seq, err := keys.DecodeArrival(key)
		if err != nil {
			return malformed(what, err)
		}
		if seq <= t.mark {
			return nil
		}
		b, err := decodeArrival(t.schema, value, fmt.Sprintf("arrival block %d of table %d", seq, id))
		if err == nil {
			c.result.Rows += int64(b.n)
		}
		return err
	})
}

// rows checks the rows of layout row: their keys, their number, and that the
// unique entries are theirs.
func (c *checker) rows(t *offlineTable) {
	s := t.schema
	what := fmt.Sprintf("rows of table %d", s.ID)
	var n, before int64
	before = c.result.Problems
	entries := make([]int64, len(s.Indexes))
	dec := newRowDecoder(s)
	prefix := keys.AppendTable(nil, keys.SpaceRow, uint64(s.ID))
	c.d.each(prefix, what, c.found, func(key, value []byte) error {
		n++
		b, err := dec.batch(value)
		if err != nil {
			return malformed(fmt.Sprintf("row %x of table %d", key[len(prefix):], s.ID), err)
		}
		c.buf = appendRowKey(append(c.buf[:0], prefix...), s.Key, b.Cols, 0)
		if s.Unique && !bytes.Equal(key, c.buf) || !s.Unique && !bytes.HasPrefix(key, c.buf) {
			return malformed(fmt.Sprintf("row %x of table %d", key[len(prefix):], s.ID), errors.New("its values have another key"))
		}
		return c.entries(s, b, key[len(prefix):], entries)
	})
	c.result.Rows += n
	if c.result.Problems != before {
		return // counts cannot agree
	}
	if t.rows >= 0 && t.rows != n {
		c.bad(what, "there are %d, the table's record says %d", n, t.rows)
	}
	for i, x := range s.Indexes {
		var have int64
		name := fmt.Sprintf("entries of unique index %d of table %d", x.ID, s.ID)
		c.d.each(keys.AppendTable(nil, keys.SpaceIndex, x.ID), name, c.found, func(_, _ []byte) error { have++; return nil })
		if have != entries[i] {
			c.bad(name, "there are %d, the rows need %d", have, entries[i])
		}
	}
}

// entries looks the unique entries of a row up and counts those that it needs.
func (c *checker) entries(s *table.Schema, b *vector.Batch, rowKey []byte, count []int64) error {
	if !s.Unique {
		rowKey = nil
	}
	tt := &txTable{schema: s}
	for i, x := range s.Indexes {
		e, ok := tt.makeEntry(x, b.Cols, 0, rowKey)
		if !ok {
			continue
		}
		count[i]++
		_, closer, err := c.s.db.Get(e.key)
		if errors.Is(err, pebble.ErrNotFound) {
			return malformed(fmt.Sprintf("unique index %d of table %d", x.ID, s.ID), fmt.Errorf("row %x has no entry", rowKey))
		}
		if err != nil {
			return err
		}
		_ = closer.Close()
	}
	return nil
}

// orphans finds chunks that no segment row lists: a crash or a large
// transaction under way leaves them, the next opening removes them.
func (c *checker) orphans() {
	live := map[keys.SegmentID]bool{}
	for _, t := range c.d.tables {
		for _, g := range t.segs {
			live[g.id] = true
		}
	}
	prefix := []byte{keys.SpaceData}
	it, err := c.s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keys.AfterPrefix(prefix)})
	if err != nil {
		c.found(problem(c.s.damaged("chunks", err)))
		return
	}
	defer it.Close()
	for ok := it.First(); ok; {
		id, _, _, err := keys.DecodeData(it.Key())
		if err != nil {
			c.bad("chunks", "%v", err)
			return
		}
		if !live[id] {
			c.found(Problem{Harmless: true, CorruptionError: table.CorruptionError{
				What: fmt.Sprintf("chunks of table %d, segment %d", id.Table, id.ID), Why: "no segment row lists them", Table: tableID(id)}})
		}
		ok = it.SeekGE(keys.AfterPrefix(keys.AppendDataPrefix(nil, id)))
	}
	// What cannot be read here was reported with its file.
}
