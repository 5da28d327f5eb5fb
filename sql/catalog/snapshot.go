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

	views     named[View]
	sequences named[Sequence]
	enums     named[Enum]
	domains   named[Domain]
	comments  map[Ref]string
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

		comments: map[Ref]string{},
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

// View returns the named view of a schema.
func (s *Snapshot) View(schema types.OID, name string) (*View, bool) {
	return s.views.named(schema, name)
}

// ViewByOID returns the view with that OID.
func (s *Snapshot) ViewByOID(oid types.OID) (*View, bool) { v, ok := s.views.byOID[oid]; return v, ok }

// Views returns all views, ordered by OID.
func (s *Snapshot) Views() []*View { return s.views.sorted() }

// WithView returns a snapshot in which v exists or replaces the view of its OID.
func (s *Snapshot) WithView(v *View) *Snapshot {
	n := s.next()
	n.views = s.views.with(v)
	return n
}

// WithoutView returns a snapshot without the view.
func (s *Snapshot) WithoutView(oid types.OID) *Snapshot {
	n := s.next()
	n.views = s.views.without(oid)
	return n
}

// Sequence returns the named sequence of a schema.
func (s *Snapshot) Sequence(schema types.OID, name string) (*Sequence, bool) {
	return s.sequences.named(schema, name)
}

// SequenceByOID returns the sequence with that OID.
func (s *Snapshot) SequenceByOID(oid types.OID) (*Sequence, bool) {
	q, ok := s.sequences.byOID[oid]
	return q, ok
}

// Sequences returns all sequences, ordered by OID.
func (s *Snapshot) Sequences() []*Sequence { return s.sequences.sorted() }

// WithSequence returns a snapshot in which q exists or replaces the sequence of its OID.
func (s *Snapshot) WithSequence(q *Sequence) *Snapshot {
	n := s.next()
	n.sequences = s.sequences.with(q)
	return n
}

// WithoutSequence returns a snapshot without the sequence.
func (s *Snapshot) WithoutSequence(oid types.OID) *Snapshot {
	n := s.next()
	n.sequences = s.sequences.without(oid)
	return n
}

// Enum returns the named enum of a schema.
func (s *Snapshot) Enum(schema types.OID, name string) (*Enum, bool) {
	return s.enums.named(schema, name)
}

// EnumByOID returns the enum with that OID.
func (s *Snapshot) EnumByOID(oid types.OID) (*Enum, bool) { e, ok := s.enums.byOID[oid]; return e, ok }

// Enums returns all enums, ordered by OID.
func (s *Snapshot) Enums() []*Enum { return s.enums.sorted() }

// WithEnum returns a snapshot in which e exists or replaces the enum of its OID.
func (s *Snapshot) WithEnum(e *Enum) *Snapshot {
	n := s.next()
	n.enums = s.enums.with(e)
	return n
}

// WithoutEnum returns a snapshot without the enum.
func (s *Snapshot) WithoutEnum(oid types.OID) *Snapshot {
	n := s.next()
	n.enums = s.enums.without(oid)
	return n
}

// Domain returns the named domain of a schema.
func (s *Snapshot) Domain(schema types.OID, name string) (*Domain, bool) {
	return s.domains.named(schema, name)
}

// DomainByOID returns the domain with that OID.
func (s *Snapshot) DomainByOID(oid types.OID) (*Domain, bool) {
	d, ok := s.domains.byOID[oid]
	return d, ok
}

// DefaultOf returns the text of a column's DEFAULT: its own, or its domain's.
func (s *Snapshot) DefaultOf(c *Column) string {
	if c.Default != "" || c.Domain == 0 {
		return c.Default
	}
	for d := s.domains.byOID[c.Domain]; d != nil; d = s.domains.byOID[d.Parent] {
		if d.Default != "" {
			return d.Default
		}
	}
	return ""
}

// Domains returns all domains, ordered by OID.
func (s *Snapshot) Domains() []*Domain { return s.domains.sorted() }

// WithDomain returns a snapshot in which d exists or replaces the domain of its OID.
func (s *Snapshot) WithDomain(d *Domain) *Snapshot {
	n := s.next()
	n.domains = s.domains.with(d)
	return n
}

// WithoutDomain returns a snapshot without the domain.
func (s *Snapshot) WithoutDomain(oid types.OID) *Snapshot {
	n := s.next()
	n.domains = s.domains.without(oid)
	return n
}

// Comment returns what COMMENT ON said about an object.
func (s *Snapshot) Comment(about Ref) (string, bool) { c, ok := s.comments[about]; return c, ok }

// Comments returns all comments. Read only.
func (s *Snapshot) Comments() map[Ref]string { return s.comments }

// WithComment returns a snapshot with that comment; an empty text removes it.
func (s *Snapshot) WithComment(about Ref, text string) *Snapshot {
	n := s.next()
	n.comments = maps.Clone(s.comments)
	if text == "" {
		delete(n.comments, about)
	} else {
		n.comments[about] = text
	}
	return n
}

// WithoutComments returns a snapshot without the comments on an object and its columns.
func (s *Snapshot) WithoutComments(class, oid types.OID) *Snapshot {
	n := s.next()
	n.comments = maps.Clone(s.comments)
	maps.DeleteFunc(n.comments, func(r Ref, _ string) bool { return r.Class == class && r.OID == oid })
	return n
}
