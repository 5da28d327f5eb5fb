// Package table is the storage contract: what the layers above may ask of any
// layout. It holds descriptions and requests only; colstore implements it.
//
// Storage knows numbers for tables and columns, keys and bytes. Names, SQL
// types and expressions stay above.
package table

import (
	"fmt"

	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// ID names a table's storage. Never reused; TRUNCATE gives a new one.
type ID uint64

// ColumnID names a column within a table. Never reused.
type ColumnID uint32

// Layout is where a table's rows live.
type Layout uint8

// Layouts. The numbers are written into files: append only.
const (
	Columnar Layout = 1
	RowStore Layout = 2
)

func (l Layout) String() string {
	switch l {
	case Columnar:
		return "columnar"
	case RowStore:
		return "row"
	}
	return fmt.Sprintf("layout %d", uint8(l))
}

// Conflict says what an append does when its key exists.
type Conflict uint8

// The values of WITH (conflict = ...).
const (
	ConflictError   Conflict = 0
	ConflictReplace Conflict = 1
	ConflictIgnore  Conflict = 2
)

// Column describes a stored column.
type Column struct {
	ID    ColumnID
	Kind  vector.Kind
	Codec rowkey.Codec // how its values order; CodecNone: no zone map, not in a key
	// Missing is the value, one row of Kind, of rows that are older than the
	// column; nil: NULL. It never changes.
	Missing *vector.Vector
}

// TimeUnit says what a time column's integers count.
type TimeUnit uint8

// Units of the time column.
const (
	Micros TimeUnit = 0 // Int64, microseconds since 1970 (±infinity: max, min)
	Days   TimeUnit = 1 // Int32, days since 1970 (±infinity: max, min)
)

// Schema is what storage must know of a table.
type Schema struct {
	ID       ID
	Layout   Layout
	Columns  []Column
	Dropped  []Column      // columns that rows may still hold; their Missing is not used
	Key      []rowkey.Part // key order; empty: none
	Unique   bool          // Key is a primary key
	Indexes  []UniqueIndex // further uniqueness
	Time     int           // index of the time column, -1: one bucket
	TimeUnit TimeUnit
	Bucket   int64 // bucket width in microseconds; 0: chosen at flush from the data
	Conflict Conflict
	// Retention hides, and by and by removes, rows whose time is more than so
	// many microseconds in the past; 0: none. Rows whose time is NULL or
	// infinity stay. Layout columnar only.
	Retention int64
}

// UniqueIndex is a UNIQUE constraint kept as entries of key space I. A row
// with a NULL among the parts has no entry.
type UniqueIndex struct {
	ID    uint64 // unique within the store, never reused
	Parts []rowkey.Part
}

// Order is the row order that a scan must deliver.
type Order uint8

// Orders of a scan.
const (
	AnyOrder Order = iota
	KeyOrder
	TimeOrder
)

// Range is a half-open range of time in microseconds since 1970. Hi of
// math.MaxInt64 has no end: it includes infinity.
type Range struct{ Lo, Hi int64 }

// CompareOp is the comparison of a pushed filter.
type CompareOp uint8

// Comparison operators.
const (
	EQ CompareOp = iota
	NE
	LT
	LE
	GT
	GE
	IsNull
	IsNotNull
)

// Filter is a predicate `column op value` that storage may use to skip blocks
// and rows. It may return rows that fail it: the caller filters again.
type Filter struct {
	Column int
	Op     CompareOp
	Value  *vector.Vector // one row of the column's kind; nil for IsNull, IsNotNull
}

// ScanRequest asks for rows of a table.
//
// Everything but Columns narrows: storage may skip rows outside, never must
// (pruning), except Order and Reverse, which it must honour or decline.
type ScanRequest struct {
	Columns []int         // indexes into Schema.Columns, in output order; may be empty (count only)
	Spans   []rowkey.Span // of the row key, sorted, disjoint; nil: all
	Time    []Range       // sorted, disjoint; nil: all times including NULL and ±infinity
	Filters []Filter      // conjunction
	Order   Order
	Reverse bool
	Limit   int64 // rows the caller will read at most, 0: unknown; a hint
	NoPrune bool  // ignore everything that narrows (tests)
	// RowIDs asks for one column more, behind Columns, that names each row for
	// Tx.Delete and Tx.Update with the snapshot of this scan: Int64 in layout
	// columnar, Bytes in layout row, meaningless elsewhere.
	RowIDs bool
}

// ScanStats counts what a scan did; blocks are of at most 1,024 rows.
type ScanStats struct {
	Rows            int64 // rows returned
	SegmentsRead    int64
	SegmentsSkipped int64
	BlocksRead      int64
	BlocksSkipped   int64
	BytesRead       int64 // encoded bytes of the chunks and blocks decoded
	BytesSkipped    int64
}

// Add adds o to s.
func (s *ScanStats) Add(o ScanStats) {
	s.Rows += o.Rows
	s.SegmentsRead += o.SegmentsRead
	s.SegmentsSkipped += o.SegmentsSkipped
	s.BlocksRead += o.BlocksRead
	s.BlocksSkipped += o.BlocksSkipped
	s.BytesRead += o.BytesRead
	s.BytesSkipped += o.BytesSkipped
}

// Reader returns the batches of one worker of a scan. Not for concurrent use.
type Reader interface {
	// Next returns the next batch, nil at the end. It is valid until the next
	// call of Next or Close. Bytes columns may be dictionary encoded.
	Next() (*vector.Batch, error)
	// Stats returns the counts so far.
	Stats() ScanStats
	Close()
}

// Scan is one running request over a snapshot. Readers share its work: each
// takes the next morsel (a segment or part of one) when it has finished one.
type Scan interface {
	// NewReader returns another worker. With an Order there is one worker only,
	// and a second call returns a reader without rows.
	NewReader() Reader
	// Morsels is the number of pieces of work, a bound for useful workers.
	Morsels() int
	// EstimatedRows is an upper bound of the rows that will be returned.
	EstimatedRows() int64
}

// Stats is what is known of a table without reading it.
type Stats struct {
	Rows     int64 // live rows, an upper bound where keys repeat
	Bytes    int64 // encoded bytes
	Segments int
	Blocks   int64
	MinTime  int64 // microseconds; MinTime > MaxTime: unknown or empty
	MaxTime  int64
}

// ErrDeclined is returned by a scan request whose Order storage cannot deliver.
var ErrDeclined = fmt.Errorf("table: order not available")

// ErrBusy is returned for a table that is being rewritten already.
var ErrBusy = fmt.Errorf("table: busy")

// ErrUnknownTable is returned for an ID that does not exist in the snapshot.
var ErrUnknownTable = fmt.Errorf("table: unknown id")

// ErrRowsChanged is returned by a delete or an update of rows that another
// transaction changed after the snapshot that named them. The rows stay locked:
// the statement may be repeated on a new snapshot.
var ErrRowsChanged = fmt.Errorf("table: rows were changed by another transaction")

// ErrDeadlock is returned to one of several transactions that wait for each
// other.
var ErrDeadlock = fmt.Errorf("table: deadlock")

// AppendOptions say what an append does with rows whose key exists.
type AppendOptions struct {
	// Conflict replace is about the primary key: a collision in another unique
	// index is an error.
	Conflict Conflict
	// Arbiters are the unique indexes that Conflict is for (0: the primary key);
	// a collision elsewhere is an error. nil: all.
	Arbiters []uint64
}

// DuplicateKeyError reports a row whose key or unique entry exists.
type DuplicateKeyError struct {
	Table ID
	Index uint64        // 0: the primary key, else UniqueIndex.ID
	Batch *vector.Batch // holds the offending row
	Row   int
}

func (e *DuplicateKeyError) Error() string {
	return fmt.Sprintf("table %d: duplicate key in index %d", e.Table, e.Index)
}

// DiskFullError reports that the space guard refused a write.
type DiskFullError struct{ Free, Need uint64 }

func (e *DiskFullError) Error() string {
	return fmt.Sprintf("free space of %d bytes is below the limit of %d", e.Free, e.Need)
}

// TransactionTooLargeError reports a transaction that would hold more in memory
// than it may.
type TransactionTooLargeError struct{ Bytes, Limit int64 }

func (e *TransactionTooLargeError) Error() string {
	return fmt.Sprintf("a transaction of %d bytes in memory is above the limit of %d", e.Bytes, e.Limit)
}

// FailedError reports that the store stopped taking writes after an I/O error.
type FailedError struct{ Cause error }

func (e *FailedError) Error() string { return "store stopped after an I/O error: " + e.Cause.Error() }

// Unwrap returns the I/O error.
func (e *FailedError) Unwrap() error { return e.Cause }

// CorruptionError reports bytes that fail their checksum or format.
type CorruptionError struct {
	What string // the object: key space, table, bucket, segment, column
	Why  string
	File string // the file that holds it, if known
	// Table and Column are what it belongs to; 0: unknown, or none.
	Table  ID
	Column ColumnID
}

func (e *CorruptionError) Error() string {
	if e.File != "" {
		return "corrupted " + e.What + " in file " + e.File + ": " + e.Why
	}
	return "corrupted " + e.What + ": " + e.Why
}

// ErrConflictMode is returned for a table whose layout cannot honour its
// conflict mode.
var ErrConflictMode = fmt.Errorf("table: conflict mode not available in this layout")
