package random

import (
	"fmt"
	"strings"
)

func replaceZone(s, zone string) string { return strings.ReplaceAll(s, "@zone", zone) }

// item makes one item of FROM and what it adds to the scope.
func (g *gen) item(outer *scope, depth int) (*node, []column) {
	alias := g.name("a")
	name := func(cols []column) []column {
		out := make([]column, len(cols))
		for i, c := range cols {
			out[i] = column{alias + "." + c.ref, c.typ}
		}
		return out
	}
	if len(g.ctes) > 0 && g.r.Intn(3) == 0 {
		c := g.ctes[g.r.Intn(len(g.ctes))]
		return text(c.name + " AS " + alias), name(c.cols)
	}
	switch n := g.r.Intn(10); {
	case n == 0 && depth > 0:
		ts := []string{g.pick(types...), g.pick(types...)}
		cols := []column{{"x0", ts[0]}, {"x1", ts[1]}}
		return seq("(%) AS "+alias+" (x0, x1)", g.query(ts, outer, depth-1)), name(cols)
	case n == 1:
		return text(fmt.Sprintf("generate_series(%d, %d) AS %s (n)", g.r.Intn(3), 1+g.r.Intn(6), alias)), []column{{alias + ".n", "int4"}}
	case n == 2:
		t := g.pick(types...)
		return seq("(VALUES %) AS "+alias+" (v, i)", listOf(", ", seq("(%, 1)", g.literal(t)), seq("(%, 2)", g.literal(t)))), []column{{alias + ".v", t}, {alias + ".i", "int4"}}
	}
	t := g.tables[g.r.Intn(len(g.tables))]
	return text(t.name + " AS " + alias), name(t.cols)
}

// from makes the items of FROM with their joins.
func (g *gen) from(outer *scope, depth int) (*node, *scope) {
	first, cols := g.item(outer, depth)
	in := &scope{cols, outer}
	out := seq("%%", first, listOf("", text("")))
	joins := out.kids[1]
	for g.r.Intn(2) == 0 && len(joins.kids) < 4 {
		if depth > 0 && g.r.Intn(6) == 0 { // LATERAL
			ts := []string{g.pick(types...), g.pick(types...)}
			alias := g.name("l")
			q := g.query(ts, in, depth-1)
			joins.kids = append(joins.kids, seq(g.pick(" CROSS JOIN LATERAL (%) AS "+alias+" (y0, y1)", " LEFT JOIN LATERAL (%) AS "+alias+" (y0, y1) ON true"), q))
			in = &scope{append(in.cols[:len(in.cols):len(in.cols)], column{alias + ".y0", ts[0]}, column{alias + ".y1", ts[1]}), outer}
			continue
		}
		it, more := g.item(outer, depth)
		kind := g.pick("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
		both := &scope{append(in.cols[:len(in.cols):len(in.cols)], more...), outer}
		on := g.equality(in.cols, more)
		if on == nil && kind == "FULL JOIN" {
			kind = "LEFT JOIN"
		}
		conds := listOf(" AND ")
		if on != nil {
			conds.kids = append(conds.kids, on)
		}
		if on == nil || kind != "FULL JOIN" && g.r.Intn(3) == 0 {
			conds.kids = append(conds.kids, g.test(both, depth-1))
		}
		joins.kids = append(joins.kids, seq(" "+kind+" % ON %", it, conds))
		in = both
	}
	return out, in
}

// equality joins two sides over columns of one type; nil: there are none.
func (g *gen) equality(left, right []column) *node {
	for range 12 {
		l, r := left[g.r.Intn(len(left))], right[g.r.Intn(len(right))]
		if l.typ == r.typ {
			return expr("bool", l.ref+" = "+r.ref)
		}
	}
	return nil
}

func (g *gen) where(s *scope, depth int) *node {
	if g.r.Intn(3) == 0 {
		return text("")
	}
	conds := listOf(" AND ", g.test(s, depth))
	if g.r.Intn(3) == 0 {
		conds.kids = append(conds.kids, g.expr("bool", s, depth))
	}
	return optional(" WHERE %", conds)
}

// query makes a query whose columns have the types.
func (g *gen) query(ts []string, outer *scope, depth int) *node {
	ctes := g.ctes
	defer func() { g.ctes = ctes }()
	switch n := g.r.Intn(12); {
	case n == 0 && depth > 0:
		op := g.pick(" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ", " EXCEPT ALL ", " INTERSECT ALL ")
		return seq("(%)"+op+"(%)", g.query(ts, outer, depth-1), g.query(ts, outer, depth-1))
	case n < 4:
		return g.grouped(ts, outer, depth)
	case n == 4 && depth > 0:
		q := g.query(ts, outer, depth-1)
		return seq("SELECT * FROM (%) AS "+g.name("s")+" ORDER BY "+ordinals(len(ts), g)+" LIMIT "+fmt.Sprint(g.r.Intn(8))+g.pick("", " OFFSET 1"), q)
	}
	from, in := g.from(outer, depth)
	items := listOf(", ")
	for _, t := range ts {
		items.kids = append(items.kids, g.expr(t, in, depth))
	}
	for _, k := range items.kids {
		k.typ = strings.TrimSpace(k.typ)
	}
	distinct := g.pick("", "", "", "DISTINCT ")
	if g.r.Intn(12) == 0 {
		return seq("SELECT DISTINCT ON (1) % FROM %% ORDER BY "+ordinals(len(ts), g), items, from, g.where(in, depth))
	}
	return seq("SELECT "+distinct+"% FROM %%", items, from, g.where(in, depth))
}

// ordinals orders by all columns, so that the order is total.
func ordinals(n int, g *gen) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i+1, g.pick("", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"))
	}
	return strings.Join(out, ", ")
}

// grouped makes an aggregating query.
func (g *gen) grouped(ts []string, outer *scope, depth int) *node {
	from, in := g.from(outer, depth)
	var keys []column
	for range g.r.Intn(3) {
		keys = append(keys, in.cols[g.r.Intn(len(in.cols))])
	}
	items := listOf(", ")
	group := &scope{keys, outer}
	for _, t := range ts {
		a := g.aggregate(t, in, depth)
		if len(group.of(t)) > 0 && g.r.Intn(2) == 0 {
			a = g.expr(t, group, 1)
		}
		items.kids = append(items.kids, a)
	}
	by := text("")
	if len(keys) > 0 {
		by = seq(" GROUP BY %", listOf(", "))
		for _, k := range keys {
			by.kids[0].kids = append(by.kids[0].kids, text(k.ref))
		}
	}
	having := text("")
	if g.r.Intn(4) == 0 {
		t := g.pick("int8", "numeric", "text")
		having = optional(" HAVING (% "+g.pick("<", ">", "=", "<>")+" %)", g.aggregate(t, in, depth), g.literal(t))
	}
	return seq("SELECT % FROM %%%%", items, from, g.where(in, depth), by, having)
}

// aggregate makes an aggregate of a type over the query's own columns: over
// outer ones alone it would belong to the outer query.
func (g *gen) aggregate(typ string, s *scope, depth int) *node {
	s = &scope{cols: s.cols}
	arg := func(t string) *node { return g.expr(t, s, min(depth, 2)-1) }
	f := text("")
	if g.r.Intn(4) == 0 {
		f = optional(" FILTER (WHERE %)", g.test(s, 0))
	}
	d := g.pick("", "", "", "DISTINCT ")
	var n *node
	switch {
	case typ == "int8":
		n = [...]*node{expr(typ, "count(*)"), expr(typ, "count("+d+"%)", arg(g.pick(types...))), expr(typ, "sum("+d+"%)", arg("int4"))}[g.r.Intn(3)]
	case typ == "numeric":
		n = expr(typ, g.pick("sum", "avg", "min", "max", "avg")+"("+d+"%)", arg(g.pick("numeric", "int4", "int8")))
		if strings.HasPrefix(n.format, "m") {
			n = expr(typ, n.format, arg("numeric"))
		}
	case typ == "float8":
		n = expr(typ, g.pick("sum", "avg", "min", "max", "stddev", "var_pop", "percentile_cont(0.5) WITHIN GROUP (ORDER BY %)")+"(%)", arg("float8"))
		n.format = strings.Replace(n.format, "(ORDER BY %)(%)", "(ORDER BY %)", 1)
	case typ == "bool":
		n = expr(typ, g.pick("bool_and", "bool_or", "every")+"(%)", arg("bool"))
	case typ == "int4[]":
		v := arg("int4")
		n = expr(typ, "array_agg("+d+"% ORDER BY %)", v, v)
	case typ == "text" && g.r.Intn(2) == 0:
		v := arg("text")
		n = expr(typ, "string_agg("+d+"%, ',' ORDER BY %)", v, v)
	default:
		n = expr(typ, g.pick("min", "max")+"("+d+"%)", arg(typ))
	}
	return expr(typ, "%%", n, f)
}

// statement makes a query with everything around it, and says whether its order
// is total.
func (g *gen) statement() (*node, bool) {
	g.names, g.ctes = 0, nil
	if g.r.Intn(12) == 0 {
		return g.change(), false
	}
	with := text("")
	if g.r.Intn(6) == 0 {
		with = g.with()
	}
	ts := make([]string, 1+g.r.Intn(4))
	for i := range ts {
		ts[i] = g.pick(types...)
	}
	q := g.query(ts, nil, 1+g.r.Intn(3))
	if g.r.Intn(3) == 0 {
		return seq("%SELECT * FROM (%) AS q ORDER BY "+ordinals(len(ts), g)+g.pick("", " LIMIT 5", " OFFSET 2"), with, q), true
	}
	return seq("%%", with, q), false
}

// with makes common table expressions that the query may name.
func (g *gen) with() *node {
	if g.r.Intn(2) == 0 {
		g.ctes = append(g.ctes, relation{"r", []column{{"n", "int4"}, {"m", "int8"}}})
		return seq(fmt.Sprintf("WITH RECURSIVE r (n, m) AS (SELECT 1, 1::int8 UNION %sSELECT n + 1, m * 2 FROM r WHERE n < %d) ", g.pick("", "ALL "), 1+g.r.Intn(6)))
	}
	ts := []string{g.pick(types...), g.pick(types...)}
	q := g.query(ts, nil, 1)
	g.ctes = append(g.ctes, relation{"w", []column{{"w0", ts[0]}, {"w1", ts[1]}}})
	return seq("WITH w (w0, w1) AS "+g.pick("", "", "MATERIALIZED ", "NOT MATERIALIZED ")+"(%) ", q)
}

// change makes a statement that changes rows.
func (g *gen) change() *node {
	t := g.tables[g.r.Intn(len(g.tables))]
	in := &scope{cols: make([]column, len(t.cols))}
	for i, c := range t.cols {
		in.cols[i] = column{t.name + "." + c.ref, c.typ}
	}
	c := t.cols[1+g.r.Intn(len(t.cols)-1)]
	returning := optional(" RETURNING %", listOf(", ", text("id"), g.expr(c.typ, in, 1)))
	switch g.r.Intn(4) {
	case 0:
		return text(fmt.Sprintf("INSERT INTO %s VALUES (%d, %s)", t.name, g.r.Intn(60), g.row(t.cols[1:])) + g.pick("", " ON CONFLICT DO NOTHING", " ON CONFLICT (id) DO UPDATE SET "+c.ref+" = excluded."+c.ref))
	case 1:
		return seq("DELETE FROM "+t.name+" WHERE id % 5 = 1 AND %%", text("%"), g.test(in, 2), returning)
	case 2:
		return seq("INSERT INTO "+t.name+" (id, "+c.ref+") SELECT id + 100, % FROM "+t.name+" WHERE id < 3 ON CONFLICT DO NOTHING", g.expr(c.typ, in, 1))
	}
	return seq("UPDATE "+t.name+" SET "+c.ref+" = % WHERE %%", g.expr(c.typ, in, 2), g.test(in, 2), returning)
}
