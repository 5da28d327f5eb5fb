package colstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// uniqueEntry is a change of space I.
type uniqueEntry struct {
	key    []byte
	prefix int // length of the part before the row key: equal prefixes collide
	del    bool
	again  bool // an earlier entry has the same prefix
	index  uint64
	batch  *vector.Batch // the row, for the error; nil for layout row
	row    int           // of batch; in layout row the number of the op
}

// entryTail returns what the entries of a stored key end in: where keys repeat,
// entries carry the row's key as their value instead.
func (tt *txTable) entryTail(key []byte) []byte {
	if !tt.schema.Unique {
		return nil
	}
	return key[tablePrefix:]
}

// moveEntries moves the unique entries of a row with a key from its old value
// (nil: none) to row of b, which the next op puts. False if conflict = ignore
// leaves the row out.
func (t *Tx) moveEntries(ctx context.Context, tt *txTable, old, key []byte, b *vector.Batch, row int, o *table.AppendOptions) (bool, error) {
	var was *vector.Batch
	if old != nil {
		var err error
		if was, err = tt.decode(old); err != nil {
			return false, err
		}
	}
	for _, x := range tt.schema.Indexes {
		if was != nil {
			if tt.sameEntry(x, was.Cols, b.Cols, row) {
				continue
			}
			if err := t.removeEntry(ctx, tt, x, was.Cols, key); err != nil {
				return false, err
			}
		}
		ok, err := t.putEntry(ctx, tt, x, b, row, key)
		if err != nil && modeOf(o, x.ID) == table.ConflictIgnore && isDuplicate(err) {
			return false, nil
		}
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func isDuplicate(err error) bool {
	var d *table.DuplicateKeyError
	return errors.As(err, &d)
}

// sameEntry reports whether the only row of was and a row of cols have the same
// values in a unique index.
func (tt *txTable) sameEntry(x table.UniqueIndex, was, cols []*vector.Vector, row int) bool {
	a, b := hasNull(x, was, 0), hasNull(x, cols, row)
	if a || b {
		return a && b
	}
	tt.own.want = appendIndexKey(tt.own.want[:0], x, was, 0)
	n := len(tt.own.want)
	tt.own.want = appendIndexKey(tt.own.want, x, cols, row)
	return string(tt.own.want[:n]) == string(tt.own.want[n:])
}

// removeEntry removes the entry of the only row of cols, which has a key.
func (t *Tx) removeEntry(ctx context.Context, tt *txTable, x table.UniqueIndex, cols []*vector.Vector, key []byte) error {
	e, ok := tt.makeEntry(x, cols, 0, tt.entryTail(key))
	if !ok {
		return nil
	}
	if err := t.lockEntry(ctx, tt, e); err != nil {
		return err
	}
	e.del = true
	tt.addEntry(e)
	return nil
}

// putEntry adds the entry of a row of b, which the next op puts under a key.
func (t *Tx) putEntry(ctx context.Context, tt *txTable, x table.UniqueIndex, b *vector.Batch, row int, key []byte) (bool, error) {
	e, ok := tt.makeEntry(x, b.Cols, row, tt.entryTail(key))
	if !ok {
		return true, nil
	}
	if err := t.lockEntry(ctx, tt, e); err != nil {
		return false, err
	}
	taken, err := tt.entryTaken(t.s.db, e)
	if err != nil {
		return false, err
	}
	if taken {
		return false, &table.DuplicateKeyError{Table: tt.schema.ID, Index: x.ID, Batch: b, Row: row}
	}
	e.row = len(tt.ops)
	tt.addEntry(e)
	return true, nil
}

// makeEntry builds the entry of a row; false if a part is NULL. Its key is
// valid until the next call.
func (tt *txTable) makeEntry(x table.UniqueIndex, cols []*vector.Vector, row int, rowKey []byte) (uniqueEntry, bool) {
	if hasNull(x, cols, row) {
		return uniqueEntry{}, false
	}
	key := appendIndexKey(tt.entryKey[:0], x, cols, row)
	tt.entryKey = append(key, rowKey...)
	return uniqueEntry{key: tt.entryKey, prefix: len(key), index: x.ID}, true
}

func appendIndexKey(dst []byte, x table.UniqueIndex, cols []*vector.Vector, row int) []byte {
	key := keys.AppendTable(dst, keys.SpaceIndex, x.ID)
	for _, p := range x.Parts {
		key = rowkey.AppendKey(key, p.Codec, cols[p.Column], row)
	}
	return key
}

func (tt *txTable) addEntry(e uniqueEntry) {
	e.key = tt.kept.keep(e.key)
	e.again = tt.byEntry.find(e.key[:e.prefix], tt.entryPrefix) >= 0
	tt.entries = append(tt.entries, e)
	tt.byEntry.set(len(tt.entries)-1, tt.entryPrefix)
	tt.held += int64(len(e.key)) + entryOverhead
}

func (tt *txTable) dropEntries(mark int) {
	if len(tt.entries) == mark {
		return
	}
	for _, e := range tt.entries[mark:] {
		tt.held -= int64(len(e.key)) + entryOverhead
	}
	clear(tt.entries[mark:])
	tt.entries = tt.entries[:mark]
	tt.byEntry.rebuild(mark, tt.entryPrefix)
}

// entryTaken reports whether a row has the entry's value, in the transaction or
// in r.
func (tt *txTable) entryTaken(r pebble.Reader, e uniqueEntry) (bool, error) {
	prefix := e.key[:e.prefix]
	if i := tt.byEntry.find(prefix, tt.entryPrefix); i >= 0 {
		return !tt.entries[i].del, nil
	}
	if tt.created {
		return false, nil
	}
	return entryExists(r, prefix)
}

func entryExists(r pebble.Reader, prefix []byte) (bool, error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keys.AfterPrefix(prefix)})
	if err != nil {
		return false, fmt.Errorf("read unique entry: %w", err)
	}
	found := it.First()
	if err := it.Close(); err != nil {
		return false, fmt.Errorf("read unique entry: %w", err)
	}
	return found, nil
}
