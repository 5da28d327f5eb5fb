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

func TestLadder(t *testing.T) {
	for _, c := range []struct {
		name string
		v    *vector.Vector
		want Encoding
		max  int // bytes
	}{
		{"constant", series(1000, func(int) int64 { return -7 }), Const, 8},
		{"constant step", series(1000, func(i int) int64 { return int64(i) * 3600 }), Delta, 17},
		{"narrow", series(1024, func(i int) int64 { return 1_000_000 + int64(i*7919%100) }), FOR, 9 + 7*1024/8},
		{"extremes", ints(math.MinInt64, math.MaxInt64, 0), FOR, 9 + 24},
		{"all null", nulled(series(10, func(int) int64 { return 1 }), 1), Null, 0},
		{"sparse", nulled(series(128, func(i int) int64 { return int64(i % 2) }), 3), FOR, 16 + 9 + 16},
		{"decimal", floats(1024, func(i int) float64 { return float64(i%300) / 10 }), Decimal, 12 + 9*1024/8},
		{"decimal with exceptions", floats(1000, func(i int) float64 {
			if i%100 == 50 {
				return math.Pi * float64(i)
			}
			return float64(i%300) / 100
		}), Decimal, 12 + 9*1000/8 + 100},
		{"noise", floats(100, func(i int) float64 { return math.Sqrt(float64(i) + 0.5) }), Raw, 800},
		{"not a number", floats(64, func(int) float64 { return math.NaN() }), Const, 8},
		{"one text", texts(50, func(int) string { return "abc" }), Const, 3},
		{"texts", texts(50, func(i int) string { return fmt.Sprint("t", i) }), Plain, 200},
		{"long texts", texts(200, func(i int) string { return strings.Repeat("abcdef", 30) + fmt.Sprint(i) }), S2, 4000},
		{"empty texts", texts(3, func(int) string { return "" }), Const, 0},
		{"bools", bools(100, func(i int) bool { return i%3 == 0 }), Raw, 16},
		{"true", bools(100, func(int) bool { return true }), Const, 1},
	} {
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

func randomVector(rng *rand.Rand, k vector.Kind, n int) *vector.Vector {
	v := vector.New(k, n)
	shift, nullable := uint(rng.IntN(64)), rng.IntN(3) == 0
	for i := 0; i < n; i++ {
		x := rng.Uint64() >> shift
		switch {
		case nullable && rng.IntN(4) == 0:
			v.AppendNull()
		case k == vector.Bool:
			v.AppendBool(x&1 == 0)
		case k == vector.Int16:
			v.AppendInt16(int16(x))
		case k == vector.Int32:
			v.AppendInt32(int32(x))
		case k == vector.Int64:
			v.AppendInt64(int64(x) - int64(rng.Uint64()>>shift))
		case k == vector.Uint32:
			v.AppendUint32(uint32(x))
		case k == vector.Float32:
			v.AppendFloat32(math.Float32frombits(uint32(x)))
		case k == vector.Float64 && shift%2 == 0:
			v.AppendFloat64(float64(int64(x%100000)) / 1000)
		case k == vector.Float64:
			v.AppendFloat64(math.Float64frombits(x))
		case k == vector.Fixed16:
			v.AppendFixed16([16]byte{byte(x), 15: byte(x >> 8)})
		default:
			v.AppendBytes(bytes.Repeat([]byte{byte(x)}, int(x%uint64(1+shift))))
		}
	}
	return v
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
			e = Encoding(rng.IntN(12))
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
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("error %v is not ErrMalformed", err)
		}
	}
}
