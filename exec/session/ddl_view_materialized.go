package session

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/planner"
	"tsdb/planner/bind"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
)

// materialized prepares CREATE MATERIALIZED VIEW: a table that keeps its query.
func (f *filledTable) materialized(sel *pg_query.SelectStmt) error {
	if f.into.Rel.GetRelpersistence() == "u" {
		return pgerr.New(pgerr.FeatureNotSupported, "materialized views cannot be unlogged")
	}
	if into := selectInto(sel); into != nil {
		return pgerr.New(pgerr.SyntaxError, "SELECT ... INTO is not allowed here").At(f.st.Position(into.Rel.GetLocation()))
	}
	if err := refuseViewQuery(sel, "materialized views"); err != nil {
		return err
	}
	q, err := f.s.define(f.st, sel)
	if err != nil {
		return err
	}
	if q.uses.Temp {
		return pgerr.New(pgerr.FeatureNotSupported, "materialized views must not use temporary tables or views")
	}
	f.bound = q.bound
	f.t = &catalog.Table{Query: q.text, Path: q.path, Names: q.uses.Names, Depends: q.uses.Depends, Unpopulated: f.into.SkipData}
	return nil
}

// queryOf is the view that a materialized view would be.
func queryOf(t *catalog.Table) *catalog.View {
	v := &catalog.View{OID: t.OID, Name: t.Name, Query: t.Query, Path: t.Path, Names: t.Names}
	for i := range t.Columns {
		v.Columns = append(v.Columns, catalog.ViewColumn{Name: t.Columns[i].Name, Type: t.Columns[i].Type.OID, Mod: t.Columns[i].Type.Mod})
	}
	return v
}

// refreshView runs REFRESH MATERIALIZED VIEW: the rows of the query go into a
// new storage that takes the place of the old one at COMMIT. Readers keep the
// one that they have begun with.
func (s *Session) refreshView(ctx context.Context, n *pg_query.RefreshMatViewStmt) error {
	r, err := s.anyRelation(n.Relation)
	if err != nil {
		return err
	}
	if r.Kind != catalog.RelMaterialized {
		return pgerr.New(pgerr.FeatureNotSupported, `"%s" is not a materialized view`, r.Name)
	}
	if err := s.mustOwnRelation(r); err != nil {
		return err
	}
	t := r.Table
	if n.Concurrent {
		if err := s.refreshableConcurrently(n, t); err != nil {
			return err
		}
	}
	if err := s.lockTableAlone(ctx, t.OID); err != nil {
		return err
	}
	b, err := bind.ViewQuery((*bind.Env)(s.env(s.catalog(), s.functionCtx(), nil)), queryOf(t))
	if err != nil {
		return err
	}
	return s.refill(ctx, t, (*planner.Bound)(b), n.SkipData)
}

func (s *Session) refreshableConcurrently(n *pg_query.RefreshMatViewStmt, t *catalog.Table) error {
	switch {
	case t.Unpopulated:
		return pgerr.New(pgerr.FeatureNotSupported, "CONCURRENTLY cannot be used when the materialized view is not populated")
	case n.SkipData:
		return pgerr.New(pgerr.SyntaxError, "CONCURRENTLY and WITH NO DATA options cannot be used together")
	case len(t.Constraints) == 0:
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, `cannot refresh materialized view "%s" concurrently`,
			quoteIdent(s.schemaName(t.Schema))+"."+quoteIdent(t.Name)).
			WithHint("Create a unique index with no WHERE clause on one or more columns of the materialized view.")
	}
	return nil
}

// refill gives a materialized view a new storage with the rows of b, or none.
func (s *Session) refill(ctx context.Context, t *catalog.Table, b *planner.Bound, empty bool) error {
	id, err := s.e.store.NewID()
	if err != nil {
		return err
	}
	n := t.Clone()
	n.Storage.ID, n.Storage.Dropped, n.Unpopulated = table.ID(id), nil, empty
	for i := range n.Storage.Columns {
		n.Storage.Columns[i].Missing = nil
	}
	for i := range n.Constraints {
		if n.Constraints[i].StoreID, err = s.e.store.NewID(); err != nil {
			return err
		}
	}
	n.DeriveKeys()
	replace := func() error {
		if err := s.writeTx().DropTable(t.Storage.ID); err != nil {
			return err
		}
		return s.addTable(n)
	}
	if empty {
		return replace()
	}
	_, err = s.fillTable(ctx, n, b, nil, s.view(), replace)
	x := alteration{tableBuilder: tableBuilder{s: s, t: n}}
	return x.moveError(err)
}
