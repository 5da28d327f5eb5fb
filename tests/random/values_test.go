package random

import (
	"fmt"
	"strings"
)

var types = []string{"int2", "int4", "int8", "numeric", "float8", "text", "bool", "date", "timestamp", "timestamptz", "interval", "int4[]"}

var pools = map[string][]string{
	"int2":        {"0", "1", "-1", "2", "3", "7", "100", "32767", "-32768"},
	"int4":        {"0", "1", "-1", "2", "3", "5", "42", "2147483647", "-2147483648"},
	"int8":        {"0", "1", "-1", "2", "3", "10000000000", "9223372036854775807", "-9223372036854775808"},
	"numeric":     {"0", "1", "1.5", "-2.25", "3.00", "0.001", "123456789012345678901234567890", "NaN", "-0.5"},
	"float8":      {"0", "1", "-1", "2.5", "0.1", "1e10", "NaN", "Infinity", "-Infinity", "1e-5"},
	"text":        {"", "a", "b", "ab", "Abc", "é", "a b", "zz%", "x_y", "10", "ÄÖ"},
	"bool":        {"t", "f"},
	"date":        {"2024-01-31", "2024-02-29", "1999-12-31", "1970-01-01", "0044-03-15 BC", "infinity", "-infinity", "2023-03-26"},
	"timestamp":   {"2024-01-31 12:30:00", "2024-02-29 23:59:59.999999", "1969-12-31 23:59:59.5", "2024-03-31 02:30:00", "infinity", "1890-06-01 00:00:00"},
	"timestamptz": {"2024-01-31 12:30:00+00", "2024-03-31 01:00:00+00", "2024-10-27 00:30:00+00", "1890-06-01 00:00:00+00", "-infinity", "1969-07-20 20:17:40+00"},
	"interval":    {"0", "1 day", "-3 hours", "1 mon", "2 years 3 mons 4 days 05:06:07.5", "00:00:00.000001", "-1 mon 3 days"},
	"int4[]":      {"{}", "{1}", "{1,2}", "{NULL,3}", "{2,1,NULL}", "{5,5}"},
}

var zones = []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "+03"}

// literal is a constant of a type; one in ten is NULL.
func (g *gen) literal(typ string) *node {
	if g.r.Intn(10) == 0 {
		return expr(typ, "NULL::"+typ)
	}
	return expr(typ, "'"+g.value(typ)+"'::"+typ)
}

// value is the text of a value; numbers are small more often than not.
func (g *gen) value(typ string) string {
	pool := pools[typ]
	switch typ {
	case "int2", "int4", "int8":
		if g.r.Intn(8) > 0 {
			return fmt.Sprint(g.r.Intn(12) - 3)
		}
	case "numeric", "float8":
		if g.r.Intn(3) > 0 {
			return []string{"1", "1.5", "2.25", "-0.5", "10", "0"}[g.r.Intn(6)]
		}
	}
	return pool[g.r.Intn(len(pool))]
}

// column is one that expressions may name.
type column struct{ ref, typ string }

// relation is a table.
type relation struct {
	name string
	cols []column
}

// schema makes tables and their rows; each statement is one line.
func (g *gen) schema() []string {
	g.tables = nil
	var out []string
	for i := range 4 {
		t := relation{name: fmt.Sprint("t", i), cols: []column{{"id", "int4"}}}
		defs := []string{"id int4 PRIMARY KEY"}
		for j := range 3 + g.r.Intn(5) {
			c := column{fmt.Sprint("c", j), g.pick(types...)}
			t.cols = append(t.cols, c)
			defs = append(defs, c.ref+" "+c.typ)
		}
		out = append(out, fmt.Sprintf("DROP TABLE IF EXISTS %s", t.name), fmt.Sprintf("CREATE TABLE %s (%s)", t.name, strings.Join(defs, ", ")))
		for id := range []int{0, 3, 12, 30}[g.r.Intn(4)] {
			out = append(out, fmt.Sprintf("INSERT INTO %s VALUES (%d, %s)", t.name, id, g.row(t.cols[1:])))
		}
		g.tables = append(g.tables, t)
	}
	return out
}

func (g *gen) row(cols []column) string {
	vs := make([]string, len(cols))
	for i, c := range cols {
		if vs[i] = "NULL"; g.r.Intn(6) > 0 {
			vs[i] = "'" + g.value(c.typ) + "'"
		}
	}
	return strings.Join(vs, ", ")
}
