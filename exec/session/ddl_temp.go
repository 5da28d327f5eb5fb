package session

import (
	"context"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Temporary objects live in a schema of their session, pg_temp_<pid>, which the
// session's searches go through first. They are stored and logged as others
// are; the end of the session drops them, and so does the next start of the
// server after a crash.

const tempPrefix = "pg_temp_"

// tempSchema returns the session's schema of temporary objects, if it has one.
func (s *Session) tempSchema(cat *catalog.Snapshot) (*catalog.Schema, bool) {
	return cat.Schema(s.tempName)
}

// needTempSchema makes the session's schema of temporary objects; DDL only.
func (s *Session) needTempSchema() (*catalog.Schema, error) {
	if sc, ok := s.tempSchema(s.tx.local); ok {
		return sc, nil
	}
	oid, err := s.e.newOID()
	if err != nil {
		return nil, err
	}
	sc := &catalog.Schema{OID: oid, Name: s.tempName, Owner: catalog.BootstrapRoleOID}
	s.tx.local = s.tx.local.WithSchema(sc)
	return sc, nil
}

// isTemp reports whether a schema holds temporary objects.
func isTemp(sc *catalog.Schema) bool { return strings.HasPrefix(sc.Name, tempPrefix) }

// onCommit is what a temporary table does at the end of a transaction.
func onCommit(a pg_query.OnCommitAction) byte {
	switch a {
	case pg_query.OnCommitAction_ONCOMMIT_DELETE_ROWS:
		return 'd'
	case pg_query.OnCommitAction_ONCOMMIT_DROP:
		return 'D'
	}
	return 0
}

// targetSchema is the schema of a relation to be created.
func (s *Session) targetSchema(rv *pg_query.RangeVar) (*catalog.Schema, error) {
	if err := s.checkDatabase(rv); err != nil {
		return nil, err
	}
	name, temp := rv.GetSchemaname(), rv.GetRelpersistence() == "t"
	switch {
	case name == "pg_temp" || temp && name == "":
		return s.needTempSchema()
	case name == "":
		sc, ok := s.creationSchema(s.catalog())
		if !ok {
			return nil, pgerr.New(pgerr.InvalidSchemaName, "no schema has been selected to create in")
		}
		if isTemp(sc) {
			return s.needTempSchema()
		}
		return sc, refuseSystemSchema(sc, rv.GetRelname())
	}
	sc, ok := s.findSchema(name)
	switch {
	case !ok:
		return nil, noSchema(name)
	case temp && !isTemp(sc):
		return nil, pgerr.New(pgerr.InvalidTableDefinition, "cannot create temporary relation in non-temporary schema")
	case isTemp(sc):
		if own, ok := s.tempSchema(s.catalog()); !ok || own.OID != sc.OID {
			return nil, pgerr.New(pgerr.InvalidTableDefinition, "cannot create relations in temporary schemas of other sessions")
		}
	}
	return sc, refuseSystemSchema(sc, rv.GetRelname())
}

// endTemp drops the temporary objects when the session ends. It waits for the
// right to change the catalog, unless the server stops: the next start does it.
func (s *Session) endTemp() {
	if _, ok := s.tempSchema(s.e.published.Load()); !ok {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		select {
		case <-s.e.stopping:
			stop()
		case <-ctx.Done():
		}
	}()
	if err := s.dropTempSchemas(ctx, func(name string) bool { return name == s.tempName }); err != nil {
		s.e.o.Logger.Warn("temporary objects stay until the next start", "error", err)
	}
}

// dropLeftTemp drops the temporary objects of sessions of before a start.
func (e *Engine) dropLeftTemp() error {
	for _, sc := range e.published.Load().Schemas() {
		if isTemp(sc) {
			s := &Session{e: e, user: "tsdb", reset: map[string]string{"session_authorization": "tsdb"}}
			s.derive()
			return s.dropTempSchemas(context.Background(), func(string) bool { return true })
		}
	}
	return nil
}

// dropTempSchemas drops the schemas of temporary objects with these names, in a
// transaction of its own.
func (s *Session) dropTempSchemas(ctx context.Context, which func(name string) bool) error {
	if err := s.lockCatalog(ctx); err != nil {
		s.rollback()
		return err
	}
	defer s.rollback()
	for _, sc := range s.tx.local.Schemas() {
		if !isTemp(sc) || !which(sc.Name) {
			continue
		}
		if err := s.dropInside(ctx, sc.OID); err != nil {
			return err
		}
		s.tx.local = s.tx.local.WithoutSchema(sc.Name)
	}
	return s.commit(ctx)
}

// dropTemp removes all temporary objects of the session; DDL only. The schema
// stays, as it does in PostgreSQL.
func (s *Session) dropTemp(ctx context.Context) error {
	sc, ok := s.tempSchema(s.tx.local)
	if !ok {
		return nil
	}
	return s.dropInside(ctx, sc.OID)
}

// discardTemp is DISCARD TEMP.
func (s *Session) discardTemp(ctx context.Context) error {
	if _, ok := s.tempSchema(s.catalog()); !ok {
		return nil
	}
	if err := s.lockCatalog(ctx); err != nil {
		return err
	}
	return s.dropTemp(ctx)
}

// dropInside removes everything in a schema without a notice.
func (s *Session) dropInside(ctx context.Context, schema types.OID) error {
	d := newDropper(s.tx.local)
	for _, e := range d.dependents(schemaRef(schema)) {
		d.visit(e.dependent, schemaRef(schema), true, true)
	}
	return s.removeAll(ctx, d)
}

// endTransactionTemp does what temporary tables do at COMMIT: those of ON COMMIT
// DROP go, those of ON COMMIT DELETE ROWS lose their rows.
func (s *Session) endTransactionTemp(ctx context.Context) error {
	sc, ok := s.tempSchema(s.catalog())
	if !ok || s.tx.store == nil {
		return nil
	}
	d := newDropper(s.catalog())
	for _, t := range s.catalog().Tables() {
		switch {
		case t.Schema != sc.OID:
		case t.OnCommit == 'D' && s.tx.local != nil:
			d.visit(relationRef(t.OID), catalog.Ref{}, true, true)
		case t.OnCommit == 'd':
			if err := s.deleteAll(ctx, sc, t); err != nil {
				return err
			}
		}
	}
	return s.removeAll(ctx, d)
}

// deleteAll deletes the rows of a temporary table.
func (s *Session) deleteAll(ctx context.Context, sc *catalog.Schema, t *catalog.Table) error {
	sts, err := sql.Parse("DELETE FROM " + quoteIdent(sc.Name) + "." + quoteIdent(t.Name))
	if err != nil {
		return err
	}
	v := s.view()
	a, err := s.analyze(sts[0], nil, v.cat)
	if err != nil {
		v.close()
		return err
	}
	_, _, err = s.changeAll(ctx, a, nil, v, nil)
	return err
}
