package keyrange

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// domains holds what is known of columns, by index in the table; a column that
// is not there can have any value.
type domains map[int]domain

// deriver reads conditions of one scan.
type deriver struct {
	table *catalog.Table
	cols  []int // columns of the scan: indexes into the table's
	ctx   *functions.Ctx
}

// ranged reports whether values of a type order in keys and zone maps as
// comparisons order them.
func ranged(oid types.OID) bool {
	switch oid {
	case types.Bool, types.Int2, types.Int4, types.Int8, types.Oid, types.Float4, types.Float8, types.Numeric,
		types.Text, types.Varchar, types.Bytea, types.Date, types.Time, types.Timestamp,
		types.TimestampTZ, types.Interval, types.UUID:
		return true
	}
	return false
}

// all derives the domains of rows that pass all conditions.
func (d *deriver) all(conds []scalar.Expr) domains {
	out := domains{}
	for _, c := range conds {
		for col, dom := range d.cond(c) {
			if old, ok := out[col]; ok {
				dom = old.intersect(dom)
			}
			out[col] = dom
		}
	}
	return out
}

// cond derives the domains of rows that pass one condition; nil: no knowledge.
func (d *deriver) cond(e scalar.Expr) domains {
	switch e := e.(type) {
	case *scalar.Logic:
		if !e.Or {
			return d.all(e.Args)
		}
		return d.any(e.Args)
	case *scalar.Call:
		return d.call(e)
	case *scalar.InList:
		return d.inList(e)
	case *scalar.ArrayCompare:
		return d.arrayCompare(e)
	case *scalar.Distinct:
		if e.Negate {
			return d.comparison("=", e.Left, e.Right)
		}
	case *scalar.Column:
		return d.boolean(e, true)
	case *scalar.Not:
		if c, ok := e.Arg.(*scalar.Column); ok {
			return d.boolean(c, false)
		}
	case *scalar.BoolTest:
		if c, ok := e.Arg.(*scalar.Column); ok && !e.Negate && e.Value != scalar.TestUnknown {
			return d.boolean(c, e.Value == scalar.TestTrue)
		}
	}
	return nil
}

// any derives the domains of rows that pass at least one condition: of the
// columns that every one of them constrains.
func (d *deriver) any(conds []scalar.Expr) domains {
	var out domains
	parts := map[int][]interval{}
	for i, c := range conds {
		got := d.cond(c)
		if i == 0 {
			out = domains{}
			for col, dom := range got {
				out[col] = dom
				parts[col] = append(parts[col], dom.ivs...)
			}
		} else {
			for col := range out {
				dom, ok := got[col]
				if !ok {
					delete(out, col)
					continue
				}
				parts[col] = append(parts[col], dom.ivs...)
			}
		}
		if len(out) == 0 {
			return nil
		}
	}
	for col, dom := range out {
		out[col] = domain{dom.typ, parts[col]}.normal()
	}
	return out
}

func (d *deriver) one(col int, ivs ...interval) domains {
	t := d.table.Columns[col].Type
	return domains{col: domain{t, ivs}.normal()}
}

// column returns the table's column that e is; ok is false for anything else
// and for columns whose order is not their type's.
func (d *deriver) column(e scalar.Expr) (int, bool) {
	c, ok := e.(*scalar.Column)
	if !ok || c.Index >= len(d.cols) {
		return 0, false
	}
	col := d.cols[c.Index]
	return col, ranged(d.table.Columns[col].Type.OID)
}

func (d *deriver) boolean(c *scalar.Column, value bool) domains {
	col, ok := d.column(c)
	if !ok || c.Typ.OID != types.Bool {
		return nil
	}
	v := vector.New(vector.Bool, 1)
	v.AppendBool(value)
	return d.one(col, interval{lo: v, hi: v})
}

var flipped = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func (d *deriver) call(e *scalar.Call) domains {
	if len(e.Args) != 2 {
		return nil
	}
	if !e.Fn.Operator {
		switch e.Fn.Name {
		case "starts_with":
			return d.prefix(e.Args[0], e.Args[1], false)
		case "like":
			return d.prefix(e.Args[0], e.Args[1], true)
		}
		return nil
	}
	switch e.Fn.Name {
	case "~~":
		return d.prefix(e.Args[0], e.Args[1], true)
	case "^@":
		return d.prefix(e.Args[0], e.Args[1], false)
	}
	if out := d.comparison(e.Fn.Name, e.Args[0], e.Args[1]); out != nil {
		return out
	}
	if op, ok := flipped[e.Fn.Name]; ok {
		return d.comparison(op, e.Args[1], e.Args[0])
	}
	return nil
}

// comparison derives from `left op constant`.
func (d *deriver) comparison(op string, left, right scalar.Expr) domains {
	k, ok := right.(*scalar.Const)
	if !ok {
		return nil
	}
	if _, known := flipped[op]; !known {
		return nil
	}
	if cast, ok := left.(*scalar.Cast); ok {
		return d.castComparison(op, cast, k)
	}
	col, ok := d.column(left)
	if !ok {
		return d.truncated(op, left, k)
	}
	if k.Value.IsNull(0) {
		return d.one(col)
	}
	iv, ok := d.bounds(op, d.table.Columns[col].Type, k)
	if !ok {
		return nil
	}
	return d.one(col, iv...)
}

// bounds returns the values of type t for which `value op k` is true.
func (d *deriver) bounds(op string, t types.Type, k *scalar.Const) ([]interval, bool) {
	if sameStorage(t.OID, k.Typ.OID) {
		return intervals(op, k.Value), true
	}
	if isInteger(t.OID) && isInteger(k.Typ.OID) {
		return integerBounds(op, t, integer(k.Value)), true
	}
	if t.OID == types.Date && k.Typ.OID == types.Timestamp {
		return dateBounds(op, k.Value.I64[0])
	}
	if v, ok := d.widened(t, k); ok {
		return intervals(op, v), true
	}
	if k.Typ.OID == types.TimestampTZ && (t.OID == types.Timestamp || t.OID == types.Date) {
		return d.aroundZone(op, t, k, types.Timestamp)
	}
	return nil, false
}

// sameStorage reports whether values of both types are stored alike and compare alike.
func sameStorage(a, b types.OID) bool {
	text := func(o types.OID) bool { return o == types.Text || o == types.Varchar }
	return a == b || text(a) && text(b)
}

// widened converts a constant to the type of a column where the comparison of
// the two types is defined by that conversion.
func (d *deriver) widened(t types.Type, k *scalar.Const) (*vector.Vector, bool) {
	switch {
	case k.Typ.OID == types.Date && (t.OID == types.Timestamp || t.OID == types.TimestampTZ):
	case k.Typ.OID == types.Timestamp && t.OID == types.TimestampTZ:
	case k.Typ.OID == types.Float4 && t.OID == types.Float8:
	default:
		return nil, false
	}
	return d.converted(k.Value, k.Typ.OID, t.OID)
}

// converted applies the registry's cast to a one-row vector.
func (d *deriver) converted(v *vector.Vector, from, to types.OID) (*vector.Vector, bool) {
	cast, ok := functions.FindCast(from, to, functions.CastExplicit)
	if !ok {
		return nil, false
	}
	if cast.Make == nil {
		return v, true
	}
	kind := types.T(to).Kind()
	out := vector.New(kind, 1)
	if kind != vector.Bytes {
		out.Resize(1)
	}
	if err := cast.Make(-1, true)(d.ctx, out, []*vector.Vector{v}, 1); err != nil || out.N != 1 || out.IsNull(0) {
		return nil, false
	}
	return out, true
}

// intervals returns the values for which `value op v` is true.
func intervals(op string, v *vector.Vector) []interval {
	switch op {
	case "=":
		return []interval{{lo: v, hi: v}}
	case "<":
		return []interval{{hi: v, hiOpen: true}}
	case "<=":
		return []interval{{hi: v}}
	case ">":
		return []interval{{lo: v, loOpen: true}}
	}
	return []interval{{lo: v}}
}

// inList derives from `x IN (constants)`.
func (d *deriver) inList(e *scalar.InList) domains {
	if e.Negate {
		return nil
	}
	arg := e.Arg
	elem := e.Arg.ResultType()
	if cast, ok := arg.(*scalar.Cast); ok && isInteger(cast.Typ.OID) {
		arg = cast.Arg
	}
	col, ok := d.column(arg)
	if !ok {
		return nil
	}
	return d.list(col, elem, e.List)
}

// list derives from a column that equals one of the values.
func (d *deriver) list(col int, elem types.Type, list *vector.Vector) domains {
	t := d.table.Columns[col].Type
	var ivs []interval
	for i := range list.N {
		if list.IsNull(i) {
			continue
		}
		v := vector.New(list.Kind, 1)
		v.AppendFrom(list, i)
		iv, ok := d.bounds("=", t, &scalar.Const{Value: v, Typ: elem})
		if !ok {
			return nil
		}
		ivs = append(ivs, iv...)
	}
	return d.one(col, ivs...)
}

// arrayCompare derives from `column = ANY (array)`.
func (d *deriver) arrayCompare(e *scalar.ArrayCompare) domains {
	k, ok := e.Array.(*scalar.Const)
	col, isColumn := d.column(e.Left)
	if !ok || !isColumn || e.All || e.Op == nil || e.Op.Name != "=" {
		return nil
	}
	if k.Value.IsNull(0) {
		return d.one(col)
	}
	elem := types.T(types.ElemOf(k.Typ.OID))
	list := vector.New(elem.Kind(), 0)
	if err := functions.ArrayElements(list, k.Value.Bytes(0)); err != nil {
		return nil
	}
	return d.list(col, elem, list)
}

// prefix derives from LIKE and starts_with.
func (d *deriver) prefix(left, right scalar.Expr, pattern bool) domains {
	k, ok := right.(*scalar.Const)
	col, isColumn := d.column(left)
	if cast, isCast := left.(*scalar.Cast); isCast && cast.Kernel == nil {
		col, isColumn = d.column(cast.Arg)
	}
	if !ok || !isColumn || k.Value.Kind != vector.Bytes || d.table.Columns[col].Type.Kind() != vector.Bytes {
		return nil
	}
	if k.Value.IsNull(0) {
		return d.one(col)
	}
	p, exact := k.Value.Bytes(0), false
	if pattern {
		p, exact = likePrefix(p)
	}
	lo := vector.New(vector.Bytes, 1)
	lo.AppendBytes(p)
	if exact {
		return d.one(col, interval{lo: lo, hi: lo})
	}
	if len(p) == 0 {
		return nil
	}
	iv := interval{lo: lo}
	if next, ok := successor(p); ok {
		iv.hi, iv.hiOpen = vector.New(vector.Bytes, 1), true
		iv.hi.AppendBytes(next)
	}
	return d.one(col, iv)
}

// likePrefix returns the literal beginning of a LIKE pattern; exact: it is all of it.
func likePrefix(p []byte) (prefix []byte, exact bool) {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '%', '_':
			return prefix, false
		case '\\':
			if i++; i == len(p) {
				return prefix, false
			}
		}
		prefix = append(prefix, p[i])
	}
	return prefix, true
}

// successor returns the smallest byte string above all that begin with p.
func successor(p []byte) ([]byte, bool) {
	for n := len(p); n > 0; n-- {
		if p[n-1] != 0xff {
			out := append([]byte(nil), p[:n]...)
			out[n-1]++
			return out, true
		}
	}
	return nil, false
}
