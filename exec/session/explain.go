package session

import (
	"context"
	"strings"
	"time"

	"tsdb/colstore/vector"
	"tsdb/exec"
	"tsdb/planner"
	"tsdb/planner/explain"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// explain prints the plan of a statement, and with ANALYZE runs it first.
func (s *Session) explain(ctx context.Context, a *analyzed, params []planner.ParamValue, v *view, r Result) (string, error) {
	b := a.bound
	if x := a.st.Node.GetExplainStmt().GetQuery().GetExecuteStmt(); x != nil {
		inner, values, err := s.executed(x, v.cat)
		if err != nil {
			v.close()
			return "", err
		}
		of := *b
		of.Inner = inner.bound
		b, params = &of, values
	}
	var lines []string
	var err error
	if b.Analyze && changes[b.Inner.Kind] != "" && b.Inner.Bulk == nil {
		lines, err = s.explainChange(ctx, explained(a, b.Inner), b, params, v)
	} else {
		lines, err = s.explainLines(ctx, b, params, v)
	}
	if err != nil {
		return "", err
	}
	if b.Format == "json" {
		lines = []string{strings.Join(lines, "\n")}
	}
	out := &vector.Batch{Cols: []*vector.Vector{vector.New(vector.Bytes, len(lines))}, N: len(lines)}
	for _, l := range lines {
		out.Cols[0].AppendString(l)
	}
	if err := r.Columns(a.cols); err != nil {
		return "", err
	}
	return "EXPLAIN", r.Rows(out)
}

// explainLines plans the inner statement over v, which it closes.
func (s *Session) explainLines(ctx context.Context, b *planner.Bound, params []planner.ParamValue, v *view) ([]string, error) {
	in := b.Inner
	switch {
	case in.Bulk != nil && b.Analyze:
		v.close()
		return nil, pgerr.Unsupported("EXPLAIN ANALYZE of an INSERT of many literal rows")
	case in.Kind == planner.Insert && in.Bulk != nil:
		v.close()
		return []string{"Insert on " + in.Table.Name, `  ->  Values Scan on "*VALUES*"  (rows=` + itoa(int64(in.Bulk.Rows.Rows())) + ")"}, nil
	case in.Kind == planner.Utility || in.Kind == planner.Explain:
		v.close()
		return []string{"Utility statements have no plan structure"}, nil
	}
	c := s.functionCtx()
	begin := time.Now()
	cur, err := s.open(in, params, v, c, b.Analyze)
	if err != nil {
		return nil, err
	}
	defer cur.close()
	o := explainOptions(b, c)
	o.Planning = time.Since(begin)
	var stats func(physical.Node) (explain.Stats, bool)
	if b.Analyze {
		begin = time.Now()
		if err := cur.start(ctx); err != nil {
			return nil, err
		}
		if _, err := cur.fetch(ctx, 0, func(*vector.Batch) error { return nil }); err != nil {
			return nil, err
		}
		o.Execution = time.Since(begin)
		stats = operatorStats(cur.op)
	}
	return explain.Text(cur.plan, o, stats)
}

func explainOptions(b *planner.Bound, c *functions.Ctx) explain.Options {
	o := explain.Options{Analyze: b.Analyze, Costs: b.Costs, Timing: b.Timing, Summary: b.Summary, Verbose: b.Verbose, Format: b.Format, Ctx: c}
	if b.Inner.Kind != planner.Select {
		o.Over, o.OverProps = changeTitle(b.Inner), conflictLines(b.Inner)
	}
	return o
}

// explained is the statement inside of an EXPLAIN as one of its own.
func explained(a *analyzed, inner *planner.Bound) *analyzed {
	return &analyzed{st: a.st, bound: inner, params: a.params, cols: inner.Cols, cat: a.cat, key: a.key}
}

// explainChange runs INSERT, UPDATE or DELETE for EXPLAIN ANALYZE over v, which it closes.
func (s *Session) explainChange(ctx context.Context, a *analyzed, b *planner.Bound, params []planner.ParamValue, v *view) ([]string, error) {
	o := explainOptions(b, s.functionCtx())
	begin := time.Now()
	var lines []string
	var err error
	_, _, changeErr := s.changeAll(ctx, a, params, v, func(cur *cursor) {
		o.Execution = time.Since(begin)
		lines, err = explain.Text(cur.plan, o, operatorStats(cur.op))
	})
	if changeErr != nil {
		return nil, changeErr
	}
	return lines, err
}

// conflictLines tells what ON CONFLICT does.
func conflictLines(b *planner.Bound) [][2]string {
	c := b.Conflict
	if c == nil {
		return nil
	}
	out := [][2]string{{"Conflict Resolution", "NOTHING"}}
	if c.Update != nil {
		out[0][1] = "UPDATE"
	}
	var names []string
	for _, i := range c.Arbiters {
		names = append(names, b.Table.Constraints[i].Name)
	}
	if names != nil {
		out = append(out, [2]string{"Conflict Arbiter Indexes", strings.Join(names, ", ")})
	}
	if p, ok := c.Update.(*logical.Project); ok {
		if f, ok := p.Input.(*logical.Filter); ok {
			out = append(out, [2]string{"Conflict Filter", scalar.Format(f.Cond)})
		}
	}
	return out
}

// changeTitle is the line of EXPLAIN over the plan of the rows to write.
func changeTitle(b *planner.Bound) string {
	word := map[planner.Kind]string{planner.Insert: "Insert", planner.Update: "Update", planner.Delete: "Delete"}[b.Kind]
	return word + " on " + b.Table.Name
}

func operatorStats(op exec.Operator) func(physical.Node) (explain.Stats, bool) {
	return func(n physical.Node) (explain.Stats, bool) {
		st, ok := exec.StatsOf(op, n)
		return explain.Stats{Rows: st.Rows, Batches: st.Batches, Nanos: st.Nanos, Memory: st.Memory, Workers: st.Workers,
			Spilled: st.Spilled, Files: st.Files, Scan: st.Scan}, ok
	}
}
