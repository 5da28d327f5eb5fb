package build

import (
	"math"

	"tsdb/planner/keyrange"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
)

// inlineRows is the size below which one worker is as fast as several: starting
// and joining goroutines costs about what scanning so many rows does.
const inlineRows = 200_000

// maxWorkers bounds physical.Scan.Parallel; exec bounds it further.
const maxWorkers = 64

// scan plans a base table with its conditions.
func (p *planner) scan(n *logical.Scan) physical.Node {
	cols := n.Cols
	rowIDs := len(cols) > 0 && cols[len(cols)-1] == logical.RowID
	if rowIDs {
		cols = cols[:len(cols)-1]
	}
	r := keyrange.Derive(n.Table, cols, n.Filters, p.env.Ctx)
	if r.Empty {
		return &physical.Values{Cols: n.Columns()}
	}
	out := &physical.Scan{Table: n.Table, Alias: n.Alias, Output: n.Output, Fixed: r.Fixed}
	out.Request.Columns, out.Request.RowIDs = cols, rowIDs
	if len(n.Filters) > 0 {
		out.Residual = p.expr(conjunction(n.Filters))
	}
	out.Request.Spans, out.Request.Time, out.Request.Filters = r.Spans, r.Time, r.Filters
	out.Request.NoPrune = !p.env.Pruning
	for _, t := range r.Texts {
		out.Spans = append(out.Spans, physical.SpanText{Text: t})
	}
	for _, t := range r.Time {
		out.Times = append(out.Times, keyrange.TimeText(n.Table, t, p.env.Ctx))
	}
	out.Rebind = p.env.Pruning && readsSlot(out.Residual)
	read := p.estimate(out, n.Filters, r.Point)
	out.Parallel = 1
	if read >= inlineRows {
		out.Parallel = maxWorkers
	}
	return out
}

func conjunction(list []scalar.Expr) scalar.Expr {
	if len(list) == 1 {
		return list[0]
	}
	return &scalar.Logic{Args: list}
}

// estimate sets the number of rows that pass and returns how many are read.
func (p *planner) estimate(s *physical.Scan, filters []scalar.Expr, point bool) float64 {
	if p.env.Stats == nil {
		s.Rows = 1000
		return 0
	}
	st := p.env.Stats(s.Table.Storage.ID)
	rows := float64(st.Rows)
	if rows == 0 {
		return 0
	}
	read := rows
	if st.MinTime <= st.MaxTime && s.Request.Time != nil {
		covered := 0.0
		for _, r := range s.Request.Time {
			lo, hi := max(r.Lo, st.MinTime), min(r.Hi, st.MaxTime)
			covered += math.Max(0, float64(hi)-float64(lo))
		}
		read *= math.Min(1, covered/math.Max(1, float64(st.MaxTime)-float64(st.MinTime)))
	}
	s.Rows = read
	for _, f := range filters {
		s.Rows *= physical.Selectivity(f)
	}
	if point {
		s.Rows = 1
	}
	s.Rows = math.Max(1, math.Min(s.Rows, rows))
	if s.Request.Spans != nil { // a key prefix reads few of the rows
		return s.Rows
	}
	return read
}

// readsSlot reports whether e reads values of the enclosing row.
func readsSlot(e scalar.Expr) bool {
	found := false
	scalar.Walk(e, func(e scalar.Expr) bool {
		if _, ok := e.(*scalar.Slot); ok {
			found = true
		}
		return !found
	})
	return found
}
