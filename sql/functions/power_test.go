package functions

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestPowerIsRoundedOnce(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{
		{1e6, 1.5, 1e9}, {10, 22, 1e22}, {10, -5, 1e-5}, {2, 0.5, math.Sqrt2}, {-2, 3, -8}, {-2, 2, 4}, {0, 0, 1}, {1, math.NaN(), 1},
		{1.0000000001, 1e10, 2.7182820532347876}, {9, 0.5, 3}, {1e-300, 1.02, 9.999999999999877e-307}, {0.5, 1074, 5e-324}, {-0.5, -1, -2},
	} {
		if got := pow(c.a, c.b); got != c.want {
			t.Errorf("%v ^ %v = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestPowerOfIntegers compares with exact integer powers: half a unit in the
// last place, and a tie may go either way.
func TestPowerOfIntegers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		a, n := int64(2+r.IntN(1000)), int64(1+r.IntN(90))
		exact := new(big.Int).Exp(big.NewInt(a), big.NewInt(n), nil)
		got := pow(float64(a), float64(n))
		unit := math.Nextafter(got, math.Inf(1)) - got
		off, _ := new(big.Float).Sub(new(big.Float).SetFloat64(got), new(big.Float).SetInt(exact)).Float64()
		if math.Abs(off) > 0.5001*unit {
			t.Errorf("%d ^ %d = %v is %v units off", a, n, got, off/unit)
		}
	}
}
