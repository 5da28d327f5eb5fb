// Package segment is the storage format of columns: chunks (key space D),
// segment rows (X), arrival blocks (A) and commit records of large
// transactions (P).
//
// It knows vectors and bytes. Where values are stored, in which order they are
// published and who may see them is the business of colstore; how one block of
// values is spelled, of colstore/encoding.
//
// Invariants: all numbers are little-endian; every value begins with the
// envelope, whose checksum is verified before anything else is believed; an
// unknown magic or version is a *table.CorruptionError, as is any malformed
// byte, never a panic; every chunk ends in Slack zero bytes so that kernels
// may read whole words.
//
// # Envelope
//
//	0  +----------+
//	   | magic    |  4 bytes: "TSDC" chunk, "TSDX" segment row, "TSDA" and "TSDR" arrival block,
//	   |          |  "TSDP" commit record, "TSDB" bloom filter, "TSDT" deleted rows
//	4  +----------+
//	   | version  |  u8, 1; a chunk and a segment row with deleted rows have 2
//	5  +----------+
//	   | zero     |  3 bytes
//	8  +----------+
//	   | length   |  u32, bytes of the body
//	12 +----------+
//	   | CRC-32C  |  u32, of bytes 0 to 11 and the body
//	16 +----------+
//	   | body ... |
//	   +----------+
//
// # Chunk
//
// One column of one part of a segment. A part is a whole number of blocks, the
// same for all columns of the segment. After the envelope:
//
//	16 kind u8 | flags u8 (1: dictionary, 2: it is compressed) | blocks u16
//	20 rows u32
//	24 dictionary offset u32 | dictionary length u32
//	32 directory: per block
//	     encoding u8 | statistics flags u8
//	     rows - 1 uvarint | nulls uvarint | payload length uvarint
//	     bounds present: min, which shares its first bytes with the min before, and max, which
//	       shares them with min; each: shared bytes u8 | others u8 | others
//	     sum present: varint; with flag 64 of floats or 128 of integers instead
//	       float64 or int128, as they are
//	.. payloads, in the order of the blocks, without gaps
//	.. dictionary
//	.. Slack zero bytes, not part of the body
//
// Offsets count from byte 0. Bounds are key parts (package rowkey) cut to
// maxBound bytes; a cut maximum is rounded up. Flags of statistics: 1 bounds
// present, 2 min exact, 4 max exact, 8 sum of integers, 16 sum of floats.
// A dictionary is
//
//	count u32 | width u8 | packed lengths | data, sorted, without repetition
//
// and a compressed one is its size u32 | zstd frame.
//
// Version 1 is read too. Its directory has 40 bytes per block, after which
// payloads, bounds and dictionary follow in any order:
//
//	 0 payload offset u32 | payload length u32
//	 8 rows u16 | nulls u16 | encoding u8 | statistics flags u8
//	14 min length u8 | max length u8
//	16 offset of min u32 (max follows it) | zero u32
//	24 sum 16 bytes: int128, or float64 and 8 zero bytes
//
// # Segment row
//
//	body: uvarints unless stated
//	  rows, order u8 (1: by key, time, sequence), bucket width
//	  smallest sequence, largest sequence, flushed-to sequence (0: not from arrival blocks)
//	  parts: count, blocks of each
//	  blocks: count, rows of each - 1
//	  key flag u8; if 1: first key of each block (shared prefix, rest), last key
//	  time flag u8; if 1: varint min of each block (delta to the block before), uvarint max - min + 1, 0: no times
//	  columns: count, each: id, kind u8, codec u8, nulls, statistics flags u8, min, max, sum 16 bytes,
//	    per part: size, CRC-32C u32
//	  version 2: length and roaring bitmap (portable form) of the rows that were deleted while the segment was made
//
// A row whose segment has no chunk of keys.ColumnSequence has the largest
// sequence; such a segment's smallest and largest sequence are equal.
//
// # Arrival block
//
//	TSDA body: rows u32 | columns u32 | per column: id u32, length u32 | chunks, each padded to 8 bytes
//	TSDR body: rows u32 | per row: uvarint length, row as in key space R    (few rows)
//
// # Commit record
//
//	body: count u32 | per segment: key length u32, row length u32, key of space X, segment row
package segment

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"tsdb/colstore/encoding"
	"tsdb/colstore/table"
)

// Version is the format version that this package writes, except of chunks.
const Version = 1

// ChunkVersion is the format version of chunks; version 1 is read too.
const ChunkVersion = 2

// Slack is the number of zero bytes after a chunk.
const Slack = encoding.Slack

// The magics of the envelope.
const (
	magicChunk   = "TSDC"
	magicSegment = "TSDX"
	magicArrival = "TSDA"
	magicPending = "TSDP"
	magicRows    = "TSDR"
)

const envelopeSize = 16

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// open starts an envelope at the end of dst.
func open(dst []byte, magic string) []byte {
	dst = append(dst, magic...)
	return append(dst, Version, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

// seal fills in length and checksum of the envelope that starts at start and
// ends with dst.
func seal(dst []byte, start int) []byte {
	e := dst[start:]
	binary.LittleEndian.PutUint32(e[8:], uint32(len(e)-envelopeSize))
	binary.LittleEndian.PutUint32(e[12:], checksum(e))
	return dst
}

func checksum(e []byte) uint32 {
	return crc32.Update(crc32.Checksum(e[:12], castagnoli), castagnoli, e[envelopeSize:])
}

// newestVersion returns the newest format version that is read.
func newestVersion(magic string) byte {
	switch magic {
	case magicChunk:
		return ChunkVersion
	case magicSegment:
		return versionDeletes
	}
	return Version
}

// check verifies an envelope and returns it without what follows it.
func check(src []byte, magic, what string) ([]byte, error) {
	e, err := envelope(src, magic, what)
	if err != nil {
		return nil, err
	}
	if got, want := checksum(e), binary.LittleEndian.Uint32(e[12:]); got != want {
		return nil, corrupt(what, "checksum is %08x, stored is %08x", got, want)
	}
	return e, nil
}

// envelope is check without the checksum.
func envelope(src []byte, magic, what string) ([]byte, error) {
	if len(src) < envelopeSize {
		return nil, corrupt(what, "%d bytes are too short", len(src))
	}
	if string(src[:4]) != magic {
		return nil, corrupt(what, "magic is %q, not %q", src[:4], magic)
	}
	if newest := newestVersion(magic); src[4] == 0 || src[4] > newest {
		return nil, corrupt(what, "format version %d is unknown, the newest known is %d", src[4], newest)
	}
	n := uint64(binary.LittleEndian.Uint32(src[8:]))
	if uint64(len(src)-envelopeSize) < n {
		return nil, corrupt(what, "length %d exceeds the %d bytes present", n, len(src)-envelopeSize)
	}
	return src[:envelopeSize+int(n)], nil
}

func corrupt(what, format string, args ...any) error {
	return &table.CorruptionError{What: what, Why: fmt.Sprintf(format, args...)}
}
