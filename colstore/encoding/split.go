package encoding

import (
	"encoding/binary"
	"slices"

	"tsdb/colstore/kernels"
)

// Floats without a decimal form mostly share sign, exponent and first digits.
// Split cuts each value's bits in two: the left part, at most maxLeft bits, is
// a code into a dictionary of at most maxEntries, the right part is packed as
// it is.
const (
	maxLeft    = 16
	maxEntries = 8
	splitTries = 32 // values sampled for the cut
)

// splitPlan is a cut with its dictionary.
type splitPlan struct {
	cut     uint
	entries [maxEntries]uint16
	count   int
	bits    int // estimated per value, exceptions included
}

// planSplit tries every cut on a sample of the values' bits.
func planSplit(bits []int64, size int) splitPlan {
	best := splitPlan{bits: 8 * size}
	for left := uint(1); left <= maxLeft; left++ {
		p := splitPlan{cut: uint(8*size) - left}
		var parts [splitTries]uint16
		n := min(len(bits), splitTries)
		for i := range n {
			parts[i] = uint16(uint64(bits[i*len(bits)/n]) >> p.cut)
		}
		rest := p.fill(parts[:n])
		p.bits = int(p.cut+kernels.Width(uint64(p.count-1))) + rest*32/n
		if p.bits < best.bits {
			best = p
		}
	}
	return best
}

// fill takes the most frequent parts as entries and returns how many values
// have others.
func (p *splitPlan) fill(parts []uint16) (rest int) {
	slices.Sort(parts)
	var seen [splitTries]struct {
		part  uint16
		times int
	}
	n := 0
	for i, x := range parts {
		if i == 0 || x != parts[i-1] {
			seen[n].part = x
			n++
		}
		seen[n-1].times++
	}
	for i := 1; i < n; i++ {
		for j := i; j > 0 && seen[j-1].times < seen[j].times; j-- {
			seen[j-1], seen[j] = seen[j], seen[j-1]
		}
	}
	p.count = min(n, maxEntries)
	for i := range n {
		if i < p.count {
			p.entries[i] = seen[i].part
		} else {
			rest += seen[i].times
		}
	}
	return rest
}

// appendSplit gives up when it saves less than a sixteenth.
func (e *Encoder) appendSplit(dst []byte, bits []int64, size int) ([]byte, bool) {
	p := planSplit(bits, size)
	if p.count == 0 || p.bits*16 > 8*size*15 {
		return dst, false
	}
	e.u64, e.lens, e.pos = extend(e.u64[:0], len(bits)), extend(e.lens[:0], len(bits)), e.pos[:0]
	for i, b := range bits {
		left := uint16(uint64(b) >> p.cut)
		code := slices.Index(p.entries[:p.count], left)
		if code < 0 {
			e.pos = append(e.pos, uint16(i))
			code = 0
		}
		e.lens[i], e.u64[i] = uint64(code), uint64(b)
	}
	start := len(dst)
	dst = append(dst, byte(p.cut), byte(p.count))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(e.pos)))
	for _, x := range p.entries[:p.count] {
		dst = binary.LittleEndian.AppendUint16(dst, x)
	}
	for _, at := range e.pos {
		dst = binary.LittleEndian.AppendUint16(dst, at)
	}
	for _, at := range e.pos {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(uint64(bits[at])>>p.cut))
	}
	dst = kernels.Pack(dst, e.lens, kernels.Width(uint64(p.count-1)))
	dst = kernels.Pack(dst, e.u64, p.cut)
	return dst, (len(dst)-start)*16 <= len(bits)*size*15
}

func decodeSplit[T float](d *Decoder, out []T, src []byte) error {
	size := sizeOf[T]()
	if len(src) < 4 {
		return malformed("split")
	}
	cut, count, exceptions := uint(src[0]), int(src[1]), int(binary.LittleEndian.Uint16(src[2:]))
	if cut >= uint(8*size) || cut+maxLeft < uint(8*size) || count < 1 || count > maxEntries || exceptions > len(out) {
		return malformed("split")
	}
	w := kernels.Width(uint64(count - 1))
	n, m := kernels.PackedLen(len(out), w), kernels.PackedLen(len(out), cut)
	if src = src[4:]; len(src) != 2*count+4*exceptions+n+m {
		return malformed("split length")
	}
	var left [maxEntries]uint64
	for i := range count {
		left[i] = uint64(binary.LittleEndian.Uint16(src[2*i:])) << cut
	}
	pos, parts := src[2*count:], src[2*count+2*exceptions:]
	src = src[2*count+4*exceptions:]
	d.lens, d.i64 = extend(d.lens[:0], len(out)), extend(d.i64[:0], len(out))
	kernels.Unpack(d.lens, withSlack(src[:n]), w, 0)
	kernels.Unpack(d.i64, withSlack(src[n:]), cut, 0)
	for i, x := range d.i64 {
		out[i] = floatFrom[T](left[d.lens[i]&(maxEntries-1)] | uint64(x))
	}
	for k := range exceptions {
		at := int(binary.LittleEndian.Uint16(pos[2*k:]))
		if at >= len(out) {
			return malformed("split exception")
		}
		out[at] = floatFrom[T](uint64(binary.LittleEndian.Uint16(parts[2*k:]))<<cut | uint64(d.i64[at]))
	}
	return nil
}
