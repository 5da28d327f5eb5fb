package segment

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
)

const magicTombstone = "TSDT"

// versionDeletes is the version of a segment row that ends with deleted rows.
const versionDeletes = 2

// maxTombstone bounds the rows of one record: those of an arrival block or a
// segment, with room.
const maxTombstone = 1 << 24

// Tombstone is one record of deleted rows: of a segment, or of arrival blocks.
//
//	TSDT body: segment u64; if not 0: length uvarint, roaring bitmap (portable form) of rows;
//	  else: count uvarint, per row: sequence uvarint (difference to the row before), row uvarint
type Tombstone struct {
	Segment  uint64          // 0: rows of arrival blocks
	Rows     *roaring.Bitmap // of the segment
	Arrivals []ArrivalRow    // ascending by sequence
}

// ArrivalRow names a row of an arrival block.
type ArrivalRow struct {
	Sequence uint64
	Row      uint32
}

// Append encodes the record.
func (t *Tombstone) Append(dst []byte) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(open(dst, magicTombstone), t.Segment)
	if t.Segment != 0 {
		return seal(appendBitmap(dst, t.Rows), start)
	}
	dst = binary.AppendUvarint(dst, uint64(len(t.Arrivals)))
	last := uint64(0)
	for _, a := range t.Arrivals {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, a.Sequence-last), uint64(a.Row))
		last = a.Sequence
	}
	return seal(dst, start)
}

func appendBitmap(dst []byte, b *roaring.Bitmap) []byte {
	c := b.Clone()
	c.RunOptimize()
	bytes, err := c.ToBytes()
	if err != nil { // writing to memory does not fail
		panic(err)
	}
	return appendString(dst, bytes)
}

// bitmap reads a set of rows.
func (r *reader) bitmap() *roaring.Bitmap {
	src := r.string()
	if r.bad {
		return nil
	}
	b := roaring.New()
	if n, err := b.FromBuffer(append([]byte(nil), src...)); err != nil || n != int64(len(src)) || b.Validate() != nil {
		r.bad = true
		return nil
	}
	return b
}

// DecodeTombstone decodes a record. The result does not alias src.
func DecodeTombstone(src []byte, what string) (*Tombstone, error) {
	e, err := check(src, magicTombstone, what)
	if err != nil {
		return nil, err
	}
	r := &reader{src: e[envelopeSize:]}
	t := &Tombstone{Segment: uint64(r.u32())}
	t.Segment |= uint64(r.u32()) << 32
	if t.Segment != 0 {
		t.Rows = r.bitmap()
	} else {
		n := r.count()
		if n > maxTombstone {
			return nil, corrupt(what, "%d rows do not fit", n)
		}
		t.Arrivals = make([]ArrivalRow, n)
		last := uint64(0)
		for i := range t.Arrivals {
			last += r.uvarint()
			row := r.uvarint()
			if row >= MaxArrivalRows {
				r.bad = true
			}
			t.Arrivals[i] = ArrivalRow{Sequence: last, Row: uint32(row)}
		}
	}
	if r.bad || len(r.src) != 0 {
		return nil, corrupt(what, "%v", errShort)
	}
	return t, nil
}
