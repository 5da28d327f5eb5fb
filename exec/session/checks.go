package session

import (
	"cmp"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/bind"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// rowRules is what rows go through before they are stored: generated columns
// are computed, checks must not be false.
type rowRules struct {
	generated []rowRule
	checks    []rowRule // by name, as PostgreSQL evaluates them
	domains   []columnDomain
	env       *eval.Env
}

// rowRule is a generated column or a check.
type rowRule struct {
	col  int    // of a generated column
	name string // of a check
	prog *eval.Program
}

// rowRules compiles the rules of a table, nil if it has none.
func (s *Session) rowRules(cat *catalog.Snapshot, t *catalog.Table) (r *rowRules, err error) {
	r = &rowRules{}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated == "" {
			continue
		}
		prog, err := s.compileOver(cat, t, c.Generated, bind.ForGenerated, c.Type)
		if err != nil {
			return nil, err
		}
		r.generated = append(r.generated, rowRule{col: i, prog: prog})
	}
	for i := range t.Checks {
		c, err := s.compileCheck(cat, t, &t.Checks[i])
		if err != nil {
			return nil, err
		}
		r.checks = append(r.checks, c)
	}
	if r.domains, err = s.columnDomains(cat, t); err != nil {
		return nil, err
	}
	if len(r.generated)+len(r.checks)+len(r.domains) == 0 {
		return nil, nil
	}
	slices.SortFunc(r.checks, func(a, b rowRule) int { return cmp.Compare(a.name, b.name) })
	r.env = &eval.Env{Ctx: s.functionCtx()}
	return r, nil
}

func (s *Session) compileCheck(cat *catalog.Snapshot, t *catalog.Table, c *catalog.Check) (rowRule, error) {
	prog, err := s.compileOver(cat, t, c.Expr, bind.ForCheck, types.T(types.Bool))
	return rowRule{name: c.Name, prog: prog}, err
}

func (s *Session) compileOver(cat *catalog.Snapshot, t *catalog.Table, text string, use bind.Use, want types.Type) (*eval.Program, error) {
	e, err := s.over(cat, t, text, use, want)
	if err != nil {
		return nil, err
	}
	return eval.Compile(e)
}

// over binds a stored expression over the columns of a table.
func (s *Session) over(cat *catalog.Snapshot, t *catalog.Table, text string, use bind.Use, want types.Type) (scalar.Expr, error) {
	e, ok, err := bind.ExpressionOver((*bind.Env)(s.env(cat, s.functionCtx(), nil)), text, t, use, want)
	if err == nil && !ok {
		err = pgerr.New(pgerr.DatatypeMismatch, "expression is of type %s", types.FormatType(e.ResultType()))
	}
	if err != nil {
		pe := *pgerr.From(err)
		pe.Position = 0
		return nil, &pe
	}
	return e, nil
}

// generate puts the generated columns into b, whose vectors are flat.
func (r *rowRules) generate(b *vector.Batch) error {
	for _, g := range r.generated {
		v, err := g.prog.Eval(r.env, b)
		if err != nil {
			return err
		}
		b.Cols[g.col] = v.Flat(&vector.Vector{})
	}
	for i := range r.domains {
		if err := r.domains[i].check(r.env, b); err != nil {
			return err
		}
	}
	return nil
}

// violated finds the first row for which a check is false; row is b.N if there
// is none.
func (r *rowRules) violated(b *vector.Batch) (row int, name string, err error) {
	row = b.N
	for _, c := range r.checks {
		v, err := c.prog.Eval(r.env, b)
		if err != nil {
			return 0, "", err
		}
		for i := range row {
			if !v.IsNull(i) && !v.Bool(i) {
				row, name = i, c.name
				break
			}
		}
	}
	return row, name, nil
}

func (s *Session) checkViolation(t *catalog.Table, b *vector.Batch, row int, name string) *pgerr.Error {
	e := pgerr.New(pgerr.CheckViolation, `new row for relation "%s" violates check constraint "%s"`, t.Name, name)
	e.Schema, e.Table, e.Constraint = s.schemaName(t.Schema), t.Name, name
	return e.WithDetail("Failing row contains (%s).", s.failingRow(t, b, row))
}

// checkClause is a CHECK of CREATE or ALTER TABLE that waits for the columns.
type checkClause struct {
	c      *pg_query.Constraint
	column string // of a column's constraint
}

// addCheck turns a clause into a check of the table.
func (b *tableBuilder) addCheck(k checkClause) error {
	text, err := deparse(k.c.RawExpr)
	if err != nil {
		return err
	}
	env := (*bind.Env)(b.s.env(b.s.catalog(), b.s.functionCtx(), nil))
	e, _, err := bind.ExpressionIn(env, b.st, k.c.RawExpr, b.t, bind.ForCheck, types.T(types.Bool))
	if err != nil {
		return err
	}
	check := catalog.Check{Name: k.c.Conname, Expr: text, NoInherit: k.c.IsNoInherit, NotValid: k.c.SkipValidation}
	scalar.Walk(e, func(e scalar.Expr) bool {
		if c, ok := e.(*scalar.Column); ok && !slices.Contains(check.Columns, b.t.Columns[c.Index].AttNum) {
			check.Columns = append(check.Columns, b.t.Columns[c.Index].AttNum)
		}
		return true
	})
	if check.Name == "" {
		check.Name = b.checkName(check.Columns)
	} else if _, taken := constraintNamed(b.t, check.Name); taken {
		if k.column != "" || b.t.OID == 0 {
			return pgerr.New(pgerr.DuplicateObject, `check constraint "%s" already exists`, check.Name)
		}
		return pgerr.New(pgerr.DuplicateObject, `constraint "%s" for relation "%s" already exists`, check.Name, b.t.Name)
	}
	if check.OID, err = b.s.e.newOID(); err != nil {
		return err
	}
	b.t.Checks = append(b.t.Checks, check)
	return nil
}

// checkName is the name that PostgreSQL gives a check: with the column's where
// it reads one.
func (b *tableBuilder) checkName(columns []int16) string {
	middle := ""
	if len(columns) == 1 {
		middle = b.t.Columns[b.t.ColumnByNum(columns[0])].Name
	}
	for n := 0; ; n++ {
		end := "check"
		if n > 0 {
			end += itoa(int64(n))
		}
		name := objectNameFor(b.t.Name, middle, end)
		if _, taken := constraintNamed(b.t, name); !taken && !b.nameTaken(name) {
			return name
		}
	}
}

// generatedColumn reads GENERATED ALWAYS AS (...) STORED once all columns are there.
func (b *tableBuilder) generatedColumn(col int, n *pg_query.Node) error {
	c := &b.t.Columns[col]
	text, err := deparse(n)
	if err != nil {
		return err
	}
	env := (*bind.Env)(b.s.env(b.s.catalog(), b.s.functionCtx(), nil))
	e, ok, err := bind.ExpressionIn(env, b.st, n, b.t, bind.ForGenerated, c.Type)
	switch {
	case err != nil:
		return err
	case !ok:
		return pgerr.New(pgerr.DatatypeMismatch, `column "%s" is of type %s but default expression is of type %s`, c.Name,
			types.FormatType(types.T(c.Type.OID)), types.FormatType(types.T(e.ResultType().OID))).
			WithHint("You will need to rewrite or cast the expression.")
	}
	var other *catalog.Column
	scalar.Walk(e, func(e scalar.Expr) bool {
		if r, ok := e.(*scalar.Column); ok && (r.Index == col || b.t.Columns[r.Index].Generated != "" || b.generated[r.Index] != nil) {
			other = &b.t.Columns[r.Index]
		}
		return other == nil
	})
	if other != nil {
		return pgerr.New(pgerr.InvalidObjectDefinition, `cannot use generated column "%s" in column generation expression`, other.Name).
			WithDetail("A generated column cannot reference another generated column.")
	}
	if !bind.Immutable(e) {
		return pgerr.New(pgerr.InvalidObjectDefinition, "generation expression is not immutable")
	}
	c.Generated = text
	return nil
}
