package encoding

import (
	"encoding/binary"
	"math/bits"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// appendValidity appends n bits from bit from on, as runs where that is
// shorter.
func (e *Encoder) appendValidity(dst []byte, b vector.Bitmap, from, n int) ([]byte, Encoding) {
	start := len(dst)
	if out, ok := e.appendBitRuns(dst, b, from, n); ok {
		return out, ValidRuns
	}
	return appendBits(dst[:start], b, from, n), 0
}

// appendBitRuns gives up where a bitmap is as short.
func (e *Encoder) appendBitRuns(dst []byte, b vector.Bitmap, from, n int) ([]byte, bool) {
	full := vector.Words(n) * 8
	most := full * 8 / 2 // runs whose lengths, of two bits at least, take a bitmap
	changes := 0
	for i := 0; i < n-1; i += 63 {
		x := loadBits(b, from+i)
		m := min(63, n-1-i)
		changes += bits.OnesCount64((x ^ x>>1) & (1<<uint(m) - 1))
	}
	if changes >= most || 4+(changes+1)/4 >= full {
		return dst, false
	}
	e.lens = e.lens[:0]
	first := loadBits(b, from) & 1
	var longest uint64
	for at, v := 0, first; at < n; v ^= 1 {
		l := bitRun(b, from+at, n-at, v)
		at += l
		e.lens, longest = append(e.lens, uint64(l-1)), longest|uint64(l-1)
	}
	w := kernels.Width(longest)
	if 4+kernels.PackedLen(len(e.lens), w) >= full {
		return dst, false
	}
	dst = binary.LittleEndian.AppendUint16(append(dst, byte(first)), uint16(len(e.lens)))
	return kernels.Pack(append(dst, byte(w)), e.lens, w), true
}

// bitRun returns how many of the n bits from bit i on equal v before one
// differs.
func bitRun(b vector.Bitmap, i, n int, v uint64) int {
	flip := -v // ones become zeros
	for l := 0; l < n; l += 64 {
		if x := loadBits(b, i+l) ^ flip; x != 0 {
			return min(n, l+bits.TrailingZeros64(x))
		}
	}
	return n
}

// bitRuns decodes bit runs to words and returns their size.
func (d *Decoder) bitRuns(out []uint64, src []byte, rows int) (int, error) {
	if len(src) < 4 {
		return 0, malformed("bit runs")
	}
	n, w := int(binary.LittleEndian.Uint16(src[1:])), uint(src[3])
	size := kernels.PackedLen(n, w)
	if n > rows || w > 10 || len(src) < 4+size {
		return 0, malformed("bit runs")
	}
	d.lens = extend(d.lens[:0], n)
	kernels.Unpack(d.lens, withSlack(src[4:4+size]), w, 1)
	clear(out)
	at, v := 0, src[0]&1
	for _, l := range d.lens {
		if at+int(l) > rows {
			return 0, malformed("bit run length")
		}
		if v != 0 {
			setBits(out, at, int(l))
		}
		at += int(l)
		v ^= 1
	}
	if at != rows {
		return 0, malformed("bit run lengths")
	}
	return 4 + size, nil
}

// setBits sets n bits from bit at on.
func setBits(out []uint64, at, n int) {
	for n > 0 {
		off := at & 63
		m := min(64-off, n)
		out[at>>6] |= ^uint64(0) >> uint(64-m) << uint(off)
		at, n = at+m, n-m
	}
}

func (e *Encoder) appendBool(dst []byte, v *vector.Vector, from, n int) ([]byte, Encoding) {
	ones, seen := 0, 0
	for i := 0; i < n; i += 64 {
		m := ^uint64(0)
		if r := n - i; r < 64 {
			m = 1<<uint(r) - 1
		}
		if v.Valid != nil {
			m &= loadBits(v.Valid, from+i)
		}
		seen += bits.OnesCount64(m)
		ones += bits.OnesCount64(m & loadBits(v.Bits, from+i))
	}
	switch ones {
	case 0:
		return append(dst, 0), Const
	case seen:
		return append(dst, 1), Const
	}
	start := len(dst)
	if out, ok := e.appendBitRuns(dst, v.Bits, from, n); ok {
		return out, Runs
	}
	return appendBits(dst[:start], v.Bits, from, n), Raw
}

// boolWords decodes a block of bools to whole words.
func (d *Decoder) boolWords(enc Encoding, src []byte, rows int) ([]uint64, error) {
	words := vector.Words(rows)
	switch {
	case enc == Const && len(src) == 1 && src[0] == 0:
		return noneValid[:words], nil
	case enc == Const && len(src) == 1 && src[0] == 1:
		return allOnes[:words], nil
	case enc == Raw && len(src) == words*8:
		d.bits = extend(d.bits[:0], words)
		for i := range d.bits {
			d.bits[i] = binary.LittleEndian.Uint64(src[8*i:])
		}
		return d.bits, nil
	case enc == Runs:
		d.bits = extend(d.bits[:0], words)
		n, err := d.bitRuns(d.bits, src, rows)
		if err == nil && n != len(src) {
			err = malformed("bit runs length")
		}
		return d.bits, err
	}
	return nil, malformed("bool")
}

func (d *Decoder) decodeBool(dst *vector.Vector, enc Encoding, src []byte, rows int) error {
	words, err := d.boolWords(enc, src, rows)
	if err != nil {
		return err
	}
	dst.Bits = dst.Bits.Resize(dst.N + rows)
	storeBits(dst.Bits, dst.N, words, rows)
	return nil
}

func appendFixed(dst []byte, vals [][16]byte) ([]byte, Encoding) {
	same := true
	for i := range vals {
		if vals[i] != vals[0] {
			same = false
			break
		}
	}
	if same {
		return append(dst, vals[0][:]...), Const
	}
	for i := range vals {
		dst = append(dst, vals[i][:]...)
	}
	return dst, Raw
}

func decodeFixed(dst *vector.Vector, enc Encoding, src []byte, rows int) error {
	base := dst.N
	dst.F16 = extend(dst.F16[:base], rows)
	out := dst.F16[base:]
	switch {
	case enc == Const && len(src) == 16:
		for i := range out {
			copy(out[i][:], src)
		}
	case enc == Raw && len(src) == 16*rows:
		for i := range out {
			copy(out[i][:], src[16*i:])
		}
	default:
		return malformed("fixed-width encoding " + enc.String())
	}
	return nil
}
