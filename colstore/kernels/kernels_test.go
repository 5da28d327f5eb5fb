package kernels

import (
	"fmt"
	"math/rand/v2"
	"strings"
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
	if !strings.HasPrefix(Name(), "portable") && !strings.HasPrefix(Name(), "simd (") {
		t.Fatalf("kernels %q", Name())
	}
}

func benchWidths(b *testing.B, run func(b *testing.B, src []byte, w uint)) {
	for _, w := range []uint{1, 3, 7, 8, 11, 16, 23, 27, 40} {
		vals := make([]uint64, 1024)
		for i := range vals {
			vals[i] = uint64(i) * 0x9E3779B97F4A7C15 >> (64 - w)
		}
		src := append(Pack(nil, vals, w), make([]byte, Slack)...)
		b.Run(fmt.Sprintf("%02d", w), func(b *testing.B) {
			b.SetBytes(1024) // 1 MB/s is a million values a second
			run(b, src, w)
		})
	}
}

func BenchmarkUnpack(b *testing.B) {
	dst := make([]int64, 1024)
	benchWidths(b, func(b *testing.B, src []byte, w uint) {
		for b.Loop() {
			Unpack(dst, src, w, 7)
		}
	})
}

func BenchmarkUnpackDeltas(b *testing.B) {
	dst := make([]int64, 1024)
	benchWidths(b, func(b *testing.B, src []byte, w uint) {
		for b.Loop() {
			UnpackDeltas(dst, src, w, 7, 1)
		}
	})
}

func BenchmarkSum(b *testing.B) {
	benchWidths(b, func(b *testing.B, src []byte, w uint) {
		for b.Loop() {
			Sum(src, 1024, w)
		}
	})
}

func BenchmarkBounds(b *testing.B) {
	benchWidths(b, func(b *testing.B, src []byte, w uint) {
		for b.Loop() {
			Bounds(src, 1024, w)
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	dst := make([]uint64, 16)
	benchWidths(b, func(b *testing.B, src []byte, w uint) {
		for b.Loop() {
			Compare(dst, src, 1024, w, LT, 1<<w/2)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	vals, dst := make([]uint64, 1024), make([]byte, 0, 8300)
	benchWidths(b, func(b *testing.B, _ []byte, w uint) {
		for b.Loop() {
			dst = Pack(dst[:0], vals, w)
		}
	})
}
