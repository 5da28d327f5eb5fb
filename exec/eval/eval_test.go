package eval

import (
	"fmt"
	"strings"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

func testEnv() *Env {
	return &Env{Ctx: &functions.Ctx{Context: types.Context{ExtraFloatDigits: 1}, Clock: func() int64 { return 0 }}}
}

// column parses values of a type; "-" is NULL.
func column(t testing.TB, typ types.OID, vals ...string) *vector.Vector {
	t.Helper()
	v := vector.New(types.T(typ).Kind(), len(vals))
	for _, s := range vals {
		if s == "-" {
			v.AppendNull()
		} else if err := types.ParseText(v, types.T(typ), []byte(s), &types.Context{}); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// encoded makes a dictionary-encoded copy of a text column.
func encoded(v *vector.Vector) *vector.Vector {
	out := &vector.Vector{Kind: vector.Bytes, Dict: vector.New(vector.Bytes, 0), N: v.N, Valid: v.Valid}
	codes := map[string]int32{}
	for i := 0; i < v.N; i++ {
		if v.IsNull(i) {
			out.I32 = append(out.I32, 0)
			continue
		}
		s := string(v.Bytes(i))
		c, ok := codes[s]
		if !ok {
			c = int32(out.Dict.N)
			codes[s] = c
			out.Dict.AppendString(s)
		}
		out.I32 = append(out.I32, c)
	}
	return out
}

func batch(cols ...*vector.Vector) *vector.Batch {
	return &vector.Batch{Cols: cols, N: cols[0].N}
}

func col(i int, typ types.OID) scalar.Expr { return &scalar.Column{Index: i, Typ: types.T(typ)} }

func lit(t testing.TB, typ types.OID, s string) scalar.Expr {
	return &scalar.Const{Value: column(t, typ, s), Typ: types.T(typ)}
}

func op(t testing.TB, l scalar.Expr, symbol string, r scalar.Expr) scalar.Expr {
	t.Helper()
	o, actual, err := functions.ResolveOperator(symbol, l.ResultType().OID, r.ResultType().OID)
	if err != nil {
		t.Fatal(err)
	}
	_ = actual
	ret := o.ResultType([]types.Type{l.ResultType(), r.ResultType()})
	return &scalar.Call{Fn: o, Args: []scalar.Expr{l, r}, Typ: ret}
}

func fn(t testing.TB, name string, args ...scalar.Expr) scalar.Expr {
	t.Helper()
	oids := make([]types.OID, len(args))
	in := make([]types.Type, len(args))
	for i, a := range args {
		oids[i], in[i] = a.ResultType().OID, a.ResultType()
	}
	o, _, err := functions.ResolveFunction(name, oids)
	if err != nil {
		t.Fatal(err)
	}
	return &scalar.Call{Fn: o, Args: args, Typ: o.ResultType(in)}
}

func and(args ...scalar.Expr) scalar.Expr { return &scalar.Logic{Args: args} }
func or(args ...scalar.Expr) scalar.Expr  { return &scalar.Logic{Or: true, Args: args} }

func show(v *vector.Vector, t types.Type) string {
	var out []string
	for i := 0; i < v.N; i++ {
		if v.IsNull(i) {
			out = append(out, "-")
			continue
		}
		one := vector.New(v.Kind, 1)
		one.AppendFrom(v, i)
		out = append(out, string(types.AppendText(nil, t, one, 0, &types.Context{})))
	}
	return strings.Join(out, " ")
}

// run evaluates e twice with one program and prints the column.
func run(t testing.TB, e scalar.Expr, b *vector.Batch) string {
	t.Helper()
	p, err := Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	var last string
	for i := 0; i < 2; i++ {
		v, err := p.Eval(testEnv(), b)
		if err != nil {
			return err.Error()
		}
		if v.N != b.N {
			t.Fatalf("%d rows, want %d", v.N, b.N)
		}
		s := show(v, e.ResultType())
		if i == 1 && s != last {
			t.Fatalf("second run %s, first %s", s, last)
		}
		last = s
	}
	return last
}

func want(t *testing.T, e scalar.Expr, b *vector.Batch, expected string) {
	t.Helper()
	if got := run(t, e, b); got != expected {
		t.Errorf("got  %s\nwant %s", got, expected)
	}
}

func TestThreeValuedLogic(t *testing.T) {
	// All pairs of true, false, NULL.
	b := batch(column(t, types.Bool, "t", "t", "t", "f", "f", "f", "-", "-", "-"),
		column(t, types.Bool, "t", "f", "-", "t", "f", "-", "t", "f", "-"))
	x, y := col(0, types.Bool), col(1, types.Bool)
	want(t, and(x, y), b, "t f - f f f - f -")
	want(t, or(x, y), b, "t t t t f - t - -")
	want(t, &scalar.Not{Arg: x}, b, "f f f t t t - - -")
	want(t, and(x, lit(t, types.Bool, "-")), b, "- - - f f f - - -")
	want(t, or(lit(t, types.Bool, "-"), y), b, "t - - t - - t - -")
	want(t, and(x, y, lit(t, types.Bool, "t")), b, "t f - f f f - f -")
	want(t, &scalar.IsNull{Arg: x}, b, "f f f f f f t t t")
	want(t, &scalar.IsNull{Arg: x, Negate: true}, b, "t t t t t t f f f")
	want(t, &scalar.BoolTest{Arg: x, Value: scalar.TestTrue}, b, "t t t f f f f f f")
	want(t, &scalar.BoolTest{Arg: x, Value: scalar.TestFalse}, b, "f f f t t t f f f")
	want(t, &scalar.BoolTest{Arg: x, Value: scalar.TestUnknown}, b, "f f f f f f t t t")
	want(t, &scalar.BoolTest{Arg: x, Value: scalar.TestFalse, Negate: true}, b, "t t t f f f t t t")
	eq, _, _ := functions.ResolveOperator("=", types.Bool, types.Bool)
	want(t, &scalar.Distinct{Left: x, Right: y, Eq: eq}, b, "f t t t f t t t f")
	want(t, &scalar.Distinct{Left: x, Right: y, Eq: eq, Negate: true}, b, "t f f f t f f f t")
	want(t, &scalar.Distinct{Left: x, Right: lit(t, types.Bool, "-"), Eq: eq}, b, "t t t t t t f f f")
}

func TestExcludedRowsDoNotFail(t *testing.T) {
	b := batch(column(t, types.Int4, "0", "1", "2", "-", "5"))
	x := col(0, types.Int4)
	zero, one := lit(t, types.Int4, "0"), lit(t, types.Int4, "1")
	inverse := op(t, lit(t, types.Int4, "10"), "/", x)
	big := op(t, inverse, ">", lit(t, types.Int4, "4"))
	want(t, and(op(t, x, "<>", zero), big), b, "f t t - f")
	want(t, or(op(t, x, "=", zero), big), b, "t t t - f")
	want(t, big, b, "division by zero")
	want(t, &scalar.Case{Whens: []scalar.When{{Cond: op(t, x, "=", zero), Then: lit(t, types.Int4, "-1")}}, Else: inverse, Typ: types.T(types.Int4)}, b, "-1 10 5 - 2")
	want(t, &scalar.Case{Whens: []scalar.When{{Cond: op(t, x, "<>", zero), Then: inverse}}, Typ: types.T(types.Int4)}, b, "- 10 5 - 2")
	nullif := &scalar.Case{Whens: []scalar.When{{Cond: op(t, x, ">", one), Then: x}}, Typ: types.T(types.Int4)}
	want(t, &scalar.Coalesce{Args: []scalar.Expr{nullif, op(t, x, "+", one), one}, Typ: types.T(types.Int4)}, b, "1 2 2 1 5")
	ones := &scalar.Coalesce{Args: []scalar.Expr{one, inverse}, Typ: types.T(types.Int4)}
	want(t, ones, b, "1 1 1 1 1")
	p, err := Compile(and(op(t, x, "<>", zero), big))
	if err != nil {
		t.Fatal(err)
	}
	sel, err := p.Filter(testEnv(), b, nil)
	if err != nil || fmt.Sprint(sel) != "[1 2]" {
		t.Errorf("%v %v", sel, err)
	}
}

func TestTextCaseAndCoalesce(t *testing.T) {
	b := batch(column(t, types.Text, "a", "-", "c", "d"), column(t, types.Text, "w", "x", "-", "z"))
	x, y := col(0, types.Text), col(1, types.Text)
	want(t, &scalar.Coalesce{Args: []scalar.Expr{x, y}, Typ: types.T(types.Text)}, b, "a x c d")
	want(t, &scalar.Coalesce{Args: []scalar.Expr{y, x, lit(t, types.Text, "q")}, Typ: types.T(types.Text)}, b, "w x c z")
	c := &scalar.Case{Whens: []scalar.When{
		{Cond: op(t, x, "=", lit(t, types.Text, "a")), Then: fn(t, "upper", y)},
		{Cond: &scalar.IsNull{Arg: x}, Then: lit(t, types.Text, "null")},
		{Cond: op(t, x, "=", lit(t, types.Text, "c")), Then: y},
	}, Else: x, Typ: types.T(types.Text)}
	want(t, c, b, "W null - d")
	want(t, &scalar.MinMax{Greatest: true, Args: []scalar.Expr{x, y}, Typ: types.T(types.Text)}, b, "w x c z")
	want(t, &scalar.MinMax{Args: []scalar.Expr{x, y, lit(t, types.Text, "b")}, Typ: types.T(types.Text)}, b, "a b b b")
}

func TestInList(t *testing.T) {
	b := batch(column(t, types.Int4, "1", "2", "-", "4"), column(t, types.Numeric, "1.0", "2.50", "-", "0"),
		column(t, types.Float8, "NaN", "-0", "-", "3"), column(t, types.Interval, "1 mon", "30 days", "-", "1 day"))
	in := func(i int, typ types.OID, hasNull, negate bool, items ...string) scalar.Expr {
		return &scalar.InList{Arg: col(i, typ), List: column(t, typ, items...), HasNull: hasNull, Negate: negate}
	}
	want(t, in(0, types.Int4, false, false, "1", "4"), b, "t f - t")
	want(t, in(0, types.Int4, true, false, "1", "4"), b, "t - - t")
	want(t, in(0, types.Int4, true, true, "1", "4"), b, "f - - f")
	want(t, in(0, types.Int4, false, true, "1", "4"), b, "f t - f")
	want(t, in(1, types.Numeric, false, false, "1", "2.5", "0.00"), b, "t t - t")
	want(t, in(2, types.Float8, false, false, "NaN", "0"), b, "t t - f")
	want(t, in(3, types.Interval, false, false, "30 days"), b, "t t - f")
}

func TestDictionary(t *testing.T) {
	flat := column(t, types.Text, "red", "blue", "red", "-", "green", "red", "blue", "12")
	b, d := batch(flat), batch(encoded(flat))
	x := col(0, types.Text)
	exprs := []scalar.Expr{
		op(t, x, "=", lit(t, types.Text, "red")),
		op(t, lit(t, types.Text, "red"), "<", x),
		op(t, x, "~~", lit(t, types.Text, "%e%")),
		fn(t, "upper", x),
		fn(t, "length", x),
		op(t, x, "||", x),
		x,
		&scalar.InList{Arg: x, List: column(t, types.Text, "blue", "12")},
		&scalar.Case{Whens: []scalar.When{{Cond: op(t, x, "=", lit(t, types.Text, "red")), Then: x}}, Typ: types.T(types.Text)},
		&scalar.Distinct{Left: x, Right: lit(t, types.Text, "red"), Eq: op(t, x, "=", x).(*scalar.Call).Fn},
	}
	for i, e := range exprs {
		if f, g := run(t, e, b), run(t, e, d); f != g {
			t.Errorf("%d: flat %s, dictionary %s", i, f, g)
		}
	}
	cast, _ := functions.FindCast(types.Text, types.Int4, functions.CastExplicit)
	num := &scalar.Cast{Arg: x, Typ: types.T(types.Int4), Kernel: cast.Make(-1, true), CanFail: true}
	guarded := &scalar.Case{Whens: []scalar.When{{Cond: op(t, x, "=", lit(t, types.Text, "12")), Then: num}}, Typ: types.T(types.Int4)}
	want(t, guarded, d, "- - - - - - - 12")
}

func TestDictionaryOfNulls(t *testing.T) {
	v := &vector.Vector{Kind: vector.Bytes, N: 3, I32: []int32{0, 0, 0}, Dict: vector.New(vector.Bytes, 0), Valid: vector.NewBitmap(3, false)}
	x := col(0, types.Text)
	want(t, op(t, x, "=", lit(t, types.Text, "a")), batch(v), "- - -")
	want(t, fn(t, "upper", x), batch(v), "- - -")
	want(t, &scalar.InList{Arg: x, List: column(t, types.Text, "a")}, batch(v), "- - -")
	want(t, &scalar.Coalesce{Args: []scalar.Expr{x, lit(t, types.Text, "z")}, Typ: types.T(types.Text)}, batch(v), "z z z")
}

func TestNestedElse(t *testing.T) {
	b := batch(column(t, types.Int4, "1", "2", "3", "-"))
	x := col(0, types.Int4)
	var e scalar.Expr = lit(t, types.Int4, "0")
	for i := 3; i > 0; i-- {
		n := lit(t, types.Int4, fmt.Sprint(i))
		e = &scalar.Case{Whens: []scalar.When{{Cond: op(t, x, ">=", n), Then: n}}, Else: e, Typ: types.T(types.Int4)}
	}
	want(t, e, b, "1 1 1 0")
}

func TestArrayCompare(t *testing.T) {
	b := batch(column(t, types.Int4, "1", "2", "-", "4"), column(t, types.Int4Array, "{1,2}", "{}", "{1}", "-"))
	x := col(0, types.Int4)
	cmp := func(symbol string, all bool, array scalar.Expr) scalar.Expr {
		o, _, _ := functions.ResolveOperator(symbol, types.Int4, types.Int4)
		return &scalar.ArrayCompare{Left: x, Array: array, Op: o, All: all}
	}
	arr := func(s string) scalar.Expr { return lit(t, types.Int4Array, s) }
	want(t, cmp("=", false, arr("{1,4}")), b, "t f - t")
	want(t, cmp("=", false, arr("{1,NULL}")), b, "t - - -")
	want(t, cmp("<>", true, arr("{1,4}")), b, "f t - f")
	want(t, cmp("<", false, arr("{2,NULL}")), b, "t - - -")
	want(t, cmp("<", true, arr("{3,4}")), b, "t t - f")
	want(t, cmp("=", false, arr("{}")), b, "f f f f")
	want(t, cmp("=", true, arr("{}")), b, "t t t t")
	want(t, cmp("=", false, arr("-")), b, "- - - -")
	want(t, cmp("=", false, col(1, types.Int4Array)), b, "t f - -")
	want(t, cmp("<>", true, col(1, types.Int4Array)), b, "f t - -")
}

func TestLongFlatExpressions(t *testing.T) {
	const rows = 2000
	v := vector.New(vector.Int32, rows)
	for i := 0; i < rows; i++ {
		v.AppendInt32(int32(i))
	}
	b := batch(v)
	x := col(0, types.Int4)
	var ors []scalar.Expr
	for i := 0; i < 5000; i++ {
		// Alternating shapes, so that the lookup does not take all of them.
		if i%2 == 0 {
			ors = append(ors, op(t, op(t, x, "+", lit(t, types.Int4, "0")), "=", lit(t, types.Int4, fmt.Sprint(i*3))))
		} else {
			ors = append(ors, op(t, x, "=", lit(t, types.Int4, fmt.Sprint(i*3))))
		}
	}
	p, err := Compile(or(ors...))
	if err != nil {
		t.Fatal(err)
	}
	sel, err := p.Filter(testEnv(), b, nil)
	if err != nil || len(sel) != (rows+2)/3 {
		t.Errorf("%d rows, %v", len(sel), err)
	}
	whens := make([]scalar.When, 20000)
	cross := make([]scalar.When, 20000)
	for i := range whens {
		n := lit(t, types.Int4, fmt.Sprint(i))
		whens[i] = scalar.When{Cond: op(t, x, "=", n), Then: op(t, n, "+", x)}
		cross[i] = scalar.When{Cond: op(t, op(t, x, "+", lit(t, types.Int4, "1")), "=", lit(t, types.Int4, fmt.Sprint(i+1))), Then: n}
	}
	for _, w := range [][]scalar.When{whens, cross} {
		e := &scalar.Case{Whens: w, Typ: types.T(types.Int4)}
		q, err := Compile(e)
		if err != nil {
			t.Fatal(err)
		}
		out, err := q.Eval(testEnv(), b)
		if err != nil {
			t.Fatal(err)
		}
		factor := int32(2)
		if &w[0] == &cross[0] {
			factor = 1
		}
		for i := 0; i < rows; i++ {
			if out.I32[i] != factor*int32(i) {
				t.Fatalf("row %d: %d", i, out.I32[i])
			}
		}
	}
}

func TestDeepChainReusesScratch(t *testing.T) {
	v := vector.New(vector.Int64, 4096)
	for i := 0; i < 4096; i++ {
		v.AppendInt64(int64(i))
	}
	x := col(0, types.Int8)
	left, right := x, x
	for i := 0; i < 3900; i++ {
		left = op(t, left, "+", lit(t, types.Int8, "1"))
		right = op(t, op(t, x, "+", lit(t, types.Int8, "1")), "-", right)
	}
	for _, e := range []scalar.Expr{left, right} {
		p, err := Compile(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Eval(testEnv(), batch(v)); err != nil {
			t.Fatal(err)
		}
		idle := 0
		for _, l := range p.m.vectors {
			idle += len(l)
		}
		if idle > 4 {
			t.Errorf("%d scratch vectors", idle)
		}
	}
}

// rowsRunner answers every subquery with fixed rows, or rows below the slot's value.
type rowsRunner struct {
	rows *vector.Vector
	runs int
}

func (r *rowsRunner) Run(sub *scalar.Subquery, slots []*vector.Vector, row int) (*vector.Batch, error) {
	r.runs++
	if len(slots) == 0 {
		return batch(r.rows), nil
	}
	out := vector.New(r.rows.Kind, 0)
	for i := 0; i < r.rows.N; i++ {
		if !slots[0].IsNull(row) && r.rows.I32[i] < slots[0].I32[row&slots[0].Mask()] {
			out.AppendFrom(r.rows, i)
		}
	}
	return batch(out), nil
}

func TestSubqueries(t *testing.T) {
	b := batch(column(t, types.Int4, "1", "2", "-", "3"))
	x := col(0, types.Int4)
	eq, _, _ := functions.ResolveOperator("=", types.Int4, types.Int4)
	ne, _, _ := functions.ResolveOperator("<>", types.Int4, types.Int4)
	lt, _, _ := functions.ResolveOperator("<", types.Int4, types.Int4)
	boolean, integer := types.T(types.Bool), types.T(types.Int4)
	for _, c := range []struct {
		sub  *scalar.Subquery
		rows []string
		want string
	}{
		{&scalar.Subquery{Kind: scalar.SubAny, Test: x, Op: eq, Typ: boolean}, []string{"1", "3"}, "t f - t"},
		{&scalar.Subquery{Kind: scalar.SubAny, Test: x, Op: eq, Typ: boolean}, []string{"1", "-"}, "t - - -"},
		{&scalar.Subquery{Kind: scalar.SubAll, Test: x, Op: ne, Typ: boolean}, []string{"1", "-"}, "f - - -"},
		{&scalar.Subquery{Kind: scalar.SubAll, Test: x, Op: ne, Typ: boolean}, nil, "t t t t"},
		{&scalar.Subquery{Kind: scalar.SubAny, Test: x, Op: lt, Typ: boolean}, []string{"2"}, "t f - f"},
		{&scalar.Subquery{Kind: scalar.SubExists, Typ: boolean}, nil, "f f f f"},
		{&scalar.Subquery{Kind: scalar.SubExists, Typ: boolean, Outer: []scalar.Expr{x}}, []string{"1", "2"}, "f t f t"},
		{&scalar.Subquery{Kind: scalar.SubScalar, Typ: integer}, []string{"7"}, "7 7 7 7"},
		{&scalar.Subquery{Kind: scalar.SubScalar, Typ: integer}, nil, "- - - -"},
		{&scalar.Subquery{Kind: scalar.SubScalar, Typ: integer}, []string{"7", "8"}, "more than one row returned by a subquery used as an expression"},
		{&scalar.Subquery{Kind: scalar.SubArray, Typ: types.T(types.Int4Array), Outer: []scalar.Expr{x}}, []string{"1", "2"}, "{} {1} {} {1,2}"},
	} {
		p, err := Compile(c.sub)
		if err != nil {
			t.Fatal(err)
		}
		env := testEnv()
		r := &rowsRunner{rows: column(t, types.Int4, c.rows...)}
		env.Run = r
		got := ""
		for i := 0; i < 2; i++ {
			v, err := p.Eval(env, b)
			if err != nil {
				got = err.Error()
				break
			}
			got = show(v, c.sub.Typ)
		}
		if got != c.want {
			t.Errorf("kind %d rows %v: %s, want %s", c.sub.Kind, c.rows, got, c.want)
		}
		if len(c.sub.Outer) == 0 && r.runs != 1 && c.sub.Kind != scalar.SubScalar {
			t.Errorf("ran %d times", r.runs)
		}
	}
}

func TestConstantAndParam(t *testing.T) {
	v, err := Constant(testEnv(), op(t, lit(t, types.Int4, "2"), "+", lit(t, types.Int4, "3")))
	if err != nil || v.Const || v.N != 1 || v.I32[0] != 5 {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := Compile(&scalar.Param{Number: 1, Typ: types.T(types.Int4)}); err == nil {
		t.Error("a parameter compiled")
	}
}
