package session

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/sql/pgerr"
)

// vacuumOptions are PostgreSQL's; those that do not tell VACUUM from ANALYZE
// have no effect.
var vacuumOptions = map[string]bool{"full": true, "freeze": true, "verbose": true, "analyze": true, "disable_page_skipping": true,
	"skip_locked": true, "index_cleanup": true, "process_toast": true, "truncate": true, "parallel": true}

// vacuum runs VACUUM: what arrived moves into segments, deleted and expired rows
// give their space back. ANALYZE has nothing to do: statistics are always there.
func (s *Session) vacuum(ctx context.Context, n *pg_query.VacuumStmt) (string, error) {
	word := "ANALYZE"
	if n.IsVacuumcmd {
		word = "VACUUM"
	}
	for _, o := range n.Options {
		d := o.GetDefElem()
		if !vacuumOptions[d.Defname] || word == "ANALYZE" && d.Defname != "verbose" && d.Defname != "skip_locked" {
			return "", pgerr.New(pgerr.SyntaxError, `unrecognized %s option "%s"`, word, d.Defname)
		}
	}
	if n.IsVacuumcmd && (s.tx.block || s.tx.several) {
		return "", pgerr.New(pgerr.ActiveSQLTransaction, "VACUUM cannot run inside a transaction block")
	}
	var ids []table.ID
	for _, r := range n.Rels {
		rel := r.GetVacuumRelation()
		rv := rel.GetRelation()
		if s.virtual(rv.GetSchemaname(), rv.GetRelname()) {
			continue
		}
		t, err := s.relation(rv)
		if err != nil {
			return "", err
		}
		for _, c := range rel.VaCols {
			if name := c.GetString_().GetSval(); t.ColumnIndex(name) < 0 {
				return "", pgerr.New(pgerr.UndefinedColumn, `column "%s" of relation "%s" does not exist`, name, t.Name)
			}
		}
		ids = append(ids, t.Storage.ID)
	}
	if !n.IsVacuumcmd || len(n.Rels) > 0 && ids == nil {
		return word, nil
	}
	return word, s.e.store.Vacuum(ctx, ids, nil)
}
