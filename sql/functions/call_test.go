package functions

import (
	"errors"
	"strings"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// testCtx has a fixed clock: 2024-02-29 12:34:56.789 UTC.
func testCtx() *Ctx {
	now := int64(1709210096789000)
	return &Ctx{Context: types.Context{Now: now, ExtraFloatDigits: 1}, StatementTime: now, Clock: func() int64 { return now }}
}

// value reads "type:text"; "type:NULL" is NULL, a bare text is an unknown literal.
func value(t *testing.T, s string) (types.OID, *vector.Vector) {
	t.Helper()
	name, text, ok := strings.Cut(s, ":")
	info, known := types.ByName(name)
	if !ok || !known {
		v := vector.New(vector.Bytes, 1)
		v.AppendString(s)
		return types.Unknown, v
	}
	typ := types.T(info.OID)
	v := vector.New(typ.Kind(), 1)
	if text == "NULL" {
		v.AppendNull()
	} else if err := types.ParseText(v, typ, []byte(text), &testCtx().Context); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return info.OID, v
}

// cast converts a one-row value implicitly.
func cast(t *testing.T, v *vector.Vector, from, to types.OID, mod int32, ctx CastContext) (*vector.Vector, error) {
	t.Helper()
	c, ok := FindCast(from, to, ctx)
	if !ok {
		t.Fatalf("no cast from %d to %d", from, to)
	}
	if c.Make == nil {
		return v, nil
	}
	k := c.Make(mod, ctx == CastExplicit)
	if k == nil {
		return v, nil
	}
	return apply(k, types.T(to).Kind(), true, []*vector.Vector{v})
}

func apply(k Kernel, kind vector.Kind, strict bool, args []*vector.Vector) (*vector.Vector, error) {
	out := vector.New(kind, 1)
	if kind != vector.Bytes {
		out.Resize(1)
	}
	if strict {
		for _, a := range args {
			if a.IsNull(0) {
				out.Reset(kind)
				out.AppendNull()
				return out, nil
			}
		}
	}
	err := k(testCtx(), out, args, 1)
	return out, err
}

// call resolves and runs a function (or an operator, if op) on values and prints "type result".
func call(t *testing.T, name string, isOp bool, args ...string) string {
	t.Helper()
	oids := make([]types.OID, len(args))
	vals := make([]*vector.Vector, len(args))
	for i, a := range args {
		oids[i], vals[i] = value(t, a)
	}
	var o *Overload
	var actual []types.OID
	var err error
	switch {
	case isOp && len(args) == 1:
		o, actual, err = ResolveOperator(name, 0, oids[0])
	case isOp:
		o, actual, err = ResolveOperator(name, oids[0], oids[1])
	default:
		o, actual, err = ResolveFunction(name, oids)
	}
	if err != nil {
		return errText(err)
	}
	in := make([]types.Type, len(args))
	for i := range args {
		in[i] = types.T(actual[i])
		if vals[i], err = cast(t, vals[i], oids[i], actual[i], -1, CastImplicit); err != nil {
			return errText(err)
		}
	}
	ret := o.ResultType(in)
	out, err := apply(o.Kernel(in), ret.Kind(), !o.NotStrict, vals)
	if err != nil {
		return errText(err)
	}
	return types.FormatType(ret) + " " + show(out, ret)
}

func show(v *vector.Vector, t types.Type) string {
	if v.N != 1 {
		return "rows?"
	}
	if v.IsNull(0) {
		return "NULL"
	}
	return string(types.AppendText(nil, t, v, 0, &testCtx().Context))
}

func errText(err error) string {
	var e *pgerr.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return string(e.Code) + " " + e.Message
}

// check runs lines "name(arg; arg) = result" or "arg op arg = result"; the
// separator before the result is " => ".
func check(t *testing.T, lines string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		expr, want, _ := strings.Cut(line, " => ")
		var got string
		if name, rest, ok := strings.Cut(expr, "("); ok && strings.HasSuffix(rest, ")") && !strings.ContainsAny(name, " :") {
			var args []string
			if rest = strings.TrimSuffix(rest, ")"); rest != "" {
				args = strings.Split(rest, "; ")
			}
			got = call(t, name, false, args...)
		} else if parts := strings.Split(expr, " | "); len(parts) == 3 {
			got = call(t, parts[1], true, parts[0], parts[2])
		} else if len(parts) == 2 {
			got = call(t, parts[0], true, parts[1])
		} else {
			t.Errorf("bad line %q", line)
			continue
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", expr, got, want)
		}
	}
}
