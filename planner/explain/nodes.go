package explain

import (
	"fmt"
	"strings"

	"tsdb/colstore/table"
	"tsdb/planner/keyrange"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
)

// node describes an operator and everything below it.
func (d *describer) node(n physical.Node) *item {
	if w, ok := n.(*physical.With); ok {
		return d.with(w)
	}
	it := &item{rows: physical.Rows(n)}
	if d.stats != nil {
		if s, ok := d.stats(n); ok {
			it.stats = &s
		}
	}
	exprs := d.describe(it, n)
	d.heading(it)
	d.subplans(it, exprs)
	if s := it.stats; s != nil && d.o.Analyze {
		if s.Workers > 1 {
			it.add("Workers", "%d", s.Workers)
		}
		if s.Memory > 0 {
			it.add("Memory", "%s", size(s.Memory))
		}
		if s.Files > 0 {
			it.add("Temporary Files", "%d, %s", s.Files, size(s.Spilled))
		}
	}
	for _, in := range n.Inputs() {
		it.ins = append(it.ins, d.node(in))
	}
	return it
}

// describe fills title and properties and returns the expressions that n evaluates.
func (d *describer) describe(it *item, n physical.Node) []scalar.Expr {
	switch n := n.(type) {
	case *physical.Scan:
		return d.scan(it, n)
	case *physical.Given:
		it.title = "Changed Rows"
	case *physical.Virtual:
		it.title = "Virtual Scan on " + named(n.Relation.RelName(), n.Alias)
	case *physical.Values:
		it.title = "Result"
		if len(n.Rows) != 1 {
			it.title = fmt.Sprintf("Values Scan (%d rows)", len(n.Rows))
		}
		if len(n.Rows) == 0 {
			it.title = "Result"
			it.add("One-Time Filter", "false")
		}
		var exprs []scalar.Expr
		for _, r := range n.Rows {
			exprs = append(exprs, r...)
		}
		return exprs
	case *physical.Function:
		it.title = "Function Scan on " + named(n.Fn.Name, n.Alias)
		it.add("Function Call", "%s(%s)", n.Fn.Name, formatList(n.Args))
		return n.Args
	case *physical.Filter:
		it.title = "Filter"
		it.add("Filter", "%s", scalar.Format(n.Cond))
		return []scalar.Expr{n.Cond}
	case *physical.Project:
		it.title = "Project"
		it.add("Output", "%s", formatList(n.Exprs))
		return n.Exprs
	case *physical.Aggregate:
		return d.aggregate(it, n)
	case *physical.HashJoin:
		return d.hashJoin(it, n)
	case *physical.NestedLoop:
		it.title = "Nested Loop" + joinWord(n.Kind)
		if n.On != nil {
			it.add("Join Filter", "%s", scalar.Format(n.On))
		}
		if n.Test != nil {
			it.add("Mark", "%s", scalar.Format(n.Test))
		}
		return []scalar.Expr{n.On, n.Test}
	case *physical.Sort:
		return d.sort(it, n)
	case *physical.Limit:
		return d.limit(it, n)
	case *physical.Distinct:
		it.title = "Unique"
		if n.On != nil {
			it.add("Distinct On", "%s", formatList(n.On))
		}
		return n.On
	case *physical.Append:
		it.title = "Append"
	case *physical.SetOp:
		it.title = "HashSetOp " + map[logical.SetOpKind]string{logical.Intersect: "Intersect", logical.Except: "Except"}[n.Kind]
		if n.All {
			it.title += " All"
		}
	case *physical.Apply:
		it.title = "Nested Loop" + joinWord(n.Kind)
		if n.On != nil {
			it.add("Join Filter", "%s", scalar.Format(n.On))
		}
		return append(append([]scalar.Expr(nil), n.Outer...), n.On)
	case *physical.CTEScan:
		it.title = "CTE Scan on " + named(n.Name, n.Alias)
	case *physical.WorkTable:
		it.title = "WorkTable Scan on " + named(n.Name, n.Alias)
	case *physical.Recursive:
		it.title = "Recursive Union"
	case *physical.ProjectSet:
		return d.projectSet(it, n)
	default:
		it.title = fmt.Sprintf("%T", n)
	}
	return nil
}

func (d *describer) projectSet(it *item, n *physical.ProjectSet) []scalar.Expr {
	it.title = "ProjectSet"
	var exprs []scalar.Expr
	calls := make([]string, len(n.Calls))
	for i, c := range n.Calls {
		exprs = append(exprs, c.Args...)
		calls[i] = formatList(c.Args)
		if c.Fn != nil {
			calls[i] = c.Fn.Name + "(" + calls[i] + ")"
		}
	}
	it.add("Function Call", "%s", strings.Join(calls, ", "))
	return exprs
}

// with describes the body, with the query as a plan beside it.
func (d *describer) with(n *physical.With) *item {
	query := &item{title: "CTE " + n.Name, ins: []*item{d.node(n.Plan)}}
	it := d.node(n.Body)
	it.subs = append([]*item{query}, it.subs...)
	return it
}

// subplans describes the plans inside expressions.
func (d *describer) subplans(it *item, exprs []scalar.Expr) {
	for _, e := range exprs {
		scalar.Walk(e, func(e scalar.Expr) bool {
			sub, ok := e.(*scalar.Subquery)
			if !ok {
				return true
			}
			if plan, ok := sub.Plan.(physical.Node); ok {
				d.plans++
				word := "SubPlan"
				if len(sub.Outer) == 0 {
					word = "InitPlan"
				}
				p := &item{title: fmt.Sprintf("%s %d", word, d.plans), rows: physical.Rows(plan)}
				p.ins = []*item{d.node(plan)}
				it.subs = append(it.subs, p)
			}
			return true
		})
	}
}

func named(name, alias string) string {
	if alias == "" || alias == name {
		return name
	}
	return name + " " + alias
}

func formatList(list []scalar.Expr) string {
	s := make([]string, len(list))
	for i, e := range list {
		s[i] = scalar.Format(e)
	}
	return strings.Join(s, ", ")
}

func (d *describer) aggregate(it *item, n *physical.Aggregate) []scalar.Expr {
	exprs := append([]scalar.Expr(nil), n.Keys...)
	it.title = "Aggregate"
	if len(n.Keys) > 0 {
		it.title = "HashAggregate"
		it.add("Group Key", "%s", formatList(n.Keys))
	}
	var calls []string
	for i := range n.Aggs {
		a := &n.Aggs[i]
		calls = append(calls, aggText(a))
		exprs = append(exprs, a.Args...)
		if a.Filter != nil {
			exprs = append(exprs, a.Filter)
		}
	}
	if len(calls) > 0 {
		it.add("Aggregates", "%s", strings.Join(calls, ", "))
	}
	return exprs
}

func aggText(a *logical.AggCall) string {
	args := formatList(a.Args)
	if len(a.Args) == 0 {
		args = "*"
	}
	if a.Distinct {
		args = "DISTINCT " + args
	}
	if len(a.OrderBy) > 0 {
		args += " ORDER BY " + keysText(a.OrderBy)
	}
	s := a.Fn.Name + "(" + args + ")"
	if a.Filter != nil {
		s += " FILTER (WHERE " + scalar.Format(a.Filter) + ")"
	}
	return s
}

func joinWord(k logical.JoinKind) string {
	return map[logical.JoinKind]string{logical.Left: " Left Join", logical.Semi: " Semi Join", logical.Anti: " Anti Join",
		logical.Full: " Full Join", logical.Mark: " Mark Join", logical.Single: " Single Join"}[k]
}

func (d *describer) hashJoin(it *item, n *physical.HashJoin) []scalar.Expr {
	word := joinWord(n.Kind)
	if word == "" {
		word = " Join"
	}
	it.title = "Hash" + word
	conds := make([]string, len(n.LeftKeys))
	for i := range conds {
		op := " = "
		if n.NullEqual != nil && n.NullEqual[i] {
			op = " IS NOT DISTINCT FROM "
		}
		conds[i] = "(" + scalar.Format(n.LeftKeys[i]) + op + scalar.Format(n.RightKeys[i]) + ")"
	}
	cond := strings.Join(conds, " AND ")
	if len(conds) > 1 {
		cond = "(" + cond + ")"
	}
	it.add("Hash Cond", "%s", cond)
	exprs := append(append([]scalar.Expr(nil), n.LeftKeys...), n.RightKeys...)
	if n.Residual != nil {
		it.add("Join Filter", "%s", scalar.Format(n.Residual))
		exprs = append(exprs, n.Residual)
	}
	if n.Test != nil {
		it.add("Mark", "%s", scalar.Format(n.Test))
		exprs = append(exprs, n.Test)
	}
	return exprs
}

func (d *describer) sort(it *item, n *physical.Sort) []scalar.Expr {
	it.title = "Sort"
	it.add("Sort Key", "%s", keysText(n.Keys))
	if n.Ordered {
		it.add("Presorted", "by the scan, where storage has the order")
	} else if n.Limit >= 0 {
		it.add("Sort Method", "top-N heapsort, N = %d", n.Limit)
	}
	var exprs []scalar.Expr
	for _, k := range n.Keys {
		exprs = append(exprs, k.Expr)
	}
	return exprs
}

func keysText(keys []logical.SortKey) string {
	s := make([]string, len(keys))
	for i, k := range keys {
		s[i] = scalar.Format(k.Expr)
		if k.Desc {
			s[i] += " DESC"
		}
		switch {
		case k.NullsFirst && !k.Desc:
			s[i] += " NULLS FIRST"
		case !k.NullsFirst && k.Desc:
			s[i] += " NULLS LAST"
		}
	}
	return strings.Join(s, ", ")
}

func (d *describer) limit(it *item, n *physical.Limit) []scalar.Expr {
	it.title = "Limit"
	var exprs []scalar.Expr
	switch {
	case n.CountExpr != nil:
		it.add("Count", "%s", scalar.Format(n.CountExpr))
		exprs = append(exprs, n.CountExpr)
	case n.Count >= 0:
		it.add("Count", "%d", n.Count)
	}
	if n.Ties != nil {
		it.add("Ties", "%s", formatList(n.Ties))
	}
	switch {
	case n.OffsetExpr != nil:
		it.add("Offset", "%s", scalar.Format(n.OffsetExpr))
		exprs = append(exprs, n.OffsetExpr)
	case n.Offset > 0:
		it.add("Offset", "%d", n.Offset)
	}
	return exprs
}

var layouts = map[table.Layout]string{table.Columnar: "columnar", table.RowStore: "row"}

// scan describes what a scan reads, what it skips by, and what remains.
func (d *describer) scan(it *item, n *physical.Scan) []scalar.Expr {
	it.title = "Scan on " + named(n.Table.Name, n.Alias)
	it.add("Layout", "%s", layouts[n.Table.Storage.Layout])
	it.add("Key Ranges", "%s", spansText(n))
	if n.Table.Storage.Time >= 0 {
		it.add("Time Range", "%s", timesText(n))
	}
	it.add("Columns Read", "%s", columnsText(n))
	if len(n.Request.Filters) > 0 {
		it.add("Pruned by", "%s", d.filtersText(n))
	}
	if n.Request.NoPrune {
		it.add("Pruning", "off")
	}
	if n.Request.Order != table.AnyOrder {
		it.add("Order", "%s", orderText(n))
	}
	if n.Residual != nil {
		it.add("Filter", "%s", scalar.Format(n.Residual))
	}
	if s := it.stats; d.o.Analyze && s != nil && s.Scan != nil {
		scanNumbers(it, s)
	}
	if n.Residual == nil {
		return nil
	}
	return []scalar.Expr{n.Residual}
}

func scanNumbers(it *item, s *Stats) {
	c := s.Scan
	it.add("Rows Scanned", "%d", c.Rows)
	if removed := c.Rows - s.Rows; removed > 0 {
		it.add("Rows Removed by Filter", "%d", removed)
	}
	it.add("Segments", "%d scanned, %d skipped", c.SegmentsRead, c.SegmentsSkipped)
	it.add("Blocks", "%d scanned, %d skipped", c.BlocksRead, c.BlocksSkipped)
	it.add("Bytes", "%s scanned, %s skipped", size(c.BytesRead), size(c.BytesSkipped))
}

func size(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

func spansText(n *physical.Scan) string {
	spans := n.Request.Spans
	if n.Rebind {
		return "derived per outer row"
	}
	if spans == nil {
		return "all"
	}
	texts := make([]string, len(n.Spans))
	for i, s := range n.Spans {
		texts[i] = s.Text
	}
	out := strings.Join(texts, ", ")
	if len(spans) > len(texts) {
		out += ", ..."
	}
	if len(spans) == 1 {
		return "1 span " + out
	}
	return fmt.Sprintf("%d spans %s", len(spans), out)
}

// maxTimes bounds the ranges of time that are spelled out.
const maxTimes = 8

func timesText(n *physical.Scan) string {
	if n.Request.Time == nil {
		return "all"
	}
	col := n.Table.Columns[n.Table.Storage.Time].Name
	var s []string
	for i, t := range n.Times {
		if i == maxTimes {
			s = append(s, "...")
			break
		}
		s = append(s, col+" "+t)
	}
	return strings.Join(s, ", ")
}

func columnsText(n *physical.Scan) string {
	if len(n.Request.Columns) == 0 {
		return "none"
	}
	s := make([]string, len(n.Request.Columns))
	for i, c := range n.Request.Columns {
		s[i] = n.Table.Columns[c].Name
	}
	return strings.Join(s, ", ")
}

func (d *describer) filtersText(n *physical.Scan) string {
	ops := map[table.CompareOp]string{table.EQ: "=", table.NE: "<>", table.LT: "<", table.LE: "<=", table.GT: ">",
		table.GE: ">=", table.IsNull: "IS NULL", table.IsNotNull: "IS NOT NULL"}
	s := make([]string, len(n.Request.Filters))
	for i, f := range n.Request.Filters {
		col := &n.Table.Columns[f.Column]
		s[i] = col.Name + " " + ops[f.Op]
		if f.Value != nil {
			s[i] += " " + keyrange.ValueText(col.Type, f.Value, d.o.Ctx)
		}
	}
	return strings.Join(s, ", ")
}

func orderText(n *physical.Scan) string {
	out := "key"
	if n.Request.Order == table.TimeOrder {
		out = "time"
	}
	if n.Request.Reverse {
		out += " descending"
	}
	return out
}
