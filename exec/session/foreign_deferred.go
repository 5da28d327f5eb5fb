package session

import (
	"context"
	"maps"
	"slices"

	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

// waiting is what waits for the end of a transaction, and what SET CONSTRAINTS
// said, as a savepoint keeps it.
type waiting struct {
	checks         []*pendingCheck
	gone           []*parentCheck
	constraints    map[types.OID]bool
	allConstraints int
}

func (tx *transaction) waiting() waiting {
	return waiting{slices.Clone(tx.deferred), slices.Clone(tx.deferredGone), maps.Clone(tx.constraints), tx.allConstraints}
}

func (tx *transaction) restore(d waiting) {
	tx.deferred, tx.deferredGone = slices.Clone(d.checks), slices.Clone(d.gone)
	tx.constraints, tx.allConstraints = maps.Clone(d.constraints), d.allConstraints
}

// checkDeferredGone refuses children whose parents were deleted or got another
// key while the constraint was deferred.
func (s *Session) checkDeferredGone(ctx context.Context, only func(*catalog.ForeignKey) bool) error {
	all := s.tx.deferredGone
	s.tx.deferredGone = nil
	for _, p := range all {
		if only != nil && !only(p.key.f) {
			s.tx.deferredGone = append(s.tx.deferredGone, p)
			continue
		}
		cat := s.catalog()
		child, ok := cat.TableByOID(p.key.child.OID)
		if !ok {
			continue
		}
		i := slices.IndexFunc(child.ForeignKeys, func(f catalog.ForeignKey) bool { return f.OID == p.key.f.OID })
		if i < 0 {
			continue
		}
		k, err := s.childKey(cat, child, &child.ForeignKeys[i])
		if err != nil {
			return err
		}
		// A rollback to a savepoint may bring the keys back that are found again.
		set := &referenceSet{keys: maps.Clone(p.deleted.keys), rows: p.deleted.rows}
		if err := (&parentCheck{key: k}).serve(ctx, &references{s: s}, set, 'a', nil); err != nil {
			return err
		}
	}
	return nil
}
