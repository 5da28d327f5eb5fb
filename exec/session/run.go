package session

import (
	"context"

	"tsdb/planner"
	"tsdb/sql"
	"tsdb/sql/pgerr"
)

// noParameters refuses $n where the protocol carries no values.
func noParameters(a *analyzed) error {
	if len(a.params) == 0 && a.st.NumParams == 0 {
		return nil
	}
	return missingParameter(a.st)
}

// missingParameter is the error of a statement that has $n where it cannot.
func missingParameter(st *sql.Statement) error {
	number, at := st.FirstParam()
	return pgerr.New(pgerr.UndefinedParameter, "there is no parameter $%d", number).At(at)
}

// run executes a planned statement to its end over v, which it closes.
func (s *Session) run(ctx context.Context, a *analyzed, params []planner.ParamValue, v *view, r Result) (string, error) {
	if len(a.bound.With) > 0 {
		return s.runWith(ctx, a, params, v, r)
	}
	switch a.bound.Kind {
	case planner.Insert, planner.Update, planner.Delete:
		return s.change(ctx, a, params, v, r)
	case planner.Explain:
		return s.explain(ctx, a, params, v, r)
	case planner.Select:
		return s.selected(ctx, a, params, v, r)
	}
	v.close()
	return "", pgerr.Unsupported("this statement")
}

// selected runs a query to its end over v, which it closes.
func (s *Session) selected(ctx context.Context, a *analyzed, params []planner.ParamValue, v *view, r Result) (string, error) {
	cur, err := s.open(a.bound, params, v, s.functionCtx(), false)
	if err != nil {
		return "", err
	}
	defer cur.close()
	if err := cur.start(ctx); err != nil {
		return "", err
	}
	if err := r.Columns(a.cols); err != nil {
		return "", err
	}
	n, err := cur.fetch(ctx, 0, r.Rows)
	if err != nil {
		return "", err
	}
	return "SELECT " + itoa(n), nil
}
