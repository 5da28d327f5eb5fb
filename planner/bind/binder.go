package bind

import (
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// maxDepth bounds the recursion over the grammar's tree. The guard of package
// sql admits 4,000 levels of source nesting.
const maxDepth = 8000

// maxCopies bounds how deep constructs nest that repeat an operand (BETWEEN,
// CASE x WHEN): the number of copies doubles with each level.
const maxCopies = 12

// maxTargetColumns is PostgreSQL's limit of a row's width.
const maxTargetColumns = 1664

// binder is the state of binding one statement.
type binder struct {
	env     *Env
	st      *sql.Statement
	params  []param
	depth   int
	copies  int
	queries int    // WITH queries so far
	outside *scope // of the WITH around the data-modifying query being bound
	written *scope // of the data-modifying statement being bound, once it has one

	// locations of column references by node, for errors found after binding.
	columnAt map[*scalar.Column]columnUse
	subNames map[*pg_query.SubLink]string // column names of scalar subqueries
	paramAt  []paramUse
	noParams bool // $n is an error here: DEFAULT expressions

	viewState
}

// columnUse says how the statement spells a column reference.
type columnUse struct {
	location int32
	table    string
}

func newBinder(env *Env, st *sql.Statement, declared []types.OID) *binder {
	b := &binder{env: env, st: st, columnAt: map[*scalar.Column]columnUse{},
		subNames: map[*pg_query.SubLink]string{}}
	for _, t := range declared {
		b.params = append(b.params, param{typ: t, declared: t != 0 && t != types.Unknown})
	}
	return b
}

func (b *binder) ctx() *types.Context {
	if b.env == nil || b.env.Ctx == nil {
		return &types.Context{}
	}
	return &b.env.Ctx.Context
}

func (b *binder) functionCtx() *functions.Ctx {
	if b.env == nil || b.env.Ctx == nil {
		return &functions.Ctx{}
	}
	return b.env.Ctx
}

// pos turns a byte offset of the grammar into the wire's position.
func (b *binder) pos(location int32) int { return b.st.Position(location) }

// errorAt returns an error with the position of a location of the grammar.
func (b *binder) errorAt(location int32, code pgerr.Code, format string, args ...any) *pgerr.Error {
	return pgerr.New(code, format, args...).At(b.pos(location))
}

// at adds the position to an error from a lookup or a literal's input function.
func (b *binder) at(err error, location int32) error {
	if err == nil {
		return nil
	}
	return pgerr.From(err).At(b.pos(location))
}

func (b *binder) unsupportedAt(location int32, format string, args ...any) *pgerr.Error {
	return pgerr.Unsupported("%s", fmt.Sprintf(format, args...)).At(b.pos(location))
}

func unsupported(feature string) *pgerr.Error { return pgerr.Unsupported("%s", feature) }

// enter counts a level of recursion; each call is paired with b.leave.
func (b *binder) enter() error {
	b.depth++
	if b.depth > maxDepth {
		return tooDeep()
	}
	return nil
}

func (b *binder) leave() { b.depth-- }

func tooDeep() error {
	return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded").
		WithHint("Write the expression with fewer nested levels.")
}

// topScope is the scope around the statement: it has no columns.
func (b *binder) topScope() *scope {
	if b.outside != nil {
		return &scope{ctes: b.outside.ctes}
	}
	return &scope{}
}

// query is a bound SELECT, VALUES or set operation.
type query struct {
	node logical.Node
	// nodes of the raw target expressions, for error positions; entries may be nil
	at []*pg_query.Node
}

// queryContext says where a query stands.
type queryContext struct {
	// resolveUnknowns makes untyped literals of the target list text.
	resolveUnknowns bool
}

func stringOf(n *pg_query.Node) string { return n.GetString_().GetSval() }

// lastName returns the last of the names of a possibly qualified name.
func lastName(names []*pg_query.Node) string {
	if len(names) == 0 {
		return ""
	}
	return stringOf(names[len(names)-1])
}

func dotted(names []*pg_query.Node) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += "."
		}
		if n.GetAStar() != nil {
			s += "*"
		} else {
			s += stringOf(n)
		}
	}
	return s
}

func typeText(t types.OID) string { return types.FormatType(types.T(t)) }
