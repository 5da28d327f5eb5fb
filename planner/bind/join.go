package bind

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// joinPart binds a JOIN. A right join is a left join of swapped inputs: the
// row is then right ++ left, while the visible order of columns stays.
func (b *binder) joinPart(n *pg_query.JoinExpr, at *place) (*part, error) {
	left, err := b.fromItem(n.Larg, at)
	if err != nil {
		return nil, err
	}
	place := at.right(n.Rarg, left)
	if place != at {
		place.run.around.barred = n.Jointype == pg_query.JoinType_JOIN_FULL || n.Jointype == pg_query.JoinType_JOIN_RIGHT
	}
	right, err := b.fromItem(n.Rarg, place)
	if err != nil {
		return nil, err
	}
	if err := checkNames(left.items, right.items); err != nil {
		return nil, err
	}
	join := &logical.Join{Kind: logical.Inner, Left: left.node, Right: right.node, Outer: at.outer(place)}
	join.Lateral = len(join.Outer) > 0
	shifted, by := right, left.width
	switch n.Jointype {
	case pg_query.JoinType_JOIN_FULL:
		join.Kind = logical.Full
	case pg_query.JoinType_JOIN_LEFT:
		join.Kind = logical.Left
	case pg_query.JoinType_JOIN_RIGHT:
		join.Kind, join.Left, join.Right = logical.Left, right.node, left.node
		shifted, by = left, right.width
	}
	for _, it := range withTop(shifted) {
		it.shift(by)
	}
	markNullable(n.Jointype, left, right)
	out := &part{node: join, width: left.width + right.width}
	out.top = &item{join: true, alias: n.Alias.GetAliasname()}
	merged, err := b.joinCondition(n, join, left, right, out.top, at)
	if err != nil {
		return nil, err
	}
	out.items = append(append([]*item{}, left.items...), right.items...)
	if n.JoinUsingAlias != nil {
		using := &item{join: true, alias: n.JoinUsingAlias.Aliasname, cols: append([]column(nil), out.top.cols[:merged]...), relVisible: true}
		if err := checkNames(out.items, []*item{using}); err != nil {
			return nil, err
		}
		out.items = append(out.items, using)
	}
	if n.Alias != nil {
		if err := renameColumns(out.top, n.Alias, "join expression"); err != nil {
			return nil, err
		}
		out.items = nil
	}
	for _, it := range out.items {
		it.colsVisible = false
	}
	out.top.relVisible, out.top.colsVisible = n.Alias != nil, true
	out.items = append(out.items, out.top)
	return out, nil
}

// markNullable notes which items an outer join may show without a row.
func markNullable(kind pg_query.JoinType, left, right *part) {
	if kind == pg_query.JoinType_JOIN_FULL || kind == pg_query.JoinType_JOIN_RIGHT {
		for _, it := range withTop(left) {
			it.nullable = true
		}
	}
	if kind == pg_query.JoinType_JOIN_FULL || kind == pg_query.JoinType_JOIN_LEFT {
		for _, it := range withTop(right) {
			it.nullable = true
		}
	}
}

// withTop lists a part's items, the one that stands for all of it included, each once.
func withTop(p *part) []*item {
	for _, it := range p.items {
		if it == p.top {
			return p.items
		}
	}
	return append(append([]*item{}, p.items...), p.top)
}

// joinCondition binds ON, USING or NATURAL and fills the columns of the join's
// item; it returns how many of them, the first, are of both sides.
func (b *binder) joinCondition(n *pg_query.JoinExpr, join *logical.Join, left, right *part, top *item, at *place) (int, error) {
	using := make([]string, 0, len(n.UsingClause))
	for _, u := range n.UsingClause {
		using = append(using, stringOf(u))
	}
	if n.IsNatural {
		using = commonNames(left.top, right.top)
	}
	usedLeft, usedRight := map[int]bool{}, map[int]bool{}
	var conds []scalar.Expr
	for _, name := range using {
		l, err := usingColumn(left.top, name, "left", usedLeft)
		if err != nil {
			return 0, err
		}
		r, err := usingColumn(right.top, name, "right", usedRight)
		if err != nil {
			return 0, err
		}
		merged, cond, err := b.merge(name, l, r, n.Jointype)
		if err != nil {
			return 0, err
		}
		conds = append(conds, cond)
		top.cols = append(top.cols, merged)
	}
	top.cols = appendUnused(top.cols, left.top.cols, usedLeft)
	top.cols = appendUnused(top.cols, right.top.cols, usedRight)
	switch {
	case len(conds) > 0:
		join.On = conjunction(conds)
	case n.Quals != nil:
		look := at.within()
		look.parent, look.all = at.level.parent, at.level.all
		look.items = append(append([]*item{}, left.items...), right.items...)
		e, err := b.expr(n.Quals, exprCtx{scope: look, clause: inJoin})
		if err != nil {
			return 0, err
		}
		if join.On, err = b.asBoolean(e, "JOIN/ON", n.Quals); err != nil {
			return 0, err
		}
	case join.Kind != logical.Inner:
		join.On = boolConst(true)
	}
	return len(conds), nil
}

func commonNames(l, r *item) []string {
	var out []string
	for _, c := range l.cols {
		for _, d := range r.cols {
			if c.name == d.name {
				out = append(out, c.name)
				break
			}
		}
	}
	return out
}

func usingColumn(it *item, name, side string, used map[int]bool) (*column, error) {
	var found *column
	for i := range it.cols {
		if it.cols[i].name != name {
			continue
		}
		if found != nil {
			return nil, pgerr.New(pgerr.AmbiguousColumn, "common column name \"%s\" appears more than once in %s table", name, side)
		}
		found = &it.cols[i]
		used[i] = true
	}
	if found == nil {
		return nil, pgerr.New(pgerr.UndefinedColumn, "column \"%s\" specified in USING clause does not exist in %s table", name, side)
	}
	return found, nil
}

// merge makes the one column that USING shows for both sides.
func (b *binder) merge(name string, l, r *column, kind pg_query.JoinType) (column, scalar.Expr, error) {
	lo, ro := operand{l.use(), nil}, operand{r.use(), nil}
	cond, err := b.apply("=", lo, ro, -1)
	if err != nil {
		return column{}, nil, err
	}
	t, err := b.commonType("JOIN/USING", []operand{lo, ro})
	if err != nil {
		return column{}, nil, err
	}
	if kind == pg_query.JoinType_JOIN_FULL {
		return b.mergeFull(name, lo, ro, types.T(t.OID), cond)
	}
	pick := l
	if kind == pg_query.JoinType_JOIN_RIGHT || kind == pg_query.JoinType_JOIN_INNER && l.typ.OID != t.OID && r.typ.OID == t.OID {
		pick = r
	}
	out := *pick
	out.name = name
	if pick.typ.OID != t.OID {
		e, ok, err := b.convert(pick.use(), types.T(t.OID), implicitly(-1))
		if err != nil {
			return out, nil, err
		}
		if !ok {
			return out, nil, b.cannotCast(pick.typ.OID, t.OID, -1)
		}
		out.expr, out.typ = e, e.ResultType()
	}
	return out, cond, nil
}

// mergeFull makes the column of a FULL join: the side that is there.
func (b *binder) mergeFull(name string, l, r operand, t types.Type, cond scalar.Expr) (column, scalar.Expr, error) {
	both := make([]scalar.Expr, 2)
	for i, o := range []operand{l, r} {
		e, ok, err := b.convert(o.expr, t, implicitly(-1))
		if err != nil {
			return column{}, nil, err
		}
		if !ok {
			return column{}, nil, b.cannotCast(o.expr.ResultType().OID, t.OID, -1)
		}
		both[i] = e
	}
	if l.expr.ResultType() == r.expr.ResultType() {
		t = l.expr.ResultType()
	}
	return column{name: name, typ: t, index: -1, expr: &scalar.Coalesce{Args: both, Typ: t}}, cond, nil
}

func appendUnused(dst, cols []column, used map[int]bool) []column {
	for i, c := range cols {
		if !used[i] {
			dst = append(dst, c)
		}
	}
	return dst
}
