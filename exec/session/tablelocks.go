package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"tsdb/colstore"
	"tsdb/colstore/table"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// tableLocks keep statements that change rows and statements that change a
// table's shape apart: writers of rows hold a table's lock together, ALTER,
// DROP and TRUNCATE alone, both until their transaction ends. Readers need
// none: they have snapshots.
//
// Only the transaction with the right to change the catalog (Engine.ddl) takes
// locks alone. So there is at most one such transaction at a time, and every
// cycle of waiting goes through it, which is how deadlocks are found. A cycle may
// also pass through the store's locks on rows: whoever waits to be alone looks
// for one now and then.
type tableLocks struct {
	mu     sync.Mutex
	tables map[types.OID]*tableLock
	owner  *transaction // holds Engine.ddl
}

type tableLock struct {
	writers map[*transaction]*colstore.Tx
	alone   *transaction
	waiting bool          // somebody wants to be alone
	changed chan struct{} // closed when a holder leaves
}

func newTableLocks() *tableLocks { return &tableLocks{tables: map[types.OID]*tableLock{}} }

// lock returns the lock of a table; mu is held.
func (l *tableLocks) lock(oid types.OID) *tableLock {
	t := l.tables[oid]
	if t == nil {
		t = &tableLock{writers: map[*transaction]*colstore.Tx{}, changed: make(chan struct{})}
		l.tables[oid] = t
	}
	return t
}

// blocks reports whether tx, which is about to wait for the owner of the right
// to change the catalog, is what that owner waits for.
func (l *tableLocks) blocks(tx *transaction) bool {
	o := l.owner
	if o == nil || o == tx || o.waitsFor == 0 {
		return false
	}
	return l.lock(o.waitsFor).writers[tx] != nil
}

// write takes the lock of a table together with other writers. waited reports
// that another transaction was in the way.
//
// Errors: table.ErrDeadlock, ctx's cause.
func (l *tableLocks) write(ctx context.Context, tx *transaction, store *colstore.Tx, oid types.OID) (waited bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		t := l.lock(oid)
		if t.writers[tx] != nil || t.alone == tx {
			return waited, nil
		}
		// Who holds nothing lets the one that waits to be alone go first.
		if t.alone == nil && (!t.waiting || len(tx.tables) > 0) {
			t.writers[tx] = store
			tx.tables = append(tx.tables, oid)
			return waited, nil
		}
		if l.blocks(tx) {
			return waited, table.ErrDeadlock
		}
		waited = true
		tx.waitsOwner = true
		err := l.wait(ctx, t.changed, nil)
		tx.waitsOwner = false
		if err != nil {
			return waited, err
		}
	}
}

// only takes the lock of a table alone; tx is the owner.
//
// Errors: as write.
func (l *tableLocks) only(ctx context.Context, tx *transaction, oid types.OID) error {
	look := time.NewTicker(deadlockTimeout)
	defer look.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		t := l.lock(oid)
		others := len(t.writers)
		if t.writers[tx] != nil {
			others--
		}
		if t.alone == tx {
			return nil
		}
		if t.alone == nil && others == 0 {
			if t.writers[tx] == nil {
				tx.tables = append(tx.tables, oid)
			}
			t.alone = tx
			return nil
		}
		for w, store := range t.writers {
			if w != tx && (w.waitsOwner || tx.store != nil && store.WaitsFor(tx.store)) {
				return table.ErrDeadlock
			}
		}
		t.waiting, tx.waitsFor = true, oid
		err := l.wait(ctx, t.changed, look.C)
		t.waiting, tx.waitsFor = false, 0
		if err != nil {
			close(t.changed) // writers that let this one go first
			t.changed = make(chan struct{})
			return err
		}
	}
}

// deadlockTimeout is how often who waits to be alone looks for a cycle through
// the store's locks, as PostgreSQL's setting of that name.
const deadlockTimeout = time.Second

// wait gives mu up until something changes, or it is time to look again.
func (l *tableLocks) wait(ctx context.Context, changed chan struct{}, look <-chan time.Time) error {
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-look:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// enterCatalog notes that tx is about to wait for the right to change the
// catalog.
//
// Errors: table.ErrDeadlock.
func (l *tableLocks) enterCatalog(tx *transaction) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blocks(tx) {
		return table.ErrDeadlock
	}
	tx.waitsOwner = true
	return nil
}

// leaveCatalog ends that wait; got says whether tx is now the owner.
func (l *tableLocks) leaveCatalog(tx *transaction, got bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tx.waitsOwner = false
	if got {
		l.owner = tx
	}
}

// release gives up all locks of a transaction.
func (l *tableLocks) release(tx *transaction) {
	if len(tx.tables) == 0 && !tx.locked {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == tx {
		l.owner = nil
	}
	for _, oid := range tx.tables {
		t := l.tables[oid]
		delete(t.writers, tx)
		if t.alone == tx {
			t.alone = nil
		}
		close(t.changed)
		t.changed = make(chan struct{})
		if len(t.writers) == 0 && t.alone == nil && !t.waiting {
			delete(l.tables, oid)
		}
	}
	tx.tables = nil
}

// lockTable keeps the shape of a table whose rows are to be changed.
func (s *Session) lockTable(ctx context.Context, oid types.OID) error {
	ctx, stop := s.withLockTimeout(ctx)
	defer stop()
	store := s.writeTx()
	_, err := s.e.locks.write(ctx, s.tx, store, oid)
	return s.lockError(err)
}

// lockTableAlone waits for all who change a table's rows; DDL only.
//
// Errors: 55006 if another session rewrites the table.
func (s *Session) lockTableAlone(ctx context.Context, oid types.OID) error {
	if err := s.e.rewritten(oid, s.tx); err != nil {
		return err
	}
	ctx, stop := s.withLockTimeout(ctx)
	defer stop()
	return s.lockError(s.e.locks.only(ctx, s.tx, oid))
}

// withLockTimeout bounds a wait for locks by lock_timeout.
func (s *Session) withLockTimeout(ctx context.Context) (context.Context, func()) {
	ms := s.intValue("lock_timeout")
	if ms <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(time.Duration(ms)*time.Millisecond, func() {
		cancel(pgerr.New(pgerr.LockNotAvailable, "canceling statement due to lock timeout"))
	})
	return ctx, func() {
		t.Stop()
		cancel(nil)
	}
}

// lockError words what waiting for another transaction may end with.
func (s *Session) lockError(err error) error {
	switch {
	case errors.Is(err, table.ErrDeadlock):
		return pgerr.New(pgerr.DeadlockDetected, "deadlock detected").
			WithHint("Another transaction waits for this one; repeat the transaction.").WithCause(err)
	case errors.Is(err, table.ErrRowsChanged):
		return pgerr.New(pgerr.SerializationFailure, "could not serialize access due to concurrent update").WithCause(err)
	}
	return err
}
