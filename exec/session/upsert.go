package session

import (
	"cmp"
	"slices"

	"tsdb/colstore"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner"
	"tsdb/rowkey"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// upsert runs INSERT ... ON CONFLICT where the session has to know which rows
// collide: for DO UPDATE, for RETURNING, and where several keys count, since a
// row that one key leaves out does not stand in the way of another's.
type upsert struct {
	w *writer
	// keys are the constraints whose collisions are served.
	keys []*catalog.Constraint
	// update makes new rows of old row, row id, proposed row and ordinal; nil: DO NOTHING.
	update *rowPlan
	seen   *colstore.Snapshot // REPEATABLE READ: matches must be in it as they are; nil: any
	// touched holds, for DO UPDATE, the keys of the rows that this statement has
	// added or updated, and for DO NOTHING those of the batch.
	touched map[string]bool

	skip            []bool // per row of the batch: it collides
	key             []byte
	fresh, proposed vector.Batch
	given           vector.Batch
	ordinal         vector.Vector
	shown           []shownRow // for RETURNING: the rows of the batch that were written
}

// shownRow is a row that RETURNING shows, and where the batch had it.
type shownRow struct {
	at   int32
	rows *vector.Batch
	row  int
}

// prepareConflict chooses how an INSERT treats rows whose key exists.
func (s *Session) prepareConflict(w *writer, b *planner.Bound, params []planner.ParamValue, v *view, c *functions.Ctx) error {
	if b.Kind != planner.Insert {
		return nil
	}
	skips := b.Conflict != nil || w.t.Storage.Conflict == table.ConflictIgnore
	if !skips || b.Conflict == nil && b.Returning == nil && len(w.t.Constraints) == 1 {
		return nil
	}
	u := &upsert{w: w, touched: map[string]bool{}}
	var only []int
	if b.Conflict != nil {
		only = b.Conflict.Arbiters
	}
	for i := range w.t.Constraints {
		if only == nil || slices.Contains(only, i) {
			u.keys = append(u.keys, &w.t.Constraints[i])
		}
	}
	if b.Conflict != nil && b.Conflict.Update != nil {
		u.keys = u.keys[:1] // others have the same columns
		p, err := s.newRowPlan(v, c, b, b.Conflict.Update, params)
		if err != nil {
			return err
		}
		u.update = p
		if s.isolation() == "repeatable read" {
			u.seen = v.snap
		}
	} else if b.Returning == nil && len(u.keys) == 1 {
		w.options = &table.AppendOptions{Conflict: table.ConflictIgnore}
		if only != nil {
			for _, k := range u.keys {
				w.options.Arbiters = append(w.options.Arbiters, k.StoreID)
			}
		}
		return nil
	}
	w.upsert = u
	return nil
}

// rows adds or updates the rows of b.
func (u *upsert) rows(b *vector.Batch) error {
	u.skip = append(u.skip[:0], make([]bool, b.N)...)
	write := u.addNew
	if u.update != nil {
		write = u.addOrUpdate
	}
	if err := write(b); err != nil {
		return err
	}
	return u.show()
}

// addOrUpdate is DO UPDATE.
func (u *upsert) addOrUpdate(b *vector.Batch) error {
	m, err := u.find(u.keys[0], b)
	if err != nil {
		return err
	}
	defer m.Close()
	for _, r := range m.Of {
		u.skip[r] = true
	}
	for i := range b.N {
		if !u.appendKey(b.Cols, i) {
			continue
		}
		if u.touched[string(u.key)] {
			return secondTime()
		}
		if !u.skip[i] {
			u.touched[string(u.key)] = true
		}
	}
	if err := u.appendRest(b); err != nil {
		return err
	}
	return u.updateMatches(b, m)
}

func secondTime() error {
	return pgerr.New(pgerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time").
		WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
}

func (u *upsert) find(k *catalog.Constraint, b *vector.Batch) (*colstore.Match, error) {
	ctx, stop := u.w.s.withLockTimeout(u.w.ctx)
	defer stop()
	return u.w.tx.Find(ctx, u.w.t.Storage.ID, k.StoreID, b)
}

// appendKey makes u.key the first arbiter's key of row i; false if it has a NULL.
func (u *upsert) appendKey(cols []*vector.Vector, i int) bool {
	return u.appendKeyOf(u.keys[0], cols, i)
}

func (u *upsert) appendKeyOf(k *catalog.Constraint, cols []*vector.Vector, i int) bool {
	u.key = u.key[:0]
	for _, c := range k.Columns {
		if cols[c].IsNull(i) {
			return false
		}
		u.key = rowkey.AppendKey(u.key, u.w.t.Storage.Columns[c].Codec, cols[c], i)
	}
	return true
}

// addNew leaves out the rows that collide with rows that exist or with
// earlier ones of the batch.
func (u *upsert) addNew(b *vector.Batch) error {
	for _, k := range u.keys {
		m, err := u.find(k, b)
		if err != nil {
			return err
		}
		for _, r := range m.Of {
			u.skip[r] = true
		}
		m.Close()
	}
	clear(u.touched)
	for i := range b.N {
		if !u.skip[i] && u.repeats(b, i, false) {
			u.skip[i] = true
		} else if !u.skip[i] {
			u.repeats(b, i, true)
		}
	}
	return u.appendRest(b)
}

// repeats reports whether row i has a key of a row before it that is added;
// add notes its keys.
func (u *upsert) repeats(b *vector.Batch, i int, add bool) bool {
	for n, k := range u.keys {
		if !u.appendKeyOf(k, b.Cols, i) {
			continue
		}
		u.key = append(u.key, byte(n), byte(n>>8)) // keys of different indexes are apart
		if add {
			u.touched[string(u.key)] = true
		} else if u.touched[string(u.key)] {
			return true
		}
	}
	return false
}

// appendRest adds the rows that are not left out.
func (u *upsert) appendRest(b *vector.Batch) error {
	sel := make([]int32, 0, b.N)
	for i, skip := range u.skip {
		if !skip {
			sel = append(sel, int32(i))
		}
	}
	rest := b
	if len(sel) == 0 {
		return nil
	}
	if len(sel) < b.N {
		rest = (&vector.Batch{Cols: b.Cols, N: b.N, Sel: sel}).Flat(&u.fresh)
	}
	n, err := u.w.store(rest, &table.AppendOptions{})
	if err != nil {
		return err
	}
	u.w.added += n
	if u.w.returning != nil {
		for i, at := range sel {
			u.shown = append(u.shown, shownRow{at, rest, i})
		}
	}
	return nil
}

// show hands the rows that were written to RETURNING, in the order of the batch.
func (u *upsert) show() error {
	if len(u.shown) == 0 {
		return nil
	}
	slices.SortFunc(u.shown, func(a, b shownRow) int { return cmp.Compare(a.at, b.at) })
	out := &vector.Batch{N: len(u.shown)}
	for i := range u.w.t.Columns {
		v := vector.New(u.w.t.Storage.Columns[i].Kind, out.N)
		for _, r := range u.shown {
			v.AppendFrom(r.rows.Cols[i], r.row)
		}
		out.Cols = append(out.Cols, v)
	}
	u.shown = u.shown[:0]
	return u.w.returned(out)
}

// updateMatches runs DO UPDATE for the rows that exist.
func (u *upsert) updateMatches(b *vector.Batch, m *colstore.Match) error {
	if len(m.Of) == 0 {
		return nil
	}
	if u.seen != nil {
		if err := u.checkSeen(m); err != nil {
			return err
		}
	}
	(&vector.Batch{Cols: b.Cols, N: b.N, Sel: m.Of}).Flat(&u.proposed)
	u.ordinal.Reset(vector.Int64)
	for i := range m.Of {
		u.ordinal.AppendInt64(int64(i))
	}
	g := &u.given
	g.Cols = append(append(g.Cols[:0], m.Rows.Cols...), m.IDs)
	g.Cols = append(append(g.Cols, u.proposed.Cols...), &u.ordinal)
	g.N = len(m.Of)
	return u.update.run(u.w.ctx, g, func(out *vector.Batch) error { return u.updateRows(m, out) })
}

// updateRows writes the rows that DO UPDATE made of matches: new row, row id,
// ordinal of the match.
func (u *upsert) updateRows(m *colstore.Match, out *vector.Batch) error {
	id := len(u.w.t.Columns)
	ordinals := out.Cols[id+1]
	for i := range out.N {
		at := ordinals.I64[i&ordinals.Mask()]
		if !u.appendKey(u.proposed.Cols, int(at)) {
			continue
		}
		if u.touched[string(u.key)] {
			return secondTime()
		}
		u.touched[string(u.key)] = true
	}
	if err := u.w.update(&view{snap: m.Snap}, id, out); err != nil || u.w.returning == nil {
		return err
	}
	kept := u.w.stored(out).Clone()
	for i := range kept.N {
		u.shown = append(u.shown, shownRow{m.Of[kept.Cols[id+1].I64[i]], kept, i})
	}
	return nil
}
