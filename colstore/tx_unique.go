package colstore

import (
	"bytes"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// modeOf returns what an append does with a collision in an index (0: the
// primary key, the only one whose rows are replaced).
func modeOf(o *table.AppendOptions, index uint64) table.Conflict {
	if o.Arbiters != nil && !slices.Contains(o.Arbiters, index) || index != 0 && o.Conflict == table.ConflictReplace {
		return table.ConflictError
	}
	return o.Conflict
}

// admission decides which rows of a batch a columnar table with uniqueness
// takes.
type admission struct {
	t     *Tx
	tt    *txTable
	v     *version // what is committed; nil: nothing
	b     *vector.Batch
	o     table.AppendOptions
	rows  []int32 // selected rows of b
	drop  vector.Bitmap
	lost  int
	noted bool // the keys of the batch are in the transaction's index
}

// admit checks the selected rows of b against committed rows and those of the
// transaction, deletes what conflict = replace replaces, notes the keys and
// entries of the others and returns the rows to add.
func (t *Tx) admit(tt *txTable, v *version, b *vector.Batch, o table.AppendOptions) ([]int32, error) {
	a := &admission{t: t, tt: tt, v: v, b: b, o: o, rows: b.Sel}
	if a.rows == nil {
		a.rows = make([]int32, b.N)
		for i := range a.rows {
			a.rows[i] = int32(i)
		}
	}
	several := len(tt.schema.Indexes) > 1 || tt.index != nil && len(tt.schema.Indexes) > 0
	if several && o.Conflict == table.ConflictIgnore && len(a.rows) > 1 {
		return t.admitSingly(tt, v, b, o, a.rows)
	}
	if tt.index != nil {
		if err := a.keys(); err != nil {
			return nil, err
		}
	}
	if len(tt.schema.Indexes) > 0 {
		if err := a.entries(); err != nil {
			return nil, err
		}
	}
	if a.lost == 0 {
		return b.Sel, nil
	}
	kept := make([]int32, 0, len(a.rows)-a.lost)
	for i, row := range a.rows {
		if !a.drop.Get(i) {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

// admitSingly is admit row by row: a row that one unique value keeps out must
// not keep others out by its other values.
func (t *Tx) admitSingly(tt *txTable, v *version, b *vector.Batch, o table.AppendOptions, rows []int32) ([]int32, error) {
	t.singly = true
	defer func() { t.singly = false }()
	kept := make([]int32, 0, len(rows))
	for i := range rows {
		one := &vector.Batch{Cols: b.Cols, N: b.N, Sel: rows[i : i+1 : i+1]}
		sel, err := t.admit(tt, v, one, o)
		if err != nil {
			return nil, err
		}
		kept = append(kept, sel...)
	}
	return kept, nil
}

// leave takes row i of the batch out.
func (a *admission) leave(i int) {
	if a.drop == nil {
		a.drop = vector.NewBitmap(len(a.rows), false)
	}
	if !a.drop.Get(i) {
		a.drop.Set(i)
		a.lost++
	}
}

func (a *admission) left(i int) bool { return a.drop != nil && a.drop.Get(i) }

// keys checks the primary key.
func (a *admission) keys() error {
	t, tt := a.t, a.tt
	k := &t.keys
	k.fill(tt.schema, a.b.Cols, a.b.N, a.rows)
	tt.keyBytes += int64(len(k.keys.Data))
	lo, hi := k.fillTimes(tt.schema, a.b.Cols)
	if a.newer(lo, hi) {
		err := a.distinct()
		tt.newest = hi
		return err
	}
	for _, x := range k.times {
		if x != math.MaxInt64 {
			tt.newest = max(tt.newest, x)
		}
	}
	tt.indexRows(&t.catchUp)
	a.noted = true
	hits, err := t.s.holders(a.v, tt.staged, tt.gone.rows, tt.schema, k, a.b.Cols)
	if err != nil {
		return err
	}
	mode := modeOf(&a.o, 0)
	start := tt.index.len()
	replaced := rowSets{}
	k.warmed += tt.index.warm(k.hashes)
	for i := range k.rows {
		key, hash := k.keys.At(i), k.hashes[i]
		tt.raise(key)
		known := hits != nil && hits[i].ok
		if known && mode == table.ConflictReplace {
			if hits[i].at.block != unseen {
				replaced.add(hits[i].at, hits[i].row)
			}
			known = false
		}
		if !known && tt.index.len() > 0 && bytes.Compare(key, tt.index.max) <= 0 {
			if known, err = a.ownKey(key, hash, start, mode, replaced); err != nil {
				return err
			}
		}
		if !known {
			tt.index.add(key, hash)
			continue
		}
		if mode == table.ConflictError {
			tt.index.truncate(start)
			return &table.DuplicateKeyError{Table: tt.schema.ID, Batch: a.b, Row: int(k.rows[i])}
		}
		a.leave(i)
		tt.index.add(key, hash) // keeps positions and rows in step until reindexing
	}
	if len(replaced) > 0 {
		if _, err := t.remove(tt, a.v, replaced, nil); err != nil {
			return err
		}
	}
	if a.lost > 0 {
		a.reindex(start)
	}
	return nil
}

// newer reports whether the times of all rows prove that their keys are new:
// they are finite and above those of every row so far.
func (a *admission) newer(lo, hi int64) bool {
	s := a.tt.schema
	if a.t.singly || s.Time < 0 || lo == math.MinInt64 || hi == math.MaxInt64 || lo <= a.tt.newest || a.v != nil && lo <= a.v.newest {
		return false
	}
	return slices.ContainsFunc(s.Key, func(p rowkey.Part) bool { return p.Column == s.Time })
}

// distinct checks keys that are new among each other.
func (a *admission) distinct() error {
	k, tt, mode := &a.t.keys, a.tt, modeOf(&a.o, 0)
	size := 16
	for size < 2*len(k.rows) {
		size *= 2
	}
	if cap(k.slots) < size {
		k.slots = make([]uint32, size)
	}
	k.slots = k.slots[:size]
	clear(k.slots)
	mask := uint64(size - 1)
	for i, hash := range k.hashes {
		key := k.keys.At(i)
		tt.raise(key)
		at := hash & mask
		for k.slots[at] != 0 && !(k.hashes[k.slots[at]-1] == hash && bytes.Equal(k.keys.At(int(k.slots[at]-1)), key)) {
			at = (at + 1) & mask
		}
		switch earlier := int(k.slots[at]) - 1; {
		case earlier < 0:
		case mode == table.ConflictError:
			return &table.DuplicateKeyError{Table: tt.schema.ID, Batch: a.b, Row: int(k.rows[i])}
		case mode == table.ConflictIgnore:
			a.leave(i)
			continue
		default:
			a.leave(earlier)
		}
		k.slots[at] = uint32(i + 1)
	}
	return nil
}

// indexRows brings the index of the transaction's keys up to its rows.
func (tt *txTable) indexRows(k *keyBatch) {
	for _, b := range tt.blocks {
		if b.end() > uint64(tt.index.len()) {
			tt.index.extend(b, b.end(), k)
		}
	}
}

// raise makes key the transaction's largest key, if it is.
func (tt *txTable) raise(key []byte) {
	if bytes.Compare(key, tt.maxKey) > 0 {
		tt.maxKey = append(tt.maxKey[:0], key...)
	}
}

// ownKey looks a key up among the transaction's own rows and the batch itself.
func (a *admission) ownKey(key []byte, hash uint64, start int, mode table.Conflict, replaced rowSets) (known bool, err error) {
	p := a.tt.index.find(key, hash)
	if p < 0 {
		return false, nil
	}
	if p >= start {
		if a.left(p - start) {
			return true, nil // it collided itself
		}
		if mode == table.ConflictReplace {
			a.leave(p - start)
			return false, nil
		}
		return true, nil
	}
	b := a.tt.blockAt(uint64(p))
	if b == nil { // admitted a moment ago
		return true, nil
	}
	at, row := place{block: b.ord, own: true}, uint32(uint64(p)-b.ord)
	if a.tt.gone.rows.has(at, row) || replaced.has(at, row) {
		return false, nil
	}
	if mode == table.ConflictReplace {
		replaced.add(at, row)
		return false, nil
	}
	return true, nil
}

// reindex notes the keys of the rows that stay, and only these: a key's
// position in the index is its row's ordinal.
func (a *admission) reindex(start int) {
	k := &a.t.keys
	a.tt.index.truncate(start)
	for i := range k.rows {
		if !a.left(i) {
			a.tt.index.add(k.keys.At(i), k.hashes[i])
		}
	}
}

// entries checks the unique indexes and notes the entries of the rows that stay.
func (a *admission) entries() error {
	t, tt, s := a.t, a.tt, a.tt.schema
	start := 0
	if a.noted {
		start = tt.index.len() - (len(a.rows) - a.lost)
	}
	own := (&vector.Batch{Cols: a.b.Cols, N: a.b.N, Sel: a.rows}).Clone()
	tt.held += own.Size() // the entries keep it
	before := a.lost
	var rowKey []byte
	for i := 0; i < own.N; i++ {
		if a.left(i) {
			continue
		}
		if rowKey = rowKey[:0]; s.Unique {
			rowKey = appendRowKey(rowKey, s.Key, own.Cols, i)
		}
		mark := len(tt.entries)
		for _, x := range s.Indexes {
			e, ok := tt.makeEntry(x, own.Cols, i, rowKey)
			if !ok {
				continue
			}
			taken, err := tt.entryTaken(t.s.db, e)
			if err != nil {
				return err
			}
			if taken && modeOf(&a.o, x.ID) == table.ConflictError {
				return &table.DuplicateKeyError{Table: s.ID, Index: x.ID, Batch: own, Row: i}
			}
			if taken {
				tt.dropEntries(mark)
				a.leave(i)
				break
			}
			e.batch, e.row = own, i
			tt.addEntry(e)
		}
	}
	if a.lost > before && a.noted {
		a.reindex(start)
	}
	return nil
}

// locate finds the live row that has the values of a row in a unique index, by
// its zone maps: entries of tables without a primary key do not say where their
// rows are.
func (t *Tx) locate(tt *txTable, v *version, x table.UniqueIndex, cols []*vector.Vector, row int) (rowSets, error) {
	found := rowSets{}
	want := appendIndexKey(nil, x, cols, row)
	for i := range tt.blocks {
		t.locateInBlock(tt, x, want, tt.blocks[i], true, found)
	}
	if v != nil {
		for _, b := range v.blocks {
			t.locateInBlock(tt, x, want, b.reshape(tt.schema), false, found)
		}
	}
	segs, committed := tt.staged, 0
	if v != nil {
		segs = append(append([]*seg(nil), v.segs.segs...), tt.staged...)
		committed = len(v.segs.segs)
	}
	for i, g := range segs {
		var dead *deletes
		if i < committed {
			dead = v.deleted(i)
		}
		if err := t.locateInSegment(tt, x, want, cols, row, g, dead, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (t *Tx) locateInBlock(tt *txTable, x table.UniqueIndex, want []byte, b *block, own bool, found rowSets) {
	p := place{block: b.ord, own: own}
	var key []byte
	for r := 0; r < b.n; r++ {
		if b.gone.contains(r) || tt.gone.rows.has(p, uint32(r)) || hasNull(x, b.cols, r) {
			continue
		}
		if key = appendIndexKey(key[:0], x, b.cols, r); bytes.Equal(key, want) {
			found.add(p, uint32(r))
		}
	}
}

func hasNull(x table.UniqueIndex, cols []*vector.Vector, row int) bool {
	for _, p := range x.Parts {
		if cols[p.Column].IsNull(row) {
			return true
		}
	}
	return false
}

func (t *Tx) locateInSegment(tt *txTable, x table.UniqueIndex, want []byte, cols []*vector.Vector, row int, g *seg, dead *deletes, found rowSets) error {
	sc := &scan{s: t.s, schema: tt.schema}
	for _, p := range x.Parts {
		one := vector.New(cols[p.Column].Kind, 1)
		one.AppendFrom(cols[p.Column], row)
		sc.req.Filters = append(sc.req.Filters, table.Filter{Column: p.Column, Op: table.EQ, Value: one})
		sc.req.Columns = append(sc.req.Columns, p.Column)
	}
	sc.prepareFilters()
	var r segReader
	r.init(t.s, g, tt.schema)
	defer r.close()
	at := place{seg: g.id.ID}
	view := make([]*vector.Vector, len(tt.schema.Columns))
	var key []byte
	for _, b := range sc.keepBlocks(g) {
		ok, err := r.wanted(sc, b)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for _, c := range sc.req.Columns {
			if view[c] == nil {
				view[c] = &vector.Vector{}
			}
			if err := r.decode(c, []int{b}, view[c]); err != nil {
				return err
			}
		}
		for i := 0; i <= int(g.info.BlockRows[b]); i++ {
			pos := int(g.starts[b]) + i
			if dead.contains(pos) || tt.gone.rows.has(at, uint32(pos)) || hasNull(x, view, i) {
				continue
			}
			if key = appendIndexKey(key[:0], x, view, i); bytes.Equal(key, want) {
				found.add(at, uint32(pos))
			}
		}
	}
	return nil
}

// recheckColumnar looks the entries of a columnar table up again in r: the
// first thing that the transaction did with a value says whether it may be there.
func (tt *txTable) recheckColumnar(r pebble.Reader) error {
	seen := map[string]bool{}
	for i := range tt.entries {
		e := &tt.entries[i]
		prefix := e.key[:e.prefix]
		if seen[string(prefix)] {
			continue
		}
		seen[string(prefix)] = true
		if e.del {
			continue
		}
		taken, err := entryExists(r, prefix)
		if err != nil {
			return err
		}
		if taken {
			return &table.DuplicateKeyError{Table: tt.schema.ID, Index: e.index, Batch: e.batch, Row: e.row}
		}
	}
	return nil
}
