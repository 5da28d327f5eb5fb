package colstore

import (
	"sync/atomic"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// writeCounters count what was written since the store was opened.
type writeCounters struct {
	LogicalBytes  atomic.Int64
	LogBytes      atomic.Int64
	FlushBytes    atomic.Int64
	CompactBytes  atomic.Int64
	IngestBytes   atomic.Int64
	Rows          atomic.Int64
	Flushes       atomic.Int64
	Compactions   atomic.Int64
	LogSyncs      atomic.Int64
	DeletedRows   atomic.Int64
	ExpiredRows   atomic.Int64
	SweptSegments atomic.Int64
}

// flushed counts a published flush.
func (c *writeCounters) flushed(b *builder) {
	c.Flushes.Add(1)
	c.FlushBytes.Add(b.bytes)
}

// compacted counts a published compaction of segments.
func (c *writeCounters) compacted(b *builder) {
	c.Compactions.Add(1)
	c.CompactBytes.Add(b.bytes)
}

// committed counts the rows of a transaction. Those that it staged were counted
// then.
func (c *writeCounters) committed(t *Tx) {
	for _, tt := range t.order {
		for _, b := range tt.blocks {
			c.appended(int64(b.n), naturalBytes(b.cols, b.n))
		}
		for i := range tt.ops {
			c.appended(1, int64(len(tt.ops[i].value())))
		}
	}
}

// appended counts rows.
func (c *writeCounters) appended(rows, bytes int64) {
	c.Rows.Add(rows)
	c.LogicalBytes.Add(bytes)
}

// naturalBytes returns the bytes of the values of a batch at their natural
// width: texts their length, booleans one byte, NULL nothing.
func naturalBytes(cols []*vector.Vector, n int) int64 {
	var size int64
	for _, v := range cols {
		valid := int64(n)
		if v.Valid != nil {
			valid = int64(v.Valid.Count(v.Phys()))
			if v.Const {
				valid *= int64(n)
			}
		}
		switch {
		case v.Kind == vector.Bool:
			size += valid
		case v.Kind != vector.Bytes:
			size += valid * int64(v.Kind.Width())
		case v.Const || v.Dict != nil:
			for i := range n {
				if !v.IsNull(i) {
					size += int64(len(v.Bytes(i)))
				}
			}
		default:
			size += int64(v.Offsets[n] - v.Offsets[0])
		}
	}
	return size
}

// WriteStats returns the counts of writing since the store was opened. What
// Pebble flushes and compacts by itself is included: records of the log,
// segment rows and rows of layout row.
func (s *Store) WriteStats() table.WriteStats {
	c := &s.written
	w := table.WriteStats{
		LogicalBytes:  c.LogicalBytes.Load(),
		FlushBytes:    c.FlushBytes.Load(),
		CompactBytes:  c.CompactBytes.Load(),
		IngestBytes:   c.IngestBytes.Load(),
		Rows:          c.Rows.Load(),
		Flushes:       c.Flushes.Load(),
		Compactions:   c.Compactions.Load(),
		LogSyncs:      c.LogSyncs.Load(),
		DeletedRows:   c.DeletedRows.Load(),
		ExpiredRows:   c.ExpiredRows.Load(),
		SweptSegments: c.SweptSegments.Load(),
	}
	if s.closed.Load() {
		return w
	}
	m := s.db.Metrics()
	w.LogBytes = int64(m.WAL.BytesWritten)
	for _, l := range m.Levels {
		w.FlushBytes += int64(l.TableBytesFlushed)
		w.CompactBytes += int64(l.TableBytesCompacted)
	}
	return w
}
