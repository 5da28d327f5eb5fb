// Package colstore is the storage engine: append, scan, flush and recover
// tables on top of one Pebble instance.
//
// It knows column ids, keys and bytes; names, SQL types, SQLSTATEs and
// expressions stay above. What callers may ask for is colstore/table, how
// values are spelled colstore/segment, where they lie colstore/keys.
//
// # Life of a row (layout columnar)
//
//	Tx.Append   a copy in the transaction's blocks (block.go); keys checked (unique.go)
//	Tx.Commit   one committer (commit.go) assigns sequences in WAL order and writes the
//	            arrival blocks in one Pebble batch; blocks join the table's version
//	flush       (flush.go) the blocks of a table, sorted, become segments: one Ingest
//	            of chunks (D) and segment rows (X); then arrival blocks are deleted
//	compaction  (compact.go) segments that overlap are merged, deleted and expired rows
//	            go; one Ingest replaces the segment rows, nobody waits for it
//	sweep       (sweep.go) chunks that no reader can reach are excised with their files
//	recovery    (recovery.go) adopts arrival blocks above the flushed-to sequence of X
//
// A large transaction stages chunks before its commit (stage.go), which then is
// a record in space P; the Ingest that publishes its segment rows removes it.
//
// # Invariants
//
//   - A row is in exactly one of: an arrival block above its table's
//     watermark, a segment with an X row, a segment of a P record.
//   - The WAL is synced before every Ingest of rows that came through it.
//   - Chunks without an X row or P record belong to nobody and are swept at
//     opening.
//   - After a failed WAL or manifest write nothing is acknowledged any more.
//   - Versions are immutable; a segment's chunks are deleted only after the
//     last state that lists it is gone.
package colstore

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/arena"
	"tsdb/colstore/keys"
	"tsdb/colstore/locks"
	"tsdb/colstore/table"
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
	// StageBytes is the memory part of one transaction and table, above which
	// its rows become staged segments; 0: derived from Memory.
	StageBytes int64
	// SegmentRows overrides the rows of a segment at most (tests); 0: 262,144.
	SegmentRows int
	// Clock tells the time to retention; nil: time.Now.
	Clock func() time.Time
}

const (
	defaultMemory  = 512 << 20
	defaultMinFree = 64 << 20
	// idStep is how many ids one synced record reserves.
	idStep = 1024
	// firstID leaves the numbers below to the catalog's built-in objects, as
	// PostgreSQL's OIDs do.
	firstID = 16384
)

// Store is an open data directory.
type Store struct {
	db         *pebble.DB
	popts      *pebble.Options
	fs         vfs.FS
	dir        string
	log        *slog.Logger
	flushBytes int64
	stageBytes int64
	txBytes    int64
	segRows    int
	minFree    uint64
	reserve    uint64 // further free space, for what is in memtables already
	ballastFS  vfs.FS
	relay      atomic.Bool // the ballast is to be laid when there is space
	failed     failure
	quarantine quarantine
	condemned  map[table.ID]*table.CorruptionError // tables out of service; set by opening
	clock      func() time.Time
	moved      relocations // guarded by commitMu
	buffers    *arena.Pool // for builds

	current atomic.Pointer[state]
	locks   locks.Manager

	queueMu sync.Mutex
	queue   []*commitRequest

	commitMu sync.Mutex // held by the one committer
	nextSeq  uint64     // guarded by commitMu

	idMu   sync.Mutex
	nextID uint64
	idTop  uint64

	flushMu sync.Mutex // one flush at a time
	// ingesting is held for reading by each Ingest, and by a backup while it
	// makes its checkpoint.
	ingesting sync.RWMutex
	backing   sync.Mutex // one backup at a time
	fileNum   atomic.Uint64

	compactor compactor
	sweeper   sweeper
	written   writeCounters

	wake        chan struct{} // of the flushing goroutine
	compactWake chan struct{} // of the compacting one
	stop        chan struct{}
	wg          sync.WaitGroup
	closed      atomic.Bool
}

// ErrClosed is returned by a store that was closed.
var ErrClosed = errors.New("store is closed")

// Open opens or creates the data directory and recovers it.
func Open(dir string, o Options) (*Store, error) {
	s := newStore(dir, o)
	if o.FS == nil {
		s.layBallast()
	}
	db, err := s.openEngine()
	if s.popts.Cache != nil {
		s.popts.Cache.Unref()
	}
	if err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", dir, err)
	}
	s.db = db
	if err := s.recover(); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("recover data directory %s: %w", dir, err)
	}
	s.startBackground()
	return s, nil
}

// openEngine opens Pebble. Where it does not return an I/O error it panics with
// it, or reports it as fatal, which our logger survives, and panics over what it
// lacks then.
func (s *Store) openEngine() (db *pebble.DB, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err = s.failed.get(); err != nil {
			return
		}
		var bug runtime.Error
		if e, ok := p.(error); ok && !errors.As(e, &bug) {
			err = e
			return
		}
		panic(p)
	}()
	db, err = pebble.Open(s.dir, s.popts)
	if failed := s.failed.get(); failed != nil {
		return nil, failed
	}
	return db, err
}

func newStore(dir string, o Options) *Store {
	s := &Store{dir: dir, fs: o.FS, log: o.Logger, wake: make(chan struct{}, 1), compactWake: make(chan struct{}, 1), stop: make(chan struct{})}
	s.compactor.seen, s.compactor.damaged = map[uint64]time.Time{}, map[uint64]time.Time{}
	if s.fs == nil {
		s.fs = vfs.Default
	}
	s.fs = engineFS{s.fs, &s.failed}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	memory := o.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	memory = max(memory, 16<<20)
	// A quarter of the budget each for a memtable being filled with its
	// flushing predecessor, the block cache and blocks in memory; one table's
	// threshold is a quarter of a memtable.
	memtable := min(uint64(memory)/4, 512<<20)
	s.flushBytes, s.stageBytes, s.segRows = int64(memtable)/4, memory/8, 1<<18
	s.buffers = arena.New(memory / 16) // two key buffers of the largest flush
	s.txBytes = min(max(memory/2, minTxBytes), maxTxBytes)
	if o.FlushBytes > 0 {
		s.flushBytes = o.FlushBytes
	}
	if o.StageBytes > 0 {
		s.stageBytes = o.StageBytes
	}
	if o.SegmentRows > 0 {
		s.segRows = o.SegmentRows
	}
	if s.clock = o.Clock; s.clock == nil {
		s.clock = time.Now
	}
	s.minFree = o.MinFreeBytes
	if s.minFree == 0 {
		s.minFree, s.reserve = defaultMinFree, memtable
	}
	s.popts = pebbleOptions(s, memtable, memory/4)
	return s
}

func pebbleOptions(s *Store, memtable uint64, cache int64) *pebble.Options {
	p := &pebble.Options{
		FS:                          s.fs,
		Comparer:                    keys.Comparer,
		FormatMajorVersion:          keys.FormatVersion,
		Cache:                       pebble.NewCache(cache),
		MemTableSize:                memtable,
		MemTableStopWritesThreshold: 4,
		Logger:                      &pebbleLogger{&s.failed, s.log},
		CompactionConcurrencyRange:  func() (int, int) { return 1, max(1, runtime.GOMAXPROCS(0)/2) },
		EventListener:               pebbleEvents(s),
		FlushDelayDeleteRange:       0,
		Cleaner:                     deleteCleaner{},
	}
	for i := range p.Levels {
		// Chunks are encoded and compressed by us.
		p.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
		p.Levels[i].BlockSize = 32 << 10
	}
	p.EnsureDefaults()
	return p
}

// Close flushes nothing, stops background work and closes Pebble.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	close(s.stop)
	s.wg.Wait()
	s.flushMu.Lock()
	defer s.flushMu.Unlock()
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	s.runSweeps()
	s.buffers.Close()
	if st := s.current.Load(); st != nil && st.epoch != nil {
		st.epoch.mu.Lock()
		st.epoch.drop()
		st.epoch.mu.Unlock()
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close data directory %s: %w", s.dir, err)
	}
	return nil
}

// writable returns the reason why the store takes no writes, or nil.
func (s *Store) writable() error {
	if s.closed.Load() {
		return ErrClosed
	}
	if err := s.failed.get(); err != nil {
		return err
	}
	return s.Space()
}

// NewID returns a number that was never returned before, also across restarts:
// for tables, unique indexes and OIDs of the catalog.
func (s *Store) NewID() (uint64, error) {
	s.idMu.Lock()
	defer s.idMu.Unlock()
	if s.nextID >= s.idTop {
		if err := s.writable(); err != nil {
			return 0, err
		}
		top := s.idTop + idStep
		err := s.db.Set(keys.AppendMeta(nil, keys.MetaCounter, nil), appendU64(nil, top), pebble.Sync)
		if err == nil {
			err = s.failed.get()
		}
		if err != nil {
			return 0, fmt.Errorf("reserve ids: %w", err)
		}
		s.idTop = top
	}
	s.nextID++
	return s.nextID - 1, nil
}

// Meta calls f for each record of key space M set through Tx.SetMeta whose key
// starts with prefix, in key order, at the latest committed state.
func (s *Store) Meta(prefix []byte, f func(key, value []byte) error) error {
	lower := keys.AppendMeta(nil, keys.MetaUser, prefix)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: keys.AfterPrefix(lower)})
	if err != nil {
		return fmt.Errorf("read catalog records: %w", err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err == nil {
			err = f(it.Key()[2:], value)
		}
		if err != nil {
			_ = it.Close()
			return err
		}
	}
	return it.Close()
}

// Begin starts a transaction. Commit or Rollback it.
func (s *Store) Begin() *Tx { return &Tx{s: s, tables: map[table.ID]*txTable{}} }
