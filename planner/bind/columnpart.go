package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// columnPart is what an assignment changes of an array: an element or a slice.
type columnPart struct {
	fn   *functions.Overload
	subs []scalar.Expr
	typ  types.Type // of what is assigned
	of   types.Type // of the column
}

// partOf binds the subscripts of an assignment to column i; nil: it has none.
func (in *inserter) partOf(rt *pg_query.ResTarget, i int, c exprCtx) (*columnPart, error) {
	if len(rt.Indirection) == 0 || i < 0 {
		return nil, nil
	}
	col := &in.table.Columns[i]
	t := col.Type.OID
	k := 0
	for k < len(rt.Indirection) && rt.Indirection[k].GetAIndices() != nil {
		k++
	}
	if k < len(rt.Indirection) {
		if k > 0 && types.ElemOf(t) != 0 {
			t = types.ElemOf(t)
		}
		return nil, in.errorAt(rt.Location, pgerr.DatatypeMismatch, "cannot assign to field \"%s\" of column \"%s\" because its type %s is not a composite type",
			stringOf(rt.Indirection[k]), col.Name, typeText(t))
	}
	if types.ElemOf(t) == 0 {
		return nil, in.errorAt(rt.Location, pgerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", typeText(t))
	}
	s, subs, err := in.shapeOf(t, rt.Indirection, rt.Location, c)
	if err != nil {
		return nil, err
	}
	s.assign = true
	out := &columnPart{fn: subscriptCall(s, t, t), subs: subs, typ: types.Type{OID: s.elem, Mod: col.Type.Mod}, of: col.Type}
	if s.slice {
		out.typ = col.Type
	}
	return out, nil
}

// put makes the array old with the value in the part's place.
func (p *columnPart) put(old, value scalar.Expr) scalar.Expr {
	return &scalar.Call{Fn: p.fn, Args: append([]scalar.Expr{old, value}, p.subs...), Typ: p.of}
}

// part returns the part that the source's column j fills, nil for a whole column.
func (in *inserter) part(j int) *columnPart {
	if j < len(in.parts) {
		return in.parts[j]
	}
	return nil
}

// assignedValue casts an expression to a part of column i, or to the column
// where part is nil. The assignment stands at location.
func (in *inserter) assignedValue(part *columnPart, e scalar.Expr, n *pg_query.Node, i int, location int32) (scalar.Expr, error) {
	if part == nil {
		return in.value(e, n, i)
	}
	if e == nil {
		return nil, in.errorAt(location, pgerr.FeatureNotSupported, "cannot set an array element to DEFAULT")
	}
	out, ok, err := in.convert(e, part.typ, assignment(locate(n)))
	if err == nil && !ok {
		err = in.partMismatch(part, i, e.ResultType(), location)
	}
	return out, err
}

func (in *inserter) partMismatch(part *columnPart, i int, have types.Type, location int32) error {
	return in.errorAt(location, pgerr.DatatypeMismatch, "subscripted assignment to \"%s\" requires type %s but expression is of type %s",
		in.table.Columns[i].Name, typeText(part.typ.OID), typeText(have.OID)).
		WithHint("You will need to rewrite or cast the expression.")
}
