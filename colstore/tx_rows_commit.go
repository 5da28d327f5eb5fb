package colstore

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
)

// verifyRows checks, after others committed to the table, that the rows and
// entries which the transaction found are still what r holds. Locks see to
// that; this keeps a mistake there from reaching the disk.
func (tt *txTable) verifyRows(r pebble.Reader) error {
	for i := range tt.ops {
		op := &tt.ops[i]
		if op.again || !tt.schema.Unique && uncommitted(op.key()) {
			continue
		}
		_, closer, err := r.Get(op.key())
		if err != nil && !errors.Is(err, pebble.ErrNotFound) {
			return fmt.Errorf("read row of table %d: %w", tt.schema.ID, err)
		}
		if found := err == nil; found {
			_ = closer.Close()
			if !op.stored {
				return tt.collision(0, i)
			}
		} else if op.stored {
			return table.ErrRowsChanged
		}
	}
	for i := range tt.entries {
		e := &tt.entries[i]
		if e.again || e.del {
			continue
		}
		taken, err := entryExists(r, e.key[:e.prefix])
		if err != nil {
			return err
		}
		if taken {
			return tt.collision(e.index, e.row)
		}
	}
	return nil
}

// collision is the error for the row of an op whose key or entry exists.
func (tt *txTable) collision(index uint64, op int) error {
	b, err := newRowDecoder(tt.schema).batch(tt.ops[op].value())
	if err != nil {
		return tt.corruptRow()
	}
	return &table.DuplicateKeyError{Table: tt.schema.ID, Index: index, Batch: b}
}

// writeRows adds the rows of a table of layout row and its counts to the batch.
func (g *groupCommit) writeRows(tt *txTable, v *version) {
	v.seq = g.seq
	g.seq++
	for i := range tt.ops {
		op := &tt.ops[i]
		v.count(op)
		if tt.own.again && tt.byKey.find(op.key(), tt.opKey) != i {
			continue // a later op has the key
		}
		key := tt.storedKey(op.key(), v.seq)
		switch {
		case !op.deleted():
			_ = g.batch.Set(key, op.value(), nil)
		case op.stored:
			_ = g.batch.Delete(key, nil)
		}
	}
	count := binary.AppendUvarint(nil, uint64(v.rows))
	count = binary.AppendUvarint(count, v.seq)
	count = binary.AppendUvarint(count, uint64(v.bytes))
	_ = g.batch.Set(keys.AppendMetaID(nil, keys.MetaCount, uint64(tt.schema.ID)), count, nil)
}

// count adds an op to the rows and bytes of a table of layout row. A row that
// goes takes the mean size with it.
func (v *version) count(op *rowOp) {
	if op.existed && v.rows > 0 {
		v.bytes -= v.bytes / v.rows
		v.rows--
	}
	if !op.deleted() {
		v.bytes += int64(len(op.data))
		v.rows++
	}
}

// storedKey returns the key of space R of a row that a commit with a sequence
// writes.
func (tt *txTable) storedKey(key []byte, seq uint64) []byte {
	if tt.schema.Unique || !uncommitted(key) {
		return key
	}
	n := len(key) - rowTail
	return appendRowTail(key[:n:n], seq, binary.BigEndian.Uint32(key[len(key)-4:]))
}

// writeEntries adds the changes of space I to the batch, behind the rows.
func (g *groupCommit) writeEntries(tt *txTable, v *version) {
	byValue := tt.schema.Layout == table.RowStore && !tt.schema.Unique
	for i := range tt.entries {
		e := &tt.entries[i]
		if e.del {
			_ = g.batch.Delete(e.key, nil)
			continue
		}
		var value []byte
		if byValue {
			value = tt.storedKey(tt.ops[e.row].key(), v.seq)[tablePrefix:]
		}
		_ = g.batch.Set(e.key, value, nil)
	}
}
