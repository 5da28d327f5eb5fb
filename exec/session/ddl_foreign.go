package session

import (
	"context"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/planner/bind"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// foreignClause is a FOREIGN KEY or REFERENCES that waits for its table.
type foreignClause struct {
	c                    *pg_query.Constraint
	columns              []string
	deferrable, deferred bool
}

func (b *tableBuilder) addForeign(c *pg_query.Constraint, columns []string) error {
	b.foreign = append(b.foreign, foreignClause{c, columns, c.Deferrable, c.Initdeferred})
	return nil
}

// addForeignKeys makes the clauses constraints of the table, which the catalog
// has by now: it may reference itself.
func (b *tableBuilder) addForeignKeys(ctx context.Context) error {
	for _, k := range b.foreign {
		b.t = b.t.Clone()
		if _, err := b.foreignKey(ctx, k); err != nil {
			return err
		}
		b.s.tx.local = b.s.tx.local.WithTable(b.t)
	}
	return nil
}

// foreignKey adds one constraint to the table and returns it.
func (b *tableBuilder) foreignKey(ctx context.Context, k foreignClause) (*catalog.ForeignKey, error) {
	f := catalog.ForeignKey{Name: k.c.Conname, OnDelete: action(k.c.FkDelAction), OnUpdate: action(k.c.FkUpdAction),
		MatchFull: k.c.FkMatchtype == "f", Deferrable: k.deferrable, Deferred: k.deferred, NotValid: k.c.SkipValidation}
	if k.c.FkMatchtype == "p" {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "MATCH PARTIAL not yet implemented")
	}
	if len(k.c.FkDelSetCols) > 0 {
		return nil, pgerr.Unsupported("a column list of ON DELETE SET")
	}
	parent, err := b.s.relation(k.c.Pktable)
	if err != nil {
		if pgerr.From(err).Code == pgerr.WrongObjectType {
			err = pgerr.New(pgerr.WrongObjectType, `referenced relation "%s" is not a table`, k.c.Pktable.GetRelname())
		}
		return nil, err
	}
	if parent.Temp != b.t.Temp {
		word := map[bool]string{true: "temporary", false: "permanent"}[b.t.Temp]
		return nil, pgerr.New(pgerr.InvalidTableDefinition, "constraints on %s tables may reference only %s tables", word, word)
	}
	own := make([]int, len(k.columns))
	for i, name := range k.columns {
		if own[i] = b.t.ColumnIndex(name); own[i] < 0 {
			return nil, noForeignColumn(name)
		}
		f.Columns = append(f.Columns, b.t.Columns[own[i]].AttNum)
	}
	key, err := referencedKey(&f, parent, k.c.PkAttrs)
	if err != nil {
		return nil, err
	}
	f.Table, f.Constraint = parent.OID, key.OID
	if err := b.foreignName(&f, k.columns); err != nil {
		return nil, err
	}
	for i, col := range own {
		p := parent.ColumnByNum(f.RefColumns[i])
		if _, err := b.s.foreignConversion(b.t, col, parent.Columns[p].Type); err != nil {
			return nil, pgerr.New(pgerr.DatatypeMismatch, `foreign key constraint "%s" cannot be implemented`, f.Name).
				WithDetail(`Key columns "%s" and "%s" are of incompatible types: %s and %s.`, b.t.Columns[col].Name, parent.Columns[p].Name,
					types.FormatType(types.T(b.t.Columns[col].Type.OID)), types.FormatType(types.T(parent.Columns[p].Type.OID)))
		}
	}
	f.Enforced = b.t.Storage.Layout == table.RowStore && parent.Storage.Layout == table.RowStore
	if !f.Enforced {
		b.s.notice(pgerr.Notice(`foreign key constraint "%s" is recorded and not enforced: that takes tables of layout "row" on both sides`, f.Name))
	}
	if f.OID, err = b.s.e.newOID(); err != nil {
		return nil, err
	}
	if f.Enforced && parent.OID != b.t.OID {
		if err := b.s.announceChild(ctx, parent); err != nil {
			return nil, err
		}
	}
	b.t.ForeignKeys = append(b.t.ForeignKeys, f)
	return &b.t.ForeignKeys[len(b.t.ForeignKeys)-1], nil
}

// announceChild waits for those who change a table that is referenced from now
// on, and makes the others bind their statements again.
func (s *Session) announceChild(ctx context.Context, parent *catalog.Table) error {
	if err := s.lockTableAlone(ctx, parent.OID); err != nil {
		return err
	}
	if now, ok := s.catalog().TableByOID(parent.OID); ok {
		s.tx.local = s.tx.local.WithTable(now.Clone())
	}
	return nil
}

func action(word string) byte {
	if word == "" {
		return 'a'
	}
	return word[0]
}

func noForeignColumn(name string) error {
	return pgerr.New(pgerr.UndefinedColumn, `column "%s" referenced in foreign key constraint does not exist`, name)
}

// referencedKey finds the key that the named columns of the parent are, the
// primary key where none are named, and fills f.RefColumns.
func referencedKey(f *catalog.ForeignKey, parent *catalog.Table, names []*pg_query.Node) (*catalog.Constraint, error) {
	if len(names) == 0 {
		pk := parent.PrimaryKey()
		if pk == nil {
			return nil, pgerr.New(pgerr.UndefinedObject, `there is no primary key for referenced table "%s"`, parent.Name)
		}
		for _, c := range pk.Columns {
			f.RefColumns = append(f.RefColumns, parent.Columns[c].AttNum)
		}
	}
	var cols []int
	for _, n := range names {
		i := parent.ColumnIndex(stringOf(n))
		if i < 0 {
			return nil, noForeignColumn(stringOf(n))
		}
		cols = append(cols, i)
		f.RefColumns = append(f.RefColumns, parent.Columns[i].AttNum)
	}
	if len(f.Columns) != len(f.RefColumns) {
		return nil, pgerr.New(pgerr.InvalidForeignKey, "number of referencing and referenced columns for foreign key disagree")
	}
	if len(names) == 0 {
		return parent.PrimaryKey(), nil
	}
	slices.Sort(cols)
	for i := range parent.Constraints {
		c := &parent.Constraints[i]
		if have := slices.Sorted(slices.Values(c.Columns)); slices.Equal(have, cols) {
			return c, nil
		}
	}
	return nil, pgerr.New(pgerr.InvalidForeignKey, `there is no unique constraint matching given keys for referenced table "%s"`, parent.Name)
}

func (b *tableBuilder) foreignName(f *catalog.ForeignKey, columns []string) error {
	if f.Name != "" {
		if _, taken := constraintNamed(b.t, f.Name); taken {
			return pgerr.New(pgerr.DuplicateObject, `constraint "%s" for relation "%s" already exists`, f.Name, b.t.Name)
		}
		return nil
	}
	for n := 0; ; n++ {
		end := "fkey"
		if n > 0 {
			end += itoa(int64(n))
		}
		f.Name = objectNameFor(b.t.Name, strings.Join(columns, "_"), end)
		if _, taken := constraintNamed(b.t, f.Name); !taken {
			return nil
		}
	}
}

// foreignConversion makes a column of the referencing table a value of the
// referenced column's type, where the two can be compared.
func (s *Session) foreignConversion(t *catalog.Table, col int, want types.Type) (string, error) {
	c := &t.Columns[col]
	text := quoteIdent(c.Name)
	env := (*bind.Env)(s.env(s.catalog(), s.functionCtx(), nil))
	plain := types.T(want.OID)
	if _, _, err := bind.ExpressionOver(env, text+" = CAST(NULL AS "+types.FormatType(plain)+")", t, bind.ForCheck, types.T(types.Bool)); err != nil {
		return "", err
	}
	if c.Type.OID != want.OID {
		text = "CAST(" + text + " AS " + types.FormatType(plain) + ")"
	}
	_, ok, err := bind.ExpressionOver(env, text, t, bind.ForTransform, plain)
	if err == nil && !ok {
		err = pgerr.New(pgerr.DatatypeMismatch, "no conversion")
	}
	return text, err
}

// setConstraints runs SET CONSTRAINTS.
func (s *Session) setConstraints(ctx context.Context, n *pg_query.ConstraintsSetStmt) error {
	tx := s.tx
	if !tx.block {
		s.warn(pgerr.NoActiveSQLTransaction, "SET CONSTRAINTS can only be used in transaction blocks")
	}
	if len(n.Constraints) == 0 {
		tx.constraints, tx.allConstraints = nil, -1
		if n.Deferred {
			tx.allConstraints = 1
			return nil
		}
		return s.checkDeferred(ctx, nil)
	}
	named := map[types.OID]bool{}
	for _, c := range n.Constraints {
		name := c.GetRangeVar().GetRelname()
		found := false
		for _, t := range s.catalog().Tables() {
			for _, f := range t.ForeignKeys {
				if f.Name != name {
					continue
				}
				if !f.Deferrable {
					return pgerr.New(pgerr.WrongObjectType, `constraint "%s" is not deferrable`, name)
				}
				found, named[f.OID] = true, true
			}
			if _, other := constraintNamed(t, name); other && !found {
				return pgerr.New(pgerr.WrongObjectType, `constraint "%s" is not deferrable`, name)
			}
		}
		if !found {
			return pgerr.New(pgerr.UndefinedObject, `constraint "%s" does not exist`, name)
		}
	}
	if tx.constraints == nil {
		tx.constraints = map[types.OID]bool{}
	}
	for oid := range named {
		tx.constraints[oid] = n.Deferred
	}
	if n.Deferred {
		return nil
	}
	return s.checkDeferred(ctx, func(f *catalog.ForeignKey) bool { return named[f.OID] })
}
