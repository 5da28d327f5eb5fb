package colstore

import (
	"context"
	"fmt"
	"math"

	"tsdb/colstore/keys"
	"tsdb/colstore/locks"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// Tx collects writes and makes them durable and visible at once in Commit.
// Not safe for concurrent use.
type Tx struct {
	s       *Store
	done    bool
	tables  map[table.ID]*txTable
	order   []*txTable // in order of first use
	metas   []metaOp
	created []*table.Schema
	dropped []table.ID
	altered []alteration
	marks   []txMark
	keys    keyBatch
	catchUp keyBatch // scratch of indexes that are brought up to date
	singly  bool     // rows are admitted one by one
	locks   locks.Owner
	owned   bool   // the rows of the present append need no copying
	base    *state // of REPEATABLE READ, held; nil: statements see the latest state
}

type metaOp struct{ key, value []byte }

// txTable is what a transaction wrote to one table.
type txTable struct {
	schema  *table.Schema
	created bool
	checked uint64 // version.data that all keys so far were checked against, at least
	known   bool   // checked is set
	// seenOrd and seenSeq are the version's ordinal and sequence at that time.
	seenOrd, seenSeq uint64
	// replaces and ignores say that some rows were appended with that conflict mode.
	replaces, ignores bool

	// layout columnar
	blocks   []*block
	sealed   bool // the last block must not be extended
	rows     int64
	bytes    int64
	index    *keyIndex // keys of blocks, in order of rows, as far as needed; nil: not unique
	newest   int64     // not below any finite time of the rows
	maxKey   []byte    // not below any key of the rows
	keyBytes int64     // of the keys of the rows
	staged   []*seg
	gone     txGone
	encoded  [][]byte // arrival blocks, built for commit

	// layout row
	ops   []rowOp
	byKey positions // newest op of a key; empty: keys repeat and no row was changed
	own   rowState

	// unique indexes
	entries []uniqueEntry
	byEntry positions // newest entry of a prefix

	kept              keeper // keys and values of ops, keys of entries
	held              int64  // bytes of ops and entries
	scratch, entryKey []byte
}

// txMark is the extent of a transaction at a savepoint.
type txMark struct {
	metas, created, dropped, altered, tables int
	parts                                    []tableMark
}

type tableMark struct {
	t                                 *txTable
	blocks, lastRows, staged, indexed int
	rows, bytes, held                 int64
	ops, entries, gone                int
}

// CreateTable adds a table.
func (t *Tx) CreateTable(s table.Schema) error {
	if err := t.usable(); err != nil {
		return err
	}
	if err := checkSchema(&s); err != nil {
		return err
	}
	if t.find(s.ID) != nil || t.s.lookup(s.ID) != nil {
		return fmt.Errorf("table %d exists", s.ID)
	}
	c := s
	t.created = append(t.created, &c)
	t.use(&c, true)
	return nil
}

// DropTable removes a table and, after commit, its data.
func (t *Tx) DropTable(id table.ID) error {
	if err := t.usable(); err != nil {
		return err
	}
	if _, err := t.schema(id); err != nil && t.s.condemned[id] == nil {
		return err
	}
	t.dropped = append(t.dropped, id)
	return nil
}

// SetMeta writes a record of key space M (the catalog's); nil value deletes it.
func (t *Tx) SetMeta(key, value []byte) error {
	if err := t.usable(); err != nil {
		return err
	}
	op := metaOp{key: keys.AppendMeta(nil, keys.MetaUser, key)}
	if value != nil {
		op.value = append([]byte{}, value...)
	}
	t.metas = append(t.metas, op)
	return nil
}

func (t *Tx) usable() error {
	if t.done {
		return fmt.Errorf("transaction has ended")
	}
	if t.s.closed.Load() {
		return ErrClosed
	}
	return t.s.failed.get()
}

func (t *Tx) find(id table.ID) *txTable { return t.tables[id] }

func (t *Tx) use(s *table.Schema, created bool) *txTable {
	tt := &txTable{schema: s, created: created, newest: math.MinInt64}
	if s.Unique && s.Layout == table.Columnar {
		tt.index = &keyIndex{}
	}
	t.tables[s.ID] = tt
	t.order = append(t.order, tt)
	return tt
}

func (t *Tx) isDropped(id table.ID) bool {
	for _, d := range t.dropped {
		if d == id {
			return true
		}
	}
	return false
}

func (t *Tx) schema(id table.ID) (*table.Schema, error) {
	if t.isDropped(id) {
		return nil, table.ErrUnknownTable
	}
	if tt := t.find(id); tt != nil {
		return tt.schema, nil
	}
	if err := t.s.condemnedError(id); err != nil {
		return nil, err
	}
	if s := t.s.lookup(id); s != nil {
		return s, nil
	}
	return nil, table.ErrUnknownTable
}

// lookup returns the schema of a committed table, nil if there is none.
func (s *Store) lookup(id table.ID) *table.Schema {
	if v := s.current.Load().find(id); v != nil {
		return v.schema
	}
	return nil
}

// Savepoint marks the state of the transaction; RollbackTo undoes everything
// after the mark. Marks nest; each statement takes one.
func (t *Tx) Savepoint() int {
	m := txMark{metas: len(t.metas), created: len(t.created), dropped: len(t.dropped), altered: len(t.altered), tables: len(t.order)}
	for _, tt := range t.order {
		p := tableMark{t: tt, blocks: len(tt.blocks), staged: len(tt.staged), rows: tt.rows, bytes: tt.bytes,
			held: tt.held, ops: len(tt.ops), entries: len(tt.entries), gone: len(tt.gone.ops)}
		if n := len(tt.blocks); n > 0 {
			p.lastRows = tt.blocks[n-1].n
		}
		if tt.index != nil {
			p.indexed = tt.index.len()
		}
		m.parts = append(m.parts, p)
	}
	t.marks = append(t.marks, m)
	return len(t.marks) - 1
}

// RollbackTo undoes the writes made after the mark.
func (t *Tx) RollbackTo(mark int) {
	if t.done || mark < 0 || mark >= len(t.marks) {
		return
	}
	m := t.marks[mark]
	t.marks = t.marks[:mark+1]
	t.unalter(m.altered)
	t.metas, t.created, t.dropped = t.metas[:m.metas], t.created[:m.created], t.dropped[:m.dropped]
	for _, tt := range t.order[m.tables:] {
		t.s.discard(tt.staged)
		delete(t.tables, tt.schema.ID)
	}
	t.order = t.order[:m.tables]
	for _, p := range m.parts {
		p.t.rollback(t.s, p)
	}
}

func (tt *txTable) rollback(s *Store, p tableMark) {
	s.discard(tt.staged[p.staged:])
	tt.staged = tt.staged[:p.staged:p.staged]
	tt.rows, tt.bytes, tt.held = p.rows, p.bytes, p.held
	tt.gone.rollback(p.gone)
	tt.trimBlocks(p)
	if tt.index != nil {
		tt.index.truncate(p.indexed)
	}
	tt.rollbackOps(p.ops)
	if len(tt.entries) > p.entries {
		clear(tt.entries[p.entries:])
		tt.entries = tt.entries[:p.entries]
		tt.byEntry.rebuild(p.entries, tt.entryPrefix)
	}
}

func (tt *txTable) trimBlocks(p tableMark) {
	if len(tt.blocks) == p.blocks && (p.blocks == 0 || tt.blocks[p.blocks-1].n == p.lastRows) {
		return
	}
	tt.blocks = tt.blocks[:p.blocks:p.blocks]
	if p.blocks > 0 && tt.blocks[p.blocks-1].n > p.lastRows {
		tt.blocks[p.blocks-1] = tt.blocks[p.blocks-1].prefix(p.lastRows)
	}
	tt.sealed = true
}

// Append adds the rows of b (columns as in the table's Schema, all of them, in
// order) and returns how many were added (conflict = ignore leaves some out).
// b may be reused afterwards.
//
// Keys are checked against the committed state and the transaction itself; a
// key committed by others meanwhile is found in Commit.
//
// Errors: *table.DuplicateKeyError, *table.TransactionTooLargeError,
// *table.FailedError, *table.DiskFullError.
func (t *Tx) Append(ctx context.Context, id table.ID, b *vector.Batch) (int64, error) {
	schema, err := t.schema(id)
	if err != nil {
		return 0, err
	}
	return t.AppendWith(ctx, id, b, table.AppendOptions{Conflict: schema.Conflict})
}

// AppendWith is Append with another conflict mode than the table's.
func (t *Tx) AppendWith(ctx context.Context, id table.ID, b *vector.Batch, o table.AppendOptions) (int64, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	schema, err := t.schema(id)
	if err != nil {
		return 0, err
	}
	if err := checkBatch(schema, b); err != nil {
		return 0, err
	}
	if b.Rows() == 0 {
		return 0, nil
	}
	tt := t.find(id)
	if tt == nil {
		tt = t.use(schema, false)
	}
	return t.appendBatch(ctx, tt, b, o)
}

// appendBatch adds rows to a table of either layout.
func (t *Tx) appendBatch(ctx context.Context, tt *txTable, b *vector.Batch, o table.AppendOptions) (int64, error) {
	if tt.schema.Layout == table.RowStore {
		return t.appendRowsWith(ctx, tt, b, o)
	}
	return t.appendColumnar(ctx, tt, b, o)
}

func checkBatch(s *table.Schema, b *vector.Batch) error {
	if len(b.Cols) != len(s.Columns) {
		return fmt.Errorf("append to table %d: %d columns, not %d", s.ID, len(b.Cols), len(s.Columns))
	}
	for i, c := range b.Cols {
		if c.Kind != s.Columns[i].Kind {
			return fmt.Errorf("append to table %d: column %d has kind %s, not %s", s.ID, i, c.Kind, s.Columns[i].Kind)
		}
		if c.N < b.N {
			return fmt.Errorf("append to table %d: column %d has %d rows, not %d", s.ID, i, c.N, b.N)
		}
	}
	return nil
}

func (t *Tx) appendColumnar(ctx context.Context, tt *txTable, b *vector.Batch, o table.AppendOptions) (int64, error) {
	sel := b.Sel
	if tt.index != nil || len(tt.schema.Indexes) > 0 {
		st := t.reading()
		v := st.find(tt.schema.ID)
		if v != nil && !tt.known {
			tt.checked, tt.known, tt.seenOrd, tt.seenSeq = v.data, true, v.ord, v.seq
		}
		var err error
		if !tt.gone.catchUp(st.trail, tt.schema.ID) {
			err = table.ErrRowsChanged
		} else {
			sel, err = t.admit(tt, v, b, o)
		}
		st.release()
		if err != nil {
			return 0, err
		}
		tt.replaces = tt.replaces || o.Conflict == table.ConflictReplace
		tt.ignores = tt.ignores || o.Conflict == table.ConflictIgnore
	}
	n := b.N
	if sel != nil {
		n = len(sel)
	}
	if !t.owned || sel != nil || !tt.take(b) {
		tt.add(b, sel, n)
	}
	var err error
	if tt.bytes > t.s.stageBytes {
		err = t.stage(ctx, tt)
	}
	if err == nil {
		err = t.tooLarge(t.held())
	}
	return int64(n), err
}

// reading returns the state that keys are looked up in, with a reference.
func (t *Tx) reading() *state {
	if t.base != nil {
		t.base.refs.Add(1)
		return t.base
	}
	return t.s.acquire()
}

// add copies rows into the blocks of the transaction.
func (tt *txTable) add(b *vector.Batch, sel []int32, n int) {
	for from := 0; from < n; {
		if len(tt.blocks) == 0 || tt.sealed || tt.blocks[len(tt.blocks)-1].n >= blockRows {
			nb := emptyBlock(tt.schema, min(n-from, blockRows))
			if k := len(tt.blocks); k > 0 {
				nb.ord = tt.blocks[k-1].end()
			}
			tt.blocks = append(tt.blocks, nb)
			tt.sealed = false
		}
		last := tt.blocks[len(tt.blocks)-1]
		to := min(n, from+blockRows-last.n)
		grown := last.extendWith(b.Cols, sel, from, to)
		tt.bytes += grown.size - last.size
		tt.blocks[len(tt.blocks)-1] = grown
		tt.rows += int64(to - from)
		from = to
	}
}

// Rollback drops the writes. A no-op after Commit.
func (t *Tx) Rollback() {
	if t.done {
		return
	}
	t.end()
	for _, tt := range t.order {
		t.s.discard(tt.staged)
	}
}

// end releases what the transaction holds until it commits or is rolled back.
func (t *Tx) end() {
	t.done = true
	t.s.locks.ReleaseAll(&t.locks)
	if t.base != nil {
		t.base.release()
		t.base = nil
	}
}

// discard drops staged segments that will never be published.
func (s *Store) discard(segs []*seg) {
	for _, g := range segs {
		g.doomed.Store(true)
		g.release()
	}
}
