package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"tsdb/colstore/encoding"
	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// maxDict is the largest dictionary of a chunk: beyond it codes are hardly
// narrower than short texts, and building one costs more than it saves.
const maxDict = 8192

// quickDict is the dictionary that a chunk written in a hurry may have however
// few its rows are: sorting a large one takes longer than all columns of numbers.
const quickDict = 256

// dictBuilder finds the distinct values of one chunk.
type dictBuilder struct {
	index map[string]int32
	vals  []string
	codes []int32
	order []int32
	tmp   []uint64
	plain []byte
}

// build returns one code per row, in the order of the sorted dictionary, or
// nil where a dictionary does not pay.
func (d *dictBuilder) build(v *vector.Vector, from, to int, effort encoding.Effort) []int32 {
	n := to - from
	limit := min(maxDict, n/2)
	if effort == encoding.Quick {
		limit = min(limit, max(quickDict, n/16))
	}
	if limit < 1 {
		return nil
	}
	if d.index == nil {
		d.index = make(map[string]int32)
	}
	clear(d.index)
	d.vals, d.codes = d.vals[:0], d.codes[:0]
	last, lastCode := []byte(nil), int32(-1)
	for i := from; i < to; i++ {
		if v.Valid != nil && !v.Valid.Get(i) {
			d.codes = append(d.codes, max(lastCode, 0))
			continue
		}
		x := v.Data[v.Offsets[i]:v.Offsets[i+1]]
		if lastCode < 0 || !bytes.Equal(x, last) {
			code, ok := d.index[string(x)]
			if !ok {
				if len(d.vals) >= limit {
					return nil
				}
				s := string(x)
				code = int32(len(d.vals))
				d.index[s], d.vals = code, append(d.vals, s)
			}
			last, lastCode = x, code
		}
		d.codes = append(d.codes, lastCode)
	}
	if len(d.vals) == 0 {
		return nil
	}
	d.sort()
	if v.Valid != nil {
		for i := range d.codes {
			if !v.Valid.Get(from + i) {
				d.codes[i] = 0
			}
		}
	}
	return d.codes
}

func (d *dictBuilder) sort() {
	perm := make([]int32, len(d.vals))
	for i := range perm {
		perm[i] = int32(i)
	}
	slices.SortFunc(perm, func(a, b int32) int {
		if d.vals[a] < d.vals[b] {
			return -1
		}
		return 1
	})
	d.order = append(d.order[:0], perm...)
	for rank, old := range d.order {
		perm[old] = int32(rank)
	}
	for i, c := range d.codes {
		d.codes[i] = perm[c]
	}
}

// minDictZstd is the size below which a dictionary is not compressed: each
// query that opens the chunk would decompress it.
const minDictZstd = 1 << 14

// append encodes the dictionary of the last build, compressed if that pays.
func (d *dictBuilder) append(dst []byte, effort encoding.Effort) (out []byte, compressed bool) {
	start := len(dst)
	dst = d.appendPlain(dst)
	if effort == encoding.Quick || len(dst)-start < minDictZstd {
		return dst, false
	}
	d.plain = append(d.plain[:0], dst[start:]...)
	if out, ok := encoding.Compress(dst[:start], d.plain); ok {
		return out, true
	}
	return append(dst[:start], d.plain...), false
}

func (d *dictBuilder) appendPlain(dst []byte) []byte {
	d.tmp = d.tmp[:0]
	var all uint64
	for _, i := range d.order {
		n := uint64(len(d.vals[i]))
		d.tmp, all = append(d.tmp, n), all|n
	}
	w := kernels.Width(all)
	dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(d.order))), byte(w))
	dst = kernels.Pack(dst, d.tmp, w)
	for _, i := range d.order {
		dst = append(dst, d.vals[i]...)
	}
	return dst
}

var errDict = errors.New("malformed dictionary")

// decodeDict decodes a dictionary, which Slack readable bytes follow.
func decodeDict(src []byte) (*vector.Vector, error) {
	if len(src) < 5 {
		return nil, errDict
	}
	n, w := int(binary.LittleEndian.Uint32(src)), uint(src[4])
	if n == 0 || n > maxDict || w > 31 || len(src)-5 < kernels.PackedLen(n, w) {
		return nil, errDict
	}
	data := src[5+kernels.PackedLen(n, w):]
	lens := make([]int64, n)
	kernels.Unpack(lens, src[5:cap(src)], w, 0)
	v := &vector.Vector{Kind: vector.Bytes, N: n, Offsets: make([]int32, n+1)}
	var end int64
	for i, l := range lens {
		if end += l; end > int64(len(data)) || end > math.MaxInt32 {
			return nil, errDict
		}
		v.Offsets[i+1] = int32(end)
	}
	if end != int64(len(data)) {
		return nil, errDict
	}
	v.Data = bytes.Clone(data)
	return v, nil
}
