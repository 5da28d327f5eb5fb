package session

import (
	"context"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// createSchema runs CREATE SCHEMA with its elements.
func (s *Session) createSchema(ctx context.Context, st *sql.Statement, n *pg_query.CreateSchemaStmt) error {
	owner := s.userOID()
	name := n.Schemaname
	if n.Authrole != nil {
		r, err := s.roleOf(n.Authrole)
		if err != nil {
			return err
		}
		owner = r.OID
		if name == "" {
			name = r.Name
		}
	}
	if !s.superuser() {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied for database %s", s.database)
	}
	if err := reservedSchema(name); err != nil {
		return err
	}
	if _, ok := s.tx.local.Schema(name); ok {
		e := pgerr.New(pgerr.DuplicateSchema, `schema "%s" already exists`, name)
		if !n.IfNotExists {
			return e
		}
		e.Severity = pgerr.SevNotice
		e.Message += ", skipping"
		s.notice(e)
		return nil
	}
	oid, err := s.e.newOID()
	if err != nil {
		return err
	}
	s.tx.local = s.tx.local.WithSchema(&catalog.Schema{OID: oid, Name: name, Owner: owner})
	return s.schemaElements(ctx, st, name, n.SchemaElts)
}

func reservedSchema(name string) error {
	if strings.HasPrefix(name, "pg_") {
		return pgerr.New(pgerr.ReservedName, `unacceptable schema name "%s"`, name).
			WithDetail(`The prefix "pg_" is reserved for system schemas.`)
	}
	return nil
}

// elementOrder is the order in which PostgreSQL makes the elements of CREATE SCHEMA.
func elementOrder(n *pg_query.Node) int {
	switch n.GetNode().(type) {
	case *pg_query.Node_CreateSeqStmt:
		return 0
	case *pg_query.Node_CreateStmt:
		return 1
	case *pg_query.Node_ViewStmt:
		return 2
	case *pg_query.Node_IndexStmt:
		return 3
	}
	return 4
}

// schemaElements runs the commands inside of CREATE SCHEMA with the new schema
// first in the search path.
func (s *Session) schemaElements(ctx context.Context, st *sql.Statement, schema string, list []*pg_query.Node) error {
	if len(list) == 0 {
		return nil
	}
	path := s.pathNames
	s.pathNames = append([]string{schema}, path...)
	defer func() { s.pathNames = path }()
	for order := range 5 {
		for _, n := range list {
			if elementOrder(n) != order {
				continue
			}
			if err := s.schemaElement(ctx, st, schema, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Session) schemaElement(ctx context.Context, st *sql.Statement, schema string, n *pg_query.Node) error {
	var rv *pg_query.RangeVar
	switch x := n.GetNode().(type) {
	case *pg_query.Node_CreateStmt:
		rv = x.CreateStmt.Relation
	case *pg_query.Node_ViewStmt:
		rv = x.ViewStmt.View
	case *pg_query.Node_CreateSeqStmt:
		rv = x.CreateSeqStmt.Sequence
	case *pg_query.Node_IndexStmt:
		rv = x.IndexStmt.Relation
	default:
		return pgerr.Unsupported("%s in CREATE SCHEMA", commandName(n))
	}
	if other := rv.GetSchemaname(); other != "" && other != schema {
		return pgerr.New(pgerr.InvalidSchemaDefinition, "CREATE specifies a schema (%s) different from the one being created (%s)", other, schema)
	}
	of := *st
	of.Node, of.Bulk = n, nil
	_, handled, err := s.definition(ctx, &analyzed{st: &of})
	if !handled {
		return pgerr.Unsupported("%s in CREATE SCHEMA", commandName(n))
	}
	return err
}

// ownSchema finds a schema that the user may change.
func (s *Session) ownSchema(name string) (*catalog.Schema, error) {
	sc, ok := s.tx.local.Schema(name)
	if !ok {
		return nil, noSchema(name)
	}
	return sc, s.mustOwnSchema(sc)
}

func (s *Session) renameSchema(n *pg_query.RenameStmt) error {
	sc, ok := s.tx.local.Schema(n.Subname)
	if !ok {
		return noSchema(n.Subname)
	}
	if _, taken := s.tx.local.Schema(n.Newname); taken {
		return pgerr.New(pgerr.DuplicateSchema, `schema "%s" already exists`, n.Newname)
	}
	if err := s.mustOwnSchema(sc); err != nil {
		return err
	}
	if err := reservedSchema(n.Newname); err != nil {
		return err
	}
	if catalog.IsSystem(sc.OID) {
		return pgerr.New(pgerr.InsufficientPrivilege, `permission denied for schema %s`, sc.Name)
	}
	c := *sc
	c.Name = n.Newname
	s.tx.local = s.tx.local.WithoutSchema(sc.Name).WithSchema(&c)
	return s.retype(func(m proto.Message) {
		if t, ok := m.(*pg_query.TypeName); ok && len(t.Names) == 2 && t.Names[0].GetString_().GetSval() == sc.Name {
			t.Names[0] = sqltext.String(n.Newname)
		}
	}, func(path []string) []string { return renamed(path, sc.Name, n.Newname) })
}

// renamed replaces a name in a list, which it leaves as it is.
func renamed(list []string, from, to string) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = n
		if n == from {
			out[i] = to
		}
	}
	return out
}

// setSchema runs ALTER ... SET SCHEMA.
func (s *Session) setSchema(ctx context.Context, n *pg_query.AlterObjectSchemaStmt) error {
	switch n.ObjectType {
	case pg_query.ObjectType_OBJECT_TYPE, pg_query.ObjectType_OBJECT_DOMAIN:
		return s.changeType(n.ObjectType, n.Object, func(t *typeHead) error {
			sc, err := s.newSchemaOf(n.Newschema)
			if err != nil || sc.OID == t.schema {
				return err
			}
			if err := s.typeNameTaken(sc.OID, t.name); err != nil {
				e := pgerr.From(err)
				e.Message += ` in schema "` + sc.Name + `"`
				return e
			}
			t.schema = sc.OID
			return nil
		})
	case pg_query.ObjectType_OBJECT_TABLE, pg_query.ObjectType_OBJECT_VIEW, pg_query.ObjectType_OBJECT_MATVIEW, pg_query.ObjectType_OBJECT_SEQUENCE:
		return s.setRelationSchema(ctx, n)
	}
	return pgerr.Unsupported("ALTER %s SET SCHEMA", objectName(n.ObjectType))
}

// newSchemaOf finds the schema that an object is to move to.
func (s *Session) newSchemaOf(name string) (*catalog.Schema, error) {
	sc, ok := s.findSchema(name)
	switch {
	case !ok:
		return nil, noSchema(name)
	case isTemp(sc):
		return nil, pgerr.New(pgerr.FeatureNotSupported, "cannot move objects into or out of temporary schemas")
	case catalog.IsSystem(sc.OID):
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "permission denied for schema %s", sc.Name)
	}
	return sc, nil
}

func (s *Session) setRelationSchema(ctx context.Context, n *pg_query.AlterObjectSchemaStmt) error {
	r, err := s.anyRelation(n.Relation)
	if err != nil {
		return s.missingAltered(err, n.MissingOk, n.Relation)
	}
	if err := alterable(r, n.ObjectType); err != nil {
		return err
	}
	if err := s.mustOwnRelation(r); err != nil {
		return err
	}
	if r.Kind == catalog.RelIndex {
		return pgerr.New(pgerr.WrongObjectType, `cannot change schema of index "%s"`, r.Name).WithHint("Change the schema of the table instead.")
	}
	if r.Sequence != nil && r.Sequence.OwnedBy.OID != 0 {
		e := pgerr.New(pgerr.FeatureNotSupported, "cannot move an owned sequence into another schema")
		if t, ok := s.tx.local.TableByOID(r.Sequence.OwnedBy.OID); ok {
			e.Detail = `Sequence "` + r.Name + `" is linked to table "` + t.Name + `".`
		}
		return e
	}
	sc, err := s.newSchemaOf(n.Newschema)
	if err != nil || sc.OID == r.Schema {
		return err
	}
	if own, ok := s.tx.local.SchemaByOID(r.Schema); ok && isTemp(own) {
		return pgerr.New(pgerr.FeatureNotSupported, "cannot move objects into or out of temporary schemas")
	}
	if err := s.relationNameFree(r, sc.OID, r.Name); err != nil {
		return err
	}
	return s.moveRelation(ctx, r, sc.OID)
}

// moveRelation puts a relation into another schema, with the sequences that
// belong to its columns.
func (s *Session) moveRelation(ctx context.Context, r catalog.Relation, schema types.OID) error {
	switch {
	case r.View != nil:
		v := *r.View
		v.Schema = schema
		s.tx.local = s.tx.local.WithView(&v)
		return nil
	case r.Sequence != nil:
		q := *r.Sequence
		q.Schema = schema
		s.tx.local = s.tx.local.WithSequence(&q)
		return nil
	}
	if err := s.lockTableAlone(ctx, r.Table.OID); err != nil {
		return err
	}
	t := r.Table.Clone()
	for i := range t.Constraints {
		if s.relationExists(schema, t.Constraints[i].Name) {
			return pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists in schema "%s"`, t.Constraints[i].Name, s.schemaName(schema))
		}
	}
	t.Schema = schema
	s.tx.local = s.tx.local.WithTable(t)
	for _, q := range s.tx.local.Sequences() {
		if q.OwnedBy.Class == catalog.ClassRelation && q.OwnedBy.OID == t.OID {
			n := *q
			n.Schema = schema
			s.tx.local = s.tx.local.WithSequence(&n)
		}
	}
	return nil
}
