// Package colstore is the storage engine: append, scan, flush, compact and
// recover tables on top of one Pebble instance.
package colstore

import (
	"context"
	"log/slog"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// Options configure a store. The zero value is valid.
type Options struct {
	FS     vfs.FS       // nil: the operating system's
	Memory int64        // budget for memtables, blocks and cache in bytes; 0: 512 MiB
	Logger *slog.Logger // nil: discard
	// FlushBytes overrides the flush threshold of one table's arrival blocks
	// (tests); 0: derived from Memory.
	FlushBytes   int64
	MinFreeBytes uint64 // space guard; 0: 64 MiB; ignored on an in-memory FS
}

// Store is an open data directory.
type Store struct{}

// Open opens or creates the data directory and recovers it.
func Open(dir string, o Options) (*Store, error) { return nil, nil }

// Close flushes nothing, stops background work and closes Pebble.
func (s *Store) Close() error { return nil }

// Failed returns the error after which the store takes no more writes, or nil.
func (s *Store) Failed() error { return nil }

// NewID returns a number that was never returned before, also across restarts:
// for tables, unique indexes and OIDs of the catalog.
func (s *Store) NewID() (uint64, error) { return 0, nil }

// Meta calls f for each record of key space M set through Tx.SetMeta whose key
// starts with prefix, in key order, at the latest committed state.
func (s *Store) Meta(prefix []byte, f func(key, value []byte) error) error { return nil }

// Snapshot returns the committed state of now. Close it.
func (s *Store) Snapshot() *Snapshot { return nil }

// Begin starts a transaction. Commit or Rollback it.
func (s *Store) Begin() *Tx { return nil }

// Flush moves all arrival blocks into segments and returns when it is done.
func (s *Store) Flush() error { return nil }

// Snapshot is an immutable committed state. Safe for concurrent use.
type Snapshot struct{}

// Close releases the snapshot.
func (s *Snapshot) Close() {}

// Scan starts a scan. Errors: table.ErrUnknownTable, table.ErrDeclined.
func (s *Snapshot) Scan(id table.ID, req table.ScanRequest) (table.Scan, error) { return nil, nil }

// Stats describes a table; the zero value for an unknown id.
func (s *Snapshot) Stats(id table.ID) table.Stats { return table.Stats{} }

// Tx collects writes and makes them durable and visible at once in Commit.
// Not safe for concurrent use.
type Tx struct{}

// Snapshot returns the latest committed state overlaid with this
// transaction's own writes so far: what the next statement reads. Later writes
// of the transaction do not show in it.
func (t *Tx) Snapshot() *Snapshot { return nil }

// CreateTable adds a table.
func (t *Tx) CreateTable(s table.Schema) error { return nil }

// DropTable removes a table and, after commit, its data.
func (t *Tx) DropTable(id table.ID) error { return nil }

// SetMeta writes a record of key space M (the catalog's); nil value deletes it.
func (t *Tx) SetMeta(key, value []byte) error { return nil }

// Savepoint marks the state of the transaction; RollbackTo undoes everything
// after the mark. Marks nest; each statement takes one.
func (t *Tx) Savepoint() int { return 0 }

// RollbackTo undoes the writes made after the mark.
func (t *Tx) RollbackTo(mark int) {}

// Append adds the rows of b (columns as in the table's Schema, all of them, in
// order) and returns how many were added (conflict = ignore leaves some out).
// b may be reused afterwards.
//
// Keys are checked against the committed state and the transaction itself; a
// key committed by others meanwhile is found in Commit.
//
// Errors: *table.DuplicateKeyError, *table.FailedError, *table.DiskFullError.
func (t *Tx) Append(ctx context.Context, id table.ID, b *vector.Batch) (int64, error) { return 0, nil }

// Commit makes the writes durable (sync: fsynced before it returns) and visible. onPublish, if not nil, runs
// under the commit lock at the instant at which the writes become visible.
// After an error nothing of the transaction is visible or durable.
//
// Errors: as Append.
func (t *Tx) Commit(ctx context.Context, sync bool, onPublish func()) error { return nil }

// Rollback drops the writes. A no-op after Commit.
func (t *Tx) Rollback() {}
