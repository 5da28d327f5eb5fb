package types

import (
	"testing"

	"tsdb/colstore/vector"
)

var benchValues = []struct{ typ, in string }{
	{"int4", "-123456"}, {"float8", "123.456"}, {"float8", "0.12345678901234567"}, {"numeric", "12345.6789"},
	{"timestamp", "2001-02-03 04:05:06.123456"}, {"timestamptz", "2001-02-03 04:05:06+02"}, {"timestamp", "Feb 3 2001 04:05"},
	{"date", "2001-02-03"}, {"text", "hello"}, {"interval", "1 day 02:03:04"}, {"jsonb", `{"b": 1, "a": [1, 2]}`},
}

func BenchmarkParseText(b *testing.B) {
	for _, c := range benchValues {
		b.Run(c.typ+"/"+c.in, func(b *testing.B) {
			typ := spelledType(b, c.typ)
			v := vector.New(typ.Kind(), 1)
			in, ctx := []byte(c.in), &Context{ExtraFloatDigits: 1}
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				v.Reset(typ.Kind())
				if err := ParseText(v, typ, in, ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendText(b *testing.B) {
	for _, c := range benchValues {
		b.Run(c.typ+"/"+c.in, func(b *testing.B) {
			typ := spelledType(b, c.typ)
			v := vector.New(typ.Kind(), 1)
			ctx := &Context{ExtraFloatDigits: 1}
			if err := ParseText(v, typ, []byte(c.in), ctx); err != nil {
				b.Fatal(err)
			}
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out = AppendText(out[:0], typ, v, 0, ctx)
			}
			b.SetBytes(int64(len(out)))
		})
	}
}

func BenchmarkDecimal(b *testing.B) {
	x, y, n := dec("12345.6789"), dec("3.14159"), new(Decimal)
	for name, f := range map[string]func(a, b *Decimal) error{"add": n.Add, "mul": n.Mul, "div": n.Div} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(x, y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
