package colstore

import (
	"context"
	"fmt"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// Match is the rows that collide with rows of a batch.
type Match struct {
	Of   []int32        // rows of the batch that have a match, ascending
	IDs  *vector.Vector // per match: the row's name for Update and Delete with Snap
	Rows *vector.Batch  // per match: the row, all columns of the table
	Snap *Snapshot
}

// Close releases the match.
func (m *Match) Close() {
	if m.Snap != nil {
		m.Snap.Close()
		m.Snap = nil
	}
}

// AppendWith is Append with another conflict mode than the table's.
func (t *Tx) AppendWith(ctx context.Context, id table.ID, b *vector.Batch, o table.AppendOptions) (int64, error) {
	return 0, fmt.Errorf("append with options to table %d", id)
}

// Delete removes the rows that a scan of sn with RowIDs named (those selected
// by sel, nil: all) and returns how many these were. Rows that this transaction
// has deleted already are not counted.
//
// It waits for other transactions that change the same rows (layout row) or
// rows of the same table (layout columnar), until ctx ends.
//
// Errors: table.ErrRowsChanged, table.ErrDeadlock, ctx's cause, and those of Append.
func (t *Tx) Delete(ctx context.Context, sn *Snapshot, id table.ID, rows *vector.Vector, sel []int32) (int64, error) {
	return 0, fmt.Errorf("delete from table %d", id)
}

// Update replaces the rows that rows names by those of b, row by row: all
// columns of the table, no selection. The old rows do not collide with the new.
//
// Errors: as Delete.
func (t *Tx) Update(ctx context.Context, sn *Snapshot, id table.ID, rows *vector.Vector, b *vector.Batch) (int64, error) {
	return 0, fmt.Errorf("update of table %d", id)
}

// Find locks the keys of b's rows in a unique index (0: the primary key) and
// returns the rows that have them, in the latest committed state with this
// transaction's writes. A key that occurs twice in b matches twice. Close the match.
//
// Errors: as Delete.
func (t *Tx) Find(ctx context.Context, id table.ID, index uint64, b *vector.Batch) (*Match, error) {
	return nil, fmt.Errorf("find in table %d", id)
}

// AlterTable gives an existing table another schema from commit on: columns
// added at any place (with new ids) or left out, another Conflict, Retention or
// Indexes. Layout, key, time column and bucket must stay. Stored rows are not
// rewritten: a column that they lack has its Missing value.
func (t *Tx) AlterTable(s table.Schema) error {
	return fmt.Errorf("alter table %d", s.ID)
}

// SnapshotAt returns base overlaid with this transaction's writes so far: what
// the next statement of a REPEATABLE READ transaction reads. base stays the
// caller's.
func (t *Tx) SnapshotAt(base *Snapshot) *Snapshot { return base }

// Vacuum flushes, compacts and applies retention to the tables (nil: all), and
// returns when the space of deleted rows has been given back. progress, if not
// nil, is called now and then with what has been done of the whole.
func (s *Store) Vacuum(ctx context.Context, ids []table.ID, progress func(done, all int64)) error {
	return s.Flush()
}

// WriteStats returns the counts of writing since the store was opened.
func (s *Store) WriteStats() table.WriteStats { return table.WriteStats{} }
