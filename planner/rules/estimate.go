package rules

import (
	"math"

	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
)

// perRunRows is how many rows a scan reads in the time that one run of a
// subquery takes besides reading its rows; perRunShare is the share of the
// table's rows that it then reads.
const (
	perRunRows  = 2000
	perRunShare = 0.005
)

// maxPairs is the number of pairs that a nested loop may test instead of runs
// per row, which can stop at the first match.
const maxPairs = 1e6

// worth reports whether joining all rows of a subquery beats running it for
// each of the rows around: not where these are few and the key finds the rows
// of each.
func (a *attached) worth(l *lifted) bool {
	equal := correlationsOf(l.conds)
	if len(equal) == 0 && len(l.conds) > 0 && !oneRow(l.node) {
		return a.u.rows(a.node)*a.u.rows(l.node) <= maxPairs
	}
	if !keyed(l.node, equal) {
		return true
	}
	inner := a.u.rows(l.node)
	return a.u.rows(a.node)*(perRunRows+perRunShare*inner) >= inner
}

// correlationsOf returns the equalities among conditions.
func correlationsOf(conds []scalar.Expr) (out []correlation) {
	for _, c := range conds {
		if k, one := correlations([]scalar.Expr{c}); one {
			out = append(out, k...)
		}
	}
	return out
}

// rows guesses how many rows a plan reads at its largest.
func (u *unnester) rows(n logical.Node) float64 {
	switch n := n.(type) {
	case *logical.Scan:
		if u.ctx == nil || u.ctx.Stats == nil {
			return perRunRows
		}
		rows := float64(u.ctx.Stats(n.Table.Storage.ID).Rows)
		for _, f := range n.Filters {
			rows *= physical.Selectivity(f)
		}
		return math.Max(1, rows)
	case *logical.Filter:
		return math.Max(1, u.rows(n.Input)*physical.Selectivity(n.Cond))
	case *logical.Values:
		return float64(len(n.Rows))
	case *logical.Limit:
		if c, ok := n.Count.(*scalar.Const); ok && !c.Value.IsNull(0) {
			return math.Min(float64(c.Value.I64[0]), u.rows(n.Input))
		}
	}
	most := 1.0
	for _, in := range n.Inputs() {
		most = math.Max(most, u.rows(in))
	}
	return most
}

// relationSize is what is known of a relation's rows before it is joined.
type relationSize struct {
	known bool
	share float64 // of the table's rows that its conditions keep
	rows  float64
}

func (s relationSize) less(o relationSize) bool {
	switch {
	case !s.known || !o.known:
		return false
	case s.share != o.share:
		return s.share < o.share
	}
	return s.rows < o.rows
}

// sizeOf guesses from a table's statistics; other relations are unknown.
func sizeOf(c *Context, n logical.Node) relationSize {
	s, ok := n.(*logical.Scan)
	if !ok || c == nil || c.Stats == nil {
		return relationSize{}
	}
	out := relationSize{known: true, share: 1, rows: float64(c.Stats(s.Table.Storage.ID).Rows)}
	for _, f := range s.Filters {
		out.share *= physical.Selectivity(f)
	}
	out.rows *= out.share
	return out
}
