package bind

import (
	"cmp"
	"slices"
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/scalar"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// DomainRules are what the values of a domain must obey: its own checks and
// those of the domains that it was made from, whose come first.
type DomainRules struct {
	name    string // of the domain, for errors
	schema  string
	notNull bool
	checks  []domainCheck
}

type domainCheck struct {
	name string
	cond scalar.Expr // over a row of one column, VALUE
}

// RulesOf binds the rules of a domain; nil if it has none.
func RulesOf(env *Env, d *catalog.Domain) (*DomainRules, error) {
	r := &DomainRules{name: d.Name}
	if sc, ok := env.Catalog.SchemaByOID(d.Schema); ok {
		r.schema = sc.Name
	}
	for one := d; ; {
		r.notNull = r.notNull || one.NotNull
		checks := slices.Clone(one.Checks)
		slices.SortFunc(checks, func(a, b catalog.Check) int { return cmp.Compare(a.Name, b.Name) })
		bound := make([]domainCheck, len(checks))
		for i, c := range checks {
			cond, _, err := ExpressionOver(env, c.Expr, ValueTable(one), ForCheck, types.T(types.Bool))
			if err != nil {
				return nil, err
			}
			bound[i] = domainCheck{c.Name, cond}
		}
		r.checks = append(bound, r.checks...)
		parent, ok := env.Catalog.DomainByOID(one.Parent)
		if !ok {
			break
		}
		one = parent
	}
	if !r.notNull && len(r.checks) == 0 {
		return nil, nil
	}
	return r, nil
}

// ValueTable is the row that the checks of a domain read: the column VALUE.
func ValueTable(d *catalog.Domain) *catalog.Table {
	return &catalog.Table{Name: d.Name, Columns: []catalog.Column{{ID: 1, AttNum: 1, Name: "value", Type: types.Type{OID: d.Base, Mod: d.Mod}}}}
}

// DomainChecker checks values; one goroutine uses it at a time.
type DomainChecker struct {
	rules *DomainRules
	progs []*eval.Program
	row   vector.Batch
}

// Checker compiles the rules.
func (r *DomainRules) Checker() (*DomainChecker, error) {
	c := &DomainChecker{rules: r}
	for i := range r.checks {
		p, err := eval.Compile(r.checks[i].cond)
		if err != nil {
			return nil, err
		}
		c.progs = append(c.progs, p)
	}
	return c, nil
}

// Check refuses values that are not the domain's.
//
// Errors: 23502, 23514, and what the checks raise.
func (c *DomainChecker) Check(ctx *functions.Ctx, v *vector.Vector, n int) error {
	if c.rules.notNull {
		for i := range n {
			if v.IsNull(i & v.Mask()) {
				return c.rules.of(pgerr.New(pgerr.NotNullViolation, "domain %s does not allow null values", c.rules.name))
			}
		}
	}
	c.row.Cols, c.row.N = append(c.row.Cols[:0], v), n
	for k, p := range c.progs {
		ok, err := p.Eval(&eval.Env{Ctx: ctx}, &c.row)
		if err != nil {
			return err
		}
		for i := range n {
			if at := i & ok.Mask(); !ok.IsNull(at) && !ok.Bool(at) {
				e := pgerr.New(pgerr.CheckViolation, `value for domain %s violates check constraint "%s"`, c.rules.name, c.rules.checks[k].name)
				e.Constraint = c.rules.checks[k].name
				return c.rules.of(e)
			}
		}
	}
	return nil
}

// of makes an error one about the domain.
func (r *DomainRules) of(e *pgerr.Error) *pgerr.Error {
	e.Schema, e.DataType = r.schema, r.name
	return e
}

// inDomain makes e obey the rules of a domain.
func (b *binder) inDomain(e scalar.Expr, d *catalog.Domain) (scalar.Expr, error) {
	rules, err := RulesOf(b.env, d)
	if err != nil || rules == nil {
		return e, err
	}
	t := e.ResultType()
	checkers := &sync.Pool{}
	fn := &functions.Overload{Name: d.Name, Args: []types.OID{t.OID}, Ret: t.OID, RetType: func(args []types.Type) types.Type { return args[0] },
		NotStrict: true, CanFail: true, Volatility: functions.Stable,
		Eval: func(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			k, _ := checkers.Get().(*DomainChecker)
			if k == nil {
				var err error
				if k, err = rules.Checker(); err != nil {
					return err
				}
			}
			defer checkers.Put(k)
			if err := k.Check(c, args[0], n); err != nil {
				return err
			}
			copyRows(out, args[0], n)
			return nil
		}}
	return &scalar.Call{Fn: fn, Args: []scalar.Expr{e}, Typ: t}, nil
}

// copyRows makes out the first n rows of v, which may be constant.
func copyRows(out, v *vector.Vector, n int) {
	out.Reset(v.Kind)
	for i := range n {
		out.AppendFrom(v, i&v.Mask())
	}
}

// DomainCheck binds a CHECK of a domain that is being made or changed.
//
// Errors: *pgerr.Error with positions in st.
func DomainCheck(env *Env, st *sql.Statement, n *pg_query.Node, d *catalog.Domain) error {
	_, _, err := ExpressionIn(env, st, n, ValueTable(d), ForCheck, types.T(types.Bool))
	return err
}
