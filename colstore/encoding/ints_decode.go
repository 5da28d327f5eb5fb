package encoding

import (
	"encoding/binary"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

func intsInto[T kernels.Int](d *Decoder, s *[]T, dst *vector.Vector, enc Encoding, src []byte, rows int) error {
	base := dst.N
	*s = extend((*s)[:base], rows)
	return decodeInts(d, (*s)[base:], enc, src)
}

// packed checks that src holds n values of width w and nothing else.
func packed(src []byte, n int, w uint) error {
	if w > 64 || len(src) != kernels.PackedLen(n, w) {
		return malformed("packed length")
	}
	return nil
}

// forBlock is a parsed FOR payload, or the packed part of another form.
type forBlock struct {
	base  int64
	width uint
	bits  []byte // with slack
}

func parseFOR(src []byte, n int) (forBlock, error) {
	if len(src) < 9 {
		return forBlock{}, malformed("frame of reference")
	}
	f := forBlock{int64(binary.LittleEndian.Uint64(src)), uint(src[8]), nil}
	if err := packed(src[9:], n, f.width); err != nil {
		return forBlock{}, err
	}
	f.bits = withSlack(src[9:])
	return f, nil
}

// decodeInts decodes a whole block of the integer ladder.
func decodeInts[T kernels.Int](d *Decoder, dst []T, enc Encoding, src []byte) error {
	if len(dst) == 0 {
		return malformed("no rows")
	}
	switch enc {
	case Const:
		if len(src) != 8 {
			return malformed("constant")
		}
		kernels.Unpack(dst, nil, 0, int64(binary.LittleEndian.Uint64(src)))
		return nil
	case FOR:
		f, err := parseFOR(src, len(dst))
		if err != nil {
			return err
		}
		kernels.Unpack(dst, f.bits, f.width, f.base)
		return nil
	case Delta:
		return decodeDelta(dst, src)
	case Step:
		return decodeStep(dst, src)
	case Linear:
		return decodeLinear(dst, src)
	case PatchedFOR:
		p, err := parsePatched(src, len(dst))
		if err != nil {
			return err
		}
		kernels.Unpack(dst, p.bits, p.width, p.base)
		return patch(dst, &p)
	case PatchedDelta:
		return decodePatchedDelta(dst, src)
	case Runs:
		return decodeRuns(d, dst, src)
	case Huffman:
		return decodeHuffman(d, dst, src)
	case Scaled:
		s, err := parseScaled(src)
		if err != nil {
			return err
		}
		if err := decodeInts(d, dst, s.enc, s.ints); err != nil {
			return err
		}
		for i, x := range dst {
			dst[i] = T(s.base + int64(x)*s.factor)
		}
		return nil
	}
	return malformed("integer encoding " + enc.String())
}

func decodeDelta[T kernels.Int](dst []T, src []byte) error {
	if len(src) < 17 {
		return malformed("delta")
	}
	first, base := int64(binary.LittleEndian.Uint64(src)), int64(binary.LittleEndian.Uint64(src[8:]))
	w := uint(src[16])
	if err := packed(src[17:], len(dst)-1, w); err != nil {
		return err
	}
	dst[0] = T(first)
	kernels.UnpackDeltas(dst[1:], withSlack(src[17:]), w, base, T(first))
	return nil
}

func decodeStep[T kernels.Int](dst []T, src []byte) error {
	if len(src) != 16 {
		return malformed("step")
	}
	x, step := int64(binary.LittleEndian.Uint64(src)), int64(binary.LittleEndian.Uint64(src[8:]))
	for i := range dst {
		dst[i] = T(x)
		x += step
	}
	return nil
}

func decodeLinear[T kernels.Int](dst []T, src []byte) error {
	if len(src) < 25 {
		return malformed("linear")
	}
	first, slope := int64(binary.LittleEndian.Uint64(src)), int64(binary.LittleEndian.Uint64(src[8:]))
	base, w := int64(binary.LittleEndian.Uint64(src[16:])), uint(src[24])
	if err := packed(src[25:], len(dst), w); err != nil {
		return err
	}
	kernels.Unpack(dst, withSlack(src[25:]), w, first+base)
	line := int64(0)
	for i := range dst {
		dst[i] += T(line >> slopeBits)
		line += slope
	}
	return nil
}

func decodePatchedDelta[T kernels.Int](dst []T, src []byte) error {
	first, n := binary.Varint(src)
	if n <= 0 {
		return malformed("patched delta")
	}
	p, err := parsePatched(src[n:], len(dst)-1)
	if err != nil {
		return err
	}
	dst[0] = T(first)
	if p.count == 0 {
		kernels.UnpackDeltas(dst[1:], p.bits, p.width, p.base, T(first))
		return nil
	}
	kernels.Unpack(dst[1:], p.bits, p.width, p.base)
	if err := patch(dst[1:], &p); err != nil {
		return err
	}
	kernels.PrefixSum(dst[1:], T(first))
	return nil
}

// patchedBlock is a parsed payload of a patched form.
type patchedBlock struct {
	forBlock
	rows, count int
	patches     []byte
}

// parsePatched finds the parts of base | width | patches | packed. The patches
// are varints, so that their end is known only after a walk over them, which
// checks them too.
func parsePatched(src []byte, rows int) (patchedBlock, error) {
	var p patchedBlock
	base, n := binary.Varint(src)
	if n <= 0 || len(src) < n+2 {
		return p, malformed("patched")
	}
	p.base, p.width, p.rows = base, uint(src[n]), rows
	if p.width > 63 {
		return p, malformed("patched width")
	}
	src, err := p.readPatches(src[n+1:])
	if err != nil {
		return p, err
	}
	if err := packed(src, rows, p.width); err != nil {
		return p, err
	}
	p.bits = withSlack(src)
	return p, nil
}

// readPatches sets the patches of the block and returns what follows them.
func (p *patchedBlock) readPatches(src []byte) ([]byte, error) {
	count, n := binary.Uvarint(src)
	if n <= 0 || count > uint64(p.rows) {
		return nil, malformed("patches")
	}
	src = src[n:]
	p.count, p.patches = int(count), src
	next := 0
	for range p.count {
		_, _, size := nextPatch(src, &next, p.rows)
		if size == 0 {
			return nil, malformed("patch")
		}
		src = src[size:]
	}
	return src, nil
}

// nextPatch returns the row and the value above the base of the patch at the
// start of src and its size, 0 if there is none. next is the smallest row that
// it may have.
func nextPatch(src []byte, next *int, rows int) (row int, above int64, size int) {
	skip, n := binary.Uvarint(src)
	if n <= 0 || skip >= uint64(rows-*next) {
		return 0, 0, 0
	}
	above, m := binary.Varint(src[n:])
	if m <= 0 {
		return 0, 0, 0
	}
	row = *next + int(skip)
	*next = row + 1
	return row, above, n + m
}

// patch writes the patches of a parsed block.
func patch[T kernels.Int](dst []T, p *patchedBlock) error {
	src, next := p.patches, 0
	for range p.count {
		row, above, size := nextPatch(src, &next, len(dst))
		if size == 0 {
			return malformed("patch")
		}
		dst[row] = T(p.base + above)
		src = src[size:]
	}
	return nil
}

// scaledBlock is a parsed Scaled payload: base + integers * factor.
type scaledBlock struct {
	base, factor int64
	enc          Encoding
	ints         []byte
}

func parseScaled(src []byte) (scaledBlock, error) {
	base, n := binary.Varint(src)
	if n <= 0 {
		return scaledBlock{}, malformed("scaled")
	}
	factor, m := binary.Uvarint(src[n:])
	if m <= 0 || len(src) < n+m+1 || Encoding(src[n+m]) == Scaled {
		return scaledBlock{}, malformed("scaled")
	}
	return scaledBlock{base, int64(factor), Encoding(src[n+m]), src[n+m+1:]}, nil
}

// parseRuns decodes the run values to d.runs and the lengths to d.lens, whose
// sum is rows.
func (d *Decoder) parseRuns(src []byte, rows int) error {
	if len(src) < 3 {
		return malformed("runs")
	}
	n, w := int(binary.LittleEndian.Uint16(src)), uint(src[2])
	size := kernels.PackedLen(n, w)
	if n == 0 || n > rows || w > 10 || len(src) < 4+size {
		return malformed("runs")
	}
	d.lens = extend(d.lens[:0], n)
	kernels.Unpack(d.lens, withSlack(src[3:3+size]), w, 1)
	total := int64(0)
	for _, l := range d.lens {
		total += l
	}
	if total != int64(rows) {
		return malformed("run lengths")
	}
	enc := Encoding(src[3+size])
	if enc == Runs || enc == Scaled {
		return malformed("form of runs")
	}
	d.runs = extend(d.runs[:0], n)
	return decodeInts(d, d.runs, enc, src[4+size:])
}

func decodeRuns[T kernels.Int](d *Decoder, dst []T, src []byte) error {
	if err := d.parseRuns(src, len(dst)); err != nil {
		return err
	}
	at := 0
	for i, l := range d.lens {
		x := T(d.runs[i])
		for end := at + int(l); at < end; at++ {
			dst[at] = x
		}
	}
	return nil
}

// withSlack re-slices src over the readable bytes that follow it.
func withSlack(src []byte) []byte { return src[: len(src)+kernels.Slack : cap(src)] }
