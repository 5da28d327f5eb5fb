// Package keyrange derives from the conditions of a scan what storage may use
// to skip data: spans of the row key, ranges of time, and filters on zone maps.
//
// Everything derived is a superset of the rows that pass: the conditions stay
// with the scan and are checked again. Conditions are folded before they come
// here, so parameters and stable calls are constants. Encoding of key parts is
// rowkey's.
package keyrange

import (
	"math"
	"sort"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/rowkey"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
)

// Result is what a scan may skip by.
type Result struct {
	Empty   bool          // no row can pass
	Spans   []rowkey.Span // nil: all keys
	Texts   []string      // the spans in words, up to maxTexts; spans that meet count apart
	Time    []table.Range // nil: all times
	Filters []table.Filter
	// Fixed lists the table's columns that have one value in all rows that pass.
	Fixed map[int]bool
	// Point says that the whole primary key is fixed: at most one row.
	Point bool
}

// Derive reads the conditions of a scan of cols (indexes into the table's
// columns, to which the columns of conds refer by position).
func Derive(t *catalog.Table, cols []int, conds []scalar.Expr, c *functions.Ctx) Result {
	d := &deriver{table: t, cols: cols, ctx: c}
	doms := d.all(conds)
	r := Result{Fixed: map[int]bool{}}
	for col, dom := range doms {
		if len(dom.ivs) == 0 {
			r.Empty = true
			return r
		}
		if len(dom.ivs) == 1 && dom.point(dom.ivs[0]) {
			r.Fixed[col] = true
		}
	}
	r.Spans, r.Texts = spans(t, doms, c)
	r.Time = times(&t.Storage, doms)
	r.Filters = d.zoneFilters(doms, conds)
	r.Point = t.Storage.Unique && len(t.Storage.Key) > 0
	for _, p := range t.Storage.Key {
		r.Point = r.Point && r.Fixed[p.Column]
	}
	return r
}

// spans walks the key parts from the left: points multiply, the first part
// that is not all points ends the walk.
func spans(t *catalog.Table, doms domains, c *functions.Ctx) ([]rowkey.Span, []string) {
	var cons []rowkey.Constraint
	var last domain
	total := 1
	for _, p := range t.Storage.Key {
		dom, ok := doms[p.Column]
		if !ok || p.Codec == rowkey.CodecNone {
			break
		}
		if !dom.points() || total*len(dom.ivs) > rowkey.MaxSpans {
			last = dom
			break
		}
		total *= len(dom.ivs)
		var con rowkey.Constraint
		for _, iv := range dom.ivs {
			con.Points = append(con.Points, iv.lo)
		}
		cons = append(cons, con)
	}
	if len(cons) == 0 && last.ivs == nil {
		return nil, nil
	}
	texts := spanTexts(t, doms, len(cons), last, c)
	if last.ivs == nil {
		out, _ := rowkey.Spans(t.Storage.Key, cons)
		return out, texts
	}
	if total*len(last.ivs) > rowkey.MaxSpans {
		last.ivs = []interval{last.hull()}
	}
	var out []rowkey.Span
	for _, iv := range last.ivs {
		one, _ := rowkey.Spans(t.Storage.Key, append(cons[:len(cons):len(cons)], constraint(iv)))
		out = append(out, one...)
	}
	return rowkey.Normalize(out), texts
}

func constraint(iv interval) rowkey.Constraint {
	var c rowkey.Constraint
	if iv.lo != nil {
		c.Lo = &rowkey.Bound{Value: iv.lo, Inclusive: !iv.loOpen}
	}
	if iv.hi != nil {
		c.Hi = &rowkey.Bound{Value: iv.hi, Inclusive: !iv.hiOpen}
	}
	return c
}

// times turns the domain of the time column into half-open ranges of
// microseconds. A range that is open below or above ends at the least or
// greatest number, which stand for the infinities and are part of it.
func times(s *table.Schema, doms domains) []table.Range {
	if s.Time < 0 {
		return nil
	}
	dom, ok := doms[s.Time]
	if !ok {
		return nil
	}
	var out []table.Range
	for _, iv := range dom.ivs {
		r := table.Range{Lo: math.MinInt64, Hi: math.MaxInt64}
		if iv.lo != nil {
			r.Lo = timeBound(s, iv.lo, iv.loOpen)
		}
		if iv.hi != nil {
			r.Hi = timeBound(s, iv.hi, !iv.hiOpen)
		}
		if r.Lo == math.MinInt64 && r.Hi == math.MaxInt64 {
			return nil
		}
		if n := len(out); n > 0 && r.Lo <= out[n-1].Hi {
			out[n-1].Hi = max(out[n-1].Hi, r.Hi)
			continue
		}
		out = append(out, r)
	}
	if len(out) > rowkey.MaxSpans {
		out = []table.Range{{Lo: out[0].Lo, Hi: out[len(out)-1].Hi}}
	}
	return out
}

// timeBound returns the first microsecond of a value of the time column, or of
// the next value.
func timeBound(s *table.Schema, v *vector.Vector, next bool) int64 {
	if s.TimeUnit == table.Days {
		day := int64(v.I32[0])
		switch {
		case day == math.MaxInt32:
			return math.MaxInt64
		case day == math.MinInt32 && next:
			return math.MinInt64 + 1
		case day == math.MinInt32:
			return math.MinInt64
		case next:
			day++
		}
		if day > math.MaxInt64/microsPerDay {
			return math.MaxInt64
		}
		if day < math.MinInt64/microsPerDay {
			return math.MinInt64
		}
		return day * microsPerDay
	}
	x := v.I64[0]
	if next && x < math.MaxInt64 {
		x++
	}
	return x
}

// zoneFilters returns the comparisons that zone maps can answer: the ends of
// each domain, and what conditions say about NULL.
func (d *deriver) zoneFilters(doms domains, conds []scalar.Expr) []table.Filter {
	var out []table.Filter
	var cols []int
	for col := range doms {
		cols = append(cols, col)
	}
	sort.Ints(cols)
	for _, col := range cols {
		dom := doms[col]
		if d.table.Storage.Columns[col].Codec == rowkey.CodecNone {
			continue
		}
		iv := dom.hull()
		if dom.point(iv) {
			out = append(out, table.Filter{Column: col, Op: table.EQ, Value: iv.lo})
			continue
		}
		if iv.lo != nil {
			op := table.GE
			if iv.loOpen {
				op = table.GT
			}
			out = append(out, table.Filter{Column: col, Op: op, Value: iv.lo})
		}
		if iv.hi != nil {
			op := table.LE
			if iv.hiOpen {
				op = table.LT
			}
			out = append(out, table.Filter{Column: col, Op: op, Value: iv.hi})
		}
	}
	for _, e := range conds {
		n, ok := e.(*scalar.IsNull)
		if !ok {
			continue
		}
		c, ok := n.Arg.(*scalar.Column)
		if !ok {
			continue
		}
		f := table.Filter{Column: d.cols[c.Index], Op: table.IsNull}
		if n.Negate {
			f.Op = table.IsNotNull
		}
		out = append(out, f)
	}
	return out
}
