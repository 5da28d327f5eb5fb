package exec

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// seed makes hash values differ between processes, so that no data is slow by design.
var (
	seed     = maphash.MakeSeed()
	wordSeed = maphash.String(seed, "word") | 1
)

// mix hashes a word.
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^wordSeed, 0x9e3779b97f4a7c15)
	return hi ^ lo
}

// wordCoder numbers values of Bool and the kinds of up to 8 bytes.
type wordCoder struct {
	slots  []wordSlot
	values *vector.Vector // first seen form by number
	null   uint32         // number of NULL, missing: not seen
	words  []uint64       // scratch
}

type wordSlot struct {
	key  uint64
	code uint32 // number+1, 0: empty
}

func newWordCoder(k vector.Kind) *wordCoder {
	return &wordCoder{slots: make([]wordSlot, 1<<8), values: vector.New(k, 0), null: missing}
}

func (c *wordCoder) view() coder {
	v := *c
	v.words = nil
	return &v
}

func (c *wordCoder) count() int { return c.values.N }

func (c *wordCoder) size() int64 { return int64(len(c.slots))*16 + c.values.Size() }

func (c *wordCoder) appendValues(dst *vector.Vector, codes []uint32) {
	for _, x := range codes {
		dst.AppendFrom(c.values, int(x))
	}
}

func (c *wordCoder) codes(v *vector.Vector, n int, dst []uint32, add bool) {
	phys := min(n, v.Phys())
	if add && (c.values.N+phys)*2 > len(c.slots) {
		c.rehash((c.values.N + phys) * 2)
	}
	c.words = words(c.words, v, phys)
	last, lastCode := uint64(0), missing
	for i, w := range c.words[:phys] {
		if v.Valid != nil && !v.Valid.Get(i) {
			dst[i] = c.nullCode(add)
			continue
		}
		if w != last || lastCode == missing {
			last, lastCode = w, c.lookup(w, v, i, add)
		}
		dst[i] = lastCode
	}
	spread(v, n, dst)
}

func (c *wordCoder) lookup(w uint64, v *vector.Vector, i int, add bool) uint32 {
	mask := uint64(len(c.slots) - 1)
	h := mix(w) & mask
	for c.slots[h].code != 0 && c.slots[h].key != w {
		h = (h + 1) & mask
	}
	if c.slots[h].code == 0 && add {
		c.values.AppendFrom(v, i)
		c.slots[h] = wordSlot{w, uint32(c.values.N)}
	}
	return c.slots[h].code - 1
}

func (c *wordCoder) nullCode(add bool) uint32 {
	if c.null == missing && add {
		c.null = uint32(c.values.N)
		c.values.AppendNull()
	}
	return c.null
}

func (c *wordCoder) rehash(n int) {
	size := len(c.slots)
	for size < n {
		size *= 2
	}
	old := c.slots
	c.slots = make([]wordSlot, size)
	mask := uint64(size - 1)
	for _, s := range old {
		if s.code == 0 {
			continue
		}
		h := mix(s.key) & mask
		for c.slots[h].code != 0 {
			h = (h + 1) & mask
		}
		c.slots[h] = s
	}
}

// spread copies the number of a constant to all rows.
func spread(v *vector.Vector, n int, dst []uint32) {
	if !v.Const {
		return
	}
	for i := 1; i < n; i++ {
		dst[i] = dst[0]
	}
}

// words returns the first n physical values as words that are equal when the values are.
func words(dst []uint64, v *vector.Vector, n int) []uint64 {
	if cap(dst) < n {
		dst = make([]uint64, max(n, vector.BatchSize))
	}
	dst = dst[:n]
	switch v.Kind {
	case vector.Bool:
		for i := range dst {
			dst[i] = v.Bits[i>>6] >> (uint(i) & 63) & 1
		}
	case vector.Int16:
		for i, x := range v.I16[:n] {
			dst[i] = uint64(x)
		}
	case vector.Int32:
		for i, x := range v.I32[:n] {
			dst[i] = uint64(x)
		}
	case vector.Int64:
		for i, x := range v.I64[:n] {
			dst[i] = uint64(x)
		}
	case vector.Uint32:
		for i, x := range v.U32[:n] {
			dst[i] = uint64(x)
		}
	case vector.Float32:
		for i, x := range v.F32[:n] {
			dst[i] = floatWord(float64(x))
		}
	case vector.Float64:
		for i, x := range v.F64[:n] {
			dst[i] = floatWord(x)
		}
	}
	return dst
}

func floatWord(x float64) uint64 {
	if x != x {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(x + 0) // -0 + 0 = 0
}

// wideCoder numbers values of Fixed16.
type wideCoder struct {
	index    map[[16]byte]uint32
	values   *vector.Vector
	null     uint32
	interval bool // equal by PostgreSQL's rule: 30 days a month, 24 hours a day
}

func newWideCoder(interval bool) *wideCoder {
	return &wideCoder{index: map[[16]byte]uint32{}, values: vector.New(vector.Fixed16, 0), null: missing, interval: interval}
}

func (c *wideCoder) view() coder { return c }

func (c *wideCoder) count() int { return c.values.N }

func (c *wideCoder) size() int64 { return int64(len(c.index))*40 + c.values.Size() }

func (c *wideCoder) appendValues(dst *vector.Vector, codes []uint32) {
	for _, x := range codes {
		dst.AppendFrom(c.values, int(x))
	}
}

func (c *wideCoder) codes(v *vector.Vector, n int, dst []uint32, add bool) {
	for i := range min(n, v.Phys()) {
		if v.IsNull(i) {
			if c.null == missing && add {
				c.null = uint32(c.values.N)
				c.values.AppendNull()
			}
			dst[i] = c.null
			continue
		}
		key := v.F16[i]
		if c.interval {
			key = intervalSpan(key)
		}
		code, ok := c.index[key]
		switch {
		case !ok && add:
			code = uint32(c.values.N)
			c.index[key] = code
			c.values.AppendFixed16(v.F16[i])
		case !ok:
			code = missing
		}
		dst[i] = code
	}
	spread(v, n, dst)
}

// intervalSpan returns the length of an interval as a 128-bit number of microseconds.
func intervalSpan(b [16]byte) (out [16]byte) {
	micros := int64(binary.LittleEndian.Uint64(b[:]))
	days := int64(int32(binary.LittleEndian.Uint32(b[8:]))) + 30*int64(int32(binary.LittleEndian.Uint32(b[12:])))
	neg := days < 0
	abs := uint64(days)
	if neg {
		abs = -abs
	}
	hi, lo := bits.Mul64(abs, 86_400_000_000)
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	var carry uint64
	lo, carry = bits.Add64(lo, uint64(micros), 0)
	hi, _ = bits.Add64(hi, uint64(micros>>63), carry)
	binary.BigEndian.PutUint64(out[:], hi)
	binary.BigEndian.PutUint64(out[8:], lo)
	return out
}

// bytesCoder numbers byte strings.
type bytesCoder struct {
	canon func(dst, b []byte) []byte // form in which equal values have equal bytes; nil: as they are
	slots []bytesSlot
	keys  arena // canonical forms by number
	first arena // first seen forms by number where canon is set
	null  uint32
	buf   []byte

	dict   *vector.Vector // the dictionary that byDict belongs to
	adding bool           // byDict was filled while adding
	byDict []uint32       // number by dictionary code, unset: not looked up yet
}

type bytesSlot struct{ hash, code uint32 } // code: number+1, 0: empty

const unset = missing - 1

func newBytesCoder(canon func(dst, b []byte) []byte) *bytesCoder {
	return &bytesCoder{canon: canon, slots: make([]bytesSlot, 1<<8), null: missing}
}

func (c *bytesCoder) view() coder {
	v := *c
	v.buf, v.dict, v.byDict = nil, nil, nil
	return &v
}

func (c *bytesCoder) count() int { return c.keys.count() }

func (c *bytesCoder) size() int64 {
	return int64(len(c.slots))*8 + c.keys.size() + c.first.size() + int64(cap(c.byDict))*4
}

func (c *bytesCoder) appendValues(dst *vector.Vector, codes []uint32) {
	from := &c.keys
	if c.canon != nil {
		from = &c.first
	}
	for _, x := range codes {
		if x == c.null {
			dst.AppendNull()
			continue
		}
		dst.AppendBytes(from.get(int(x)))
	}
}

func (c *bytesCoder) codes(v *vector.Vector, n int, dst []uint32, add bool) {
	if v.Dict != nil && !v.Const {
		c.dictCodes(v, n, dst, add)
		return
	}
	for i := range min(n, v.Phys()) {
		if v.IsNull(i) {
			dst[i] = c.nullCode(add)
			continue
		}
		dst[i] = c.lookup(v.Bytes(i), add)
	}
	spread(v, n, dst)
}

func (c *bytesCoder) dictCodes(v *vector.Vector, n int, dst []uint32, add bool) {
	if v.Dict != c.dict || add != c.adding {
		c.dict, c.adding = v.Dict, add
		c.byDict = c.byDict[:0]
		for range v.Dict.N {
			c.byDict = append(c.byDict, unset)
		}
	}
	byDict := c.byDict
	for i, d := range v.I32[:n] {
		code := byDict[d]
		if code == unset {
			if v.IsNull(i) { // code 0 of a NULL row may not stand for a value that occurs
				dst[i] = c.nullCode(add)
				continue
			}
			code = c.lookup(v.Dict.Bytes(int(d)), add)
			byDict[d] = code
		}
		dst[i] = code
	}
	if v.Valid != nil {
		for i := range dst[:n] {
			if !v.Valid.Get(i) {
				dst[i] = c.nullCode(add)
			}
		}
	}
}

func (c *bytesCoder) lookup(b []byte, add bool) uint32 {
	key := b
	if c.canon != nil {
		c.buf = c.canon(c.buf[:0], b)
		key = c.buf
	}
	h := uint32(maphash.Bytes(seed, key))
	mask := uint32(len(c.slots) - 1)
	at := h & mask
	for c.slots[at].code != 0 {
		if s := c.slots[at]; s.hash == h && bytes.Equal(c.keys.get(int(s.code-1)), key) {
			return s.code - 1
		}
		at = (at + 1) & mask
	}
	if !add {
		return missing
	}
	c.keys.add(key)
	if c.canon != nil {
		c.first.add(b)
	}
	c.slots[at] = bytesSlot{h, uint32(c.count())}
	if c.count()*2 > len(c.slots) {
		c.rehash()
	}
	return uint32(c.count() - 1)
}

func (c *bytesCoder) nullCode(add bool) uint32 {
	if c.null == missing && add {
		c.null = uint32(c.count())
		c.keys.add(nil)
		if c.canon != nil {
			c.first.add(nil)
		}
	}
	return c.null
}

func (c *bytesCoder) rehash() {
	old := c.slots
	c.slots = make([]bytesSlot, 2*len(old))
	mask := uint32(len(c.slots) - 1)
	for _, s := range old {
		if s.code == 0 {
			continue
		}
		at := s.hash & mask
		for c.slots[at].code != 0 {
			at = (at + 1) & mask
		}
		c.slots[at] = s
	}
}

// arena holds byte strings by number.
type arena struct {
	data []byte
	ends []int64
}

func (a *arena) count() int { return len(a.ends) }

func (a *arena) size() int64 { return int64(cap(a.data)) + int64(cap(a.ends))*8 }

func (a *arena) add(b []byte) {
	a.data = append(a.data, b...)
	a.ends = append(a.ends, int64(len(a.data)))
}

func (a *arena) get(i int) []byte {
	var lo int64
	if i > 0 {
		lo = a.ends[i-1]
	}
	return a.data[lo:a.ends[i]]
}

// canonicalForm returns the function that makes equal values of a type equal
// bytes, nil where they are already.
func canonicalForm(t types.Type) func(dst, b []byte) []byte {
	switch t.OID {
	case types.Numeric:
		return canonicalNumeric
	case types.BPChar:
		return func(dst, b []byte) []byte { return append(dst, bytes.TrimRight(b, " ")...) }
	}
	return nil
}

// canonicalNumeric leaves out the display scale and zero digits at either end.
func canonicalNumeric(dst, b []byte) []byte {
	if len(b) < 8 {
		return append(dst, b...)
	}
	weight, sign := int16(binary.BigEndian.Uint16(b[2:])), binary.BigEndian.Uint16(b[4:])
	digits := b[8:]
	for len(digits) >= 2 && digits[0] == 0 && digits[1] == 0 {
		digits = digits[2:]
		weight--
	}
	for n := len(digits); n >= 2 && digits[n-1] == 0 && digits[n-2] == 0; n = len(digits) {
		digits = digits[:n-2]
	}
	if len(digits) == 0 && sign <= numericNegative {
		weight, sign = 0, 0
	}
	dst = binary.BigEndian.AppendUint16(dst, sign)
	dst = binary.BigEndian.AppendUint16(dst, uint16(weight))
	return append(dst, digits...)
}

// Sign words of the binary form of numeric.
const (
	numericNegative = 0x4000
	numericNaN      = 0xC000
	numericPlusInf  = 0xD000
	numericMinusInf = 0xF000
)

// hashBytes hashes a byte string.
func hashBytes(b []byte) uint64 { return maphash.Bytes(seed, b) }
