// Package rowkey turns tuples into byte strings that sort like the tuples, and
// predicates on key parts into spans of such strings.
//
// It knows vectors and bytes, not SQL types, tables or storage. Templates of
// the wide-column layouts and their codecs belong here too.
//
// # Layout
//
// A key is its parts one after the other, nothing between or around them; each
// part ends by itself, so that a key's prefix of whole parts is a byte prefix:
//
//	+--------+--------+-----+--------+
//	| part 1 | part 2 | ... | part n |
//	+--------+--------+-----+--------+
//
// The layout of a part under each codec is at AppendKey. The row ('ab', 7,
// -1.5) of (text, int4, numeric) has the key
//
//	61 62 00 01 | 80 00 00 07 | 02 7f ff ff fd ec 76 ff ff
//
// A row with a NULL among the parts has no key.
//
// Invariant: for rows a and b, bytes.Compare(Key(a), Key(b)) has the sign of
// the comparison of their key parts, part by part; no key is a proper prefix
// of another key of the same parts.
package rowkey

// Span is a range of keys: Start <= key < End. A nil End has no upper bound.
type Span struct{ Start, End []byte }

// Part says how one column is spelled in the key.
type Part struct {
	Column int // index of the column in its table's schema
	Codec  Codec
}

// Codec is the order-preserving spelling of one key part. The numbers are
// written into files: append only.
type Codec uint8

// The codecs of ordered keys.
const (
	CodecNone     Codec = 0 // values of the column have no key form
	CodecBool     Codec = 1
	CodecInt      Codec = 2 // Int16, Int32, Int64: sign bit flipped, big-endian
	CodecUint     Codec = 3 // Uint32
	CodecFloat    Codec = 4 // IEEE order, -0 = 0, NaN largest
	CodecBytes    Codec = 5 // 00 -> 00 FF, ended by 00 01
	CodecFixed    Codec = 6 // 16 bytes as they are (uuid)
	CodecInterval Codec = 7 // PostgreSQL's order: month = 30 days, day = 24 h, as 128 bits
	CodecNumeric  Codec = 8 // base-10,000 digits, trailing zeros and display scale ignored
)
