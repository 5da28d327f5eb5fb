package kernels

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkAll compares every kernel with its portable form on n values of width w
// taken from data.
func checkAll(t *testing.T, data []byte, n int, w uint, base int64, c uint64) {
	t.Helper()
	src := make([]byte, PackedLen(n, w)+Slack)
	for i := range src {
		if len(data) > 0 {
			src[i] = data[i%len(data)]
		}
	}
	checkUnpack[int64](t, src, n, w, base)
	checkUnpack[int32](t, src, n, w, base)
	checkUnpack[uint32](t, src, n, w, base)
	checkUnpack[int16](t, src, n, w, base)
	hi, lo := Sum(src, n, w)
	if h, l := sum(src, n, w); h != hi || l != lo {
		t.Fatalf("%s: sum of %d values of %d bits is %x %x, portable %x %x", Name(), n, w, hi, lo, h, l)
	}
	if n > 0 {
		lo, hi = Bounds(src, n, w)
		if l, h := bounds(src, n, w); l != lo || h != hi {
			t.Fatalf("%s: bounds of %d values of %d bits are %x %x, portable %x %x", Name(), n, w, lo, hi, l, h)
		}
	}
	if w > 0 && c > ^uint64(0)>>(64-w) {
		c = At(src, n/2, w)
	}
	for op := EQ; op <= GE; op++ {
		checkCompare(t, src, n, w, op, c)
	}
}

func checkUnpack[T Int](t *testing.T, src []byte, n int, w uint, base int64) {
	t.Helper()
	a, b, plain := make([]T, n), make([]T, n), make([]T, n)
	Unpack(a, src, w, base)
	for i := range plain {
		plain[i] = T(int64(At(src, i, w)) + base)
	}
	if w > 0 {
		if unpack(b, src, w, base); !slices.Equal(b, plain) {
			t.Fatalf("portable: %T of %d bits differ", a, w)
		}
	}
	if !slices.Equal(a, plain) {
		t.Fatalf("%s: %T of %d bits differ", Name(), a, w)
	}
	small := base >> 38 // one that vectors take, and one that they do not
	for _, base := range []int64{small, base} {
		UnpackDeltas(b, src, w, base, T(7))
		acc := T(7)
		for i := range b {
			acc += T(int64(At(src, i, w)) + base)
			if b[i] != acc {
				t.Fatalf("%s: %T of %d bits: sum %d of differences is %d, want %d", Name(), b, w, i, b[i], acc)
			}
		}
	}
	PrefixSum(a, T(base))
	if prefixSum(plain, T(base)); !slices.Equal(a, plain) {
		t.Fatalf("%s: prefix sums of %T differ", Name(), a)
	}
}

func checkCompare(t *testing.T, src []byte, n int, w uint, op Op, c uint64) {
	t.Helper()
	dst := make([]uint64, (n+63)/64)
	Compare(dst, src, n, w, op, c)
	for i := 0; i < len(dst)*64; i++ {
		x, want := At(src, min(i, max(n-1, 0)), w), false
		switch op {
		case EQ:
			want = x == c
		case NE:
			want = x != c
		case LT:
			want = x < c
		case LE:
			want = x <= c
		case GT:
			want = x > c
		case GE:
			want = x >= c
		}
		want = want && i < n
		if got := dst[i>>6]>>(uint(i)&63)&1 != 0; got != want {
			t.Fatalf("%s: op %d of %d bits with %x: value %d of %d, %x, gives %v", Name(), op, w, c, i, n, x, got)
		}
	}
}

func checkProfile(t *testing.T, vals []int64) {
	t.Helper()
	if len(vals) == 0 {
		return
	}
	p := ProfileOf(vals)
	lo, hi, changes, overflow := vals[0], vals[0], 0, false
	dlo, dhi := int64(math.MaxInt64), int64(math.MinInt64)
	for i, x := range vals {
		lo, hi = min(lo, x), max(hi, x)
		if i == 0 {
			continue
		}
		d := x - vals[i-1]
		dlo, dhi = min(dlo, d), max(dhi, d)
		if d != 0 {
			changes++
		}
		overflow = overflow || (x >= vals[i-1]) != (d >= 0)
	}
	if len(vals) == 1 {
		dlo, dhi = 0, 0
	}
	if l, h := MinMax(vals); l != lo || h != hi {
		t.Fatalf("%s: bounds of %d values are %d %d, want %d %d", Name(), len(vals), l, h, lo, hi)
	}
	if p.Lo != lo || p.Hi != hi || p.Changes != changes || p.DiffsOverflow != overflow || p.DiffLo != dlo || p.DiffHi != dhi {
		t.Fatalf("%s: %d values: profile %+v, want %d %d, %d %d, %d, %v", Name(), len(vals), p, lo, hi, dlo, dhi, changes, overflow)
	}
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestKernelsAgree runs every kernel of every instruction set for all widths.
func TestKernelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	each(t, func() {
		for w := uint(0); w <= 64; w++ {
			for _, n := range []int{0, 1, 31, 32, 63, 64, 65, 130, 1000, 1023, 1024, 5000} {
				data := randomBytes(rng, 8200)
				if n == 5000 { // sums of the largest values
					data = []byte{0xFF}
				}
				checkAll(t, data, n, w, int64(rng.Uint64()), rng.Uint64()>>(64-min(w, 63)-1))
			}
		}
		for _, scale := range []float64{1, 10, 1e6, 1e14} {
			vals := make([]int64, 1001)
			for i := range vals {
				vals[i] = int64(rng.Uint64()) >> rng.IntN(60)
			}
			for _, n := range []int{1, 2, 9, 40, 41, 47, 1001} {
				checkProfile(t, vals[:n])
				small := make([]int64, n)
				for i := range small {
					small[i] = vals[i] % 3
				}
				checkProfile(t, small)
			}
			a, b := make([]float64, len(vals)), make([]float64, len(vals))
			Decimals(a, vals, scale)
			decimals(b, vals, scale)
			for i := range a {
				if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
					t.Fatalf("%s: %d / %g is %v, portable %v", Name(), vals[i], scale, a[i], b[i])
				}
			}
		}
	})
}

// FuzzKernels compares the kernels of every instruction set with the portable
// ones.
func FuzzKernels(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	for w := 0; w <= 64; w++ {
		f.Add(randomBytes(rng, 64), uint16(100+w), uint8(w), int64(w)-30, uint64(w))
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint16, w uint8, base int64, c uint64) {
		each(t, func() { checkAll(t, data, int(n)%2048, uint(w)%65, base, c) })
		vals := make([]int64, len(data)/8)
		for i := range vals {
			vals[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
		each(t, func() { checkProfile(t, vals) })
		u := make([]uint64, len(vals))
		for i, x := range vals {
			u[i] = uint64(x)
		}
		width := uint(w) % 65
		src := append(Pack(nil, u, width), make([]byte, Slack)...)
		for i, x := range u {
			if width < 64 {
				x &= 1<<width - 1
			}
			if got := At(src, i, width); got != x {
				t.Fatalf("packed value %d of %d bits is %x, want %x", i, width, got, x)
			}
		}
	})
}
