package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// variadicCall binds f(a, VARIADIC array): the elements of the array are the last arguments.
func (b *binder) variadicCall(n *pg_query.FuncCall, name string, args []operand) (scalar.Expr, error) {
	last := len(args) - 1
	for _, fn := range functions.Functions(name) {
		if !fn.Variadic || len(fn.Args) != len(args) {
			continue
		}
		array := args[last].expr.ResultType().OID
		if types.ElemOf(array) == 0 {
			return nil, b.errorAt(locate(args[last].node), pgerr.DatatypeMismatch, "VARIADIC argument must be an array")
		}
		spread := fn.Spread(array)
		return b.call(spread, spread.Args, args)
	}
	err := pgerr.New(pgerr.UndefinedFunction, "function %s does not exist", signatureOf(name, args)).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
	return nil, b.callError(err, n)
}

func signatureOf(name string, args []operand) string {
	s := name + "("
	for i, a := range args {
		if i > 0 {
			s += ", "
		}
		s += typeText(a.expr.ResultType().OID)
	}
	return s + ")"
}
