package session

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
)

// createIndex runs CREATE UNIQUE INDEX: uniqueness without a constraint's row
// in pg_constraint.
func (s *Session) createIndex(ctx context.Context, st *sql.Statement, n *pg_query.IndexStmt) error {
	if err := refuseIndex(n); err != nil {
		return err
	}
	t, err := s.alterTarget(ctx, n.Relation, false)
	if err != nil {
		return err
	}
	if n.Idxname != "" && s.relationExists(t.Schema, n.Idxname) {
		e := pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, n.Idxname)
		if n.IfNotExists {
			e.Severity, e.Message = pgerr.SevNotice, e.Message+", skipping"
			s.notice(e)
			return nil
		}
		return e
	}
	x := s.newAlteration(st, t)
	k := keyClause{name: n.Idxname, index: true}
	for _, p := range n.IndexParams {
		name := p.GetIndexElem().GetName()
		if name == "" {
			return pgerr.Unsupported("an index on an expression")
		}
		if t.ColumnIndex(name) < 0 {
			return pgerr.New(pgerr.UndefinedColumn, `column "%s" does not exist`, name)
		}
		if !slices.Contains(k.columns, name) {
			k.columns = append(k.columns, name)
		}
	}
	x.keys = append(x.keys, k)
	return x.apply(ctx)
}

func refuseIndex(n *pg_query.IndexStmt) error {
	switch {
	case !n.Unique:
		return pgerr.Unsupported("CREATE INDEX").WithHint("Rows are sorted by the primary key; CREATE UNIQUE INDEX adds uniqueness.")
	case n.WhereClause != nil:
		return pgerr.Unsupported("a partial index")
	case len(n.IndexIncludingParams) > 0:
		return pgerr.Unsupported("INCLUDE in an index")
	case n.NullsNotDistinct:
		return pgerr.Unsupported("NULLS NOT DISTINCT")
	case n.AccessMethod != "" && n.AccessMethod != "btree":
		return pgerr.New(pgerr.FeatureNotSupported, `access method "%s" does not support unique indexes`, n.AccessMethod)
	case n.TableSpace != "":
		return pgerr.Unsupported("TABLESPACE")
	}
	return nil
}

// dropIndex removes an index that CREATE UNIQUE INDEX made; found is false if
// there is none of that name.
func (s *Session) dropIndex(ctx context.Context, schema, name string) (found bool, err error) {
	for _, t := range s.catalog().Tables() {
		if schema != "" && s.schemaName(t.Schema) != schema {
			continue
		}
		i := slices.IndexFunc(t.Constraints, func(c catalog.Constraint) bool { return c.Index && c.Name == name })
		if i < 0 {
			continue
		}
		if err := s.mustOwn(t); err != nil {
			return true, err
		}
		if err := s.lockTableAlone(ctx, t.OID); err != nil {
			return true, err
		}
		x := s.newAlteration(nil, t)
		x.t.Constraints = slices.Delete(x.t.Constraints, i, i+1)
		return true, x.apply(ctx)
	}
	return false, nil
}
