package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tsdb/colstore/encoding"
	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// kernelBlocks is the number of blocks measured: as float64 they fill 256 KiB,
// which a second-level cache holds and a first-level one does not.
const kernelBlocks = 32

type kernelBlock struct {
	enc encoding.Encoding
	src []byte
}

// frames encodes random values of the width.
func frames(t *testing.T, width uint) (blocks []kernelBlock, plain []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(width), 1))
	var e encoding.Encoder
	for range kernelBlocks {
		v := vector.New(vector.Int64, 0)
		for range encoding.MaxRows {
			x := int64(rng.Uint64() >> (64 - width))
			v.AppendInt64(1000 + x)
			plain = append(plain, float64(1000+x))
		}
		src, enc, _ := e.Append(nil, v, 0, v.N, nil)
		if enc != encoding.FOR {
			t.Fatalf("%d bits: %s", width, enc)
		}
		blocks = append(blocks, kernelBlock{enc, append(src, make([]byte, encoding.Slack)...)[:len(src)]})
	}
	return blocks, plain
}

var kernelSink float64

func sumPlain(vals []float64) {
	s := 0.0
	for _, x := range vals {
		s += x
	}
	kernelSink += s
}

// perValue times the passes in turn, many times, and returns the medians in
// nanoseconds per value. A sample is short, so that most are not interrupted.
func perValue(passes ...func()) []float64 {
	const repeats, rounds = 501, 3
	times := make([][]time.Duration, len(passes))
	for range repeats {
		for i, pass := range passes {
			t0 := time.Now()
			for range rounds {
				pass()
			}
			times[i] = append(times[i], time.Since(t0))
		}
	}
	out := make([]float64, len(passes))
	for i := range out {
		slices.Sort(times[i])
		out[i] = float64(times[i][repeats/2]) / (rounds * kernelBlocks * encoding.MaxRows)
	}
	return out
}

// TestKernels compares sums on packed blocks, and decoding them, with a plain
// loop over float64 in the second-level cache.
func TestKernels(t *testing.T) {
	enabled(t)
	goal := 1.0
	if strings.HasPrefix(kernels.Name(), "simd") {
		goal = 5
	}
	for _, width := range []uint{7, 11, 20} {
		blocks, plain := frames(t, width)
		var d encoding.Decoder
		f := encoding.Fold{NoBounds: true}
		dst := vector.New(vector.Int64, encoding.MaxRows)
		bits := make([]uint64, vector.Words(encoding.MaxRows))
		fail := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		ns := perValue(func() { sumPlain(plain) }, func() {
			for i := range blocks {
				fail(d.Fold(&f, vector.Int64, blocks[i].enc, blocks[i].src, encoding.MaxRows, 0))
			}
		}, func() {
			for i := range blocks {
				dst.Reset(vector.Int64)
				fail(d.Decode(dst, blocks[i].enc, blocks[i].src, encoding.MaxRows, 0, 0))
			}
		}, func() {
			for i := range blocks {
				fail(d.Filter(bits, &encoding.Filter{Op: kernels.LT, Int: 1000 + 1<<(width-1)}, vector.Int64, blocks[i].enc, blocks[i].src, encoding.MaxRows, 0))
			}
		})
		kernelReport(t, fmt.Sprintf("sum of %d-bit blocks", width), ns[1], ns[0], goal)
		kernelReport(t, fmt.Sprintf("decode of %d-bit blocks", width), ns[2], ns[0], goal/2)
		kernelReport(t, fmt.Sprintf("filter on %d-bit blocks", width), ns[3], ns[0], 0)
	}
}

func kernelReport(t *testing.T, what string, ns, plain, goal float64) {
	t.Helper()
	ratio := plain / ns
	fmt.Printf("%s, %s: %.1f G values/s, plain loop over float64 %.1f, ratio %.1f (goal %.1f)\n", what, kernels.Name(), 1/ns, 1/plain, ratio, goal)
	if ratio < goal/2 {
		t.Errorf("%s: ratio %.2f is below half of the goal %.1f", what, ratio, goal)
	}
}
