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
)

// rowChange is a statement that deletes or updates rows of layout row.
type rowChange struct {
	t      *Tx
	tt     *txTable
	sn     *Snapshot
	base   *version // what sn sees of the table
	seen   int      // ops of the transaction that sn sees
	prefix []byte   // of the table's keys
	others int64    // bytes that the transaction holds for other tables
}

func (t *Tx) change(sn *Snapshot, tt *txTable) *rowChange {
	t.see(tt)
	c := &rowChange{t: t, tt: tt, sn: sn, base: sn.st.find(tt.schema.ID), others: t.heldBeside(tt),
		prefix: keys.AppendTable(nil, keys.SpaceRow, uint64(tt.schema.ID))}
	if o := sn.over[tt.schema.ID]; o != nil {
		c.seen = o.rows.seen()
	}
	return c
}

// claim locks a row by its name and returns its value, valid until the next
// call of current or stored; nil where read is false and nothing had to be read.
// False: the transaction has changed the row after the snapshot itself.
//
// Errors: table.ErrRowsChanged if others did.
func (c *rowChange) claim(ctx context.Context, key []byte, read bool) (value []byte, ok bool, err error) {
	tt, s := c.tt, c.t.s
	if !bytes.HasPrefix(key, c.prefix) || !tt.schema.Unique && len(key) < len(c.prefix)+rowTail {
		return nil, false, fmt.Errorf("table %d has no row %x", tt.schema.ID, key)
	}
	if i := tt.ownOp(key); i >= 0 {
		if op := &tt.ops[i]; i < c.seen && !op.deleted() {
			return op.value(), true, nil
		}
		return nil, false, nil
	}
	if c.base == nil || !tt.schema.Unique && uncommitted(key) {
		return nil, false, nil // a row that the transaction has taken back
	}
	if err := c.t.lockRow(ctx, tt, key); err != nil {
		return nil, false, err
	}
	now := s.current.Load().find(tt.schema.ID)
	same := now != nil && now.data == c.base.data
	if same && !read {
		return nil, true, nil
	}
	if value, err = tt.stored(c.sn.rowReader(), key); err != nil || value == nil {
		return nil, false, err
	}
	if same {
		return value, true, nil
	}
	latest, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, table.ErrRowsChanged
	}
	if err != nil {
		return nil, false, fmt.Errorf("read row of table %d: %w", tt.schema.ID, err)
	}
	defer closer.Close()
	if !bytes.Equal(latest, value) {
		return nil, false, table.ErrRowsChanged
	}
	return value, true, nil
}

// drop deletes a row and its unique entries. old is its value, if the table has
// unique indexes.
func (c *rowChange) drop(ctx context.Context, key, old []byte) error {
	tt := c.tt
	if len(tt.schema.Indexes) > 0 {
		was, err := tt.decode(old)
		if err != nil {
			return err
		}
		for _, x := range tt.schema.Indexes {
			if err := c.t.removeEntry(ctx, tt, x, was.Cols, key); err != nil {
				return err
			}
		}
	}
	tt.addOp(key, len(key), true)
	return c.room()
}

func (c *rowChange) room() error { return c.t.tooLarge(c.others + c.tt.held + c.t.locks.Bytes()) }

// deleteRows is Delete in layout row.
func (t *Tx) deleteRows(ctx context.Context, sn *Snapshot, tt *txTable, rows *vector.Vector, sel []int32) (int64, error) {
	c := t.change(sn, tt)
	n := rows.N
	if sel != nil {
		n = len(sel)
	}
	gone := int64(0)
	for i := 0; i < n; i++ {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		key := rows.Bytes(row)
		old, ok, err := c.claim(ctx, key, len(tt.schema.Indexes) > 0)
		if err == nil && ok {
			err = c.drop(ctx, key, old)
			gone++
		}
		if err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// newRow is a row that an update puts after it has taken all old rows away.
type newRow struct {
	row   int32
	moved bool // to another key
}

// updateRows is Update in layout row.
func (t *Tx) updateRows(ctx context.Context, sn *Snapshot, tt *txTable, rows *vector.Vector, b *vector.Batch) (int64, error) {
	c := t.change(sn, tt)
	todo := make([]newRow, 0, b.N)
	kept := make([]bool, 0, b.N*len(tt.schema.Indexes)) // by row and index: the entry stays
	for i := 0; i < b.N; i++ {
		key := rows.Bytes(i)
		old, ok, err := c.claim(ctx, key, len(tt.schema.Indexes) > 0)
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		moved := !c.sameKey(key, b, i)
		todo = append(todo, newRow{int32(i), moved})
		if moved {
			for range tt.schema.Indexes {
				kept = append(kept, false)
			}
			err = c.drop(ctx, key, old)
		} else {
			kept, err = c.leave(ctx, key, old, b, i, kept)
		}
		if err != nil {
			return 0, err
		}
	}
	for k, r := range todo {
		n := len(tt.schema.Indexes)
		if err := c.put(ctx, rows, b, r, kept[k*n:(k+1)*n]); err != nil {
			return 0, err
		}
	}
	return int64(len(todo)), nil
}

// sameKey reports whether row i of b has the key of a stored row, without its
// tail where keys repeat.
func (c *rowChange) sameKey(key []byte, b *vector.Batch, i int) bool {
	tt := c.tt
	tt.scratch = appendRowKey(append(tt.scratch[:0], c.prefix...), tt.schema.Key, b.Cols, i)
	if !tt.schema.Unique {
		key = key[:len(key)-rowTail]
	}
	return bytes.Equal(key, tt.scratch)
}

// leave removes the unique entries of a row that row i of b, its successor under
// the same key, does not have, and appends which ones stay.
func (c *rowChange) leave(ctx context.Context, key, old []byte, b *vector.Batch, i int, kept []bool) ([]bool, error) {
	tt := c.tt
	if len(tt.schema.Indexes) == 0 {
		return kept, nil
	}
	was, err := tt.decode(old)
	if err != nil {
		return kept, err
	}
	for _, x := range tt.schema.Indexes {
		same := tt.sameEntry(x, was.Cols, b.Cols, i)
		kept = append(kept, same)
		if same {
			continue
		}
		if err := c.t.removeEntry(ctx, tt, x, was.Cols, key); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// put adds the new row of an update.
func (c *rowChange) put(ctx context.Context, rows *vector.Vector, b *vector.Batch, r newRow, kept []bool) error {
	t, tt, s := c.t, c.tt, c.tt.schema
	i := int(r.row)
	key := append(tt.scratch[:0], rows.Bytes(i)...)
	if r.moved {
		key = appendRowKey(append(key[:0], c.prefix...), s.Key, b.Cols, i)
	}
	if r.moved && !s.Unique {
		key = appendRowTail(key, ownSequence, uint32(len(tt.ops)))
	}
	tt.scratch = key
	if r.moved && s.Unique {
		if err := t.lockRow(ctx, tt, key); err != nil {
			return err
		}
		holder, err := tt.current(t.s.db, key)
		if err != nil {
			return err
		}
		if holder != nil {
			return &table.DuplicateKeyError{Table: s.ID, Batch: b, Row: i}
		}
	}
	for k, x := range s.Indexes {
		if kept[k] {
			continue
		}
		if _, err := t.putEntry(ctx, tt, x, b, i, key); err != nil {
			return err
		}
	}
	tt.scratch = appendRowValue(key, s, b.Cols, i)
	tt.addOp(tt.scratch, len(key), !r.moved)
	return c.room()
}
