package colstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/encoding"
	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

const (
	// bucketRows is how many rows a bucket chosen from the data should hold:
	// fewer make files of kilobytes.
	bucketRows = 1 << 20
	// maxBuckets bounds the buckets, and so the files, of one flush.
	maxBuckets = 256
	// partBlocks is the most blocks of a chunk: 32,768 values, 256 KB of
	// unencoded 8-byte numbers.
	partBlocks = 32
	// partBytes bounds the unencoded size of a chunk of texts.
	partBytes = 1 << 20
	// maxTableBytes is the size at which an sstable ends; the format's limit is
	// 256 MB.
	maxTableBytes = 192 << 20
	// maxSegmentBytes bounds the text of one segment, whose offsets are 32 bits.
	maxSegmentBytes = 128 << 20
)

// builder turns blocks into segments: chunks in sstables and the segment rows
// in memory.
type builder struct {
	s      *Store
	schema *table.Schema
	blocks []*block
	base   int64 // narrowest bucket
	class  byte
	files  []string
	segs   []*seg

	out     *sstable.Writer
	outSize int64
	chunks  segment.ChunkWriter
	col     vector.Vector
	buf     []byte
	keys    segment.Strings // sort keys of the rows of the bucket
	hashes  []uint64
}

// rowRef is a block and a row in it.
type rowRef uint32

const rowBits = 13 // blockRows = 1 << rowBits

func (r rowRef) split() (block, row int) { return int(r >> rowBits), int(r & (blockRows - 1)) }

// build writes the chunks of the blocks' rows. total and span describe the
// whole table, for the choice of the bucket's width. On an error the files are
// removed.
func (s *Store) build(schema *table.Schema, blocks []*block, total int64, lo, hi int64) (b *builder, err error) {
	b = &builder{s: s, schema: schema, blocks: blocks}
	defer func() {
		if err != nil {
			b.abandon()
			b = nil
		}
	}()
	if err := s.writable(); err != nil {
		return b, err
	}
	b.chooseBuckets(total, lo, hi)
	for _, g := range b.group() {
		if err := b.bucket(g.bucket, g.rows); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (b *builder) abandon() {
	if b.out != nil {
		_ = b.out.Close()
	}
	b.s.removeFiles(b.files)
}

func (s *Store) removeFiles(files []string) {
	for _, f := range files {
		_ = s.fs.Remove(f)
	}
}

// chooseBuckets picks the class. The buckets of an option only widen where a
// flush would make too many.
func (b *builder) chooseBuckets(total int64, lo, hi int64) {
	if b.schema.Time < 0 {
		return
	}
	b.base = b.schema.Bucket
	if b.base <= 0 {
		b.base = minBucket
	}
	mine, top := int64(math.MaxInt64), int64(math.MinInt64)
	for _, blk := range b.blocks {
		v := blk.cols[b.schema.Time]
		for i := 0; i < blk.n; i++ {
			if t, null := timeOf(b.schema, v, i); !null && t != math.MaxInt64 && t != math.MinInt64 {
				mine, top = min(mine, t), max(top, t)
			}
		}
	}
	if mine > top {
		return
	}
	widest := maxClassFor(b.base)
	for b.class < widest && b.count(mine, top) > maxBuckets {
		b.class++
	}
	if b.schema.Bucket > 0 {
		return
	}
	lo, hi = min(lo, mine), max(hi, top)
	for b.class < widest {
		if n := b.count(lo, hi); n <= 1 || float64(total)/n >= bucketRows {
			return
		}
		b.class++
	}
}

// count returns how many buckets of the class lie between two times.
func (b *builder) count(lo, hi int64) float64 {
	w := float64(b.base << b.class)
	return math.Floor(float64(hi)/w) - math.Floor(float64(lo)/w) + 1
}

type bucketGroup struct {
	bucket keys.Bucket
	rows   []rowRef
}

// group distributes the rows to buckets, in order of the buckets.
func (b *builder) group() []bucketGroup {
	var groups []bucketGroup
	index := map[keys.Bucket]int{}
	last, at := keys.Bucket{}, -1
	for bi, blk := range b.blocks {
		for i := 0; i < blk.n; i++ {
			if blk.gone.contains(i) {
				continue
			}
			bucket := keys.BucketNoTime
			if b.schema.Time >= 0 {
				if t, null := timeOf(b.schema, blk.cols[b.schema.Time], i); null {
					bucket = keys.BucketNull
				} else {
					bucket = bucketOf(t, b.base, b.class)
				}
			}
			if at < 0 || bucket != last {
				k, ok := index[bucket]
				if !ok {
					k = len(groups)
					index[bucket] = k
					groups = append(groups, bucketGroup{bucket: bucket})
				}
				last, at = bucket, k
			}
			groups[at].rows = append(groups[at].rows, rowRef(bi<<rowBits|i))
		}
	}
	slices.SortFunc(groups, func(x, y bucketGroup) int {
		if x.bucket.Less(y.bucket) {
			return -1
		}
		return 1
	})
	return groups
}

// bucket sorts the rows of one bucket and writes its segments.
func (b *builder) bucket(bucket keys.Bucket, rows []rowRef) error {
	b.sort(rows)
	for from := 0; from < len(rows); {
		to := b.segmentEnd(rows, from)
		if err := b.segment(bucket, rows[from:to], from); err != nil {
			return err
		}
		from = to
	}
	return b.endFile()
}

// sortItem orders a row by the 8 key bytes after the prefix that all share.
type sortItem struct {
	head uint64
	pos  uint32
}

// sort orders rows by key, time and arrival, and leaves their keys in b.keys.
func (b *builder) sort(rows []rowRef) {
	parts := sortParts(b.schema)
	b.keys.Reset()
	if len(parts) == 0 {
		return
	}
	sorted := true
	last := 0
	for i, r := range rows {
		blk, row := r.split()
		start := len(b.keys.Data)
		b.keys.Data = appendRowKey(b.keys.Data, parts, b.blocks[blk].cols, row)
		b.keys.Ends = append(b.keys.Ends, uint32(len(b.keys.Data)))
		if sorted && i > 0 && bytes.Compare(b.keys.Data[last:start], b.keys.Data[start:]) > 0 {
			sorted = false
		}
		last = start
	}
	if sorted {
		return
	}
	items := b.sortItems()
	slices.SortFunc(items, func(x, y sortItem) int {
		if x.head != y.head {
			if x.head < y.head {
				return -1
			}
			return 1
		}
		if c := bytes.Compare(b.keys.At(int(x.pos)), b.keys.At(int(y.pos))); c != 0 {
			return c
		}
		return int(x.pos) - int(y.pos)
	})
	var ordered segment.Strings
	ordered.Data = make([]byte, 0, len(b.keys.Data))
	ordered.Ends = make([]uint32, 0, len(b.keys.Ends))
	old := slices.Clone(rows)
	for i, it := range items {
		rows[i] = old[it.pos]
		ordered.Append(b.keys.At(int(it.pos)))
	}
	b.keys = ordered
}

func (b *builder) sortItems() []sortItem {
	n := b.keys.Len()
	shared := len(b.keys.At(0))
	first := b.keys.At(0)
	for i := 1; i < n && shared > 0; i++ {
		k := b.keys.At(i)
		for shared > 0 && (len(k) < shared || !bytes.Equal(k[:shared], first[:shared])) {
			shared--
		}
	}
	items := make([]sortItem, n)
	var head [8]byte
	for i := range items {
		clear(head[:])
		copy(head[:], b.keys.At(i)[shared:])
		items[i] = sortItem{binary.BigEndian.Uint64(head[:]), uint32(i)}
	}
	return items
}

// segmentEnd returns where the segment that begins at from ends.
func (b *builder) segmentEnd(rows []rowRef, from int) int {
	to := min(len(rows), from+b.s.segRows)
	size := int64(0)
	for _, blk := range b.blocks {
		size += blk.size
	}
	if size < maxSegmentBytes {
		return to
	}
	size = 0
	for i := from; i < to; i++ {
		blk, row := rows[i].split()
		for _, c := range b.blocks[blk].cols {
			if c.Kind == vector.Bytes {
				size += int64(c.Offsets[row+1] - c.Offsets[row])
			}
		}
		if size > maxSegmentBytes && i > from {
			return i
		}
	}
	return to
}

// segment writes one segment; its keys begin at b.keys.At(at).
func (b *builder) segment(bucket keys.Bucket, rows []rowRef, at int) error {
	id, err := b.s.NewID()
	if err != nil {
		return err
	}
	info := &segment.Info{Rows: int64(len(rows)), Order: segment.OrderKeyTime}
	if !bucket.Special() {
		info.BucketWidth = b.base << b.class
	}
	sid := keys.SegmentID{Table: uint64(b.schema.ID), Bucket: bucket, ID: id}
	blocks := segment.SplitBlocks(nil, 0, len(rows))
	for _, blk := range blocks {
		info.BlockRows = append(info.BlockRows, uint16(blk.To-blk.From-1))
	}
	b.setKeys(info, rows, blocks, at)
	b.setTimes(info, rows, blocks)
	b.setParts(info, rows, blocks)
	if err := b.columns(sid, info, rows, blocks); err != nil {
		return err
	}
	sg := newSeg(sid, info, b.s.sweepLater)
	sg.refs.Store(1)
	b.segs = append(b.segs, sg)
	return nil
}

func (b *builder) setKeys(info *segment.Info, rows []rowRef, blocks []encoding.Block, at int) {
	b.hashes = b.hashes[:0]
	if info.HasKeys = len(b.schema.Key) > 0; !info.HasKeys {
		return
	}
	key := func(i int) []byte {
		blk, row := rows[i].split()
		b.buf = appendRowKey(b.buf[:0], b.schema.Key, b.blocks[blk].cols, row)
		return b.buf
	}
	for _, blk := range blocks {
		info.FirstKeys.Append(key(blk.From))
	}
	info.LastKey = bytes.Clone(key(len(rows) - 1))
	if !b.schema.Unique {
		return
	}
	same := len(sortParts(b.schema)) == len(b.schema.Key)
	for i := range rows {
		if same {
			b.hashes = append(b.hashes, hashKey(b.keys.At(at+i)))
		} else {
			b.hashes = append(b.hashes, hashKey(key(i)))
		}
	}
}

func (b *builder) setTimes(info *segment.Info, rows []rowRef, blocks []encoding.Block) {
	if info.HasTimes = b.schema.Time >= 0; !info.HasTimes {
		return
	}
	for _, blk := range blocks {
		r := table.Range{Lo: math.MaxInt64, Hi: math.MinInt64}
		for _, ref := range rows[blk.From:blk.To] {
			bi, row := ref.split()
			if t, null := timeOf(b.schema, b.blocks[bi].cols[b.schema.Time], row); !null {
				r.Lo, r.Hi = min(r.Lo, t), max(r.Hi, t)
			}
		}
		info.BlockTimes = append(info.BlockTimes, r)
	}
}

// setParts cuts the blocks into parts, narrower where texts are long.
func (b *builder) setParts(info *segment.Info, rows []rowRef, blocks []encoding.Block) {
	var text, n int64
	for i := range b.schema.Columns {
		var size, count int64
		for _, blk := range b.blocks {
			if c := blk.cols[i]; c.Kind == vector.Bytes {
				size, count = size+int64(c.Offsets[blk.n]-c.Offsets[0]), count+int64(blk.n)
			}
		}
		if size > text {
			text, n = size, count
		}
	}
	per := partBlocks
	for per > 1 && n > 0 && text/n*int64(per)*encoding.MaxRows > partBytes {
		per /= 2
	}
	for left := len(blocks); left > 0; left -= per {
		info.PartBlocks = append(info.PartBlocks, min(per, left))
	}
}

func (b *builder) columns(sid keys.SegmentID, info *segment.Info, rows []rowRef, blocks []encoding.Block) error {
	order := make([]int, len(b.schema.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return int(b.schema.Columns[x].ID) - int(b.schema.Columns[y].ID) })
	var value []byte
	for _, c := range order {
		sc := b.schema.Columns[c]
		col := segment.Column{ID: uint32(sc.ID), Kind: sc.Kind, Codec: sc.Codec}
		b.gather(c, rows)
		first := 0
		for part, n := range info.PartBlocks {
			value = b.chunks.Append(value[:0], &b.col, blocks[first:first+n], sc.Codec, &col.Stats)
			first += n
			col.Parts = append(col.Parts, segment.Part{Size: uint32(len(value)), CRC: segment.Checksum(value)})
			if err := b.put(keys.AppendData(nil, sid, col.ID, uint32(part)), value); err != nil {
				return err
			}
		}
		info.Columns = append(info.Columns, col)
	}
	if len(b.hashes) == 0 {
		return nil
	}
	value = segment.AppendBloom(value[:0], b.hashes)
	col := segment.Column{ID: keys.ColumnBloom, Parts: make([]segment.Part, len(info.PartBlocks))}
	col.Parts[0] = segment.Part{Size: uint32(len(value)), CRC: segment.Checksum(value)}
	info.Columns = append(info.Columns, col)
	return b.put(keys.AppendData(nil, sid, keys.ColumnBloom, 0), value)
}

// put writes one chunk to the bucket's current sstable.
func (b *builder) put(key, value []byte) error {
	if b.out == nil {
		w, name, err := b.s.newTable()
		if err != nil {
			return err
		}
		b.out, b.outSize = w, 0
		b.files = append(b.files, name)
	}
	if err := b.out.Set(key, value); err != nil {
		return fmt.Errorf("write chunk: %w", err)
	}
	if b.outSize += int64(len(value)); b.outSize > maxTableBytes {
		return b.endFile()
	}
	return nil
}

func (b *builder) endFile() error {
	if b.out == nil {
		return nil
	}
	w := b.out
	b.out = nil
	if err := w.Close(); err != nil {
		return fmt.Errorf("finish sstable: %w", err)
	}
	return nil
}

// gather makes b.col the rows of one column.
func (b *builder) gather(c int, rows []rowRef) {
	v := &b.col
	v.Reset(b.schema.Columns[c].Kind)
	n := len(rows)
	nulls := false
	for _, blk := range b.blocks {
		nulls = nulls || blk.cols[c].Valid != nil
	}
	switch v.Kind {
	case vector.Int16:
		v.I16 = gatherRows(v.I16, rows, b.blocks, func(blk *block) []int16 { return blk.cols[c].I16 })
	case vector.Int32:
		v.I32 = gatherRows(v.I32, rows, b.blocks, func(blk *block) []int32 { return blk.cols[c].I32 })
	case vector.Int64:
		v.I64 = gatherRows(v.I64, rows, b.blocks, func(blk *block) []int64 { return blk.cols[c].I64 })
	case vector.Uint32:
		v.U32 = gatherRows(v.U32, rows, b.blocks, func(blk *block) []uint32 { return blk.cols[c].U32 })
	case vector.Float32:
		v.F32 = gatherRows(v.F32, rows, b.blocks, func(blk *block) []float32 { return blk.cols[c].F32 })
	case vector.Float64:
		v.F64 = gatherRows(v.F64, rows, b.blocks, func(blk *block) []float64 { return blk.cols[c].F64 })
	case vector.Fixed16:
		v.F16 = gatherRows(v.F16, rows, b.blocks, func(blk *block) [][16]byte { return blk.cols[c].F16 })
	case vector.Bool:
		v.Bits = v.Bits.Resize(n)
		for i, r := range rows {
			blk, row := r.split()
			v.Bits.Put(i, b.blocks[blk].cols[c].Bits.Get(row))
		}
	case vector.Bytes:
		for _, r := range rows {
			blk, row := r.split()
			s := b.blocks[blk].cols[c]
			v.Data = append(v.Data, s.Data[s.Offsets[row]:s.Offsets[row+1]]...)
			v.Offsets = append(v.Offsets, int32(len(v.Data)))
		}
	}
	v.N = n
	if !nulls {
		return
	}
	v.Valid = vector.NewBitmap(n, true)
	for i, r := range rows {
		blk, row := r.split()
		if valid := b.blocks[blk].cols[c].Valid; valid != nil && !valid.Get(row) {
			v.Valid.Clear(i)
		}
	}
}

func gatherRows[T any](dst []T, rows []rowRef, blocks []*block, of func(*block) []T) []T {
	if cap(dst) < len(rows) {
		dst = make([]T, len(rows))
	}
	dst = dst[:len(rows)]
	var src []T
	last := -1
	for i, r := range rows {
		blk, row := r.split()
		if blk != last {
			src, last = of(blocks[blk]), blk
		}
		dst[i] = src[row]
	}
	return dst
}

// newTable starts an sstable to be ingested.
func (s *Store) newTable() (*sstable.Writer, string, error) {
	name := s.fs.PathJoin(s.dir, stagingDir, fmt.Sprintf("%08d.sst", s.fileNum.Add(1)))
	f, err := s.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, "", fmt.Errorf("create sstable: %w", err)
	}
	o := s.popts.MakeWriterOptions(6, s.db.TableFormat())
	return sstable.NewWriter(objstorageprovider.NewFileWritable(f), o), name, nil
}

// stagingDir holds sstables until they are ingested; opening empties it.
const stagingDir = "staging"
