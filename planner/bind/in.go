package bind

import (
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// inExpr binds x [NOT] IN (list).
func (b *binder) inExpr(n *pg_query.A_Expr, c exprCtx) (scalar.Expr, error) {
	items := n.Rexpr.GetList().GetItems()
	symbol := lastName(n.Name)
	negate := symbol == "<>"
	if row := n.Lexpr.GetRowExpr(); row != nil {
		return b.rowIn(n, row, items, c)
	}
	copies := len(items) > 1 && !allLiterals(items)
	if copies {
		if err := b.copy(); err != nil {
			return nil, err
		}
		defer func() { b.copies-- }()
	}
	x, err := b.operand(n.Lexpr, c)
	if err != nil {
		return nil, err
	}
	if len(items) > 1 && !copies {
		e, err := b.literalList(x, items, negate, n.Location)
		if e != nil || err != nil {
			return e, err
		}
	}
	ops, err := b.operands(items, c)
	if err != nil {
		return nil, err
	}
	return b.inOperands(x, ops, symbol, negate, n.Location)
}

func allLiterals(items []*pg_query.Node) bool {
	for _, it := range items {
		if it.GetAConst() == nil || it.GetAConst().GetBsval() != nil {
			return false
		}
	}
	return true
}

// literalList makes an InList of plain literals without a node per item; nil
// if the types do not meet, then each item is compared by itself.
func (b *binder) literalList(x operand, items []*pg_query.Node, negate bool, location int32) (scalar.Expr, error) {
	elem, ok := listType(x.expr.ResultType().OID, items)
	if !ok {
		return nil, nil
	}
	if _, _, err := functions.ResolveOperator("=", elem, elem); err != nil {
		return nil, b.at(err, location)
	}
	t := types.T(elem)
	arg, ok, err := b.convert(x.expr, t, implicitly(locate(x.node)))
	if err != nil || !ok {
		return nil, err
	}
	list := vector.New(t.Kind(), len(items))
	hasNull := false
	for _, it := range items {
		k := it.GetAConst()
		if k.Isnull {
			hasNull = true
			continue
		}
		if err := b.appendLiteral(list, t, k); err != nil {
			return nil, b.at(err, k.Location)
		}
	}
	if list.N == 0 && !hasNull {
		return nil, nil
	}
	return &scalar.InList{Arg: arg, List: list, HasNull: hasNull, Negate: negate}, nil
}

// listType is the common type of the left side and the literals. Integer
// literals that an integer left side can hold take its type, so that the
// column itself is compared.
func listType(left types.OID, items []*pg_query.Node) (types.OID, bool) {
	ts := []types.OID{left}
	var lo, hi int64
	var seenInt, seenString, seenOther bool
	for _, it := range items {
		k := it.GetAConst()
		switch v := k.Val.(type) {
		case *pg_query.A_Const_Ival:
			i := int64(v.Ival.GetIval())
			lo, hi, seenInt = min(lo, i), max(hi, i), true
		case *pg_query.A_Const_Fval:
			if i, ok := parseInteger(v.Fval.GetFval()); ok {
				lo, hi, seenInt = min(lo, i), max(hi, i), true
			} else if !seenOther {
				ts, seenOther = append(ts, types.Numeric), true
			}
		case *pg_query.A_Const_Boolval:
			ts = append(ts[:1], types.Bool)
			seenOther = true
		case *pg_query.A_Const_Sval:
			seenString = true
		}
	}
	switch {
	case seenInt && !seenOther && holds(left, lo, hi):
		return left, true
	case seenInt && holds(types.Int4, lo, hi):
		ts = append(ts, types.Int4)
	case seenInt:
		ts = append(ts, types.Int8)
	}
	if seenString {
		ts = append(ts, types.Unknown)
	}
	return functions.CommonType(ts)
}

// holds reports whether an integer type has all values of a range.
func holds(t types.OID, lo, hi int64) bool {
	switch t {
	case types.Int2:
		return lo >= -1<<15 && hi < 1<<15
	case types.Int4:
		return lo >= -1<<31 && hi < 1<<31
	case types.Int8:
		return true
	}
	return false
}

// appendLiteral adds a literal to a vector of type t.
func (b *binder) appendLiteral(v *vector.Vector, t types.Type, k *pg_query.A_Const) error {
	if i := k.GetIval(); i != nil {
		switch t.OID {
		case types.Int2:
			v.AppendInt16(int16(i.GetIval()))
			return nil
		case types.Int4:
			v.AppendInt32(i.GetIval())
			return nil
		case types.Int8:
			v.AppendInt64(int64(i.GetIval()))
			return nil
		}
		return types.ParseText(v, t, strconv.AppendInt(nil, int64(i.GetIval()), 10), b.ctx())
	}
	return types.ParseText(v, t, []byte(constText(k)), b.ctx())
}

// inOperands compares x with bound items: those without columns share a type
// with x, the others are compared each by its own operator.
func (b *binder) inOperands(x operand, items []operand, symbol string, negate bool, location int32) (scalar.Expr, error) {
	var plain, rest []operand
	for _, o := range items {
		if readsRow(o.expr) {
			rest = append(rest, o)
		} else {
			plain = append(plain, o)
		}
	}
	if len(plain) < 2 {
		plain, rest = nil, items
	}
	var list []scalar.Expr
	if len(plain) > 0 {
		e, err := b.plainItems(x, plain, symbol, negate, location)
		if err != nil {
			return nil, err
		}
		list = append(list, e...)
	}
	for _, o := range rest {
		e, err := b.apply(symbol, x, o, location)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	if negate {
		return conjunction(list), nil
	}
	return disjunction(list), nil
}

func readsRow(e scalar.Expr) bool {
	found := false
	scalar.Walk(e, func(e scalar.Expr) bool {
		switch e.(type) {
		case *scalar.Column, *scalar.Slot, *aggExpr, *scalar.Subquery:
			found = true
		}
		return !found
	})
	return found
}

// plainItems casts items without columns to the type they share with x, and
// makes one InList if all of them are constants.
func (b *binder) plainItems(x operand, items []operand, symbol string, negate bool, location int32) ([]scalar.Expr, error) {
	all := append([]operand{x}, items...)
	ts := make([]types.OID, len(all))
	for i, o := range all {
		ts[i] = o.expr.ResultType().OID
	}
	oid, ok := functions.CommonType(ts)
	var out []scalar.Expr
	if !ok {
		for _, o := range items {
			e, err := b.apply(symbol, x, o, location)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	}
	list, err := b.constantItems(x, items, types.T(oid), negate, location)
	if err != nil {
		return nil, err
	}
	if list != nil {
		return []scalar.Expr{list}, nil
	}
	for _, o := range items {
		e, err := b.apply(symbol, x, o, location)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// constantItems casts the items to t in place and makes an InList if all of
// them are constants; nil if not.
func (b *binder) constantItems(x operand, items []operand, t types.Type, negate bool, location int32) (scalar.Expr, error) {
	list := vector.New(t.Kind(), len(items))
	hasNull, constant := false, true
	for i := range items {
		e, err := b.toCommon("IN", items[i], t)
		if err != nil {
			return nil, err
		}
		items[i].expr = e
		k, ok := b.foldCast(e)
		switch {
		case !ok:
			constant = false
		case k.Value.IsNull(0):
			hasNull = true
		default:
			list.AppendFrom(k.Value, 0)
		}
	}
	if !constant {
		return nil, nil
	}
	arg, ok, err := b.convert(x.expr, t, implicitly(locateIfUnknown(x)))
	if err != nil || !ok {
		return nil, err
	}
	if _, _, err := functions.ResolveOperator("=", t.OID, t.OID); err != nil {
		return nil, b.at(err, location)
	}
	return &scalar.InList{Arg: arg, List: list, HasNull: hasNull, Negate: negate}, nil
}

// foldCast computes casts of a constant.
func (b *binder) foldCast(e scalar.Expr) (*scalar.Const, bool) {
	switch e := e.(type) {
	case *scalar.Const:
		return e, true
	case *scalar.Cast:
		k, ok := b.foldCast(e.Arg)
		switch {
		case !ok:
			return nil, false
		case k.Value.IsNull(0):
			return nullConst(e.Typ), true
		case e.Kernel == nil:
			if k.Value.Kind != e.Typ.Kind() {
				return nil, false
			}
			return &scalar.Const{Value: k.Value, Typ: e.Typ}, true
		}
		out := vector.New(e.Typ.Kind(), 1)
		if out.Kind != vector.Bytes {
			out.Resize(1)
		}
		if err := e.Kernel(b.functionCtx(), out, []*vector.Vector{k.Value}, 1); err != nil {
			return nil, false
		}
		return &scalar.Const{Value: out, Typ: e.Typ}, true
	}
	return nil, false
}

// rowIn binds (a, b) IN ((1, 2), ...).
func (b *binder) rowIn(n *pg_query.A_Expr, row *pg_query.RowExpr, items []*pg_query.Node, c exprCtx) (scalar.Expr, error) {
	if err := b.copy(); err != nil {
		return nil, err
	}
	defer func() { b.copies-- }()
	var list []scalar.Expr
	symbol := lastName(n.Name)
	for _, it := range items {
		r := it.GetRowExpr()
		if r == nil {
			return nil, b.unsupportedAt(n.Location, "comparison of a row with a value")
		}
		ls, rs, err := b.rowFields(row, r, n.Location, c)
		if err != nil {
			return nil, err
		}
		e, err := b.compareFields(symbol, ls, rs, n.Location)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	if symbol == "<>" {
		return conjunction(list), nil
	}
	return disjunction(list), nil
}
