package colstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// rowOp is one change of a row in a table of layout row: it is put, or deleted.
//
// Where keys repeat, the key of space R ends in a tail that keeps them apart: a
// committed row has the sequence of its commit, a row of this transaction
// ownSequence until its commit knows it.
type rowOp struct {
	data    []byte // key of space R and value; no value: the row is deleted
	keyLen  uint32
	existed bool // the transaction saw the row before the op
	stored  bool // the row is committed
	again   bool // an earlier op has the same key
}

func (op *rowOp) key() []byte   { return op.data[:op.keyLen:op.keyLen] }
func (op *rowOp) value() []byte { return op.data[op.keyLen:] }
func (op *rowOp) deleted() bool { return int(op.keyLen) == len(op.data) }

// rowState is what a transaction keeps of a table of layout row besides its ops.
type rowState struct {
	runs  []opRun
	keyed bool // byKey is kept although keys repeat: rows were deleted or updated
	again bool // some op is not the newest of its key
	dec   *rowDecoder
	old   vector.Batch // decoded row
	buf   []byte       // its value
	want  []byte
}

const (
	// rowTail is the size of the tail that keeps repeated keys apart: sequence
	// and row number.
	rowTail = 12
	// ownSequence stands in the tails of rows that are not committed.
	ownSequence = math.MaxUint64
	// tablePrefix is the size of what precedes a row's key in space R.
	tablePrefix = 9
)

func appendRowTail(dst []byte, seq uint64, row uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, seq), row)
}

// uncommitted reports whether a stored key that ends in a tail is of a row that
// the transaction added.
func uncommitted(key []byte) bool {
	return binary.BigEndian.Uint64(key[len(key)-rowTail:]) == ownSequence
}

// see notes the state of the table that the transaction's checks begin with.
func (t *Tx) see(tt *txTable) {
	if tt.known {
		return
	}
	if v := t.s.current.Load().find(tt.schema.ID); v != nil {
		tt.checked, tt.known = v.data, true
	}
}

// appendRowsWith adds rows to a table of layout row.
func (t *Tx) appendRowsWith(ctx context.Context, tt *txTable, b *vector.Batch, o table.AppendOptions) (int64, error) {
	t.see(tt)
	n := b.Rows()
	added := int64(0)
	others := t.heldBeside(tt)
	for i := 0; i < n; i++ {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		ok, err := t.putRow(ctx, tt, b, row, &o)
		if err != nil {
			return added, err
		}
		if ok {
			added++
		}
		if err := t.tooLarge(others + tt.held + t.locks.Bytes()); err != nil {
			return added, err
		}
	}
	return added, nil
}

// putRow locks one row, checks it against the latest committed rows and the
// transaction and adds it; false if conflict = ignore leaves it out. What does
// not add a row holds no locks for it.
func (t *Tx) putRow(ctx context.Context, tt *txTable, b *vector.Batch, row int, o *table.AppendOptions) (bool, error) {
	locked, mark := t.locks.Held(), len(tt.entries)
	ok, err := t.tryRow(ctx, tt, b, row, o)
	if err != nil || !ok {
		tt.dropEntries(mark)
		t.s.locks.ReleaseTo(&t.locks, locked)
	}
	return ok, err
}

func (t *Tx) tryRow(ctx context.Context, tt *txTable, b *vector.Batch, row int, o *table.AppendOptions) (bool, error) {
	s := tt.schema
	key := appendRowKey(keys.AppendTable(tt.scratch[:0], keys.SpaceRow, uint64(s.ID)), s.Key, b.Cols, row)
	var old []byte
	if s.Unique {
		tt.scratch = key
		if err := t.lockRow(ctx, tt, key); err != nil {
			return false, err
		}
		var err error
		if old, err = tt.current(t.s.db, key); err != nil {
			return false, err
		}
	} else {
		key = appendRowTail(key, ownSequence, uint32(len(tt.ops)))
		tt.scratch = key
	}
	if old != nil {
		switch modeOf(o, 0) {
		case table.ConflictIgnore:
			return false, nil
		case table.ConflictError:
			return false, &table.DuplicateKeyError{Table: s.ID, Batch: b, Row: row}
		}
	}
	if len(s.Indexes) > 0 {
		if ok, err := t.moveEntries(ctx, tt, old, key, b, row, o); err != nil || !ok {
			return false, err
		}
	}
	tt.scratch = appendRowValue(key, s, b.Cols, row)
	tt.addOp(tt.scratch, len(key), old != nil)
	return true, nil
}

// current returns the value that a key has in the transaction or else in r, nil
// for none. It is valid until the next call.
func (tt *txTable) current(r pebble.Reader, key []byte) ([]byte, error) {
	if i := tt.byKey.find(key, tt.opKey); i >= 0 {
		if op := &tt.ops[i]; !op.deleted() {
			return op.value(), nil
		}
		return nil, nil
	}
	if tt.created {
		return nil, nil
	}
	return tt.stored(r, key)
}

// stored returns the value that a key has in r, nil for none. It is valid until
// the next call.
func (tt *txTable) stored(r pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read row of table %d: %w", tt.schema.ID, err)
	}
	defer closer.Close()
	tt.own.buf = append(tt.own.buf[:0], value...)
	return tt.own.buf, nil
}

// ownOp returns the newest op of a stored key, -1 for none.
func (tt *txTable) ownOp(key []byte) int {
	if !tt.schema.Unique && !tt.own.keyed {
		tt.own.keyed = true
		tt.byKey.rebuild(len(tt.ops), tt.opKey)
	}
	return tt.byKey.find(key, tt.opKey)
}

// addOp notes that a row is put or, without a value, deleted.
func (tt *txTable) addOp(data []byte, keyLen int, existed bool) {
	op := rowOp{data: tt.kept.keep(data), keyLen: uint32(keyLen), existed: existed, stored: existed}
	keyed := tt.schema.Unique || tt.own.keyed
	if keyed {
		if i := tt.byKey.find(op.key(), tt.opKey); i >= 0 {
			op.again, op.stored = true, tt.ops[i].stored
			tt.own.again = true
		}
	}
	tt.ops = append(tt.ops, op)
	tt.held += int64(len(data)) + rowOpOverhead
	if keyed {
		tt.byKey.set(len(tt.ops)-1, tt.opKey)
	}
}

// rollbackOps makes the first n ops the only ones. Snapshots may still read the
// others.
func (tt *txTable) rollbackOps(n int) {
	if len(tt.ops) <= n {
		return
	}
	tt.ops = tt.ops[:n:n]
	if tt.schema.Unique || tt.own.keyed {
		tt.byKey.rebuild(n, tt.opKey)
	}
	tt.own.truncate(n)
}

// decode returns a row's value as a batch of one row, valid until the next call.
func (tt *txTable) decode(value []byte) (*vector.Batch, error) {
	w := &tt.own
	if w.dec == nil || w.dec.schema != tt.schema {
		w.dec = newRowDecoder(tt.schema)
		w.old = *emptyRows(tt.schema)
	}
	if err := w.dec.split(value); err != nil {
		return nil, tt.corruptRow()
	}
	for i, c := range tt.schema.Columns {
		w.old.Cols[i].Reset(c.Kind)
		w.dec.appendTo(w.old.Cols[i], i)
	}
	w.old.N = 1
	return &w.old, nil
}

func emptyRows(s *table.Schema) *vector.Batch {
	b := &vector.Batch{Cols: make([]*vector.Vector, len(s.Columns))}
	for i, c := range s.Columns {
		b.Cols[i] = vector.New(c.Kind, 0)
	}
	return b
}

func (tt *txTable) corruptRow() error {
	return &table.CorruptionError{What: fmt.Sprintf("row of table %d", tt.schema.ID), Why: errRow.Error()}
}
