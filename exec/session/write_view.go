package session

import (
	"tsdb/colstore/vector"
	"tsdb/planner"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// viewCheck is WITH CHECK OPTION of a view through which a statement writes.
type viewCheck struct {
	view string
	plan *rowPlan
}

// prepareChecks plans the checks of the views that a statement writes through.
func (s *Session) prepareChecks(w *writer, b *planner.Bound, params []planner.ParamValue, v *view, c *functions.Ctx) error {
	for i := range b.Checks {
		p, err := s.newRowPlan(v, c, b, b.Checks[i].Root, params)
		if err != nil {
			return err
		}
		w.checks = append(w.checks, viewCheck{b.Checks[i].View, p})
	}
	return nil
}

// checkViews refuses rows that the views do not show.
func (w *writer) checkViews(b *vector.Batch) error {
	for i := range w.checks {
		c, row := &w.checks[i], 0
		err := c.plan.run(w.ctx, b, func(shown *vector.Batch) error {
			v := shown.Cols[0]
			for r := range shown.N {
				if v.IsNull(r) || !v.Bool(r) {
					e := pgerr.New(pgerr.WithCheckOptionViolation, `new row violates check option for view "%s"`, c.view)
					return e.WithDetail("Failing row contains (%s).", w.s.failingRow(w.t, b, row+r))
				}
			}
			row += shown.N
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
