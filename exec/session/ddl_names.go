package session

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/catalog"
	"tsdb/sql/pgcatalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// findSchema resolves the name of a schema; pg_temp is the session's own one.
func (s *Session) findSchema(name string) (*catalog.Schema, bool) {
	if name == "pg_temp" {
		return s.tempSchema(s.catalog())
	}
	return s.catalog().Schema(name)
}

// findRelation resolves the name of a relation of any kind; ok is false
// without error when it does not exist.
//
// Errors: 3F000 for a schema that does not exist.
func (s *Session) findRelation(schema, name string) (r catalog.Relation, ok bool, err error) {
	cat := s.catalog()
	if schema != "" {
		sc, found := s.findSchema(schema)
		if !found {
			return r, false, noSchema(schema)
		}
		r, ok = cat.Relation(sc.OID, name)
		return r, ok, nil
	}
	for _, oid := range s.searchOIDs(cat) {
		if r, ok = cat.Relation(oid, name); ok {
			return r, true, nil
		}
	}
	return r, false, nil
}

// anyRelation resolves a RangeVar to a relation of any kind.
func (s *Session) anyRelation(rv *pg_query.RangeVar) (catalog.Relation, error) {
	if err := s.checkDatabase(rv); err != nil {
		return catalog.Relation{}, err
	}
	r, ok, err := s.findRelation(rv.GetSchemaname(), rv.GetRelname())
	if ok {
		return r, nil
	}
	if err == nil && s.virtual(rv.GetSchemaname(), rv.GetRelname()) {
		return r, pgerr.New(pgerr.InsufficientPrivilege, `permission denied: "%s" is a system catalog`, rv.GetRelname())
	}
	_ = err // a missing schema is reported as a missing relation, as PostgreSQL does here
	return r, pgerr.New(pgerr.UndefinedTable, `relation "%s" does not exist`, dotted(rv.GetSchemaname(), rv.GetRelname()))
}

// relation resolves a RangeVar to a table.
func (s *Session) relation(rv *pg_query.RangeVar) (*catalog.Table, error) {
	r, err := s.anyRelation(rv)
	if err == nil && (r.Kind == catalog.RelView || r.Kind == catalog.RelSequence || r.Kind == catalog.RelIndex) {
		err = pgerr.New(pgerr.WrongObjectType, `"%s" is not a table`, r.Name)
	}
	return r.Table, err
}

func (s *Session) virtual(schema, name string) bool {
	if schema == "" {
		schema = "pg_catalog"
	}
	return pgcatalog.Find(schema, name) != nil
}

// foundType is a type by name.
type foundType struct {
	oid, schema, owner types.OID
	domain, builtin    bool
}

// findType resolves the name of a type: of a built-in one, an enum, a domain,
// or the row type of a table.
func (s *Session) findType(schema, name string) (foundType, bool) {
	cat := s.catalog()
	path := s.searchOIDs(cat)
	if schema != "" {
		sc, ok := s.findSchema(schema)
		if !ok {
			return foundType{}, false
		}
		path = []types.OID{sc.OID}
	}
	for _, oid := range path {
		if t, ok := s.typeIn(cat, oid, name); ok {
			return t, true
		}
	}
	return foundType{}, false
}

func (s *Session) typeIn(cat *catalog.Snapshot, schema types.OID, name string) (foundType, bool) {
	if schema == catalog.PgCatalogOID {
		info, ok := types.ByName(name)
		if !ok {
			return foundType{}, false
		}
		return foundType{oid: info.OID, schema: schema, owner: catalog.BootstrapRoleOID, builtin: true}, true
	}
	if e, ok := cat.Enum(schema, name); ok {
		return foundType{oid: e.OID, schema: schema, owner: e.Owner}, true
	}
	if d, ok := cat.Domain(schema, name); ok {
		return foundType{oid: d.OID, schema: schema, owner: d.Owner, domain: true}, true
	}
	if t, ok := cat.Table(schema, name); ok {
		return foundType{oid: t.TypeOID, schema: schema, owner: t.Owner}, true
	}
	if v, ok := cat.View(schema, name); ok {
		return foundType{oid: v.TypeOID, schema: schema, owner: v.Owner}, true
	}
	return foundType{}, false
}

// typeNameTaken refuses the name of a type or relation that a type has; a
// relation's row type has the relation's name.
func (s *Session) typeNameTaken(schema types.OID, name string) error {
	if _, ok := s.typeIn(s.catalog(), schema, name); !ok {
		return nil
	}
	return pgerr.New(pgerr.DuplicateObject, `type "%s" already exists`, name)
}

func (s *Session) mustOwn(t *catalog.Table) error {
	return s.mustOwnRelation(catalog.Relation{Kind: t.Kind(), Name: t.Name, Owner: t.Owner})
}

func (s *Session) mustOwnRelation(r catalog.Relation) error {
	if s.superuser() || r.Owner == s.userOID() {
		return nil
	}
	return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of %s %s", relationWord(r.Kind), r.Name)
}

func (s *Session) mustOwnSchema(sc *catalog.Schema) error {
	if s.superuser() || sc.Owner == s.userOID() {
		return nil
	}
	return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of schema %s", sc.Name)
}
