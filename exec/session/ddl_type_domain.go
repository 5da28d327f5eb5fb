package session

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/bind"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// columnDomain checks the values of a column that is declared with a domain.
type columnDomain struct {
	col     int
	checker *bind.DomainChecker
}

func (d *columnDomain) check(env *eval.Env, b *vector.Batch) error {
	return d.checker.Check(env.Ctx, b.Cols[d.col], b.N)
}

// columnDomains compiles the rules of the domains of a table's columns.
func (s *Session) columnDomains(cat *catalog.Snapshot, t *catalog.Table) ([]columnDomain, error) {
	var out []columnDomain
	for i := range t.Columns {
		d, ok := cat.DomainByOID(t.Columns[i].Domain)
		if !ok {
			continue
		}
		rules, err := bind.RulesOf((*bind.Env)(s.env(cat, s.functionCtx(), nil)), d)
		if err != nil {
			return nil, err
		}
		if rules == nil {
			continue
		}
		k, err := rules.Checker()
		if err != nil {
			return nil, err
		}
		out = append(out, columnDomain{i, k})
	}
	return out, nil
}

// bindEnv is what binding depends on outside of queries.
func (s *Session) bindEnv() *bind.Env {
	return (*bind.Env)(s.env(s.catalog(), s.functionCtx(), nil))
}

// newTypeName finds the schema of a type that is to be made and refuses a name
// that is taken.
func (s *Session) newTypeName(names []*pg_query.Node) (*catalog.Schema, string, error) {
	schema, name := objectPath(&pg_query.Node{Node: &pg_query.Node_List{List: &pg_query.List{Items: names}}})
	var sc *catalog.Schema
	var ok bool
	if schema == "" {
		if sc, ok = s.creationSchema(s.catalog()); !ok {
			return nil, "", pgerr.New(pgerr.InvalidSchemaName, "no schema has been selected to create in")
		}
	} else if sc, ok = s.findSchema(schema); !ok {
		return nil, "", noSchema(schema)
	}
	if err := refuseSystemSchema(sc, name); err != nil {
		return nil, "", err
	}
	return sc, name, s.typeNameTaken(sc.OID, name)
}

// unplaced is the error of a domain's definition or of an expression in ALTER
// TABLE: PostgreSQL gives it no position.
func unplaced(err error) error {
	if err == nil {
		return nil
	}
	e := *pgerr.From(err)
	e.Position = 0
	return &e
}

// createDomain runs CREATE DOMAIN.
func (s *Session) createDomain(st *sql.Statement, n *pg_query.CreateDomainStmt) error {
	sc, name, err := s.newTypeName(n.Domainname)
	if err != nil {
		return err
	}
	typ, parent, err := bind.DeclaredType(s.bindEnv(), st, n.TypeName)
	if err != nil {
		return unplaced(err)
	}
	if info, ok := types.Lookup(typ.OID); ok && info.Category == 'P' || typ.OID == types.Unknown {
		return pgerr.New(pgerr.DatatypeMismatch, `"%s" is not a valid base type for a domain`, types.FormatType(typ))
	}
	d := &catalog.Domain{Schema: sc.OID, Name: name, Owner: s.userOID(), Base: typ.OID, Mod: typ.Mod}
	if parent != nil {
		d.Parent = parent.OID
	}
	b := domainBuilder{s: s, st: st, d: d}
	for _, c := range n.Constraints {
		if err := b.clause(c.GetConstraint()); err != nil {
			return err
		}
	}
	if d.OID, err = s.e.newOID(); err != nil {
		return err
	}
	if d.ArrayOID, err = s.e.newOID(); err != nil {
		return err
	}
	s.tx.local = s.tx.local.WithDomain(d)
	return nil
}

// domainBuilder reads the clauses of CREATE DOMAIN.
type domainBuilder struct {
	s         *Session
	st        *sql.Statement
	d         *catalog.Domain
	null      int // -1 NULL, 1 NOT NULL, 0 neither was said
	defaulted bool
}

func (b *domainBuilder) clause(c *pg_query.Constraint) error {
	pos := b.st.Position(c.Location)
	switch c.Contype {
	case pg_query.ConstrType_CONSTR_DEFAULT:
		if b.defaulted {
			return pgerr.New(pgerr.SyntaxError, "multiple default expressions")
		}
		b.defaulted = true
		return b.setDefault(c.RawExpr)
	case pg_query.ConstrType_CONSTR_NOTNULL, pg_query.ConstrType_CONSTR_NULL:
		want := 1
		if c.Contype == pg_query.ConstrType_CONSTR_NULL {
			want = -1
		}
		switch {
		case b.null == -want:
			return pgerr.New(pgerr.SyntaxError, "conflicting NULL/NOT NULL constraints")
		case b.null == want:
			return nil
		}
		b.null, b.d.NotNull = want, want == 1
		return nil
	case pg_query.ConstrType_CONSTR_CHECK:
		return b.check(c)
	case pg_query.ConstrType_CONSTR_UNIQUE:
		return pgerr.New(pgerr.SyntaxError, "unique constraints not possible for domains")
	case pg_query.ConstrType_CONSTR_PRIMARY:
		return pgerr.New(pgerr.SyntaxError, "primary key constraints not possible for domains")
	case pg_query.ConstrType_CONSTR_FOREIGN:
		return pgerr.New(pgerr.SyntaxError, "foreign key constraints not possible for domains")
	case pg_query.ConstrType_CONSTR_EXCLUSION:
		return pgerr.New(pgerr.SyntaxError, "exclusion constraints not possible for domains")
	}
	return pgerr.Unsupported("this kind of domain constraint").At(pos)
}

func (b *domainBuilder) setDefault(n *pg_query.Node) error {
	b.d.Default = ""
	if n == nil || n.GetAConst().GetIsnull() {
		return nil
	}
	if _, err := bind.Default(b.s.bindEnv(), b.st, n, b.d.Name, types.Type{OID: b.d.Base, Mod: b.d.Mod}); err != nil {
		return unplaced(err)
	}
	text, err := deparse(n)
	b.d.Default = text
	return err
}

func (b *domainBuilder) check(c *pg_query.Constraint) error {
	if err := bind.DomainCheck(b.s.bindEnv(), b.st, c.RawExpr, b.d); err != nil {
		return unplaced(err)
	}
	text, err := deparse(c.RawExpr)
	if err != nil {
		return err
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(b.d.Checks, func(c catalog.Check) bool { return c.Name == name })
	}
	check := catalog.Check{Name: c.Conname, Expr: text, NotValid: c.SkipValidation}
	for n := 0; check.Name == ""; n++ {
		end := "check"
		if n > 0 {
			end += itoa(int64(n))
		}
		if name := objectNameFor(b.d.Name, "", end); !taken(name) {
			check.Name = name
		}
	}
	if taken(check.Name) {
		return pgerr.New(pgerr.DuplicateObject, `constraint "%s" for domain "%s" already exists`, check.Name, b.d.Name)
	}
	if check.OID, err = b.s.e.newOID(); err != nil {
		return err
	}
	b.d.Checks = append(slices.Clone(b.d.Checks), check)
	return nil
}

// domainNamed finds the domain of ALTER DOMAIN.
func (s *Session) domainNamed(names []*pg_query.Node) (*catalog.Domain, error) {
	schema, name := objectPath(&pg_query.Node{Node: &pg_query.Node_List{List: &pg_query.List{Items: names}}})
	whole := dotted(schema, name)
	t, ok := s.findType(schema, name)
	switch {
	case !ok:
		return nil, pgerr.New(pgerr.UndefinedObject, `type "%s" does not exist`, whole)
	case !t.domain:
		return nil, pgerr.New(pgerr.WrongObjectType, "%s is not a domain", whole)
	case !s.superuser() && t.owner != s.userOID():
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "must be owner of type %s", name)
	}
	d, _ := s.catalog().DomainByOID(t.oid)
	return d, nil
}

// alterDomain runs ALTER DOMAIN but for what it shares with ALTER TYPE.
func (s *Session) alterDomain(ctx context.Context, st *sql.Statement, n *pg_query.AlterDomainStmt) error {
	old, err := s.domainNamed(n.TypeName)
	if err != nil {
		return err
	}
	d := *old
	b := domainBuilder{s: s, st: st, d: &d}
	switch n.Subtype {
	case "T":
		err = b.setDefault(n.Def)
	case "N":
		d.NotNull = false
	case "O":
		if d.NotNull {
			return nil
		}
		d.NotNull = true
		err = s.checkColumnsOf(ctx, &d, &catalog.Domain{OID: d.OID, Name: d.Name, Base: d.Base, Mod: d.Mod, NotNull: true})
	case "C":
		err = s.addDomainCheck(ctx, &b, n.Def.GetConstraint())
	case "X":
		return s.dropDomainCheck(ctx, &d, n)
	case "V":
		err = s.validateDomainCheck(ctx, &d, n.Name)
	default:
		return pgerr.Unsupported("this form of ALTER DOMAIN")
	}
	if err == nil {
		s.tx.local = s.tx.local.WithDomain(&d)
	}
	return err
}

func (s *Session) addDomainCheck(ctx context.Context, b *domainBuilder, c *pg_query.Constraint) error {
	if c.GetContype() != pg_query.ConstrType_CONSTR_CHECK {
		return b.clause(c)
	}
	if err := b.check(c); err != nil || c.SkipValidation {
		return err
	}
	return s.checkValues(ctx, b.d, len(b.d.Checks)-1)
}

// checkValues checks the columns of a domain against one of its checks.
func (s *Session) checkValues(ctx context.Context, d *catalog.Domain, check int) error {
	only := &catalog.Domain{OID: d.OID, Name: d.Name, Base: d.Base, Mod: d.Mod, Checks: d.Checks[check : check+1]}
	return s.checkColumnsOf(ctx, d, only)
}

func (s *Session) dropDomainCheck(ctx context.Context, d *catalog.Domain, n *pg_query.AlterDomainStmt) error {
	i := slices.IndexFunc(d.Checks, func(c catalog.Check) bool { return c.Name == n.Name })
	if i >= 0 {
		return s.dropObjects(ctx, []catalog.Ref{constraintRef(d.Checks[i].OID)}, false, n.Behavior == pg_query.DropBehavior_DROP_CASCADE)
	}
	if !n.MissingOk {
		return pgerr.New(pgerr.UndefinedObject, `constraint "%s" of domain "%s" does not exist`, n.Name, d.Name)
	}
	s.notice(pgerr.Notice(`constraint "%s" of domain "%s" does not exist, skipping`, n.Name, d.Name))
	return nil
}

func (s *Session) validateDomainCheck(ctx context.Context, d *catalog.Domain, name string) error {
	i := slices.IndexFunc(d.Checks, func(c catalog.Check) bool { return c.Name == name })
	if i < 0 {
		return pgerr.New(pgerr.UndefinedObject, `constraint "%s" of domain "%s" does not exist`, name, d.Name)
	}
	if !d.Checks[i].NotValid {
		return nil
	}
	d.Checks = slices.Clone(d.Checks)
	d.Checks[i].NotValid = false
	return s.checkValues(ctx, d, i)
}

// checkColumnsOf reads the columns that are declared with a domain, or one made
// from it, and refuses the first value that the rules of only do not admit.
func (s *Session) checkColumnsOf(ctx context.Context, d, only *catalog.Domain) error {
	rules, err := bind.RulesOf(s.bindEnv(), only)
	if err != nil {
		return err
	}
	checker, err := rules.Checker()
	if err != nil {
		return err
	}
	c := s.functionCtx()
	for _, t := range s.tx.local.Tables() {
		for i := range t.Columns {
			if !s.madeFrom(t.Columns[i].Domain, d.OID) {
				continue
			}
			if err := s.checkColumn(ctx, t, i, checker, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// madeFrom reports whether a domain is one, or was made from it.
func (s *Session) madeFrom(domain, one types.OID) bool {
	for domain != 0 && domain != one {
		d, ok := s.catalog().DomainByOID(domain)
		if !ok {
			return false
		}
		domain = d.Parent
	}
	return domain == one
}

func (s *Session) checkColumn(ctx context.Context, t *catalog.Table, col int, k *bind.DomainChecker, c *functions.Ctx) error {
	if err := s.lockTableAlone(ctx, t.OID); err != nil {
		return err
	}
	snap := s.writeTx().Snapshot()
	defer snap.Close()
	sc, err := snap.Scan(t.Storage.ID, table.ScanRequest{Columns: allOf(t)})
	if err != nil {
		return err
	}
	var flat vector.Batch
	return readAll(ctx, sc, func(b *vector.Batch) error {
		b = b.Flat(&flat)
		err := k.Check(c, b.Cols[col].Flat(&vector.Vector{}), b.N)
		if err == nil {
			return nil
		}
		e, column := pgerr.From(err), t.Columns[col].Name
		switch e.Code {
		case pgerr.CheckViolation:
			e = pgerr.New(e.Code, `column "%s" of table "%s" contains values that violate the new constraint`, column, t.Name)
		case pgerr.NotNullViolation:
			e = pgerr.New(e.Code, `column "%s" of table "%s" contains null values`, column, t.Name)
		default:
			return err
		}
		e.Schema, e.Table, e.Column = s.schemaName(t.Schema), t.Name, column
		return e
	})
}

// renameDomainCheck is ALTER DOMAIN ... RENAME CONSTRAINT.
func (s *Session) renameDomainCheck(names []*pg_query.Node, from, to string) error {
	old, err := s.domainNamed(names)
	if err != nil {
		return err
	}
	at := func(name string) int {
		return slices.IndexFunc(old.Checks, func(c catalog.Check) bool { return c.Name == name })
	}
	i := at(from)
	switch {
	case i < 0:
		return pgerr.New(pgerr.UndefinedObject, `constraint "%s" of domain "%s" does not exist`, from, old.Name)
	case at(to) >= 0:
		return pgerr.New(pgerr.DuplicateObject, `constraint "%s" for domain "%s" already exists`, to, old.Name)
	}
	d := *old
	d.Checks = slices.Clone(old.Checks)
	d.Checks[i].Name = to
	s.tx.local = s.tx.local.WithDomain(&d)
	return nil
}

// checkDefault refuses a value that the domain of a column does not admit.
func (s *Session) checkDefault(c *catalog.Column, v *vector.Vector) error {
	rules, err := s.columnDomains(s.catalog(), &catalog.Table{Columns: []catalog.Column{*c}})
	if err != nil || len(rules) == 0 {
		return err
	}
	return rules[0].checker.Check(s.functionCtx(), v, 1)
}
