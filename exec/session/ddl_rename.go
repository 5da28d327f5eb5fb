package session

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// renamedKind spells what a RENAME is about, for its tag.
func renamedKind(n *pg_query.RenameStmt) string {
	switch n.RenameType {
	case pg_query.ObjectType_OBJECT_COLUMN:
		return objectName(n.RelationType)
	case pg_query.ObjectType_OBJECT_DOMCONSTRAINT:
		return "DOMAIN"
	}
	return objectName(n.RenameType)
}

// rename runs ALTER ... RENAME of any kind of object.
func (s *Session) rename(ctx context.Context, n *pg_query.RenameStmt) error {
	switch n.RenameType {
	case pg_query.ObjectType_OBJECT_TABLE, pg_query.ObjectType_OBJECT_VIEW, pg_query.ObjectType_OBJECT_MATVIEW,
		pg_query.ObjectType_OBJECT_SEQUENCE, pg_query.ObjectType_OBJECT_INDEX:
		return s.renameRelation(ctx, n)
	case pg_query.ObjectType_OBJECT_COLUMN, pg_query.ObjectType_OBJECT_TABCONSTRAINT:
		return s.renameInside(ctx, n)
	case pg_query.ObjectType_OBJECT_DOMCONSTRAINT:
		return s.renameDomainCheck(n.Object.GetList().GetItems(), n.Subname, n.Newname)
	case pg_query.ObjectType_OBJECT_SCHEMA:
		return s.renameSchema(n)
	case pg_query.ObjectType_OBJECT_TYPE, pg_query.ObjectType_OBJECT_DOMAIN:
		return s.changeType(n.RenameType, n.Object, func(t *typeHead) error {
			if err := s.typeNameTaken(t.schema, n.Newname); err != nil {
				return err
			}
			t.name = n.Newname
			return nil
		})
	}
	return pgerr.Unsupported("%s", commandName(&pg_query.Node{Node: &pg_query.Node_RenameStmt{RenameStmt: n}}))
}

// renameRelation renames a relation of any kind.
func (s *Session) renameRelation(ctx context.Context, n *pg_query.RenameStmt) error {
	r, err := s.anyRelation(n.Relation)
	if err != nil {
		return s.missingAltered(err, n.MissingOk, n.Relation)
	}
	if n.RenameType != pg_query.ObjectType_OBJECT_INDEX { // that one renames anything, as in PostgreSQL
		if err := alterable(r, n.RenameType); err != nil {
			return err
		}
	}
	if err := s.mustOwnRelation(r); err != nil {
		return err
	}
	if err := s.relationNameFree(r, r.Schema, n.Newname); err != nil {
		return err
	}
	switch {
	case r.View != nil:
		v := *r.View
		v.Name = n.Newname
		s.tx.local = s.tx.local.WithView(&v)
	case r.Sequence != nil:
		q := *r.Sequence
		q.Name = n.Newname
		s.tx.local = s.tx.local.WithSequence(&q)
	default:
		return s.renameTable(ctx, r, n.Newname)
	}
	return nil
}

// relationNameFree refuses a name that another relation or a type has.
func (s *Session) relationNameFree(r catalog.Relation, schema types.OID, name string) error {
	if s.relationExists(schema, name) {
		e := pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, name)
		if schema != r.Schema {
			e.Message += ` in schema "` + s.schemaName(schema) + `"`
		}
		return e
	}
	if r.Kind == catalog.RelIndex || r.Kind == catalog.RelSequence {
		return nil
	}
	return s.typeNameTaken(schema, name)
}

// renameTable renames a table, a materialized view or an index of one.
func (s *Session) renameTable(ctx context.Context, r catalog.Relation, name string) error {
	if err := s.lockTableAlone(ctx, r.Table.OID); err != nil {
		return err
	}
	t := r.Table.Clone()
	switch {
	case r.Constraint != nil:
		t.Constraints[slices.IndexFunc(t.Constraints, func(c catalog.Constraint) bool { return c.IndexOID == r.OID })].Name = name
	case r.Index != nil:
		t.Indexes[slices.IndexFunc(t.Indexes, func(x catalog.Index) bool { return x.OID == r.OID })].Name = name
	default:
		if err := renameIn(t, func(table, column string) (string, string) { return "", column }); err != nil {
			return err
		}
		t.Name = name
	}
	s.tx.local = s.tx.local.WithTable(t)
	return nil
}

// renameInside renames a column or a constraint.
func (s *Session) renameInside(ctx context.Context, n *pg_query.RenameStmt) error {
	r, err := s.anyRelation(n.Relation)
	if err != nil {
		return s.missingAltered(err, n.MissingOk, n.Relation)
	}
	if n.RenameType == pg_query.ObjectType_OBJECT_COLUMN {
		if err := alterable(r, n.RelationType); err != nil {
			return err
		}
	}
	if err := s.mustOwnRelation(r); err != nil {
		return err
	}
	switch {
	case r.View != nil && n.RenameType == pg_query.ObjectType_OBJECT_COLUMN:
		return s.renameViewColumn(r.View, n.Subname, n.Newname)
	case r.Kind != catalog.RelTable && r.Kind != catalog.RelMaterialized:
		return pgerr.New(pgerr.WrongObjectType, `cannot rename columns of relation "%s"`, r.Name).
			WithDetail("This operation is not supported for %s.", relationKinds(r.Kind))
	}
	if err := s.lockTableAlone(ctx, r.Table.OID); err != nil {
		return err
	}
	t := r.Table.Clone()
	if n.RenameType == pg_query.ObjectType_OBJECT_COLUMN {
		err = renameColumn(t, n.Subname, n.Newname)
	} else {
		err = s.renameConstraint(t, n.Subname, n.Newname)
	}
	if err == nil {
		s.tx.local = s.tx.local.WithTable(t)
	}
	return err
}

// relationKinds is the plural of a kind of relation.
func relationKinds(k catalog.RelationKind) string {
	if k == catalog.RelIndex {
		return "indexes"
	}
	return relationWord(k) + "s"
}

func (s *Session) renameViewColumn(old *catalog.View, from, to string) error {
	v := *old
	v.Columns = slices.Clone(old.Columns)
	at := slices.IndexFunc(v.Columns, func(c catalog.ViewColumn) bool { return c.Name == from })
	switch {
	case at < 0:
		return pgerr.New(pgerr.UndefinedColumn, `column "%s" does not exist`, from)
	case slices.ContainsFunc(v.Columns, func(c catalog.ViewColumn) bool { return c.Name == to }):
		return pgerr.New(pgerr.DuplicateColumn, `column "%s" of relation "%s" already exists`, to, v.Name)
	}
	v.Columns[at].Name = to
	s.tx.local = s.tx.local.WithView(&v)
	return nil
}

func renameColumn(t *catalog.Table, from, to string) error {
	i := t.ColumnIndex(from)
	switch {
	case i < 0 && slices.Contains(systemColumns, from):
		return pgerr.New(pgerr.FeatureNotSupported, `cannot rename system column "%s"`, from)
	case i < 0:
		return pgerr.New(pgerr.UndefinedColumn, `column "%s" does not exist`, from)
	case slices.Contains(systemColumns, to):
		return pgerr.New(pgerr.DuplicateColumn, `column name "%s" conflicts with a system column name`, to)
	case t.ColumnIndex(to) >= 0:
		return pgerr.New(pgerr.DuplicateColumn, `column "%s" of relation "%s" already exists`, to, t.Name)
	}
	err := renameIn(t, func(table, column string) (string, string) {
		if column == from {
			return table, to
		}
		return table, column
	})
	if err != nil {
		return err
	}
	t.Columns[i].Name = to
	for k := range t.Options {
		if o := &t.Options[k]; o.Name == "time" && o.Value == from {
			o.Value = to
		}
	}
	return nil
}

// renameIn renames columns in the expressions of a table: f gets the qualifier,
// empty for none, and the name of a column, and returns those to write.
func renameIn(t *catalog.Table, f func(table, column string) (string, string)) error {
	var texts []*string
	for i := range t.Columns {
		texts = append(texts, &t.Columns[i].Generated)
	}
	for i := range t.Checks {
		texts = append(texts, &t.Checks[i].Expr)
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		texts = append(texts, &x.Where)
		x.Columns = slices.Clone(x.Columns)
		for k := range x.Columns {
			texts = append(texts, &x.Columns[k].Expr)
		}
	}
	for _, text := range texts {
		if *text == "" {
			continue
		}
		changed, err := sqltext.RenameColumns(*text, f)
		if err != nil {
			return err
		}
		*text = changed
	}
	return nil
}

func (s *Session) renameConstraint(t *catalog.Table, from, to string) error {
	name := func(p part) *string {
		switch {
		case p.key >= 0:
			return &t.Constraints[p.key].Name
		case p.check >= 0:
			return &t.Checks[p.check].Name
		}
		return &t.ForeignKeys[p.foreign].Name
	}
	p := namedConstraint(t, from)
	switch {
	case !p.any():
		return pgerr.New(pgerr.UndefinedObject, `constraint "%s" for table "%s" does not exist`, from, t.Name)
	case p.key >= 0 && s.relationExists(t.Schema, to):
		return pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, to)
	case p.key < 0 && namedConstraint(t, to).any():
		return pgerr.New(pgerr.DuplicateObject, `constraint "%s" for relation "%s" already exists`, to, t.Name)
	}
	*name(p) = to
	return nil
}

// namedConstraint finds a constraint of a table by name.
func namedConstraint(t *catalog.Table, name string) part {
	return part{index: -1,
		key:     slices.IndexFunc(t.Constraints, func(c catalog.Constraint) bool { return c.Name == name && !c.Index }),
		check:   slices.IndexFunc(t.Checks, func(c catalog.Check) bool { return c.Name == name }),
		foreign: slices.IndexFunc(t.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Name == name })}
}
