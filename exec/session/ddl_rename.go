package session

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
)

// rename runs ALTER TABLE ... RENAME of a table, a column or a constraint.
func (s *Session) rename(ctx context.Context, n *pg_query.RenameStmt) error {
	of := n.RenameType
	if of == pg_query.ObjectType_OBJECT_COLUMN && n.RelationType != pg_query.ObjectType_OBJECT_TABLE ||
		of != pg_query.ObjectType_OBJECT_COLUMN && of != pg_query.ObjectType_OBJECT_TABLE && of != pg_query.ObjectType_OBJECT_TABCONSTRAINT {
		return pgerr.Unsupported("%s", commandName(&pg_query.Node{Node: &pg_query.Node_RenameStmt{RenameStmt: n}}))
	}
	old, err := s.alterTarget(ctx, n.Relation, n.MissingOk)
	if old == nil || err != nil {
		return err
	}
	t := old.Clone()
	switch of {
	case pg_query.ObjectType_OBJECT_COLUMN:
		err = renameColumn(t, n.Subname, n.Newname)
	case pg_query.ObjectType_OBJECT_TABLE:
		if s.relationExists(t.Schema, n.Newname) {
			err = pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, n.Newname)
		}
		t.Name = n.Newname
	default:
		err = s.renameConstraint(t, n.Subname, n.Newname)
	}
	if err == nil {
		s.tx.local = s.tx.local.WithTable(t)
	}
	return err
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
	t.Columns[i].Name = to
	for k := range t.Options {
		if o := &t.Options[k]; o.Name == "time" && o.Value == from {
			o.Value = to
		}
	}
	return nil
}

func (s *Session) renameConstraint(t *catalog.Table, from, to string) error {
	i := slices.IndexFunc(t.Constraints, func(c catalog.Constraint) bool { return c.Name == from && !c.Index })
	if i < 0 {
		return pgerr.New(pgerr.UndefinedObject, `constraint "%s" for table "%s" does not exist`, from, t.Name)
	}
	if s.relationExists(t.Schema, to) {
		return pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, to)
	}
	t.Constraints[i].Name = to
	return nil
}
