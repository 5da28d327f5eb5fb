package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
)

// place is where a FROM item stands: the level it belongs to, and the slot
// space in which it is bound. That is the level's own unless the item is, or
// holds, one that may be LATERAL: then it is the right side of a join that
// gives it the columns to its left.
type place struct {
	level *scope
	run   *run // nil: the statement's own rows
	depth int  // LATERAL joins around the item, up to the level
}

// within makes the scope of a query in FROM that does not see the items before it.
func (p *place) within() *scope {
	return &scope{parent: p.level, run: p.run, skip: p.level.skip + p.depth, ctes: p.level.ctes}
}

// lateral makes the scope of a query or function in FROM that sees the items before it.
func (p *place) lateral() *scope {
	if p.depth == 0 {
		return p.within()
	}
	return &scope{parent: p.level, run: p.run, ctes: p.level.ctes}
}

// right makes the place of an item that is joined to the right of left: one
// that may be LATERAL gets a slot space of its own.
func (p *place) right(n *pg_query.Node, left *part) *place {
	if !mayBeLateral(n) {
		return p
	}
	look := &scope{parent: p.level.parent, run: p.run, ctes: p.level.ctes, items: left.items, all: p.level.all}
	if p.depth == 0 {
		look.skip = p.level.skip
	}
	return &place{level: p.level, run: &run{around: look}, depth: p.depth + 1}
}

// outer returns the values that the item in place q reads of the left row, q
// being made by p.right; nil: it reads none.
func (p *place) outer(q *place) []scalar.Expr {
	if p == q {
		return nil
	}
	return q.run.outer
}

// mayBeLateral reports whether a FROM item is or holds a function or a LATERAL query.
func mayBeLateral(n *pg_query.Node) bool {
	switch e := n.GetNode().(type) {
	case *pg_query.Node_RangeSubselect:
		return e.RangeSubselect.Lateral
	case *pg_query.Node_RangeFunction:
		return true
	case *pg_query.Node_JoinExpr:
		return mayBeLateral(e.JoinExpr.Larg) || mayBeLateral(e.JoinExpr.Rarg)
	}
	return false
}

// from binds a FROM clause: its items side by side, in order.
func (b *binder) from(list []*pg_query.Node, s *scope) (logical.Node, error) {
	if len(list) == 0 {
		return &logical.Values{Rows: [][]scalar.Expr{{}}}, nil
	}
	var all *part
	for _, n := range list {
		var err error
		if all, err = b.beside(all, n, s); err != nil {
			return nil, err
		}
	}
	s.items = all.items
	return all.node, nil
}

// beside joins one more item to the items before it; nil: there are none.
func (b *binder) beside(all *part, n *pg_query.Node, s *scope) (*part, error) {
	own := &place{level: s, run: s.run}
	if all == nil {
		return b.fromItem(n, own)
	}
	at := own.right(n, all)
	p, err := b.fromItem(n, at)
	if err != nil {
		return nil, err
	}
	if err := checkNames(all.items, p.items); err != nil {
		return nil, err
	}
	for _, it := range withTop(p) {
		it.shift(all.width)
	}
	join := &logical.Join{Kind: logical.Inner, Left: all.node, Right: p.node, Outer: own.outer(at)}
	join.Lateral = len(join.Outer) > 0
	return &part{node: join, width: all.width + p.width, items: append(all.items, p.items...)}, nil
}

// fromItem binds one item.
func (b *binder) fromItem(n *pg_query.Node, at *place) (*part, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	p, err := b.fromNode(n, at)
	if err != nil {
		return nil, err
	}
	if n.GetJoinExpr() == nil {
		at.level.all = append(at.level.all, p.top)
	}
	return p, nil
}

func (b *binder) fromNode(n *pg_query.Node, at *place) (*part, error) {
	switch e := n.GetNode().(type) {
	case *pg_query.Node_RangeVar:
		return b.tablePart(e.RangeVar, at.within())
	case *pg_query.Node_RangeSubselect:
		return b.subqueryPart(e.RangeSubselect, at)
	case *pg_query.Node_RangeFunction:
		return b.functionPart(e.RangeFunction, at)
	case *pg_query.Node_JoinExpr:
		return b.joinPart(e.JoinExpr, at)
	case *pg_query.Node_RangeTableSample:
		return nil, b.unsupportedAt(e.RangeTableSample.Location, "TABLESAMPLE")
	case *pg_query.Node_RangeTableFunc:
		return nil, b.unsupportedAt(e.RangeTableFunc.Location, "XMLTABLE")
	case *pg_query.Node_JsonTable:
		return nil, b.unsupportedAt(e.JsonTable.Location, "JSON_TABLE")
	}
	return nil, unsupported("this kind of FROM item")
}

// checkNames refuses a second item of the same name.
func checkNames(left, right []*item) error {
	for _, l := range left {
		for _, r := range right {
			if l.relVisible && r.relVisible && l.alias == r.alias && (l.schema == r.schema || l.schema == "" || r.schema == "") {
				return pgerr.New(pgerr.DuplicateAlias, "table name \"%s\" specified more than once", r.alias)
			}
		}
	}
	return nil
}

func (b *binder) subqueryPart(n *pg_query.RangeSubselect, at *place) (*part, error) {
	sel := n.Subquery.GetSelectStmt()
	if sel == nil {
		return nil, unsupported("this kind of subquery")
	}
	s := at.within()
	if n.Lateral {
		s = at.lateral()
	}
	q, err := b.query(sel, s, queryContext{resolveUnknowns: true})
	if err != nil {
		return nil, err
	}
	return b.itemPart(q.node, &item{alias: n.Alias.GetAliasname()}, n.Alias)
}

// selectLocation finds a place to point at in a query.
func selectLocation(sel *pg_query.SelectStmt) int32 {
	for sel.Larg != nil {
		sel = sel.Larg
	}
	if len(sel.TargetList) > 0 {
		return locate(sel.TargetList[0])
	}
	if len(sel.ValuesLists) > 0 {
		return locate(sel.ValuesLists[0])
	}
	return -1
}
