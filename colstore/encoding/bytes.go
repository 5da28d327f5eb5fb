package encoding

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/s2"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// minCompress is the size of a text block below which s2 is not tried: it
// saves little there and costs a copy on each read.
const minCompress = 4096

// maxCompress bounds the buffers that compression of one block takes.
const maxCompress = 1 << 28

// MaxBlockBytes bounds a decompressed text block: 1,024 values of 64 MiB would
// not be one block.
const MaxBlockBytes = 1 << 30

// appendCodes writes dictionary codes: sorted columns have few runs of them or
// one.
func (e *Encoder) appendCodes(dst []byte, codes []int32) ([]byte, Encoding) {
	e.i64 = extend(e.i64[:0], len(codes))
	for i, c := range codes {
		e.i64[i] = int64(c)
	}
	at := len(dst)
	out, enc := e.appendI64(append(dst, 0), e.i64)
	if enc != FOR {
		out[at] = byte(enc)
		return out, Codes
	}
	dst = out[:at]
	_, hi := kernels.MinMax(e.i64)
	w := kernels.Width(uint64(hi))
	if kernels.PackedLen(len(codes), w)+1 > len(out)-at {
		out[at] = byte(FOR)
		return out, Codes
	}
	e.u64 = extend(e.u64[:0], len(codes))
	for i, c := range codes {
		e.u64[i] = uint64(c)
	}
	return kernels.Pack(append(dst, byte(w)), e.u64, w), Dict
}

func (e *Encoder) appendText(dst []byte, v *vector.Vector, from, to int) ([]byte, Encoding) {
	first, same := -1, true
	for i := from; i < to && same; i++ {
		if v.Valid != nil && !v.Valid.Get(i) {
			continue
		}
		if first < 0 {
			first = i
		}
		same = bytes.Equal(v.Bytes(i), v.Bytes(first))
	}
	if same {
		return append(dst, v.Bytes(first)...), Const
	}
	size := int(v.Offsets[to] - v.Offsets[from])
	if size < minCompress || size > maxCompress {
		return e.appendPlain(dst, v, from, to), Plain
	}
	e.tmp = e.appendPlain(e.tmp[:0], v, from, to)
	if e.Effort != Quick {
		if out, ok := Compress(dst, e.tmp); ok {
			return out, Zstd
		}
		return append(dst, e.tmp...), Plain
	}
	if need := s2.MaxEncodedLen(len(e.tmp)); cap(e.tmp2) < need {
		e.tmp2 = make([]byte, need)
	}
	packed := s2.Encode(e.tmp2[:cap(e.tmp2)], e.tmp)
	if len(packed) > len(e.tmp)*7/8 {
		return append(dst, e.tmp...), Plain
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.tmp)))
	return append(dst, packed...), S2
}

func (e *Encoder) appendPlain(dst []byte, v *vector.Vector, from, to int) []byte {
	lo, hi := uint64(math.MaxUint64), uint64(0)
	e.u64 = e.u64[:0]
	for i := from; i < to; i++ {
		n := uint64(v.Offsets[i+1] - v.Offsets[i])
		lo, hi = min(lo, n), max(hi, n)
		e.u64 = append(e.u64, n)
	}
	for i := range e.u64 {
		e.u64[i] -= lo
	}
	w := kernels.Width(hi - lo)
	dst = append(binary.LittleEndian.AppendUint32(dst, uint32(lo)), byte(w))
	dst = kernels.Pack(dst, e.u64, w)
	return append(dst, v.Data[v.Offsets[from]:v.Offsets[to]]...)
}

func (d *Decoder) decodeBytes(dst *vector.Vector, enc Encoding, src []byte, rows, dictLen int) error {
	switch enc {
	case Dict:
		return decodeCodes(dst, src, rows, dictLen)
	case Codes:
		return d.decodeCodeInts(dst, src, rows, dictLen)
	case Const:
		if len(src) > math.MaxInt32/rows-len(dst.Data)/rows-1 {
			return malformed("constant too long")
		}
		for i := 0; i < rows; i++ {
			dst.Data = append(dst.Data, src...)
			dst.Offsets = append(dst.Offsets, int32(len(dst.Data)))
		}
		return nil
	case Plain:
		return d.decodePlain(dst, src, rows)
	case S2:
		return d.decodeS2(dst, src, rows)
	case Zstd:
		return d.decodeZstd(dst, src, rows)
	}
	return malformed("text encoding " + enc.String())
}

func decodeCodes(dst *vector.Vector, src []byte, rows, dictLen int) error {
	if len(src) < 1 || src[0] > 31 {
		return malformed("dictionary codes")
	}
	w := uint(src[0])
	if err := packed(src[1:], rows, w); err != nil {
		return err
	}
	base := dst.N
	dst.I32 = extend(dst.I32[:base], rows)
	out := dst.I32[base:]
	kernels.Unpack(out, withSlack(src[1:]), w, 0)
	if int64(1)<<w > int64(dictLen) {
		return checkCodes(out, dictLen)
	}
	return nil
}

func checkCodes(codes []int32, dictLen int) error {
	for _, c := range codes {
		if uint32(c) >= uint32(dictLen) {
			return malformed("dictionary code")
		}
	}
	return nil
}

func (d *Decoder) decodeCodeInts(dst *vector.Vector, src []byte, rows, dictLen int) error {
	if len(src) < 1 {
		return malformed("dictionary codes")
	}
	base := dst.N
	dst.I32 = extend(dst.I32[:base], rows)
	if err := decodeInts(d, dst.I32[base:], Encoding(src[0]), src[1:]); err != nil {
		return err
	}
	return checkCodes(dst.I32[base:], dictLen)
}

func (d *Decoder) decodePlain(dst *vector.Vector, src []byte, rows int) error {
	if len(src) < 5 {
		return malformed("text")
	}
	base, w := binary.LittleEndian.Uint32(src), uint(src[4])
	n := kernels.PackedLen(rows, w)
	if w > 31 || base > MaxBlockBytes || len(src) < 5+n {
		return malformed("text lengths")
	}
	d.i64 = extend(d.i64[:0], rows)
	kernels.Unpack(d.i64, withSlack(src[5:5+n]), w, int64(base))
	data := src[5+n:]
	end := int64(len(dst.Data))
	if end+int64(len(data)) > math.MaxInt32 {
		return malformed("text too long")
	}
	start, limit := end, end+int64(len(data))
	at := len(dst.Offsets)
	dst.Offsets = extend(dst.Offsets, rows)
	for i, l := range d.i64 {
		end += l
		dst.Offsets[at+i] = int32(end)
		if end > limit {
			return malformed("text length")
		}
	}
	if end-start != int64(len(data)) {
		return malformed("text length")
	}
	dst.Data = append(dst.Data, data...)
	return nil
}
