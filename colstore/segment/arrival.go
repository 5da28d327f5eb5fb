package segment

import (
	"encoding/binary"

	"tsdb/colstore/encoding"
	"tsdb/colstore/vector"
)

// MaxArrivalRows is the largest number of rows of an arrival block.
const MaxArrivalRows = 8192

// ArrivalWriter encodes arrival blocks, reusing its buffers. The zero value is
// ready.
type ArrivalWriter struct {
	chunk  ChunkWriter
	blocks []encoding.Block
}

// Append encodes the first rows rows of flat columns.
func (w *ArrivalWriter) Append(dst []byte, ids []uint32, cols []*vector.Vector, rows int) []byte {
	start := len(dst)
	dst = open(dst, magicArrival)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(rows))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(cols)))
	at := len(dst)
	dst = append(dst, make([]byte, 8*len(cols))...)
	w.blocks = SplitBlocks(w.blocks[:0], 0, rows)
	w.chunk.SetEffort(encoding.Quick) // a commit waits for it, a flush rewrites it soon
	for i, v := range cols {
		for (len(dst)-start)%8 != 0 {
			dst = append(dst, 0)
		}
		chunk := len(dst)
		dst = w.chunk.Append(dst, v, w.blocks, 0, nil)
		binary.LittleEndian.PutUint32(dst[at+8*i:], ids[i])
		binary.LittleEndian.PutUint32(dst[at+8*i+4:], uint32(len(dst)-chunk))
	}
	return seal(dst, start)
}

// SplitBlocks appends blocks of at most encoding.MaxRows rows.
func SplitBlocks(dst []encoding.Block, from, to int) []encoding.Block {
	for ; from < to; from += encoding.MaxRows {
		dst = append(dst, encoding.Block{From: from, To: min(to, from+encoding.MaxRows)})
	}
	return dst
}

// DecodeArrival decodes an arrival block into flat columns of the kinds; a
// column that the block lacks is nil. The result does not alias src.
func DecodeArrival(src []byte, ids []uint32, kinds []vector.Kind, what string) (cols []*vector.Vector, rows int, err error) {
	e, err := check(src, magicArrival, what)
	if err != nil {
		return nil, 0, err
	}
	body := e[envelopeSize:]
	if len(body) < 8 {
		return nil, 0, corrupt(what, "body is too short")
	}
	rows = int(binary.LittleEndian.Uint32(body))
	n := uint64(binary.LittleEndian.Uint32(body[4:]))
	if rows == 0 || rows > MaxArrivalRows || n > uint64(len(body)-8)/8 {
		return nil, 0, corrupt(what, "%d rows of %d columns", rows, n)
	}
	cols = make([]*vector.Vector, len(ids))
	var d encoding.Decoder
	at := uint64(envelopeSize + 8 + 8*n)
	for i := uint64(0); i < n; i++ {
		dir := body[8+8*i:]
		id, size := binary.LittleEndian.Uint32(dir), uint64(binary.LittleEndian.Uint32(dir[4:]))
		at = (at + 7) &^ 7
		if at+size > uint64(len(e)) {
			return nil, 0, corrupt(what, "column %d lies outside", id)
		}
		for k := range ids {
			if ids[k] != id || cols[k] != nil {
				continue
			}
			if cols[k], err = decodeArrivalColumn(&d, e[at:at+size], kinds[k], rows, what); err != nil {
				return nil, 0, err
			}
		}
		at += size
	}
	return cols, rows, nil
}

func decodeArrivalColumn(d *encoding.Decoder, src []byte, kind vector.Kind, rows int, what string) (*vector.Vector, error) {
	var c Chunk
	if err := c.Open(src, what); err != nil {
		return nil, err
	}
	if c.Kind != kind || c.Rows != rows {
		return nil, corrupt(what, "%d rows of kind %s, not %d of %s", c.Rows, c.Kind, rows, kind)
	}
	v := vector.New(kind, rows)
	if err := c.DecodeAll(d, v); err != nil {
		return nil, corrupt(what, "%v", err)
	}
	return v, nil
}

// Pending is one staged segment of a commit record.
type Pending struct{ Key, Row []byte }

// AppendPending encodes a commit record.
func AppendPending(dst []byte, segs []Pending) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(open(dst, magicPending), uint32(len(segs)))
	for _, p := range segs {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p.Key)))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p.Row)))
		dst = append(append(dst, p.Key...), p.Row...)
	}
	return seal(dst, start)
}

// DecodePending decodes a commit record. The result does not alias src.
func DecodePending(src []byte, what string) ([]Pending, error) {
	e, err := check(src, magicPending, what)
	if err != nil {
		return nil, err
	}
	r := &reader{src: append([]byte(nil), e[envelopeSize:]...)}
	n := r.u32()
	if uint64(n) > uint64(len(r.src))/8 {
		return nil, corrupt(what, "%d segments do not fit", n)
	}
	out := make([]Pending, n)
	for i := range out {
		k, v := uint64(r.u32()), uint64(r.u32())
		out[i] = Pending{Key: r.take(k), Row: r.take(v)}
	}
	if r.bad || len(r.src) != 0 {
		return nil, corrupt(what, "%v", errShort)
	}
	return out, nil
}
