package functions

import (
	"strings"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// aggregate runs an aggregate three ways (at once, in groups, merged from two
// halves) over one-row values and prints its result; all ways must agree.
func aggregate(t *testing.T, name string, typ string, rows []string, more ...string) string {
	t.Helper()
	info, _ := types.ByName(typ)
	oids := []types.OID{info.OID}
	for _, m := range more {
		o, _ := value(t, m)
		oids = append(oids, o)
	}
	a, actual, err := ResolveAggregate(name, oids)
	if err != nil {
		return errText(err)
	}
	in := make([]types.Type, len(actual))
	cols := make([]*vector.Vector, len(actual))
	for k, o := range actual {
		in[k] = types.T(o)
		cols[k] = vector.New(in[k].Kind(), 0)
		for _, r := range rows {
			s := typ + ":" + r
			if k > 0 {
				s = more[k-1]
			}
			from, v := value(t, s)
			v, err := cast(t, v, from, o, -1, CastImplicit)
			if err != nil {
				t.Fatal(err)
			}
			cols[k].AppendFrom(v, 0)
		}
	}
	ret := a.ResultType(in)
	n := len(rows)
	results := map[string]string{}
	finish := func(way string, s AggState, g int) {
		out := vector.New(ret.Kind(), 1)
		if err := s.Result(testCtx(), out, g, g+1); err != nil {
			results[way] = errText(err)
			return
		}
		results[way] = show(out, ret)
	}
	at := func(lo, hi int) []*vector.Vector {
		out := make([]*vector.Vector, len(cols))
		for k, c := range cols {
			out[k] = vector.New(c.Kind, 0)
			for i := lo; i < hi; i++ {
				out[k].AppendFrom(c, i)
			}
		}
		return out
	}
	update := func(s AggState, groups []uint32, args []*vector.Vector, n int) {
		if err := s.Update(groups, args, n); err != nil {
			t.Fatal(err)
		}
	}
	one := a.New(in)
	one.Grow(1)
	update(one, nil, at(0, n), n)
	finish("at once", one, 0)
	grouped := a.New(in)
	grouped.Grow(3)
	groups := make([]uint32, n)
	for i := range groups {
		groups[i] = 2
	}
	update(grouped, groups, at(0, n), n)
	finish("grouped", grouped, 2)
	x, y := a.New(in), a.New(in)
	x.Grow(2)
	y.Grow(1)
	half := n / 2
	update(x, make([]uint32, half), at(0, half), half)
	update(y, nil, at(half, n), n-half)
	if err := x.Merge(y, []uint32{0}); err != nil {
		t.Fatal(err)
	}
	finish("merged", x, 0)
	if results["at once"] != results["grouped"] || results["at once"] != results["merged"] {
		t.Errorf("%s(%s): %v", name, typ, results)
	}
	if got := results["at once"]; len(got) > 5 && got[5] == ' ' && strings.ToUpper(got[:5]) == got[:5] {
		return got
	}
	return types.FormatType(ret) + " " + results["at once"]
}

func TestAggregates(t *testing.T) {
	ints := []string{"1", "NULL", "2", "4", "4"}
	for _, c := range []struct {
		name, typ string
		rows      []string
		want      string
	}{
		{"count", "int4", ints, "bigint 4"},
		{"sum", "int2", ints, "bigint 11"},
		{"sum", "int4", ints, "bigint 11"},
		{"sum", "int8", []string{"9223372036854775807", "9223372036854775807", "-1"}, "numeric 18446744073709551613"},
		{"avg", "int4", ints, "numeric 2.7500000000000000"},
		{"avg", "int8", ints, "numeric 2.7500000000000000"},
		{"avg", "int2", []string{"1", "1", "2"}, "numeric 1.3333333333333333"},
		{"avg", "numeric", []string{"1.5", "2.25"}, "numeric 1.8750000000000000"},
		{"sum", "numeric", []string{"1.5", "2.25", "NULL"}, "numeric 3.75"},
		{"avg", "float8", ints, "double precision 2.75"},
		{"sum", "float8", []string{"1e308", "1e308"}, "22003 value out of range: overflow"},
		{"sum", "float8", []string{"Infinity", "1"}, "double precision Infinity"},
		{"sum", "float4", ints, "real 11"},
		{"min", "int4", ints, "integer 1"},
		{"max", "int8", ints, "bigint 4"},
		{"max", "float8", []string{"1", "NaN", "2"}, "double precision NaN"},
		{"min", "float8", []string{"NaN", "1", "2"}, "double precision 1"},
		{"min", "text", []string{"b", "a", "NULL"}, "text a"},
		{"max", "varchar", []string{"b", "a", "NULL"}, "text b"},
		{"max", "numeric", []string{"2.0", "10", "9.99"}, "numeric 10"},
		{"max", "date", []string{"2020-01-01", "1999-12-31"}, "date 2020-01-01"},
		{"min", "interval", []string{"1 month", "29 days", "31 days"}, "interval 29 days"},
		{"var_samp", "int4", ints, "numeric 2.2500000000000000"},
		{"stddev", "int4", ints, "numeric 1.5000000000000000"},
		{"stddev_pop", "int4", []string{"1", "2"}, "numeric 0.50000000000000000000"},
		{"variance", "int4", []string{"1"}, "numeric NULL"},
		{"var_pop", "int4", []string{"1"}, "numeric 0"},
		{"var_samp", "numeric", []string{"1.1", "2.2", "3.4"}, "numeric 1.3233333333333333"},
		{"stddev", "numeric", []string{"1.1", "2.2", "3.4"}, "numeric 1.1503622617824931"},
		{"stddev", "float8", ints, "double precision 1.5"},
		{"bool_and", "bool", []string{"t", "f", "NULL"}, "boolean f"},
		{"bool_or", "bool", []string{"t", "f", "NULL"}, "boolean t"},
		{"every", "bool", []string{"NULL"}, "boolean NULL"},
		{"bit_and", "int4", []string{"7", "12"}, "integer 4"},
		{"bit_or", "int2", []string{"7", "8"}, "smallint 15"},
		{"array_agg", "int4", ints, "integer[] {1,NULL,2,4,4}"},
		{"sum", "int4", []string{"NULL"}, "bigint NULL"},
		{"sum", "interval", []string{"1 day", "2 hours"}, "interval 1 day 02:00:00"},
		{"avg", "interval", []string{"1 day", "2 days", "NULL"}, "interval 1 day 12:00:00"},
		{"min", "bool", []string{"t"}, "42883 function min(boolean) does not exist"},
	} {
		if got := aggregate(t, c.name, c.typ, c.rows); got != c.want {
			t.Errorf("%s(%s %v) = %s, want %s", c.name, c.typ, c.rows, got, c.want)
		}
	}
	if got := aggregate(t, "string_agg", "text", []string{"a", "NULL", "b"}, "text:-"); got != "text a-b" {
		t.Error(got)
	}
}

func TestFirstLast(t *testing.T) {
	args := []types.Type{types.T(types.Text), types.T(types.Int8)}
	for _, last := range []bool{false, true} {
		s := newEdge(last, args)
		s.Grow(2)
		for b := 0; b < 3; b++ {
			v, ts := vector.New(vector.Bytes, 0), vector.New(vector.Int64, 0)
			for i := 0; i < 4; i++ {
				v.AppendString(string(rune('a' + 4*b + i)))
				ts.AppendInt64(int64(4*b + i))
			}
			v.AppendString("none")
			ts.AppendNull()
			if err := s.Update([]uint32{0, 1, 0, 1, 1}, []*vector.Vector{v, ts}, 5); err != nil {
				t.Fatal(err)
			}
		}
		out := vector.New(vector.Bytes, 2)
		if err := s.Result(testCtx(), out, 0, 2); err != nil {
			t.Fatal(err)
		}
		got := string(out.Bytes(0)) + string(out.Bytes(1))
		if want := map[bool]string{false: "ab", true: "kl"}[last]; got != want {
			t.Errorf("last %v: %s, want %s", last, got, want)
		}
	}
}
