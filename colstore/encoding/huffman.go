package encoding

import (
	"encoding/binary"

	"github.com/klauspost/compress/huff0"

	"tsdb/colstore/kernels"
)

// Huffman is the form of cold data: values or their differences, less a base,
// as bytes in a Huffman code, with patches for what is no byte. Walks by small
// steps take about two bits a value, and decode at a tenth of the speed of
// packed ones.
const (
	huffValues      = 0
	huffDifferences = 1
)

// huffGain is the part of the size that the code must save.
const huffGain = 16

// huffmanSearch tries values and differences and returns the smaller form in
// e.huff if it is below size.
func (e *Encoder) huffmanSearch(vals []int64, p *profile, size int) bool {
	found := false
	limit := size - size/huffGain
	if plan, ok := huffPlan(vals, p.Lo, p.width); ok {
		found = e.tryHuffman(append(e.tmp2[:0], huffValues), vals, plan, &limit)
	}
	if p.DiffsOverflow {
		return found
	}
	e.diff = extend(e.diff[:0], len(vals)-1)
	for i := range e.diff {
		e.diff[i] = vals[i+1] - vals[i]
	}
	if plan, ok := huffPlan(e.diff, p.DiffLo, p.deltaWidth); ok {
		head := binary.AppendVarint(append(e.tmp2[:0], huffDifferences), vals[0])
		found = e.tryHuffman(head, e.diff, plan, &limit) || found
	}
	return found
}

// huffPlan returns a window of a byte.
func huffPlan(vals []int64, lo int64, width uint) (plan, bool) {
	if width <= 8 {
		return plan{base: lo, width: 8}, true
	}
	w, _, ok := window(vals, width)
	if !ok || w.width > 7 {
		return plan{}, false
	}
	return plan{base: w.base - (128 - 1<<w.width>>1), width: 8}, true
}

// tryHuffman appends to head and keeps the result if it is below limit, which
// it lowers.
func (e *Encoder) tryHuffman(head []byte, vals []int64, p plan, limit *int) bool {
	out := e.appendPatches(binary.AppendVarint(head, p.base), vals, p)
	e.tmp2 = out
	e.bytes = extend(e.bytes[:0], len(e.u64))
	for i, u := range e.u64 {
		e.bytes[i] = byte(u)
	}
	if e.scratch == nil {
		e.scratch = &huff0.Scratch{Reuse: huff0.ReusePolicyNone}
	}
	coded, _, err := huff0.Compress1X(e.bytes, e.scratch)
	if err != nil || len(out)+len(coded) >= *limit {
		return false
	}
	*limit = len(out) + len(coded)
	e.huff = append(append(e.huff[:0], out...), coded...)
	return true
}

func decodeHuffman[T kernels.Int](d *Decoder, dst []T, src []byte) error {
	if len(src) < 1 || src[0] > huffDifferences {
		return malformed("huffman")
	}
	vals, first := dst, int64(0)
	differences := src[0] == huffDifferences
	src = src[1:]
	if differences {
		var n int
		if first, n = binary.Varint(src); n <= 0 {
			return malformed("huffman")
		}
		vals, src = dst[1:], src[n:]
	}
	base, n := binary.Varint(src)
	if n <= 0 {
		return malformed("huffman")
	}
	p := patchedBlock{forBlock: forBlock{base: base}, rows: len(vals)}
	rest, err := p.readPatches(src[n:])
	if err != nil {
		return err
	}
	bytes, err := d.unhuffman(rest, len(vals))
	if err != nil {
		return err
	}
	for i, b := range bytes {
		vals[i] = T(base + int64(b))
	}
	if err := patch(vals, &p); err != nil || !differences {
		return err
	}
	dst[0] = T(first)
	kernels.PrefixSum(vals, T(first))
	return nil
}

// unhuffman decodes n bytes.
func (d *Decoder) unhuffman(src []byte, n int) ([]byte, error) {
	if d.scratch == nil {
		d.scratch = &huff0.Scratch{}
		d.bytes = make([]byte, MaxRows)
	}
	s, rest, err := huff0.ReadTable(src, d.scratch)
	if err != nil {
		return nil, malformed("huffman table")
	}
	d.scratch = s
	out, err := s.Decoder().Decompress1X(d.bytes[:0:n], rest)
	if err != nil || len(out) != n {
		return nil, malformed("huffman code")
	}
	return out, nil
}
