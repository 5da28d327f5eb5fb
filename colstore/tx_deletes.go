package colstore

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// rowSets are rows by place.
type rowSets map[place]*roaring.Bitmap

func (r rowSets) add(p place, row uint32) {
	set := r[p]
	if set == nil {
		set = roaring.New()
		r[p] = set
	}
	set.Add(row)
}

func (r rowSets) has(p place, row uint32) bool {
	set := r[p]
	return set != nil && set.Contains(row)
}

// clone copies the sets, nil if there are none.
func (r rowSets) clone() rowSets {
	if len(r) == 0 {
		return nil
	}
	out := make(rowSets, len(r))
	for p, set := range r {
		out[p] = set.Clone()
	}
	return out
}

func (r rowSets) or(o rowSets) {
	for p, set := range o {
		if have := r[p]; have != nil {
			have.Or(set)
		} else {
			r[p] = set.Clone()
		}
	}
}

func (r rowSets) andNot(o rowSets) {
	for p, set := range o {
		have := r[p]
		if have == nil {
			continue
		}
		have.AndNot(set)
		if have.IsEmpty() {
			delete(r, p)
		}
	}
}

func (r rowSets) count() uint64 {
	var n uint64
	for _, set := range r {
		n += set.GetCardinality()
	}
	return n
}

func (r rowSets) bytes() int64 {
	var n int64
	for _, set := range r {
		n += int64(set.GetSizeInBytes()) + 64
	}
	return n
}

// goneOp is what one call deleted, for RollbackTo.
type goneOp struct {
	now  rowSets // where the rows are now
	base rowSets // where they are in the transaction's base; nil without one
}

// txGone is the rows of a columnar table that a transaction has deleted.
type txGone struct {
	rows  rowSets // committed and own
	base  rowSets // committed ones as the base state of REPEATABLE READ names them
	trail *trail  // rows are named as at this end
	ops   []goneOp
	held  int64
}

// catchUp renames the rows after containers were replaced.
func (x *txGone) catchUp(to *trail, id table.ID) bool {
	if x.trail == nil || x.trail == to || len(x.rows) == 0 {
		x.trail = to
		return true
	}
	from := x.trail
	x.trail = to
	if !from.follow(to, id, x.rows) {
		return false
	}
	for i := range x.ops {
		if !from.follow(to, id, x.ops[i].now) {
			return false
		}
	}
	return true
}

// rollback undoes the ops behind the first n.
func (x *txGone) rollback(n int) {
	for i := len(x.ops) - 1; i >= n; i-- {
		x.rows.andNot(x.ops[i].now)
		x.base.andNot(x.ops[i].base)
		x.held -= x.ops[i].now.bytes()
		x.ops[i] = goneOp{}
	}
	x.ops = x.ops[:min(n, len(x.ops))]
}

// deleteColumnar deletes rows that a scan of sn named. See Tx.Delete.
func (t *Tx) deleteColumnar(ctx context.Context, sn *Snapshot, tt *txTable, ids *vector.Vector, sel []int32) (int64, error) {
	if err := t.lockTable(ctx, tt); err != nil {
		return 0, err
	}
	src, err := sn.source(tt.schema.ID)
	if err != nil {
		return 0, err
	}
	rows, err := sn.named(src, ids, sel)
	if err != nil {
		return 0, err
	}
	var base rowSets
	if sn.st == t.base {
		base = rowSets(rows).clone()
	}
	st := t.s.acquire()
	defer st.release()
	v := st.find(tt.schema.ID)
	n := rowSets(rows).count()
	if !tt.gone.catchUp(st.trail, tt.schema.ID) || !sn.st.trail.follow(st.trail, tt.schema.ID, rows) {
		return 0, table.ErrRowsChanged
	}
	// A row that another transaction deleted before its container was replaced
	// has no place any more.
	if rowSets(rows).count() != n {
		return 0, table.ErrRowsChanged
	}
	for p, set := range rows {
		if p.own || tt.stagedAt(p.seg) != nil {
			continue
		}
		if v == nil {
			return 0, table.ErrRowsChanged
		}
		d, ok := v.gone(p)
		if !ok || d != nil && d.rows.Intersects(set) {
			return 0, table.ErrRowsChanged
		}
	}
	return t.remove(tt, v, rows, base)
}

func (tt *txTable) stagedAt(id uint64) *seg {
	for _, g := range tt.staged {
		if id != 0 && g.id.ID == id {
			return g
		}
	}
	return nil
}

// remove marks live rows as deleted by the transaction and frees their unique
// entries; rows that it has deleted already do not count. v is the version that
// the places are of.
func (t *Tx) remove(tt *txTable, v *version, rows, base rowSets) (int64, error) {
	rows.andNot(tt.gone.rows)
	var n int64
	for p, set := range rows {
		if set.IsEmpty() {
			delete(rows, p)
			continue
		}
		count := int64(set.GetCardinality())
		n += count
		if p.own || tt.stagedAt(p.seg) != nil {
			tt.rows -= count
		}
	}
	if n == 0 {
		return 0, nil
	}
	if len(tt.schema.Indexes) > 0 {
		if err := t.freeEntries(tt, v, rows); err != nil {
			return 0, err
		}
	}
	if tt.gone.rows == nil {
		tt.gone.rows, tt.gone.base = rowSets{}, rowSets{}
	}
	tt.gone.rows.or(rows)
	tt.gone.base.or(base)
	tt.gone.ops = append(tt.gone.ops, goneOp{now: rows, base: base})
	tt.gone.held += rows.bytes()
	return n, t.tooLarge(t.held())
}

// freeEntries notes the removal of the unique entries of rows.
func (t *Tx) freeEntries(tt *txTable, v *version, rows rowSets) error {
	f := newFetcher(t.s, tt.schema, allColumns(tt.schema))
	defer f.close()
	var rowKey []byte
	for p, set := range rows {
		c, ok := findContainer(v, tt, p)
		if !ok {
			return table.ErrRowsChanged
		}
		cols, err := f.fetchSet(c, set)
		if err != nil {
			return err
		}
		for i := 0; i < int(set.GetCardinality()); i++ {
			if rowKey = rowKey[:0]; tt.schema.Unique {
				rowKey = appendRowKey(rowKey, tt.schema.Key, cols, i)
			}
			for _, x := range tt.schema.Indexes {
				if e, ok := tt.makeEntry(x, cols, i, rowKey); ok {
					e.del = true
					tt.addEntry(e)
				}
			}
		}
	}
	return nil
}

// updateColumnar replaces rows. See Tx.Update.
func (t *Tx) updateColumnar(ctx context.Context, sn *Snapshot, tt *txTable, ids *vector.Vector, b *vector.Batch) (int64, error) {
	n, err := t.deleteColumnar(ctx, sn, tt, ids, nil)
	if err != nil || n == 0 {
		return 0, err
	}
	mode := table.AppendOptions{Conflict: table.ConflictError}
	if tt.schema.Conflict == table.ConflictReplace {
		mode.Conflict = table.ConflictReplace
	}
	if _, err := t.appendBatch(ctx, tt, b, mode); err != nil {
		return 0, err
	}
	return n, nil
}

// settle takes the rows that the transaction itself deleted out of its blocks
// and staged segments. Nothing can be rolled back afterwards.
func (t *Tx) settle(tt *txTable) {
	if len(tt.gone.rows) == 0 {
		return
	}
	changed := false
	for i, b := range tt.blocks {
		p := place{block: b.ord, own: true}
		set := tt.gone.rows[p]
		if set == nil {
			continue
		}
		delete(tt.gone.rows, p)
		changed = true
		keep, _ := newDeletes(set, nil).appendAlive(make([]int32, 0, b.n), 0, b.n, 0)
		nb := emptyBlock(tt.schema, len(keep))
		tt.blocks[i] = nb.extendWith(b.cols, keep, 0, len(keep))
	}
	if changed {
		tt.reindex()
	}
	kept := tt.staged[:0:0]
	for _, g := range tt.staged {
		p := place{seg: g.id.ID}
		set := tt.gone.rows[p]
		delete(tt.gone.rows, p)
		if set != nil && int64(set.GetCardinality()) == g.info.Rows {
			t.s.discard([]*seg{g})
			continue
		}
		g.info.Deleted = set
		kept = append(kept, g)
	}
	tt.staged = kept
}
