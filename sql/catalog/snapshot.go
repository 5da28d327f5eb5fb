package catalog

import (
	"cmp"
	"maps"
	"slices"

	"tsdb/sql/types"
)

// Snapshot is one version of the catalog. The zero value is not valid; start
// from Bootstrap. All returned pointers are shared: read only.
type Snapshot struct {
	version uint64
	roles   map[string]*Role
	schemas map[string]*Schema
	byName  map[tableName]*Table
	byOID   map[types.OID]*Table
}

type tableName struct {
	schema types.OID
	name   string
}

func empty() *Snapshot {
	return &Snapshot{
		version: 1,
		roles:   map[string]*Role{},
		schemas: map[string]*Schema{},
		byName:  map[tableName]*Table{},
		byOID:   map[types.OID]*Table{},
	}
}

// Bootstrap returns the catalog of a new database: the superusers tsdb and
// postgres, the schemas pg_catalog,
// information_schema, tsdb_stat and public.
func Bootstrap() *Snapshot {
	s := empty()
	for i, n := range []string{"tsdb", "postgres"} {
		oid := BootstrapRoleOID
		if i == 1 {
			oid = 16385
		}
		s.roles[n] = &Role{OID: oid, Name: n, Superuser: true, Login: true, CreateDB: true, CreateRole: true,
			Inherit: true, Replication: true, BypassRLS: true}
	}
	for _, sc := range []Schema{{PgCatalogOID, "pg_catalog", BootstrapRoleOID},
		{InformationSchemaOID, "information_schema", BootstrapRoleOID}, {StatOID, "tsdb_stat", BootstrapRoleOID}, {PublicOID, "public", BootstrapRoleOID}} {
		s.schemas[sc.Name] = &sc
	}
	return s
}

// Version grows with every change.
func (s *Snapshot) Version() uint64 { return s.version }

func (s *Snapshot) next() *Snapshot {
	n := *s
	n.version++
	return &n
}

// Role returns the named role.
func (s *Snapshot) Role(name string) (*Role, bool) { r, ok := s.roles[name]; return r, ok }

// RoleByOID returns the role with that OID.
func (s *Snapshot) RoleByOID(oid types.OID) (*Role, bool) {
	for _, r := range s.roles {
		if r.OID == oid {
			return r, true
		}
	}
	return nil, false
}

// Roles returns all roles, ordered by OID.
func (s *Snapshot) Roles() []*Role {
	return slices.SortedFunc(maps.Values(s.roles), func(a, b *Role) int { return cmp.Compare(a.OID, b.OID) })
}

// Schema returns the named schema.
func (s *Snapshot) Schema(name string) (*Schema, bool) { r, ok := s.schemas[name]; return r, ok }

// SchemaByOID returns the schema with that OID.
func (s *Snapshot) SchemaByOID(oid types.OID) (*Schema, bool) {
	for _, r := range s.schemas {
		if r.OID == oid {
			return r, true
		}
	}
	return nil, false
}

// Schemas returns all schemas, ordered by OID.
func (s *Snapshot) Schemas() []*Schema {
	return slices.SortedFunc(maps.Values(s.schemas), func(a, b *Schema) int { return cmp.Compare(a.OID, b.OID) })
}

// Table returns the named table of a schema.
func (s *Snapshot) Table(schema types.OID, name string) (*Table, bool) {
	t, ok := s.byName[tableName{schema, name}]
	return t, ok
}

// TableByOID returns the table with that OID.
func (s *Snapshot) TableByOID(oid types.OID) (*Table, bool) { t, ok := s.byOID[oid]; return t, ok }

// Tables returns all tables, ordered by OID.
func (s *Snapshot) Tables() []*Table {
	return slices.SortedFunc(maps.Values(s.byOID), func(a, b *Table) int { return cmp.Compare(a.OID, b.OID) })
}

// WithRole returns a snapshot in which r exists or replaces its namesake.
func (s *Snapshot) WithRole(r *Role) *Snapshot {
	n := s.next()
	n.roles = maps.Clone(s.roles)
	n.roles[r.Name] = r
	return n
}

// WithoutRole returns a snapshot without the named role.
func (s *Snapshot) WithoutRole(name string) *Snapshot {
	n := s.next()
	n.roles = maps.Clone(s.roles)
	delete(n.roles, name)
	return n
}

// WithSchema returns a snapshot in which sc exists or replaces its namesake.
func (s *Snapshot) WithSchema(sc *Schema) *Snapshot {
	n := s.next()
	n.schemas = maps.Clone(s.schemas)
	n.schemas[sc.Name] = sc
	return n
}

// WithTable returns a snapshot in which t exists or replaces the table of the
// same OID.
func (s *Snapshot) WithTable(t *Table) *Snapshot {
	n := s.next()
	n.byName, n.byOID = maps.Clone(s.byName), maps.Clone(s.byOID)
	if old, ok := n.byOID[t.OID]; ok {
		delete(n.byName, tableName{old.Schema, old.Name})
	}
	n.byName[tableName{t.Schema, t.Name}], n.byOID[t.OID] = t, t
	return n
}

// WithoutTable returns a snapshot without the table.
func (s *Snapshot) WithoutTable(oid types.OID) *Snapshot {
	old, ok := s.byOID[oid]
	if !ok {
		return s
	}
	n := s.next()
	n.byName, n.byOID = maps.Clone(s.byName), maps.Clone(s.byOID)
	delete(n.byName, tableName{old.Schema, old.Name})
	delete(n.byOID, oid)
	return n
}

// WithoutSchema returns a snapshot without the named schema.
func (s *Snapshot) WithoutSchema(name string) *Snapshot {
	n := s.next()
	n.schemas = maps.Clone(s.schemas)
	delete(n.schemas, name)
	return n
}
