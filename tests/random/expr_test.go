package random

import (
	"fmt"
	"math/rand"
)

// gen makes statements.
type gen struct {
	r      *rand.Rand
	tables []relation
	ctes   []relation
	names  int
}

func (g *gen) pick(list ...string) string { return list[g.r.Intn(len(list))] }

func (g *gen) name(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

// scope is what an expression sees: the columns of its query, then outer ones.
type scope struct {
	cols  []column
	outer *scope
}

func (s *scope) of(typ string) []string {
	var out []string
	for _, c := range s.cols {
		if c.typ == typ {
			out = append(out, c.ref)
		}
	}
	return out
}

// leaf is a column of the type, or a constant.
func (g *gen) leaf(typ string, s *scope) *node {
	for up := s; up != nil; up = up.outer {
		if cols := up.of(typ); len(cols) > 0 && g.r.Intn(5) > 0 && (up.outer == nil || g.r.Intn(3) > 0) {
			return expr(typ, g.pick(cols...))
		}
	}
	return g.literal(typ)
}

// productions are the ways to make an expression of a type: % in the format is
// an operand of the type that args names in turn.
type production struct {
	format string
	args   []string
}

var productions = map[string][]production{
	"int2": {{"-%", []string{"int2"}}, {"abs(%)", []string{"int2"}}},
	"int4": {{"(% + %)", []string{"int4", "int4"}}, {"(% - %)", []string{"int4", "int2"}}, {"(% * %)", []string{"int4", "int4"}}, {"(-%)", []string{"int4"}},
		{"abs(%)", []string{"int4"}}, {"length(%)", []string{"text"}}, {"mod(%, nullif(%, 0))", []string{"int4", "int4"}}, {"(% / nullif(%, 0))", []string{"int4", "int4"}},
		{"%::int4", []string{"bool"}}, {"cardinality(%)", []string{"int4[]"}}, {"(%)[1]", []string{"int4[]"}}, {"(% & %)", []string{"int4", "int4"}},
		{"strpos(%, %)", []string{"text", "text"}}, {"extract(month from %)::int4", []string{"timestamp"}}, {"sign(%)::int4", []string{"float8"}}, {"(% # %)", []string{"int4", "int4"}}},
	"int8": {{"(% + %)", []string{"int8", "int4"}}, {"(% - %)", []string{"int8", "int8"}}, {"%::int8", []string{"int4"}}, {"(%::int8 * %)", []string{"int4", "int2"}},
		{"(% / nullif(%, 0))", []string{"int8", "int8"}}, {"abs(%)", []string{"int8"}}, {"gcd(%, %)", []string{"int8", "int4"}}},
	"numeric": {{"(% + %)", []string{"numeric", "numeric"}}, {"(% * %)", []string{"numeric", "int4"}}, {"round(%, 2)", []string{"numeric"}}, {"(% / nullif(%, 0))", []string{"numeric", "numeric"}},
		{"%::numeric", []string{"int8"}}, {"extract(epoch from %)", []string{"timestamptz"}}, {"trunc(%)", []string{"numeric"}}, {"(% - %)", []string{"numeric", "int8"}}, {"extract(dow from %)", []string{"date"}},
		{"extract(day from %)", []string{"interval"}}, {"ceil(%)", []string{"numeric"}}, {"scale(%)::numeric", []string{"numeric"}}, {"mod(%, nullif(%, 0))", []string{"numeric", "numeric"}}},
	"float8": {{"(% + %)", []string{"float8", "float8"}}, {"(% * %)", []string{"float8", "int4"}}, {"%::float8", []string{"int4"}}, {"abs(%)", []string{"float8"}}, {"floor(%)", []string{"float8"}},
		{"(% / nullif(%, 0))", []string{"float8", "float8"}}, {"%::float8", []string{"numeric"}}, {"round(%)", []string{"float8"}}, {"sqrt(abs(%))", []string{"float8"}}, {"date_part('hour', %)", []string{"timestamp"}}},
	"text": {{"(% || %)", []string{"text", "text"}}, {"upper(%)", []string{"text"}}, {"lower(%)", []string{"text"}}, {"substr(%, 2)", []string{"text"}}, {"left(%, %)", []string{"text", "int2"}}, {"%::text", []string{"int4"}},
		{"%::text", []string{"date"}}, {"%::text", []string{"numeric"}}, {"%::text", []string{"timestamptz"}}, {"%::text", []string{"interval"}}, {"replace(%, 'a', %)", []string{"text", "text"}}, {"md5(%)", []string{"text"}},
		{"to_char(%, 'YYYY-MM-DD HH24:MI:SS.MS Dy')", []string{"timestamp"}}, {"%::text", []string{"int4[]"}}, {"concat(%, %, '-')", []string{"text", "bool"}}, {"trim(%)", []string{"text"}}, {"reverse(%)", []string{"text"}},
		{"lpad(%, 5, '*')", []string{"text"}}, {"split_part(%, 'b', 1)", []string{"text"}}, {"initcap(%)", []string{"text"}}, {"%::text", []string{"timestamp"}}, {"to_char(%, 'FM9990.00')", []string{"numeric"}}},
	"bool": {{"(% AND %)", []string{"bool", "bool"}}, {"(% OR %)", []string{"bool", "bool"}}, {"(NOT %)", []string{"bool"}}, {"(% IS TRUE)", []string{"bool"}}, {"(% IS NOT FALSE)", []string{"bool"}},
		{"(% ~~ %)", []string{"text", "text"}}, {"(% ILIKE '_b')", []string{"text"}}, {"(% = ANY (%))", []string{"int4", "int4[]"}}, {"(% @> %)", []string{"int4[]", "int4[]"}}, {"(% <> ALL (%))", []string{"int4", "int4[]"}},
		{"((%, %) OVERLAPS (%, %))", []string{"timestamp", "interval", "timestamp", "interval"}}, {"isfinite(%)", []string{"timestamp"}}, {"starts_with(%, %)", []string{"text", "text"}}, {"(% && %)", []string{"int4[]", "int4[]"}}},
	"date": {{"(% + %)", []string{"date", "int2"}}, {"%::date", []string{"timestamp"}}, {"%::date", []string{"timestamptz"}}, {"(% - 7)", []string{"date"}}},
	"timestamp": {{"(% + %)", []string{"timestamp", "interval"}}, {"date_trunc('month', %)", []string{"timestamp"}}, {"date_trunc('week', %)", []string{"timestamp"}}, {"(% AT TIME ZONE '@zone')", []string{"timestamptz"}}, {"%::timestamp", []string{"date"}},
		{"(% - %)", []string{"timestamp", "interval"}}, {"(% + %)", []string{"date", "interval"}}, {"date_bin('15 minutes', %, '2001-01-01')", []string{"timestamp"}}},
	"timestamptz": {{"(% + %)", []string{"timestamptz", "interval"}}, {"(% AT TIME ZONE '@zone')", []string{"timestamp"}}, {"date_trunc('day', %)", []string{"timestamptz"}}, {"date_trunc('hour', %, '@zone')", []string{"timestamptz"}},
		{"%::timestamptz", []string{"timestamp"}}, {"%::timestamptz", []string{"date"}}},
	"interval": {{"(% + %)", []string{"interval", "interval"}}, {"(% * %)", []string{"interval", "int2"}}, {"(% - %)", []string{"timestamp", "timestamp"}}, {"age(%, %)", []string{"timestamp", "timestamp"}}, {"justify_hours(%)", []string{"interval"}},
		{"(-%)", []string{"interval"}}, {"justify_interval(%)", []string{"interval"}}, {"(% / 3)", []string{"interval"}}, {"(% - %)", []string{"timestamptz", "timestamptz"}}, {"make_interval(days => %)", []string{"int4"}}},
	"int4[]": {{"(% || %)", []string{"int4[]", "int4"}}, {"(% || %)", []string{"int4[]", "int4[]"}}, {"ARRAY[%, %]", []string{"int4", "int4"}}, {"array_remove(%, %)", []string{"int4[]", "int4"}}},
}

// expr makes an expression of a type.
func (g *gen) expr(typ string, s *scope, depth int) *node {
	if depth <= 0 || g.r.Intn(4) == 0 {
		return g.leaf(typ, s)
	}
	e := func(t string) *node { return g.expr(t, s, depth-1) }
	switch n := g.r.Intn(20); {
	case n == 0:
		return expr(typ, "CASE WHEN % THEN % ELSE % END", e("bool"), e(typ), e(typ))
	case n == 1:
		return expr(typ, "coalesce(%, %)", e(typ), e(typ))
	case n == 2:
		return expr(typ, "nullif(%, %)", e(typ), e(typ))
	case n == 3 && typ != "bool":
		return expr(typ, g.pick("greatest", "least")+"(%, %)", e(typ), e(typ))
	case n == 4 && depth > 1:
		return g.scalar(typ, s, depth-1)
	case n == 5:
		t := g.pick(types...)
		return expr(typ, "CASE % WHEN % THEN % WHEN % THEN % END", e(t), e(t), e(typ), e(t), e(typ))
	}
	if typ == "bool" && g.r.Intn(3) > 0 {
		return g.test(s, depth-1)
	}
	list := productions[typ]
	p := list[g.r.Intn(len(list))]
	n := expr(typ, replaceZone(p.format, g.pick(zones...)))
	for _, a := range p.args {
		n.kids = append(n.kids, e(a))
	}
	return n
}

// test makes a condition over any type.
func (g *gen) test(s *scope, depth int) *node {
	t := g.pick(types...)
	e := func(t string) *node { return g.expr(t, s, depth) }
	op := g.pick("=", "<>", "<", "<=", ">", ">=", "=")
	not := g.pick("", "", "NOT ")
	switch n := g.r.Intn(14); {
	case n < 3:
		return expr("bool", "(% "+op+" %)", e(t), e(t))
	case n == 3:
		return expr("bool", "(% IS "+not+"NULL)", e(t))
	case n == 4:
		return expr("bool", "(% IS "+not+"DISTINCT FROM %)", e(t), e(t))
	case n == 5:
		return expr("bool", "(% "+not+"IN (%))", e(t), listOf(", ", e(t), e(t), g.literal(t)))
	case n == 6:
		return expr("bool", "(% "+not+"BETWEEN % AND %)", e(t), e(t), e(t))
	case n == 7:
		t2 := g.pick(types...)
		return expr("bool", "((%, %) "+op+" (%, %))", e(t), e(t2), e(t), e(t2))
	case n == 8 && depth > 0:
		t2 := g.pick(types...)
		return expr("bool", "((%, %) "+not+"IN (%))", e(t), e(t2), g.query([]string{t, t2}, s, depth-1))
	case n == 9 && depth > 0:
		return expr("bool", "("+not+"EXISTS (%))", g.query([]string{t}, s, depth-1))
	case n == 10 && depth > 0:
		return expr("bool", "(% "+op+" "+g.pick("ANY", "ALL")+" (%))", e(t), g.query([]string{t}, s, depth-1))
	case n >= 11 && depth > 0:
		return expr("bool", "(% "+not+"IN (%))", e(t), g.query([]string{t}, s, depth-1))
	}
	return expr("bool", "(% "+op+" %)", g.leaf(t, s), g.leaf(t, s))
}

// scalar makes a subquery of one row at most: an aggregate, or the first row.
func (g *gen) scalar(typ string, s *scope, depth int) *node {
	if g.r.Intn(2) == 0 && typ != "bool" && typ != "int4[]" {
		from, in := g.from(s, depth)
		return expr(typ, "(SELECT "+g.pick("min", "max")+"(%) FROM %%)", g.expr(typ, &scope{cols: in.cols}, depth-1), from, g.where(in, depth))
	}
	return expr(typ, "(SELECT * FROM (%) AS "+g.name("o")+" ORDER BY 1 LIMIT 1)", g.query([]string{typ}, s, depth))
}
