package segment

import (
	"encoding/binary"
	"math"

	"tsdb/colstore/encoding"
)

// entry is what a chunk's directory says of one block.
type entry struct {
	at, size       uint32 // payload
	bounds         uint32 // offset of min, which max follows
	rows, nulls    uint16
	minLen, maxLen uint8
	flags          uint8
	enc            encoding.Encoding
	sumLo          uint64
	sumHi          int64
	sumF           float64
}

// dirEntry is the size of an entry of version 1.
const dirEntry = 40

// minEntry is the size of the shortest entry of version 2.
const minEntry = 5

// Flags that exist in files only: the sum is spelled in full.
const (
	fullFloat   uint8 = 64
	fullInteger uint8 = 128
)

// maxWhole bounds the sums of floats that are spelled as integers.
const maxWhole = 1 << 53

// appendEntry appends the entry of a block; last is the minimum of the last
// block before it that has bounds.
func appendEntry(dst []byte, s *Stats, enc encoding.Encoding, size int, last []byte) []byte {
	sum := int64(s.SumLo)
	flags := s.Flags
	switch {
	case flags&SumInteger != 0:
		if sum>>63 != s.SumHi {
			flags |= fullInteger
		}
	case flags&SumFloat != 0:
		if sum = int64(s.SumF); !(math.Abs(s.SumF) < maxWhole) || float64(sum) != s.SumF || sum == 0 && math.Signbit(s.SumF) {
			flags |= fullFloat
		}
	}
	dst = append(dst, byte(enc), flags)
	dst = binary.AppendUvarint(dst, uint64(s.Rows-1))
	dst = binary.AppendUvarint(dst, uint64(s.Nulls))
	dst = binary.AppendUvarint(dst, uint64(size))
	if flags&HasBounds != 0 {
		dst = appendShared(appendShared(dst, last, s.Min), s.Min, s.Max)
	}
	switch {
	case flags&(fullInteger|fullFloat) == fullInteger:
		dst = binary.LittleEndian.AppendUint64(dst, s.SumLo)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(s.SumHi))
	case flags&fullFloat != 0:
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.SumF))
	case flags&(SumInteger|SumFloat) != 0:
		dst = binary.AppendVarint(dst, sum)
	}
	return dst
}

// appendShared appends x as the number of bytes that it begins with as before
// does, the number of others, and those.
func appendShared(dst, before, x []byte) []byte {
	shared := 0
	for shared < min(len(before), len(x)) && before[shared] == x[shared] {
		shared++
	}
	return append(append(dst, byte(shared), byte(len(x)-shared)), x[shared:]...)
}

// readShared appends what appendShared spelled to c.own and returns its length.
func (c *Chunk) readShared(r *reader, before []byte) uint8 {
	shared, rest := r.byte(), r.byte()
	if int(shared) > len(before) || int(shared)+int(rest) > 255 {
		r.bad = true
		return 0
	}
	c.own = append(append(c.own, before[:shared]...), r.take(uint64(rest))...)
	return shared + rest
}

func (c *Chunk) readDirectory(what string, blocks int) error {
	least := minEntry
	if c.raw[4] == 1 {
		least = dirEntry
	}
	if blocks > MaxBlocks || len(c.raw) < chunkHeader+blocks*least {
		return corrupt(what, "directory of %d blocks does not fit", blocks)
	}
	if cap(c.entries) < blocks {
		c.entries = make([]entry, 0, blocks)
	}
	c.entries = c.entries[:blocks]
	if c.raw[4] == 1 {
		c.readEntries1()
	} else if !c.readEntries(&reader{src: c.raw[chunkHeader:]}) {
		return corrupt(what, "directory is damaged")
	}
	rows := 0
	for i := range c.entries {
		e := &c.entries[i]
		if uint64(e.at)+uint64(e.size) > uint64(len(c.raw)) || uint64(e.bounds)+uint64(e.minLen)+uint64(e.maxLen) > uint64(len(c.bounds)) {
			return corrupt(what, "block %d lies outside", i)
		}
		if e.rows == 0 || int(e.rows) > encoding.MaxRows || e.nulls > e.rows {
			return corrupt(what, "block %d of %d rows, %d nulls", i, e.rows, e.nulls)
		}
		rows += int(e.rows)
	}
	if rows != c.Rows {
		return corrupt(what, "blocks hold %d rows, the chunk %d", rows, c.Rows)
	}
	return nil
}

func (c *Chunk) readEntries1() {
	le := binary.LittleEndian
	for i := range c.entries {
		b := c.raw[chunkHeader+i*dirEntry:]
		s := Stats{Flags: b[13]}
		s.setSum(b[24:])
		c.entries[i] = entry{
			at: le.Uint32(b), size: le.Uint32(b[4:]), rows: le.Uint16(b[8:]), nulls: le.Uint16(b[10:]),
			enc: encoding.Encoding(b[12]), flags: b[13], minLen: b[14], maxLen: b[15], bounds: le.Uint32(b[16:]),
			sumLo: s.SumLo, sumHi: s.SumHi, sumF: s.SumF,
		}
	}
	c.bounds = c.raw
}

// readEntries reads the directory of version 2, and joins the bounds in a
// buffer of the chunk.
func (c *Chunk) readEntries(r *reader) bool {
	var last []byte
	for i := range c.entries {
		e := &c.entries[i]
		*e = entry{enc: encoding.Encoding(r.byte()), flags: r.byte(), bounds: uint32(len(c.own))}
		rows, nulls, size := r.uvarint(), r.uvarint(), r.uvarint()
		if r.bad || rows >= encoding.MaxRows || nulls > rows+1 || size > uint64(len(c.raw)) {
			return false
		}
		e.rows, e.nulls, e.size = uint16(rows+1), uint16(nulls), uint32(size)
		if e.flags&HasBounds != 0 {
			e.minLen = c.readShared(r, last)
			if r.bad {
				return false
			}
			last = c.own[e.bounds : e.bounds+uint32(e.minLen)]
			e.maxLen = c.readShared(r, last)
		}
		e.readSum(r)
		if r.bad {
			return false
		}
	}
	at := uint32(len(c.raw) - len(r.src))
	for i := range c.entries {
		e := &c.entries[i]
		e.at = at
		if at += e.size; at > uint32(len(c.raw)) {
			return false
		}
	}
	c.bounds = c.own
	return true
}

func (e *entry) readSum(r *reader) {
	full := e.flags & (fullFloat | fullInteger)
	e.flags &^= full
	switch {
	case full&fullInteger != 0:
		if b := r.take(16); b != nil {
			e.sumLo, e.sumHi = binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))
		}
	case full != 0:
		if b := r.take(8); b != nil {
			e.sumF = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case e.flags&SumInteger != 0:
		x := r.varint()
		e.sumLo, e.sumHi = uint64(x), x>>63
	case e.flags&SumFloat != 0:
		e.sumF = float64(r.varint())
	}
}
