package session

import (
	"context"
	"maps"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// verifyLater notes checks of ALTER TABLE that the rows have to pass: those that
// it adds, and all where a column has got other values.
func (x *alteration) verifyLater() {
	for i := range x.t.Checks {
		c := &x.t.Checks[i]
		isNew := !slices.ContainsFunc(x.old.Checks, func(o catalog.Check) bool { return o.OID == c.OID })
		if isNew && !c.NotValid || len(x.changed) > 0 && !c.NotValid {
			x.verified = append(x.verified, c.OID)
		}
	}
}

// verify looks for a row, as it is stored now, for which one of the noted checks
// is false.
//
// Errors: 23514.
func (x *alteration) verify(ctx context.Context) error {
	if len(x.verified) == 0 {
		return nil
	}
	return x.s.verifyChecks(ctx, x.t, x.verified)
}

func (s *Session) verifyChecks(ctx context.Context, t *catalog.Table, checks []types.OID) error {
	only := *t
	only.Checks = slices.DeleteFunc(slices.Clone(t.Checks), func(c catalog.Check) bool { return !slices.Contains(checks, c.OID) })
	only.Columns = slices.Clone(t.Columns)
	for i := range only.Columns {
		only.Columns[i].Generated = "" // they are stored
	}
	rules, err := s.rowRules(s.catalog(), &only)
	if err != nil || rules == nil {
		return err
	}
	snap := s.writeTx().Snapshot()
	defer snap.Close()
	sc, err := snap.Scan(t.Storage.ID, table.ScanRequest{Columns: allOf(t)})
	if err != nil {
		return err
	}
	var flat vector.Batch
	return readAll(ctx, sc, func(b *vector.Batch) error {
		b = b.Flat(&flat)
		for i, c := range b.Cols {
			b.Cols[i] = c.Flat(&vector.Vector{})
		}
		row, name, err := rules.violated(b)
		if err != nil || row == b.N {
			return err
		}
		e := pgerr.New(pgerr.CheckViolation, `check constraint "%s" of relation "%s" is violated by some row`, name, t.Name)
		e.Schema, e.Table, e.Constraint = s.schemaName(t.Schema), t.Name, name
		return e
	})
}

// validate is VALIDATE CONSTRAINT.
func (x *alteration) validate(ctx context.Context, name string) error {
	oid, ok := constraintNamed(x.t, name)
	if !ok {
		return x.noConstraint(name)
	}
	for i := range x.t.Checks {
		c := &x.t.Checks[i]
		if c.OID != oid {
			continue
		}
		if c.NotValid {
			c.NotValid = false
			x.verified = append(x.verified, oid)
		}
		return nil
	}
	for i := range x.t.ForeignKeys {
		f := &x.t.ForeignKeys[i]
		if f.OID != oid {
			continue
		}
		if !f.NotValid {
			return nil
		}
		f.NotValid = false
		return x.s.verifyForeign(ctx, x.old, f)
	}
	return pgerr.New(pgerr.WrongObjectType, `constraint "%s" of relation "%s" is not a foreign key or check constraint`, name, x.old.Name)
}

func (x *alteration) noConstraint(name string) error {
	return pgerr.New(pgerr.UndefinedObject, `constraint "%s" of relation "%s" does not exist`, name, x.old.Name)
}

// alterConstraint is ALTER CONSTRAINT: whether a foreign key may be deferred.
func (x *alteration) alterConstraint(c *pg_query.Constraint) error {
	if _, ok := constraintNamed(x.t, c.Conname); !ok {
		return x.noConstraint(c.Conname)
	}
	for i := range x.t.ForeignKeys {
		if f := &x.t.ForeignKeys[i]; f.Name == c.Conname {
			f.Deferrable, f.Deferred = c.Deferrable, c.Initdeferred
			return nil
		}
	}
	return pgerr.New(pgerr.WrongObjectType, `constraint "%s" of relation "%s" is not a foreign key constraint`, c.Conname, x.old.Name)
}

// addForeignKeys adds the foreign keys of ALTER TABLE to the table that the
// catalog has by now, and checks its rows.
//
// Errors: 23503, and those of the clause.
func (x *alteration) addForeignKeys(ctx context.Context) error {
	for _, k := range x.foreign {
		x.t = x.t.Clone()
		f, err := x.foreignKey(ctx, k)
		if err != nil {
			return err
		}
		x.s.tx.local = x.s.tx.local.WithTable(x.t)
		if f.NotValid {
			continue
		}
		if err := x.s.verifyForeign(ctx, x.t, f); err != nil {
			return err
		}
	}
	return nil
}

// verifyForeign checks the keys of all rows of a table against the parent.
//
// Errors: 23503.
func (s *Session) verifyForeign(ctx context.Context, t *catalog.Table, f *catalog.ForeignKey) error {
	if !f.Enforced {
		return nil
	}
	k, err := s.childKey(s.catalog(), t, f)
	if err != nil {
		return err
	}
	set := newReferenceSet(columnTypes(&k.shape))
	snap := s.writeTx().Snapshot()
	defer snap.Close()
	err = scanTable(ctx, snap, t, func(b *vector.Batch) error {
		if err := k.read(b); err != nil {
			return err
		}
		for i := range b.N {
			key, err := k.of(s, i)
			if err != nil {
				return err
			}
			if key != nil {
				set.add(key, k.cols, i)
			}
		}
		return nil
	})
	if err != nil || set.rows.N == 0 {
		return err
	}
	return s.parentsHave(ctx, snap, k, set)
}

// parentsHave refuses keys that no row of the parent has.
//
// Errors: 23503.
func (s *Session) parentsHave(ctx context.Context, snap *colstore.Snapshot, k *childKey, set *referenceSet) error {
	cols := make([]int, len(k.f.RefColumns))
	for i, num := range k.f.RefColumns {
		cols[i] = k.parent.ColumnByNum(num)
	}
	missing := maps.Clone(set.keys)
	var buf []byte
	err := scanTable(ctx, snap, k.parent, func(b *vector.Batch) error {
		key := pick(b, cols)
		for i, c := range key {
			key[i] = c.Flat(&vector.Vector{})
		}
		for i := range b.N {
			buf = appendRow(buf[:0], &k.shape, key, i)
			delete(missing, string(buf))
		}
		return nil
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	first := slices.Min(slices.Collect(maps.Values(missing)))
	return s.foreignViolation(k, s.keyOf(k.child, k.f.Columns, &k.shape, set.rows.Cols, first)+` is not present in table "`+k.parent.Name+`".`)
}

// generatedRules computes the generated columns of rows that move, nil if there
// are none.
func (x *alteration) generatedRules() (*rowRules, error) {
	only := *x.t
	only.Checks = nil
	return x.s.rowRules(x.s.catalog(), &only)
}
