package session

import (
	"cmp"
	"slices"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
)

// withReferrers adds the tables that reference those of a TRUNCATE, or refuses
// where CASCADE was not given.
//
// Errors: 0A000.
func (s *Session) withReferrers(all []*catalog.Table, cascade bool) ([]*catalog.Table, error) {
	for i := 0; i < len(all); i++ {
		refs := s.catalog().References(all[i].OID)
		slices.SortFunc(refs, func(a, b catalog.Reference) int { return cmp.Compare(a.Table.OID, b.Table.OID) })
		for _, r := range refs {
			if slices.ContainsFunc(all, func(t *catalog.Table) bool { return t.OID == r.Table.OID }) {
				continue
			}
			if !cascade {
				return nil, pgerr.New(pgerr.FeatureNotSupported, "cannot truncate a table referenced in a foreign key constraint").
					WithDetail(`Table "%s" references "%s".`, r.Table.Name, all[i].Name).
					WithHint(`Truncate table "%s" at the same time, or use TRUNCATE ... CASCADE.`, r.Table.Name)
			}
			s.notice(pgerr.Notice(`truncate cascades to table "%s"`, r.Table.Name))
			if err := s.mustOwn(r.Table); err != nil {
				return nil, err
			}
			all = append(all, r.Table)
		}
	}
	return all, nil
}

// restartSequences is RESTART IDENTITY: the sequences that columns of a table own
// begin anew.
func (s *Session) restartSequences(t *catalog.Table) error {
	for _, q := range s.catalog().Sequences() {
		if q.OwnedBy.OID != t.OID {
			continue
		}
		n := *q
		n.From = nil
		if err := s.renew(&n); err != nil {
			return err
		}
		s.tx.local = s.tx.local.WithSequence(&n)
	}
	return nil
}
