package rowkey

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tsdb/colstore/vector"
)

// TestKeyBytes prints the key of one value under every codec and kind.
func TestKeyBytes(t *testing.T) {
	fill := func(k vector.Kind, put func(*vector.Vector)) *vector.Vector {
		v := vector.New(k, 1)
		put(v)
		return v
	}
	for _, c := range []struct {
		name  string
		codec Codec
		v     *vector.Vector
		want  string
	}{
		{"false", CodecBool, fill(vector.Bool, func(v *vector.Vector) { v.AppendBool(false) }), "00"},
		{"true", CodecBool, fill(vector.Bool, func(v *vector.Vector) { v.AppendBool(true) }), "01"},
		{"int2 -1", CodecInt, fill(vector.Int16, func(v *vector.Vector) { v.AppendInt16(-1) }), "7fff"},
		{"int4 7", CodecInt, fill(vector.Int32, func(v *vector.Vector) { v.AppendInt32(7) }), "80000007"},
		{"int8 least", CodecInt, fill(vector.Int64, func(v *vector.Vector) { v.AppendInt64(math.MinInt64) }), "0000000000000000"},
		{"oid", CodecUint, fill(vector.Uint32, func(v *vector.Vector) { v.AppendUint32(0xfffefdfc) }), "fffefdfc"},
		{"float4 -1.5", CodecFloat, fill(vector.Float32, func(v *vector.Vector) { v.AppendFloat32(-1.5) }), "403fffff"},
		{"float4 NaN", CodecFloat, fill(vector.Float32, func(v *vector.Vector) { v.AppendFloat32(float32(math.NaN())) }), "ffc00000"},
		{"float8 1", CodecFloat, fill(vector.Float64, func(v *vector.Vector) { v.AppendFloat64(1) }), "bff0000000000000"},
		{"float8 -0", CodecFloat, fill(vector.Float64, func(v *vector.Vector) { v.AppendFloat64(math.Copysign(0, -1)) }), "8000000000000000"},
		{"bytes", CodecBytes, fill(vector.Bytes, func(v *vector.Vector) { v.AppendString("a\x00b") }), "6100ff620001"},
		{"uuid", CodecFixed, fill(vector.Fixed16, func(v *vector.Vector) { v.AppendFixed16([16]byte{0: 0xab, 15: 1}) }), "ab000000000000000000000000000001"},
		{"1 mon", CodecInterval, fill(vector.Fixed16, func(v *vector.Vector) { v.AppendFixed16(interval(0, 0, 1)) }), "80000000000000000000025b7f3d4000"},
		{"-1 us", CodecInterval, fill(vector.Fixed16, func(v *vector.Vector) { v.AppendFixed16(interval(-1, 0, 0)) }), "7fffffffffffffffffffffffffffffff"},
		{"12.50", CodecNumeric, fill(vector.Bytes, func(v *vector.Vector) { v.AppendBytes(numeric(0, 0, 2, 12, 5000)) }), "048000000d13890000"},
		{"NaN", CodecNumeric, fill(vector.Bytes, func(v *vector.Vector) { v.AppendBytes(numeric(numericNaN, 0, 0)) }), "06"},
	} {
		if got := fmt.Sprintf("%x", AppendKey(nil, c.codec, c.v, 0)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// randomColumn returns values of a codec and a comparison of two of them.
func randomColumn(rng *rand.Rand, codec Codec, kind vector.Kind, n int) (*vector.Vector, func(i, j int) int) {
	v := vector.New(kind, n)
	small := func() int64 {
		if rng.IntN(4) == 0 {
			return int64(rng.Uint64())
		}
		return int64(rng.IntN(5) - 2)
	}
	var nums []*big.Int
	for range n {
		switch codec {
		case CodecBool:
			v.AppendBool(rng.IntN(2) == 0)
		case CodecUint:
			v.AppendUint32(uint32(small()))
		case CodecBytes:
			b := make([]byte, rng.IntN(4))
			for i := range b {
				b[i] = []byte{0, 1, 'a', 0xff}[rng.IntN(4)]
			}
			v.AppendBytes(b)
		case CodecFixed:
			v.AppendFixed16([16]byte{0: byte(small()), 7: byte(small()), 15: byte(small())})
		case CodecInterval:
			us, d, m := small(), int32(small()), int32(small())
			v.AppendFixed16(interval(us, d, m))
			x := big.NewInt(int64(m)*30 + int64(d))
			nums = append(nums, x.Mul(x, big.NewInt(86_400_000_000)).Add(x, big.NewInt(us)))
		case CodecNumeric:
			x, stored := randomNumeric(rng)
			v.AppendBytes(stored)
			nums = append(nums, x)
		case CodecFloat:
			f := float64(small()) / 2
			if kind == vector.Float32 {
				v.AppendFloat32(float32(f))
			} else {
				v.AppendFloat64(f)
			}
		default:
			switch kind {
			case vector.Int16:
				v.AppendInt16(int16(small()))
			case vector.Int32:
				v.AppendInt32(int32(small()))
			default:
				v.AppendInt64(small())
			}
		}
	}
	return v, func(i, j int) int {
		switch kind {
		case vector.Bool:
			return cmp.Compare(b2i(v.Bool(i)), b2i(v.Bool(j)))
		case vector.Int16:
			return cmp.Compare(v.I16[i], v.I16[j])
		case vector.Int32:
			return cmp.Compare(v.I32[i], v.I32[j])
		case vector.Int64:
			return cmp.Compare(v.I64[i], v.I64[j])
		case vector.Uint32:
			return cmp.Compare(v.U32[i], v.U32[j])
		case vector.Float32:
			return cmp.Compare(v.F32[i], v.F32[j])
		case vector.Float64:
			return cmp.Compare(v.F64[i], v.F64[j])
		}
		if nums != nil {
			return nums[i].Cmp(nums[j])
		}
		if kind == vector.Fixed16 {
			return bytes.Compare(v.F16[i][:], v.F16[j][:])
		}
		return bytes.Compare(v.Bytes(i), v.Bytes(j))
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// randomNumeric returns a finite numeric and its value in units of 10,000^-3.
func randomNumeric(rng *rand.Rand) (*big.Int, []byte) {
	x := big.NewInt(0)
	weight := rng.IntN(4) - 2
	var digits []uint16
	for p := weight; p >= -3 && len(digits) < 3; p-- {
		d := uint16([]int{0, 1, 5000, 9999}[rng.IntN(4)])
		digits = append(digits, d)
		unit := new(big.Int).Exp(big.NewInt(10_000), big.NewInt(int64(p+3)), nil)
		x.Add(x, unit.Mul(unit, big.NewInt(int64(d))))
	}
	sign := uint16(0)
	if rng.IntN(2) == 0 && x.Sign() != 0 {
		sign = numericNegative
		x.Neg(x)
	}
	return x, numeric(sign, int16(weight), uint16(rng.IntN(20)), digits...)
}

// TestTupleOrder compares random tuples of two parts with their keys.
func TestTupleOrder(t *testing.T) {
	rng := seeded(t)
	cols := []struct {
		codec Codec
		kind  vector.Kind
	}{{CodecBool, vector.Bool}, {CodecInt, vector.Int16}, {CodecInt, vector.Int32}, {CodecInt, vector.Int64},
		{CodecUint, vector.Uint32}, {CodecFloat, vector.Float32}, {CodecFloat, vector.Float64}, {CodecBytes, vector.Bytes},
		{CodecFixed, vector.Fixed16}, {CodecInterval, vector.Fixed16}, {CodecNumeric, vector.Bytes}}
	const n = 40
	for _, a := range cols {
		for _, b := range cols {
			x, cx := randomColumn(rng, a.codec, a.kind, n)
			y, cy := randomColumn(rng, b.codec, b.kind, n)
			keys := make([][]byte, n)
			for i := range keys {
				keys[i] = AppendKey(AppendKey(nil, a.codec, x, i), b.codec, y, i)
			}
			for i := range n {
				for j := range n {
					want := cx(i, j)
					if want == 0 {
						want = cy(i, j)
					}
					if got := bytes.Compare(keys[i], keys[j]); got != want {
						t.Fatalf("codecs %d, %d: keys %x and %x compare %d, their rows %d", a.codec, b.codec, keys[i], keys[j], got, want)
					}
					if want != 0 && bytes.HasPrefix(keys[i], keys[j]) {
						t.Fatalf("codecs %d, %d: key %x is a prefix of %x", a.codec, b.codec, keys[j], keys[i])
					}
				}
			}
		}
	}
}

// TestExtremeBounds asks for keys beyond the greatest one.
func TestExtremeBounds(t *testing.T) {
	parts := []Part{{0, CodecInt}}
	top := vector.New(vector.Int64, 1)
	top.AppendInt64(math.MaxInt64)
	spans, exact := Spans(parts, []Constraint{{Lo: &Bound{top, false}}})
	if len(spans) != 0 || !exact || spans == nil {
		t.Errorf("above the greatest value: %x, exact %v", spans, exact)
	}
	spans, exact = Spans(parts, []Constraint{{Hi: &Bound{top, true}}})
	if len(spans) != 1 || spans[0].Start != nil || spans[0].End != nil || !exact {
		t.Errorf("up to the greatest value: %x, exact %v", spans, exact)
	}
}

// TestTooManyPoints checks that the product of points is bounded.
func TestTooManyPoints(t *testing.T) {
	v := vector.New(vector.Int32, 0)
	points := make([]*vector.Vector, 200)
	for i := range points {
		points[i] = vector.New(vector.Int32, 1)
		points[i].AppendInt32(int32(2 * i))
		v.AppendInt32(int32(2 * i))
	}
	parts := []Part{{0, CodecInt}, {1, CodecInt}}
	spans, exact := Spans(parts, []Constraint{{Points: points[:10]}, {Points: points}})
	if len(spans) != 2000 || !exact {
		t.Errorf("%d spans, exact %v", len(spans), exact)
	}
	spans, exact = Spans(parts, []Constraint{{Points: points}, {Points: points}})
	if len(spans) != 200 || exact {
		t.Fatalf("%d spans, exact %v", len(spans), exact)
	}
	key := AppendKey(AppendKey(nil, CodecInt, v, 7), CodecInt, v, 199)
	if !spans[7].Contains(key) || spans[6].Contains(key) {
		t.Errorf("span %x does not cover %x", spans[7], key)
	}
}
