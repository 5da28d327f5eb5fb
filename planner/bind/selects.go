package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// query binds a SELECT, VALUES or set operation within s, which is its own.
func (b *binder) query(sel *pg_query.SelectStmt, s *scope, qc queryContext) (*query, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	if err := b.refuseClauses(sel); err != nil {
		return nil, err
	}
	if err := b.with(sel.WithClause, s); err != nil {
		return nil, err
	}
	bind := b.simpleSelect
	switch {
	case sel.Larg != nil:
		bind = b.setOperation
	case len(sel.ValuesLists) > 0:
		bind = b.valuesQuery
	}
	q, err := bind(sel, s, qc)
	if err != nil {
		return nil, err
	}
	q.node = s.withQueries(q.node)
	return q, nil
}

// withQueries puts the WITH queries of a level around its plan.
func (s *scope) withQueries(n logical.Node) logical.Node {
	if n == nil {
		return nil
	}
	for i := len(s.withs) - 1; i >= 0; i-- {
		w := *s.withs[i]
		w.Body = n
		n = &w
	}
	return n
}

func (b *binder) refuseClauses(sel *pg_query.SelectStmt) error {
	switch {
	case sel.IntoClause != nil:
		return b.errorAt(sel.IntoClause.GetRel().GetLocation(), pgerr.SyntaxError, "SELECT ... INTO is not allowed here")
	case sel.Rarg.GetIntoClause() != nil:
		return b.errorAt(sel.Rarg.IntoClause.GetRel().GetLocation(), pgerr.SyntaxError, "INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT")
	case len(sel.LockingClause) > 0:
		return b.unsupportedAt(selectLocation(sel), "%s", lockName(sel.LockingClause[0].GetLockingClause()))
	case len(sel.WindowClause) > 0:
		return b.unsupportedAt(sel.WindowClause[0].GetWindowDef().GetLocation(), "WINDOW")
	}
	return nil
}

func lockName(l *pg_query.LockingClause) string {
	switch l.GetStrength() {
	case pg_query.LockClauseStrength_LCS_FORKEYSHARE:
		return "FOR KEY SHARE"
	case pg_query.LockClauseStrength_LCS_FORSHARE:
		return "FOR SHARE"
	case pg_query.LockClauseStrength_LCS_FORNOKEYUPDATE:
		return "FOR NO KEY UPDATE"
	}
	return "FOR UPDATE"
}

// target is one item of the select list, or a junk column that only ORDER BY
// or DISTINCT ON reads.
type target struct {
	expr   scalar.Expr
	node   *pg_query.Node // as written
	name   string
	origin logical.Column // the base column it shows, if it is one
	junk   bool
}

// level is a query while its clauses are bound.
type level struct {
	*binder
	scope   *scope
	node    logical.Node // the row that expressions are over
	targets []target
	sort    []sortItem
	setOp   bool
	ties    bool // LIMIT passes rows equal to the last
}

// sortItem is an ORDER BY key: a target and its direction.
type sortItem struct {
	target           int
	desc, nullsFirst bool
	node             *pg_query.Node
}

func (b *binder) simpleSelect(sel *pg_query.SelectStmt, s *scope, qc queryContext) (*query, error) {
	from, err := b.from(sel.FromClause, s)
	if err != nil {
		return nil, err
	}
	l := &level{binder: b, scope: s, node: from}
	if err := l.targetList(sel.TargetList, inTarget); err != nil {
		return nil, err
	}
	where, err := l.condition(sel.WhereClause, inWhere)
	if err != nil {
		return nil, err
	}
	having, err := l.condition(sel.HavingClause, inHaving)
	if err != nil {
		return nil, err
	}
	if err := l.orderBy(sel.SortClause); err != nil {
		return nil, err
	}
	keys, err := l.groupBy(sel.GroupClause)
	if err != nil {
		return nil, err
	}
	distinct, err := l.distinct(sel.DistinctClause)
	if err != nil {
		return nil, err
	}
	limit, err := l.limit(sel)
	if err != nil {
		return nil, err
	}
	if qc.resolveUnknowns {
		if err := l.resolveTargets(); err != nil {
			return nil, err
		}
	}
	if where != nil {
		l.node = &logical.Filter{Input: l.node, Cond: where}
	}
	if len(s.aggs) > 0 {
		for _, it := range s.all {
			if it.work {
				return nil, l.errorAt(s.aggs[0].location, pgerr.InvalidRecursion, "aggregate functions are not allowed in a recursive query's recursive term")
			}
		}
	}
	l.expandKeys(keys)
	if len(s.aggs) > 0 || len(sel.GroupClause) > 0 || having != nil {
		if err := l.aggregate(keys, having); err != nil {
			return nil, err
		}
	}
	l.expandSets(s.srfs)
	l.project()
	return l.finish(distinct, limit), nil
}

// condition binds WHERE or HAVING.
func (l *level) condition(n *pg_query.Node, in clause) (scalar.Expr, error) {
	if n == nil {
		return nil, nil
	}
	e, err := l.expr(n, exprCtx{scope: l.scope, clause: in})
	if err != nil {
		return nil, err
	}
	return l.asBoolean(e, in.place(), n)
}

// targetList binds the select list, or that of RETURNING.
func (l *level) targetList(list []*pg_query.Node, in clause) error {
	for _, n := range list {
		rt := n.GetResTarget()
		if cr := rt.Val.GetColumnRef(); cr != nil && cr.Fields[len(cr.Fields)-1].GetAStar() != nil {
			if err := l.star(cr, rt.Val); err != nil {
				return err
			}
			continue
		}
		if ai := rt.Val.GetAIndirection(); ai != nil && ai.Indirection[len(ai.Indirection)-1].GetAStar() != nil {
			if err := l.expandFields(ai, rt.Val, in); err != nil {
				return err
			}
			continue
		}
		e, err := l.expr(rt.Val, exprCtx{scope: l.scope, clause: in})
		if err != nil {
			return err
		}
		name := rt.Name
		if name == "" {
			name = l.columnName(rt.Val)
		}
		l.addTarget(target{expr: e, node: rt.Val, name: name})
	}
	if len(l.targets) > maxTargetColumns {
		return pgerr.New(pgerr.TooManyColumns, "target lists can have at most %d entries", maxTargetColumns)
	}
	return nil
}

func (l *level) addTarget(t target) int {
	if c, ok := t.expr.(*scalar.Column); ok {
		t.origin = columnAt(l.node, c.Index)
	}
	l.targets = append(l.targets, t)
	return len(l.targets) - 1
}

// columnAt is Columns()[i] without building the whole list for each join.
func columnAt(n logical.Node, i int) logical.Column {
	for {
		j, ok := n.(*logical.Join)
		if !ok {
			break
		}
		w := width(j.Left)
		if i < w {
			n = j.Left
		} else {
			n, i = j.Right, i-w
		}
	}
	if s, ok := n.(*logical.Scan); ok && s.Cols[i] != logical.RowID {
		c := &s.Table.Columns[s.Cols[i]]
		return logical.Column{Name: c.Name, Type: c.Type, Table: s.Table.OID, AttNum: c.AttNum}
	}
	return n.Columns()[i]
}

func width(n logical.Node) int {
	switch n := n.(type) {
	case *logical.Scan:
		return len(n.Cols)
	case *logical.Join:
		return width(n.Left) + width(n.Right)
	}
	return len(n.Columns())
}

// star expands * and t.* of a select list.
func (l *level) star(cr *pg_query.ColumnRef, n *pg_query.Node) error {
	if len(cr.Fields) == 1 {
		any := false
		for _, it := range l.scope.items {
			if it.colsVisible {
				any = true
				l.expand(it, 0, cr.Location, n)
			}
		}
		if !any {
			return l.errorAt(cr.Location, pgerr.SyntaxError, "SELECT * with no tables specified is not valid")
		}
		return nil
	}
	names := cr.Fields[:len(cr.Fields)-1]
	rel, schema := lastName(names), ""
	if len(names) > 1 {
		schema = stringOf(names[len(names)-2])
	}
	if len(names) > 3 {
		return l.errorAt(cr.Location, pgerr.SyntaxError, "improper qualified name (too many dotted names): %s", dotted(cr.Fields))
	}
	it, up, err := l.findItem(l.scope, schema, rel, cr.Location)
	if err != nil {
		return err
	}
	if it == nil {
		return l.missingItem(l.scope, rel, cr.Location)
	}
	l.expand(it, up, cr.Location, n)
	return nil
}

func (l *level) expand(it *item, up int, location int32, n *pg_query.Node) {
	for i := range it.cols {
		c := &it.cols[i]
		e := lift(l.scope, l.useColumn(c, it, location), up, c.name)
		l.noteStar(n, it, c)
		l.addTarget(target{expr: e, node: n, name: c.name})
	}
}

// resolveTargets makes untyped result columns text.
func (l *level) resolveTargets() error {
	for i := range l.targets {
		t := &l.targets[i]
		e, err := l.resolveUnknown(t.expr, locate(t.node))
		if err != nil {
			return err
		}
		t.expr = e
	}
	return nil
}

// project computes the targets; from here on they are the row.
func (l *level) project() {
	p := &logical.Project{Input: l.node, Exprs: make([]scalar.Expr, len(l.targets)), Cols: make([]logical.Column, len(l.targets))}
	for i := range l.targets {
		t := &l.targets[i]
		p.Exprs[i] = t.expr
		p.Cols[i] = logical.Column{Name: t.name, Type: t.expr.ResultType(), Table: t.origin.Table, AttNum: t.origin.AttNum}
	}
	l.node = p
}

// targetColumn reads a projected target; it is named as EXPLAIN shows the key.
func (l *level) targetColumn(i int) *scalar.Column {
	e := l.targets[i].expr
	return &scalar.Column{Index: i, Typ: e.ResultType(), Name: shownName(e)}
}

// shownName is how EXPLAIN prints an expression that a lower operator computes.
func shownName(e scalar.Expr) string {
	if c, ok := e.(*scalar.Column); ok {
		return c.Name
	}
	return scalar.Format(e)
}

// finish adds DISTINCT, ORDER BY and LIMIT above the projected targets and
// drops the junk columns.
func (l *level) finish(d *distinctSpec, lim *logical.Limit) *query {
	if d != nil && !d.on {
		l.node = &logical.DistinctRows{Input: l.node}
	}
	if len(l.sort) > 0 {
		l.node = &logical.Sort{Input: l.node, Keys: l.sortKeys()}
	}
	if d != nil && d.on {
		n := &logical.DistinctRows{Input: l.node}
		for _, t := range d.targets {
			n.On = append(n.On, l.targetColumn(t))
		}
		l.node = n
	}
	if lim != nil {
		if l.ties {
			lim.Ties = l.sortKeys()
		}
		lim.Input = l.node
		l.node = lim
	}
	q := &query{node: l.node}
	visible := 0
	for i := range l.targets {
		if !l.targets[i].junk {
			visible++
			q.at = append(q.at, l.targets[i].node)
		}
	}
	if visible < len(l.targets) {
		l.dropJunk(q)
	}
	return q
}

// sortKeys are the keys of ORDER BY over the projected targets.
func (l *level) sortKeys() []logical.SortKey {
	var keys []logical.SortKey
	for _, k := range l.sort {
		keys = append(keys, logical.SortKey{Expr: l.targetColumn(k.target), Desc: k.desc, NullsFirst: k.nullsFirst})
	}
	return keys
}

func (l *level) dropJunk(q *query) {
	cols := q.node.Columns()
	p := &logical.Project{Input: q.node, Exprs: []scalar.Expr{}, Cols: []logical.Column{}}
	for i := range l.targets {
		if !l.targets[i].junk {
			p.Exprs = append(p.Exprs, l.targetColumn(i))
			p.Cols = append(p.Cols, cols[i])
		}
	}
	q.node = p
}

// limit binds LIMIT and OFFSET; nil if there is neither.
func (l *level) limit(sel *pg_query.SelectStmt) (*logical.Limit, error) {
	l.ties = sel.LimitOption == pg_query.LimitOption_LIMIT_OPTION_WITH_TIES
	out := &logical.Limit{}
	var err error
	if out.Offset, err = l.limitValue(sel.LimitOffset, inOffset); err != nil {
		return nil, err
	}
	if out.Count, err = l.limitValue(sel.LimitCount, inLimit); err != nil {
		return nil, err
	}
	if out.Offset == nil && out.Count == nil {
		return nil, nil
	}
	return out, nil
}

func (l *level) limitValue(n *pg_query.Node, in clause) (scalar.Expr, error) {
	if n == nil || isNullLiteral(n) {
		return nil, nil
	}
	e, err := l.expr(n, exprCtx{scope: l.scope, clause: in})
	if err != nil {
		return nil, err
	}
	if e, err = l.asType(e, types.Int8, in.place(), n); err != nil {
		return nil, err
	}
	if k, ok := l.foldCast(e); ok {
		return k, nil
	}
	var at *columnUse
	scalar.Walk(e, func(x scalar.Expr) bool {
		if c, ok := x.(*scalar.Column); ok && at == nil {
			u := l.columnAt[c]
			at = &u
		}
		return at == nil
	})
	if at != nil {
		return nil, l.errorAt(at.location, pgerr.InvalidColumnReference, "argument of %s must not contain variables", in.place())
	}
	return e, nil
}
