package session

import (
	"context"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/sql/catalog"
	"tsdb/sql/pgcatalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// findTable resolves a table name; nil without error when it does not exist.
func (s *Session) findTable(schema, name string) (*catalog.Table, error) {
	cat := s.catalog()
	if schema != "" {
		sc, ok := cat.Schema(schema)
		if !ok {
			return nil, noSchema(schema)
		}
		t, _ := cat.Table(sc.OID, name)
		return t, nil
	}
	for _, oid := range s.searchOIDs(cat) {
		if t, ok := cat.Table(oid, name); ok {
			return t, nil
		}
	}
	return nil, nil
}

// relation resolves a RangeVar to a table.
func (s *Session) relation(rv *pg_query.RangeVar) (*catalog.Table, error) {
	if err := s.checkDatabase(rv); err != nil {
		return nil, err
	}
	t, err := s.findTable(rv.GetSchemaname(), rv.GetRelname())
	if t != nil {
		return t, nil
	}
	if err == nil && s.virtual(rv.GetSchemaname(), rv.GetRelname()) {
		return nil, pgerr.New(pgerr.InsufficientPrivilege, `permission denied: "%s" is a system catalog`, rv.GetRelname())
	}
	name := rv.GetRelname()
	if rv.GetSchemaname() != "" {
		name = rv.GetSchemaname() + "." + name
	}
	_ = err // a missing schema is reported as a missing relation, as PostgreSQL does here
	return nil, pgerr.New(pgerr.UndefinedTable, `relation "%s" does not exist`, name)
}

func (s *Session) virtual(schema, name string) bool {
	if schema == "" {
		schema = "pg_catalog"
	}
	return pgcatalog.Find(schema, name) != nil
}

func (s *Session) mustOwn(t *catalog.Table) error {
	if s.superuser() || t.Owner == s.userOID() {
		return nil
	}
	return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of table %s", t.Name)
}

// drop runs DROP of any kind of object.
func (s *Session) drop(ctx context.Context, n *pg_query.DropStmt) error {
	switch n.RemoveType {
	case pg_query.ObjectType_OBJECT_TABLE:
		return s.dropTables(ctx, n)
	case pg_query.ObjectType_OBJECT_SCHEMA:
		return s.dropSchemas(ctx, n)
	case pg_query.ObjectType_OBJECT_VIEW, pg_query.ObjectType_OBJECT_MATVIEW, pg_query.ObjectType_OBJECT_SEQUENCE,
		pg_query.ObjectType_OBJECT_INDEX:
		return s.dropOther(ctx, n)
	}
	return pgerr.Unsupported("%s", "DROP "+objectName(n.RemoveType))
}

func objectPath(n *pg_query.Node) (schema, name string) {
	items := n.GetList().GetItems()
	if len(items) == 0 {
		return "", n.GetString_().GetSval()
	}
	name = items[len(items)-1].GetString_().GetSval()
	if len(items) > 1 {
		schema = items[len(items)-2].GetString_().GetSval()
	}
	return schema, name
}

func (s *Session) dropTables(ctx context.Context, n *pg_query.DropStmt) error {
	var all []*catalog.Table
	for _, o := range n.Objects {
		schema, name := objectPath(o)
		t, err := s.findTable(schema, name)
		switch {
		case err != nil && n.MissingOk:
			s.notice(pgerr.Notice(`schema "%s" does not exist, skipping`, schema))
			continue
		case err != nil:
			return err
		case t == nil && s.virtual(schema, name):
			return pgerr.New(pgerr.InsufficientPrivilege, `permission denied: "%s" is a system catalog`, name)
		case t == nil && n.MissingOk:
			s.notice(pgerr.Notice(`table "%s" does not exist, skipping`, dotted(schema, name)))
			continue
		case t == nil:
			return pgerr.New(pgerr.UndefinedTable, `table "%s" does not exist`, dotted(schema, name))
		}
		if err := s.mustOwn(t); err != nil {
			return err
		}
		all = append(all, t)
	}
	for _, t := range all {
		if err := s.dropTable(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func dotted(schema, name string) string {
	if schema == "" {
		return name
	}
	return schema + "." + name
}

func (s *Session) dropTable(ctx context.Context, t *catalog.Table) error {
	if err := s.lockTableAlone(ctx, t.OID); err != nil {
		return err
	}
	if _, ok := s.tx.local.TableByOID(t.OID); !ok {
		return nil // named twice
	}
	if err := s.writeTx().DropTable(t.Storage.ID); err != nil {
		return err
	}
	s.tx.local = s.tx.local.WithoutTable(t.OID)
	return nil
}

// dropOther serves DROP of unique indexes and of kinds of which none can exist.
func (s *Session) dropOther(ctx context.Context, n *pg_query.DropStmt) error {
	kind := strings.ToLower(objectName(n.RemoveType))
	code := pgerr.UndefinedTable
	if n.RemoveType == pg_query.ObjectType_OBJECT_INDEX {
		code = pgerr.UndefinedObject
	}
	article := "a "
	if kind == "index" {
		article = "an "
	}
	for _, o := range n.Objects {
		schema, name := objectPath(o)
		t, err := s.findTable(schema, name)
		if err != nil && !n.MissingOk {
			return err
		}
		if t != nil {
			return pgerr.New(pgerr.WrongObjectType, `"%s" is not %s%s`, name, article, kind).
				WithHint("Use DROP TABLE to remove a table.")
		}
		if kind == "index" {
			if found, err := s.dropIndex(ctx, schema, name); found || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			if err := s.refuseConstraintIndex(schema, name); err != nil {
				return err
			}
		}
		if !n.MissingOk {
			return pgerr.New(code, `%s "%s" does not exist`, kind, dotted(schema, name))
		}
		s.notice(pgerr.Notice(`%s "%s" does not exist, skipping`, kind, dotted(schema, name)))
	}
	return nil
}

func (s *Session) refuseConstraintIndex(schema, name string) error {
	cat := s.catalog()
	for _, t := range cat.Tables() {
		if schema != "" && s.schemaName(t.Schema) != schema {
			continue
		}
		for i := range t.Constraints {
			if t.Constraints[i].Name == name {
				return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop index %s because constraint %s on table %s requires it",
					name, name, t.Name).WithHint("You can drop constraint %s on table %s instead.", name, t.Name)
			}
		}
	}
	return nil
}

// truncate gives each table a new, empty storage.
func (s *Session) truncate(ctx context.Context, n *pg_query.TruncateStmt) error {
	var all []*catalog.Table
	for _, r := range n.Relations {
		t, err := s.relation(r.GetRangeVar())
		if err != nil {
			return err
		}
		if err := s.mustOwn(t); err != nil {
			return err
		}
		all = append(all, t)
	}
	done := map[types.OID]bool{}
	for _, t := range all {
		if done[t.OID] {
			continue
		}
		done[t.OID] = true
		if err := s.lockTableAlone(ctx, t.OID); err != nil {
			return err
		}
		if err := s.truncateTable(t); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) truncateTable(t *catalog.Table) error {
	id, err := s.e.store.NewID()
	if err != nil {
		return err
	}
	n := t.Clone()
	n.Storage.ID, n.Storage.Dropped = table.ID(id), nil
	for i := range n.Storage.Columns {
		n.Storage.Columns[i].Missing = nil // no row is older than a column
	}
	for i := range n.Constraints {
		if c := &n.Constraints[i]; !c.Primary {
			if c.StoreID, err = s.e.store.NewID(); err != nil {
				return err
			}
		}
	}
	n.DeriveKeys()
	if err := s.writeTx().DropTable(t.Storage.ID); err != nil {
		return err
	}
	if err := s.writeTx().CreateTable(n.Storage); err != nil {
		return err
	}
	s.tx.local = s.tx.local.WithTable(n)
	return nil
}
