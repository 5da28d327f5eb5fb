package types

import (
	"fmt"
	"math"
	"strings"
)

// float is a random float of all magnitudes.
func (g *gen) float(typ string) string {
	if typ == "float4" {
		return fmt.Sprintf("'%v'::float4", math.Float32frombits(g.r.Uint32()))
	}
	switch g.r.Intn(3) {
	case 0:
		return fmt.Sprintf("'%v'::float8", math.Float64frombits(g.r.Uint64()))
	case 1:
		return fmt.Sprintf("'%v'::float8", g.r.NormFloat64()*math.Pow10(g.r.Intn(12)-4))
	}
	return fmt.Sprintf("'%v'::float8", float64(g.r.Intn(20000)-10000)/100)
}

// numeric is a random numeric of up to size digits.
func (g *gen) numeric(size int) string {
	var b strings.Builder
	if g.r.Intn(3) == 0 {
		b.WriteByte('-')
	}
	b.WriteByte('0')
	whole, frac := g.r.Intn(size), g.r.Intn(size)
	for range whole {
		b.WriteByte(byte('0' + g.r.Intn(10)))
	}
	if frac > 0 {
		b.WriteByte('.')
		zeros := g.r.Intn(frac + 1)
		for i := range frac {
			if i < zeros && g.r.Intn(2) == 0 {
				b.WriteByte('0')
				continue
			}
			b.WriteByte(byte('0' + g.r.Intn(10)))
		}
	}
	return "'" + b.String() + "'::numeric"
}

var ends = map[string][]string{
	"int2":    {"0", "1", "-1", "7", "32767", "-32768", "181", "182"},
	"int4":    {"0", "1", "-1", "7", "2147483647", "-2147483648", "46340", "46341", "-65536"},
	"int8":    {"0", "1", "-1", "7", "9223372036854775807", "-9223372036854775808", "3037000499", "3037000500", "2147483648"},
	"float4":  {"0", "-0", "1", "-1.5", "3.4028235e38", "1e-45", "NaN", "inf", "-inf", "0.1"},
	"float8":  {"0", "-0", "1", "-1.5", "1.7976931348623157e308", "5e-324", "NaN", "inf", "-inf", "0.1", "1e200", "9007199254740992"},
	"numeric": {"0", "0.00", "1", "-1.5", "1e100", "1e-100", "NaN", "inf", "-inf", "0.1", "12345678901234567890.123456789", "-3"},
	"oid":     {"0", "1", "4294967295", "2147483648"},
}

// numbers compares the operators on the ends of the number types.
func numbers(g *gen, d *duel) {
	var es []string
	names := []string{"int2", "int4", "int8", "float4", "float8", "numeric", "oid"}
	for _, a := range names {
		for _, b := range names {
			for _, op := range []string{"+", "-", "*", "/", "%", "^", "=", "<", ">=", "&", "|", "#", "<<", ">>"} {
				for range 12 {
					x, y := ends[a][g.r.Intn(len(ends[a]))], ends[b][g.r.Intn(len(ends[b]))]
					es = append(es, quoted(x, a)+" "+op+" "+quoted(y, b))
				}
			}
		}
		for _, x := range ends[a] {
			for _, f := range []string{"- %s", "+ %s", "@ %s", "~ %s", "abs(%s)", "sign(%s)", "ceil(%s)", "floor(%s)", "round(%s)", "trunc(%s)", "sqrt(%s)", "exp(%s)", "ln(%s)", "log(%s)", "|/ %s", "||/ %s", "width_bucket(%s, 0, 10, 5)", "to_hex(%s)", "factorial(%s)",
				"sum(%s)", "avg(%s)", "stddev(%s)", "var_pop(%s)", "min(%s)", "greatest(%s, 1)", "round(%s, 2)", "trunc(%s, -1)", "scale(%s)", "degrees(%s)", "asin(%s)", "atanh(%s)", "power(%s, 2)", "power(%s, 0.5)", "gcd(%s, 6)", "lcm(%s, 6)", "mod(%s, 0)", "div(%s, 2)", "to_char(%s, '9.99EEEE')", "to_char(%s, 'S999D99')"} {
				es = append(es, fmt.Sprintf(f, quoted(x, a)))
			}
		}
	}
	for range 400 {
		es = append(es, g.float("float8")+[]string{" + ", " - ", " * ", " / ", " ^ "}[g.r.Intn(5)]+g.float("float8"))
		es = append(es, g.float("float4")+[]string{" + ", " - ", " * ", " / "}[g.r.Intn(4)]+g.float("float4"))
		es = append(es, []string{"sqrt", "floor", "round", "trunc", "sign", "exp", "ln", "log"}[g.r.Intn(8)]+"("+g.float("float8")+")")
		es = append(es, g.float("float8")+"::numeric", g.float("float4")+"::numeric", g.numeric(30)+"::float8", g.numeric(30)+"::float4", g.float("float4")+"::float8", g.float("float8")+"::float4")
	}
	d.compare(es)
}

// numerics compares values and scales of numeric arithmetic.
func numerics(g *gen, d *duel) {
	var es []string
	for range 3000 {
		size := []int{4, 12, 40}[g.r.Intn(3)]
		a, b := g.numeric(size), g.numeric(size)
		op := []string{"+", "-", "*", "/", "%", "<", "="}[g.r.Intn(7)]
		es = append(es, a+" "+op+" "+b)
	}
	for range 250 {
		a, b, s := g.numeric(14), g.numeric(4), g.numeric(3)
		n := g.r.Intn(30) - 10
		es = append(es, "sqrt(abs("+a+"))", "ln(abs("+a+"))", "log(abs("+a+"))", "log(abs("+a+"), abs("+b+"))", "exp("+s+")", "exp("+b+")",
			"abs("+a+") ^ "+s, a+" ^ "+s, fmt.Sprintf("(%s) ^ %d", b, n), fmt.Sprintf("round(%s, %d)", a, n), fmt.Sprintf("trunc(%s, %d)", a, n),
			"div("+a+", "+b+")", "gcd("+a+", "+b+")", "lcm("+a+", "+b+")", "min_scale("+a+")", "trim_scale("+a+")", "scale("+a+")", "ceil("+a+")", "floor("+a+")", "width_bucket("+b+", -100, 100, 7)", a+"::int8",
			fmt.Sprintf("to_char(%s, '%s')", b, []string{"FM999.99", "999D9999", "S0009.9", "9.99EEEE", "RN", "PL99", "99V99", "9G999D00PR", "L999MI", "FM0.0000", "99th"}[g.r.Intn(11)]))
		var vs strings.Builder
		for i := range 1 + g.r.Intn(6) {
			if i > 0 {
				vs.WriteString(", ")
			}
			vs.WriteString("(" + []string{g.numeric(12), g.numeric(4)}[g.r.Intn(2)] + ")")
		}
		for _, f := range []string{"sum", "avg", "stddev", "stddev_pop", "variance", "var_pop"} {
			es = append(es, "(SELECT "+f+"(x) FROM (VALUES "+vs.String()+") AS t(x))")
		}
	}
	d.compare(es)
}

// texts compares functions of text at the ends of their ranges.
func texts(g *gen, d *duel) {
	var es []string
	ns := []string{"0", "1", "-1", "3", "2147483647", "-2147483648"}
	for _, s := range []string{"''", "'abc'", "'äö€x'", "'a  '::char(5)", "'ab '::varchar(3)", `'x'::"char"`, "'n'::name", "NULL", "'\\x00ff'::bytea"} {
		for _, n := range ns {
			for _, f := range []string{"left(%s, %s)", "right(%s, %s)", "substr(%s, %s)", "repeat(%s, least(%s, 5))", "split_part(%[1]s, 'b', %[2]s)", "substring(%s from %s for 2)", "overlay(%s placing 'zz' from %s)"} {
				es = append(es, fmt.Sprintf(f, s, n))
			}
			if n != "2147483647" {
				es = append(es, fmt.Sprintf("lpad(%s, %s, 'xy')", s, n), fmt.Sprintf("rpad(%s, %s)", s, n))
			}
			es = append(es, fmt.Sprintf("substr(%s, 2, %s)", s, n), fmt.Sprintf("get_byte(%s, %s)", s, n))
		}
		for _, o := range []string{"''", "'b'", "'a'::char(3)", "'abc'::text", "'\\x00'::bytea"} {
			for _, op := range []string{"||", "=", "<", "LIKE", "~", "~~*"} {
				es = append(es, s+" "+op+" "+o)
			}
			es = append(es, "strpos("+s+", "+o+")", "replace("+s+", "+o+", 'q')", "translate("+s+", "+o+", 'q')", "trim("+s+")", "btrim("+s+", "+o+")", "concat("+s+", "+o+")", "starts_with("+s+", "+o+")")
		}
		for _, f := range []string{"length", "char_length", "octet_length", "bit_length", "upper", "initcap", "reverse", "ascii", "md5", "quote_literal", "quote_ident", "pg_typeof"} {
			es = append(es, f+"("+s+")")
		}
	}
	for _, n := range append(ns, "65", "1114111", "1114112", "55296", "256") {
		es = append(es, "chr("+n+")")
	}
	d.compare(es)
}
