package table

// SegmentInfo describes one segment of a table, or its rows in memory.
type SegmentInfo struct {
	ID          uint64 // 0: rows that are not in segments yet
	BucketStart int64  // microseconds since 1970
	BucketWidth int64  // microseconds; 0: rows outside the time line, or no time column
	Rows        int64  // with the deleted ones
	Deleted     int64
	Blocks      int64
	Bytes       int64 // encoded
	MinTime     int64 // microseconds; MinTime > MaxTime: none
	MaxTime     int64
	MinSequence uint64
	MaxSequence uint64
}

// ChunkInfo describes one column of one segment.
type ChunkInfo struct {
	Segment   uint64
	Column    ColumnID
	Parts     int64
	Bytes     int64
	Rows      int64
	Nulls     int64
	Encodings []EncodingCount // of its blocks, most frequent first
}

// EncodingCount is how many blocks of a chunk have an encoding.
type EncodingCount struct {
	Name   string
	Blocks int64
}

// WriteStats counts the bytes that writing took since the store was opened.
type WriteStats struct {
	LogicalBytes  int64 // values at their natural width
	LogBytes      int64 // log
	FlushBytes    int64 // sstables made of rows in memory, and flushes of the log's other keys
	CompactBytes  int64 // sstables made of sstables
	IngestBytes   int64 // sstables that transactions too large for memory staged
	Rows          int64 // appended
	Flushes       int64
	Compactions   int64
	LogSyncs      int64
	DeletedRows   int64
	ExpiredRows   int64
	SweptSegments int64
}

// Amplification is the bytes written per logical byte, 0 without any.
func (w *WriteStats) Amplification() float64 {
	if w.LogicalBytes == 0 {
		return 0
	}
	return float64(w.LogBytes+w.FlushBytes+w.CompactBytes+w.IngestBytes) / float64(w.LogicalBytes)
}
