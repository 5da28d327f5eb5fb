package rowkey

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"tsdb/colstore/vector"
)

func seeded(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 7))
}

func numeric(sign uint16, weight int16, scale uint16, digits ...uint16) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(digits)))
	b = binary.BigEndian.AppendUint16(b, uint16(weight))
	b = binary.BigEndian.AppendUint16(b, sign)
	b = binary.BigEndian.AppendUint16(b, scale)
	for _, d := range digits {
		b = binary.BigEndian.AppendUint16(b, d)
	}
	return b
}

func interval(micros int64, days, months int32) (b [16]byte) {
	binary.LittleEndian.PutUint64(b[0:], uint64(micros))
	binary.LittleEndian.PutUint32(b[8:], uint32(days))
	binary.LittleEndian.PutUint32(b[12:], uint32(months))
	return b
}

// ordered holds, per codec, values in ascending order without equals.
func ordered() map[string]*vector.Vector {
	m := map[string]*vector.Vector{}
	v := vector.New(vector.Int32, 8)
	for _, x := range []int32{math.MinInt32, -256, -1, 0, 1, 255, 256, math.MaxInt32} {
		v.AppendInt32(x)
	}
	m["int"] = v
	v = vector.New(vector.Float64, 8)
	for _, x := range []float64{math.Inf(-1), -1e300, -1, -5e-324, 0, 5e-324, 1, math.Inf(1), math.NaN()} {
		v.AppendFloat64(x)
	}
	m["float"] = v
	v = vector.New(vector.Bytes, 8)
	for _, x := range []string{"", "\x00", "\x00\x00", "\x00\x01", "\x01", "a", "a\x00", "a\x00b", "aa", "b", "\xff", "\xff\xff"} {
		v.AppendString(x)
	}
	m["bytes"] = v
	v = vector.New(vector.Bytes, 8)
	for _, x := range [][]byte{numeric(numericNegInf, 0, 0), numeric(numericNegative, 1, 0, 1), numeric(numericNegative, 0, 0, 9999),
		numeric(numericNegative, 0, 1, 1, 5000), numeric(numericNegative, 0, 0, 1), numeric(numericNegative, -1, 4, 1), numeric(0, 0, 0),
		numeric(0, -2, 8, 1), numeric(0, -1, 4, 1), numeric(0, 0, 0, 1), numeric(0, 0, 1, 1, 5000), numeric(0, 0, 0, 2),
		numeric(0, 1, 0, 1), numeric(0, 1, 0, 1, 1), numeric(numericPosInf, 0, 0), numeric(numericNaN, 0, 0)} {
		v.AppendBytes(x)
	}
	m["numeric"] = v
	v = vector.New(vector.Fixed16, 8)
	for _, x := range [][16]byte{interval(math.MinInt64, math.MinInt32, math.MinInt32), interval(0, 0, -1), interval(0, -29, 0), interval(-1, 0, 0),
		interval(0, 0, 0), interval(1, 0, 0), interval(86400e6-1, 0, 0), interval(0, 1, 0), interval(1, 29, 0), interval(0, 0, 1),
		interval(1, 0, 1), interval(math.MaxInt64, math.MaxInt32, math.MaxInt32)} {
		v.AppendFixed16(x)
	}
	m["interval"] = v
	return m
}

var codecs = map[string]Codec{"int": CodecInt, "float": CodecFloat, "bytes": CodecBytes, "numeric": CodecNumeric, "interval": CodecInterval}

func TestKeyOrderIsValueOrder(t *testing.T) {
	for name, v := range ordered() {
		for i := 0; i < v.N; i++ {
			for j := 0; j < v.N; j++ {
				a, b := AppendKey(nil, codecs[name], v, i), AppendKey(nil, codecs[name], v, j)
				if got := bytes.Compare(a, b); got != cmp.Compare(i, j) {
					t.Errorf("%s: value %d against %d: keys %x %x compare %d", name, i, j, a, b, got)
				}
				if i != j && bytes.HasPrefix(a, b) {
					t.Errorf("%s: key %x is a prefix of %x", name, b, a)
				}
			}
		}
	}
}

func TestEqualValuesHaveEqualKeys(t *testing.T) {
	eq := func(c Codec, a, b *vector.Vector) {
		t.Helper()
		if x, y := AppendKey(nil, c, a, 0), AppendKey(nil, c, b, 0); !bytes.Equal(x, y) {
			t.Errorf("codec %d: %x and %x", c, x, y)
		}
	}
	one := func(b []byte) *vector.Vector { v := vector.New(vector.Bytes, 1); v.AppendBytes(b); return v }
	f := func(x float64) *vector.Vector { v := vector.New(vector.Float64, 1); v.AppendFloat64(x); return v }
	iv := func(b [16]byte) *vector.Vector { v := vector.New(vector.Fixed16, 1); v.AppendFixed16(b); return v }
	eq(CodecNumeric, one(numeric(0, 0, 0, 1)), one(numeric(0, 0, 4, 1, 0)))
	eq(CodecNumeric, one(numeric(0, 1, 0, 0, 7)), one(numeric(0, 0, 2, 7)))
	eq(CodecNumeric, one(numeric(numericNegative, 0, 5, 0)), one(numeric(0, 0, 0)))
	eq(CodecFloat, f(math.Copysign(0, -1)), f(0))
	eq(CodecFloat, f(math.NaN()), f(math.Float64frombits(0xfff8000000000001)))
	eq(CodecInterval, iv(interval(0, 30, 0)), iv(interval(0, 0, 1)))
	eq(CodecInterval, iv(interval(0, 1, 0)), iv(interval(86400e6, 0, 0)))
}

func TestLayoutIsFixed(t *testing.T) {
	s := vector.New(vector.Bytes, 1)
	s.AppendString("ab")
	n := vector.New(vector.Int32, 1)
	n.AppendInt32(-1)
	got := fmt.Sprintf("%x", AppendKey(AppendKey(nil, CodecBytes, s, 0), CodecInt, n, 0))
	if got != "616200017fffffff" {
		t.Errorf("key %s", got)
	}
	d := vector.New(vector.Bytes, 1)
	d.AppendBytes(numeric(numericNegative, 0, 1, 1, 5000))
	if got := fmt.Sprintf("%x", AppendKey(nil, CodecNumeric, d, 0)); got != "027fff"+"fffd"+"ec76"+"ffff" {
		t.Errorf("numeric %s", got)
	}
}

func TestSuccessorAndNormalize(t *testing.T) {
	for in, want := range map[string]string{"a": "b", "a\xff": "b", "\xff": "", "": ""} {
		if got := string(Successor([]byte(in))); got != want {
			t.Errorf("successor of %q: %q, want %q", in, got, want)
		}
	}
	s := func(a, b string) Span { return Span{[]byte(a), []byte(b)} }
	got := Normalize([]Span{s("x", "y"), s("c", "e"), s("a", "b"), s("d", "f"), s("q", "q"), {[]byte("y"), nil}})
	if fmt.Sprintf("%s", got) != "[{a b} {c f} {x }]" {
		t.Errorf("normalized: %s", got)
	}
}

// TestSpansAgainstBruteForce checks on random two-part keys that a key lies in the spans
// whenever it satisfies the constraints, and only then if they are exact.
func TestSpansAgainstBruteForce(t *testing.T) {
	rng := seeded(t)
	parts := []Part{{0, CodecBytes}, {1, CodecInt}}
	text, num := vector.New(vector.Bytes, 0), vector.New(vector.Int32, 0)
	for _, w := range []string{"", "a", "a\x00", "ab", "b", "b\xff", "c"} {
		for n := int32(-3); n <= 3; n++ {
			text.AppendString(w)
			num.AppendInt32(n)
		}
	}
	one := func(v *vector.Vector, i int) *vector.Vector { o := vector.New(v.Kind, 1); o.AppendFrom(v, i); return o }
	for round := 0; round < 3000; round++ {
		cons := make([]Constraint, 2)
		check := []func(i int) bool{}
		for p, v := range []*vector.Vector{text, num} {
			c, f := randomConstraint(rng, v, parts[p].Codec, one)
			cons[p] = c
			check = append(check, f)
		}
		spans, exact := Spans(parts, cons)
		for i := 0; i < text.N; i++ {
			key := AppendKey(AppendKey(nil, CodecBytes, text, i), CodecInt, num, i)
			in := false
			for _, s := range spans {
				in = in || s.Contains(key)
			}
			want := check[0](i) && check[1](i)
			if want && !in || exact && in && !want {
				t.Fatalf("round %d: key %q %d in spans %v, satisfies %v, exact %v: %+v", round, text.Bytes(i), num.I32[i], in, want, exact, cons)
			}
		}
	}
}

func randomConstraint(rng *rand.Rand, v *vector.Vector, codec Codec, one func(*vector.Vector, int) *vector.Vector) (Constraint, func(int) bool) {
	key := func(w *vector.Vector, i int) []byte { return AppendKey(nil, codec, w, i) }
	switch rng.IntN(4) {
	case 0:
		return Constraint{}, func(int) bool { return true }
	case 1:
		var c Constraint
		for n := 1 + rng.IntN(3); n > 0; n-- {
			c.Points = append(c.Points, one(v, rng.IntN(v.N)))
		}
		return c, func(i int) bool {
			for _, p := range c.Points {
				if bytes.Equal(key(p, 0), key(v, i)) {
					return true
				}
			}
			return false
		}
	case 2:
		if codec == CodecBytes {
			p := v.Bytes(rng.IntN(v.N))
			return Constraint{Prefix: append([]byte{}, p...)}, func(i int) bool { return bytes.HasPrefix(v.Bytes(i), p) }
		}
	}
	var c Constraint
	if rng.IntN(3) > 0 {
		c.Lo = &Bound{one(v, rng.IntN(v.N)), rng.IntN(2) == 0}
	}
	if rng.IntN(3) > 0 {
		c.Hi = &Bound{one(v, rng.IntN(v.N)), rng.IntN(2) == 0}
	}
	return c, func(i int) bool {
		if c.Lo != nil {
			if d := bytes.Compare(key(v, i), key(c.Lo.Value, 0)); d < 0 || d == 0 && !c.Lo.Inclusive {
				return false
			}
		}
		if c.Hi != nil {
			if d := bytes.Compare(key(v, i), key(c.Hi.Value, 0)); d > 0 || d == 0 && !c.Hi.Inclusive {
				return false
			}
		}
		return true
	}
}
