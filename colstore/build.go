package colstore

import (
	"bytes"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"tsdb/colstore/encoding"
	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
)

const (
	// bucketRows is how many rows a bucket chosen from the data should hold:
	// fewer make files of kilobytes.
	bucketRows = 1 << 20
	// maxBuckets bounds the buckets, and so the files, of one flush.
	maxBuckets = 256
	// partRows is the most rows of a chunk: 256 KB of unencoded 8-byte numbers.
	partRows = 32 * encoding.MaxRows
	// partBytes bounds the unencoded size of a chunk of texts.
	partBytes = 1 << 20
	// maxTableBytes is the size at which an sstable ends; the format's limit is
	// 256 MB.
	maxTableBytes = 192 << 20
	// maxSegmentBytes bounds the text of one segment, whose offsets are 32 bits.
	maxSegmentBytes = 128 << 20
	// seriesRows is how many rows of one series are worth blocks of their own:
	// fewer make blocks whose directory entries outweigh what they save.
	seriesRows = 256
	// bloomRows is the average number of rows per series from which on a segment
	// has no bloom filter: a look-up reads one block of the series, which costs
	// less than reading the filter with its 12 bits a row.
	bloomRows = 64
	// freshBloomRows is the same for a flush: late rows come to segments that
	// are not merged yet more often than to others, and there each of them would
	// read a block of its own.
	freshBloomRows = 1024
)

// input is one source of rows: a block in memory or a segment.
type input struct {
	mem  *block
	seg  *seg
	gone *deletes        // deleted rows when the build began
	dead *roaring.Bitmap // the same: rows to leave out; nil: none
}

// rows returns the number of rows with the deleted ones.
func (i *input) rows() int64 {
	if i.mem != nil {
		return int64(i.mem.n)
	}
	return i.seg.info.Rows
}

// place names the input.
func (i *input) place() place {
	if i.mem != nil {
		return place{block: i.mem.ord}
	}
	return place{seg: i.seg.id.ID}
}

// rowRef is a row of an input: number of the input, block of a segment, row
// within the block.
type rowRef uint64

const (
	refInput = 40
	refBlock = 16
)

func memoryRef(in, row int) rowRef         { return rowRef(in)<<refInput | rowRef(row) }
func segmentRef(in, block, row int) rowRef { return memoryRef(in, row) | rowRef(block)<<refBlock }

func (r rowRef) input() int { return int(r >> refInput) }
func (r rowRef) block() int { return int(r>>refBlock) & (1<<(refInput-refBlock) - 1) }
func (r rowRef) row() int   { return int(r) & (1<<refBlock - 1) }

// builder turns rows of inputs into segments: chunks in sstables, one file per
// segment, and the segment rows in memory.
//
// A build holds the keys and references of the rows of a bucket (flush) or of
// one segment (merge), and one column of one segment.
type builder struct {
	s      *Store
	schema *table.Schema
	in     []input
	stop   func() error // asked between columns
	text   int64        // most bytes of text of a segment
	live   int64        // finite times below are expired and left out
	base   int64        // narrowest bucket
	class  byte

	files   []string
	bytes   int64 // of finished files
	segs    []*seg
	sources []relocated // where the rows of the inputs went, if traced
	placed  uint32      // rows of segs

	out     *sstable.Writer
	outSize int64
	chunks  segment.ChunkWriter
	gather  gatherer
	keys    segment.Strings // sort keys of the rows of the bucket or segment
	other   segment.Strings // of the bucket before, to be overwritten
	hashes  []uint64
	tail    int // bytes of the time at the end of sort keys; 0: none there
	split   bool
}

func (s *Store) newBuilder(schema *table.Schema, in []input, stop func() error) *builder {
	b := &builder{s: s, schema: schema, in: in, stop: stop, live: s.expiry(schema)}
	if b.text = s.compactor.maxText; b.text <= 0 {
		b.text = maxSegmentBytes
	}
	if b.base = schema.Bucket; b.base <= 0 {
		b.base = minBucket
	}
	return b
}

// abandon removes what a build that failed has written.
func (b *builder) abandon() {
	if b.out != nil {
		_ = b.out.Close()
		b.out = nil
	}
	b.gather.close()
	b.s.removeFiles(b.files)
}

func (s *Store) removeFiles(files []string) {
	for _, f := range files {
		_ = s.fs.Remove(f)
	}
}

// dead reports whether a row is left out.
func (i *input) isDead(row int) bool { return i.dead != nil && i.dead.Contains(uint32(row)) }

// isExpired reports whether a finite time is older than the retention.
func (b *builder) isExpired(t int64) bool {
	return t < b.live && t != math.MinInt64
}

// setTail learns how the sort keys of a bucket end. split says that the rows
// of equal keys without their time are a series: see cut.
func (b *builder) setTail(bucket keys.Bucket) {
	b.tail, b.split = 0, false
	parts := sortParts(b.schema)
	if n := len(parts); b.schema.Time < 0 || n == 0 || parts[n-1].Column != b.schema.Time {
		return
	}
	b.split = len(parts) > 1
	switch {
	case bucket == keys.BucketNull:
		b.tail = len(nullPart)
	case b.schema.TimeUnit == table.Days:
		b.tail = 4
	default:
		b.tail = 8
	}
}

// rowKey returns the row key of sort key i.
func (b *builder) rowKey(i int) []byte {
	k := b.keys.At(i)
	if len(sortParts(b.schema)) > len(b.schema.Key) {
		return k[:len(k)-b.tail]
	}
	return k
}

// segment writes one segment of rows, whose sort keys begin at b.keys.At(at).
func (b *builder) segment(bucket keys.Bucket, width int64, rows []rowRef, at int) error {
	id, err := b.s.NewID()
	if err != nil {
		return err
	}
	info := &segment.Info{Rows: int64(len(rows)), Order: segment.OrderKeyTime, BucketWidth: width}
	sid := keys.SegmentID{Table: uint64(b.schema.ID), Bucket: bucket, ID: id}
	blocks, series := b.cut(at, len(rows))
	for _, blk := range blocks {
		info.BlockRows = append(info.BlockRows, uint16(blk.To-blk.From-1))
	}
	b.setKeys(info, blocks, at, len(rows), series)
	if err := b.gather.plan(b, rows); err != nil {
		return err
	}
	b.setParts(info, blocks)
	if err := b.columns(sid, info, rows, blocks); err != nil {
		return err
	}
	sg := newSeg(sid, info, b.s.sweepLater)
	sg.refs.Store(1)
	b.segs = append(b.segs, sg)
	if b.sources != nil {
		for i, r := range rows {
			k := r.input()
			b.sources[k].where[r.position(&b.in[k])] = b.placed + uint32(i)
		}
	}
	b.placed += uint32(len(rows))
	return nil
}

// trace makes the builder remember where each row went: 4 bytes a row.
func (b *builder) trace() {
	b.sources = make([]relocated, len(b.in))
	for k := range b.in {
		where := make([]uint32, b.in[k].rows())
		for i := range where {
			where[i] = noPlace
		}
		b.sources[k] = relocated{at: b.in[k].place(), where: where}
	}
}

// relocation says where the rows of a traced build went.
func (b *builder) relocation(id table.ID) *relocation {
	r := &relocation{table: id, segs: b.segs, sources: b.sources}
	start := uint32(0)
	for _, g := range b.segs {
		r.starts = append(r.starts, start)
		start += uint32(g.info.Rows)
	}
	return r
}

func (b *builder) setKeys(info *segment.Info, blocks []encoding.Block, at, n, series int) {
	b.hashes = b.hashes[:0]
	if info.HasKeys = len(b.schema.Key) > 0; !info.HasKeys {
		return
	}
	for _, blk := range blocks {
		info.FirstKeys.Append(b.rowKey(at + blk.From))
	}
	info.LastKey = bytes.Clone(b.rowKey(at + n - 1))
	limit := bloomRows
	if b.in[0].mem != nil {
		limit = freshBloomRows
	}
	if !b.schema.Unique || series*limit <= n {
		return
	}
	for i := range n {
		b.hashes = append(b.hashes, hashKey(b.rowKey(at+i)))
	}
}

// columns writes the chunks of all columns, ascending by id.
func (b *builder) columns(sid keys.SegmentID, info *segment.Info, rows []rowRef, blocks []encoding.Block) error {
	var value []byte
	for _, c := range columnOrder(b.schema) {
		if err := b.stop(); err != nil {
			return err
		}
		sc := b.schema.Columns[c]
		col := segment.Column{ID: uint32(sc.ID), Kind: sc.Kind, Codec: sc.Codec}
		v, err := b.gather.column(b, c, len(rows))
		if err != nil {
			return err
		}
		if c == b.schema.Time {
			b.setTimes(info, v, blocks)
		}
		first := 0
		for part, n := range info.PartBlocks {
			value = b.chunks.Append(value[:0], v, blocks[first:first+n], sc.Codec, &col.Stats)
			first += n
			col.Parts = append(col.Parts, segment.Part{Size: uint32(len(value)), CRC: segment.Checksum(value)})
			if err := b.put(keys.AppendData(nil, sid, col.ID, uint32(part)), value); err != nil {
				return err
			}
		}
		info.Columns = append(info.Columns, col)
	}
	if len(b.hashes) > 0 {
		value = segment.AppendBloom(value[:0], b.hashes)
		col := segment.Column{ID: keys.ColumnBloom, Parts: make([]segment.Part, len(info.PartBlocks))}
		col.Parts[0] = segment.Part{Size: uint32(len(value)), CRC: segment.Checksum(value)}
		info.Columns = append(info.Columns, col)
		if err := b.put(keys.AppendData(nil, sid, keys.ColumnBloom, 0), value); err != nil {
			return err
		}
	}
	return b.endFile()
}

// put writes one chunk to the segment's sstable.
func (b *builder) put(key, value []byte) error {
	if b.out == nil {
		w, name, err := b.s.newTable(lowestLevel)
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
	n, err := closeTable(w)
	b.bytes += n
	if err != nil {
		return fmt.Errorf("finish sstable: %w", err)
	}
	return nil
}
