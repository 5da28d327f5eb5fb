package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// arrayExpr binds ARRAY[...]; want is the array type it is cast to, if it is.
func (b *binder) arrayExpr(n *pg_query.A_ArrayExpr, want types.Type, c exprCtx) (scalar.Expr, error) {
	if len(n.Elements) == 0 {
		if want.OID == 0 {
			return nil, b.errorAt(n.Location, pgerr.IndeterminateDatatype, "cannot determine type of empty array").
				WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
		}
		return b.readLiteral(textConst(types.Unknown, "{}"), types.T(want.OID), implicitly(n.Location))
	}
	ops, err := b.operands(n.Elements, c)
	if err != nil {
		return nil, err
	}
	for _, o := range ops {
		if types.ElemOf(o.expr.ResultType().OID) != 0 {
			return nil, b.unsupportedAt(n.Location, "ARRAY of arrays")
		}
	}
	elem, err := b.elementType(ops, want)
	if err != nil {
		return nil, err
	}
	array := types.ArrayOf(elem)
	if array == 0 {
		return nil, b.errorAt(n.Location, pgerr.UndefinedObject, "could not find array type for data type %s", typeText(elem))
	}
	args := make([]scalar.Expr, len(ops))
	for i, o := range ops {
		if want.OID == 0 {
			args[i], err = b.toCommon("ARRAY", o, types.T(elem))
		} else {
			args[i], err = b.explicitElement(o, elem)
		}
		if err != nil {
			return nil, err
		}
	}
	return b.makeArray(args, elem, array)
}

func (b *binder) elementType(ops []operand, want types.Type) (types.OID, error) {
	if want.OID != 0 {
		return types.ElemOf(want.OID), nil
	}
	t, err := b.commonType("ARRAY", ops)
	return t.OID, err
}

func (b *binder) explicitElement(o operand, elem types.OID) (scalar.Expr, error) {
	loc := locate(o.node)
	e, ok, err := b.convert(o.expr, types.T(elem), conversion{context: functions.CastExplicit, written: true, location: loc})
	if err == nil && !ok {
		err = b.cannotCast(o.expr.ResultType().OID, elem, loc)
	}
	return e, err
}

// makeArray builds the array of elements of one type: a constant if they are.
func (b *binder) makeArray(args []scalar.Expr, elem, array types.OID) (scalar.Expr, error) {
	if k, ok := b.constantArray(args, elem, array); ok {
		return k, nil
	}
	return &scalar.Call{Fn: arrayOf(elem), Args: args, Typ: types.T(array)}, nil
}

// indirection binds subscripts: a[i]. Fields and slices are out of scope.
func (b *binder) indirection(n *pg_query.A_Indirection, c exprCtx) (scalar.Expr, error) {
	e, err := b.expr(n.Arg, c)
	if err != nil {
		return nil, err
	}
	loc := locate(n.Arg)
	if len(n.Indirection) > 1 {
		return nil, b.unsupportedAt(loc, "more than one subscript or field")
	}
	ix := n.Indirection[0].GetAIndices()
	switch {
	case ix == nil && n.Indirection[0].GetAStar() != nil:
		return nil, b.unsupportedAt(loc, "expansion of a composite value")
	case ix == nil:
		return nil, b.errorAt(loc, pgerr.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type",
			stringOf(n.Indirection[0]), typeText(e.ResultType().OID))
	case ix.IsSlice:
		return nil, b.unsupportedAt(loc, "an array slice")
	}
	t := e.ResultType().OID
	elem := types.ElemOf(t)
	if elem == 0 {
		if t == types.JSONB {
			return nil, b.unsupportedAt(loc, "a jsonb subscript")
		}
		return nil, b.errorAt(loc, pgerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", typeText(t))
	}
	i, err := b.expr(ix.Uidx, c)
	if err != nil {
		return nil, err
	}
	at := locate(ix.Uidx)
	index, ok, err := b.convert(i, types.T(types.Int4), conversion{context: functions.CastAssignment, location: at})
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, b.errorAt(at, pgerr.DatatypeMismatch, "array subscript must have type integer")
	}
	return &scalar.Call{Fn: elementOf(elem), Args: []scalar.Expr{e, index}, Typ: types.T(elem)}, nil
}

// constantArray computes an array whose elements are constants, casts included.
func (b *binder) constantArray(args []scalar.Expr, elem, array types.OID) (scalar.Expr, bool) {
	list := vector.New(types.T(elem).Kind(), len(args))
	for _, a := range args {
		k, ok := b.foldCast(a)
		if !ok {
			return nil, false
		}
		list.AppendFrom(k.Value, 0)
	}
	v := vector.New(vector.Bytes, 1)
	v.AppendBytes(functions.AppendArray(nil, elem, list, 0, list.N))
	return &scalar.Const{Value: v, Typ: types.T(array)}, true
}
