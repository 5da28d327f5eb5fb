package functions

import (
	"testing"

	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

func TestResolve(t *testing.T) {
	i2, i4, i8, f8, n, tx, vc, u := types.Int2, types.Int4, types.Int8, types.Float8, types.Numeric, types.Text, types.Varchar, types.Unknown
	for _, c := range []struct {
		symbol      string
		left, right types.OID
		l, r        types.OID // 0: an error
		code        pgerr.Code
	}{
		{"+", i4, i4, i4, i4, ""},
		{"+", i4, n, n, n, ""},
		{"+", i8, f8, f8, f8, ""},
		{"+", i4, u, i4, i4, ""},
		{"=", vc, u, tx, tx, ""},
		{"=", vc, tx, tx, tx, ""},
		{"||", u, u, tx, tx, ""},
		{"||", i4, u, i4, tx, ""},
		{"-", types.Date, u, types.Date, types.Date, ""},
		{"-", types.Timestamp, u, types.Timestamp, types.Timestamp, ""},
		{"<", types.Date, types.TimestampTZ, types.Date, types.TimestampTZ, ""},
		{"~~", types.BPChar, u, types.BPChar, tx, ""},
		{"=", types.Int4Array, u, types.Int4Array, types.Int4Array, ""},
		{"*", types.Interval, i4, types.Interval, f8, ""},
		{"<<", i2, i4, i2, i4, ""},
		{"+", i4, tx, 0, 0, pgerr.UndefinedFunction},
		{"+", u, u, 0, 0, pgerr.AmbiguousFunction},
		{"=", types.Bool, i4, 0, 0, pgerr.UndefinedFunction},
	} {
		_, actual, err := ResolveOperator(c.symbol, c.left, c.right)
		switch {
		case c.l == 0:
			if err == nil || pgerr.From(err).Code != c.code || pgerr.From(err).Hint == "" {
				t.Errorf("%d %s %d: %v", c.left, c.symbol, c.right, err)
			}
		case err != nil:
			t.Errorf("%d %s %d: %v", c.left, c.symbol, c.right, err)
		case actual[0] != c.l || actual[1] != c.r:
			t.Errorf("%d %s %d: %v", c.left, c.symbol, c.right, actual)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{third(ResolveOperator("+", types.Unknown, types.Unknown)), "operator is not unique: unknown + unknown"},
		{third(ResolveOperator("~", 0, types.Text)), "operator does not exist: ~ text"},
		{third(ResolveFunction("sum", []types.OID{types.Int4})), "function sum(integer) does not exist"},
		{third(ResolveFunction("make_date", []types.OID{types.Int4, types.Unknown})), "function make_date(integer, unknown) does not exist"},
		{third(ResolveFunction("pg_typeof", nil)), "function pg_typeof() does not exist"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}

func third[A, B any](_ A, _ B, err error) error { return err }

func TestCommonType(t *testing.T) {
	u := types.Unknown
	for _, c := range []struct {
		in   []types.OID
		want types.OID
	}{
		{[]types.OID{types.Int4, types.Int8}, types.Int8},
		{[]types.OID{types.Numeric, types.Int4, types.Float8}, types.Float8},
		{[]types.OID{u, types.Date}, types.Date},
		{[]types.OID{u, u}, types.Text},
		{[]types.OID{types.Varchar, types.Text}, types.Varchar},
		{[]types.OID{types.Date, types.Timestamp, types.TimestampTZ}, types.TimestampTZ},
		{[]types.OID{types.Int4, types.Text}, 0},
		{[]types.OID{types.Bool, types.Int4}, 0},
	} {
		if got, _ := CommonType(c.in); got != c.want {
			t.Errorf("%v: %d, want %d", c.in, got, c.want)
		}
	}
}

func TestCasts(t *testing.T) {
	for _, c := range []struct {
		from, to string
		mod      int32
		ctx      CastContext
		want     string // empty: no such cast
	}{
		{"int4:300", "int2", -1, CastAssignment, "300"},
		{"int4:300", "int2", -1, CastImplicit, ""},
		{"int4:70000", "int2", -1, CastAssignment, "22003 smallint out of range"},
		{"float8:2.5", "int4", -1, CastAssignment, "2"},
		{"float8:3e9", "int4", -1, CastAssignment, "22003 integer out of range"},
		{"numeric:2.5", "int4", -1, CastAssignment, "3"},
		{"numeric:1234.567", "numeric", (6<<16 | 2) + 4, CastImplicit, "1234.57"},
		{"numeric:12345.67", "numeric", (6<<16 | 2) + 4, CastImplicit, "22003 numeric field overflow"},
		{"text:hello", "varchar", 7, CastAssignment, "22001 value too long for type character varying(3)"},
		{"text:hello", "varchar", 7, CastExplicit, "hel"},
		{"text:a", "bpchar", 7, CastAssignment, "a  "},
		{"int4:12345", "varchar", 7, CastAssignment, "22001 value too long for type character varying(3)"},
		{"bool:t", "text", -1, CastAssignment, "true"},
		{"bool:t", "int4", -1, CastExplicit, "1"},
		{"text:12", "int4", -1, CastExplicit, "12"},
		{"text:12", "int4", -1, CastAssignment, ""},
		{"text:x", "int4", -1, CastExplicit, "22P02 invalid input syntax for type integer: \"x\""},
		{"timestamp:2020-01-01 10:00:00.5", "timestamp", 0, CastImplicit, "2020-01-01 10:00:01"},
		{"timestamptz:2020-01-01 10:00+00", "date", -1, CastAssignment, "2020-01-01"},
		{"_int4:{1,NULL,3}", "_text", -1, CastExplicit, "{1,NULL,3}"},
		{"_text:{1,2}", "_int8", -1, CastExplicit, "{1,2}"},
		{"jsonb:1.5", "numeric", -1, CastExplicit, "1.5"},
		{"jsonb:2.5", "int4", -1, CastExplicit, "3"},
		{"jsonb:null", "int4", -1, CastExplicit, "22023 cannot cast jsonb null to type integer"},
		{"json:{\"b\":1, \"a\":2}", "jsonb", -1, CastAssignment, "{\"a\": 2, \"b\": 1}"},
		{"date:2020-01-01", "int4", -1, CastExplicit, ""},
	} {
		from, v := value(t, c.from)
		to, _ := types.ByName(c.to)
		if _, ok := FindCast(from, to.OID, c.ctx); !ok || c.want == "" {
			if ok || c.want != "" {
				t.Errorf("%s to %s: found %v", c.from, c.to, ok)
			}
			continue
		}
		out, err := cast(t, v, from, to.OID, c.mod, c.ctx)
		got := ""
		if err != nil {
			got = errText(err)
		} else {
			got = show(out, types.T(to.OID))
		}
		if got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}
