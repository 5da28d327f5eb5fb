package functions

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// compareBytes compares byte strings as they are: text, bytea, and kin. Equality
// with a constant looks at lengths first, without touching the data.
func compareBytes(rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		a, b, r := args[0], args[1], rel
		if a.Const {
			a, b, r = b, a, rel.swapped()
		}
		if b.Const && !a.Const && (r == relEQ || r == relNE) {
			equalToConst(out.Bits, a, b.Bytes(0), n)
			if r == relNE {
				invert(out.Bits, n)
			}
			return nil
		}
		for i := 0; i < n; i++ {
			out.Bits.Put(i, r.holds(bytes.Compare(a.Bytes(i), b.Bytes(i))))
		}
		return nil
	}
}

func equalToConst(out vector.Bitmap, x *vector.Vector, c []byte, n int) {
	off, data := x.Offsets[:n+1], x.Data
	want, cs := int32(len(c)), string(c)
	for w := 0; w*64 < n; w++ {
		var word uint64
		for i := w * 64; i < min(n, w*64+64); i++ {
			s, e := off[i], off[i+1]
			if e-s == want && string(data[s:e]) == cs {
				word |= 1 << uint(i&63)
			}
		}
		out[w] = word
	}
}

// comparePadded compares bpchar: trailing blanks do not count.
func comparePadded(rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			out.Bits.Put(i, rel.holds(bytes.Compare(trimBlanks(args[0].Bytes(i)), trimBlanks(args[1].Bytes(i)))))
		}
		return nil
	}
}

func trimBlanks(b []byte) []byte { return bytes.TrimRight(b, " ") }

// compareByType compares through types.Compare, for types whose order is not
// that of their bytes: numeric, jsonb, arrays, timetz.
func compareByType(t types.OID) func(relation) Kernel {
	typ := types.T(t)
	return func(rel relation) Kernel {
		return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			a, b := args[0], args[1]
			ma, mb := a.Mask(), b.Mask()
			for i := 0; i < n; i++ {
				if live(out, i) {
					out.Bits.Put(i, rel.holds(types.Compare(typ, a, i&ma, b, i&mb)))
				}
			}
			return nil
		}
	}
}

func compareUUIDs(rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y := args[0].F16, args[1].F16
		ma, mb := args[0].Mask(), args[1].Mask()
		for i := 0; i < n; i++ {
			out.Bits.Put(i, rel.holds(bytes.Compare(x[i&ma][:], y[i&mb][:])))
		}
		return nil
	}
}

// span128 is an interval as one 128-bit number of microseconds, a month being
// 30 days and a day 24 hours: what PostgreSQL compares.
type span128 struct {
	hi int64
	lo uint64
}

const microsPerDay = 86_400_000_000

func intervalSpan(v [16]byte) span128 {
	micros := int64(binary.LittleEndian.Uint64(v[:8]))
	days := int64(int32(binary.LittleEndian.Uint32(v[8:12]))) + 30*int64(int32(binary.LittleEndian.Uint32(v[12:])))
	hi, lo := bits.Mul64(uint64(days), microsPerDay)
	h := int64(hi)
	if days < 0 {
		h -= microsPerDay
	}
	lo, carry := bits.Add64(lo, uint64(micros), 0)
	h += micros>>63 + int64(carry)
	return span128{h, lo}
}

func (a span128) compare(b span128) int {
	if c := cmp3(a.hi, b.hi); c != 0 {
		return c
	}
	switch {
	case a.lo < b.lo:
		return -1
	case a.lo > b.lo:
		return 1
	}
	return 0
}

func compareIntervals(rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y := args[0].F16, args[1].F16
		ma, mb := args[0].Mask(), args[1].Mask()
		for i := 0; i < n; i++ {
			out.Bits.Put(i, rel.holds(intervalSpan(x[i&ma]).compare(intervalSpan(y[i&mb]))))
		}
		return nil
	}
}

// compareArrays compares two arrays of the same element type; the element
// type is in the value, so one overload over anyarray serves all.
func compareArrays(rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		a, b := args[0], args[1]
		for i := 0; i < n; i++ {
			if !live(out, i) {
				continue
			}
			c, err := arrayOrder(a.Bytes(i), b.Bytes(i))
			if err != nil {
				return err
			}
			out.Bits.Put(i, rel.holds(c))
		}
		return nil
	}
}

func init() {
	compareFamily(types.Text, compareBytes)
	for k, symbol := range []string{"~<~", "~<=~", "~>~", "~>=~"} {
		rel := relLT + relation(k)
		RegisterFunctions(op(symbol, types.Bool, compareBytes(rel), types.Text, types.Text),
			op(symbol, types.Bool, comparePadded(rel), types.BPChar, types.BPChar))
	}
	compareFamily(types.Name, compareBytes)
	comparePair(types.Name, types.Text, compareBytes)
	comparePair(types.Text, types.Name, compareBytes)
	compareFamily(types.Char, compareBytes)
	compareFamily(types.Bytea, compareBytes)
	compareFamily(types.BPChar, comparePadded)
	compareFamily(types.UUID, compareUUIDs)
	compareFamily(types.Interval, compareIntervals)
	compareFamily(types.TimeTZ, compareByType(types.TimeTZ))
	compareFamily(types.Numeric, compareByType(types.Numeric))
	compareFamily(types.JSONB, compareByType(types.JSONB))
	compareFamily(types.AnyArray, compareArrays)
}
