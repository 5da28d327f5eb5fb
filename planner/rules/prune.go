package rules

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
)

// pruneColumns leaves out columns that nobody reads: scans read fewer columns,
// projections and aggregates compute less. The root's columns all stay.
func pruneColumns(_ *Context, n logical.Node) logical.Node {
	width := logical.Width(n)
	out, at := prune(n, all(width))
	return restored(out, at, n.Columns())
}

// columnSet says which columns of a node are needed.
type columnSet []bool

func all(n int) columnSet {
	s := make(columnSet, n)
	for i := range s {
		s[i] = true
	}
	return s
}

func (s columnSet) add(e scalar.Expr) {
	columnsOf(e, func(i int) { s[i] = true })
}

func (s columnSet) clone() columnSet { return append(columnSet(nil), s...) }

// mapping gives the new index of each old column, -1 where it is gone.
type mapping []int

func identity(n int) mapping {
	m := make(mapping, n)
	for i := range m {
		m[i] = i
	}
	return m
}

func (m mapping) expr(e scalar.Expr) scalar.Expr {
	return remapped(e, func(i int) int { return m[i] })
}

// kept numbers the columns of a set.
func kept(s columnSet) (list []int, m mapping) {
	m = make(mapping, len(s))
	for i, need := range s {
		m[i] = -1
		if need {
			m[i] = len(list)
			list = append(list, i)
		}
	}
	return list, m
}

// prune returns a node with at least the needed columns of n, and where they are.
func prune(n logical.Node, need columnSet) (logical.Node, mapping) {
	switch n := n.(type) {
	case *logical.Scan:
		return pruneScan(n, need)
	case *logical.Values:
		return pruneValues(n, need)
	case *logical.Filter:
		s := need.clone()
		s.add(n.Cond)
		in, m := prune(n.Input, s)
		return &logical.Filter{Input: in, Cond: m.expr(n.Cond)}, m
	case *logical.Project:
		return pruneProject(n, need)
	case *logical.Aggregate:
		return pruneAggregate(n, need)
	case *logical.Join:
		return pruneJoin(n, need)
	case *logical.Sort:
		s := need.clone()
		for _, k := range n.Keys {
			s.add(k.Expr)
		}
		in, m := prune(n.Input, s)
		return &logical.Sort{Input: in, Keys: mapKeys(n.Keys, m.expr)}, m
	case *logical.Limit:
		s := need.clone()
		for _, k := range n.Ties {
			s.add(k.Expr)
		}
		in, m := prune(n.Input, s)
		return &logical.Limit{Input: in, Offset: n.Offset, Count: n.Count, Ties: mapKeys(n.Ties, m.expr)}, m
	case *logical.DistinctRows:
		return pruneDistinct(n, need)
	case *logical.SetOp:
		return pruneSetOp(n, need)
	case *logical.With:
		body, m := prune(n.Body, need)
		w := *n
		w.Plan, w.Body = pruneAll(n.Plan), body
		return &w, m
	case *logical.ProjectSet:
		return pruneProjectSet(n, need)
	}
	return mapInputs(n, pruneAll), identity(logical.Width(n))
}

// pruneAll prunes below n and keeps its columns as they are.
func pruneAll(n logical.Node) logical.Node {
	out, m := prune(n, all(logical.Width(n)))
	return restored(out, m, n.Columns())
}

// restored makes n yield exactly cols, whose places in n are m.
func restored(n logical.Node, m mapping, cols []logical.Column) logical.Node {
	same := logical.Width(n) == len(cols)
	for i, at := range m {
		same = same && i == at
	}
	if same {
		return n
	}
	p := &logical.Project{Input: n, Cols: cols}
	for i, c := range cols {
		p.Exprs = append(p.Exprs, &scalar.Column{Index: m[i], Typ: c.Type, Name: c.Name})
	}
	return p
}

func pruneScan(n *logical.Scan, need columnSet) (logical.Node, mapping) {
	if n.Output != nil {
		return n, identity(len(n.Output))
	}
	read := need.clone()
	for _, f := range n.Filters {
		read.add(f)
	}
	list, m := kept(read)
	out := &logical.Scan{Table: n.Table, Alias: n.Alias, Cols: make([]int, len(list)), Filters: mapList(n.Filters, m.expr)}
	for i, c := range list {
		out.Cols[i] = n.Cols[c]
	}
	wanted, shown := kept(need)
	if len(wanted) == len(list) {
		return out, m
	}
	out.Output = make([]int, len(wanted))
	for i, c := range wanted {
		out.Output[i] = m[c]
	}
	return out, shown
}

func pruneValues(n *logical.Values, need columnSet) (logical.Node, mapping) {
	list, m := kept(need)
	if len(list) == len(need) {
		return n, m
	}
	out := &logical.Values{Cols: make([]logical.Column, len(list)), Rows: make([][]scalar.Expr, len(n.Rows))}
	for i, c := range list {
		out.Cols[i] = n.Cols[c]
	}
	for r, row := range n.Rows {
		out.Rows[r] = make([]scalar.Expr, len(list))
		for i, c := range list {
			out.Rows[r][i] = row[c]
		}
	}
	return out, m
}

func pruneProject(n *logical.Project, need columnSet) (logical.Node, mapping) {
	list, m := kept(need)
	below := make(columnSet, logical.Width(n.Input))
	for _, c := range list {
		below.add(n.Exprs[c])
	}
	in, im := prune(n.Input, below)
	out := &logical.Project{Input: in}
	for _, c := range list {
		out.Exprs = append(out.Exprs, im.expr(n.Exprs[c]))
		out.Cols = append(out.Cols, n.Cols[c])
	}
	return merged(out), m
}

// merged drops a projection that changes nothing, and joins two in a row when
// the lower one's expressions are columns or constants.
func merged(p *logical.Project) logical.Node {
	if in, ok := p.Input.(*logical.Project); ok && plain(in.Exprs) {
		p = &logical.Project{Input: in.Input, Cols: p.Cols,
			Exprs: mapList(p.Exprs, func(e scalar.Expr) scalar.Expr { return substituted(e, in.Exprs) })}
	}
	cols := p.Input.Columns()
	if len(cols) != len(p.Exprs) {
		return p
	}
	for i, e := range p.Exprs {
		if c, ok := e.(*scalar.Column); !ok || c.Index != i || cols[i] != p.Cols[i] {
			return p
		}
	}
	return p.Input
}

func plain(exprs []scalar.Expr) bool {
	for _, e := range exprs {
		switch e.(type) {
		case *scalar.Column, *scalar.Const:
		default:
			return false
		}
	}
	return true
}

func pruneAggregate(n *logical.Aggregate, need columnSet) (logical.Node, mapping) {
	nk := len(n.Keys)
	m := identity(len(n.Cols))
	out := &logical.Aggregate{Cols: append([]logical.Column(nil), n.Cols[:nk]...)}
	below := make(columnSet, logical.Width(n.Input))
	for _, k := range n.Keys {
		below.add(k)
	}
	var aggs []logical.AggCall
	for i, a := range n.Aggs {
		if !need[nk+i] {
			m[nk+i] = -1
			continue
		}
		m[nk+i] = nk + len(aggs)
		aggs = append(aggs, a)
		out.Cols = append(out.Cols, n.Cols[nk+i])
		mapAggs([]logical.AggCall{a}, func(e scalar.Expr) scalar.Expr { below.add(e); return e })
	}
	in, im := prune(n.Input, below)
	out.Input, out.Keys, out.Aggs = in, mapList(n.Keys, im.expr), mapAggs(aggs, im.expr)
	return out, m
}

func pruneJoin(n *logical.Join, need columnSet) (logical.Node, mapping) {
	nl, nr := logical.Width(n.Left), logical.Width(n.Right)
	read := make(columnSet, nl+nr)
	if logical.LeftOnly(n.Kind) {
		copy(read, need[:nl])
	} else {
		copy(read, need)
	}
	for _, e := range append([]scalar.Expr{n.On, n.Test}, n.Outer...) {
		read.add(e)
	}
	l, lm := prune(n.Left, read[:nl].clone())
	r, rm := prune(n.Right, read[nl:].clone())
	width := logical.Width(l)
	m := append(mapping(nil), lm...)
	for _, i := range rm {
		if i >= 0 {
			i += width
		}
		m = append(m, i)
	}
	out := *n
	out.Left, out.Right = l, r
	out.On, out.Test, out.Outer = mapOptional(n.On, m.expr), mapOptional(n.Test, m.expr), mapList(n.Outer, m.expr)
	if n.Kind == logical.Mark {
		return &out, append(m[:nl:nl], width)
	}
	return &out, m[:len(need)]
}

func pruneProjectSet(n *logical.ProjectSet, need columnSet) (logical.Node, mapping) {
	w := logical.Width(n.Input)
	below := need[:w].clone()
	for _, c := range n.Calls {
		for _, a := range c.Args {
			below.add(a)
		}
	}
	in, m := prune(n.Input, below)
	out := &logical.ProjectSet{Input: in, Calls: mapCalls(n.Calls, m.expr), Ordinality: n.Ordinality}
	at := logical.Width(in)
	m = append(mapping(nil), m...)
	for range need[w:] {
		m = append(m, at)
		at++
	}
	return out, m
}

func pruneDistinct(n *logical.DistinctRows, need columnSet) (logical.Node, mapping) {
	if n.On == nil {
		return &logical.DistinctRows{Input: pruneAll(n.Input)}, identity(len(need))
	}
	s := need.clone()
	for _, e := range n.On {
		s.add(e)
	}
	in, m := prune(n.Input, s)
	return &logical.DistinctRows{Input: in, On: mapList(n.On, m.expr)}, m
}

func pruneSetOp(n *logical.SetOp, need columnSet) (logical.Node, mapping) {
	if n.Kind != logical.Union || !n.All {
		out := *n
		out.Left, out.Right = pruneAll(n.Left), pruneAll(n.Right)
		return &out, identity(len(need))
	}
	list, m := kept(need)
	out := &logical.SetOp{Kind: n.Kind, All: true, Left: picked(n.Left, list), Right: picked(n.Right, list)}
	for _, c := range list {
		out.Cols = append(out.Cols, n.Cols[c])
	}
	return out, m
}

// picked returns a node that yields exactly the columns in list of n.
func picked(n logical.Node, list []int) logical.Node {
	cols := n.Columns()
	need := make(columnSet, len(cols))
	want := make([]logical.Column, len(list))
	for i, c := range list {
		need[c] = true
		want[i] = cols[c]
	}
	in, m := prune(n, need)
	at := make(mapping, len(list))
	for i, c := range list {
		at[i] = m[c]
	}
	return restored(in, at, want)
}
