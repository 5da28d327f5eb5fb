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
	"tsdb/sql/pgerr"
)

// explain prints the plan of a statement, and with ANALYZE runs it first.
func (s *Session) explain(ctx context.Context, a *analyzed, params []planner.ParamValue, v *view, r Result) (string, error) {
	b := a.bound
	if x := a.st.Node.GetExplainStmt().GetQuery().GetExecuteStmt(); x != nil {
		inner, values, err := s.executed(x)
		if err == nil && inner.cat != v.cat {
			err = pgerr.New(pgerr.FeatureNotSupported, "cached plan must not change result type")
		}
		if err != nil {
			v.close()
			return "", err
		}
		of := *b
		of.Inner = inner.bound
		b, params = &of, values
	}
	lines, err := s.explainLines(ctx, b, params, v)
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
	case in.Kind != planner.Select && in.Kind != planner.Utility && b.Analyze:
		v.close()
		return nil, pgerr.Unsupported("EXPLAIN ANALYZE of %s", strings.ToUpper(strings.Fields(changeTitle(in))[0]))
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
	o := explain.Options{Analyze: b.Analyze, Costs: b.Costs, Timing: b.Timing, Summary: b.Summary, Verbose: b.Verbose, Format: b.Format,
		Ctx: c, Planning: time.Since(begin)}
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
	if in.Kind != planner.Select {
		o.Over, o.OverProps = changeTitle(in), conflictLines(in)
	}
	return explain.Text(cur.plan, o, stats)
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
		return explain.Stats{Rows: st.Rows, Batches: st.Batches, Nanos: st.Nanos, Memory: st.Memory, Workers: st.Workers, Scan: st.Scan}, ok
	}
}
