package build

import (
	"tsdb/colstore/table"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
)

// requestOrder asks the scan at the bottom of a chain of filters and
// projections for rows in the order of keys, where the table's key order or
// time gives it. Storage may decline when the scan opens; the sort stays in the
// plan for that.
func (p *planner) requestOrder(in physical.Node, keys []logical.SortKey, top int64) bool {
	scan, cols, ok := tableKeys(in, keys)
	if !ok || top < 0 || top > orderedRows {
		return false
	}
	for i, c := range cols {
		if !scan.Table.Columns[c].NotNull || keys[i].Desc != keys[0].Desc {
			return false
		}
	}
	order, ok := deliveredOrder(scan, cols)
	if !ok {
		return false
	}
	scan.Request.Order, scan.Request.Reverse = order, keys[0].Desc
	if _, direct := in.(*physical.Scan); direct && scan.Residual == nil {
		scan.Request.Limit = top
	}
	scan.Parallel = 1
	return true
}

// orderedRows is the largest limit for which an ordered scan, which one worker
// merges, beats reading everything with all workers and keeping the best rows.
const orderedRows = 10_000

// tableKeys follows sort keys that are columns down to the scan's table columns.
func tableKeys(n physical.Node, keys []logical.SortKey) (*physical.Scan, []int, bool) {
	at := make([]int, len(keys))
	for i, k := range keys {
		c, ok := k.Expr.(*scalar.Column)
		if !ok {
			return nil, nil, false
		}
		at[i] = c.Index
	}
	for {
		switch t := n.(type) {
		case *physical.Filter:
			n = t.Input
		case *physical.Project:
			for i := range at {
				c, ok := t.Exprs[at[i]].(*scalar.Column)
				if !ok {
					return nil, nil, false
				}
				at[i] = c.Index
			}
			n = t.Input
		case *physical.Scan:
			for i := range at {
				if t.Output != nil {
					at[i] = t.Output[at[i]]
				}
				at[i] = t.Request.Columns[at[i]]
			}
			return t, at, true
		default:
			return nil, nil, false
		}
	}
}

// deliveredOrder returns the order of storage that implies the order of cols:
// key parts from the left, where parts with one value may be left out, or time
// alone.
func deliveredOrder(scan *physical.Scan, cols []int) (table.Order, bool) {
	s := &scan.Table.Storage
	if len(cols) == 1 && cols[0] == s.Time && !(len(s.Key) > 0 && s.Key[0].Column == s.Time) {
		if !leadsTo(scan, cols) {
			return table.TimeOrder, true
		}
	}
	return table.KeyOrder, leadsTo(scan, cols)
}

func leadsTo(scan *physical.Scan, cols []int) bool {
	next := 0
	for _, part := range scan.Table.Storage.Key {
		switch {
		case next < len(cols) && cols[next] == part.Column:
			next++
		case scan.Fixed[part.Column]:
		default:
			return next == len(cols)
		}
	}
	return next == len(cols)
}
