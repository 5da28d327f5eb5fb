package encoding

import (
	"math"
	"sort"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// Filter is a comparison of a column with a constant: Int for columns of
// integers and for dictionary codes, Float for columns of floats. NaN is above all other floats and
// equal to itself.
type Filter struct {
	Op    kernels.Op
	Int   int64
	Float float64
}

// Filter sets bit i of dst, a word per 64 rows, to whether row i of a block of
// a numeric kind, or of dictionary codes, compares; bits of NULL rows and those past the last row are
// zero. The block is not decoded where its form allows.
func (d *Decoder) Filter(dst []uint64, f *Filter, kind vector.Kind, enc Encoding, src []byte, rows, nulls int) error {
	valid, src, err := d.open(&enc, src, rows, nulls)
	if err != nil {
		return err
	}
	dst = dst[:vector.Words(rows)]
	if enc == Null {
		clear(dst)
		return nil
	}
	switch kind {
	case vector.Int16, vector.Int32, vector.Int64, vector.Uint32:
		err = d.filterInts(dst, f.Op, f.Int, enc, src, rows)
	case vector.Bytes:
		err = d.filterCodes(dst, f, enc, src, rows)
	case vector.Float32:
		err = filterFloats[float32](d, dst, f, enc, src, rows)
	case vector.Float64:
		err = filterFloats[float64](d, dst, f, enc, src, rows)
	default:
		err = malformed("kind of a comparison")
	}
	for i := range valid {
		dst[i] &= valid[i]
	}
	return err
}

// holds reports whether a comparison with the given outcome satisfies op.
func holds(op kernels.Op, cmp int) bool {
	switch op {
	case kernels.EQ:
		return cmp == 0
	case kernels.NE:
		return cmp != 0
	case kernels.LT:
		return cmp < 0
	case kernels.LE:
		return cmp <= 0
	case kernels.GT:
		return cmp > 0
	}
	return cmp >= 0
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (d *Decoder) filterInts(dst []uint64, op kernels.Op, c int64, enc Encoding, src []byte, rows int) error {
	switch enc {
	case Const:
		var one [1]int64
		if err := decodeInts(d, one[:], Const, src); err != nil {
			return err
		}
		kernels.Fill(dst, rows, holds(op, compareInts(one[0], c)))
		return nil
	case FOR:
		b, err := parseFOR(src, rows)
		if err != nil {
			return err
		}
		filterFOR(dst, &b, rows, op, c)
		return nil
	case PatchedFOR:
		p, err := parsePatched(src, rows)
		if err != nil {
			return err
		}
		filterFOR(dst, &p.forBlock, rows, op, c)
		src, next := p.patches, 0
		for range p.count {
			row, above, size := nextPatch(src, &next, rows)
			vector.Bitmap(dst).Put(row, holds(op, compareInts(p.base+above, c)))
			src = src[size:]
		}
		return nil
	case Runs:
		if err := d.parseRuns(src, rows); err != nil {
			return err
		}
		clear(dst)
		at := 0
		for i, l := range d.lens {
			if holds(op, compareInts(d.runs[i], c)) {
				setBits(dst, at, int(l))
			}
			at += int(l)
		}
		return nil
	}
	d.i64 = extend(d.i64[:0], rows)
	if err := decodeInts(d, d.i64, enc, src); err != nil {
		return err
	}
	filterValues(dst, d.i64, op, c)
	return nil
}

func (d *Decoder) filterCodes(dst []uint64, f *Filter, enc Encoding, src []byte, rows int) error {
	if len(src) < 1 || !enc.IsCodes() {
		return malformed("dictionary codes")
	}
	if enc == Codes {
		return d.filterInts(dst, f.Op, f.Int, Encoding(src[0]), src[1:], rows)
	}
	b := forBlock{width: uint(src[0])}
	if err := packed(src[1:], rows, b.width); err != nil {
		return err
	}
	b.bits = withSlack(src[1:])
	filterFOR(dst, &b, rows, f.Op, f.Int)
	return nil
}

// filterFOR compares packed values with the constant less the base.
func filterFOR(dst []uint64, b *forBlock, rows int, op kernels.Op, c int64) {
	if c < b.base {
		kernels.Fill(dst, rows, holds(op, 1))
		return
	}
	kernels.Compare(dst, b.bits, rows, b.width, op, uint64(c)-uint64(b.base))
}

// filterValues reduces the comparisons to two, inverted or not.
func filterValues(dst []uint64, vals []int64, op kernels.Op, c int64) {
	equal := op == kernels.EQ || op == kernels.NE
	invert := op == kernels.NE || op == kernels.GE || op == kernels.GT
	if op == kernels.LE || op == kernels.GT {
		if c == math.MaxInt64 {
			kernels.Fill(dst, len(vals), op == kernels.LE)
			return
		}
		c++
	}
	for k := range dst {
		part := vals[k*64 : min(len(vals), k*64+64)]
		var w uint64
		if equal {
			for i, x := range part {
				if x == c {
					w |= 1 << uint(i)
				}
			}
		} else {
			for i, x := range part {
				if x < c {
					w |= 1 << uint(i)
				}
			}
		}
		if invert {
			w = ^w & (^uint64(0) >> uint(64-len(part)))
		}
		dst[k] = w
	}
}

func filterFloats[T float](d *Decoder, dst []uint64, f *Filter, enc Encoding, src []byte, rows int) error {
	if enc == Decimal || enc == DecimalInts {
		size := sizeOf[T]()
		b, err := parseDecimals(enc, src, rows, size)
		if err != nil {
			return err
		}
		if err := filterDecimals[T](d, dst, f, &b, rows); err != nil {
			return err
		}
		for k := range b.exceptions {
			x := float64(loadFloat[T](b.vals[size*k:], size))
			vector.Bitmap(dst).Put(b.row(k), holds(f.Op, compareFloats(x, f.Float)))
		}
		return nil
	}
	vals, err := decodeScratch[T](d, enc, src, rows)
	if err != nil {
		return err
	}
	clear(dst)
	for i, x := range vals {
		if holds(f.Op, compareFloats(float64(x), f.Float)) {
			dst[i>>6] |= 1 << (uint(i) & 63)
		}
	}
	return nil
}

// maxWhole bounds the integers of decimals.
const maxWhole = 1 << 53

// filterDecimals turns the constant into bounds of the integers: division by
// the scale does not change their order.
func filterDecimals[T float](d *Decoder, dst []uint64, f *Filter, b *decimalBlock, rows int) error {
	if math.IsNaN(f.Float) {
		kernels.Fill(dst, rows, holds(f.Op, -1))
		return nil
	}
	value := func(n int64) float64 { return float64(T(float64(n) / b.scale)) }
	ge := lowest(func(n int64) bool { return value(n) >= f.Float }, f.Float*b.scale)
	gt := lowest(func(n int64) bool { return value(n) > f.Float }, f.Float*b.scale)
	switch f.Op {
	case kernels.LT:
		return d.filterInts(dst, kernels.LT, ge, b.enc, b.ints, rows)
	case kernels.LE:
		return d.filterInts(dst, kernels.LT, gt, b.enc, b.ints, rows)
	case kernels.GT:
		return d.filterInts(dst, kernels.GE, gt, b.enc, b.ints, rows)
	case kernels.GE:
		return d.filterInts(dst, kernels.GE, ge, b.enc, b.ints, rows)
	}
	switch gt - ge {
	case 0:
		kernels.Fill(dst, rows, f.Op == kernels.NE)
		return nil
	case 1:
		return d.filterInts(dst, f.Op, ge, b.enc, b.ints, rows)
	}
	// Several integers give the same float.
	if err := d.filterInts(dst, kernels.GE, ge, b.enc, b.ints, rows); err != nil {
		return err
	}
	d.bits = extend(d.bits[:0], len(dst))
	if err := d.filterInts(d.bits, kernels.LT, gt, b.enc, b.ints, rows); err != nil {
		return err
	}
	for i := range dst {
		dst[i] &= d.bits[i]
	}
	if f.Op == kernels.NE {
		for i := range dst {
			dst[i] = ^dst[i]
		}
		if r := uint(rows) & 63; r != 0 {
			dst[len(dst)-1] &= 1<<r - 1
		}
	}
	return nil
}

// lowest returns the smallest integer for which ok, which stays true above it,
// looking near a guess first.
func lowest(ok func(int64) bool, guess float64) int64 {
	lo, hi := int64(-maxWhole), int64(maxWhole)
	if math.Abs(guess) < maxWhole-4 {
		if g := int64(math.Floor(guess)); !ok(g-2) && ok(g+3) {
			lo, hi = g-2, g+3
		}
	}
	return lo + int64(sort.Search(int(hi-lo), func(i int) bool { return ok(lo + int64(i)) }))
}
