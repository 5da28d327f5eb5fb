package bind

import (
	"math"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/types"
)

func boolConst(x bool) *scalar.Const {
	v := vector.New(vector.Bool, 1)
	v.AppendBool(x)
	return &scalar.Const{Value: v, Typ: types.T(types.Bool)}
}

func int4Const(x int32) *scalar.Const {
	v := vector.New(vector.Int32, 1)
	v.AppendInt32(x)
	return &scalar.Const{Value: v, Typ: types.T(types.Int4)}
}

func int8Const(x int64) *scalar.Const {
	v := vector.New(vector.Int64, 1)
	v.AppendInt64(x)
	return &scalar.Const{Value: v, Typ: types.T(types.Int8)}
}

func textConst(oid types.OID, s string) *scalar.Const {
	v := vector.New(vector.Bytes, 1)
	v.AppendString(s)
	return &scalar.Const{Value: v, Typ: types.T(oid)}
}

func nullConst(t types.Type) *scalar.Const {
	v := vector.New(t.Kind(), 1)
	v.AppendNull()
	return &scalar.Const{Value: v, Typ: t}
}

// constant binds a literal: integers are int4, int8 or numeric by size, strings have no type yet.
func (b *binder) constant(n *pg_query.A_Const) (scalar.Expr, error) {
	if n.Isnull {
		return nullConst(types.T(types.Unknown)), nil
	}
	switch v := n.Val.(type) {
	case *pg_query.A_Const_Ival:
		return int4Const(v.Ival.GetIval()), nil
	case *pg_query.A_Const_Fval:
		return b.number(v.Fval.GetFval(), n.Location)
	case *pg_query.A_Const_Boolval:
		return boolConst(v.Boolval.GetBoolval()), nil
	case *pg_query.A_Const_Sval:
		return textConst(types.Unknown, v.Sval.GetSval()), nil
	case *pg_query.A_Const_Bsval:
		return nil, b.unsupportedAt(n.Location, "a bit string")
	}
	return nil, b.unsupportedAt(n.Location, "this kind of literal")
}

// number binds a numeric literal that is not an int4.
func (b *binder) number(text string, location int32) (scalar.Expr, error) {
	if i, ok := parseInteger(text); ok {
		if i == math.MinInt32 {
			return int4Const(math.MinInt32), nil
		}
		return int8Const(i), nil
	}
	v := vector.New(vector.Bytes, 1)
	t := types.T(types.Numeric)
	if err := types.ParseText(v, t, []byte(text), b.ctx()); err != nil {
		return nil, b.at(err, location)
	}
	return &scalar.Const{Value: v, Typ: t}, nil
}

// parseInteger reads a plain decimal integer that fits in int64.
func parseInteger(text string) (int64, bool) {
	if strings.ContainsAny(text, ".eExXoObB_") {
		return 0, false
	}
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil
}
