package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"tsdb/colstore/encoding"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// OrderKeyTime says that the rows of a segment are sorted by row key, then
// time, then sequence. The number is written into files.
const OrderKeyTime = 1

// Part is the encoded chunk of one column and one part.
type Part struct{ Size, CRC uint32 }

// Column is what a segment row knows of one column.
type Column struct {
	ID    uint32
	Kind  vector.Kind
	Codec rowkey.Codec
	Stats Stats
	Parts []Part
}

// Info is a decoded segment row. Immutable once it is published.
type Info struct {
	Rows           int64
	Order          uint8
	BucketWidth    int64 // microseconds, 0: a special bucket
	SeqMin, SeqMax uint64
	FlushedTo      uint64 // 0: the rows were never in arrival blocks

	PartBlocks []int    // blocks of each part
	BlockRows  []uint16 // rows of each block - 1
	HasKeys    bool
	FirstKeys  Strings // first row key of each block
	LastKey    []byte
	HasTimes   bool
	BlockTimes []table.Range // inclusive bounds per block; Lo > Hi: all NULL
	Columns    []Column      // ascending by ID
	// Deleted are the rows that were deleted while the segment was being made;
	// nil: none.
	Deleted *roaring.Bitmap
}

// Strings is a list of byte strings in one buffer.
type Strings struct {
	Data []byte
	Ends []uint32
}

// Len returns the number of strings.
func (s *Strings) Len() int { return len(s.Ends) }

// At returns string i.
func (s *Strings) At(i int) []byte {
	if i == 0 {
		return s.Data[:s.Ends[0]]
	}
	return s.Data[s.Ends[i-1]:s.Ends[i]]
}

// Append adds a copy of x.
func (s *Strings) Append(x []byte) {
	s.Data = append(s.Data, x...)
	s.Ends = append(s.Ends, uint32(len(s.Data)))
}

// Reset empties the list, keeping its memory.
func (s *Strings) Reset() { s.Data, s.Ends = s.Data[:0], s.Ends[:0] }

// Column returns the column with the id, nil if the segment has none.
func (s *Info) Column(id uint32) *Column {
	if i := s.Find(id); i >= 0 {
		return &s.Columns[i]
	}
	return nil
}

// Find returns the position of the column with the id, -1 if there is none.
func (s *Info) Find(id uint32) int {
	i := sort.Search(len(s.Columns), func(i int) bool { return s.Columns[i].ID >= id })
	if i < len(s.Columns) && s.Columns[i].ID == id {
		return i
	}
	return -1
}

// Times returns the inclusive bounds of the segment's times; lo > hi: none.
func (s *Info) Times() (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, b := range s.BlockTimes {
		if b.Lo <= b.Hi {
			lo, hi = min(lo, b.Lo), max(hi, b.Hi)
		}
	}
	return lo, hi
}

// Bytes returns the encoded size of all chunks.
func (s *Info) Bytes() int64 {
	var n int64
	for i := range s.Columns {
		for _, p := range s.Columns[i].Parts {
			n += int64(p.Size)
		}
	}
	return n
}

// Append encodes the segment row.
func (s *Info) Append(dst []byte) []byte {
	start := len(dst)
	dst = open(dst, magicSegment)
	dst = binary.AppendUvarint(dst, uint64(s.Rows))
	dst = append(dst, s.Order)
	for _, x := range []uint64{uint64(s.BucketWidth), s.SeqMin, s.SeqMax, s.FlushedTo, uint64(len(s.PartBlocks))} {
		dst = binary.AppendUvarint(dst, x)
	}
	for _, n := range s.PartBlocks {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.BlockRows)))
	for _, n := range s.BlockRows {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = s.appendKeys(dst)
	dst = s.appendTimes(dst)
	dst = binary.AppendUvarint(dst, uint64(len(s.Columns)))
	for i := range s.Columns {
		dst = s.Columns[i].append(dst)
	}
	if s.Deleted != nil && !s.Deleted.IsEmpty() {
		dst[start+4] = versionDeletes
		dst = appendBitmap(dst, s.Deleted)
	}
	return seal(dst, start)
}

func (s *Info) appendKeys(dst []byte) []byte {
	if !s.HasKeys {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	var last []byte
	for i := range s.BlockRows {
		key := s.FirstKeys.At(i)
		shared := 0
		for shared < len(key) && shared < len(last) && key[shared] == last[shared] {
			shared++
		}
		dst = appendString(binary.AppendUvarint(dst, uint64(shared)), key[shared:])
		last = key
	}
	return appendString(dst, s.LastKey)
}

func (s *Info) appendTimes(dst []byte) []byte {
	if !s.HasTimes {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	var last int64
	for _, b := range s.BlockTimes {
		if b.Lo > b.Hi {
			dst = append(binary.AppendVarint(dst, 0), 0, 0)
			continue
		}
		dst = append(binary.AppendVarint(dst, b.Lo-last), 1)
		dst = binary.AppendUvarint(dst, uint64(b.Hi)-uint64(b.Lo))
		last = b.Lo
	}
	return dst
}

func (c *Column) append(dst []byte) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(c.ID)), byte(c.Kind), byte(c.Codec))
	dst = append(binary.AppendUvarint(dst, uint64(c.Stats.Nulls)), c.Stats.Flags)
	dst = appendString(appendString(dst, c.Stats.Min), c.Stats.Max)
	dst = c.Stats.appendSum(dst)
	for _, p := range c.Parts {
		dst = binary.LittleEndian.AppendUint32(binary.AppendUvarint(dst, uint64(p.Size)), p.CRC)
	}
	return dst
}

func appendString(dst, s []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// maxKeyBytes bounds the first keys of a segment in memory: shared prefixes
// could make a short row claim far more.
const maxKeyBytes = 1 << 28

var errShort = errors.New("body ends early or a count is absurd")

// reader takes values off a body; after a failure it returns zeros.
type reader struct {
	src []byte
	bad bool
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.src)
	if n <= 0 {
		r.bad, r.src = true, nil
		return 0
	}
	r.src = r.src[n:]
	return x
}

func (r *reader) varint() int64 {
	x, n := binary.Varint(r.src)
	if n <= 0 {
		r.bad, r.src = true, nil
		return 0
	}
	r.src = r.src[n:]
	return x
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.src)) {
		r.bad, r.src = true, nil
		return nil
	}
	out := r.src[:n:n]
	r.src = r.src[n:]
	return out
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// count reads a number of elements of at least one byte each.
func (r *reader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.src)) {
		r.bad, r.src = true, nil
		return 0
	}
	return int(n)
}

func (r *reader) string() []byte { return r.take(r.uvarint()) }

// DecodeInfo decodes a segment row. The result does not alias src.
func DecodeInfo(src []byte, what string) (*Info, error) {
	e, err := check(src, magicSegment, what)
	if err != nil {
		return nil, err
	}
	r := &reader{src: bytes.Clone(e[envelopeSize:])}
	s := &Info{Rows: int64(r.uvarint()), Order: r.byte(), BucketWidth: int64(r.uvarint())}
	s.SeqMin, s.SeqMax, s.FlushedTo = r.uvarint(), r.uvarint(), r.uvarint()
	s.PartBlocks = make([]int, r.count())
	blocks := uint64(0)
	for i := range s.PartBlocks {
		n := r.uvarint()
		if n == 0 || n > MaxBlocks {
			return nil, corrupt(what, "part of %d blocks", n)
		}
		s.PartBlocks[i] = int(n)
		blocks += n
	}
	s.BlockRows = make([]uint16, r.count())
	rows := int64(0)
	for i := range s.BlockRows {
		n := r.uvarint()
		if n >= encoding.MaxRows {
			return nil, corrupt(what, "block of %d rows", n+1)
		}
		s.BlockRows[i] = uint16(n)
		rows += int64(n) + 1
	}
	if r.bad || rows != s.Rows || blocks != uint64(len(s.BlockRows)) || blocks == 0 {
		return nil, corrupt(what, "%d rows in %d blocks do not add up", s.Rows, len(s.BlockRows))
	}
	s.readKeys(r)
	s.readTimes(r)
	s.readColumns(r)
	if e[4] == versionDeletes {
		s.Deleted = r.bitmap()
	}
	if r.bad || len(r.src) != 0 {
		return nil, corrupt(what, "%v", errShort)
	}
	return s, nil
}

func (s *Info) readKeys(r *reader) {
	if s.HasKeys = r.byte() == 1; !s.HasKeys {
		return
	}
	var key []byte
	for range s.BlockRows {
		shared := r.uvarint()
		rest := r.string()
		if shared > uint64(len(key)) || r.bad {
			r.bad = true
			return
		}
		if len(s.FirstKeys.Data)+len(key) > maxKeyBytes {
			r.bad = true
			return
		}
		key = append(key[:shared], rest...)
		s.FirstKeys.Append(key)
	}
	s.LastKey = r.string()
}

func (s *Info) readTimes(r *reader) {
	if s.HasTimes = r.byte() == 1; !s.HasTimes {
		return
	}
	s.BlockTimes = make([]table.Range, len(s.BlockRows))
	var last int64
	for i := range s.BlockTimes {
		lo := last + r.varint()
		if r.byte() == 0 {
			r.uvarint()
			s.BlockTimes[i] = table.Range{Lo: math.MaxInt64, Hi: math.MinInt64}
			continue
		}
		s.BlockTimes[i] = table.Range{Lo: lo, Hi: int64(uint64(lo) + r.uvarint())}
		last = lo
	}
}

func (s *Info) readColumns(r *reader) {
	s.Columns = make([]Column, r.count())
	for i := range s.Columns {
		c := &s.Columns[i]
		id := r.uvarint()
		c.ID, c.Kind, c.Codec = uint32(id), vector.Kind(r.byte()), rowkey.Codec(r.byte())
		c.Stats = Stats{Rows: int(s.Rows), Nulls: int(r.uvarint()), Flags: r.byte()}
		c.Stats.Min, c.Stats.Max = r.string(), r.string()
		if sum := r.take(16); sum != nil {
			c.Stats.setSum(sum)
		}
		c.Parts = make([]Part, len(s.PartBlocks))
		for p := range c.Parts {
			size := r.uvarint()
			c.Parts[p] = Part{Size: uint32(size), CRC: r.u32()}
			if size > math.MaxUint32 {
				r.bad = true
			}
		}
		if r.bad || id > math.MaxUint32 || i > 0 && c.ID <= s.Columns[i-1].ID {
			r.bad = true
			return
		}
	}
}

// BlockFor returns the last block whose first key is not above key, the only
// one that can hold a unique key; -1 if there is none.
func (s *Info) BlockFor(key []byte) int {
	return sort.Search(s.FirstKeys.Len(), func(i int) bool { return bytes.Compare(s.FirstKeys.At(i), key) > 0 }) - 1
}
