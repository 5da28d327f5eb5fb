package colstore

import (
	"context"
	"time"

	"tsdb/colstore/table"
)

const (
	// tick is how often compaction looks around without being woken: segments
	// grow cold and rows expire by time alone.
	tick = 2 * time.Second
	// retryPause is how long background work rests after an error.
	retryPause = 5 * time.Second
	// behindFlushes is how many times the flush threshold blocks may hold before
	// those who append wait for a flush.
	behindFlushes = 4
)

// startBackground starts the goroutines that flush and compact, until Close.
func (s *Store) startBackground() {
	s.wg.Add(2)
	go s.flushInBackground()
	go s.compactInBackground()
}

// flushInBackground flushes tables that ask for it.
func (s *Store) flushInBackground() {
	defer s.wg.Done()
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		}
		for _, id := range s.wanted() {
			if s.goOn(context.Background()) != nil {
				break
			}
			if err := s.flushTable(context.Background(), id); err != nil && s.goOn(context.Background()) == nil {
				s.log.Error("flush", "table", uint64(id), "error", err)
				if v := s.find(id); v != nil {
					v.shared.flushWanted.Store(true)
				}
				s.rest(retryPause)
				s.wakeUp()
			}
		}
	}
}

// wanted lists the tables that asked for a flush.
func (s *Store) wanted() []table.ID {
	var out []table.ID
	for _, v := range s.current.Load().tables {
		if v.shared.flushWanted.Load() {
			out = append(out, v.schema.ID)
		}
	}
	return out
}

// rest pauses, but not beyond Close.
func (s *Store) rest(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.stop:
	case <-t.C:
	}
}

func (s *Store) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Store) wakeCompaction() {
	select {
	case s.compactWake <- struct{}{}:
	default:
	}
}

// compactInBackground compacts, drops what is expired and sweeps.
func (s *Store) compactInBackground() {
	defer s.wg.Done()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	before := int64(0)
	for {
		ticked := false
		select {
		case <-s.stop:
			return
		case <-s.compactWake:
		case <-ticker.C:
			ticked = true
		}
		if s.goOn(context.Background()) != nil {
			continue
		}
		if err := s.compactAll(); err != nil && s.goOn(context.Background()) == nil {
			s.log.Error("compaction", "error", err)
			s.rest(retryPause)
		}
		s.runSweeps()
		if ticked {
			now := s.sweeper.garbage.Load()
			if s.flushGarbage(now == before); now == before {
				s.rewriteRemains()
			}
			before = now
		}
	}
}

// compactAll looks at every table once. What one table needs after that, the
// next tick finds. An error of one table does not keep others waiting.
func (s *Store) compactAll() error {
	st := s.current.Load() // without a reference, which would hold chunks back
	var ids []table.ID
	for _, v := range st.tables {
		if v.schema.Layout == table.Columnar && len(v.segs.segs) > 0 {
			ids = append(ids, v.schema.ID)
		}
	}
	s.compactor.mu.Lock()
	s.compactor.prune(st)
	s.compactor.mu.Unlock()
	var failed error
	for _, id := range ids {
		if err := s.goOn(context.Background()); err != nil {
			return err
		}
		if _, err := s.compactTable(context.Background(), id, false); err != nil {
			failed = err
		}
	}
	return failed
}

// afterCommit asks for the flushes that a commit made due, and helps where
// flushing falls behind.
func (s *Store) afterCommit(t *Tx) {
	s.written.committed(t)
	st := s.acquire()
	var behind []table.ID
	for _, tt := range t.order {
		v := st.find(tt.schema.ID)
		if v == nil || tt.schema.Layout != table.Columnar || v.bytes < s.flushBytes {
			continue
		}
		s.wantFlush(v)
		if v.bytes > behindFlushes*s.flushBytes {
			behind = append(behind, tt.schema.ID)
		}
	}
	if id, ok := s.flushLargest(st); ok {
		behind = append(behind, id)
	}
	st.release()
	for _, id := range behind {
		if err := s.flushTable(context.Background(), id); err != nil {
			s.log.Error("flush", "table", uint64(id), "error", err)
		}
	}
}

func (s *Store) wantFlush(v *version) {
	if !v.shared.flushWanted.Swap(true) {
		s.wakeUp()
	}
}

// flushLargest asks for the flush of the table with most bytes in blocks when
// all tables together hold too many, each below its own threshold. When there
// are as many as one table may have at most, it returns that table for the
// caller to flush.
func (s *Store) flushLargest(st *state) (behind table.ID, ok bool) {
	var all int64
	var largest *version
	for _, v := range st.tables {
		if v.schema.Layout != table.Columnar {
			continue
		}
		if all += v.bytes; largest == nil || v.bytes > largest.bytes {
			largest = v
		}
	}
	if all > behindFlushes/2*s.flushBytes {
		s.wantFlush(largest)
	}
	if all > behindFlushes*s.flushBytes {
		return largest.schema.ID, true
	}
	return 0, false
}
