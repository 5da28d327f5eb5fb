package colstore

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
)

// sweeper removes what nobody refers to any more: chunks of dead segments,
// which occupy files of their own, and the log's copies of rows that are in
// segments.
type sweeper struct {
	running sync.Mutex // held by runSweeps from taking the queue to deleting

	mu    sync.Mutex
	queue []keys.SegmentID

	garbage atomic.Int64 // bytes of flushed rows that Pebble's memtable still holds
}

// sweepLater queues the deletion of a dead segment's chunks.
func (s *Store) sweepLater(g *seg) {
	s.sweeper.mu.Lock()
	s.sweeper.queue = append(s.sweeper.queue, g.id)
	s.sweeper.mu.Unlock()
	s.wakeCompaction()
}

// sweepAtClose bounds how long Close sweeps: opening does the rest.
const sweepAtClose = time.Second

// runSweeps deletes the chunks of dead segments. What a crash leaves behind,
// opening sweeps.
//
// Excising a segment's span gives its files back at once, where a range
// deletion would wait for compactions; but it is durable at once, too, so that
// the removal of the segment rows has to be durable before.
func (s *Store) runSweeps() {
	// One at a time: who returns from here finds what was queued before gone.
	w := &s.sweeper
	w.running.Lock()
	defer w.running.Unlock()
	w.mu.Lock()
	ids := w.queue
	w.queue = nil
	w.mu.Unlock()
	if len(ids) == 0 || s.failed.get() != nil {
		return
	}
	if err := s.syncWAL(); err != nil {
		s.log.Error("sweep chunks", "error", err)
		return
	}
	slices.SortFunc(ids, func(x, y keys.SegmentID) int {
		return slices.Compare(keys.AppendDataPrefix(nil, x), keys.AppendDataPrefix(nil, y))
	})
	began := time.Now()
	for _, id := range ids {
		if s.closed.Load() && time.Since(began) > sweepAtClose {
			return
		}
		from := keys.AppendDataPrefix(nil, id)
		if err := s.excise(from, keys.AfterPrefix(from)); err != nil {
			s.log.Error("sweep chunks", "table", id.Table, "segment", id.ID, "error", err)
			return
		}
		s.written.SweptSegments.Add(1)
	}
}

// excise removes a span and gives back the files that lie in it.
func (s *Store) excise(from, to []byte) error {
	s.ingesting.RLock()
	defer s.ingesting.RUnlock()
	err := s.db.Excise(context.Background(), pebble.KeyRange{Start: from, End: to})
	if failed := s.failed.get(); failed != nil {
		return failed
	}
	return err
}

// garbageBytes is how much of a memtable and its log may be rows that are in
// segments before it is flushed for their sake, once no more come.
const garbageBytes = 128 << 10

// flushGarbage gives back the log that holds flushed rows only: a memtable is
// flushed by itself when it is full, which may be never. calm says that nothing
// was flushed since the last call.
//
// It waits while the memtable also holds many rows that are not in segments:
// they would go into a file together with other keys, which their removal, in
// the next file, does not give back by itself.
func (s *Store) flushGarbage(calm bool) {
	n, live := s.sweeper.garbage.Load(), int64(0)
	if !calm || n < garbageBytes {
		return
	}
	for _, v := range s.current.Load().tables {
		if v.schema.Layout == table.Columnar {
			live += v.bytes
		}
	}
	if live > n/8 {
		return
	}
	s.sweeper.garbage.Store(0)
	if _, err := s.db.AsyncFlush(); err != nil {
		s.log.Error("flush the log", "error", err)
	}
}

// maxRewrite bounds the database that rewriteRemains writes anew: in a larger
// one what it could give back does not count.
const maxRewrite = 64 << 20

// rewriteRemains gives back files of which little is left. Pebble merges the
// small files of a small database into one; excising segments leaves a part of
// it, and the file stays for that part.
func (s *Store) rewriteRemains() {
	m := s.db.Metrics()
	backing, size := m.Table.BackingTableSize, m.Total().TablesSize
	if lost := backing - min(backing, m.VirtualSize()); lost < garbageBytes || 2*lost < backing || size > maxRewrite {
		return
	}
	// Keys that do not exist, on both sides of all that do: the file that removes
	// them makes Pebble merge everything between.
	low, high := []byte{0}, []byte{0xFF}
	b := s.db.NewBatch()
	defer b.Close()
	_ = b.Delete(low, nil)
	_ = b.Delete(high, nil)
	err := s.db.Apply(b, pebble.NoSync)
	if err == nil {
		err = s.db.Compact(context.Background(), low, append(high, 0), false)
	}
	if err != nil && s.goOn(context.Background()) == nil {
		s.log.Error("rewrite files of which little is left", "error", err)
	}
}

// deleteCleaner deletes obsolete files. That it also is a cleaner which needs
// the contents of old logs keeps Pebble from keeping up to five of them, each of
// the size of a memtable, for reuse.
type deleteCleaner struct {
	pebble.DeleteCleaner
	needsLogs
}

// needsLogs hides the other methods of the archiving cleaner one level deeper.
type needsLogs struct{ pebble.ArchiveCleaner }
