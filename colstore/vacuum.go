package colstore

import (
	"context"
	"time"

	"tsdb/colstore/table"
)

// maxVacuumRounds bounds how often a table is looked at again: each round
// leaves fewer segments to merge, unless rows arrive all the time.
const maxVacuumRounds = 32

// Vacuum flushes, compacts and applies retention to the tables (nil: all), and
// returns when the space of deleted rows has been given back. progress, if not
// nil, is called now and then with what has been done of the whole.
//
// Space that a snapshot still needs is given back when it is closed.
func (s *Store) Vacuum(ctx context.Context, ids []table.ID, progress func(done, all int64)) error {
	if ids == nil {
		ids = s.columnar()
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	for i, id := range ids {
		progress(int64(i), int64(len(ids)))
		if err := s.vacuumTable(ctx, id); err != nil {
			return err
		}
	}
	s.compactor.mu.Lock() // the background's compaction holds what it replaced until it ends
	s.runSweeps()
	s.compactor.mu.Unlock()
	if err := s.flushLog(ctx); err != nil {
		return err
	}
	if err := s.filesDeleted(ctx); err != nil {
		return err
	}
	progress(int64(len(ids)), int64(len(ids)))
	return s.failed.get()
}

// columnar lists the tables that have segments.
func (s *Store) columnar() []table.ID {
	var ids []table.ID
	for _, v := range s.current.Load().tables {
		if v.schema.Layout == table.Columnar {
			ids = append(ids, v.schema.ID)
		}
	}
	return ids
}

func (s *Store) vacuumTable(ctx context.Context, id table.ID) error {
	if err := s.writable(); err != nil {
		return err
	}
	if err := s.flushTable(ctx, id); err != nil {
		return err
	}
	for range maxVacuumRounds {
		n, err := s.compactTable(ctx, id, true)
		if err != nil {
			return err
		}
		s.runSweeps()
		if n == 0 {
			return nil
		}
	}
	return nil
}

// flushLog gives the log's copies of flushed rows back and waits for it, if
// there are any to speak of.
func (s *Store) flushLog(ctx context.Context) error {
	if s.sweeper.garbage.Swap(0) < garbageBytes {
		return nil
	}
	done, err := s.db.AsyncFlush()
	if err != nil {
		return err
	}
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
			if err := s.goOn(ctx); err != nil {
				return err
			}
		}
	}
}

// deletedWait is how long VACUUM waits for files to be deleted, which readers
// may keep.
const deletedWait = 2 * time.Second

// filesDeleted waits until Pebble has deleted the files that nobody needs.
func (s *Store) filesDeleted(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < deletedWait; s.rest(5 * time.Millisecond) {
		if err := s.goOn(ctx); err != nil {
			return err
		}
		if m := s.db.Metrics(); m.Table.ObsoleteCount+m.Table.ZombieCount+m.WAL.ObsoleteFiles == 0 {
			return nil
		}
	}
	return nil
}
