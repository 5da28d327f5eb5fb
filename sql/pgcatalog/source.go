package pgcatalog

import (
	"tsdb/colstore/table"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// Setting is one configuration parameter as pg_settings shows it.
type Setting struct {
	Name, Value, Unit, Description string
	Context                        string // user, superuser, internal, ...
	Type                           string // bool, integer, real, string, enum
	Boot, Reset                    string
}

// SettingsLister is implemented by a session that can list its settings.
type SettingsLister interface{ ListSettings() []Setting }

// Sizer is implemented by a session that knows the bytes and rows of tables.
type Sizer interface {
	// TableSize returns the stored bytes and the rows of a table.
	TableSize(t *catalog.Table) (bytes, rows int64)
}

// StorageLister is implemented by a session that can look into storage.
type StorageLister interface {
	Segments(t *catalog.Table) ([]table.SegmentInfo, error)
	Chunks(t *catalog.Table) ([]table.ChunkInfo, error)
	WriteStats() table.WriteStats
}

// Activity is one connected session as pg_stat_activity shows it.
type Activity struct {
	PID                                 int32
	Database, User, Application, Client string
	State, Query                        string
	BackendStart, QueryStart            int64 // microseconds since 1970
}

// ActivityLister is implemented by a session that can list all sessions.
type ActivityLister interface{ ListActivity() []Activity }

// Rewrite is a table whose rows are being moved into another shape.
type Rewrite struct {
	PID         int32
	Table       types.OID
	Phase       string
	Rows, Total int64 // copied so far, and in all as far as known
}

// RewriteLister is implemented by a session that can list all rewrites.
type RewriteLister interface{ ListRewrites() []Rewrite }

// source is what the fill functions read: the session's catalog and name.
type source struct {
	ctx *functions.Ctx
	cat *catalog.Snapshot
}

func newSource(c *functions.Ctx) *source {
	s := &source{ctx: c}
	if c != nil && c.Session != nil {
		s.cat, _ = c.Session.Catalog().(*catalog.Snapshot)
	}
	if s.cat == nil {
		s.cat = catalog.Bootstrap()
	}
	return s
}

func (s *source) searchPath() []string {
	if s.ctx != nil && s.ctx.Session != nil {
		return s.ctx.Session.SearchPath()
	}
	return []string{"pg_catalog", "public"}
}

func (s *source) schemaName(oid types.OID) string {
	if sc, ok := s.cat.SchemaByOID(oid); ok {
		return sc.Name
	}
	return ""
}

func (s *source) roleName(oid types.OID) string {
	if r, ok := s.cat.RoleByOID(oid); ok {
		return r.Name
	}
	return ""
}

func (s *source) size(t *catalog.Table) (bytes, rows int64) {
	if s.ctx != nil {
		if z, ok := s.ctx.Session.(Sizer); ok {
			return z.TableSize(t)
		}
	}
	return 0, 0
}

// object is a relation-like thing found by OID: a table, view, sequence, index
// or a virtual relation. At most one pointer is not nil; an index has its table.
type object struct {
	oid      types.OID
	name     string
	schema   string
	kind     byte // pg_class.relkind
	table    *catalog.Table
	view     *catalog.View
	sequence *catalog.Sequence
	index    *index
	virtual  *relation
}

func (s *source) relationObject(r catalog.Relation) object {
	o := object{oid: r.OID, name: r.Name, schema: s.schemaName(r.Schema), kind: byte(r.Kind), table: r.Table, view: r.View, sequence: r.Sequence}
	if r.Kind == catalog.RelIndex {
		for _, x := range indexesOf(r.Table) {
			if x.oid == r.OID {
				o.index = &x
			}
		}
	}
	return o
}

func virtualObject(r *relation) object {
	return object{oid: r.oid, name: r.name, schema: r.schema, kind: r.kind, virtual: r}
}

func (s *source) object(oid types.OID) (object, bool) {
	if r, ok := s.cat.RelationByOID(oid); ok {
		return s.relationObject(r), true
	}
	for _, t := range s.cat.Tables() {
		for _, x := range indexesOf(t) {
			if x.oid == oid {
				return object{oid: oid, name: x.name, schema: s.schemaName(t.Schema), kind: 'i', table: t, index: &x}, true
			}
		}
	}
	if r, ok := relationsByOID()[oid]; ok {
		return virtualObject(r), true
	}
	return object{}, false
}

// objectByName finds a relation by schema (empty: search path) and name.
func (s *source) objectByName(schema, name string) (object, bool) {
	path := s.searchPath()
	if schema != "" {
		path = []string{schema}
	}
	for _, p := range path {
		if r, ok := relations()[p+"."+name]; ok {
			return virtualObject(r), true
		}
		sc, ok := s.cat.Schema(p)
		if !ok {
			continue
		}
		if r, ok := s.cat.Relation(sc.OID, name); ok {
			return s.relationObject(r), true
		}
	}
	return object{}, false
}

// visible reports whether the unqualified name finds this object.
func (s *source) visible(o object) bool {
	found, ok := s.objectByName("", o.name)
	return ok && found.oid == o.oid
}

// QuoteIdent returns name as an SQL identifier, in double quotes only where
// they are needed.
func QuoteIdent(name string) string { return string(functions.AppendIdent(nil, []byte(name))) }
