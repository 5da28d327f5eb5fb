package bind

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// maxArguments is PostgreSQL's FUNC_MAX_ARGS.
const maxArguments = 100

// windowFunctions are functions that exist over windows only.
var windowFunctions = map[string]bool{
	"row_number": true, "rank": true, "dense_rank": true, "percent_rank": true, "cume_dist": true, "ntile": true,
	"lag": true, "lead": true, "first_value": true, "last_value": true, "nth_value": true,
}

// hypothetical are the window functions that are aggregates with WITHIN GROUP.
var hypothetical = map[string]bool{"rank": true, "dense_rank": true, "percent_rank": true, "cume_dist": true}

// functionName returns the bare name of a function and whether functions of
// its schema can exist: they live in pg_catalog only.
func functionName(n *pg_query.FuncCall) (name string, found bool) {
	name = lastName(n.Funcname)
	return name, len(n.Funcname) == 1 || stringOf(n.Funcname[len(n.Funcname)-2]) == "pg_catalog"
}

func (b *binder) funcCall(n *pg_query.FuncCall, c exprCtx) (scalar.Expr, error) {
	name, found := functionName(n)
	switch {
	case n.Over != nil && n.AggWithinGroup:
		return nil, b.errorAt(n.Location, pgerr.FeatureNotSupported, "OVER is not supported for ordered-set aggregate %s", name)
	case n.Over != nil:
		return nil, b.unsupportedAt(n.Location, "window function call")
	case n.AggWithinGroup && hypothetical[name]:
		return nil, b.unsupportedAt(n.Location, "hypothetical-set aggregate %s", name)
	case len(n.Args) > maxArguments:
		return nil, b.errorAt(n.Location, pgerr.TooManyArguments, "cannot pass more than %d arguments to a function", maxArguments)
	case found && functions.Aggregates(name) != nil && !n.FuncVariadic:
		return b.aggregate(n, name, c)
	case found && windowFunctions[name]:
		return nil, b.errorAt(n.Location, pgerr.WrongObjectType, "window function %s requires an OVER clause", name)
	}
	args, names, err := b.arguments(n, c)
	if err == nil && n.AggWithinGroup {
		args, err = b.withinGroup(n, args, c)
	}
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, b.noSchemaFunction(n, args)
	}
	if n.FuncVariadic {
		return b.variadicCall(n, name, args)
	}
	if e, err := b.castCall(n, name, args, names); e != nil || err != nil {
		return e, err
	}
	if functions.Functions(name) == nil && functions.SetReturningFunctions(name) != nil {
		return b.setReturning(n, name, args, names, c)
	}
	e, err := b.plainCall(n, name, args, names)
	if err != nil {
		return nil, err
	}
	return e, b.notAggregate(n, name)
}

// noSchemaFunction is the error of a function in a schema of the user's.
func (b *binder) noSchemaFunction(n *pg_query.FuncCall, args []operand) error {
	schema := stringOf(n.Funcname[len(n.Funcname)-2])
	if _, ok := b.env.Catalog.Schema(schema); !ok {
		return b.errorAt(n.Location, pgerr.InvalidSchemaName, "schema \"%s\" does not exist", schema)
	}
	_, _, err := functions.ResolveFunction(dotted(n.Funcname), typesOf(args))
	return b.at(err, n.Location)
}

// callError places an error of resolution and names the function as written.
func (b *binder) callError(err error, n *pg_query.FuncCall) error {
	e := *pgerr.From(err)
	if len(n.Funcname) > 1 {
		if rest, ok := strings.CutPrefix(e.Message, "function "); ok {
			e.Message = "function pg_catalog." + rest
		}
	}
	if e.Code == pgerr.DatatypeMismatch { // of polymorphic types: PostgreSQL gives no position
		return &e
	}
	return e.At(b.pos(n.Location))
}

// notAggregate refuses what only aggregates take.
func (b *binder) notAggregate(n *pg_query.FuncCall, name string) error {
	what := ""
	switch {
	case n.AggStar:
		return b.errorAt(n.Location, pgerr.WrongObjectType, "%s(*) specified, but %s is not an aggregate function", name, name)
	case n.AggDistinct:
		what = "DISTINCT"
	case n.AggWithinGroup:
		what = "WITHIN GROUP"
	case len(n.AggOrder) > 0:
		what = "ORDER BY"
	case n.AggFilter != nil:
		what = "FILTER"
	default:
		return nil
	}
	return b.errorAt(n.Location, pgerr.WrongObjectType, "%s specified, but %s is not an aggregate function", what, name)
}

// arguments binds the arguments of a call; names has the named ones, by position.
func (b *binder) arguments(n *pg_query.FuncCall, c exprCtx) (args []operand, names []string, err error) {
	for _, a := range n.Args {
		name := ""
		if na := a.GetNamedArgExpr(); na != nil {
			name, a = na.Name, na.Arg
			for _, other := range names {
				if other == name {
					return nil, nil, b.errorAt(na.Location, pgerr.SyntaxError, "argument name \"%s\" used more than once", name)
				}
			}
		}
		o, err := b.operand(a, c)
		if err != nil {
			return nil, nil, err
		}
		if name == "" && names != nil && names[len(names)-1] != "" {
			return nil, nil, b.errorAt(locate(a), pgerr.SyntaxError, "positional argument cannot follow named argument")
		}
		args = append(args, o)
		if name != "" || names != nil {
			for len(names) < len(args)-1 {
				names = append(names, "")
			}
			names = append(names, name)
		}
	}
	return args, names, nil
}

func typesOf(args []operand) []types.OID {
	out := make([]types.OID, len(args))
	for i, a := range args {
		out[i] = a.expr.ResultType().OID
	}
	return out
}

// castCall binds type(x), which is a cast where no function has the name.
func (b *binder) castCall(n *pg_query.FuncCall, name string, args []operand, names []string) (scalar.Expr, error) {
	if len(args) != 1 || names != nil || n.AggStar || n.AggDistinct {
		return nil, nil
	}
	info, ok := typeByName(name)
	if !ok {
		return nil, nil
	}
	if functions.Functions(name) != nil {
		if _, _, err := functions.ResolveFunction(name, typesOf(args)); err == nil {
			return nil, nil
		}
	}
	how := conversion{context: functions.CastExplicit, written: true, location: locate(args[0].node)}
	e, ok, err := b.convert(args[0].expr, types.T(info.OID), how)
	if !ok {
		return nil, nil
	}
	return e, err
}

func (b *binder) plainCall(n *pg_query.FuncCall, name string, args []operand, names []string) (scalar.Expr, error) {
	if names != nil {
		var err error
		if args, err = b.orderNamed(n, name, args, names); err != nil {
			return nil, err
		}
	}
	fn, want, err := functions.ResolveFunction(name, typesOf(args))
	if err != nil {
		return nil, b.callError(err, n)
	}
	return b.call(fn, want, args)
}

// orderNamed puts named arguments at their positions in the first overload that
// has the names and takes the types.
func (b *binder) orderNamed(n *pg_query.FuncCall, name string, args []operand, names []string) ([]operand, error) {
	for _, fn := range functions.Functions(name) {
		if out, ok := placeNamed(fn, args, names); ok {
			return out, nil
		}
	}
	return nil, b.noNamed(n, name, args, names)
}

// placeNamed reorders arguments by the parameters' names and fills the gaps
// with the defaults; ok is false if the overload does not fit.
func placeNamed(fn *functions.Overload, args []operand, names []string) ([]operand, bool) {
	out := make([]operand, len(fn.Args))
	count := 0
	for i, a := range args {
		at := i
		if names[i] != "" {
			at = slices.Index(fn.ArgNames, names[i])
		}
		if at < 0 || at >= len(out) || out[at].expr != nil || !functions.CanImplicit(a.expr.ResultType().OID, fn.Args[at]) {
			return nil, false
		}
		out[at] = a
		count = max(count, at+1)
	}
	required := len(fn.Args) - fn.Defaults
	for i := range max(count, required) {
		if out[i].expr != nil {
			continue
		}
		if i < required {
			return nil, false
		}
		out[i].expr = defaultArgument(fn, i-required)
	}
	return out[:count], true
}

// defaultArgument is the value of the i-th optional parameter.
func defaultArgument(fn *functions.Overload, i int) scalar.Expr {
	if i < len(fn.DefaultText) {
		return textConst(types.Unknown, fn.DefaultText[i])
	}
	return nullConst(types.T(types.Unknown))
}

func (b *binder) noNamed(n *pg_query.FuncCall, name string, args []operand, names []string) error {
	s := name + "("
	for i, a := range args {
		if i > 0 {
			s += ", "
		}
		if names[i] != "" {
			s += names[i] + " => "
		}
		s += typeText(a.expr.ResultType().OID)
	}
	return b.errorAt(n.Location, pgerr.UndefinedFunction, "function %s) does not exist", s).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}

// builtin calls a function of the registry without source text.
func (b *binder) builtin(name string, location int32, args ...scalar.Expr) (scalar.Expr, error) {
	ops := make([]operand, len(args))
	for i, a := range args {
		ops[i].expr = a
	}
	fn, want, err := functions.ResolveFunction(name, typesOf(ops))
	if err != nil {
		return nil, b.at(err, location)
	}
	return b.call(fn, want, ops)
}

// srfExpr is a set-returning call of a target list; the query joins its rows
// and puts a column in its place.
type srfExpr struct {
	fn       *functions.SetReturning
	args     []scalar.Expr
	typ      types.Type
	location int32
}

// ResultType implements scalar.Expr.
func (e *srfExpr) ResultType() types.Type { return e.typ }

func (b *binder) setReturning(n *pg_query.FuncCall, name string, args []operand, names []string, c exprCtx) (scalar.Expr, error) {
	switch {
	case names != nil:
		return nil, b.unsupportedAt(n.Location, "named arguments of a set-returning function")
	case c.clause == inAggregate:
		return nil, b.errorAt(n.Location, pgerr.FeatureNotSupported, "aggregate function calls cannot contain set-returning function calls").
			WithHint("You might be able to move the set-returning function into a LATERAL FROM item.")
	case c.arms != "":
		return nil, b.errorAt(n.Location, pgerr.FeatureNotSupported, "set-returning functions are not allowed in %s", c.arms).
			WithHint("You might be able to move the set-returning function into a LATERAL FROM item.")
	case c.clause != inTarget && c.clause != inOrderBy && c.clause != inDistinctOn && c.clause != inGroupBy:
		return nil, b.errorAt(n.Location, pgerr.FeatureNotSupported, "set-returning functions are not allowed in %s", c.clause.place())
	}
	if name == "unnest" && len(args) > 1 {
		_, _, err := functions.ResolveSetReturning(name, typesOf(args))
		return nil, b.callError(err, n)
	}
	fn, list, ts, err := b.resolveSetReturning(n, name, args)
	if err != nil {
		return nil, err
	}
	if len(ts) != 1 {
		return nil, b.unsupportedAt(n.Location, "a function that returns several columns in a target list")
	}
	e := &srfExpr{fn: fn, args: list, typ: ts[0], location: n.Location}
	c.scope.srfs = append(c.scope.srfs, e)
	return e, nil
}

// resolveRows also finds unnest of several arrays.
func resolveRows(name string, args []types.OID) (*functions.SetReturning, []types.OID, error) {
	many := name == "unnest" && len(args) > 1
	for _, t := range args {
		many = many && types.ElemOf(t) != 0
	}
	if many {
		return functions.UnnestMany(args), args, nil
	}
	return functions.ResolveSetReturning(name, args)
}

func (b *binder) resolveSetReturning(n *pg_query.FuncCall, name string, args []operand) (*functions.SetReturning, []scalar.Expr, []types.Type, error) {
	fn, want, err := resolveRows(name, typesOf(args))
	if err != nil {
		return nil, nil, nil, b.callError(err, n)
	}
	list := make([]scalar.Expr, len(args))
	ts := make([]types.Type, len(args))
	for i, a := range args {
		if list[i], err = b.asArgument(a.expr, want[i], locateIfUnknown(a)); err != nil {
			return nil, nil, nil, err
		}
		ts[i] = list[i].ResultType()
	}
	return fn, list, fn.ResultTypes(ts), nil
}
