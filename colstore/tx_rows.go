package colstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// rowOp is one row that a transaction puts into a table of layout row.
type rowOp struct {
	data     []byte // key of space R and value; where keys repeat, the key's tail is assigned at commit
	keyLen   uint32
	replaces bool // the key existed before
}

func (op *rowOp) key() []byte   { return op.data[:op.keyLen:op.keyLen] }
func (op *rowOp) value() []byte { return op.data[op.keyLen:] }

// uniqueEntry is a change of space I.
type uniqueEntry struct {
	key    []byte
	prefix int // length of the part before the row key: equal prefixes collide
	del    bool
	index  uint64
	batch  *vector.Batch // the row, for the error; nil for layout row
	row    int
}

// rowTail is the size of the tail that keeps repeated keys apart: sequence and
// row number.
const rowTail = 12

func appendRowTail(dst []byte, seq uint64, row uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, seq), row)
}

// appendRows adds rows to a table of layout row.
func (t *Tx) appendRows(tt *txTable, b *vector.Batch) (int64, error) {
	n := b.Rows()
	added := int64(0)
	others := t.held() - tt.held
	for i := 0; i < n; i++ {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		ok, err := tt.putRow(t.s.db, b, row)
		if err != nil {
			return added, err
		}
		if ok {
			added++
		}
		if err := t.tooLarge(others + tt.held); err != nil {
			return added, err
		}
	}
	return added, nil
}

// putRow checks one row against r and the transaction and adds it; false if
// conflict = ignore leaves it out.
func (tt *txTable) putRow(r pebble.Reader, b *vector.Batch, row int) (bool, error) {
	s := tt.schema
	key := appendRowKey(keys.AppendTable(tt.scratch[:0], keys.SpaceRow, uint64(s.ID)), s.Key, b.Cols, row)
	var old []byte
	var err error
	if !s.Unique {
		key = appendRowTail(key, math.MaxUint64, uint32(len(tt.ops)))
	}
	tt.scratch = key
	if s.Unique {
		if old, err = tt.oldRow(r, key); err != nil {
			return false, err
		}
	}
	if old != nil {
		switch s.Conflict {
		case table.ConflictIgnore:
			return false, nil
		case table.ConflictError:
			return false, &table.DuplicateKeyError{Table: s.ID, Batch: b, Row: row}
		}
	}
	mark := len(tt.entries)
	if len(s.Indexes) > 0 {
		if ok, err := tt.putEntries(r, b, row, key, old); err != nil || !ok {
			tt.dropEntries(mark)
			return false, err
		}
	}
	tt.scratch = appendRowValue(key, s, b.Cols, row)
	tt.ops = append(tt.ops, rowOp{data: tt.arena.keep(tt.scratch), keyLen: uint32(len(key)), replaces: old != nil})
	tt.held += int64(len(tt.scratch)) + rowOpOverhead
	if s.Unique {
		tt.byKey.set(len(tt.ops)-1, tt.opKey)
	}
	return true, nil
}

// oldRow returns the value that a key has in the transaction or in r.
func (tt *txTable) oldRow(r pebble.Reader, key []byte) ([]byte, error) {
	if i := tt.byKey.find(key, tt.opKey); i >= 0 {
		return tt.ops[i].value(), nil
	}
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read row of table %d: %w", tt.schema.ID, err)
	}
	defer closer.Close()
	return append([]byte{}, value...), nil
}

// putEntries moves the unique entries of a row from its old value to the new.
func (tt *txTable) putEntries(r pebble.Reader, b *vector.Batch, row int, key, old []byte) (bool, error) {
	s := tt.schema
	rowKey := key[9:]
	if old != nil {
		ob, err := newRowDecoder(s).batch(old)
		if err != nil {
			return false, tt.corruptRow()
		}
		for _, x := range s.Indexes {
			if e, ok := tt.makeEntry(x, ob.Cols, 0, rowKey); ok {
				e.del = true
				tt.addEntry(e)
			}
		}
	}
	if !s.Unique {
		rowKey = nil
	}
	for _, x := range s.Indexes {
		e, ok := tt.makeEntry(x, b.Cols, row, rowKey)
		if !ok {
			continue
		}
		taken, err := tt.entryTaken(r, e)
		if err != nil {
			return false, err
		}
		if taken && s.Conflict == table.ConflictIgnore {
			return false, nil
		}
		if taken {
			return false, &table.DuplicateKeyError{Table: s.ID, Index: x.ID, Batch: b, Row: row}
		}
		tt.addEntry(e)
	}
	return true, nil
}

func (tt *txTable) corruptRow() error {
	return &table.CorruptionError{What: fmt.Sprintf("row of table %d", tt.schema.ID), Why: errRow.Error()}
}

// makeEntry builds the entry of a row; false if a part is NULL. Its key is
// valid until the next call.
func (tt *txTable) makeEntry(x table.UniqueIndex, cols []*vector.Vector, row int, rowKey []byte) (uniqueEntry, bool) {
	for _, p := range x.Parts {
		if cols[p.Column].IsNull(row) {
			return uniqueEntry{}, false
		}
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
	e.key = tt.arena.keep(e.key)
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

// entryTaken reports whether another row has the entry's value, in the
// transaction or in r.
func (tt *txTable) entryTaken(r pebble.Reader, e uniqueEntry) (bool, error) {
	prefix := e.key[:e.prefix]
	if i := tt.byEntry.find(prefix, tt.entryPrefix); i >= 0 {
		return !tt.entries[i].del, nil
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

// checkEntries checks the unique indexes of rows of a columnar table, notes
// their entries and returns the rows to add.
func (t *Tx) checkEntries(tt *txTable, b *vector.Batch, sel []int32) ([]int32, error) {
	s := tt.schema
	own := (&vector.Batch{Cols: b.Cols, N: b.N, Sel: sel}).Clone()
	tt.held += own.Size() // the entries keep it
	mark := len(tt.entries)
	keep := make([]int32, 0, own.N)
	var rowKey []byte
	for i := 0; i < own.N; i++ {
		rowKey = appendRowKey(rowKey[:0], s.Key, own.Cols, i)
		if !s.Unique {
			rowKey = rowKey[:0]
		}
		rowMark, drop := len(tt.entries), false
		for _, x := range s.Indexes {
			e, ok := tt.makeEntry(x, own.Cols, i, rowKey)
			if !ok {
				continue
			}
			taken, err := tt.entryTaken(t.s.db, e)
			if err != nil {
				return nil, err
			}
			if taken && s.Conflict != table.ConflictIgnore {
				tt.dropEntries(mark)
				return nil, &table.DuplicateKeyError{Table: s.ID, Index: x.ID, Batch: own, Row: i}
			}
			if drop = taken; drop {
				break
			}
			e.batch, e.row = own, i
			tt.addEntry(e)
		}
		if drop {
			tt.dropEntries(rowMark)
			continue
		}
		row := int32(i)
		if sel != nil {
			row = sel[i]
		}
		keep = append(keep, row)
	}
	if len(keep) == own.N {
		return sel, nil
	}
	return keep, nil
}

// replay checks the rows of a table of layout row again, against r, after
// others committed to the table.
func (tt *txTable) replay(r pebble.Reader) error {
	ops := tt.ops
	tt.ops, tt.byKey, tt.entries, tt.byEntry = nil, positions{}, nil, positions{}
	tt.arena, tt.held = arena{}, 0
	dec := newRowDecoder(tt.schema)
	for _, op := range ops {
		b, err := dec.batch(op.value())
		if err != nil {
			return tt.corruptRow()
		}
		if _, err := tt.putRow(r, b, 0); err != nil {
			return err
		}
	}
	return nil
}

// recheckEntries looks the entries of a columnar table up again in r.
func (tt *txTable) recheckEntries(r pebble.Reader) error {
	for _, e := range tt.entries {
		taken, err := entryExists(r, e.key[:e.prefix])
		if err != nil {
			return err
		}
		if taken {
			return &table.DuplicateKeyError{Table: tt.schema.ID, Index: e.index, Batch: e.batch, Row: e.row}
		}
	}
	return nil
}

// overlayRow is one row of a transaction, as its snapshots see it.
type overlayRow struct{ key, value []byte }

// sortedRows returns the newest row of each key.
func (tt *txTable) sortedRows() []overlayRow {
	out := make([]overlayRow, 0, len(tt.ops))
	for i := range tt.ops {
		op := &tt.ops[i]
		if !tt.schema.Unique || tt.byKey.find(op.key(), tt.opKey) == i {
			out = append(out, overlayRow{op.key(), op.value()})
		}
	}
	sort.Slice(out, func(i, j int) bool { return bytes.Compare(out[i].key, out[j].key) < 0 })
	return out
}
