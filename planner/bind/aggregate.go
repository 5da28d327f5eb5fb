package bind

import (
	"slices"

	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// aggExpr is an aggregate call in an expression; grouping replaces it by a
// column of the Aggregate.
type aggExpr struct {
	call     logical.AggCall
	name     string
	location int32
}

// ResultType implements scalar.Expr.
func (e *aggExpr) ResultType() types.Type { return e.call.Typ }

// text is the call as EXPLAIN shows it.
func (e *aggExpr) text() string {
	args := make([]string, len(e.call.Args))
	for i, a := range e.call.Args {
		args[i] = scalar.Format(a)
	}
	list := strings.Join(args, ", ")
	if fn := e.call.Fn; fn.WithinGroup {
		return e.name + "(" + strings.Join(args[:fn.Direct], ", ") + ") WITHIN GROUP (ORDER BY " + strings.Join(args[fn.Direct:], ", ") + ")"
	}
	switch {
	case len(args) == 0:
		list = "*"
	case e.call.Distinct:
		list = "DISTINCT " + list
	}
	return e.name + "(" + list + ")"
}

func (e *aggExpr) same(o *aggExpr) bool {
	if e.call.Fn != o.call.Fn || e.call.Distinct != o.call.Distinct || !sameList(e.call.Args, o.call.Args) {
		return false
	}
	if (e.call.Filter == nil) != (o.call.Filter == nil) || e.call.Filter != nil && !sameExpr(e.call.Filter, o.call.Filter) {
		return false
	}
	if len(e.call.OrderBy) != len(o.call.OrderBy) {
		return false
	}
	for i, k := range e.call.OrderBy {
		l := o.call.OrderBy[i]
		if k.Desc != l.Desc || k.NullsFirst != l.NullsFirst || !sameExpr(k.Expr, l.Expr) {
			return false
		}
	}
	return true
}

func (b *binder) aggregate(n *pg_query.FuncCall, name string, c exprCtx) (scalar.Expr, error) {
	inner := exprCtx{scope: c.scope, clause: inAggregate}
	args, names, err := b.arguments(n, inner)
	if err != nil {
		return nil, err
	}
	if n.AggWithinGroup {
		if args, err = b.withinGroup(n, args, inner); err != nil {
			return nil, err
		}
	}
	if names != nil {
		return nil, b.unsupportedAt(n.Location, "named arguments of an aggregate")
	}
	if len(args) == 0 && !n.AggStar && !functions.Aggregates(name)[0].WithinGroup && parameterless(name) {
		return nil, b.errorAt(n.Location, pgerr.WrongObjectType, "%s(*) must be used to call a parameterless aggregate function", name)
	}
	fn, want, err := functions.ResolveAggregate(name, typesOf(args))
	if err != nil {
		return nil, b.callError(err, n)
	}
	if fn, err = b.orderedSet(n, fn); err != nil {
		return nil, err
	}
	e := &aggExpr{name: name, location: n.Location, call: logical.AggCall{Fn: fn, Distinct: n.AggDistinct}}
	ts := make([]types.Type, len(args))
	for i, a := range args {
		arg, err := b.asArgument(a.expr, want[i], locateIfUnknown(a))
		if err != nil {
			return nil, err
		}
		e.call.Args, ts[i] = append(e.call.Args, arg), arg.ResultType()
		args[i].expr = arg
	}
	e.call.Typ = fn.ResultType(ts)
	if err := b.aggregateParts(n, e, args, inner); err != nil {
		return nil, err
	}
	switch {
	case c.clause == inAggregate:
		return nil, b.errorAt(n.Location, pgerr.GroupingError, "aggregate function calls cannot be nested")
	case !c.clause.aggregates():
		return nil, b.errorAt(n.Location, pgerr.GroupingError, "aggregate functions are not allowed in %s", c.clause.place())
	}
	if err := b.checkLevel(e); err != nil {
		return nil, err
	}
	for _, o := range c.scope.aggs {
		if o.same(e) {
			return o, nil
		}
	}
	c.scope.aggs = append(c.scope.aggs, e)
	return e, nil
}

// aggregateParts binds FILTER, ORDER BY and DISTINCT of a call.
func (b *binder) aggregateParts(n *pg_query.FuncCall, e *aggExpr, args []operand, inner exprCtx) error {
	if n.AggFilter != nil {
		f, err := b.expr(n.AggFilter, exprCtx{scope: inner.scope, clause: inFilter})
		if err != nil {
			return err
		}
		if e.call.Filter, err = b.asBoolean(f, "FILTER", n.AggFilter); err != nil {
			return err
		}
	}
	for _, s := range n.AggOrder {
		if n.AggWithinGroup {
			break // these are arguments
		}
		sb := s.GetSortBy()
		x, err := b.expr(sb.Node, inner)
		if err != nil {
			return err
		}
		if x, err = b.resolveUnknown(x, locate(sb.Node)); err != nil {
			return err
		}
		if n.AggDistinct && !contains(e.call.Args, x) {
			return b.errorAt(locate(sb.Node), pgerr.InvalidColumnReference,
				"in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
		}
		key, err := b.sortKey(sb, x)
		if err != nil {
			return err
		}
		e.call.OrderBy = append(e.call.OrderBy, key)
	}
	if n.AggDistinct {
		for _, a := range args {
			if t := a.expr.ResultType().OID; !b.sortable(t) {
				return b.errorAt(locate(a.node), pgerr.UndefinedFunction, "could not identify an equality operator for type %s", typeText(t))
			}
		}
	}
	return nil
}

func contains(list []scalar.Expr, e scalar.Expr) bool {
	for _, x := range list {
		if sameExpr(x, e) {
			return true
		}
	}
	return false
}

// checkLevel refuses an aggregate over columns of an enclosing query only: it
// would belong to that query.
func (b *binder) checkLevel(e *aggExpr) error {
	own, outer := false, false
	look := func(x scalar.Expr) bool {
		switch x.(type) {
		case *scalar.Column:
			own = true
		case *scalar.Slot:
			outer = true
		}
		return true
	}
	for _, a := range e.call.Args {
		scalar.Walk(a, look)
	}
	scalar.Walk(e.call.Filter, look)
	if outer && !own {
		return b.unsupportedAt(e.location, "an aggregate over columns of an outer query")
	}
	return nil
}

// parameterless tells whether an aggregate exists that takes no argument: f(*).
func parameterless(name string) bool {
	return slices.ContainsFunc(functions.Aggregates(name), func(a *functions.Aggregate) bool { return len(a.Args) == 0 })
}
