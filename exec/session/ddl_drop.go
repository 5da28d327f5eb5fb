package session

import (
	"context"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// objectPath splits the name of an object of DROP or COMMENT ON.
func objectPath(n *pg_query.Node) (schema, name string) {
	items := n.GetList().GetItems()
	if t := n.GetTypeName(); t != nil {
		items = t.Names
	}
	if len(items) == 0 {
		return "", n.GetString_().GetSval()
	}
	name = items[len(items)-1].GetString_().GetSval()
	if len(items) > 1 {
		schema = items[len(items)-2].GetString_().GetSval()
	}
	return schema, name
}

func dotted(schema, name string) string {
	if schema == "" {
		return name
	}
	return schema + "." + name
}

// dropKinds says which kind of relation a DROP is about.
var dropKinds = map[pg_query.ObjectType]catalog.RelationKind{
	pg_query.ObjectType_OBJECT_TABLE: catalog.RelTable, pg_query.ObjectType_OBJECT_VIEW: catalog.RelView,
	pg_query.ObjectType_OBJECT_MATVIEW: catalog.RelMaterialized, pg_query.ObjectType_OBJECT_SEQUENCE: catalog.RelSequence,
	pg_query.ObjectType_OBJECT_INDEX: catalog.RelIndex,
}

// drop runs DROP of any kind of object.
func (s *Session) drop(ctx context.Context, n *pg_query.DropStmt) error {
	find := s.dropTarget
	switch n.RemoveType {
	case pg_query.ObjectType_OBJECT_SCHEMA:
		find = s.dropSchemaTarget
	case pg_query.ObjectType_OBJECT_TYPE, pg_query.ObjectType_OBJECT_DOMAIN:
		find = s.dropTypeTarget
	default:
		if dropKinds[n.RemoveType] == 0 {
			return pgerr.Unsupported("%s", "DROP "+objectName(n.RemoveType))
		}
	}
	if n.Concurrent && (s.tx.block || s.tx.several) {
		return pgerr.New(pgerr.ActiveSQLTransaction, "DROP INDEX CONCURRENTLY cannot run inside a transaction block")
	}
	var refs []catalog.Ref
	found := 0
	for _, o := range n.Objects {
		ref, err := find(n, o)
		if err != nil {
			return err
		}
		if ref.OID == 0 {
			continue
		}
		if found++; !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return s.dropObjects(ctx, refs, found > 1, n.Behavior == pg_query.DropBehavior_DROP_CASCADE)
}

// missing tells that an object of DROP IF EXISTS is not there, or refuses.
func (s *Session) missing(n *pg_query.DropStmt, e *pgerr.Error) error {
	if !n.MissingOk {
		return e
	}
	s.notice(pgerr.Notice("%s, skipping", e.Message))
	return nil
}

// dropTarget finds a relation of DROP; no OID without error: it is skipped.
func (s *Session) dropTarget(n *pg_query.DropStmt, o *pg_query.Node) (catalog.Ref, error) {
	want, none := dropKinds[n.RemoveType], catalog.Ref{}
	schema, name := objectPath(o)
	r, ok, err := s.findRelation(schema, name)
	switch {
	case err != nil:
		return none, s.missing(n, pgerr.From(err))
	case !ok && s.virtual(schema, name):
		return none, pgerr.New(pgerr.InsufficientPrivilege, `permission denied: "%s" is a system catalog`, name)
	case !ok:
		code := pgerr.UndefinedTable
		if want == catalog.RelIndex {
			code = pgerr.UndefinedObject
		}
		return none, s.missing(n, pgerr.New(code, `%s "%s" does not exist`, relationWord(want), name))
	case r.Kind != want:
		return none, wrongKind(name, r.Kind, want)
	}
	return relationRef(r.OID), s.mustOwnRelation(r)
}

// wrongKind is the error of DROP of a relation that is of another kind.
func wrongKind(name string, have, want catalog.RelationKind) error {
	article := "a"
	if want == catalog.RelIndex {
		article = "an"
	}
	is := "a"
	if have == catalog.RelIndex {
		is = "an"
	}
	word := relationWord(have)
	return pgerr.New(pgerr.WrongObjectType, `"%s" is not %s %s`, name, article, relationWord(want)).
		WithHint("Use DROP %s to remove %s %s.", strings.ToUpper(word), is, word)
}

func (s *Session) dropSchemaTarget(n *pg_query.DropStmt, o *pg_query.Node) (catalog.Ref, error) {
	name := o.GetString_().GetSval()
	sc, ok := s.catalog().Schema(name)
	switch {
	case !ok:
		return catalog.Ref{}, s.missing(n, pgerr.New(pgerr.InvalidSchemaName, `schema "%s" does not exist`, name))
	case catalog.IsSystem(sc.OID):
		return catalog.Ref{}, pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop schema %s because it is required by the database system", sc.Name)
	}
	return schemaRef(sc.OID), s.mustOwnSchema(sc)
}

// dropTypeTarget finds the type or domain of DROP TYPE and DROP DOMAIN.
func (s *Session) dropTypeTarget(n *pg_query.DropStmt, o *pg_query.Node) (catalog.Ref, error) {
	none := catalog.Ref{}
	schema, name := objectPath(o)
	if schema != "" {
		if _, ok := s.findSchema(schema); !ok {
			return none, s.missing(n, pgerr.New(pgerr.InvalidSchemaName, `schema "%s" does not exist`, schema))
		}
	}
	t, ok := s.findType(schema, name)
	whole := dotted(schema, name)
	switch {
	case !ok:
		return none, s.missing(n, pgerr.New(pgerr.UndefinedObject, `type "%s" does not exist`, whole))
	case n.RemoveType == pg_query.ObjectType_OBJECT_DOMAIN && !t.domain:
		return none, pgerr.New(pgerr.WrongObjectType, `"%s" is not a domain`, whole)
	case t.builtin:
		return none, pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop type %s because it is required by the database system", whole)
	case !s.superuser() && t.owner != s.userOID():
		return none, pgerr.New(pgerr.InsufficientPrivilege, "must be owner of type %s", name)
	}
	return typeRef(t.oid), nil
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

// truncate gives each table a new, empty storage.
func (s *Session) truncate(ctx context.Context, n *pg_query.TruncateStmt) error {
	var all []*catalog.Table
	for _, r := range n.Relations {
		t, err := s.relation(r.GetRangeVar())
		if err == nil && t.Kind() != catalog.RelTable {
			err = pgerr.New(pgerr.WrongObjectType, `"%s" is not a table`, t.Name)
		}
		if err != nil {
			return err
		}
		if err := s.mustOwn(t); err != nil {
			return err
		}
		all = append(all, t)
	}
	all, err := s.withReferrers(all, n.Behavior == pg_query.DropBehavior_DROP_CASCADE)
	if err != nil {
		return err
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
		if n.RestartSeqs {
			if err := s.restartSequences(t); err != nil {
				return err
			}
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
