package bind

import (
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
)

// valuesQuery binds VALUES as a query: columns column1, column2, ..., each of
// the type that its rows share.
func (b *binder) valuesQuery(sel *pg_query.SelectStmt, s *scope, qc queryContext) (*query, error) {
	c := exprCtx{scope: s, clause: inValues}
	width := len(sel.ValuesLists[0].GetList().GetItems())
	rows := make([][]operand, len(sel.ValuesLists))
	for i, r := range sel.ValuesLists {
		items := r.GetList().GetItems()
		if len(items) != width {
			return nil, b.errorAt(locate(r), pgerr.SyntaxError, "VALUES lists must all be the same length")
		}
		var err error
		if rows[i], err = b.operands(items, c); err != nil {
			return nil, err
		}
	}
	out := &logical.Values{Rows: make([][]scalar.Expr, len(rows)), Cols: make([]logical.Column, width)}
	for i := range out.Rows {
		out.Rows[i] = make([]scalar.Expr, width)
	}
	column := make([]operand, len(rows))
	for j := 0; j < width; j++ {
		for i := range rows {
			column[i] = rows[i][j]
		}
		list, t, err := b.unify("VALUES", column)
		if err != nil {
			return nil, err
		}
		for i, e := range list {
			if k, ok := b.foldCast(e); ok {
				e = k
			}
			out.Rows[i][j] = e
		}
		out.Cols[j] = logical.Column{Name: "column" + strconv.Itoa(j+1), Type: t}
	}
	l := &level{binder: b, scope: s, node: out}
	return l.overColumns(sel, nil)
}
