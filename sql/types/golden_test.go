package types

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// spelledType turns numeric(5,2), interval day to second(3), text[] into a Type.
func spelledType(t testing.TB, s string) Type {
	if t != nil {
		t.Helper()
	}
	s, isArray := strings.CutSuffix(s, "[]")
	name, args, has := strings.Cut(s, "(")
	var nums []int
	if has {
		for _, a := range strings.Split(strings.TrimSuffix(args, ")"), ",") {
			n, err := strconv.Atoi(a)
			if err != nil {
				t.Fatal(s)
			}
			nums = append(nums, n)
		}
	}
	word, fields, _ := strings.Cut(name, " ")
	in, ok := ByName(word)
	if !ok {
		t.Fatalf("type %s", s)
	}
	typ := T(in.OID)
	switch {
	case typ.OID == Interval && (fields != "" || has):
		mask, prec := int32(intervalFullRange), int32(intervalFullPrecision)
		for m, text := range intervalRanges {
			if fields != "" && text == " "+fields {
				mask = m
			}
		}
		if has {
			prec = int32(nums[0])
		}
		typ.Mod = mask<<16 | prec
	case !has:
	case typ.OID == Numeric:
		sc := 0
		if len(nums) > 1 {
			sc = nums[1]
		}
		typ.Mod = int32(nums[0]<<16|sc&0x7ff) + 4
	case typ.OID == Varchar || typ.OID == BPChar:
		typ.Mod = int32(nums[0]) + 4
	default:
		typ.Mod = int32(nums[0])
	}
	if isArray {
		typ.OID = ArrayOf(typ.OID)
	}
	return typ
}

// settings applies "set x='y';set ..." to a context.
func settings(t *testing.T, s string) *Context {
	t.Helper()
	c := &Context{ExtraFloatDigits: 1}
	for _, st := range strings.Split(s, ";") {
		if st = strings.TrimPrefix(st, "set "); st == "" {
			continue
		}
		k, v, _ := strings.Cut(st, "=")
		v = strings.Trim(v, "'")
		switch k {
		case "extra_float_digits":
			c.ExtraFloatDigits, _ = strconv.Atoi(v)
		case "bytea_output":
			c.ByteaEscape = v == "escape"
		case "timezone":
			loc, _, err := ParseZoneSetting(v)
			if err != nil {
				t.Fatal(err)
			}
			c.Zone = loc
		case "intervalstyle":
			c.IntervalStyle = map[string]IntervalStyle{"postgres": 0, "postgres_verbose": 1, "sql_standard": 2, "iso_8601": 3}[v]
		case "datestyle":
			for _, w := range strings.Split(v, ",") {
				switch w {
				case "Postgres":
					c.DateStyle = StylePostgres
				case "SQL":
					c.DateStyle = StyleSQL
				case "German":
					c.DateStyle, c.DateOrder = StyleGerman, OrderDMY
				case "DMY":
					c.DateOrder = OrderDMY
				case "YMD":
					c.DateOrder = OrderYMD
				}
			}
		}
	}
	return c
}

// readShow parses and prints, or shows the error as the oracle's function does.
func readShow(typ Type, in string, c *Context) string {
	v := vector.New(typ.Kind(), 1)
	if err := ParseText(v, typ, []byte(in), c); err != nil {
		e := pgerr.From(err)
		s := "E" + string(e.Code) + ":" + e.Message
		if e.Detail != "" {
			s += " // " + e.Detail
		}
		if e.Hint != "" {
			s += " ## " + e.Hint
		}
		return s
	}
	out := string(AppendText(nil, typ, v, 0, c))
	b := AppendBinary(nil, typ, v, 0)
	w := vector.New(typ.Kind(), 1)
	if err := ParseBinary(w, T(typ.OID), b); err != nil {
		return "binary: " + err.Error()
	}
	if again := string(AppendText(nil, typ, w, 0, c)); again != out {
		return "binary form reads back as " + again + " instead of " + out
	}
	return "OK:" + out
}

// golden reads a file of PostgreSQL's answers: JSON values between tabs.
func golden(t *testing.T, file string, each func(fields []string)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if !strings.HasPrefix(line, "#") {
			each(strings.Split(line, "\t"))
		}
	}
}

func unquote(t *testing.T, s string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), to); err != nil {
		t.Fatalf("%v: %s", err, s)
	}
}

// TestTextForms reads and prints values as PostgreSQL does, by way of the
// binary form too.
func TestTextForms(t *testing.T) {
	golden(t, "testdata/io.tsv", func(f []string) {
		var c [4]string
		for i := range c {
			unquote(t, f[i], &c[i])
		}
		if got := readShow(spelledType(t, c[1]), c[2], settings(t, c[0])); got != c[3] {
			t.Errorf("%s %s %q\n  got  %s\n  want %s", c[0], c[1], c[2], got, c[3])
		}
	})
}
