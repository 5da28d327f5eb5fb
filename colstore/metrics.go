package colstore

import (
	"github.com/prometheus/client_golang/prometheus"

	"tsdb/colstore/table"
)

// Metrics are figures of a store for monitoring.
type Metrics struct {
	Write table.WriteStats

	Tables          int
	Segments        int64
	SegmentBytes    int64
	BlockBytes      int64 // rows in memory that are not in segments yet
	MemtableBytes   int64
	CacheBytes      int64
	CacheHits       int64
	CacheMisses     int64
	LogBytes        int64 // log files
	DiskBytes       int64 // all files of the engine
	DiskFree        int64 // -1: unknown
	EngineFlushes   int64
	EngineCompacted int64
	Compacting      int64
	CompactionDebt  int64 // bytes that wait for compaction
	Damaged         int64 // chunks found damaged since the store was opened
	// LogSync is the histogram of the log's syncs, nil before the first.
	LogSync prometheus.Metric
}

// Metrics returns the figures of now; the zero value after Close.
func (s *Store) Metrics() Metrics {
	if s.closed.Load() {
		return Metrics{DiskFree: -1}
	}
	p := s.db.Metrics()
	m := Metrics{
		Write:           s.WriteStats(),
		MemtableBytes:   int64(p.MemTable.Size),
		CacheBytes:      p.BlockCache.Size,
		CacheHits:       p.BlockCache.Hits,
		CacheMisses:     p.BlockCache.Misses,
		LogBytes:        int64(p.WAL.PhysicalSize),
		DiskBytes:       int64(p.DiskSpaceUsage()),
		DiskFree:        -1,
		EngineFlushes:   p.Flush.Count,
		EngineCompacted: p.Compact.Count,
		Compacting:      p.Compact.NumInProgress,
		CompactionDebt:  int64(p.Compact.EstimatedDebt),
		Damaged:         s.quarantine.n.Load(),
	}
	if h, ok := p.LogWriter.FsyncLatency.(prometheus.Metric); ok && h != nil {
		m.LogSync = h
	}
	if use, err := s.fs.GetDiskUsage(s.dir); err == nil {
		m.DiskFree = int64(use.AvailBytes)
	}
	st := s.acquire()
	defer st.release()
	for _, v := range st.tables {
		m.Tables++
		for _, g := range v.segs.segs {
			m.Segments++
			m.SegmentBytes += g.bytes
		}
		for _, b := range v.blocks {
			m.BlockBytes += b.size
		}
	}
	return m
}

// Ready returns the reason why the store takes no writes now, or nil.
func (s *Store) Ready() error { return s.writable() }
