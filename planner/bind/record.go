package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// rowValue binds ROW(...) or (a, b) as a value of type record.
func (b *binder) rowValue(n *pg_query.RowExpr, c exprCtx) (scalar.Expr, error) {
	out := &scalar.Call{Fn: functions.Row, Typ: types.T(types.Record)}
	for _, a := range n.Args {
		e, err := b.expr(a, c)
		if err != nil {
			return nil, err
		}
		if e, err = b.resolveUnknown(e, locate(a)); err != nil {
			return nil, err
		}
		out.Args = append(out.Args, e)
	}
	return out, nil
}
