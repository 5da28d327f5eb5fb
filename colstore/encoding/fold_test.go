package encoding

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

func isInt(k vector.Kind) bool {
	return k == vector.Int16 || k == vector.Int32 || k == vector.Int64 || k == vector.Uint32
}

func isFloat(k vector.Kind) bool { return k == vector.Float32 || k == vector.Float64 }

func intAt(v *vector.Vector, i int) int64 {
	switch v.Kind {
	case vector.Int16:
		return int64(v.I16[i])
	case vector.Int32:
		return int64(v.I32[i])
	case vector.Uint32:
		return int64(v.U32[i])
	}
	return v.I64[i]
}

func floatAt(v *vector.Vector, i int) float64 {
	if v.Kind == vector.Float32 {
		return float64(v.F32[i])
	}
	return v.F64[i]
}

// checkFold compares the aggregate of an encoded block with that of its rows.
func checkFold(t *testing.T, d *Decoder, v *vector.Vector, from, to int, enc Encoding, src []byte, nulls int) {
	t.Helper()
	var f Fold
	err := d.Fold(&f, v.Kind, enc, src, to-from, nulls)
	if !isInt(v.Kind) && !isFloat(v.Kind) {
		if err == nil && nulls < to-from {
			t.Fatalf("a sum of %s", v.Kind)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s %s: %v", v.Kind, enc, err)
	}
	only := Fold{NoBounds: true}
	if err := d.Fold(&only, v.Kind, enc, src, to-from, nulls); err != nil || only.SumLo != f.SumLo || only.SumHi != f.SumHi ||
		compareFloats(only.Sum, f.Sum) != 0 || only.Exact && !f.Exact {
		t.Fatalf("%s %s: %+v without bounds, %+v with them: %v", v.Kind, enc, only, f, err)
	}
	count, sum, lo, hi := 0, new(big.Int), int64(0), int64(0)
	sumF, loF, hiF := 0.0, 0.0, 0.0
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			continue
		}
		if isInt(v.Kind) {
			x := intAt(v, i)
			sum.Add(sum, big.NewInt(x))
			if count == 0 {
				lo, hi = x, x
			}
			lo, hi = min(lo, x), max(hi, x)
		} else {
			x := floatAt(v, i)
			sumF += x
			if count == 0 || compareFloats(x, loF) < 0 {
				loF = x
			}
			if count == 0 || compareFloats(x, hiF) > 0 {
				hiF = x
			}
		}
		count++
	}
	if f.Count != count {
		t.Fatalf("%s %s: count %d, want %d", v.Kind, enc, f.Count, count)
	}
	if count == 0 {
		return
	}
	if isInt(v.Kind) {
		got := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(f.SumHi), 64), new(big.Int).SetUint64(f.SumLo))
		if got.Cmp(sum) != 0 || f.Min != lo || f.Max != hi || !f.Whole {
			t.Fatalf("%s %s: sum %s, bounds %d %d, want %s, %d %d", v.Kind, enc, got, f.Min, f.Max, sum, lo, hi)
		}
		return
	}
	slack := 1e-12
	if v.Kind == vector.Float32 { // their decimals are nearer to what was meant than they are
		slack = 1e-7
	}
	near := math.Abs(f.Sum-sumF) <= slack*float64(count)*math.Max(math.Abs(loF), math.Abs(hiF))
	if compareFloats(f.MinF, loF) != 0 || compareFloats(f.MaxF, hiF) != 0 || compareFloats(f.Sum, sumF) != 0 && (f.Exact || !near) {
		t.Fatalf("%s %s: sum %v, bounds %v %v, want %v, %v %v (exact: %v)", v.Kind, enc, f.Sum, f.MinF, f.MaxF, sumF, loF, hiF, f.Exact)
	}
}

// checkFilter compares with a value of the block, one beside it and extremes.
func checkFilter(t *testing.T, rng *rand.Rand, d *Decoder, v *vector.Vector, from, to int, enc Encoding, src []byte, nulls int) {
	t.Helper()
	if !isInt(v.Kind) && !isFloat(v.Kind) {
		return
	}
	row := from + rng.IntN(to-from)
	f := Filter{Op: kernels.Op(rng.IntN(6))}
	if isInt(v.Kind) {
		f.Int = [...]int64{intAt(v, row), intAt(v, row) + 1, math.MinInt64, math.MaxInt64}[rng.IntN(4)]
	} else {
		x := floatAt(v, row)
		f.Float = [...]float64{x, math.Nextafter(x, -1e300), math.NaN(), math.Inf(1), math.Inf(-1), 0.5}[rng.IntN(6)]
	}
	got := make([]uint64, vector.Words(to-from))
	for i := range got {
		got[i] = rng.Uint64()
	}
	if err := d.Filter(got, &f, v.Kind, enc, src, to-from, nulls); err != nil {
		t.Fatalf("%s %s: %v", v.Kind, enc, err)
	}
	for i := 0; i < 64*len(got); i++ {
		want := false
		if i < to-from && !v.IsNull(from+i) {
			if isInt(v.Kind) {
				want = holds(f.Op, compareInts(intAt(v, from+i), f.Int))
			} else {
				want = holds(f.Op, compareFloats(floatAt(v, from+i), f.Float))
			}
		}
		if vector.Bitmap(got).Get(i) != want {
			t.Fatalf("%s %s: op %d with %d or %v: row %d of %d is %v", v.Kind, enc, f.Op, f.Int, f.Float, i, to-from, !want)
		}
	}
}

func TestFoldAndFilterOfEveryForm(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, c := range ladder() {
		var e Encoder
		var d Decoder
		out, enc, nulls := e.Append(nil, c.v, 0, c.v.N, nil)
		src := withSlackBytes(out)
		checkFold(t, &d, c.v, 0, c.v.N, enc, src, nulls)
		for range 50 {
			checkFilter(t, rng, &d, c.v, 0, c.v.N, enc, src, nulls)
		}
	}
}
