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
	ops, nested, err := b.arrayOperands(n.Elements, want, c)
	if err != nil {
		return nil, err
	}
	if nested {
		return b.nestedArray(ops, want, n.Location)
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

// arrayOperands binds the elements of ARRAY[...]; nested: they are arrays.
func (b *binder) arrayOperands(list []*pg_query.Node, want types.Type, c exprCtx) (ops []operand, nested bool, err error) {
	ops = make([]operand, len(list))
	for i, n := range list {
		if inner := n.GetAArrayExpr(); inner != nil {
			if err = b.enter(); err != nil {
				return nil, false, err
			}
			ops[i].expr, err = b.arrayExpr(inner, want, c)
			b.leave()
			ops[i].node, nested = n, true
		} else {
			ops[i], err = b.operand(n, c)
		}
		if err != nil {
			return nil, false, err
		}
		nested = nested || types.ElemOf(ops[i].expr.ResultType().OID) != 0
	}
	return ops, nested, nil
}

// nestedArray makes an array of arrays, which have one type.
func (b *binder) nestedArray(ops []operand, want types.Type, location int32) (scalar.Expr, error) {
	array := want.OID
	if array == 0 {
		t, err := b.commonType("ARRAY", ops)
		if err != nil {
			return nil, err
		}
		array = t.OID
	}
	elem := types.ElemOf(array)
	if elem == 0 {
		return nil, b.errorAt(location, pgerr.UndefinedObject, "could not find element type for data type %s", typeText(array))
	}
	args := make([]scalar.Expr, len(ops))
	for i, o := range ops {
		var err error
		if want.OID == 0 {
			args[i], err = b.toCommon("ARRAY", o, types.T(array))
		} else {
			args[i], err = b.explicitElement(o, array)
		}
		if err != nil {
			return nil, err
		}
	}
	return &scalar.Call{Fn: nestOf(elem), Args: args, Typ: types.T(array)}, nil
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

// indirection binds subscripts, slices and fields: a[i], a[i:j], (r).f.
func (b *binder) indirection(n *pg_query.A_Indirection, c exprCtx) (scalar.Expr, error) {
	rest := n.Indirection
	var e scalar.Expr
	var err error
	if it, name := b.itemOf(n.Arg, c.scope); it != nil && len(rest) > 0 && rest[0].GetString_() != nil {
		e, err = b.qualifiedColumn(c.scope, "", name, stringOf(rest[0]), locate(n.Arg))
		rest = rest[1:]
	} else {
		e, err = b.expr(n.Arg, c)
	}
	for err == nil && len(rest) > 0 {
		k := 0
		for k < len(rest) && rest[k].GetAIndices() != nil {
			k++
		}
		switch {
		case k > 0:
			e, err = b.subscripts(e, rest[:k], locate(n.Arg), c)
		case rest[0].GetAStar() != nil:
			return nil, b.errorAt(locate(n.Arg), pgerr.SyntaxError, "row expansion via \"*\" is not supported here")
		default:
			e, err = b.fieldSelection(e, stringOf(rest[0]), locate(n.Arg))
			k = 1
		}
		rest = rest[k:]
	}
	return e, err
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
