package session

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/exec/eval"
	"tsdb/planner/bind"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// changedType computes a column of another type from the old rows.
type changedType struct {
	prog     *eval.Program
	env      *eval.Env
	volatile bool
}

// changeType is ALTER COLUMN ... TYPE. Rows are rewritten unless every value of
// the old type is one of the new type in the same form.
func (x *alteration) changeType(name string, d *pg_query.ColumnDef) error {
	i, err := x.column(name)
	if err != nil {
		return err
	}
	d.Colname = name
	typ, domain, err := x.columnType(d)
	if err != nil {
		return unplaced(err)
	}
	if err := x.collation(d, typ); err != nil {
		return err
	}
	c := &x.t.Columns[i]
	e, err := x.conversion(c, typ, d.RawDefault)
	if err != nil {
		return err
	}
	if err := x.refuseReaders(i); err != nil {
		return err
	}
	old := c.Type
	c.Type, c.Domain = typ, domain
	if c.Default != "" {
		if _, err := x.s.boundDefault(x.s.functionCtx(), x.s.catalog(), c.Default, c); err != nil {
			return pgerr.New(pgerr.DatatypeMismatch, `default for column "%s" cannot be cast automatically to type %s`, name, types.FormatType(typ))
		}
	}
	if plainColumn(e) && d.RawDefault == nil && (sameForm(e) || widens(old, typ)) && codecOf(old) == codecOf(typ) {
		return nil
	}
	sc := &x.t.Storage.Columns[i]
	sc.Kind, sc.Codec, sc.Missing = typ.Kind(), codecOf(typ), nil
	for _, con := range x.t.Constraints {
		if slices.Contains(con.Columns, i) {
			if err := keyType(c, sc.Codec); err != nil {
				return err
			}
			x.rekeyed = x.rekeyed || con.Primary
		}
	}
	x.rekeyed = x.rekeyed || x.t.Storage.Time == i
	prog, err := eval.Compile(e)
	if err != nil {
		return err
	}
	x.changed[c.ID] = &changedType{prog: prog, env: &eval.Env{Ctx: x.s.functionCtx()}, volatile: volatile(e)}
	x.rewrite = true
	return nil
}

// conversion binds USING, or the cast that assignment makes.
func (x *alteration) conversion(c *catalog.Column, typ types.Type, using *pg_query.Node) (scalar.Expr, error) {
	var e scalar.Expr
	var ok bool
	var err error
	if using != nil {
		e, ok, err = bind.ExpressionIn((*bind.Env)(x.s.env(x.s.catalog(), x.s.functionCtx(), nil)), x.st, using, x.old, bind.ForTransform, typ)
	} else {
		e, ok, err = x.over(quoteIdent(c.Name), bind.ForTransform, typ)
	}
	if err != nil || ok {
		return e, err
	}
	word := types.FormatType(types.T(typ.OID))
	if using != nil {
		return nil, pgerr.New(pgerr.DatatypeMismatch, `result of USING clause for column "%s" cannot be cast automatically to type %s`, c.Name, word).
			WithHint("You might need to add an explicit cast.")
	}
	return nil, pgerr.New(pgerr.DatatypeMismatch, `column "%s" cannot be cast automatically to type %s`, c.Name, word).
		WithHint(`You might need to specify "USING %s::%s".`, quoteIdent(c.Name), types.FormatType(typ))
}

// refuseReaders names what is computed from a column and would have to change
// with its type.
func (x *alteration) refuseReaders(i int) error {
	c := &x.t.Columns[i]
	for _, e := range newDropper(x.s.catalog()).edges[relationRef(x.old.OID)] {
		if e.on.Column == c.AttNum && x.isView(e.dependent.OID) {
			return pgerr.New(pgerr.FeatureNotSupported, "cannot alter type of a column used by a view or rule").
				WithDetail(`rule _RETURN on %s depends on column "%s"`, x.s.describe(e.dependent), c.Name)
		}
	}
	if c.Generated != "" {
		return pgerr.Unsupported("changing the type of a generated column").
			WithHint("Drop the column and add it with the new type.")
	}
	for k := range x.t.Columns {
		g := &x.t.Columns[k]
		if g.Generated == "" {
			continue
		}
		e, _, err := x.over(g.Generated, bind.ForGenerated, g.Type)
		if err == nil && reads(e, x.old, c) {
			return pgerr.New(pgerr.FeatureNotSupported, "cannot alter type of a column used by a generated column").
				WithDetail(`Column "%s" is used by generated column "%s".`, c.Name, g.Name)
		}
	}
	return nil
}

func (x *alteration) isView(oid types.OID) bool {
	r, ok := x.s.catalog().RelationByOID(oid)
	return ok && (r.Kind == catalog.RelView || r.Kind == catalog.RelMaterialized)
}

// reads reports whether an expression over the columns of t reads column c.
func reads(e scalar.Expr, t *catalog.Table, c *catalog.Column) bool {
	found := false
	scalar.Walk(e, func(e scalar.Expr) bool {
		if col, ok := e.(*scalar.Column); ok && t.Columns[col.Index].ID == c.ID {
			found = true
		}
		return !found
	})
	return found
}

// plainColumn reports whether e is a column, perhaps cast.
func plainColumn(e scalar.Expr) bool {
	for {
		switch x := e.(type) {
		case *scalar.Column:
			return true
		case *scalar.Cast:
			e = x.Arg
		default:
			return false
		}
	}
}

// sameForm reports whether the casts of e leave the bytes as they are.
func sameForm(e scalar.Expr) bool {
	for {
		c, ok := e.(*scalar.Cast)
		if !ok {
			return true
		}
		if c.Kernel != nil {
			return false
		}
		e = c.Arg
	}
}

// widens reports whether every value of a type fits its like with a longer or no
// modifier unchanged.
func widens(from, to types.Type) bool {
	if from.OID != to.OID || from.Mod < 0 {
		return from == to
	}
	switch to.OID {
	case types.Varchar:
		return to.Mod < 0 || to.Mod >= from.Mod
	case types.Numeric:
		if to.Mod < 0 {
			return true
		}
		f, t := from.Mod-4, to.Mod-4
		return t&0xFFFF == f&0xFFFF && t>>16 >= f>>16
	}
	return false
}
