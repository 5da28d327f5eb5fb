package colstore

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"tsdb/colstore/encoding"
	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
)

// bucketName spells a bucket for people.
func bucketName(b keys.Bucket) string {
	switch b.Class {
	case keys.ClassMinusInfinity:
		return "-infinity"
	case keys.ClassInfinity:
		return "infinity"
	case keys.ClassNull:
		return "of NULL times"
	case keys.ClassNoTime:
		return "of all rows"
	}
	t := time.UnixMicro(b.Start).UTC()
	if y := t.Year(); y < -4713 || y > 294276 {
		return b.String()
	}
	return t.Format("2006-01-02 15:04:05Z")
}

// Segments describes the segments of a table, in key order; the last one, with
// ID 0, is its rows in memory.
func (s *Snapshot) Segments(id table.ID) ([]table.SegmentInfo, error) {
	src, err := s.source(id)
	if err != nil {
		return nil, err
	}
	dead := map[*seg]int64{}
	for i, g := range src.segs {
		dead[g] = int64(src.deleted(i).count())
	}
	out := describeSegments(src.segs, func(g *seg) int64 { return dead[g] })
	memory := table.SegmentInfo{MinTime: math.MaxInt64, MaxTime: math.MinInt64}
	for _, b := range src.blocks {
		memory.Rows += int64(b.n)
		memory.Deleted += int64(b.gone.count())
		memory.Blocks += blocksOf(b.n)
		memory.Bytes += b.size
		if b.lo <= b.hi {
			memory.MinTime, memory.MaxTime = min(memory.MinTime, b.lo), max(memory.MaxTime, b.hi)
		}
	}
	if src.schema.Layout == table.RowStore {
		memory.Rows, memory.Bytes = src.rows, src.bytes
	}
	return append(out, memory), nil
}

func blocksOf(rows int) int64 { return int64(rows+encoding.MaxRows-1) / encoding.MaxRows }

func inKeyOrder(segs []*seg) []*seg {
	segs = slices.Clone(segs)
	slices.SortFunc(segs, func(x, y *seg) int {
		return bytes.Compare(keys.AppendSegment(nil, x.id), keys.AppendSegment(nil, y.id))
	})
	return segs
}

func describeSegments(segs []*seg, deleted func(*seg) int64) []table.SegmentInfo {
	segs = inKeyOrder(segs)
	out := make([]table.SegmentInfo, 0, len(segs)+1)
	for _, g := range segs {
		i := table.SegmentInfo{ID: g.id.ID, Rows: g.info.Rows, Deleted: deleted(g), Blocks: int64(len(g.info.BlockRows)), Bytes: g.bytes,
			MinTime: g.lo, MaxTime: g.hi, MinSequence: g.info.SeqMin, MaxSequence: g.info.SeqMax}
		if !g.id.Bucket.Special() {
			i.BucketStart, i.BucketWidth = g.id.Bucket.Start, g.info.BucketWidth
		}
		out = append(out, i)
	}
	return out
}

// Chunks describes the columns of a table's segments. It reads the directories
// of all chunks.
func (s *Snapshot) Chunks(id table.ID) ([]table.ChunkInfo, error) {
	src, err := s.source(id)
	if err != nil {
		return nil, err
	}
	return s.s.describeChunks(src.segs)
}

func (s *Store) describeChunks(segs []*seg) ([]table.ChunkInfo, error) {
	segs = inKeyOrder(segs)
	var out []table.ChunkInfo
	for _, g := range segs {
		for i := range g.info.Columns {
			c, err := s.describeChunk(g, &g.info.Columns[i])
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// describeChunk describes one column of a segment. Parts of size 0 do not
// exist: those of a filter beyond its first.
func (s *Store) describeChunk(g *seg, col *segment.Column) (table.ChunkInfo, error) {
	out := table.ChunkInfo{Segment: g.id.ID, Column: table.ColumnID(col.ID), Rows: g.info.Rows, Nulls: int64(col.Stats.Nulls)}
	counts := map[string]int64{}
	for p, part := range col.Parts {
		if part.Size == 0 {
			continue
		}
		out.Parts++
		out.Bytes += int64(part.Size)
		if col.ID == keys.ColumnBloom {
			counts["bloom"]++
			continue
		}
		value, closer, err := s.db.Get(keys.AppendData(nil, g.id, col.ID, uint32(p)))
		if err != nil {
			return out, s.chunkError(g, col.ID, uint32(p), err)
		}
		var c segment.Chunk
		if err = c.Open(value, ""); err == nil {
			for i := 0; i < c.Blocks(); i++ {
				counts[c.BlockEncoding(i).String()]++
			}
		}
		_ = closer.Close()
		if err != nil {
			return out, s.chunkError(g, col.ID, uint32(p), err)
		}
	}
	for name, n := range counts {
		out.Encodings = append(out.Encodings, table.EncodingCount{Name: name, Blocks: n})
	}
	slices.SortFunc(out.Encodings, func(x, y table.EncodingCount) int {
		return cmp.Or(-cmp.Compare(x.Blocks, y.Blocks), cmp.Compare(x.Name, y.Name))
	})
	return out, nil
}

func segmentName(id keys.SegmentID) string {
	return fmt.Sprintf("segment row of table %d, bucket %s, segment %d", id.Table, bucketName(id.Bucket), id.ID)
}
