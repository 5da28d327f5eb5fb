package eval

import (
	"fmt"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/types"
)

var sink int

// benchBatch has 4,096 rows: int8, float8, a dictionary-encoded text, timestamp, int4 with NULLs.
func benchBatch() *vector.Batch {
	const n = vector.BatchSize
	a, f, ts, k := vector.New(vector.Int64, n), vector.New(vector.Float64, n), vector.New(vector.Int64, n), vector.New(vector.Int32, n)
	text := vector.New(vector.Bytes, n)
	for i := 0; i < n; i++ {
		a.AppendInt64(int64(i * 7919 % 1000))
		f.AppendFloat64(float64(i%97) / 3)
		ts.AppendInt64(1_600_000_000_000_000 + int64(i)*1_000_000)
		text.AppendString(fmt.Sprintf("station-%02d", i%40))
		if i%10 == 0 {
			k.AppendNull()
		} else {
			k.AppendInt32(int32(i % 50))
		}
	}
	return batch(a, f, encoded(text), ts, k)
}

func benchmark(b *testing.B, e scalar.Expr, bytesPerRow int64) {
	b.Helper()
	p, err := Compile(e)
	if err != nil {
		b.Fatal(err)
	}
	env, in := testEnv(), benchBatch()
	b.SetBytes(bytesPerRow * vector.BatchSize)
	b.ReportAllocs()
	for b.Loop() {
		v, err := p.Eval(env, in)
		if err != nil {
			b.Fatal(err)
		}
		sink += v.N
	}
}

func BenchmarkEval(b *testing.B) {
	x, f, s, ts, k := col(0, types.Int8), col(1, types.Float8), col(2, types.Text), col(3, types.Timestamp), col(4, types.Int4)
	ten := lit(b, types.Int8, "10")
	items := make([]string, 1000)
	for i := range items {
		items[i] = fmt.Sprint(i * 3)
	}
	for _, c := range []struct {
		name  string
		e     scalar.Expr
		width int64
	}{
		{"compare_int8_const", op(b, x, "<", ten), 8},
		{"compare_float8_const", op(b, f, ">=", lit(b, types.Float8, "3")), 8},
		{"compare_int4_nulls", op(b, k, "=", lit(b, types.Int4, "7")), 4},
		{"add_int8", op(b, op(b, x, "+", ten), "*", x), 8},
		{"div_float8", op(b, f, "/", lit(b, types.Float8, "3")), 8},
		{"and_of_three", and(op(b, x, ">", ten), op(b, f, "<", lit(b, types.Float8, "20")), op(b, k, "<", lit(b, types.Int4, "40"))), 20},
		{"dict_equal", op(b, s, "=", lit(b, types.Text, "station-07")), 4},
		{"dict_like", op(b, s, "~~", lit(b, types.Text, "%-1%")), 4},
		{"in_1000_int8", &scalar.InList{Arg: x, List: column(b, types.Int8, items...)}, 8},
		{"date_bin", fn(b, "date_bin", lit(b, types.Interval, "15 min"), ts, lit(b, types.Timestamp, "2001-01-01")), 8},
		{"date_trunc_hour", fn(b, "date_trunc", lit(b, types.Text, "hour"), ts), 8},
		{"time_bucket_1h", fn(b, "time_bucket", lit(b, types.Interval, "1 hour"), ts), 8},
		{"case_two_arms", &scalar.Case{Whens: []scalar.When{{Cond: op(b, x, "<", ten), Then: f}, {Cond: op(b, f, ">", lit(b, types.Float8, "9")), Then: lit(b, types.Float8, "1")}}, Typ: types.T(types.Float8)}, 16},
	} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, c.e, c.width) })
	}
}

func BenchmarkFilter(b *testing.B) {
	e := and(op(b, col(0, types.Int8), "<", lit(b, types.Int8, "100")), op(b, col(1, types.Float8), ">", lit(b, types.Float8, "3")),
		op(b, col(2, types.Text), "~~", lit(b, types.Text, "station%")))
	p, err := Compile(e)
	if err != nil {
		b.Fatal(err)
	}
	env, in := testEnv(), benchBatch()
	var sel []int32
	b.SetBytes(20 * vector.BatchSize)
	b.ReportAllocs()
	for b.Loop() {
		if sel, err = p.Filter(env, in, sel[:0]); err != nil {
			b.Fatal(err)
		}
		sink += len(sel)
	}
}
