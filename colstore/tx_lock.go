package colstore

import (
	"context"

	"tsdb/colstore/locks"
)

// lockTable takes the right to delete and replace rows of a columnar table
// until the transaction ends.
func (t *Tx) lockTable(ctx context.Context, tt *txTable) error {
	if tt.created {
		return nil
	}
	return t.lock(ctx, locks.Table(uint64(tt.schema.ID)))
}

// lockRow takes the right to put or delete the row of layout row with a key of
// space R, until the transaction ends.
func (t *Tx) lockRow(ctx context.Context, tt *txTable, key []byte) error {
	if tt.created {
		return nil // nobody else sees it
	}
	return t.lock(ctx, locks.Name{Object: uint64(tt.schema.ID), Hash: hashKey(key)})
}

// lockEntry takes the right to give a unique value to a row or to take it away,
// until the transaction ends.
func (t *Tx) lockEntry(ctx context.Context, tt *txTable, e uniqueEntry) error {
	if tt.created {
		return nil
	}
	return t.lock(ctx, locks.Name{Object: e.index, Hash: hashKey(e.key[:e.prefix])})
}

func (t *Tx) lock(ctx context.Context, n locks.Name) error {
	return t.s.locks.Acquire(ctx, &t.locks, n)
}

// WaitsFor reports whether the transaction is waiting for a lock that o holds,
// or for one that waits for o. Safe for concurrent use.
func (t *Tx) WaitsFor(o *Tx) bool { return t.s.locks.WaitsFor(&t.locks, &o.locks) }
