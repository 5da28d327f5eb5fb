// Package keys is the layout of the one key space that everything in a data
// directory shares: encoders and decoders of its keys, and Pebble's comparer.
//
// It knows bytes and numbers only. What the values hold is the business of
// colstore (records, arrival blocks), colstore/segment (chunks and segment
// rows) and the layers above (catalog records).
//
// # Keys
//
// Numbers are big-endian, so that byte order is number order. The first byte
// names the space.
//
//	M  +---+------+----------------+
//	   | M | kind | id (any bytes) |                                catalog, options, counters
//	   +---+------+----------------+
//	A  +---+-----------+-----------+--------------+
//	   | A | table u64 | shard u32 | sequence u64 |                 arrival block
//	   +---+-----------+-----------+--------------+
//	R  +---+-----------+---------+----------------------------+
//	   | R | table u64 | row key | sequence u64, row u32      |     row; the tail only where keys repeat
//	   +---+-----------+---------+----------------------------+
//	I  +---+-----------+-----------+---------+
//	   | I | index u64 | index key | row key |                      unique and secondary entries
//	   +---+-----------+-----------+---------+
//	C  +---+-----------+------------------+-------+--------+------------------+------------+
//	   | C | table u64 | esc(row) 00 01   | family u32     | esc(qual) 00 01  | ^time u64  |   cell
//	   +---+-----------+------------------+-------+--------+------------------+------------+
//	                                      ^ Split: end of the row key
//	T  +---+-----------+------------+--------------+
//	   | T | table u64 | bucket 9 B | sequence u64 |                tombstone
//	   +---+-----------+------------+--------------+
//	D  +---+-----------+-----------+------------+-------------+------------+----------+
//	   | D | table u64 | shard u32 | bucket 9 B | segment u64 | column u32 | part u32 |   column chunk
//	   +---+-----------+-----------+------------+-------------+------------+----------+
//	X  +---+-----------+-----------+------------+-------------+
//	   | X | table u64 | shard u32 | bucket 9 B | segment u64 |     segment row
//	   +---+-----------+-----------+------------+-------------+
//	P  +---+-----------------+
//	   | P | transaction u64 |                                       staged segments of a large transaction
//	   +---+-----------------+
//
// In esc a 00 byte is spelled 00 FF, and 00 01 ends the string.
//
// # Buckets
//
// A bucket is 9 bytes: its start in microseconds since 1970 with the sign bit
// flipped, and a class. Classes 0 to 63 give its width, the table's base width
// (its bucket option, or 2 hours) times 2^class, so that buckets of different
// classes of one table are nested or disjoint. The special classes hold rows
// whose time is -infinity, +infinity or NULL, and all rows of a table without
// a time column.
//
//	Example: table 7, shard 0, bucket of 2 h * 2^3 at 1970-01-01, segment 9
//	58 0000000000000007 00000000 8000000000000000 03 0000000000000009
//
// # Persisted by Pebble
//
// The comparer's name, Split (space C: end of the row key; elsewhere the whole
// key; a truncated key of C, as range bounds may be, is all prefix) and
// FormatVersion never change for a data directory.
package keys

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The spaces: first byte of each key.
const (
	SpaceArrival   byte = 'A'
	SpaceCell      byte = 'C'
	SpaceData      byte = 'D'
	SpaceIndex     byte = 'I'
	SpaceMeta      byte = 'M'
	SpacePending   byte = 'P'
	SpaceRow       byte = 'R'
	SpaceTombstone byte = 'T'
	SpaceSegment   byte = 'X'
)

// Kinds of records in space M.
const (
	MetaFormat  byte = 0x01 // format version of the data directory
	MetaCounter byte = 0x02 // high-water mark of NewID and of segment ids
	MetaTable   byte = 0x03 // a table's Schema
	MetaCount   byte = 0x04 // rows of a table of layout row
	MetaUser    byte = 0x10 // records of the layers above
)

// Columns of a segment that no table has.
const (
	ColumnSequence uint32 = math.MaxUint32     // write order of the rows
	ColumnBloom    uint32 = math.MaxUint32 - 1 // filter over the primary keys
)

// Classes of buckets that are not slices of time.
const (
	ClassMinusInfinity byte = 0xF0
	ClassNoTime        byte = 0xF1
	ClassInfinity      byte = 0xF2
	ClassNull          byte = 0xF3
	MaxClass           byte = 63
)

// Bucket is a slice of time, or one of the special classes.
type Bucket struct {
	Start int64 // microseconds since 1970
	Class byte
}

// BucketSize is the encoded size of a Bucket.
const BucketSize = 9

// The buckets of rows outside the time line, in the order in which TimeOrder
// returns them.
var (
	BucketMinusInfinity = Bucket{math.MinInt64, ClassMinusInfinity}
	BucketNoTime        = Bucket{0, ClassNoTime}
	BucketInfinity      = Bucket{math.MaxInt64, ClassInfinity}
	BucketNull          = Bucket{math.MaxInt64, ClassNull}
)

// Special reports whether b is not a slice of time.
func (b Bucket) Special() bool { return b.Class > MaxClass }

func (b Bucket) String() string { return fmt.Sprintf("%d/%x", b.Start, b.Class) }

// Less orders buckets as their keys.
func (b Bucket) Less(o Bucket) bool {
	if b.Start != o.Start {
		return b.Start < o.Start
	}
	return b.Class < o.Class
}

func appendBucket(dst []byte, b Bucket) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(b.Start)^1<<63)
	return append(dst, b.Class)
}

func decodeBucket(src []byte) Bucket {
	return Bucket{int64(binary.BigEndian.Uint64(src) ^ 1<<63), src[8]}
}

// SegmentID names a segment and with it the prefix of its chunks' keys.
type SegmentID struct {
	Table  uint64
	Shard  uint32
	Bucket Bucket
	ID     uint64 // unique within the store, never reused
}

const segmentIDSize = 8 + 4 + BucketSize + 8

func (s SegmentID) append(dst []byte, space byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, space), s.Table)
	dst = binary.BigEndian.AppendUint32(dst, s.Shard)
	return binary.BigEndian.AppendUint64(appendBucket(dst, s.Bucket), s.ID)
}

// AppendSegment appends the key of a segment row.
func AppendSegment(dst []byte, s SegmentID) []byte { return s.append(dst, SpaceSegment) }

// AppendDataPrefix appends the common prefix of a segment's chunks.
func AppendDataPrefix(dst []byte, s SegmentID) []byte { return s.append(dst, SpaceData) }

// AppendData appends the key of a chunk.
func AppendData(dst []byte, s SegmentID, column, part uint32) []byte {
	dst = binary.BigEndian.AppendUint32(s.append(dst, SpaceData), column)
	return binary.BigEndian.AppendUint32(dst, part)
}

func badKey(key []byte) error { return fmt.Errorf("malformed key %x", key) }

func decodeSegmentID(key []byte) SegmentID {
	return SegmentID{
		Table:  binary.BigEndian.Uint64(key[1:]),
		Shard:  binary.BigEndian.Uint32(key[9:]),
		Bucket: decodeBucket(key[13:]),
		ID:     binary.BigEndian.Uint64(key[13+BucketSize:]),
	}
}

// DecodeSegment decodes the key of a segment row.
func DecodeSegment(key []byte) (SegmentID, error) {
	if len(key) != 1+segmentIDSize || key[0] != SpaceSegment {
		return SegmentID{}, badKey(key)
	}
	return decodeSegmentID(key), nil
}

// DecodeData decodes the key of a chunk.
func DecodeData(key []byte) (s SegmentID, column, part uint32, err error) {
	if len(key) != 1+segmentIDSize+8 || key[0] != SpaceData {
		return s, 0, 0, badKey(key)
	}
	tail := key[1+segmentIDSize:]
	return decodeSegmentID(key), binary.BigEndian.Uint32(tail), binary.BigEndian.Uint32(tail[4:]), nil
}

// AppendTable appends the prefix of a table's (or an index's) keys in a space.
func AppendTable(dst []byte, space byte, table uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, space), table)
}

// AppendArrival appends the key of an arrival block.
func AppendArrival(dst []byte, table uint64, shard uint32, seq uint64) []byte {
	dst = binary.BigEndian.AppendUint32(AppendTable(dst, SpaceArrival, table), shard)
	return binary.BigEndian.AppendUint64(dst, seq)
}

// DecodeArrival decodes the key of an arrival block.
func DecodeArrival(key []byte) (table uint64, shard uint32, seq uint64, err error) {
	if len(key) != 21 || key[0] != SpaceArrival {
		return 0, 0, 0, badKey(key)
	}
	return binary.BigEndian.Uint64(key[1:]), binary.BigEndian.Uint32(key[9:]), binary.BigEndian.Uint64(key[13:]), nil
}

// AppendPending appends the key of a large transaction's commit record.
func AppendPending(dst []byte, txn uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, SpacePending), txn)
}

// DecodePending decodes the key of a large transaction's commit record.
func DecodePending(key []byte) (txn uint64, err error) {
	if len(key) != 9 || key[0] != SpacePending {
		return 0, badKey(key)
	}
	return binary.BigEndian.Uint64(key[1:]), nil
}

// AppendMeta appends the key of a record of space M.
func AppendMeta(dst []byte, kind byte, id []byte) []byte {
	return append(append(dst, SpaceMeta, kind), id...)
}

// AppendMetaID appends the key of a record of space M named by a number.
func AppendMetaID(dst []byte, kind byte, id uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, SpaceMeta, kind), id)
}

// DecodeMetaID decodes the number in a key of space M.
func DecodeMetaID(key []byte) (uint64, error) {
	if len(key) != 10 || key[0] != SpaceMeta {
		return 0, badKey(key)
	}
	return binary.BigEndian.Uint64(key[2:]), nil
}

// AppendEscaped appends s so that byte order is kept and 00 01 ends it.
func AppendEscaped(dst, s []byte) []byte {
	for _, c := range s {
		if dst = append(dst, c); c == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return append(dst, 0, 1)
}

// AppendCell appends the key of a cell; newer timestamps come first.
func AppendCell(dst []byte, table uint64, row []byte, family uint32, qualifier []byte, time int64) []byte {
	dst = AppendEscaped(AppendTable(dst, SpaceCell, table), row)
	dst = AppendEscaped(binary.BigEndian.AppendUint32(dst, family), qualifier)
	return binary.BigEndian.AppendUint64(dst, ^(uint64(time) ^ 1<<63))
}

// AppendTombstone appends the key of a tombstone.
func AppendTombstone(dst []byte, table uint64, b Bucket, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(appendBucket(AppendTable(dst, SpaceTombstone, table), b), seq)
}

// DecodeTombstone decodes the key of a tombstone.
func DecodeTombstone(key []byte) (table uint64, seq uint64, err error) {
	if len(key) != 9+BucketSize+8 || key[0] != SpaceTombstone {
		return 0, 0, badKey(key)
	}
	return binary.BigEndian.Uint64(key[1:]), binary.BigEndian.Uint64(key[9+BucketSize:]), nil
}

// AfterPrefix returns the smallest key greater than every key that starts with
// prefix, nil if there is none.
func AfterPrefix(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
