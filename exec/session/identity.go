package session

import (
	"slices"
	"strconv"

	"tsdb/colstore/table"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgcatalog"
	"tsdb/sql/types"
)

var (
	_ functions.Session        = (*Session)(nil)
	_ pgcatalog.SettingsLister = (*Session)(nil)
	_ pgcatalog.ActivityLister = (*Session)(nil)
	_ pgcatalog.Sizer          = (*Session)(nil)
	_ pgcatalog.StorageLister  = (*Session)(nil)
)

func (s *Session) currentUser() string {
	if v := s.mustValue("role"); v != "none" {
		return v
	}
	return s.mustValue("session_authorization")
}

// CurrentUser implements functions.Session.
func (s *Session) CurrentUser() string { return s.currentUser() }

// SessionUser implements functions.Session.
func (s *Session) SessionUser() string { return s.mustValue("session_authorization") }

// Database implements functions.Session.
func (s *Session) Database() string { return s.database }

// BackendPID implements functions.Session.
func (s *Session) BackendPID() int32 { return s.pid }

// Random is the source of random(), which setseed() seeds.
func (s *Session) Random() *functions.Random { return &s.random }

// Catalog implements functions.Session.
func (s *Session) Catalog() any { return s.catalog() }

// Setting implements functions.Session: the form that SHOW prints.
func (s *Session) Setting(name string) (value string, ok bool) {
	v, err := s.show(name)
	return v, err == nil
}

// SetSetting implements functions.Session.
func (s *Session) SetSetting(name, value string, local bool) error {
	return s.set(name, value, local)
}

// SearchPath implements functions.Session.
func (s *Session) SearchPath() []string {
	cat := s.catalog()
	var out []string
	for _, oid := range s.searchOIDs(cat) {
		if sc, ok := cat.SchemaByOID(oid); ok {
			out = append(out, sc.Name)
		}
	}
	return out
}

// searchOIDs resolves search_path: schemas that do not exist drop out, and the
// schema of temporary objects and pg_catalog come first unless they are named.
func (s *Session) searchOIDs(cat *catalog.Snapshot) []types.OID {
	out := make([]types.OID, 0, len(s.pathNames)+2)
	if sc, ok := s.tempSchema(cat); ok && !slices.Contains(s.pathNames, "pg_temp") {
		out = append(out, sc.OID)
	}
	if !slices.Contains(s.pathNames, "pg_catalog") {
		out = append(out, catalog.PgCatalogOID)
	}
	for _, n := range s.pathNames {
		if n == "$user" {
			n = s.currentUser()
		}
		if n == "pg_temp" {
			n = s.tempName
		}
		if sc, ok := cat.Schema(n); ok && !slices.Contains(out, sc.OID) {
			out = append(out, sc.OID)
		}
	}
	return out
}

// creationSchema is where an unqualified CREATE goes: the first schema that
// search_path names and that exists.
func (s *Session) creationSchema(cat *catalog.Snapshot) (*catalog.Schema, bool) {
	for _, n := range s.pathNames {
		if n == "$user" {
			n = s.currentUser()
		}
		if n == "pg_temp" {
			return &catalog.Schema{Name: s.tempName}, true // made when it is needed
		}
		if sc, ok := cat.Schema(n); ok {
			return sc, true
		}
	}
	return nil, false
}

func (s *Session) superuser() bool {
	r, ok := s.catalog().Role(s.currentUser())
	return ok && r.Superuser
}

func (s *Session) userOID() types.OID {
	if r, ok := s.catalog().Role(s.currentUser()); ok {
		return r.OID
	}
	return catalog.BootstrapRoleOID
}

// TableSize implements pgcatalog.Sizer.
func (s *Session) TableSize(t *catalog.Table) (bytes, rows int64) {
	var st table.Stats
	v := s.view()
	defer v.close()
	st = v.snap.Stats(t.Storage.ID)
	return st.Bytes, st.Rows
}

// Segments implements pgcatalog.StorageLister.
func (s *Session) Segments(t *catalog.Table) ([]table.SegmentInfo, error) {
	v := s.view()
	defer v.close()
	return v.snap.Segments(t.Storage.ID)
}

// Chunks implements pgcatalog.StorageLister.
func (s *Session) Chunks(t *catalog.Table) ([]table.ChunkInfo, error) {
	v := s.view()
	defer v.close()
	return v.snap.Chunks(t.Storage.ID)
}

// WriteStats implements pgcatalog.StorageLister.
func (s *Session) WriteStats() table.WriteStats { return s.e.store.WriteStats() }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func quoteIdent(name string) string { return pgcatalog.QuoteIdent(name) }
