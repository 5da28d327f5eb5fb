package encoding

import (
	"encoding/binary"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// deltaGain is the number of bits per value that a form without random access
// must save against one with it, because it decodes slower and aggregates
// only after decoding.
const deltaGain = 2

// headerSlack is by how many bytes headers of the forms differ, which is not
// what decides between them.
const headerSlack = 16

// minScaled is the number of values below which a common divisor saves less
// than it takes.
const minScaled = 64

// minHuffman is the number of values below which the table of a code takes what
// it saves.
const minHuffman = 64

// minPatchGain is the number of bytes that patches must save.
const minPatchGain = 16

func appendInts[T kernels.Int](e *Encoder, dst []byte, vals []T, v *vector.Vector, from, nulls int) ([]byte, Encoding) {
	e.i64 = extend(e.i64[:0], len(vals))
	for i, x := range vals {
		e.i64[i] = int64(x)
	}
	if nulls > 0 {
		fillNulls(e.i64, v, from)
	}
	return e.appendI64(dst, e.i64)
}

// fillNulls gives NULL rows the value of the row before, or of the first row
// that has one.
func fillNulls[T any](vals []T, v *vector.Vector, from int) {
	first := 0
	for !v.Valid.Get(from + first) {
		first++
	}
	last := vals[first]
	for i := range vals {
		if v.Valid.Get(from + i) {
			last = vals[i]
		} else {
			vals[i] = last
		}
	}
}

// profile is what one pass over a block of integers finds.
type profile struct {
	kernels.Profile
	runs       int
	width      uint // of values above Lo
	deltaWidth uint // of differences above DiffLo
}

func profileOf(vals []int64) profile {
	p := profile{Profile: kernels.ProfileOf(vals)}
	p.runs = p.Changes + 1
	p.width = kernels.Width(uint64(p.Hi) - uint64(p.Lo))
	p.deltaWidth = kernels.Width(uint64(p.DiffHi) - uint64(p.DiffLo))
	return p
}

// appendI64 encodes one value or more by the integer ladder.
func (e *Encoder) appendI64(dst []byte, vals []int64) ([]byte, Encoding) {
	p := profileOf(vals)
	switch {
	case p.Lo == p.Hi:
		return binary.LittleEndian.AppendUint64(dst, uint64(p.Lo)), Const
	case p.DiffLo == p.DiffHi && !p.DiffsOverflow:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(vals[0]))
		return binary.LittleEndian.AppendUint64(dst, uint64(p.DiffLo)), Step
	}
	n := len(vals)
	if e.Effort != Quick && p.width > 4 && n >= minScaled {
		if g := divisor(vals, &p); g > 1 {
			return e.appendScaled(dst, vals, &p, g), Scaled
		}
	}
	plan, size := e.choose(vals, &p)
	if e.Effort == Cold && n >= minHuffman && size > n/8 && e.huffmanSearch(vals, &p, size) {
		plan.enc, size = Huffman, len(e.huff)
	}
	if p.runs <= n/4 {
		if out := e.appendRuns(e.trial[:0], vals, p.runs); len(out) <= size {
			e.trial = out
			return append(dst, out...), Runs
		} else {
			e.trial = out
		}
	}
	switch plan.enc {
	case Huffman:
		return append(dst, e.huff...), Huffman
	case Linear:
		return e.appendLinear(dst, vals, plan), Linear
	case PatchedFOR:
		dst = binary.AppendVarint(dst, plan.base)
		return e.appendPatched(dst, vals, plan), PatchedFOR
	case Delta:
		return e.appendDelta(dst, vals, p.DiffLo, p.deltaWidth), Delta
	case PatchedDelta:
		dst = binary.AppendVarint(binary.AppendVarint(dst, vals[0]), plan.base)
		return e.appendPatched(dst, e.diff, plan), PatchedDelta
	}
	return e.appendFOR(dst, vals, p.Lo, p.width), FOR
}

// plan is a form with its parameters.
type plan struct {
	enc         Encoding
	base, slope int64
	width       uint
}

// choose compares the sizes of the forms; those that need differences in
// sequence must beat the others by deltaGain bits a value. It leaves the
// differences in e.diff where it names PatchedDelta.
func (e *Encoder) choose(vals []int64, p *profile) (plan, int) {
	n := len(vals)
	best, size := plan{enc: FOR}, 9+kernels.PackedLen(n, p.width)
	if e.Effort != Quick {
		if l, ok := linear(vals, p); ok {
			if s := 25 + kernels.PackedLen(n, l.width); s < size {
				best, size = l, s
			}
		}
		if w, s, ok := window(vals, p.width); ok && s+minPatchGain <= size {
			best, size = plan{enc: PatchedFOR, base: w.base, width: w.width}, s
		}
	}
	seq, seqSize := plan{enc: Delta}, 17+kernels.PackedLen(n-1, p.deltaWidth)
	if p.DiffsOverflow {
		seqSize = size * 2
	}
	gain := deltaGain*n/8 - headerSlack
	if e.Effort == Cold {
		gain = 0
	}
	if e.Effort != Quick && !p.DiffsOverflow && p.deltaWidth > 0 {
		e.diff = extend(e.diff[:0], n-1)
		for i := range e.diff {
			e.diff[i] = vals[i+1] - vals[i]
		}
		if w, s, ok := window(e.diff, p.deltaWidth); ok && s+minPatchGain <= seqSize {
			seq, seqSize = plan{enc: PatchedDelta, base: w.base, width: w.width}, s
		}
	}
	if seqSize+gain <= size && seqSize < size {
		return seq, seqSize
	}
	return best, size
}

func (e *Encoder) appendFOR(dst []byte, vals []int64, base int64, width uint) []byte {
	dst = append(binary.LittleEndian.AppendUint64(dst, uint64(base)), byte(width))
	e.u64 = extend(e.u64[:0], len(vals))
	for i, x := range vals {
		e.u64[i] = uint64(x) - uint64(base)
	}
	return kernels.Pack(dst, e.u64, width)
}

func (e *Encoder) appendDelta(dst []byte, vals []int64, base int64, width uint) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(vals[0]))
	dst = append(binary.LittleEndian.AppendUint64(dst, uint64(base)), byte(width))
	e.u64 = extend(e.u64[:0], len(vals)-1)
	for i := range e.u64 {
		e.u64[i] = uint64(vals[i+1]) - uint64(vals[i]) - uint64(base)
	}
	return kernels.Pack(dst, e.u64, width)
}

// divisor returns the largest number that divides all distances from the
// smallest value, as of times in whole seconds.
func divisor(vals []int64, p *profile) uint64 {
	g := uint64(p.Hi) - uint64(p.Lo)
	for _, x := range vals {
		d := uint64(x) - uint64(p.Lo)
		for d%g != 0 {
			if g, d = d%g, g; g == 1 {
				return 1
			}
		}
	}
	return g
}

// appendScaled encodes (value - smallest) / g, whose divisor is 1 then.
func (e *Encoder) appendScaled(dst []byte, vals []int64, p *profile, g uint64) []byte {
	for i, x := range vals {
		vals[i] = int64((uint64(x) - uint64(p.Lo)) / g)
	}
	dst = binary.AppendUvarint(binary.AppendVarint(dst, p.Lo), g)
	at := len(dst)
	out, enc := e.appendI64(append(dst, 0), vals)
	out[at] = byte(enc)
	return out
}

// slopeBits is the number of fraction bits of a slope.
const slopeBits = 16

// maxRise bounds what a line climbs: times i and its fraction bits it must fit.
const maxRise = 1 << 44

// linear fits a line through the means of both halves. It is worth a pass only
// where these lie far apart.
func linear(vals []int64, p *profile) (plan, bool) {
	h := len(vals) / 2
	if h < 8 || uint64(p.Hi)-uint64(p.Lo) > maxRise {
		return plan{}, false
	}
	first := vals[0]
	var rise int64
	for i, x := range vals[:h] {
		rise += vals[len(vals)-h+i] - x
	}
	distance := len(vals) - h
	if 2*max(rise, -rise)/int64(h) < (p.Hi-p.Lo)/2 {
		return plan{}, false
	}
	slope := int64(float64(rise) / float64(h*distance) * (1 << slopeBits))
	lo, hi := int64(0), int64(0)
	line := int64(0)
	for _, x := range vals {
		r := x - first - line>>slopeBits
		lo, hi = min(lo, r), max(hi, r)
		line += slope
	}
	return plan{enc: Linear, base: lo, slope: slope, width: kernels.Width(uint64(hi - lo))}, true
}

func (e *Encoder) appendLinear(dst []byte, vals []int64, p plan) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(vals[0]))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(p.slope))
	dst = append(binary.LittleEndian.AppendUint64(dst, uint64(p.base)), byte(p.width))
	e.u64 = extend(e.u64[:0], len(vals))
	line := int64(0)
	for i, x := range vals {
		e.u64[i] = uint64(x - vals[0] - line>>slopeBits - p.base)
		line += p.slope
	}
	return kernels.Pack(dst, e.u64, p.width)
}

// appendRuns encodes vals as lengths and values of runs.
func (e *Encoder) appendRuns(dst []byte, vals []int64, runs int) []byte {
	e.runs, e.lens = e.runs[:0], e.lens[:0]
	start := 0
	var longest uint64
	for i := 1; i <= len(vals); i++ {
		if i == len(vals) || vals[i] != vals[start] {
			l := uint64(i - start - 1)
			e.runs, e.lens, longest = append(e.runs, vals[start]), append(e.lens, l), longest|l
			start = i
		}
	}
	w := kernels.Width(longest)
	dst = append(binary.LittleEndian.AppendUint16(dst, uint16(runs)), byte(w))
	dst = kernels.Pack(dst, e.lens, w)
	at := len(dst)
	dst = append(dst, 0)
	p := profileOf(e.runs)
	var enc Encoding
	switch {
	case p.Lo == p.Hi:
		dst, enc = binary.LittleEndian.AppendUint64(dst, uint64(p.Lo)), Const
	case p.DiffLo == p.DiffHi && !p.DiffsOverflow:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(e.runs[0]))
		dst, enc = binary.LittleEndian.AppendUint64(dst, uint64(p.DiffLo)), Step
	case !p.DiffsOverflow && p.deltaWidth+deltaGain <= p.width:
		dst, enc = e.appendDelta(dst, e.runs, p.DiffLo, p.deltaWidth), Delta
	default:
		dst, enc = e.appendFOR(dst, e.runs, p.Lo, p.width), FOR
	}
	dst[at] = byte(enc)
	return dst
}
