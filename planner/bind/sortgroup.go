package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// sortable reports whether values of the type have an order (and so equality).
func (b *binder) sortable(t types.OID) bool {
	if t == types.Unknown {
		return true
	}
	fn, _, err := functions.ResolveOperator("<", t, t)
	return err == nil && fn.Ret == types.Bool
}

// direction reads ASC, DESC, USING and NULLS of an ORDER BY item.
func (b *binder) direction(s *pg_query.SortBy) (desc, nullsFirst bool, err error) {
	switch s.SortbyDir {
	case pg_query.SortByDir_SORTBY_DESC:
		desc = true
	case pg_query.SortByDir_SORTBY_USING:
		symbol, err := b.operatorName(s.UseOp, s.Location)
		if err != nil {
			return false, false, err
		}
		switch symbol { // text is ordered by bytes, as its pattern operators are
		case "~<~":
			symbol = "<"
		case "~>~":
			symbol = ">"
		}
		if symbol != "<" && symbol != ">" {
			return false, false, b.errorAt(s.Location, pgerr.WrongObjectType, "operator %s is not a valid ordering operator", symbol).
				WithHint("Ordering operators must be \"<\" or \">\" members of btree operator families.")
		}
		desc = symbol == ">"
	}
	switch s.SortbyNulls {
	case pg_query.SortByNulls_SORTBY_NULLS_FIRST:
		return desc, true, nil
	case pg_query.SortByNulls_SORTBY_NULLS_LAST:
		return desc, false, nil
	}
	return desc, desc, nil
}

// sortKey makes the key of an ORDER BY inside an aggregate.
func (b *binder) sortKey(s *pg_query.SortBy, e scalar.Expr) (logical.SortKey, error) {
	desc, nullsFirst, err := b.direction(s)
	if err != nil {
		return logical.SortKey{}, err
	}
	if err := b.checkSortable(e.ResultType().OID, s.Node); err != nil {
		return logical.SortKey{}, err
	}
	return logical.SortKey{Expr: e, Desc: desc, NullsFirst: nullsFirst}, nil
}

func (b *binder) checkSortable(t types.OID, n *pg_query.Node) error {
	if b.sortable(t) {
		return nil
	}
	return b.errorAt(locate(n), pgerr.UndefinedFunction, "could not identify an ordering operator for type %s", typeText(t)).
		WithHint("Use an explicit ordering operator or modify the query.")
}

func (b *binder) checkGroupable(t types.OID, n *pg_query.Node) error {
	if b.sortable(t) {
		return nil
	}
	return b.errorAt(locate(n), pgerr.UndefinedFunction, "could not identify an equality operator for type %s", typeText(t))
}

// find returns the target that an item of ORDER BY, GROUP BY or DISTINCT ON
// means: by position, by output name, by equality, or -1 with the expression bound.
func (l *level) find(n *pg_query.Node, in clause) (int, scalar.Expr, error) {
	if cr := n.GetColumnRef(); cr != nil && len(cr.Fields) == 1 && cr.Fields[0].GetString_() != nil {
		i, err := l.findName(stringOf(cr.Fields[0]), cr.Location, in)
		if i >= 0 || err != nil {
			return i, nil, err
		}
	}
	if k := n.GetAConst(); k != nil {
		return l.findPosition(k, in)
	}
	e, err := l.expr(n, exprCtx{scope: l.scope, clause: in})
	if err != nil {
		return -1, nil, err
	}
	for i := range l.targets {
		if sameExpr(l.targets[i].expr, e) {
			return i, nil, nil
		}
	}
	return -1, e, nil
}

// findName looks among the output names. In GROUP BY a column of FROM goes first.
func (l *level) findName(name string, location int32, in clause) (int, error) {
	if in == inGroupBy {
		own := &scope{items: l.scope.items}
		e, err := l.plainColumn(own, name, location)
		if e != nil || err != nil {
			return -1, err
		}
	}
	found := -1
	for i := range l.targets {
		t := &l.targets[i]
		if t.junk || t.name != name {
			continue
		}
		if found >= 0 && !sameExpr(l.targets[found].expr, t.expr) {
			return -1, l.errorAt(location, pgerr.AmbiguousColumn, "%s \"%s\" is ambiguous", in.place(), name)
		}
		if found < 0 {
			found = i
		}
	}
	return found, nil
}

func (l *level) findPosition(k *pg_query.A_Const, in clause) (int, scalar.Expr, error) {
	iv, ok := k.Val.(*pg_query.A_Const_Ival)
	if !ok {
		return -1, nil, l.errorAt(k.Location, pgerr.SyntaxError, "non-integer constant in %s", in.place())
	}
	want := int(iv.Ival.GetIval())
	for i := range l.targets {
		if !l.targets[i].junk {
			if want--; want == 0 {
				return i, nil, nil
			}
		}
	}
	return -1, nil, l.errorAt(k.Location, pgerr.InvalidColumnReference, "%s position %d is not in select list", in.place(), iv.Ival.GetIval())
}

// findOrAdd is find with a junk target for what is not in the select list.
func (l *level) findOrAdd(n *pg_query.Node, in clause) (int, error) {
	i, e, err := l.find(n, in)
	if err != nil {
		return -1, err
	}
	if i < 0 {
		if l.setOp {
			return -1, l.errorAt(locate(n), pgerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
				WithDetail("Only result column names can be used, not expressions or functions.").
				WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
		}
		i = l.addTarget(target{expr: e, node: n, name: "?column?", junk: true})
	}
	t := &l.targets[i]
	if t.expr, err = l.resolveUnknown(t.expr, locate(t.node)); err != nil {
		return -1, err
	}
	return i, nil
}

func (l *level) orderBy(list []*pg_query.Node) error {
	seen := map[int]bool{}
	for _, n := range list {
		sb := n.GetSortBy()
		i, err := l.findOrAdd(sb.Node, inOrderBy)
		if err != nil {
			return err
		}
		if err := l.checkSortable(l.targets[i].expr.ResultType().OID, sb.Node); err != nil {
			return err
		}
		item := sortItem{target: i, node: sb.Node}
		if item.desc, item.nullsFirst, err = l.direction(sb); err != nil {
			return err
		}
		if !seen[i] {
			seen[i] = true
			l.sort = append(l.sort, item)
		}
	}
	return nil
}

// groupKey is one GROUP BY expression.
type groupKey struct {
	expr scalar.Expr
	name string
}

func (l *level) groupBy(list []*pg_query.Node) ([]groupKey, error) {
	var keys []groupKey
	for _, n := range list {
		if gs := n.GetGroupingSet(); gs != nil && gs.Kind == pg_query.GroupingSetKind_GROUPING_SET_EMPTY {
			continue
		} else if gs != nil {
			return nil, l.unsupportedAt(gs.Location, "GROUPING SETS")
		}
		if row := n.GetRowExpr(); row != nil && row.RowFormat == pg_query.CoercionForm_COERCE_IMPLICIT_CAST {
			more, err := l.groupBy(row.Args)
			if err != nil {
				return nil, err
			}
			keys = append(keys, more...)
			continue
		}
		k, err := l.groupItem(n)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func (l *level) groupItem(n *pg_query.Node) (groupKey, error) {
	i, e, err := l.find(n, inGroupBy)
	if err != nil {
		return groupKey{}, err
	}
	name := l.columnName(n)
	if i >= 0 {
		t := &l.targets[i]
		if t.expr, err = l.resolveUnknown(t.expr, locate(t.node)); err != nil {
			return groupKey{}, err
		}
		e, name = t.expr, t.name
	} else if e, err = l.resolveUnknown(e, locate(n)); err != nil {
		return groupKey{}, err
	}
	if a := findAggregate(e); a != nil {
		return groupKey{}, l.errorAt(a.location, pgerr.GroupingError, "aggregate functions are not allowed in GROUP BY")
	}
	if err := l.checkGroupable(e.ResultType().OID, n); err != nil {
		return groupKey{}, err
	}
	return groupKey{e, name}, nil
}

func findAggregate(e scalar.Expr) *aggExpr {
	var found *aggExpr
	scalar.Walk(e, func(e scalar.Expr) bool {
		if a, ok := e.(*aggExpr); ok && found == nil {
			found = a
		}
		return found == nil
	})
	return found
}

// distinctSpec is SELECT DISTINCT or DISTINCT ON (targets).
type distinctSpec struct {
	on      bool
	targets []int
}

func (l *level) distinct(list []*pg_query.Node) (*distinctSpec, error) {
	if len(list) == 0 {
		return nil, nil
	}
	if len(list) == 1 && list[0].GetNode() == nil {
		return l.plainDistinct()
	}
	d := &distinctSpec{on: true}
	for _, n := range list {
		i, err := l.findOrAdd(n, inDistinctOn)
		if err != nil {
			return nil, err
		}
		if err := l.checkGroupable(l.targets[i].expr.ResultType().OID, n); err != nil {
			return nil, err
		}
		d.targets = append(d.targets, i)
	}
	return d, l.checkDistinctOn(d, list)
}

func (l *level) plainDistinct() (*distinctSpec, error) {
	for _, k := range l.sort {
		if l.targets[k.target].junk {
			return nil, l.errorAt(locate(k.node), pgerr.InvalidColumnReference, "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
		}
	}
	for i := range l.targets {
		t := &l.targets[i]
		var err error
		if t.expr, err = l.resolveUnknown(t.expr, locate(t.node)); err != nil {
			return nil, err
		}
		if err := l.checkGroupable(t.expr.ResultType().OID, t.node); err != nil {
			return nil, err
		}
	}
	return &distinctSpec{}, nil
}

// checkDistinctOn requires the ON expressions to lead ORDER BY.
func (l *level) checkDistinctOn(d *distinctSpec, list []*pg_query.Node) error {
	in := map[int]bool{}
	for _, t := range d.targets {
		in[t] = true
	}
	skipped := false
	matched := map[int]bool{}
	for _, k := range l.sort {
		if !in[k.target] {
			skipped = true
			continue
		}
		if skipped {
			for i, t := range d.targets {
				if t == k.target {
					return l.errorAt(locate(list[i]), pgerr.InvalidColumnReference, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
				}
			}
		}
		matched[k.target] = true
	}
	for i, t := range d.targets {
		if skipped && !matched[t] {
			return l.errorAt(locate(list[i]), pgerr.InvalidColumnReference, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
	}
	return nil
}
