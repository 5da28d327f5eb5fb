package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// sqlValue binds CURRENT_DATE and the other values with a syntax of their own
// to the functions that give them.
func (b *binder) sqlValue(n *pg_query.SQLValueFunction) (scalar.Expr, error) {
	switch n.Op {
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
		return b.nowAs(types.T(types.Date), n)
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME, pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:
		return b.nowAs(types.Type{OID: types.TimeTZ, Mod: n.Typmod}, n)
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N:
		return b.nowAs(types.Type{OID: types.TimestampTZ, Mod: n.Typmod}, n)
	case pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME, pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME_N:
		return b.nowAs(types.Type{OID: types.Time, Mod: n.Typmod}, n)
	case pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP, pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		return b.nowAs(types.Type{OID: types.Timestamp, Mod: n.Typmod}, n)
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_ROLE, pg_query.SQLValueFunctionOp_SVFOP_CURRENT_USER, pg_query.SQLValueFunctionOp_SVFOP_USER:
		return b.builtin("current_user", n.Location)
	case pg_query.SQLValueFunctionOp_SVFOP_SESSION_USER:
		return b.builtin("session_user", n.Location)
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:
		return b.builtin("current_database", n.Location)
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		return b.builtin("current_schema", n.Location)
	}
	return nil, b.unsupportedAt(n.Location, "this SQL value function")
}

// nowAs casts the transaction's time; the grammar leaves a precision in the modifier.
func (b *binder) nowAs(t types.Type, n *pg_query.SQLValueFunction) (scalar.Expr, error) {
	if n.Typmod < 0 || t.OID == types.Date {
		t.Mod = -1
	}
	e, err := b.builtin("now", n.Location)
	if err != nil {
		return nil, err
	}
	out, ok, err := b.convert(e, t, conversion{context: functions.CastExplicit, written: true, location: n.Location})
	if err == nil && !ok {
		err = b.cannotCast(types.TimestampTZ, t.OID, n.Location)
	}
	return out, err
}

// sqlValueName is the column name of a SQL value function.
func sqlValueName(op pg_query.SQLValueFunctionOp) string {
	switch op {
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
		return "current_date"
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME, pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:
		return "current_time"
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP, pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N:
		return "current_timestamp"
	case pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME, pg_query.SQLValueFunctionOp_SVFOP_LOCALTIME_N:
		return "localtime"
	case pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP, pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		return "localtimestamp"
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:
		return "current_role"
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_USER:
		return "current_user"
	case pg_query.SQLValueFunctionOp_SVFOP_USER:
		return "user"
	case pg_query.SQLValueFunctionOp_SVFOP_SESSION_USER:
		return "session_user"
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:
		return "current_catalog"
	case pg_query.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		return "current_schema"
	}
	return ""
}
