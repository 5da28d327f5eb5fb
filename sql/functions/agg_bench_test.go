package functions

import (
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

func BenchmarkAggregates(b *testing.B) {
	const n = vector.BatchSize
	ints, bigs, floats, nums := vector.New(vector.Int32, n), vector.New(vector.Int64, n), vector.New(vector.Float64, n), vector.New(vector.Bytes, n)
	groups := make([]uint32, n)
	var d decimal
	for i := 0; i < n; i++ {
		ints.AppendInt32(int32(i))
		bigs.AppendInt64(int64(i) << 33)
		floats.AppendFloat64(float64(i))
		d.SetScaled(int64(i)*12345, 2)
		appendDecimal(nums, &d)
		groups[i] = uint32(i * 31 % 500)
	}
	for _, c := range []struct {
		name  string
		typ   types.OID
		v     *vector.Vector
		width int64
	}{
		{"count", types.Int4, ints, 4}, {"sum", types.Int4, ints, 4}, {"avg", types.Int4, ints, 4}, {"sum", types.Int8, bigs, 8},
		{"sum", types.Float8, floats, 8}, {"avg", types.Float8, floats, 8}, {"max", types.Int8, bigs, 8}, {"max", types.Float8, floats, 8},
		{"stddev", types.Float8, floats, 8}, {"sum", types.Numeric, nums, 12},
	} {
		a, actual, err := ResolveAggregate(c.name, []types.OID{c.typ})
		if err != nil {
			b.Fatal(err)
		}
		for _, way := range []string{"one", "grouped"} {
			b.Run(c.name+"_"+typeName(c.typ)+"_"+way, func(b *testing.B) {
				s := a.New([]types.Type{types.T(actual[0])})
				s.Grow(500)
				g := groups
				if way == "one" {
					g = nil
				}
				b.SetBytes(c.width * n)
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Update(g, []*vector.Vector{c.v}, n); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
