package colstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// findRows is Find in layout row: it locks first and reads afterwards, so that
// what it finds stays until the transaction ends.
func (t *Tx) findRows(ctx context.Context, tt *txTable, index uint64, b *vector.Batch) (*Match, error) {
	t.see(tt)
	x := uniqueIndex(tt.schema, index)
	if x == nil && (index != 0 || !tt.schema.Unique) {
		return nil, fmt.Errorf("table %d has no unique index %d", tt.schema.ID, index)
	}
	prefix := keys.AppendTable(nil, keys.SpaceRow, uint64(tt.schema.ID))
	of, found := []int32{}, vector.New(vector.Bytes, 0)
	others := t.heldBeside(tt)
	var key []byte
	for i := 0; i < b.Rows(); i++ {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		key = append(key[:0], prefix...)
		var err error
		if x == nil {
			key = appendRowKey(key, tt.schema.Key, b.Cols, row)
			err = t.lockRow(ctx, tt, key)
		} else {
			key, err = t.lockHolder(ctx, tt, *x, b, row, key)
		}
		if err == nil {
			err = t.tooLarge(others + tt.held + t.locks.Bytes())
		}
		if err != nil {
			return nil, err
		}
		if len(key) > 0 {
			of = append(of, int32(row))
			found.AppendBytes(key)
		}
	}
	m := &Match{IDs: vector.New(vector.Bytes, 0), Rows: emptyRows(tt.schema), Snap: t.Snapshot()}
	if err := t.matchRows(m, tt, of, found); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func uniqueIndex(s *table.Schema, id uint64) *table.UniqueIndex {
	for i := range s.Indexes {
		if s.Indexes[i].ID == id {
			return &s.Indexes[i]
		}
	}
	return nil
}

// matchRows reads the rows with the keys that were found; those that do not
// exist do not match.
func (t *Tx) matchRows(m *Match, tt *txTable, of []int32, found *vector.Vector) error {
	dec := newRowDecoder(tt.schema)
	for i, row := range of {
		key := found.Bytes(i)
		var value []byte
		var err error
		if at := tt.ownOp(key); at >= 0 {
			value = tt.ops[at].value()
		} else if !tt.created {
			value, err = tt.stored(m.Snap.rowReader(), key)
		}
		if err != nil {
			return err
		}
		if len(value) == 0 {
			continue
		}
		if err := dec.split(value); err != nil {
			return tt.corruptRow()
		}
		for c := range tt.schema.Columns {
			dec.appendTo(m.Rows.Cols[c], c)
		}
		m.Of = append(m.Of, row)
		m.IDs.AppendBytes(key)
		m.Rows.N++
	}
	return nil
}

// lockHolder locks the row that has a row's values in a unique index and returns
// its key; or the values themselves, and no key, if no row has them. The row is
// locked before the values: who changes a row locks it first, too.
func (t *Tx) lockHolder(ctx context.Context, tt *txTable, x table.UniqueIndex, b *vector.Batch, row int, key []byte) ([]byte, error) {
	prefix := key[:tablePrefix]
	for {
		e, ok := tt.makeEntry(x, b.Cols, row, nil)
		if !ok {
			return nil, nil
		}
		if i := tt.byEntry.find(e.key, tt.entryPrefix); i >= 0 {
			own := &tt.entries[i]
			if own.del {
				return nil, nil
			}
			return append(key[:0], tt.ops[own.row].key()...), nil
		}
		if tt.created {
			return nil, nil
		}
		holder, err := tt.holder(t.s.db, x, e)
		if err != nil {
			return nil, err
		}
		locked := t.locks.Held()
		if holder == nil {
			err = t.lockEntry(ctx, tt, e)
		} else {
			key = append(append(key[:0], prefix...), holder...)
			err = t.lockRow(ctx, tt, key)
		}
		if err != nil {
			return nil, err
		}
		still, err := tt.holder(t.s.db, x, e)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(still, holder) {
			if holder == nil {
				return nil, nil
			}
			return key, nil
		}
		t.s.locks.ReleaseTo(&t.locks, locked)
	}
}

// holder returns the key, without the table's prefix, of the committed row with
// an entry's values, nil if there is none.
func (tt *txTable) holder(r pebble.Reader, x table.UniqueIndex, e uniqueEntry) ([]byte, error) {
	if tt.schema.Unique {
		prefix := e.key[:e.prefix]
		it, err := r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keys.AfterPrefix(prefix)})
		if err != nil {
			return nil, fmt.Errorf("read unique entry: %w", err)
		}
		var key []byte
		if it.First() {
			key = bytes.Clone(it.Key()[e.prefix:])
		}
		if err := it.Close(); err != nil {
			return nil, fmt.Errorf("read unique entry: %w", err)
		}
		return key, nil
	}
	value, closer, err := r.Get(e.key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read unique entry: %w", err)
	}
	defer closer.Close()
	if len(value) == 0 {
		return tt.search(r, x, e)
	}
	return bytes.Clone(value), nil
}

// search finds the row of an entry that does not name it, as those of tables
// whose keys repeat did in the first releases.
func (tt *txTable) search(r pebble.Reader, x table.UniqueIndex, e uniqueEntry) ([]byte, error) {
	want := bytes.Clone(e.key)
	prefix := keys.AppendTable(nil, keys.SpaceRow, uint64(tt.schema.ID))
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keys.AfterPrefix(prefix)})
	if err != nil {
		return nil, fmt.Errorf("read rows of table %d: %w", tt.schema.ID, err)
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, fmt.Errorf("read row of table %d: %w", tt.schema.ID, err)
		}
		b, err := tt.decode(value)
		if err != nil {
			return nil, err
		}
		if hasNull(x, b.Cols, 0) {
			continue
		}
		if tt.own.want = appendIndexKey(tt.own.want[:0], x, b.Cols, 0); bytes.Equal(tt.own.want, want) {
			return bytes.Clone(it.Key()[tablePrefix:]), nil
		}
	}
	return nil, it.Error()
}

// Rows returns all columns of the rows of a table of layout row that a scan of
// the snapshot with RowIDs named, in that order.
//
// Errors: table.ErrRowsChanged for a name of a row that the snapshot lacks,
// *table.CorruptionError.
func (s *Snapshot) Rows(id table.ID, ids *vector.Vector) (*vector.Batch, error) {
	src, err := s.source(id)
	if err != nil {
		return nil, err
	}
	out, dec := emptyRows(src.schema), newRowDecoder(src.schema)
	for i := range ids.N {
		value, err := s.rowNamed(src, ids.Bytes(i))
		if err != nil {
			return nil, err
		}
		if err := dec.split(value); err != nil {
			return nil, &table.CorruptionError{What: fmt.Sprintf("row of table %d", id), Why: err.Error()}
		}
		for c := range src.schema.Columns {
			dec.appendTo(out.Cols[c], c)
		}
		out.N++
	}
	return out, nil
}

func (s *Snapshot) rowNamed(src *source, key []byte) ([]byte, error) {
	if src.over != nil {
		for _, at := range src.over.rows.within(rowkey.Span{Start: key, End: append(bytes.Clone(key), 0)}) {
			if op := &src.over.rows.ops[at]; bytes.Equal(op.key(), key) {
				if op.deleted() {
					return nil, table.ErrRowsChanged
				}
				return op.value(), nil
			}
		}
	}
	value, closer, err := s.rowReader().Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, table.ErrRowsChanged
	}
	if err != nil {
		return nil, s.s.damaged(fmt.Sprintf("rows of table %d", src.schema.ID), err)
	}
	value = bytes.Clone(value)
	return value, closer.Close()
}
