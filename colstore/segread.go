package colstore

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/encoding"
	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

func chunkName(g *seg, column, part uint32) string {
	return fmt.Sprintf("chunk of table %d, bucket %s, segment %d, column %d, part %d", g.id.Table, bucketName(g.id.Bucket), g.id.ID, column, part)
}

// chunkError words the error of reading a chunk.
func (s *Store) chunkError(g *seg, column, part uint32, err error) error {
	var c *table.CorruptionError
	if errors.Is(err, pebble.ErrNotFound) {
		c = &table.CorruptionError{Why: "it is missing"}
	} else if !errors.As(s.damaged("", err), &c) {
		return fmt.Errorf("read %s: %w", chunkName(g, column, part), err)
	} else {
		s.locate(c, keys.AppendData(nil, g.id, column, part))
	}
	c.What, c.Table, c.Column = chunkName(g, column, part), tableID(g.id), table.ColumnID(column)
	s.quarantine.add(keys.AppendData(nil, g.id, column, part), c)
	return c
}

// segReader decodes blocks of one segment's columns. It holds at most one
// chunk per column.
type segReader struct {
	s      *Store
	g      *seg
	schema *table.Schema
	starts []int       // first block of each part
	chunks []heldChunk // by column of the schema
	dec    encoding.Decoder
	key    []byte
	stats  segment.Stats
	bytes  int64 // encoded bytes of decoded blocks
}

// heldChunk is the open chunk of one column.
type heldChunk struct {
	chunkValue
	part   int // -1: none is open
	absent bool
	column int // position among the segment's columns
}

func (r *segReader) init(s *Store, g *seg, schema *table.Schema) {
	r.close()
	r.s, r.g, r.schema = s, g, schema
	r.starts = r.starts[:0]
	n := 0
	for _, b := range g.info.PartBlocks {
		r.starts = append(r.starts, n)
		n += b
	}
	if len(r.chunks) != len(schema.Columns) {
		r.chunks = make([]heldChunk, len(schema.Columns))
	}
	for i := range r.chunks {
		r.chunks[i].part = -1
		r.chunks[i].column = g.info.Find(uint32(schema.Columns[i].ID))
		r.chunks[i].absent = r.chunks[i].column < 0
	}
}

func (r *segReader) close() {
	for i := range r.chunks {
		r.chunks[i].close()
		r.chunks[i].part = -1
	}
}

// partOf returns the part that holds a block.
func (r *segReader) partOf(block int) int {
	p := len(r.starts) - 1
	for r.starts[p] > block {
		p--
	}
	return p
}

// open makes the chunk of a column and part current; nil if the segment is
// older than the column.
func (r *segReader) open(col, part int) (*heldChunk, error) {
	h := &r.chunks[col]
	if h.absent {
		return nil, nil
	}
	if h.part == part {
		return h, nil
	}
	h.close()
	h.part = -1
	id := uint32(r.schema.Columns[col].ID)
	r.key = keys.AppendData(r.key[:0], r.g.id, id, uint32(part))
	if err := r.s.quarantine.find(r.key); err != nil {
		return nil, err
	}
	value, closer, err := r.s.db.Get(r.key)
	if err != nil {
		return nil, r.s.chunkError(r.g, id, uint32(part), err)
	}
	h.closer = closer
	word, mask := r.g.verification(h.column, part)
	if word.Load()&mask != 0 {
		err = h.Reopen(value, "")
	} else if err = h.Open(value, ""); err == nil {
		word.Or(mask)
	}
	if err != nil {
		h.close()
		return nil, r.s.chunkError(r.g, id, uint32(part), err)
	}
	if h.Kind != r.schema.Columns[col].Kind || h.Blocks() != r.g.info.PartBlocks[part] ||
		segment.Checksum(value) != r.g.info.Column(id).Parts[part].CRC {
		h.close()
		return nil, r.s.chunkError(r.g, id, uint32(part), &table.CorruptionError{Why: "it does not match its segment row"})
	}
	h.part = part
	return h, nil
}

// decode makes dst hold the rows of blocks, all of one part, of a column.
func (r *segReader) decode(col int, blocks []int, dst *vector.Vector) error {
	kind := r.schema.Columns[col].Kind
	dst.Reset(kind)
	part := r.partOf(blocks[0])
	h, err := r.open(col, part)
	if err != nil {
		return err
	}
	if h == nil {
		for _, b := range blocks {
			for i := 0; i <= int(r.g.info.BlockRows[b]); i++ {
				appendMissing(dst, r.schema.Columns[col])
			}
		}
		return nil
	}
	dst.Dict = h.Dict
	for _, b := range blocks {
		i := b - r.starts[part]
		if h.BlockRows(i) != int(r.g.info.BlockRows[b])+1 {
			err = encoding.ErrMalformed
		} else {
			err = h.Decode(&r.dec, i, dst)
		}
		if err != nil {
			return r.s.chunkError(r.g, uint32(r.schema.Columns[col].ID), uint32(part), &table.CorruptionError{Why: err.Error()})
		}
		r.bytes += h.BlockBytes(i)
	}
	return nil
}
