package encoding

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tsdb/colstore/kernels"
	"tsdb/colstore/vector"
)

// withSlackBytes gives src the readable bytes that decoders want.
func withSlackBytes(src []byte) []byte {
	out := make([]byte, len(src), len(src)+Slack)
	copy(out, src)
	return out
}

func row(v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	switch v.Kind {
	case vector.Bool:
		return fmt.Sprint(v.Bool(i))
	case vector.Int16:
		return fmt.Sprint(v.I16[i])
	case vector.Int32:
		return fmt.Sprint(v.I32[i])
	case vector.Int64:
		return fmt.Sprint(v.I64[i])
	case vector.Uint32:
		return fmt.Sprint(v.U32[i])
	case vector.Float32:
		return fmt.Sprintf("%08x", math.Float32bits(v.F32[i]))
	case vector.Float64:
		return fmt.Sprintf("%016x", math.Float64bits(v.F64[i]))
	case vector.Fixed16:
		return fmt.Sprintf("%x", v.F16[i])
	}
	return fmt.Sprintf("%x", v.Bytes(i))
}

func ints(vals ...int64) *vector.Vector {
	v := vector.New(vector.Int64, 0)
	for _, x := range vals {
		v.AppendInt64(x)
	}
	return v
}

func series(n int, f func(i int) int64) *vector.Vector {
	v := vector.New(vector.Int64, n)
	for i := 0; i < n; i++ {
		v.AppendInt64(f(i))
	}
	return v
}

func floats(n int, f func(i int) float64) *vector.Vector {
	v := vector.New(vector.Float64, n)
	for i := 0; i < n; i++ {
		v.AppendFloat64(f(i))
	}
	return v
}

func texts(n int, f func(i int) string) *vector.Vector {
	v := vector.New(vector.Bytes, n)
	for i := 0; i < n; i++ {
		v.AppendString(f(i))
	}
	return v
}

func bools(n int, f func(i int) bool) *vector.Vector {
	v := vector.New(vector.Bool, n)
	for i := 0; i < n; i++ {
		v.AppendBool(f(i))
	}
	return v
}

func nulled(v *vector.Vector, every int) *vector.Vector {
	for i := 0; i < v.N; i += every {
		v.SetNull(i)
	}
	return v
}

// walk is a metric that steps by about one, kept between 0 and 100.
func walk(seed uint64) func(i int) int64 {
	rng, x := rand.New(rand.NewPCG(seed, 1)), int64(50)
	return func(int) int64 {
		x = min(max(x+int64(math.Round(rng.NormFloat64())), 0), 100)
		return x
	}
}

func float32s(n int, f func(i int) float32) *vector.Vector {
	v := vector.New(vector.Float32, n)
	for i := 0; i < n; i++ {
		v.AppendFloat32(f(i))
	}
	return v
}

func noise(i int) float64 { return 20 + math.Mod(float64(i)*math.Pi, 1) }

type ladderCase struct {
	name string
	v    *vector.Vector
	want Encoding
	max  int // bytes
}

func ladder() []ladderCase {
	jitter := rand.New(rand.NewPCG(7, 7))
	return []ladderCase{
		{"constant", series(1000, func(int) int64 { return -7 }), Const, 8},
		{"constant step", series(1000, func(i int) int64 { return int64(i) * 3600 }), Step, 16},
		{"narrow", series(1024, func(i int) int64 { return 1_000_000 + int64(i*7919%100) }), FOR, 9 + 7*1024/8},
		{"extremes", ints(math.MinInt64, math.MaxInt64, 0), FOR, 9 + 24},
		{"jitter", series(1000, func(i int) int64 { return 1700000000000000 + int64(i)*10_000_000 + jitter.Int64N(1000) }), Linear, 25 + 10*1000/8},
		{"walk", series(1024, walk(1)), Delta, 17 + 3*1024/8},
		{"walks of two series", series(1024, func() func(int) int64 {
			w, x := walk(3), walk(4)
			return func(i int) int64 {
				if i < 500 {
					return w(i)
				}
				return x(i) + 5000
			}
		}()), PatchedDelta, 24 + 3*1024/8},
		{"milliseconds", series(1000, func(i int) int64 { return 1700000000000000 + int64(i)*10_000_000 + jitter.Int64N(50)*1000 }), Scaled, 40 + 6*1000/8},
		{"walk, no outliers", series(1000, func(i int) int64 { return int64(i * i) }), Delta, 17 + 11*1000/8},
		{"outliers", series(1024, func(i int) int64 {
			if i%200 == 7 {
				return int64(i) << 40
			}
			return int64(i * 7919 % 16)
		}), PatchedFOR, 70 + 4*1024/8},
		{"all outliers but two series", series(1000, func(i int) int64 { return int64(i/100)*1_000_003 - int64(i%100)*10 }), PatchedDelta, 80},
		{"runs", series(1000, func(i int) int64 { return int64(i/50) * int64(i/50) }), Runs, 60},
		{"all null", nulled(series(10, func(int) int64 { return 1 }), 1), Null, 0},
		{"sparse", nulled(series(128, func(i int) int64 { return int64(i % 2) }), 3), FOR, 16 + 9 + 16},
		{"decimal", floats(1024, func(i int) float64 { return float64(i*7919%300) / 10 }), Decimal, 12 + 9*1024/8},
		{"decimal with exceptions", floats(1000, func(i int) float64 {
			if i%100 == 50 {
				return math.Pi * float64(i)
			}
			return float64(i*7919%300) / 100
		}), Decimal, 12 + 9*1000/8 + 100},
		{"walk of floats", floats(1024, func() func(int) float64 { w := walk(1); return func(i int) float64 { return float64(w(i)) / 4 } }()), DecimalInts, 40 + 3*1024/8},
		{"minus zero", floats(256, func(i int) float64 { return math.Copysign(0, float64(i%9)-1) }), DecimalInts, 500},
		{"float4", float32s(1024, func(i int) float32 { return float32(i*7919%300) / 10 }), Decimal, 12 + 9*1024/8},
		{"noise of float4", float32s(1024, func(i int) float32 { return float32(math.Exp(float64(i)/200) * noise(i) * 1e-25) }), Split, 1024 * 28 / 8},
		{"noise", floats(1024, noise), Split, 1024 * 51 / 8},
		{"random bits", floats(1024, func(i int) float64 { return math.Float64frombits(uint64(i) * 0x9E3779B97F4A7C15) }), Raw, 8 * 1024},
		{"runs of floats", floats(1000, func(i int) float64 { return math.Sqrt(float64(i / 100)) }), Runs, 120},
		{"not a number", floats(64, func(int) float64 { return math.NaN() }), Const, 8},
		{"one text", texts(50, func(int) string { return "abc" }), Const, 3},
		{"texts", texts(50, func(i int) string { return fmt.Sprint("t", i) }), Plain, 200},
		{"long texts", texts(200, func(i int) string { return strings.Repeat("abcdef", 30) + fmt.Sprint(i) }), Zstd, 1000},
		{"empty texts", texts(3, func(int) string { return "" }), Const, 0},
		{"bools", bools(100, func(i int) bool { return i%3 == 0 }), Raw, 16},
		{"runs of bools", bools(1000, func(i int) bool { return i/100%2 == 0 }), Runs, 20},
		{"true", bools(100, func(int) bool { return true }), Const, 1},
		{"NULLs in runs", nulledFrom(series(1024, func(i int) int64 { return int64(i * 7919 % 16) }), 700), PatchedDelta | ValidRuns, 7 + 10 + 220},
	}
}

// nulledFrom makes rows from on NULL.
func nulledFrom(v *vector.Vector, from int) *vector.Vector {
	for i := from; i < v.N; i++ {
		v.SetNull(i)
	}
	return v
}

func TestLadder(t *testing.T) {
	for _, c := range ladder() {
		var e Encoder
		out, enc, nulls := e.Append(nil, c.v, 0, c.v.N, nil)
		if enc != c.want || len(out) > c.max {
			t.Errorf("%s: %s in %d bytes, want %s in at most %d", c.name, enc, len(out), c.want, c.max)
		}
		got := vector.New(c.v.Kind, 0)
		var d Decoder
		if err := d.Decode(got, enc, withSlackBytes(out), c.v.N, nulls, 0); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i := 0; i < c.v.N; i++ {
			if row(got, i) != row(c.v, i) {
				t.Errorf("%s: row %d is %s, want %s", c.name, i, row(got, i), row(c.v, i))
				break
			}
		}
	}
}

func signed(rng *rand.Rand, shift uint) int64 {
	x := int64(rng.Uint64() >> shift)
	return x - int64(rng.Uint64()>>shift)
}

// randomVector draws a column whose shape, too, is drawn: noise, walks, lines,
// runs, outliers.
func randomVector(rng *rand.Rand, k vector.Kind, n int) *vector.Vector {
	v := vector.New(k, n)
	shape, shift, nulls := rng.IntN(6), uint(rng.IntN(64)), rng.IntN(4)
	step, jitter := int64(rng.Uint64()>>(shift/2+20)), uint(rng.IntN(20)+40)
	x := int64(rng.Uint64() >> shift)
	for i := 0; i < n; i++ {
		switch shape {
		case 0: // noise
			x = signed(rng, shift)
		case 1: // walk
			x += int64(math.Round(rng.NormFloat64()))
		case 2: // line
			x += step + int64(rng.Uint64()>>jitter)
		case 3: // runs
			if rng.IntN(20) == 0 {
				x = int64(rng.Uint64() >> shift)
			}
		case 4: // outliers
			if x = int64(rng.Uint64() >> 56); rng.IntN(50) == 0 {
				x = signed(rng, shift)
			}
		case 5: // series one after the other
			if x += step; rng.IntN(60) == 0 {
				x = int64(rng.Uint64() >> shift)
			}
		}
		if null := nulls == 1 && rng.IntN(4) == 0 || nulls == 2 && i/37%3 == 1; null {
			v.AppendNull()
			continue
		}
		switch k {
		case vector.Bool:
			v.AppendBool(x&1 == 0)
		case vector.Int16:
			v.AppendInt16(int16(x))
		case vector.Int32:
			v.AppendInt32(int32(x))
		case vector.Int64:
			v.AppendInt64(x)
		case vector.Uint32:
			v.AppendUint32(uint32(x))
		case vector.Float32:
			v.AppendFloat32(float32(randomFloat(x, shift)))
		case vector.Float64:
			v.AppendFloat64(randomFloat(x, shift))
		case vector.Fixed16:
			v.AppendFixed16([16]byte{byte(x), 15: byte(x >> 8)})
		default:
			v.AppendBytes(bytes.Repeat([]byte{byte(x)}, int(uint64(x)%uint64(1+shift))))
		}
	}
	return v
}

func randomFloat(x int64, shift uint) float64 {
	switch shift % 4 {
	case 0:
		return float64(x%100000) / 1000
	case 1:
		return math.Float64frombits(uint64(x))
	case 2:
		return math.Sqrt(math.Abs(float64(x)))
	}
	if x%17 == 0 {
		return [...]float64{math.NaN(), math.Inf(-1), math.Copysign(0, -1), 1e300}[uint64(x)/17%4]
	}
	return float64(x % 1000)
}

func TestEveryKindRoundTripsAndMalformedBytesAreErrors(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var e Encoder
	var d Decoder
	for round := 0; round < 3000; round++ {
		k := vector.Kind(1 + rng.IntN(9))
		n := 1 + rng.IntN(200)
		if rng.IntN(20) == 0 {
			n = MaxRows
		}
		v := randomVector(rng, k, n)
		from := rng.IntN(n)
		to := from + 1 + rng.IntN(n-from)
		e.Effort = Effort(rng.IntN(3))
		out, enc, nulls := e.Append(nil, v, from, to, nil)
		dst := vector.New(k, 0)
		lead := rng.IntN(2) * rng.IntN(70) // rows already there
		for i := 0; i < lead; i++ {
			dst.AppendFrom(v, i%n)
		}
		src := withSlackBytes(out)
		if err := d.Decode(dst, enc, src, to-from, nulls, 0); err != nil {
			t.Fatalf("round %d: %s %s: %v", round, k, enc, err)
		}
		if dst.N != lead+to-from {
			t.Fatalf("round %d: %d rows, want %d", round, dst.N, lead+to-from)
		}
		for i := 0; i < lead+to-from; i++ {
			want := row(v, i%n)
			if i >= lead {
				want = row(v, from+i-lead)
			}
			if row(dst, i) != want {
				t.Fatalf("round %d: %s %s row %d is %s, want %s", round, k, enc, i, row(dst, i), want)
			}
		}
		checkFold(t, &d, v, from, to, enc, src, nulls)
		checkFilter(t, rng, &d, v, from, to, enc, src, nulls)
		mutilate(t, rng, &d, k, enc, src, to-from, nulls)
	}
}

// mutilate decodes damaged forms of a block, which may fail but not panic.
func mutilate(t *testing.T, rng *rand.Rand, d *Decoder, k vector.Kind, enc Encoding, src []byte, rows, nulls int) {
	for i := 0; i < 4; i++ {
		bad := withSlackBytes(src)
		if len(bad) > 0 {
			bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
			if rng.IntN(2) == 0 {
				bad = withSlackBytes(bad[:rng.IntN(len(bad))])
			}
		}
		e := enc
		if rng.IntN(3) == 0 {
			e = Encoding(rng.IntN(21)) | Encoding(rng.IntN(2))*ValidRuns
		}
		n := rows
		if rng.IntN(3) == 0 {
			n = rng.IntN(MaxRows)
		}
		dst := vector.New(k, 0)
		if rng.IntN(2) == 0 && k == vector.Bytes {
			dst.Dict = texts(3, func(i int) string { return "x" })
		}
		err := d.Decode(dst, e, bad, n, min(nulls, n), 3)
		var f Fold
		foldErr := d.Fold(&f, k, e, bad, n, min(nulls, n))
		filterErr := d.Filter(make([]uint64, vector.Words(n)), &Filter{Op: kernels.LE, Int: 7, Float: 0.7}, k, e, bad, n, min(nulls, n))
		for _, err := range []error{err, foldErr, filterErr} {
			if err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v is not ErrMalformed", err)
			}
		}
	}
}
