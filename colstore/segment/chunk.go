package segment

import (
	"encoding/binary"

	"tsdb/colstore/encoding"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

const (
	chunkHeader = 32
	dirEntry    = 40
	flagDict    = 1
	// MaxBlocks is the largest number of blocks of a chunk, bounded by the
	// directory's 16-bit count.
	MaxBlocks = 4096
)

// ChunkWriter encodes chunks, reusing its buffers. The zero value is ready.
type ChunkWriter struct {
	enc    encoding.Encoder
	dict   dictBuilder
	stats  Stats
	bounds []byte
}

// Append encodes the blocks, consecutive ranges of rows of the flat vector v,
// as a chunk with its slack. With total not nil the chunk carries statistics,
// which are added to total too.
func (w *ChunkWriter) Append(dst []byte, v *vector.Vector, blocks []encoding.Block, codec rowkey.Codec, total *Stats) []byte {
	start := len(dst)
	dst = open(dst, magicChunk)
	from, to := blocks[0].From, blocks[len(blocks)-1].To
	var codes []int32
	if v.Kind == vector.Bytes {
		codes = w.dict.build(v, from, to)
	}
	var flags byte
	if codes != nil {
		flags = flagDict
	}
	dst = append(dst, byte(v.Kind), flags)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(blocks)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(to-from))
	dst = append(dst, make([]byte, 8+dirEntry*len(blocks))...)
	for i, b := range blocks {
		at := start + chunkHeader + i*dirEntry
		dst = w.appendBlock(dst, start, at, v, b, from, codec, codes, total)
	}
	if codes != nil {
		at := len(dst)
		dst = w.dict.append(dst)
		binary.LittleEndian.PutUint32(dst[start+24:], uint32(at-start))
		binary.LittleEndian.PutUint32(dst[start+28:], uint32(len(dst)-at))
	}
	dst = seal(dst, start)
	return append(dst, make([]byte, Slack)...)
}

func (w *ChunkWriter) appendBlock(dst []byte, start, at int, v *vector.Vector, b encoding.Block, from int, codec rowkey.Codec, codes []int32, total *Stats) []byte {
	data := len(dst)
	blockCodes := codes
	if codes != nil {
		blockCodes = codes[b.From-from : b.To-from]
	}
	dst, enc, nulls := w.enc.Append(dst, v, b.From, b.To, blockCodes)
	end := len(dst)
	s := &w.stats
	if total != nil {
		w.bounds = collect(s, w.bounds[:0], v, codec, b.From, b.To)
		dst = append(append(dst, s.Min...), s.Max...)
		total.add(s)
	} else {
		*s = Stats{Rows: b.To - b.From, Nulls: nulls}
	}
	e := dst[at : at+dirEntry]
	binary.LittleEndian.PutUint32(e, uint32(data-start))
	binary.LittleEndian.PutUint32(e[4:], uint32(end-data))
	binary.LittleEndian.PutUint16(e[8:], uint16(s.Rows))
	binary.LittleEndian.PutUint16(e[10:], uint16(nulls))
	e[12], e[13], e[14], e[15] = byte(enc), s.Flags, byte(len(s.Min)), byte(len(s.Max))
	binary.LittleEndian.PutUint32(e[16:], uint32(end-start))
	s.appendSum(e[24:24])
	return dst
}

// Chunk reads one chunk. It aliases the bytes it was opened on, except Dict.
type Chunk struct {
	Kind vector.Kind
	Rows int
	Dict *vector.Vector // nil: not dictionary encoded

	raw    []byte // envelope and body; Slack more bytes are readable
	blocks int
}

// Open verifies a chunk with its slack. Dict is built newly, since batches
// that show it may outlive the bytes.
func (c *Chunk) Open(src []byte, what string) error {
	*c = Chunk{}
	raw, err := check(src, magicChunk, what)
	if err != nil {
		return err
	}
	if len(raw) < chunkHeader || len(src)-len(raw) < Slack {
		return corrupt(what, "chunk of %d bytes is too short", len(src))
	}
	for _, b := range src[len(raw) : len(raw)+Slack] {
		if b != 0 {
			return corrupt(what, "slack is not zero")
		}
	}
	c.raw = src[: len(raw) : len(raw)+Slack]
	c.Kind, c.blocks = vector.Kind(raw[16]), int(binary.LittleEndian.Uint16(raw[18:]))
	c.Rows = int(binary.LittleEndian.Uint32(raw[20:]))
	if c.Kind == vector.Invalid || c.Kind > vector.Uint32 {
		return corrupt(what, "kind %d is unknown", raw[16])
	}
	if c.blocks > MaxBlocks || len(raw) < chunkHeader+c.blocks*dirEntry {
		return corrupt(what, "directory of %d blocks does not fit", c.blocks)
	}
	if err := c.checkDirectory(what); err != nil {
		return err
	}
	if raw[17]&flagDict == 0 {
		return nil
	}
	if c.Kind != vector.Bytes {
		return corrupt(what, "dictionary of kind %s", c.Kind)
	}
	at, n := binary.LittleEndian.Uint32(raw[24:]), binary.LittleEndian.Uint32(raw[28:])
	if uint64(at)+uint64(n) > uint64(len(raw)) {
		return corrupt(what, "dictionary lies outside")
	}
	if c.Dict, err = decodeDict(c.raw[at : at+n]); err != nil {
		return corrupt(what, "%v", err)
	}
	return nil
}

func (c *Chunk) checkDirectory(what string) error {
	rows := 0
	for i := 0; i < c.blocks; i++ {
		e := c.entry(i)
		at, n := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:])
		bounds := binary.LittleEndian.Uint32(e[16:])
		r, nulls := int(binary.LittleEndian.Uint16(e[8:])), int(binary.LittleEndian.Uint16(e[10:]))
		if uint64(at)+uint64(n) > uint64(len(c.raw)) || uint64(bounds)+uint64(e[14])+uint64(e[15]) > uint64(len(c.raw)) {
			return corrupt(what, "block %d lies outside", i)
		}
		if r == 0 || r > encoding.MaxRows || nulls > r {
			return corrupt(what, "block %d of %d rows, %d nulls", i, r, nulls)
		}
		rows += r
	}
	if rows != c.Rows {
		return corrupt(what, "blocks hold %d rows, the chunk %d", rows, c.Rows)
	}
	return nil
}

func (c *Chunk) entry(i int) []byte {
	at := chunkHeader + i*dirEntry
	return c.raw[at : at+dirEntry]
}

// Blocks returns the number of blocks.
func (c *Chunk) Blocks() int { return c.blocks }

// BlockRows returns the rows of block i.
func (c *Chunk) BlockRows(i int) int { return int(binary.LittleEndian.Uint16(c.entry(i)[8:])) }

// BlockBytes returns the encoded size of block i's values.
func (c *Chunk) BlockBytes(i int) int64 { return int64(binary.LittleEndian.Uint32(c.entry(i)[4:])) }

// BlockEncoding returns how block i is spelled.
func (c *Chunk) BlockEncoding(i int) encoding.Encoding { return encoding.Encoding(c.entry(i)[12]) }

// BlockStats sets s to the statistics of block i. Bounds alias the chunk.
func (c *Chunk) BlockStats(i int, s *Stats) {
	e := c.entry(i)
	*s = Stats{Rows: int(binary.LittleEndian.Uint16(e[8:])), Nulls: int(binary.LittleEndian.Uint16(e[10:])), Flags: e[13]}
	at := binary.LittleEndian.Uint32(e[16:])
	s.Min = c.raw[at : at+uint32(e[14])]
	s.Max = c.raw[at+uint32(e[14]) : at+uint32(e[14])+uint32(e[15])]
	s.setSum(e[24:])
}

// Decode appends the rows of block i to dst, a vector of the chunk's kind: as
// codes of Dict if the chunk has one, which dst must then show already.
func (c *Chunk) Decode(d *encoding.Decoder, i int, dst *vector.Vector) error {
	e := c.entry(i)
	at, n := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:])
	enc := encoding.Encoding(e[12])
	dictLen := 0
	if c.Dict != nil {
		if dictLen = c.Dict.N; enc != encoding.Dict && enc != encoding.Null {
			return encoding.ErrMalformed
		}
	}
	rows, nulls := int(binary.LittleEndian.Uint16(e[8:])), int(binary.LittleEndian.Uint16(e[10:]))
	return d.Decode(dst, enc, c.raw[at:at+n], rows, nulls, dictLen)
}

// DecodeAll appends all rows to dst as flat values.
func (c *Chunk) DecodeAll(d *encoding.Decoder, dst *vector.Vector) error {
	if c.Dict == nil {
		for i := 0; i < c.blocks; i++ {
			if err := c.Decode(d, i, dst); err != nil {
				return err
			}
		}
		return nil
	}
	codes := vector.New(vector.Bytes, 0)
	codes.Dict = c.Dict
	for i := 0; i < c.blocks; i++ {
		if err := c.Decode(d, i, codes); err != nil {
			return err
		}
	}
	dst.AppendVector(codes, nil)
	return nil
}
