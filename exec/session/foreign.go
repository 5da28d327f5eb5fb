package session

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"tsdb/colstore"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/bind"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Foreign keys are enforced between tables of layout row. Who writes a child
// locks the parent's row, as who changes the parent does; the lock makes the one
// wait for the other. Locks are exclusive, so children of one parent wait for
// each other, too. Who takes a parent's key away scans the child's table.

// maxCascade bounds how deep ON DELETE and ON UPDATE actions go.
const maxCascade = 1000

// referenceSet is rows of keys to check at the end of a statement or transaction.
type referenceSet struct {
	keys map[string]int // number of the row in rows
	rows *vector.Batch  // the key columns
}

func newReferenceSet(kinds []types.Type) *referenceSet {
	r := &referenceSet{keys: map[string]int{}, rows: &vector.Batch{}}
	for _, t := range kinds {
		r.rows.Cols = append(r.rows.Cols, vector.New(t.Kind(), 0))
	}
	return r
}

// add adds row i of the columns, if it is new.
func (r *referenceSet) add(key []byte, cols []*vector.Vector, i int) {
	if _, have := r.keys[string(key)]; have {
		return
	}
	r.keys[string(key)] = r.rows.N
	for c, v := range cols {
		r.rows.Cols[c].AppendFrom(v, i)
	}
	r.rows.N++
}

// childKey makes the keys of one foreign key out of rows of the child.
type childKey struct {
	f      *catalog.ForeignKey
	child  *catalog.Table
	parent *catalog.Table
	shape  catalog.Table // the referenced columns: what keys are made of
	progs  []*eval.Program
	env    *eval.Env
	cols   []*vector.Vector
	key    []byte
}

func (s *Session) childKey(cat *catalog.Snapshot, child *catalog.Table, f *catalog.ForeignKey) (*childKey, error) {
	parent, ok := cat.TableByOID(f.Table)
	if !ok {
		return nil, pgerr.New(pgerr.UndefinedTable, "referenced table of constraint %s does not exist", f.Name)
	}
	k := &childKey{f: f, child: child, parent: parent, env: &eval.Env{Ctx: s.functionCtx()}}
	for i, num := range f.Columns {
		p := parent.Columns[parent.ColumnByNum(f.RefColumns[i])]
		k.shape.Columns = append(k.shape.Columns, p)
		text, err := s.foreignConversion(child, child.ColumnByNum(num), p.Type)
		if err != nil {
			return nil, err
		}
		prog, err := s.compileOver(cat, child, text, bind.ForTransform, types.T(p.Type.OID))
		if err != nil {
			return nil, err
		}
		k.progs = append(k.progs, prog)
	}
	k.cols = make([]*vector.Vector, len(k.progs))
	return k, nil
}

// read computes the keys of flat rows of the child.
func (k *childKey) read(b *vector.Batch) error {
	for i, p := range k.progs {
		v, err := p.Eval(k.env, b)
		if err != nil {
			return err
		}
		k.cols[i] = v.Flat(&vector.Vector{})
	}
	return nil
}

// of returns the key of row i, nil where a NULL leaves it unchecked.
func (k *childKey) of(s *Session, i int) ([]byte, error) {
	nulls := 0
	for _, c := range k.cols {
		if c.IsNull(i) {
			nulls++
		}
	}
	if nulls > 0 && nulls < len(k.cols) && k.f.MatchFull {
		return nil, s.foreignViolation(k, "MATCH FULL does not allow mixing of null and nonnull key values.")
	}
	if nulls > 0 {
		return nil, nil
	}
	k.key = appendRow(k.key[:0], &k.shape, k.cols, i)
	return k.key, nil
}

func (s *Session) foreignViolation(k *childKey, detail string) error {
	e := pgerr.New(pgerr.ForeignKeyViolation, `insert or update on table "%s" violates foreign key constraint "%s"`, k.child.Name, k.f.Name)
	e.Schema, e.Table, e.Constraint = s.schemaName(k.child.Schema), k.child.Name, k.f.Name
	return e.WithDetail("%s", detail)
}

// keyOf prints a key with the names of its columns.
func (s *Session) keyOf(t *catalog.Table, nums []int16, shape *catalog.Table, cols []*vector.Vector, row int) string {
	names, vals := make([]string, len(nums)), make([]string, len(nums))
	for i, num := range nums {
		names[i] = t.Columns[t.ColumnByNum(num)].Name
		vals[i] = s.valueText(shape.Columns[i].Type, cols[i], row)
	}
	return "Key (" + strings.Join(names, ", ") + ")=(" + strings.Join(vals, ", ") + ")"
}

// pendingCheck is a check of children that has not been made yet.
type pendingCheck struct {
	key *childKey
	set *referenceSet
}

// references is what one statement has to check of foreign keys.
type references struct {
	s       *Session
	out     []*pendingCheck // of the table's own constraints
	in      []*parentCheck  // of constraints that reference the table
	cascade int
}

// references prepares for a statement that changes a table; nil if no foreign
// key is concerned.
func (s *Session) references(t *catalog.Table) (*references, error) {
	if t.Storage.Layout != table.RowStore {
		return nil, nil
	}
	cat := s.catalog()
	r := &references{s: s}
	for i := range t.ForeignKeys {
		if f := &t.ForeignKeys[i]; f.Enforced {
			k, err := s.childKey(cat, t, f)
			if err != nil {
				return nil, err
			}
			r.out = append(r.out, &pendingCheck{k, newReferenceSet(columnTypes(&k.shape))})
		}
	}
	for _, ref := range cat.References(t.OID) {
		if ref.Key.Enforced {
			k, err := s.childKey(cat, ref.Table, ref.Key)
			if err != nil {
				return nil, err
			}
			r.in = append(r.in, newParentCheck(t, k))
		}
	}
	if len(r.out)+len(r.in) == 0 {
		return nil, nil
	}
	return r, nil
}

func columnTypes(t *catalog.Table) []types.Type {
	out := make([]types.Type, len(t.Columns))
	for i := range t.Columns {
		out[i] = t.Columns[i].Type
	}
	return out
}

// written notes rows that the statement has added, or updated from old: then
// keys that stay as they were need no check.
func (r *references) written(old, b *vector.Batch) error {
	for _, p := range r.out {
		var before [][]byte
		if old != nil {
			if err := p.key.read(old); err != nil {
				return err
			}
			for i := range old.N {
				key, _ := p.key.of(r.s, i) // a key that is not whole is another one than any
				before = append(before, bytes.Clone(key))
			}
		}
		if err := p.key.read(b); err != nil {
			return err
		}
		for i := range b.N {
			key, err := p.key.of(r.s, i)
			if err != nil {
				return err
			}
			if key != nil && (before == nil || !bytes.Equal(key, before[i])) {
				p.set.add(key, p.key.cols, i)
			}
		}
	}
	return nil
}

// finish checks what the statement did; what is deferred waits for COMMIT.
func (r *references) finish(ctx context.Context) error {
	for _, p := range r.in {
		if err := p.run(ctx, r); err != nil {
			return err
		}
	}
	for _, p := range r.out {
		if p.set.rows.N == 0 {
			continue
		}
		if r.s.isDeferred(p.key.f) {
			r.s.tx.deferred = append(r.s.tx.deferred, p)
			continue
		}
		if err := r.s.checkParents(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// isDeferred reports whether a constraint is checked at COMMIT now.
func (s *Session) isDeferred(f *catalog.ForeignKey) bool {
	if d, ok := s.tx.constraints[f.OID]; ok && f.Deferrable {
		return d
	}
	if s.tx.allConstraints != 0 && f.Deferrable {
		return s.tx.allConstraints > 0
	}
	return f.Deferred
}

// checkParents refuses keys that the parent lacks.
func (s *Session) checkParents(ctx context.Context, p *pendingCheck) error {
	m, err := s.findParents(ctx, p)
	if m == nil || err != nil {
		return err
	}
	defer m.Close()
	found := make([]bool, p.set.rows.N)
	for _, of := range m.Of {
		found[of] = true
	}
	if k, missing := p.key, slices.Index(found, false); missing >= 0 {
		return s.foreignViolation(k, s.keyOf(k.child, k.f.Columns, &k.shape, p.set.rows.Cols, missing)+` is not present in table "`+k.parent.Name+`".`)
	}
	return nil
}

// findParents looks the keys up in the parent, whose rows are locked by that;
// nil if the parent is gone.
func (s *Session) findParents(ctx context.Context, p *pendingCheck) (*colstore.Match, error) {
	k := p.key
	parent, ok := s.catalog().TableByOID(k.parent.OID)
	if !ok {
		return nil, nil
	}
	ctx, stop := s.withLockTimeout(ctx)
	defer stop()
	// In the order of keys, so that two statements do not wait for each other.
	order := make([]int, 0, len(p.set.keys))
	for _, key := range slices.Sorted(maps.Keys(p.set.keys)) {
		order = append(order, p.set.keys[key])
	}
	b := &vector.Batch{N: len(order), Cols: make([]*vector.Vector, len(parent.Columns))}
	for i := range parent.Columns {
		b.Cols[i] = vector.New(parent.Columns[i].Type.Kind(), 1)
		b.Cols[i].AppendNull()
		b.Cols[i].Const, b.Cols[i].N = true, b.N
	}
	for i, num := range k.f.RefColumns {
		v := vector.New(p.set.rows.Cols[i].Kind, len(order))
		for _, row := range order {
			v.AppendFrom(p.set.rows.Cols[i], row)
		}
		b.Cols[parent.ColumnByNum(num)] = v
	}
	for i := range b.Cols {
		b.Cols[i] = b.Cols[i].Flat(&vector.Vector{})
	}
	var index uint64
	for i := range parent.Constraints {
		if c := &parent.Constraints[i]; c.OID == k.f.Constraint && !c.Primary {
			index = c.StoreID
		}
	}
	m, err := s.writeTx().Find(ctx, parent.Storage.ID, index, b)
	if err != nil {
		return nil, err
	}
	for i, of := range m.Of {
		m.Of[i] = int32(order[of])
	}
	return m, nil
}

// checkDeferred makes the checks that wait for the end of the transaction.
func (s *Session) checkDeferred(ctx context.Context, only func(*catalog.ForeignKey) bool) error {
	var rest []*pendingCheck
	all := s.tx.deferred
	s.tx.deferred = nil
	for _, p := range all {
		if only != nil && !only(p.key.f) {
			rest = append(rest, p)
			continue
		}
		if err := s.checkDeferredSet(ctx, p); err != nil {
			return err
		}
	}
	s.tx.deferred = append(s.tx.deferred, rest...)
	return s.checkDeferredGone(ctx, only)
}

// checkDeferredSet checks the keys that rows of the child still have.
func (s *Session) checkDeferredSet(ctx context.Context, p *pendingCheck) error {
	child, ok := s.catalog().TableByOID(p.key.child.OID)
	if !ok {
		return nil
	}
	still := &pendingCheck{p.key, newReferenceSet(columnTypes(&p.key.shape))}
	sn := s.writeTx().Snapshot()
	defer sn.Close()
	err := scanTable(ctx, sn, child, func(b *vector.Batch) error {
		if err := p.key.read(b); err != nil {
			return err
		}
		for i := range b.N {
			key, err := p.key.of(s, i)
			if err != nil {
				return err
			}
			if _, wanted := p.set.keys[string(key)]; key != nil && wanted {
				still.set.add(key, p.key.cols, i)
			}
		}
		return nil
	})
	if err != nil || still.set.rows.N == 0 {
		return err
	}
	return s.checkParents(ctx, still)
}

// scanTable calls f with all rows of a table, flat, all columns and the row ids.
func scanTable(ctx context.Context, sn *colstore.Snapshot, t *catalog.Table, f func(*vector.Batch) error) error {
	sc, err := sn.Scan(t.Storage.ID, table.ScanRequest{Columns: allOf(t), RowIDs: true})
	if err != nil {
		return err
	}
	var flat vector.Batch
	return readAll(ctx, sc, func(b *vector.Batch) error { return f(b.Flat(&flat)) })
}
