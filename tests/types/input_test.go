package types

import (
	"maps"
	"math/rand"
	"slices"
	"strings"
)

// gen makes random expressions.
type gen struct{ r *rand.Rand }

func quoted(s, typ string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "''", "'"), "'", "''") + "'::" + typ
}

// mutated is a literal with a few changes.
func (g *gen) mutated(s string, all []string) string {
	r := []rune(s)
	const other = "0123456789.:-+/, eETZPYMDx{}[]\"\\"
	for range 1 + g.r.Intn(2) {
		switch i := g.r.Intn(len(r) + 1); g.r.Intn(5) {
		case 0:
			r = slices.Insert(r, i, rune(other[g.r.Intn(len(other))]))
		case 1:
			if i < len(r) {
				r = slices.Delete(r, i, i+1)
			}
		case 2:
			if i < len(r) {
				r[i] = rune(other[g.r.Intn(len(other))])
			}
		case 3:
			if i < len(r) && r[i] >= '0' && r[i] <= '9' {
				r[i] = rune('0' + g.r.Intn(10))
			}
		case 4:
			o := []rune(all[g.r.Intn(len(all))])
			r = append(slices.Clone(r[:i]), o[g.r.Intn(len(o)+1):]...)
		}
	}
	return string(r)
}

func typeNames() []string { return slices.Sorted(maps.Keys(literals)) }

// input compares how literals are read.
func input(g *gen, d *duel) {
	for _, typ := range typeNames() {
		var es []string
		for _, s := range literals[typ] {
			es = append(es, quoted(s, typ))
			for range max(2, 150/len(literals[typ])) {
				es = append(es, quoted(g.mutated(s, literals[typ]), typ))
			}
		}
		d.compare(es)
	}
}

// output compares how values are written, under all settings.
func output(g *gen, d *duel) {
	of := func(types ...string) []string {
		var es []string
		for _, t := range types {
			for _, s := range literals[t] {
				es = append(es, quoted(s, t))
			}
		}
		return es
	}
	times, stamps := of("date", "timestamp", "timestamptz", "time", "timetz"), of("timestamptz", "timestamptz[]")
	for _, style := range []string{"iso", "sql", "postgres", "german"} {
		for _, order := range []string{"mdy", "dmy", "ymd"} {
			d.set("SET datestyle = " + style + ", " + order)
			d.compare(times)
			for _, zone := range []string{"UTC", "America/New_York", "Asia/Kolkata", "-3.5", "EST5EDT", "Australia/Lord_Howe", "Africa/Monrovia"} {
				d.set("SET datestyle = " + style + ", " + order + "; SET timezone = '" + zone + "'")
				d.compare(stamps)
			}
		}
	}
	spans := of("interval", "interval[]")
	for _, style := range []string{"postgres", "postgres_verbose", "sql_standard", "iso_8601"} {
		d.set("SET intervalstyle = " + style)
		d.compare(spans)
	}
	floats := of("float4", "float8", "float8[]")
	for range 200 {
		floats = append(floats, g.float("float4"), g.float("float8"))
	}
	for _, digits := range []string{"-15", "-10", "-3", "-1", "0", "1", "2", "3"} {
		d.set("SET extra_float_digits = " + digits)
		d.compare(floats)
	}
	for _, o := range []string{"hex", "escape"} {
		d.set("SET bytea_output = " + o)
		d.compare(of("bytea", "bytea[]"))
	}
}

var castTypes = []string{"bool", "int2", "int4", "int8", "oid", "float4", "float8", "numeric", "numeric(5,2)", "text", "varchar(3)", "char(3)", `"char"`, "name", "bytea", "uuid", "json", "jsonb", "date", "time", "timetz", "timestamp", "timestamptz", "timestamp(0)", "interval", "interval day", "regclass", "regtype", "int4[]", "text[]", "float8[]", "varchar(2)[]", "jsonb[]", "date[]"}

// casts compares the casts between all types.
func casts(g *gen, d *duel) {
	var es []string
	for _, from := range castTypes {
		for _, to := range castTypes {
			all := literals[from]
			if len(all) == 0 {
				continue
			}
			for range 4 {
				es = append(es, quoted(all[g.r.Intn(len(all))], from)+"::"+to)
			}
			es = append(es, "NULL::"+from+"::"+to)
		}
	}
	for _, f := range []string{"float4", "float8", "numeric"} {
		for _, to := range []string{"int2", "int4", "int8", "float4", "float8", "numeric", "numeric(5,2)", "text", "jsonb"} {
			for _, s := range []string{"0.5", "1.5", "2.5", "-0.5", "-2.5", "32767.4", "32767.5", "-32768.5", "-32768.6", "2147483647.4", "2147483647.5", "-2147483648.5", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1e20", "NaN", "inf", "1e-50", "1e39", "1e308", "123456.789", "0.1", "1e15", "1234567890123456789"} {
				es = append(es, quoted(s, f)+"::"+to)
			}
		}
	}
	for _, s := range jsonTexts {
		for _, to := range []string{"int2", "int4", "int8", "float4", "float8", "numeric", "bool", "text"} {
			es = append(es, quoted(s, "jsonb")+"::"+to)
		}
	}
	d.compare(es)
}
