package types

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// TestBinaryForms prints the wire's bytes, as PostgreSQL's send functions make them.
func TestBinaryForms(t *testing.T) {
	for _, c := range [][3]string{
		{"bool", "t", "01"}, {"int2", "-2", "fffe"}, {"int4", "1", "00000001"}, {"int8", "-1", "ffffffffffffffff"},
		{"oid", "4294967295", "ffffffff"}, {"float4", "1.5", "3fc00000"}, {"float8", "-0", "8000000000000000"},
		{"numeric", "12.50", "0002000000000002000c1388"}, {"numeric", "-0.0001", "0001ffff400000040001"},
		{"numeric", "NaN", "00000000c0000000"}, {"numeric", "Infinity", "00000000d0000000"}, {"numeric", "0.00", "0000000000000002"},
		{"numeric", "100000000", "00010002000000000001"},
		{"text", "ä", "c3a4"}, {`"char"`, "", "00"}, {"bytea", `\x00ff`, "00ff"},
		{"date", "2000-01-02", "00000001"}, {"date", "infinity", "7fffffff"}, {"date", "1970-01-01", "ffffd533"},
		{"time", "00:00:01", "00000000000f4240"}, {"timetz", "00:00:01+02", "00000000000f4240ffffe3e0"},
		{"timestamp", "2000-01-01 00:00:01", "00000000000f4240"}, {"timestamptz", "-infinity", "8000000000000000"},
		{"interval", "1 mon 2 days 00:00:00.000003", "00000000000000030000000200000001"},
		{"jsonb", `{"b":1, "a":[]}`, "01" + hex.EncodeToString([]byte(`{"a": [], "b": 1}`))},
		{"json", ` {}`, "207b7d"}, {"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11"},
		{"int4[]", "{1,NULL}", "000000010000000100000017000000020000000100000004" + "00000001ffffffff"},
		{"text[]", "{}", "000000000000000000000019"},
		{"int2vector", "5", "0000000100000000000000150000000100000000000000020005"},
	} {
		typ := spelledType(t, c[0])
		v := vector.New(typ.Kind(), 1)
		if err := ParseText(v, typ, []byte(c[1]), nil); err != nil {
			t.Error(c, err)
			continue
		}
		if got := hex.EncodeToString(AppendBinary(nil, typ, v, 0)); got != c[2] {
			t.Errorf("%s %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// TestStoredForms prints what vectors hold where it differs from the wire.
func TestStoredForms(t *testing.T) {
	v := vector.New(vector.Fixed16, 1)
	if err := ParseText(v, T(Interval), []byte("1 mon 2 days 00:00:00.000003"), nil); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", v.F16[0]); got != "03000000000000000200000001000000" {
		t.Errorf("interval %s", got)
	}
	v = vector.New(vector.Int64, 1)
	if err := ParseText(v, T(Timestamp), []byte("1970-01-01 00:00:01"), nil); err != nil || v.I64[0] != 1_000_000 {
		t.Errorf("timestamp %d, %v", v.I64[0], err)
	}
	v = vector.New(vector.Bytes, 1)
	if err := ParseText(v, Type{BPChar, 4 + 3}, []byte("ä"), nil); err != nil || string(v.Bytes(0)) != "ä  " {
		t.Errorf("bpchar %q, %v", v.Bytes(0), err)
	}
}

// TestBinaryNaN: the bits of NaN on the wire are C's.
func TestBinaryNaN(t *testing.T) {
	for name, want := range map[string]string{"float8": "7ff8000000000000", "float4": "7fc00000"} {
		typ := spelledType(t, name)
		v := vector.New(typ.Kind(), 1)
		if err := ParseText(v, typ, []byte("NaN"), nil); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(AppendBinary(nil, typ, v, 0)); got != want {
			t.Errorf("%s %s, want %s", name, got, want)
		}
	}
}

func TestMalformedBinary(t *testing.T) {
	for _, c := range []struct{ typ, hex, code string }{
		{"int4", "0001", "08P01"}, {"int4", "0000000000", "22P03"}, {"bool", "", "08P01"},
		{"numeric", "", "08P01"}, {"numeric", "00010000000000002710", "22P03"}, {"numeric", "0001000012340000", "08P01"},
		{"numeric", "0000000012340000", "22P03"}, {"numeric", "000000000000ffff", "22P03"},
		{"timestamp", "7ffffffffffffffe", "22008"}, {"date", "7ffffffe", "22008"}, {"time", "ffffffffffffffff", "22008"},
		{"jsonb", "02", "XX000"}, {"jsonb", "", "08P01"}, {"jsonb", "017b", "22P02"}, {"text", "ff", "22021"}, {"text", "00", "22021"},
		{"int4[]", "00", "22P03"}, {"int4[]", "00000007000000000000001700", "22P03"},
		{"int4[]", "00000001000000000000001700000001000000010000000400", "22P03"},
		{"int4[]", "000000010000000000000019000000010000000100000000", "42804"},
		{"int4[]", "00000001000000000000001700000000000000010000", "22P03"},
		{"text[]", "00000001000000000000001940000000000000010000", "54000"},
		{"timetz", "000000000000000000010000", "22009"},
	} {
		typ := spelledType(t, c.typ)
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		v := vector.New(typ.Kind(), 1)
		err = ParseBinary(v, typ, b)
		if err == nil || string(pgerr.From(err).Code) != c.code || v.N != 0 {
			t.Errorf("%s %s: %v, %d rows, want %s", c.typ, c.hex, err, v.N, c.code)
		}
	}
}

// TestRandomBytes feeds every reader bytes near to valid ones: no panic, and
// the vector is unchanged on error.
func TestRandomBytes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var inputs [][]byte
	var typs []Type
	golden(t, "testdata/io.tsv", func(f []string) {
		var typ, in string
		unquote(t, f[1], &typ)
		unquote(t, f[2], &in)
		inputs, typs = append(inputs, []byte(in)), append(typs, spelledType(t, typ))
	})
	for range 20_000 {
		k := rng.IntN(len(inputs))
		in, typ := append([]byte(nil), inputs[k]...), typs[k]
		for n := rng.IntN(3); n >= 0; n-- {
			switch other := inputs[rng.IntN(len(inputs))]; {
			case rng.IntN(2) == 0 && len(in) > 0:
				in[rng.IntN(len(in))] = "0 19-+:.,{}[]eETZ\"\\\xff\x00"[rng.IntN(21)]
			case len(other) > 0:
				at := rng.IntN(len(in) + 1)
				in = append(in[:at:at], other[rng.IntN(len(other)):]...)
			}
		}
		v := vector.New(typ.Kind(), 1)
		if err := ParseText(v, typ, in, nil); err != nil {
			if v.N != 0 || len(v.Data) != 0 {
				t.Fatalf("%v %q: error left %d rows", typ, in, v.N)
			}
		} else if out := AppendText(nil, typ, v, 0, nil); v.N != 1 {
			t.Fatalf("%v %q: %q, %d rows", typ, in, out, v.N)
		}
		v = vector.New(typ.Kind(), 1)
		if ParseBinary(v, T(typ.OID), in) == nil {
			AppendText(nil, typ, v, 0, nil)
		}
	}
}

// TestFastPathsDoNotAllocate holds for what COPY reads by the million.
func TestFastPathsDoNotAllocate(t *testing.T) {
	ctx := &Context{ExtraFloatDigits: 1}
	for _, c := range [][2]string{{"int4", "-123456"}, {"int8", "1234567890123"}, {"float8", "3.25"}, {"float8", "1.7976931348623157e308"},
		{"float4", "0.1"}, {"numeric", "12345.678900"}, {"timestamp", "2001-02-03 04:05:06.123456"}, {"timestamptz", "2001-02-03T04:05:06+02:00"},
		{"date", "2001-02-03"}, {"bool", "t"}, {"text", "hello"}, {"time", "04:05:06"}, {"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}} {
		typ := spelledType(t, c[0])
		v := vector.New(typ.Kind(), 1)
		in, out := []byte(c[1]), make([]byte, 0, 100)
		if n := testing.AllocsPerRun(100, func() {
			v.Reset(typ.Kind())
			if err := ParseText(v, typ, in, ctx); err != nil {
				t.Fatal(err)
			}
			out = AppendText(out[:0], typ, v, 0, ctx)
			out = AppendBinary(out[:0], typ, v, 0)
		}); n != 0 {
			t.Errorf("%s %s: %v allocations", c[0], c[1], n)
		}
	}
}

// TestSums compares sums with exact integers.
func TestSums(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for range 50 {
		var sum, part NumericSum
		var ints Int128
		want, wantInts := new(big.Int), new(big.Int)
		scale := 0
		for k := range 1 + rng.IntN(60) {
			v := int64(rng.Uint64()) >> rng.IntN(63)
			s := rng.IntN(12)
			scale = max(scale, s)
			n := new(Decimal)
			n.SetScaled(v, s)
			if k%2 == 0 {
				sum.AddStored(n.AppendStored(nil))
			} else {
				part.Add(n)
			}
			unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(12-s)), nil)
			want.Add(want, unit.Mul(unit, big.NewInt(v)))
			ints.Add(v)
			wantInts.Add(wantInts, big.NewInt(v))
			ints.AddProduct(v, int64(s)-6)
			wantInts.Add(wantInts, new(big.Int).Mul(big.NewInt(v), big.NewInt(int64(s)-6)))
		}
		sum.Merge(&part)
		got := new(Decimal)
		if err := sum.Sum(got); err != nil {
			t.Fatal(err)
		}
		exact := new(Decimal)
		exact.setScaledBig(want, 12)
		if got.Cmp(exact) != 0 || got.Scale() != scale {
			t.Fatalf("sum %s (scale %d), want %s", got, got.Scale(), exact)
		}
		ints.Decimal(got)
		if got.String() != wantInts.String() {
			t.Fatalf("integer sum %s, want %s", got, wantInts)
		}
	}
	var s NumericSum
	for _, x := range []string{"1", "2.5", "NaN"} {
		s.Add(dec(x))
	}
	n := new(Decimal)
	if err := s.Sum(n); err != nil || !n.IsNaN() {
		t.Errorf("sum with NaN: %s, %v", n, err)
	}
	s = NumericSum{}
	for _, x := range []string{"1", "2", "2"} {
		s.Add(dec(x))
	}
	if err := s.Avg(n); err != nil || n.String() != "1.6666666666666667" {
		t.Errorf("avg: %s, %v", n, err)
	}
	s = NumericSum{}
	if err := s.Avg(n); err == nil {
		t.Error("average of nothing")
	}
}

func TestNames(t *testing.T) {
	for name, oid := range map[string]OID{"int4": Int4, "integer": Int4, "double precision": Float8, "char": Char, "bpchar": BPChar,
		"character varying": Varchar, "_int4": Int4Array, "integer[]": Int4Array, "timestamp with time zone": TimestampTZ} {
		if in, ok := ByName(name); !ok || in.OID != oid {
			t.Errorf("%s: %v, %v", name, in, ok)
		}
	}
	if _, ok := ByName("Integer"); ok {
		t.Error("names are in lower case")
	}
	last := OID(0)
	for _, in := range All() {
		if in.OID <= last {
			t.Errorf("%s is out of order", in.Name)
		}
		last = in.OID
		if in.Array != 0 {
			if a, ok := Lookup(in.Array); !ok || a.Elem != in.OID {
				t.Errorf("array over %s: %v", in.Name, a)
			}
		}
	}
	if ElemOf(Name) != 0 || ElemOf(Int2Vector) != Int2 || ElemOf(TextArray) != Text || ArrayOf(JSONB) != JSONBArray {
		t.Error("elements and arrays")
	}
}

func TestZones(t *testing.T) {
	for in, want := range map[string]string{"europe/berlin": "Europe/Berlin", "5.5": "<+05:30>-05:30", "-7": "<-07>+07", "UTC": "UTC", "utc+3": "utc+3"} {
		_, name, err := ParseZoneSetting(in)
		if err != nil || name != want {
			t.Errorf("%s: %s, %v", in, name, err)
		}
	}
	for _, in := range []string{"", "foo", "Europe/Nowhere", "200", "<+03", "UTC+"} {
		if loc, _, err := ParseZoneSetting(in); err == nil {
			t.Errorf("%q is %v", in, loc)
		}
	}
	loc, ok := LoadZone("FOO5BAR,M3.2.0,M11.1.0")
	if !ok {
		t.Fatal("POSIX rule")
	}
	july, _ := ParseTimestamp([]byte("2020-07-01"), nil, -1)
	off, abbrev, dst := ZoneAt(loc, july)
	if off != -4*3600 || abbrev != "BAR" || !dst {
		t.Errorf("POSIX rule: %d %s %v", off, abbrev, dst)
	}
	for _, n := range ZoneNames() {
		if _, ok := LoadZone(strings.ToUpper(n)); !ok {
			t.Errorf("zone %s does not load", n)
		}
	}
}

func TestWords(t *testing.T) {
	now, _ := ParseTimestamp([]byte("2020-03-01 23:30:00.25"), nil, -1)
	c := &Context{Now: now, Zone: time.FixedZone("", 3600), ExtraFloatDigits: 1}
	for _, w := range [][3]string{{"timestamptz", "now", "2020-03-02 00:30:00.25+01"}, {"timestamp", "now", "2020-03-02 00:30:00.25"},
		{"date", "today", "2020-03-02"}, {"date", "yesterday", "2020-03-01"}, {"timestamptz", "tomorrow", "2020-03-03 00:00:00+01"},
		{"timestamp", "today 12:00", "2020-03-02 12:00:00"}, {"time", "now", "00:30:00.25"}, {"timetz", "now", "00:30:00.25+01"},
		{"timetz", "10:00", "10:00:00+01"}, {"timestamptz", "today allballs", "2020-03-02 01:00:00+01"}} {
		if got := readShow(spelledType(t, w[0]), w[1], c); got != "OK:"+w[2] {
			t.Errorf("%s %s: %s, want %s", w[0], w[1], got, w[2])
		}
	}
}

// TestPlainNumerics compares the fast path of numeric input with the general one.
func TestPlainNumerics(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	taken := 0
	for range 20_000 {
		s := []byte(strings.Repeat("0", rng.IntN(3)))
		for n := rng.IntN(12); n >= 0; n-- {
			s = append(s, "00001234567899"[rng.IntN(14)])
		}
		if p := rng.IntN(2 * len(s)); p < len(s) {
			s = append(s[:p:p], append([]byte("."), s[p:]...)...)
		}
		if rng.IntN(2) == 0 {
			s = append([]byte("-"), s...)
		}
		mod := int32(-1)
		if rng.IntN(2) == 0 {
			mod = int32((1+rng.IntN(14))<<16|rng.IntN(8)) + 4
		}
		fast, ok := appendPlainNumeric(nil, s, mod)
		if !ok {
			continue
		}
		taken++
		n := new(Decimal)
		err := n.Parse(s)
		if err == nil {
			err = n.ApplyMod(mod)
		}
		if err != nil || string(n.AppendStored(nil)) != string(fast) {
			t.Fatalf("%s, modifier %d: %x, want %s %v", s, mod, fast, n, err)
		}
	}
	if taken < 8_000 {
		t.Errorf("only %d values took the fast path", taken)
	}
}

// TestJSONContext shows where in the text an error lies, as PostgreSQL does.
func TestJSONContext(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1 "b":2}`: `JSON data, line 1: {"a":1 "b"...`,
		`{"long key that goes on and on and on and on":1,"another one that is long":tru}`: `JSON data, line 1: ...n and on and on":1,"another one that is long":tru...`,
		"{\n\"a\":1,\n\"b\":x\n}": `JSON data, line 3: "b":x`,
		`[1,2`:                    `JSON data, line 1: [1,2`,
		`nul`:                     `JSON data, line 1: nul`,
		`[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,x,26]`: `JSON data, line 1: ...10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,x...`,
		``:         `JSON data, line 1: `,
		`{"a":1}}`: `JSON data, line 1: {"a":1}}`,
		"\"a\tb\"": `JSON data, line 1: "a...`,
	} {
		if got := pgerr.From(ValidateJSON([]byte(in))).Where; got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestShortFloats compares the fast path of float output with the general one.
func TestShortFloats(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 4))
	taken := 0
	for range 50_000 {
		f := float64(rng.Int64N(1<<(1+rng.IntN(52)))) / exactPow10[rng.IntN(9)]
		if rng.IntN(3) == 0 {
			f = math.Nextafter(f, -1)
		}
		got, ok := appendShort(nil, f)
		if !ok {
			continue
		}
		taken++
		want := plain(strconv.AppendFloat(nil, f, 'e', -1, 64), 0, 15)
		if string(got) != string(want) {
			t.Fatalf("%v: %s, want %s", f, got, want)
		}
	}
	if taken < 10_000 {
		t.Errorf("only %d floats took the fast path", taken)
	}
}
