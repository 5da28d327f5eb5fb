package logical

import (
	"fmt"
	"strings"

	"tsdb/planner/scalar"
	"tsdb/sql/types"
)

// String returns the tree as indented lines, one operator each with what it
// computes; plans of subqueries stand below the operator that runs them.
func String(n Node) string {
	var b strings.Builder
	write(&b, n, 0)
	return b.String()
}

func write(b *strings.Builder, n Node, depth int) {
	for i := 0; i < depth; i++ {
		b.WriteString("  ")
	}
	text, exprs := describe(n)
	b.WriteString(text)
	b.WriteByte('\n')
	for _, e := range exprs {
		scalar.Walk(e, func(e scalar.Expr) bool {
			if s, ok := e.(*scalar.Subquery); ok {
				if plan, ok := s.Plan.(Node); ok {
					for i := 0; i <= depth; i++ {
						b.WriteString("  ")
					}
					b.WriteString("subquery\n")
					write(b, plan, depth+2)
				}
			}
			return true
		})
	}
	for _, in := range n.Inputs() {
		write(b, in, depth+1)
	}
}

// describe returns an operator's line and the expressions it evaluates.
func describe(n Node) (string, []scalar.Expr) {
	switch n := n.(type) {
	case *Scan:
		return scanLine(n), n.Filters
	case *Given:
		return "given" + columns(n.Cols), nil
	case *Virtual:
		return "virtual " + n.Relation.SchemaName() + "." + n.Relation.RelName() + alias(n.Relation.RelName(), n.Alias), nil
	case *Values:
		return valuesLine(n)
	case *Function:
		return "function " + n.Fn.Name + "(" + list(n.Args) + ")" + alias(n.Fn.Name, n.Alias) + columns(n.Cols), n.Args
	case *Filter:
		return "filter " + scalar.String(n.Cond), []scalar.Expr{n.Cond}
	case *Project:
		return "project " + named(n.Exprs, n.Cols), n.Exprs
	case *Aggregate:
		return aggregateLine(n)
	case *Join:
		line := [...]string{"inner", "left", "semi", "anti", "full", "mark", "single"}[n.Kind] + " join"
		es := append([]scalar.Expr(nil), n.Outer...)
		if n.Lateral {
			line += " lateral (" + list(n.Outer) + ")"
		}
		if n.On != nil {
			line, es = line+" on "+scalar.String(n.On), append(es, n.On)
		}
		if n.Test != nil {
			line, es = line+" test "+scalar.String(n.Test), append(es, n.Test)
		}
		return line, es
	case *With:
		return fmt.Sprintf("with %s %d", n.Name, n.ID), nil
	case *CTEScan:
		return fmt.Sprintf("cte %s %d%s", n.Name, n.ID, alias(n.Name, n.Alias)), nil
	case *WorkTable:
		return fmt.Sprintf("work table %s %d%s", n.Name, n.ID, alias(n.Name, n.Alias)), nil
	case *Recursive:
		line := fmt.Sprintf("recursive union %d", n.ID)
		if n.All {
			line += " all"
		}
		return line, nil
	case *ProjectSet:
		return projectSetLine(n)
	case *Sort:
		return "sort " + keys(n.Keys), nil
	case *Limit:
		return limitLine(n)
	case *DistinctRows:
		if n.On == nil {
			return "distinct", nil
		}
		return "distinct on " + list(n.On), n.On
	case *SetOp:
		line := [...]string{"union", "intersect", "except"}[n.Kind]
		if n.All {
			line += " all"
		}
		return line + columns(n.Cols), nil
	}
	return fmt.Sprintf("%T", n), nil
}

func projectSetLine(n *ProjectSet) (string, []scalar.Expr) {
	var es []scalar.Expr
	calls := make([]string, len(n.Calls))
	for i, c := range n.Calls {
		calls[i] = list(c.Args)
		if c.Fn != nil {
			calls[i] = c.Fn.Name + "(" + calls[i] + ")"
		}
		es = append(es, c.Args...)
	}
	line := "project set " + strings.Join(calls, ", ")
	if n.Ordinality {
		line += " with ordinality"
	}
	return line, es
}

func scanLine(n *Scan) string {
	line := "scan " + n.Table.Name + alias(n.Table.Name, n.Alias)
	if len(n.Cols) != len(n.Table.Columns) {
		line += columns(n.Columns())
	}
	if len(n.Filters) > 0 {
		line += " where " + list(n.Filters)
	}
	return line
}

func alias(name, alias string) string {
	if alias == "" || alias == name {
		return ""
	}
	return " as " + alias
}

func columns(cols []Column) string {
	s := make([]string, len(cols))
	for i, c := range cols {
		s[i] = c.Name + " " + types.FormatType(c.Type)
	}
	return " (" + strings.Join(s, ", ") + ")"
}

func list(es []scalar.Expr) string {
	s := make([]string, len(es))
	for i, e := range es {
		s[i] = scalar.String(e)
	}
	return strings.Join(s, ", ")
}

func named(es []scalar.Expr, cols []Column) string {
	s := make([]string, len(es))
	for i, e := range es {
		s[i] = scalar.String(e) + " as " + cols[i].Name + " " + types.FormatType(cols[i].Type)
	}
	return strings.Join(s, ", ")
}

func valuesLine(n *Values) (string, []scalar.Expr) {
	if len(n.Cols) == 0 {
		return fmt.Sprintf("values: %d row without columns", len(n.Rows)), nil
	}
	var all []scalar.Expr
	rows := make([]string, len(n.Rows))
	for i, r := range n.Rows {
		rows[i] = "(" + list(r) + ")"
		all = append(all, r...)
	}
	return "values" + columns(n.Cols) + ": " + strings.Join(rows, ", "), all
}

func keys(ks []SortKey) string {
	s := make([]string, len(ks))
	for i, k := range ks {
		s[i] = scalar.String(k.Expr)
		if k.Desc {
			s[i] += " desc"
		}
		switch {
		case k.NullsFirst && !k.Desc:
			s[i] += " nulls first"
		case !k.NullsFirst && k.Desc:
			s[i] += " nulls last"
		}
	}
	return strings.Join(s, ", ")
}

func limitLine(n *Limit) (string, []scalar.Expr) {
	line := "limit"
	var es []scalar.Expr
	if n.Count != nil {
		line, es = line+" "+scalar.String(n.Count), append(es, n.Count)
	}
	if n.Ties != nil {
		line += " with ties " + keys(n.Ties)
	}
	if n.Offset != nil {
		line, es = line+" offset "+scalar.String(n.Offset), append(es, n.Offset)
	}
	return line, es
}

func aggregateLine(n *Aggregate) (string, []scalar.Expr) {
	es := append([]scalar.Expr(nil), n.Keys...)
	aggs := make([]string, len(n.Aggs))
	for i := range n.Aggs {
		aggs[i] = callText(&n.Aggs[i])
		es = append(es, n.Aggs[i].Args...)
		if n.Aggs[i].Filter != nil {
			es = append(es, n.Aggs[i].Filter)
		}
	}
	line := "aggregate"
	if len(n.Keys) > 0 {
		line += " by " + list(n.Keys)
	}
	return line + ": " + strings.Join(aggs, ", "), es
}

func callText(a *AggCall) string {
	var b strings.Builder
	b.WriteString(a.Fn.Name + "(")
	if a.Distinct {
		b.WriteString("distinct ")
	}
	if len(a.Args) == 0 {
		b.WriteString("*")
	}
	b.WriteString(list(a.Args))
	if len(a.OrderBy) > 0 {
		b.WriteString(" order by " + keys(a.OrderBy))
	}
	b.WriteString(")")
	if a.Filter != nil {
		b.WriteString(" filter " + scalar.String(a.Filter))
	}
	return b.String() + " " + types.FormatType(a.Typ)
}
