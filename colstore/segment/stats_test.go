package segment

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// TestStatisticsOfExtremes compares bounds with the keys of all rows and sums
// with those of big numbers.
func TestStatisticsOfExtremes(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, -1.5, 1e300}
	for round := range 400 {
		n := 1 + rng.IntN(12)
		kind := []vector.Kind{vector.Int64, vector.Float64, vector.Float32}[round%3]
		v, sum := vector.New(kind, n), new(big.Int)
		for range n {
			switch {
			case round%2 == 0 && rng.IntN(3) == 0:
				v.AppendNull()
			case kind == vector.Int64:
				x := int64(rng.Uint64()) >> rng.IntN(64)
				sum.Add(sum, big.NewInt(x))
				v.AppendInt64(x)
			case kind == vector.Float64:
				v.AppendFloat64(odd[rng.IntN(len(odd))])
			default:
				v.AppendFloat32(float32(odd[rng.IntN(len(odd))]))
			}
		}
		var s Stats
		codec := cpuCodecs[kind]
		if kind == vector.Float32 {
			codec = rowkey.CodecFloat
		}
		collect(&s, nil, v, codec, 0, n)
		var lo, hi []byte
		for i := range n {
			if v.IsNull(i) {
				continue
			}
			key := rowkey.AppendKey(nil, codec, v, i)
			if lo == nil || bytes.Compare(key, lo) < 0 {
				lo = key
			}
			if hi == nil || bytes.Compare(key, hi) > 0 {
				hi = key
			}
		}
		if !bytes.Equal(s.Min, lo) || !bytes.Equal(s.Max, hi) {
			t.Fatalf("round %d: bounds %x %x, want %x %x", round, s.Min, s.Max, lo, hi)
		}
		got := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(s.SumHi), 64), new(big.Int).SetUint64(s.SumLo))
		if kind == vector.Int64 && got.Cmp(sum) != 0 {
			t.Fatalf("round %d: sum %s, want %s", round, got, sum)
		}
	}
}
