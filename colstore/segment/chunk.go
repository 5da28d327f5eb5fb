package segment

import (
	"bytes"
	"encoding/binary"
	"sort"

	"tsdb/colstore/encoding"
	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

const (
	chunkHeader = 32
	flagDict    = 1
	flagZstd    = 2 // the dictionary is compressed
	// MaxBlocks is the largest number of blocks of a chunk, bounded by the
	// directory's 16-bit count.
	MaxBlocks = 4096
)

// ChunkWriter encodes chunks, reusing its buffers. The zero value is ready.
type ChunkWriter struct {
	enc      encoding.Encoder
	dict     dictBuilder
	stats    Stats
	bounds   []byte
	payloads []byte
	last     []byte // minimum of the block before
}

// SetEffort says how much work the writer does to make blocks small.
func (w *ChunkWriter) SetEffort(e encoding.Effort) { w.enc.Effort = e }

// Append encodes the blocks, consecutive ranges of rows of the flat vector v,
// as a chunk with its slack. With total not nil the chunk carries statistics,
// which are added to total too.
func (w *ChunkWriter) Append(dst []byte, v *vector.Vector, blocks []encoding.Block, codec rowkey.Codec, total *Stats) []byte {
	start := len(dst)
	dst = open(dst, magicChunk)
	dst[start+4] = ChunkVersion
	from, to := blocks[0].From, blocks[len(blocks)-1].To
	var codes []int32
	if v.Kind == vector.Bytes {
		codes = w.dict.build(v, from, to, w.enc.Effort)
	}
	var flags byte
	if codes != nil {
		flags = flagDict
	}
	dst = append(dst, byte(v.Kind), flags)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(blocks)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(to-from))
	dst = append(dst, make([]byte, 8)...)
	w.payloads, w.last = w.payloads[:0], w.last[:0]
	for _, b := range blocks {
		blockCodes := codes
		if codes != nil {
			blockCodes = codes[b.From-from : b.To-from]
		}
		dst = w.appendBlock(dst, v, b, codec, blockCodes, total)
	}
	dst = append(dst, w.payloads...)
	if codes != nil {
		at := len(dst)
		var compressed bool
		if dst, compressed = w.dict.append(dst, w.enc.Effort); compressed {
			dst[start+17] |= flagZstd
		}
		binary.LittleEndian.PutUint32(dst[start+24:], uint32(at-start))
		binary.LittleEndian.PutUint32(dst[start+28:], uint32(len(dst)-at))
	}
	dst = seal(dst, start)
	return append(dst, make([]byte, Slack)...)
}

// appendBlock appends a directory entry to dst and the payload to w.payloads.
func (w *ChunkWriter) appendBlock(dst []byte, v *vector.Vector, b encoding.Block, codec rowkey.Codec, codes []int32, total *Stats) []byte {
	at := len(w.payloads)
	var enc encoding.Encoding
	var nulls int
	w.payloads, enc, nulls = w.enc.Append(w.payloads, v, b.From, b.To, codes)
	s := &w.stats
	*s = Stats{Rows: b.To - b.From, Nulls: nulls}
	if total != nil {
		w.bounds = collect(s, w.bounds[:0], v, codec, b.From, b.To)
		total.add(s)
	}
	dst = appendEntry(dst, s, enc, len(w.payloads)-at, w.last)
	if s.Flags&HasBounds != 0 {
		w.last = append(w.last[:0], s.Min...)
	}
	return dst
}

// Chunk reads one chunk. It aliases the bytes it was opened on, except Dict.
type Chunk struct {
	Kind vector.Kind
	Rows int
	Dict *vector.Vector // nil: not dictionary encoded

	raw     []byte // envelope and body; Slack more bytes are readable
	entries []entry
	bounds  []byte // what bounds of entries are offsets into: raw, or own
	own     []byte
}

// Open verifies a chunk with its slack. Dict is built newly, since batches
// that show it may outlive the bytes.
func (c *Chunk) Open(src []byte, what string) error {
	raw, err := check(src, magicChunk, what)
	if err != nil {
		*c = Chunk{}
		return err
	}
	return c.open(src, raw, what)
}

// Reopen is Open for a chunk whose checksum was verified before, by the same
// process.
func (c *Chunk) Reopen(src []byte, what string) error {
	raw, err := envelope(src, magicChunk, what)
	if err != nil {
		*c = Chunk{}
		return err
	}
	return c.open(src, raw, what)
}

func (c *Chunk) open(src, raw []byte, what string) (err error) {
	*c = Chunk{entries: c.entries[:0], own: c.own[:0]}
	if len(raw) < chunkHeader || len(src)-len(raw) < Slack {
		return corrupt(what, "chunk of %d bytes is too short", len(src))
	}
	for _, b := range src[len(raw) : len(raw)+Slack] {
		if b != 0 {
			return corrupt(what, "slack is not zero")
		}
	}
	c.raw = src[: len(raw) : len(raw)+Slack]
	c.Kind = vector.Kind(raw[16])
	c.Rows = int(binary.LittleEndian.Uint32(raw[20:]))
	if c.Kind == vector.Invalid || c.Kind > vector.Uint32 {
		return corrupt(what, "kind %d is unknown", raw[16])
	}
	if err := c.readDirectory(what, int(binary.LittleEndian.Uint16(raw[18:]))); err != nil {
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
	dict := c.raw[at : at+n]
	if raw[17]&flagZstd != 0 {
		if dict, err = encoding.Decompress(nil, dict); err != nil {
			return corrupt(what, "dictionary: %v", err)
		}
	}
	if c.Dict, err = decodeDict(dict); err != nil {
		return corrupt(what, "%v", err)
	}
	return nil
}

// Blocks returns the number of blocks.
func (c *Chunk) Blocks() int { return len(c.entries) }

// BlockRows returns the rows of block i.
func (c *Chunk) BlockRows(i int) int { return int(c.entries[i].rows) }

// BlockBytes returns the encoded size of block i's values.
func (c *Chunk) BlockBytes(i int) int64 { return int64(c.entries[i].size) }

// BlockEncoding returns the form of block i's values.
func (c *Chunk) BlockEncoding(i int) encoding.Encoding { return c.entries[i].enc }

// BlockStats sets s to the statistics of block i. Bounds alias the chunk.
func (c *Chunk) BlockStats(i int, s *Stats) {
	e := &c.entries[i]
	*s = Stats{Rows: int(e.rows), Nulls: int(e.nulls), Flags: e.flags, SumLo: e.sumLo, SumHi: e.sumHi, SumF: e.sumF}
	mid := e.bounds + uint32(e.minLen)
	s.Min, s.Max = c.bounds[e.bounds:mid:mid], c.bounds[mid:mid+uint32(e.maxLen)]
}

// payload returns the bytes of block i's values, which readable ones follow.
func (c *Chunk) payload(e *entry) []byte { return c.raw[e.at : e.at+e.size] }

// Decode appends the rows of block i to dst, a vector of the chunk's kind: as
// codes of Dict if the chunk has one, which dst must then show already.
func (c *Chunk) Decode(d *encoding.Decoder, i int, dst *vector.Vector) error {
	e := &c.entries[i]
	dictLen := 0
	if c.Dict != nil {
		dictLen = c.Dict.N
		if !e.enc.IsCodes() && e.enc != encoding.Null {
			return encoding.ErrMalformed
		}
	}
	return d.Decode(dst, e.enc, c.payload(e), int(e.rows), int(e.nulls), dictLen)
}

// Fold aggregates block i, of a numeric kind, into f; see encoding.Fold.
func (c *Chunk) Fold(d *encoding.Decoder, i int, f *encoding.Fold) error {
	e := &c.entries[i]
	return d.Fold(f, c.Kind, e.enc, c.payload(e), int(e.rows), int(e.nulls))
}

// Filter sets bit k of dst to whether row k of block i, of a numeric kind or of
// dictionary codes, compares with the constant; see encoding.Decoder.Filter.
func (c *Chunk) Filter(d *encoding.Decoder, i int, dst vector.Bitmap, f *encoding.Filter) error {
	e := &c.entries[i]
	return d.Filter(dst, f, c.Kind, e.enc, c.payload(e), int(e.rows), int(e.nulls))
}

// FilterBytes sets bit k of dst to whether row k of block i compares, byte by
// byte, with the constant; ok is false for a chunk without dictionary. Texts
// are looked at once per chunk: codes are in the order of the dictionary.
func (c *Chunk) FilterBytes(d *encoding.Decoder, i int, dst vector.Bitmap, op kernels.Op, value []byte) (ok bool, err error) {
	if c.Dict == nil {
		return false, nil
	}
	at := sort.Search(c.Dict.N, func(k int) bool { return bytes.Compare(c.Dict.Bytes(k), value) >= 0 })
	f := encoding.Filter{Op: op, Int: int64(at)}
	if at == c.Dict.N || !bytes.Equal(c.Dict.Bytes(at), value) {
		switch op { // the value stands before code at
		case kernels.EQ, kernels.NE:
			f.Int = -1
		case kernels.LE:
			f.Op = kernels.LT
		case kernels.GT:
			f.Op = kernels.GE
		}
	}
	return true, c.Filter(d, i, dst, &f)
}

// DecodeAll appends all rows to dst as flat values.
func (c *Chunk) DecodeAll(d *encoding.Decoder, dst *vector.Vector) error {
	if c.Dict == nil {
		for i := range c.entries {
			if err := c.Decode(d, i, dst); err != nil {
				return err
			}
		}
		return nil
	}
	codes := vector.New(vector.Bytes, 0)
	codes.Dict = c.Dict
	for i := range c.entries {
		if err := c.Decode(d, i, codes); err != nil {
			return err
		}
	}
	dst.AppendVector(codes, nil)
	return nil
}
