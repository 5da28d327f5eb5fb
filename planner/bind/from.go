package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// from binds a FROM clause: its items side by side, in order.
func (b *binder) from(list []*pg_query.Node, s *scope) (logical.Node, error) {
	if len(list) == 0 {
		return &logical.Values{Rows: [][]scalar.Expr{{}}}, nil
	}
	var all *part
	for _, n := range list {
		p, err := b.fromItem(n, s, all)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = p
			continue
		}
		if err := checkNames(all.items, p.items); err != nil {
			return nil, err
		}
		for _, it := range p.items {
			it.shift(all.width)
		}
		all = &part{node: &logical.Join{Kind: logical.Inner, Left: all.node, Right: p.node},
			width: all.width + p.width, items: append(all.items, p.items...)}
	}
	s.items = all.items
	return all.node, nil
}

// fromItem binds one item; before is what stands left of it.
func (b *binder) fromItem(n *pg_query.Node, s *scope, before *part) (*part, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	p, err := b.fromNode(n, s, before)
	if err != nil {
		return nil, err
	}
	if n.GetJoinExpr() == nil {
		s.all = append(s.all, p.top)
	}
	return p, nil
}

func (b *binder) fromNode(n *pg_query.Node, s *scope, before *part) (*part, error) {
	switch e := n.GetNode().(type) {
	case *pg_query.Node_RangeVar:
		return b.tablePart(e.RangeVar, s)
	case *pg_query.Node_RangeSubselect:
		return b.subqueryPart(e.RangeSubselect, s)
	case *pg_query.Node_RangeFunction:
		return b.functionPart(e.RangeFunction, s, before)
	case *pg_query.Node_JoinExpr:
		return b.joinPart(e.JoinExpr, s, before)
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

func (b *binder) subqueryPart(n *pg_query.RangeSubselect, s *scope) (*part, error) {
	sel := n.Subquery.GetSelectStmt()
	if sel == nil {
		return nil, unsupported("this kind of subquery")
	}
	if n.Lateral {
		return nil, b.unsupportedAt(selectLocation(sel), "LATERAL")
	}
	q, err := b.query(sel, s.inner(), queryContext{resolveUnknowns: true})
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

// functionPart binds a function in FROM.
func (b *binder) functionPart(n *pg_query.RangeFunction, s *scope, before *part) (*part, error) {
	if len(n.Functions) != 1 {
		return nil, unsupported("ROWS FROM with several functions")
	}
	pair := n.Functions[0].GetList().GetItems()
	fnode := pair[0]
	loc := locate(fnode)
	if len(n.Coldeflist) > 0 || len(pair) > 1 && len(pair[1].GetList().GetItems()) > 0 {
		return nil, b.unsupportedAt(loc, "a column definition list")
	}
	// Arguments may name columns of earlier items; that is LATERAL.
	look := &scope{parent: s.parent, run: s.run, ctes: s.ctes, all: s.all}
	if before != nil {
		look.items = before.items
	}
	c := exprCtx{scope: look, clause: inFunctionArg}
	it := &item{alias: n.Alias.GetAliasname()}
	node, err := b.functionNode(fnode, n, it, c)
	if err != nil {
		return nil, err
	}
	return b.itemPart(node, it, n.Alias)
}

func (b *binder) functionNode(fnode *pg_query.Node, n *pg_query.RangeFunction, it *item, c exprCtx) (logical.Node, error) {
	loc := locate(fnode)
	if fc := fnode.GetFuncCall(); fc != nil {
		name, found := functionName(fc)
		if found && functions.Functions(name) == nil && functions.SetReturningFunctions(name) != nil {
			return b.setReturningNode(fc, name, n, it, c)
		}
	}
	e, err := b.expr(fnode, c)
	if err != nil {
		return nil, err
	}
	if e, err = b.resolveUnknown(e, loc); err != nil {
		return nil, err
	}
	if err := b.notLateral(loc, e); err != nil {
		return nil, err
	}
	name := b.columnName(fnode)
	if it.alias == "" {
		it.alias = name
	}
	cols := []logical.Column{{Name: it.alias, Type: e.ResultType()}}
	row := []scalar.Expr{e}
	if n.Ordinality {
		cols = append(cols, logical.Column{Name: "ordinality", Type: types.T(types.Int8)})
		row = append(row, int8Const(1))
	}
	return &logical.Values{Cols: cols, Rows: [][]scalar.Expr{row}}, nil
}

func (b *binder) notLateral(location int32, list ...scalar.Expr) error {
	lateral := false
	for _, e := range list {
		scalar.Walk(e, func(e scalar.Expr) bool {
			_, ok := e.(*scalar.Column)
			lateral = lateral || ok
			return !lateral
		})
	}
	if lateral {
		return b.unsupportedAt(location, "LATERAL")
	}
	return nil
}

func (b *binder) setReturningNode(fc *pg_query.FuncCall, name string, n *pg_query.RangeFunction, it *item, c exprCtx) (logical.Node, error) {
	args, names, err := b.arguments(fc, c)
	if err != nil {
		return nil, err
	}
	if names != nil {
		return nil, b.unsupportedAt(fc.Location, "named arguments of a set-returning function")
	}
	fn, list, ts, err := b.resolveSetReturning(fc, name, args)
	if err != nil {
		return nil, err
	}
	if err := b.notLateral(fc.Location, list...); err != nil {
		return nil, err
	}
	if it.alias == "" {
		it.alias = name
	}
	out := &logical.Function{Fn: fn, Args: list, Alias: it.alias, Ordinality: n.Ordinality}
	for i, t := range ts {
		col := logical.Column{Name: fn.Columns[i], Type: t}
		// A function of one unnamed column calls it by the alias.
		if len(ts) == 1 && col.Name == name {
			col.Name = it.alias
		}
		out.Cols = append(out.Cols, col)
	}
	if n.Ordinality {
		out.Cols = append(out.Cols, logical.Column{Name: "ordinality", Type: types.T(types.Int8)})
	}
	return out, nil
}
