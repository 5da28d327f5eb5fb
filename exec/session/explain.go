package session

import (
	"context"
	"strings"

	"tsdb/colstore/vector"
	"tsdb/planner"
	"tsdb/sql/pgerr"
)

// explain prints the plan of a statement, and with ANALYZE runs it first.
func (s *Session) explain(ctx context.Context, a *analyzed, params []planner.ParamValue, v *view, r Result) (string, error) {
	lines, err := s.explainLines(ctx, a.bound, params, v)
	if err != nil {
		return "", err
	}
	out := &vector.Batch{Cols: []*vector.Vector{vector.New(vector.Bytes, len(lines))}, N: len(lines)}
	for _, l := range lines {
		out.Cols[0].AppendString(strings.TrimRight(l, " "))
	}
	if err := r.Columns(a.cols); err != nil {
		return "", err
	}
	return "EXPLAIN", r.Rows(out)
}

func (s *Session) explainLines(ctx context.Context, b *planner.Bound, params []planner.ParamValue, v *view) ([]string, error) {
	v.close()
	return nil, pgerr.Unsupported("EXPLAIN")
}
