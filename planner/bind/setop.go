package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// setOperation binds UNION, INTERSECT and EXCEPT.
func (b *binder) setOperation(sel *pg_query.SelectStmt, s *scope, qc queryContext) (*query, error) {
	left, err := b.query(sel.Larg, s.inner(), queryContext{})
	if err != nil {
		return nil, err
	}
	right, err := b.query(sel.Rarg, s.inner(), queryContext{})
	if err != nil {
		return nil, err
	}
	op := &logical.SetOp{All: sel.All}
	name := "UNION"
	switch sel.Op {
	case pg_query.SetOperation_SETOP_UNION:
		op.Kind = logical.Union
	case pg_query.SetOperation_SETOP_INTERSECT:
		op.Kind, name = logical.Intersect, "INTERSECT"
	default:
		op.Kind, name = logical.Except, "EXCEPT"
	}
	if err := b.matchColumns(op, name, left, right); err != nil {
		return nil, err
	}
	l := &level{binder: b, scope: s, node: op, setOp: true}
	return l.overColumns(sel, left.at)
}

// matchColumns casts both sides to common types.
func (b *binder) matchColumns(op *logical.SetOp, name string, left, right *query) error {
	lc, rc := left.node.Columns(), right.node.Columns()
	if len(lc) != len(rc) {
		loc := int32(-1)
		if len(right.at) > 0 {
			loc = locate(right.at[0])
		}
		return b.errorAt(loc, pgerr.SyntaxError, "each %s query must have the same number of columns", name)
	}
	want := make([]types.Type, len(lc))
	for i := range lc {
		t, err := b.commonType(name, []operand{columnOperand(i, lc[i], left), columnOperand(i, rc[i], right)})
		if err != nil {
			return err
		}
		if !op.All || op.Kind != logical.Union {
			if !b.sortable(t.OID) {
				return b.errorAt(locate(at(left, i)), pgerr.UndefinedFunction, "could not identify an equality operator for type %s", typeText(t.OID))
			}
		}
		want[i] = t
	}
	for _, q := range []*query{left, right} {
		how := func(i int) conversion { return implicitly(locate(at(q, i))) }
		cols := q.node.Columns()
		fail := func(i int, have types.Type) error {
			return b.errorAt(how(i).location, pgerr.CannotCoerce, "%s could not convert type %s to %s", name, typeText(cols[i].Type.OID), typeText(want[i].OID))
		}
		if err := b.convertColumns(q, want, how, fail); err != nil {
			return err
		}
	}
	op.Left, op.Right = left.node, right.node
	for i, c := range left.node.Columns() {
		op.Cols = append(op.Cols, logical.Column{Name: c.Name, Type: want[i]})
	}
	return nil
}

func at(q *query, i int) *pg_query.Node {
	if i < len(q.at) {
		return q.at[i]
	}
	return nil
}

func columnOperand(i int, c logical.Column, q *query) operand {
	return operand{&scalar.Column{Index: i, Typ: c.Type, Name: c.Name}, at(q, i)}
}

// overColumns binds ORDER BY and LIMIT of a query whose result is l.node's row as it is.
func (l *level) overColumns(sel *pg_query.SelectStmt, nodes []*pg_query.Node) (*query, error) {
	cols := l.node.Columns()
	it := &item{alias: "*SELECT*", colsVisible: true}
	for i, c := range cols {
		it.cols = append(it.cols, column{name: c.Name, typ: c.Type, index: i})
		var n *pg_query.Node
		if i < len(nodes) {
			n = nodes[i]
		}
		l.targets = append(l.targets, target{expr: it.cols[i].use(), node: n, name: c.Name})
	}
	outer := l.scope.items
	l.scope.items = []*item{it}
	err := l.orderBy(sel.SortClause)
	l.scope.items = outer
	if err != nil {
		return nil, err
	}
	limit, err := l.limit(sel)
	if err != nil {
		return nil, err
	}
	if len(l.scope.aggs) > 0 {
		return nil, l.unsupportedAt(l.scope.aggs[0].location, "an aggregate in ORDER BY of VALUES")
	}
	plain := l.node
	for i := range l.targets {
		if l.targets[i].junk {
			l.project()
			break
		}
	}
	q := l.finish(nil, limit)
	if q.node == plain {
		q.at = nodes
	}
	return q, nil
}
