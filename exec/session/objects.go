package session

import (
	"cmp"
	"slices"

	"tsdb/planner/bind"
	"tsdb/sql/catalog"
	"tsdb/sql/pgcatalog"
	"tsdb/sql/types"
)

var (
	_ pgcatalog.ViewUpdater      = (*Session)(nil)
	_ pgcatalog.DependencyLister = (*Session)(nil)
)

// UpdatableColumns implements pgcatalog.ViewUpdater.
func (s *Session) UpdatableColumns(v *catalog.View) []bool {
	return bind.UpdatableColumns((*bind.Env)(s.env(s.catalog(), s.functionCtx(), nil)), v)
}

// EachDependency implements pgcatalog.DependencyLister.
func (s *Session) EachDependency(f func(pgcatalog.Dependency)) {
	walkDependencies(s.catalog(), func(d dependency) { f(pgcatalog.Dependency{Dependent: d.dependent, On: d.on, Kind: d.kind}) })
}

// ownedBy lists what a role owns, oldest first.
func (s *Session) ownedBy(role types.OID) []catalog.Ref {
	var out []catalog.Ref
	add := func(owner types.OID, ref catalog.Ref) {
		if owner == role {
			out = append(out, ref)
		}
	}
	cat := s.catalog()
	for _, sc := range cat.Schemas() {
		add(sc.Owner, schemaRef(sc.OID))
	}
	for _, t := range cat.Tables() {
		add(t.Owner, relationRef(t.OID))
	}
	for _, v := range cat.Views() {
		add(v.Owner, relationRef(v.OID))
	}
	for _, q := range cat.Sequences() {
		if q.OwnedBy.OID == 0 {
			add(q.Owner, relationRef(q.OID))
		}
	}
	for _, e := range cat.Enums() {
		add(e.Owner, typeRef(e.OID))
	}
	for _, d := range cat.Domains() {
		add(d.Owner, typeRef(d.OID))
	}
	slices.SortFunc(out, func(a, b catalog.Ref) int { return cmp.Compare(age(a.OID), age(b.OID)) })
	return out
}
