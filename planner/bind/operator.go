package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

func (b *binder) operatorExpr(n *pg_query.A_Expr, c exprCtx) (scalar.Expr, error) {
	switch n.Kind {
	case pg_query.A_Expr_Kind_AEXPR_OP:
		return b.plainOperator(n, c)
	case pg_query.A_Expr_Kind_AEXPR_LIKE, pg_query.A_Expr_Kind_AEXPR_ILIKE:
		return b.binaryOperator(n, c)
	case pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL:
		return b.arrayCompare(n, c)
	case pg_query.A_Expr_Kind_AEXPR_DISTINCT, pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return b.distinctFrom(n, c)
	case pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return b.nullIf(n, c)
	case pg_query.A_Expr_Kind_AEXPR_IN:
		return b.inExpr(n, c)
	case pg_query.A_Expr_Kind_AEXPR_SIMILAR:
		return nil, b.unsupportedAt(n.Location, "SIMILAR TO")
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return b.between(n, c)
	}
	return nil, b.unsupportedAt(n.Location, "operator kind %s", n.Kind)
}

// operatorName returns the symbol of an operator's name. Operators live in
// pg_catalog only: with another schema the whole name is returned, which no
// operator has.
func (b *binder) operatorName(names []*pg_query.Node, location int32) (string, error) {
	if len(names) == 1 || stringOf(names[0]) == "pg_catalog" {
		return lastName(names), nil
	}
	if _, ok := b.env.Catalog.Schema(stringOf(names[0])); !ok {
		return "", b.errorAt(location, pgerr.InvalidSchemaName, "schema \"%s\" does not exist", stringOf(names[0]))
	}
	return dotted(names), nil
}

func (b *binder) plainOperator(n *pg_query.A_Expr, c exprCtx) (scalar.Expr, error) {
	lrow := n.Lexpr.GetRowExpr()
	if lrow != nil {
		if sub := n.Rexpr.GetSubLink(); sub != nil && sub.SubLinkType == pg_query.SubLinkType_EXPR_SUBLINK {
			return b.subLink(&pg_query.SubLink{SubLinkType: pg_query.SubLinkType_ROWCOMPARE_SUBLINK, Testexpr: n.Lexpr,
				OperName: n.Name, Subselect: sub.Subselect, Location: n.Location}, c)
		}
		if rrow := n.Rexpr.GetRowExpr(); rrow != nil {
			return b.rowCompare(n, lrow, rrow, c)
		}
	}
	return b.binaryOperator(n, c)
}

func (b *binder) binaryOperator(n *pg_query.A_Expr, c exprCtx) (scalar.Expr, error) {
	var l operand
	var err error
	if n.Lexpr != nil {
		if l, err = b.operand(n.Lexpr, c); err != nil {
			return nil, err
		}
	}
	r, err := b.operand(n.Rexpr, c)
	if err != nil {
		return nil, err
	}
	symbol, err := b.operatorName(n.Name, n.Location)
	if err != nil {
		return nil, err
	}
	return b.apply(symbol, l, r, n.Location)
}

func (b *binder) operand(n *pg_query.Node, c exprCtx) (operand, error) {
	e, err := b.expr(n, c)
	return operand{e, n}, err
}

// apply calls an operator; l.expr is nil for a prefix operator.
func (b *binder) apply(symbol string, l, r operand, location int32) (scalar.Expr, error) {
	var lt types.OID
	if l.expr != nil {
		lt = l.expr.ResultType().OID
	}
	fn, want, err := functions.ResolveOperator(symbol, lt, r.expr.ResultType().OID)
	if err != nil {
		return nil, b.at(err, location)
	}
	ops := []operand{l, r}
	if l.expr == nil {
		ops = ops[1:]
	}
	return b.call(fn, want, ops)
}

// call applies an overload to operands, cast to the types that resolution gave.
func (b *binder) call(fn *functions.Overload, want []types.OID, ops []operand) (scalar.Expr, error) {
	args := make([]scalar.Expr, len(ops))
	ts := make([]types.Type, len(ops))
	for i, o := range ops {
		e, err := b.asArgument(o.expr, want[i], locateIfUnknown(o))
		if err != nil {
			return nil, err
		}
		args[i], ts[i] = e, e.ResultType()
	}
	return &scalar.Call{Fn: fn, Args: args, Typ: fn.ResultType(ts)}, nil
}

// locateIfUnknown finds the position where a conversion can fail: only literals
// are converted while binding, and looking further would cost a walk per level.
func locateIfUnknown(o operand) int32 {
	if o.expr.ResultType().OID != types.Unknown {
		return -1
	}
	return locate(o.node)
}

// rowCompare expands a comparison of rows to comparisons of their fields.
func (b *binder) rowCompare(n *pg_query.A_Expr, l, r *pg_query.RowExpr, c exprCtx) (scalar.Expr, error) {
	symbol, err := b.operatorName(n.Name, n.Location)
	if err != nil {
		return nil, err
	}
	ls, rs, err := b.rowFields(l, r, n.Location, c)
	if err != nil {
		return nil, err
	}
	return b.compareFields(symbol, ls, rs, n.Location)
}

func (b *binder) rowFields(l, r *pg_query.RowExpr, location int32, c exprCtx) (ls, rs []operand, err error) {
	if len(l.Args) != len(r.Args) {
		return nil, nil, b.errorAt(location, pgerr.SyntaxError, "unequal number of entries in row expressions")
	}
	if len(l.Args) == 0 {
		return nil, nil, b.errorAt(location, pgerr.FeatureNotSupported, "cannot compare rows of zero length")
	}
	if ls, err = b.operands(l.Args, c); err != nil {
		return nil, nil, err
	}
	rs, err = b.operands(r.Args, c)
	return ls, rs, err
}

func (b *binder) operands(ns []*pg_query.Node, c exprCtx) ([]operand, error) {
	out := make([]operand, len(ns))
	for i, n := range ns {
		var err error
		if out[i], err = b.operand(n, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b *binder) compareFields(symbol string, ls, rs []operand, location int32) (scalar.Expr, error) {
	var list []scalar.Expr
	switch symbol {
	case "=", "<>", "!=":
		for i := range ls {
			e, err := b.apply(symbol, ls[i], rs[i], location)
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
		if symbol == "=" {
			return conjunction(list), nil
		}
		return disjunction(list), nil
	case "<", "<=", ">", ">=":
		return b.orderFields(symbol, ls, rs, location)
	}
	return nil, b.errorAt(location, pgerr.FeatureNotSupported, "could not determine interpretation of row comparison operator %s", symbol).
		WithHint("Row comparison operators must be associated with btree operator families.")
}

// orderFields makes l1 < r1 OR (l1 = r1 AND (l2 < r2 OR ...)).
func (b *binder) orderFields(symbol string, ls, rs []operand, location int32) (scalar.Expr, error) {
	last := len(ls) - 1
	out, err := b.apply(symbol, ls[last], rs[last], location)
	if err != nil {
		return nil, err
	}
	for i := last - 1; i >= 0; i-- {
		strict, err := b.apply(symbol[:1], ls[i], rs[i], location)
		if err != nil {
			return nil, err
		}
		equal, err := b.apply("=", ls[i], rs[i], location)
		if err != nil {
			return nil, err
		}
		out = disjunction([]scalar.Expr{strict, conjunction([]scalar.Expr{equal, out})})
	}
	return out, nil
}

func (b *binder) distinctFrom(n *pg_query.A_Expr, c exprCtx) (scalar.Expr, error) {
	negate := n.Kind == pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT
	l, r := n.Lexpr, n.Rexpr
	if isNullLiteral(l) {
		l, r = r, l
	}
	if isNullLiteral(r) && l.GetRowExpr() == nil {
		e, err := b.expr(l, c)
		if err != nil {
			return nil, err
		}
		return &scalar.IsNull{Arg: e, Negate: !negate}, nil
	}
	if lr, rr := l.GetRowExpr(), r.GetRowExpr(); lr != nil && rr != nil {
		ls, rs, err := b.rowFields(lr, rr, n.Location, c)
		if err != nil {
			return nil, err
		}
		var list []scalar.Expr
		for i := range ls {
			e, err := b.distinct(ls[i], rs[i], negate, n.Location)
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
	lo, err := b.operand(l, c)
	if err != nil {
		return nil, err
	}
	ro, err := b.operand(r, c)
	if err != nil {
		return nil, err
	}
	return b.distinct(lo, ro, negate, n.Location)
}

func isNullLiteral(n *pg_query.Node) bool { return n.GetAConst().GetIsnull() }

func (b *binder) distinct(l, r operand, negate bool, location int32) (scalar.Expr, error) {
	e, err := b.apply("=", l, r, location)
	if err != nil {
		return nil, err
	}
	eq := e.(*scalar.Call)
	return &scalar.Distinct{Left: eq.Args[0], Right: eq.Args[1], Eq: eq.Fn, Negate: negate}, nil
}

// nullIf binds NULLIF(l, r) as CASE WHEN l = r THEN NULL ELSE l END.
func (b *binder) nullIf(n *pg_query.A_Expr, c exprCtx) (scalar.Expr, error) {
	if err := b.copy(); err != nil {
		return nil, err
	}
	l, err := b.operand(n.Lexpr, c)
	b.copies--
	if err != nil {
		return nil, err
	}
	r, err := b.operand(n.Rexpr, c)
	if err != nil {
		return nil, err
	}
	e, err := b.apply("=", l, r, n.Location)
	if err != nil {
		return nil, err
	}
	if e.ResultType().OID != types.Bool {
		return nil, b.errorAt(n.Location, pgerr.DatatypeMismatch, "NULLIF requires = operator to yield boolean")
	}
	first := e.(*scalar.Call).Args[0]
	t := first.ResultType()
	return &scalar.Case{Whens: []scalar.When{{Cond: e, Then: nullConst(t)}}, Else: first, Typ: t}, nil
}

// copy counts a construct that repeats its operand; the caller subtracts it again.
func (b *binder) copy() error {
	b.copies++
	if b.copies > maxCopies {
		return tooDeep()
	}
	return nil
}

func (b *binder) between(n *pg_query.A_Expr, c exprCtx) (scalar.Expr, error) {
	if err := b.copy(); err != nil {
		return nil, err
	}
	defer func() { b.copies-- }()
	bounds := n.Rexpr.GetList().GetItems()
	if len(bounds) != 2 {
		return nil, b.errorAt(n.Location, pgerr.SyntaxError, "BETWEEN needs two bounds")
	}
	x, err := b.operand(n.Lexpr, c)
	if err != nil {
		return nil, err
	}
	ends, err := b.operands(bounds, c)
	if err != nil {
		return nil, err
	}
	within := func(lo, hi operand) (scalar.Expr, error) { return b.pair(false, ">=", "<=", x, lo, hi, n.Location) }
	outside := func(lo, hi operand) (scalar.Expr, error) { return b.pair(true, "<", ">", x, lo, hi, n.Location) }
	switch n.Kind {
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN:
		return within(ends[0], ends[1])
	case pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return outside(ends[0], ends[1])
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM:
		return both(true, within, ends)
	}
	return both(false, outside, ends)
}

func (b *binder) pair(or bool, op1, op2 string, x, lo, hi operand, location int32) (scalar.Expr, error) {
	l, err := b.apply(op1, x, lo, location)
	if err != nil {
		return nil, err
	}
	r, err := b.apply(op2, x, hi, location)
	if err != nil {
		return nil, err
	}
	return &scalar.Logic{Or: or, Args: []scalar.Expr{l, r}}, nil
}

// both joins a range test with the same test on swapped bounds.
func both(or bool, test func(lo, hi operand) (scalar.Expr, error), ends []operand) (scalar.Expr, error) {
	l, err := test(ends[0], ends[1])
	if err != nil {
		return nil, err
	}
	r, err := test(ends[1], ends[0])
	if err != nil {
		return nil, err
	}
	return &scalar.Logic{Or: or, Args: []scalar.Expr{l, r}}, nil
}

// arrayCompare binds x op ANY|ALL (array).
func (b *binder) arrayCompare(n *pg_query.A_Expr, c exprCtx) (scalar.Expr, error) {
	l, err := b.operand(n.Lexpr, c)
	if err != nil {
		return nil, err
	}
	r, err := b.operand(n.Rexpr, c)
	if err != nil {
		return nil, err
	}
	symbol, err := b.operatorName(n.Name, n.Location)
	if err != nil {
		return nil, err
	}
	elem := types.OID(types.Unknown)
	if t := r.expr.ResultType().OID; t != types.Unknown {
		if elem = types.ElemOf(t); elem == 0 {
			return nil, b.errorAt(n.Location, pgerr.WrongObjectType, "op ANY/ALL (array) requires array on right side")
		}
	}
	fn, want, err := functions.ResolveOperator(symbol, l.expr.ResultType().OID, elem)
	if err != nil {
		return nil, b.at(err, n.Location)
	}
	if fn.Ret != types.Bool {
		return nil, b.errorAt(n.Location, pgerr.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean")
	}
	array := types.ArrayOf(want[1])
	if array == 0 {
		return nil, b.errorAt(n.Location, pgerr.UndefinedObject, "could not find array type for data type %s", typeText(want[1]))
	}
	left, err := b.asArgument(l.expr, want[0], locateIfUnknown(l))
	if err != nil {
		return nil, err
	}
	right, err := b.asArgument(r.expr, array, locateIfUnknown(r))
	if err != nil {
		return nil, err
	}
	return &scalar.ArrayCompare{Left: left, Array: right, Op: fn, All: n.Kind == pg_query.A_Expr_Kind_AEXPR_OP_ALL}, nil
}
