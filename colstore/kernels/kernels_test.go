package kernels

import (
	"math/rand/v2"
	"testing"
)

func TestUnpackInvertsPackForEveryWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for w := uint(0); w <= 64; w++ {
		for _, n := range []int{0, 1, 2, 3, 5, 64, 1023} {
			vals := make([]uint64, n)
			for i := range vals {
				vals[i] = rng.Uint64()
				if w < 64 {
					vals[i] &= 1<<w - 1
				}
			}
			packed := Pack([]byte{0xEE}, vals, w)
			if len(packed) != 1+PackedLen(n, w) {
				t.Fatalf("width %d, %d values: %d bytes, want %d", w, n, len(packed)-1, PackedLen(n, w))
			}
			src := append(packed[1:], make([]byte, Slack)...)
			got := make([]int64, n)
			Unpack(got, src, w, 5)
			for i := range got {
				if got[i] != int64(vals[i])+5 {
					t.Fatalf("width %d: value %d is %d, want %d", w, i, got[i], int64(vals[i])+5)
				}
			}
			if w <= 16 {
				narrow := make([]int16, n)
				Unpack(narrow, src, w, -3)
				for i := range narrow {
					if narrow[i] != int16(vals[i])-3 {
						t.Fatalf("width %d: int16 %d is %d, want %d", w, i, narrow[i], int16(vals[i])-3)
					}
				}
			}
		}
	}
	if Name() != "portable" {
		t.Fatalf("kernels %q", Name())
	}
}

func BenchmarkUnpack(b *testing.B) {
	for _, w := range []uint{3, 8, 11, 16, 23, 40} {
		vals := make([]uint64, 1024)
		src := append(Pack(nil, vals, w), make([]byte, Slack)...)
		dst := make([]int64, 1024)
		b.Run(string(rune('0'+w/10))+string(rune('0'+w%10)), func(b *testing.B) {
			b.SetBytes(8 * 1024)
			for b.Loop() {
				Unpack(dst, src, w, 7)
			}
		})
	}
}
