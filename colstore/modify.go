package colstore

import (
	"context"
	"fmt"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// Match is the rows that collide with rows of a batch.
type Match struct {
	Of   []int32        // rows of the batch that have a match, ascending
	IDs  *vector.Vector // per match: the row's name for Update and Delete with Snap
	Rows *vector.Batch  // per match: the row, all columns of the table
	Snap *Snapshot
}

// Close releases the match.
func (m *Match) Close() {
	if m.Snap != nil {
		m.Snap.Close()
		m.Snap = nil
	}
}

// modifies returns what a transaction knows of a table that it is about to
// change.
func (t *Tx) modifies(id table.ID) (*txTable, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	schema, err := t.schema(id)
	if err != nil {
		return nil, err
	}
	if tt := t.find(id); tt != nil {
		return tt, nil
	}
	return t.use(schema, false), nil
}

// Delete removes the rows that a scan of sn with RowIDs named (those selected
// by sel, nil: all) and returns how many these were. Rows that this transaction
// has deleted already are not counted.
//
// It waits for other transactions that change the same rows (layout row) or
// rows of the same table (layout columnar), until ctx ends.
//
// Errors: table.ErrRowsChanged, table.ErrDeadlock, ctx's cause, and those of Append.
func (t *Tx) Delete(ctx context.Context, sn *Snapshot, id table.ID, rows *vector.Vector, sel []int32) (int64, error) {
	tt, err := t.modifies(id)
	if err != nil {
		return 0, err
	}
	if tt.schema.Layout == table.RowStore {
		return t.deleteRows(ctx, sn, tt, rows, sel)
	}
	return t.deleteColumnar(ctx, sn, tt, rows, sel)
}

// Update replaces the rows that rows names, each once, by those of b, row by
// row: all columns of the table, no selection. The old rows do not collide with
// the new.
//
// Errors: as Delete.
func (t *Tx) Update(ctx context.Context, sn *Snapshot, id table.ID, rows *vector.Vector, b *vector.Batch) (int64, error) {
	tt, err := t.modifies(id)
	if err != nil {
		return 0, err
	}
	if err := checkBatch(tt.schema, b); err != nil {
		return 0, err
	}
	if tt.schema.Layout == table.RowStore {
		return t.updateRows(ctx, sn, tt, rows, b)
	}
	return t.updateColumnar(ctx, sn, tt, rows, b)
}

// Find locks the keys of b's rows in a unique index (0: the primary key) and
// returns the rows that have them, in the latest committed state with this
// transaction's writes. A key that occurs twice in b matches twice. Close the match.
//
// Errors: as Delete.
func (t *Tx) Find(ctx context.Context, id table.ID, index uint64, b *vector.Batch) (*Match, error) {
	tt, err := t.modifies(id)
	if err != nil {
		return nil, err
	}
	if err := checkBatch(tt.schema, b); err != nil {
		return nil, err
	}
	if tt.schema.Layout == table.RowStore {
		return t.findRows(ctx, tt, index, b)
	}
	return t.findColumnar(ctx, tt, index, b)
}

// findColumnar is Find in layout columnar.
func (t *Tx) findColumnar(ctx context.Context, tt *txTable, index uint64, b *vector.Batch) (*Match, error) {
	if err := t.lockTable(ctx, tt); err != nil {
		return nil, err
	}
	m := &Match{Snap: t.Snapshot(), IDs: vector.New(vector.Int64, 0)}
	if err := t.match(m, tt, index, b); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (t *Tx) match(m *Match, tt *txTable, index uint64, b *vector.Batch) error {
	st := m.Snap.st
	if !tt.gone.catchUp(st.trail, tt.schema.ID) {
		return table.ErrRowsChanged
	}
	v := st.find(tt.schema.ID)
	src, err := m.Snap.source(tt.schema.ID)
	if err != nil {
		return err
	}
	f := newFetcher(t.s, tt.schema, allColumns(tt.schema))
	defer f.close()
	cols := f.vectors(0)
	note := func(i int, p place, row uint32) error {
		c, ok := findContainer(v, tt, p)
		at := src.position(p)
		if !ok || at < 0 {
			return table.ErrRowsChanged
		}
		m.Of = append(m.Of, int32(i))
		m.IDs.AppendInt64(rowID(at, int(row)))
		return f.add(c, int(row), cols)
	}
	if index == 0 {
		err = t.matchKeys(tt, v, b, note)
	} else {
		err = t.matchEntries(tt, v, index, b, note)
	}
	m.Rows = &vector.Batch{Cols: cols, N: len(m.Of)}
	return err
}

func (t *Tx) matchKeys(tt *txTable, v *version, b *vector.Batch, note func(i int, p place, row uint32) error) error {
	tt.indexRows(&t.catchUp)
	k := &t.keys
	k.fill(tt.schema, b.Cols, b.N, b.Sel)
	hits, err := t.s.holders(v, tt.staged, tt.gone.rows, tt.schema, k, b.Cols)
	if err != nil {
		return err
	}
	for i, row := range k.rows {
		if hits != nil && hits[i].ok {
			if hits[i].at.block == unseen {
				return table.ErrRowsChanged
			}
			if err := note(int(row), hits[i].at, hits[i].row); err != nil {
				return err
			}
			continue
		}
		p := tt.index.find(k.keys.At(i), k.hashes[i])
		if p < 0 {
			continue
		}
		own := tt.blockAt(uint64(p))
		at, at32 := place{block: own.ord, own: true}, uint32(uint64(p)-own.ord)
		if tt.gone.rows.has(at, at32) {
			continue
		}
		if err := note(int(row), at, at32); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) matchEntries(tt *txTable, v *version, index uint64, b *vector.Batch, note func(i int, p place, row uint32) error) error {
	for _, x := range tt.schema.Indexes {
		if x.ID != index {
			continue
		}
		for i := 0; i < b.Rows(); i++ {
			row := i
			if b.Sel != nil {
				row = int(b.Sel[i])
			}
			e, ok := tt.makeEntry(x, b.Cols, row, nil)
			if !ok {
				continue
			}
			taken, err := tt.entryTaken(t.s.db, e)
			if err != nil {
				return err
			}
			if !taken {
				continue
			}
			found, err := t.locate(tt, v, x, b.Cols, row)
			if err != nil {
				return err
			}
			for p, set := range found {
				if err := note(row, p, set.Minimum()); err != nil {
					return err
				}
				break // a unique value has one row
			}
		}
		return nil
	}
	return fmt.Errorf("table %d has no unique index %d", tt.schema.ID, index)
}

// SnapshotAt returns base overlaid with this transaction's writes so far: what
// the next statement of a REPEATABLE READ transaction reads. base stays the
// caller's; from the first call on the transaction looks keys up in it, too.
func (t *Tx) SnapshotAt(base *Snapshot) *Snapshot {
	if t.base == nil && !t.done {
		base.st.refs.Add(1)
		t.base = base.st
	}
	base.st.refs.Add(1)
	sn := &Snapshot{s: t.s, st: base.st, now: base.now}
	t.overlay(sn)
	return sn
}

// alteration is a change of a table's schema by a transaction.
type alteration struct {
	tt     *txTable
	before *table.Schema
	blocks []*block
	index  *keyIndex
}

// AlterTable gives an existing table another schema from commit on: columns
// added at any place (with new ids) or left out, another Conflict, Retention or
// Indexes. Layout, key, time column and bucket must stay. Stored rows are not
// rewritten: a column that they lack has its Missing value.
func (t *Tx) AlterTable(s table.Schema) error {
	tt, err := t.modifies(s.ID)
	if err != nil {
		return err
	}
	old := tt.schema
	next := s
	next.Dropped = append([]table.Column(nil), old.Dropped...)
	for _, c := range old.Columns {
		if columnIndex(&next, c.ID) < 0 {
			next.Dropped = append(next.Dropped, table.Column{ID: c.ID, Kind: c.Kind})
		}
	}
	if err := checkSchema(&next); err != nil {
		return err
	}
	if err := sameKey(old, &next); err != nil {
		return err
	}
	t.altered = append(t.altered, alteration{tt: tt, before: old, blocks: tt.blocks, index: tt.index})
	tt.schema = &next
	tt.blocks = append([]*block(nil), tt.blocks...)
	for i, b := range tt.blocks {
		tt.blocks[i] = b.reshape(&next)
	}
	tt.sealed = true
	if tt.created {
		for i, c := range t.created {
			if c.ID == s.ID {
				t.created[i] = &next
			}
		}
	}
	return nil
}

// sameKey refuses alterations of what rows are stored by.
func sameKey(old, next *table.Schema) error {
	same := old.Layout == next.Layout && old.Unique == next.Unique && len(old.Key) == len(next.Key) &&
		(old.Time < 0) == (next.Time < 0) && old.Bucket == next.Bucket
	if same && old.Time >= 0 {
		same = old.Columns[old.Time].ID == next.Columns[next.Time].ID
	}
	for i := 0; same && i < len(old.Key); i++ {
		same = old.Columns[old.Key[i].Column].ID == next.Columns[next.Key[i].Column].ID && old.Key[i].Codec == next.Key[i].Codec
	}
	if !same {
		return fmt.Errorf("alter table %d: layout, key, time column and bucket cannot change", old.ID)
	}
	return nil
}

// unalter undoes the alterations behind the first n.
func (t *Tx) unalter(n int) {
	for i := len(t.altered) - 1; i >= n; i-- {
		a := t.altered[i]
		created := a.tt.created
		if created {
			for k, c := range t.created {
				if c == a.tt.schema {
					t.created[k] = a.before
				}
			}
		}
		a.tt.schema, a.tt.blocks, a.tt.index, a.tt.sealed = a.before, a.blocks, a.index, true
	}
	t.altered = t.altered[:min(n, len(t.altered))]
}

func columnIndex(s *table.Schema, id table.ColumnID) int {
	for i := range s.Columns {
		if s.Columns[i].ID == id {
			return i
		}
	}
	return -1
}

// reshape returns the block as rows of another schema of its table: columns
// that it lacks hold their missing value.
func (b *block) reshape(s *table.Schema) *block {
	if b.schema == s {
		return b
	}
	nb := *b
	nb.schema = s
	nb.cols = make([]*vector.Vector, len(s.Columns))
	nb.size = 0
	for i, c := range s.Columns {
		if k := columnIndex(b.schema, c.ID); k >= 0 {
			nb.cols[i] = b.cols[k]
		} else {
			nb.cols[i] = missing(c, b.n)
		}
		nb.size += nb.cols[i].Size()
	}
	return &nb
}

// missing returns n rows of the value of a column in rows that are older.
func missing(c table.Column, n int) *vector.Vector {
	v := vector.New(c.Kind, n)
	for i := 0; i < n; i++ {
		appendMissing(v, c)
	}
	return v
}

func appendMissing(dst *vector.Vector, c table.Column) {
	if c.Missing == nil {
		dst.AppendNull()
	} else {
		dst.AppendFrom(c.Missing, 0)
	}
}
