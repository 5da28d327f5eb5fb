package session

import (
	"tsdb/planner/bind"
	"tsdb/sql/catalog"
	"tsdb/sql/pgcatalog"
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
