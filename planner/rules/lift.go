package rules

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// lifted is the plan of a subquery with what reads the row around it taken out:
// the subquery's rows for one row around are cols over the rows of node for
// which conds hold.
type lifted struct {
	node  logical.Node  // reads no slots
	cols  []scalar.Expr // over node's columns and slots
	conds []scalar.Expr // over node's columns and slots
	// empty, if not nil, is the one row of the subquery when no row of node
	// matches: that of an aggregate over nothing.
	empty []scalar.Expr
	group int // with empty: the column of node that is not NULL in a match, -1: none
}

// lift takes a plan's conditions on slots out of it; nil if they cannot be.
func lift(n logical.Node) *lifted {
	if !readsSlots(n) {
		return &lifted{node: n, cols: identityColumns(n), group: -1}
	}
	switch n := n.(type) {
	case *logical.Filter:
		return liftFilter(n.Input, conjuncts(n.Cond))
	case *logical.Scan:
		if n.Output != nil {
			return nil
		}
		s := *n
		s.Filters = nil
		return liftFilter(&s, n.Filters)
	case *logical.Project:
		return liftProject(n)
	case *logical.Values:
		if len(n.Rows) != 1 {
			return nil
		}
		return &lifted{node: &logical.Values{Rows: [][]scalar.Expr{{}}}, cols: n.Rows[0], group: -1}
	case *logical.Join:
		return liftJoin(n)
	case *logical.Aggregate:
		return liftAggregate(n)
	case *logical.Sort:
		return liftSort(n)
	case *logical.DistinctRows:
		return liftDistinct(n)
	case *logical.Limit:
		return liftLimit(n)
	case *logical.With:
		if readsSlots(n.Plan) {
			return nil
		}
		l := lift(n.Body)
		if l != nil {
			w := *n
			w.Body = l.node
			l.node = &w
		}
		return l
	}
	return nil
}

func liftFilter(input logical.Node, conds []scalar.Expr) *lifted {
	l := lift(input)
	if l == nil || l.empty != nil {
		return nil
	}
	var here []scalar.Expr
	for _, c := range conds {
		c = substituted(c, l.cols)
		switch {
		case !hasSlot(c):
			here = append(here, c)
		case isVolatile(c):
			return nil
		default:
			l.conds = append(l.conds, c)
		}
	}
	l.node = filtered(l.node, here)
	return l
}

func liftProject(n *logical.Project) *lifted {
	l := lift(n.Input)
	if l == nil {
		return nil
	}
	cols := make([]scalar.Expr, len(n.Exprs))
	var computed []scalar.Expr
	for i, e := range n.Exprs {
		if isVolatile(e) {
			return nil
		}
		cols[i] = substituted(e, l.cols)
		if _, plain := cols[i].(*scalar.Column); !plain && !hasSlot(cols[i]) && hasColumn(cols[i]) && !mayFail(cols[i]) {
			computed = append(computed, cols[i])
			cols[i] = &scalar.Column{Index: logical.Width(l.node) + len(computed) - 1, Typ: e.ResultType(), Name: n.Cols[i].Name}
		}
	}
	if l.empty != nil {
		l.empty = mapList(n.Exprs, func(e scalar.Expr) scalar.Expr { return substituted(e, l.empty) })
	}
	l.node, l.cols = withExprs(l.node, computed), cols
	return l
}

// withExprs adds computed columns to the right of a node's.
func withExprs(n logical.Node, list []scalar.Expr) logical.Node {
	if len(list) == 0 {
		return n
	}
	cols := n.Columns()
	p := &logical.Project{Input: n, Exprs: append(identityColumns(n), list...), Cols: cols[:len(cols):len(cols)]}
	for _, e := range list {
		p.Cols = append(p.Cols, logical.Column{Name: "computed", Type: e.ResultType()})
	}
	return p
}

func liftJoin(n *logical.Join) *lifted {
	if n.Lateral || n.Kind == logical.Full || n.Kind == logical.Mark {
		return nil
	}
	left := lift(n.Left)
	if left == nil || left.empty != nil {
		return nil
	}
	if n.Kind != logical.Inner && readsSlots(n.Right) {
		return nil
	}
	right := lift(n.Right)
	if right == nil || right.empty != nil {
		return nil
	}
	w := logical.Width(left.node)
	both := append([]scalar.Expr(nil), left.cols...)
	for _, c := range right.cols {
		both = append(both, shifted(c, w))
	}
	out := &lifted{cols: both, conds: left.conds, group: -1}
	for _, c := range right.conds {
		out.conds = append(out.conds, shifted(c, w))
	}
	var on []scalar.Expr
	for _, c := range conjuncts(n.On) {
		c = substituted(c, both)
		switch {
		case !hasSlot(c):
			on = append(on, c)
		case n.Kind != logical.Inner || isVolatile(c):
			return nil
		default:
			out.conds = append(out.conds, c)
		}
	}
	if logical.LeftOnly(n.Kind) {
		out.cols = left.cols
	}
	out.node = &logical.Join{Kind: n.Kind, Left: left.node, Right: right.node, On: conjunction(on)}
	return out
}

// correlation is an equality between a subquery's row and the row around it.
type correlation struct {
	inner scalar.Expr // over columns
	call  *scalar.Call
	first bool // inner is the first operand
}

// correlations takes conds apart; ok is false if one is no equality, or not of
// values that group as they compare.
func correlations(conds []scalar.Expr) (out []correlation, ok bool) {
	for _, c := range conds {
		call, isCall := c.(*scalar.Call)
		if !isCall || !call.Fn.Operator || call.Fn.Name != "=" || len(call.Args) != 2 {
			return nil, false
		}
		l, r := call.Args[0], call.Args[1]
		k := correlation{inner: l, call: call, first: true}
		if hasSlot(l) {
			k.inner, r, k.first = r, l, false
		}
		if hasSlot(k.inner) || !hasColumn(k.inner) || hasColumn(r) || !movable(c) || !groupsAsEqual(l.ResultType().OID, r.ResultType().OID) {
			return nil, false
		}
		out = append(out, k)
	}
	return out, true
}

func groupsAsEqual(l, r types.OID) bool {
	return l == r || l != types.BPChar && r != types.BPChar
}

// over returns the equality with the inner side read from a column.
func (k *correlation) over(index int) scalar.Expr {
	col := &scalar.Column{Index: index, Typ: k.inner.ResultType(), Name: shownName(k.inner)}
	args := []scalar.Expr{col, k.call.Args[1]}
	if !k.first {
		args = []scalar.Expr{k.call.Args[0], col}
	}
	return &scalar.Call{Fn: k.call.Fn, Args: args, Typ: k.call.Typ}
}

func shownName(e scalar.Expr) string {
	if c, ok := e.(*scalar.Column); ok {
		return c.Name
	}
	return scalar.Format(e)
}

// liftAggregate groups by the inner sides of the equalities as well: the groups
// of a row around are those of its values.
func liftAggregate(n *logical.Aggregate) *lifted {
	l := lift(n.Input)
	if l == nil || l.empty != nil {
		return nil
	}
	equal, ok := correlations(l.conds)
	if !ok {
		return nil
	}
	sub := func(e scalar.Expr) scalar.Expr { return substituted(e, l.cols) }
	a := &logical.Aggregate{Input: l.node, Keys: mapList(n.Keys, sub), Aggs: mapAggs(n.Aggs, sub)}
	nk := len(n.Keys)
	a.Cols = append(a.Cols, n.Cols[:nk]...)
	var conds []scalar.Expr
	for _, k := range equal {
		conds = append(conds, k.over(len(a.Keys)))
		a.Keys = append(a.Keys, k.inner)
		a.Cols = append(a.Cols, logical.Column{Name: shownName(k.inner), Type: k.inner.ResultType()})
	}
	a.Cols = append(a.Cols, n.Cols[nk:]...)
	bad := false
	mapExprs(a, func(e scalar.Expr) scalar.Expr {
		bad = bad || hasSlot(e) || mayFail(e)
		return e
	})
	if bad {
		return nil
	}
	out := &lifted{node: a, conds: conds, group: -1}
	for i, c := range n.Cols {
		at := i
		if i >= nk {
			at += len(equal)
		}
		out.cols = append(out.cols, &scalar.Column{Index: at, Typ: c.Type, Name: c.Name})
	}
	if nk == 0 && len(equal) > 0 {
		out.group = 0
		out.empty = emptyAggregates(n.Aggs)
	}
	return out
}

// mayFail reports whether e may raise an error that users meet: on rows that
// belong to no row around, it would be one too many. Overflow of sums is not
// worth a run per row.
func mayFail(e scalar.Expr) bool {
	found := false
	scalar.Walk(e, func(e scalar.Expr) bool {
		switch e := e.(type) {
		case *scalar.Call:
			switch e.Fn.Name {
			case "+", "-", "*":
			default:
				found = found || e.Fn.CanFail
			}
		case *scalar.Cast:
			found = found || e.CanFail
		}
		return !found
	})
	return found
}

// emptyAggregates are the results over no rows.
func emptyAggregates(aggs []logical.AggCall) []scalar.Expr {
	out := make([]scalar.Expr, len(aggs))
	for i, a := range aggs {
		out[i] = nullOf(a.Typ)
		if a.Fn.Name == "count" || a.Fn.Name == "regr_count" {
			out[i] = int8Const(0)
		}
	}
	return out
}

func liftSort(n *logical.Sort) *lifted {
	l := lift(n.Input)
	if l == nil {
		return nil
	}
	var keys []logical.SortKey
	for _, k := range n.Keys {
		k.Expr = substituted(k.Expr, l.cols)
		switch {
		case hasSlot(k.Expr) && hasColumn(k.Expr):
			return nil
		case !hasSlot(k.Expr):
			keys = append(keys, k)
		}
	}
	if len(keys) > 0 {
		l.node = &logical.Sort{Input: l.node, Keys: keys}
	}
	return l
}

func liftDistinct(n *logical.DistinctRows) *lifted {
	l := lift(n.Input)
	if l == nil {
		return nil
	}
	if l.empty != nil {
		return l // one row
	}
	equal, ok := correlations(l.conds)
	if !ok {
		return nil
	}
	exprs := l.cols
	if n.On != nil {
		exprs = mapList(n.On, func(e scalar.Expr) scalar.Expr { return substituted(e, l.cols) })
	}
	for _, e := range exprs {
		if hasSlot(e) {
			return nil
		}
	}
	if n.On != nil {
		return distinctPerRow(l, exprs, equal)
	}
	p := &logical.Project{Input: l.node, Exprs: append([]scalar.Expr(nil), l.cols...), Cols: append([]logical.Column(nil), n.Columns()...)}
	out := &lifted{cols: identityColumns(p), group: -1}
	for _, k := range equal {
		out.conds = append(out.conds, k.over(len(p.Exprs)))
		p.Exprs = append(p.Exprs, k.inner)
		p.Cols = append(p.Cols, logical.Column{Name: shownName(k.inner), Type: k.inner.ResultType()})
	}
	out.node = &logical.DistinctRows{Input: p}
	return out
}

// distinctPerRow keeps the first row per value of exprs for each row around.
func distinctPerRow(l *lifted, exprs []scalar.Expr, equal []correlation) *lifted {
	on := append([]scalar.Expr(nil), exprs...)
	for _, k := range equal {
		on = append(on, k.inner)
	}
	if len(on) > 0 {
		l.node = &logical.DistinctRows{Input: l.node, On: on}
	}
	return l
}

// liftLimit makes LIMIT 1 the first row per value of the equalities. Where the
// table's key finds the few rows of each value, a run per row is better.
func liftLimit(n *logical.Limit) *lifted {
	c, ok := n.Count.(*scalar.Const)
	if !ok || n.Offset != nil || n.Ties != nil || c.Value.IsNull(0) || c.Value.I64[0] < 1 {
		return nil
	}
	l := lift(n.Input)
	if l == nil || l.empty != nil {
		return l // one row
	}
	equal, ok := correlations(l.conds)
	if !ok || len(equal) == 0 || c.Value.I64[0] != 1 || keyed(l.node, equal) {
		return nil
	}
	return distinctPerRow(l, nil, equal)
}

// keyed reports whether one of the equalities is on the column that leads the
// key of the table it is from.
func keyed(n logical.Node, equal []correlation) bool {
	for _, k := range equal {
		if c, ok := k.inner.(*scalar.Column); ok && leadsKey(n, c.Index) {
			return true
		}
	}
	return false
}

// leadsKey follows column i of n down to a table and reports whether the
// table's key begins with it.
func leadsKey(n logical.Node, i int) bool {
	for {
		switch x := n.(type) {
		case *logical.Filter:
			n = x.Input
		case *logical.Sort:
			n = x.Input
		case *logical.Project:
			c, ok := x.Exprs[i].(*scalar.Column)
			if !ok {
				return false
			}
			n, i = x.Input, c.Index
		case *logical.Aggregate:
			c, ok := keyColumn(x, i)
			if !ok {
				return false
			}
			n, i = x.Input, c
		case *logical.Join:
			w := logical.Width(x.Left)
			if i < w {
				n = x.Left
				continue
			}
			n, i = x.Right, i-w
		case *logical.Scan:
			if x.Output != nil {
				i = x.Output[i]
			}
			key := x.Table.Storage.Key
			return len(key) > 0 && key[0].Column == x.Cols[i]
		default:
			return false
		}
	}
}

// keyColumn returns the input column that column i of an aggregate is.
func keyColumn(n *logical.Aggregate, i int) (int, bool) {
	if i >= len(n.Keys) {
		return 0, false
	}
	c, ok := n.Keys[i].(*scalar.Column)
	if !ok {
		return 0, false
	}
	return c.Index, true
}

func int8Const(x int64) *scalar.Const {
	t := types.T(types.Int8)
	v := nullOf(t).Value
	v.Reset(t.Kind())
	v.AppendInt64(x)
	return &scalar.Const{Value: v, Typ: t}
}

// negator returns the equality that <> negates.
func negator(op *functions.Overload) *functions.Overload {
	if !op.Operator || op.Name != "<>" || len(op.Args) != 2 {
		return nil
	}
	fn, _, err := functions.ResolveOperator("=", op.Args[0], op.Args[1])
	if err != nil || fn.Args[0] != op.Args[0] || fn.Args[1] != op.Args[1] {
		return nil
	}
	return fn
}
