package types

import (
	"strconv"
	"strings"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

func dec(s string) *Decimal {
	n := new(Decimal)
	if err := n.Parse([]byte(s)); err != nil {
		panic(err)
	}
	return n
}

func iv(s string) IntervalValue {
	v, err := ParseInterval([]byte(s), nil, -1)
	if err != nil {
		panic(err)
	}
	return v
}

// operate computes a named operation on the text forms of its arguments.
func operate(op string, a []string, c *Context) (string, error) {
	switch op {
	case "add", "sub", "mul", "div", "mod", "divtrunc", "logb", "power":
		n := new(Decimal)
		f := map[string]func(a, b *Decimal) error{"add": n.Add, "sub": n.Sub, "mul": n.Mul, "div": n.Div, "mod": n.Mod,
			"divtrunc": n.DivTrunc, "logb": n.Log, "power": n.Power}[op]
		err := f(dec(a[0]), dec(a[1]))
		return n.String(), err
	case "cmp":
		return strconv.Itoa(sgn(dec(a[0]).Cmp(dec(a[1])))), nil
	case "round", "trunc":
		n := dec(a[0])
		k, _ := strconv.Atoi(a[1])
		if op == "round" {
			n.Round(k)
		} else {
			n.Trunc(k)
		}
		return n.String(), nil
	case "ceil", "floor", "abs":
		n := dec(a[0])
		map[string]func(){"ceil": n.Ceil, "floor": n.Floor, "abs": n.Abs}[op]()
		return n.String(), nil
	case "sqrt", "ln", "log", "exp":
		n := new(Decimal)
		err := map[string]func(*Decimal) error{"sqrt": n.Sqrt, "ln": n.Ln, "log": n.Log10, "exp": n.Exp}[op](dec(a[0]))
		return n.String(), err
	case "int2", "int4", "int8":
		v, err := dec(a[0]).Int64(map[string]int{"int2": 16, "int4": 32, "int8": 64}[op])
		return strconv.FormatInt(v, 10), err
	case "float8":
		f, err := dec(a[0]).Float64()
		return string(AppendFloat(nil, f, 64, 1)), err
	case "fromf8", "fromf4":
		bits := 64
		if op == "fromf4" {
			bits = 32
		}
		f, _ := ParseFloat([]byte(a[0]), bits)
		n := new(Decimal)
		n.SetFloat(f, bits)
		return n.String(), nil
	}
	if op == "compare" || op == "format" {
		return operateType(op, a, c)
	}
	if strings.HasPrefix(op, "iv") || strings.HasPrefix(op, "justify") || op == "xiv" || op == "iiv" {
		return operateInterval(op, a)
	}
	return operateTime(op, a, c)
}

// operateType formats a type's name, or compares two values and checks that
// their keys for hashing are equal exactly when they are.
func operateType(op string, a []string, c *Context) (string, error) {
	typ := spelledType(nil, a[0])
	if op == "format" {
		return FormatType(typ), nil
	}
	v := vector.New(typ.Kind(), 2)
	for _, s := range a[1:] {
		if err := ParseText(v, typ, []byte(s), c); err != nil {
			return "", err
		}
	}
	r := sgn(Compare(typ, v, 0, v, 1))
	if same := string(AppendEqualKey(nil, typ, v, 0)) == string(AppendEqualKey(nil, typ, v, 1)); same != (r == 0) {
		return "equal keys: " + strconv.FormatBool(same), nil
	}
	return strconv.Itoa(r), nil
}

func sgn(x int) int {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

func showInterval(v IntervalValue, err error) (string, error) {
	return string(AppendInterval(nil, v, nil)), err
}

func showField(v FieldValue, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if v.Null {
		return "<null>", nil
	}
	n := new(Decimal)
	v.Decimal(n)
	return n.String(), nil
}

func operateInterval(op string, a []string) (string, error) {
	switch op {
	case "xiv":
		return showField(ParseField(a[0]).OfInterval(iv(a[1])))
	case "iiv":
		return showInterval(ParseField(a[0]).TruncInterval(iv(a[1])))
	case "ivadd":
		return showInterval(iv(a[0]).Add(iv(a[1])))
	case "ivsub":
		return showInterval(iv(a[0]).Sub(iv(a[1])))
	case "ivcmp":
		return strconv.Itoa(iv(a[0]).Compare(iv(a[1]))), nil
	case "ivmul", "ivdiv":
		f, _ := ParseFloat([]byte(a[1]), 64)
		if op == "ivmul" {
			return showInterval(iv(a[0]).Mul(f))
		}
		return showInterval(iv(a[0]).Div(f))
	case "ivneg":
		return showInterval(iv(a[0]).Neg())
	case "justify_hours":
		return showInterval(iv(a[0]).JustifyHours())
	case "justify_days":
		return showInterval(iv(a[0]).JustifyDays())
	}
	return showInterval(iv(a[0]).JustifyInterval())
}

func operateTime(op string, a []string, c *Context) (string, error) {
	ts := func(i int) int64 {
		us, err := ParseTimestamp([]byte(a[i]), c, -1)
		if err != nil {
			panic(err)
		}
		return us
	}
	tz := func(i int) (int64, error) { return ParseTimestampTZ([]byte(a[i]), c, -1) }
	show := func(us int64, err error) (string, error) { return string(AppendTimestamp(nil, us, c)), err }
	showTZ := func(us int64, err error) (string, error) { return string(AppendTimestampTZ(nil, us, c)), err }
	date := func(i int) int32 { d, _ := ParseDate([]byte(a[i]), c); return d }
	switch op {
	case "xts":
		return showField(ParseField(a[0]).OfTimestamp(ts(1)))
	case "dpts":
		v, err := ParseField(a[0]).OfTimestamp(ts(1))
		if v.Null {
			return "<null>", err
		}
		return string(AppendFloat(nil, v.Float64(), 64, 1)), err
	case "tts":
		return show(ParseField(a[0]).Trunc(ts(1)))
	case "xd":
		return showField(ParseField(a[0]).OfDate(date(1)))
	case "xtime":
		us, _ := ParseTime([]byte(a[1]), c, -1)
		return showField(ParseField(a[0]).OfTime(us))
	case "xtimetz":
		us, east, _ := ParseTimeTZ([]byte(a[1]), c, -1)
		return showField(ParseField(a[0]).OfTimeTZ(us, east))
	case "tspl":
		return show(AddInterval(ts(0), iv(a[1])))
	case "tssub":
		return showInterval(SubTimestamps(ts(0), ts(1)))
	case "age":
		return showInterval(Age(ts(0), ts(1)))
	case "bin":
		return show(DateBin(iv(a[0]), ts(1), ts(2)))
	case "tsdate":
		return string(AppendDate(nil, TimestampToDate(ts(0)), c)), nil
	case "dts":
		return show(DateToTimestamp(date(0)))
	case "dtz":
		return showTZ(DateToTimestampZone(date(0), c.Zone))
	case "dadd":
		n, _ := strconv.ParseInt(a[1], 10, 64)
		d, err := AddDays(date(0), n)
		return string(AppendDate(nil, d, c)), err
	case "dsub":
		n, err := SubDates(date(0), pgEpochDays)
		return strconv.Itoa(int(n)), err
	case "atz":
		z, err := ResolveZone(a[1])
		if err != nil {
			return "", err
		}
		return showTZ(FromLocal(ts(0), z))
	}
	at := 0
	if op[0] == 'x' || strings.HasPrefix(op, "ttz") {
		at = 1
	}
	us, err := tz(at)
	if err != nil {
		return "", err
	}
	switch op {
	case "tzat":
		z, err := ResolveZone(a[1])
		if err != nil {
			return "", err
		}
		return show(ToLocal(us, z))
	case "xtz":
		return showField(ParseField(a[0]).OfTimestampZone(us, c.Zone))
	case "ttz":
		return showTZ(ParseField(a[0]).TruncZone(us, LocationZone(c.Zone)))
	case "ttzz":
		z, _ := ResolveZone("Australia/Sydney")
		return showTZ(ParseField(a[0]).TruncZone(us, z))
	case "tzpl":
		return showTZ(AddIntervalZone(us, iv(a[1]), c.Zone))
	case "agetz":
		other, err := tz(1)
		if err != nil {
			return "", err
		}
		return showInterval(AgeZone(us, other, c.Zone))
	}
	return "unknown " + op, nil
}

// TestOperations computes with values as PostgreSQL does.
func TestOperations(t *testing.T) {
	golden(t, "testdata/operations.tsv", func(f []string) {
		var set, op, want string
		var args []string
		for i, to := range []any{&set, &op, &args, &want} {
			unquote(t, f[i], to)
		}
		got, err := operate(op, args, settings(t, set))
		if err != nil {
			e := pgerr.From(err)
			got = "E" + string(e.Code) + ":" + e.Message
			if e.Detail != "" {
				got += " // " + e.Detail
			}
		} else {
			got = "OK:" + got
		}
		if got != want {
			t.Errorf("%s %s %q\n  got  %s\n  want %s", set, op, args, got, want)
		}
	})
}
