package session

import (
	"context"
	"runtime"

	"tsdb/colstore"
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// transaction is the state between BEGIN and COMMIT, or of one statement or
// pipeline outside a block.
type transaction struct {
	block     bool // BEGIN was given: it outlives the statement
	several   bool // a simple query of several statements: SAVEPOINT is still refused
	failed    bool // an error ended a block: only ROLLBACK and kin are served
	queried   bool // a statement has read or written: the mode is fixed
	readOnly  bool
	isolation string
	start     int64 // microseconds since 1970: now()

	store *colstore.Tx // nil until the first write

	// local is the catalog as this transaction has changed it, base what it
	// started from; both nil without DDL. locked: the DDL token is held.
	base, local *catalog.Snapshot
	locked      bool

	vals  settingValues // as they were at the start, for ROLLBACK
	saves []savepoint

	// deferred are checks of foreign keys that wait for COMMIT; constraints and
	// allConstraints (1: deferred, -1: immediate) are what SET CONSTRAINTS said.
	deferred       []*pendingCheck
	deferredGone   []*parentCheck // keys that children may have lost
	constraints    map[types.OID]bool
	allConstraints int

	fixed *view // REPEATABLE READ: what every statement reads, but for what the transaction wrote

	// Guarded by tableLocks.mu.
	tables     []types.OID // whose locks it holds
	waitsFor   types.OID   // the table that it wants to be alone on
	waitsOwner bool        // it waits for the transaction that changes the catalog
}

type savepoint struct {
	name  string
	mark  int
	local *catalog.Snapshot
	vals  settingValues
	wait  waiting
}

// begin makes sure that a transaction is open.
func (s *Session) begin() *transaction {
	if s.tx == nil {
		s.tx = &transaction{start: micros(s.e.now()), vals: s.vals, isolation: s.mustValue("default_transaction_isolation"),
			readOnly: s.boolValue("default_transaction_read_only")}
		s.tctx.Now = s.tx.start
	}
	return s.tx
}

func (s *Session) isolation() string {
	if s.tx != nil {
		return s.tx.isolation
	}
	return s.mustValue("default_transaction_isolation")
}

func (s *Session) readOnly() bool {
	if s.tx != nil {
		return s.tx.readOnly
	}
	return s.boolValue("default_transaction_read_only")
}

func (s *Session) setIsolation(level string) error {
	if s.tx != nil {
		s.tx.isolation = level
	}
	return nil
}

func (s *Session) setReadOnly(v bool) error {
	if s.tx != nil {
		s.tx.readOnly = v
	}
	return nil
}

// catalog returns the catalog as this session sees it now.
func (s *Session) catalog() *catalog.Snapshot {
	if s.tx != nil && s.tx.local != nil {
		return s.tx.local
	}
	return s.e.published.Load()
}

// writable refuses a command in a read-only transaction.
func (s *Session) writable(command string) error {
	if s.readOnly() {
		return pgerr.New(pgerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", command)
	}
	return nil
}

// writeTx returns the store's transaction, beginning it at the first write.
func (s *Session) writeTx() *colstore.Tx {
	tx := s.begin()
	if tx.store == nil {
		tx.store = s.e.store.Begin()
		if tx.fixed != nil { // what is written from here on goes over it
			tx.store.SnapshotAt(tx.fixed.snap).Close()
		}
	}
	return tx.store
}

// lockCatalog takes the right to change the catalog until the transaction
// ends; another transaction with DDL is waited for.
func (s *Session) lockCatalog(ctx context.Context) error {
	tx := s.begin()
	if tx.locked {
		if tx.local == nil { // a ROLLBACK TO went back before the first DDL
			tx.local = tx.base
		}
		return nil
	}
	if err := s.e.locks.enterCatalog(tx); err != nil {
		return s.lockError(err)
	}
	ctx, stop := s.withLockTimeout(ctx)
	defer stop()
	select {
	case <-s.e.ddl:
		s.e.locks.leaveCatalog(tx, true)
	case <-ctx.Done():
		s.e.locks.leaveCatalog(tx, false)
		return context.Cause(ctx)
	}
	tx.locked = true
	tx.base = s.e.published.Load()
	tx.local = tx.base
	s.writeTx()
	return nil
}

// commit ends the transaction. After an error it is rolled back.
func (s *Session) commit(ctx context.Context) error {
	tx := s.tx
	if tx == nil {
		return nil
	}
	if tx.failed {
		s.rollback()
		return nil
	}
	s.closePortals()
	err := s.checkDeferred(ctx, nil)
	if err == nil {
		err = s.endTransactionTemp(ctx)
	}
	if err == nil {
		err = s.commitStore(ctx, tx)
	}
	if err != nil {
		err = s.wrap(ctx, err)
		s.rollback()
		return err
	}
	s.finish(tx)
	if s.vals.local != nil {
		s.vals.local = nil
		s.derive()
	}
	return nil
}

func (s *Session) commitStore(ctx context.Context, tx *transaction) error {
	if tx.store == nil {
		return nil
	}
	var publish func(show func())
	if tx.local != nil && tx.local != tx.base {
		for _, r := range catalog.Changes(tx.base, tx.local) {
			if err := tx.store.SetMeta(r.Key, r.Value); err != nil {
				return err
			}
		}
		next := tx.local
		publish = func(show func()) { s.e.publish(next, show) }
	}
	return s.lockError(tx.store.Commit(ctx, s.mustValue("synchronous_commit") != "off", publish))
}

// finish releases what a transaction holds.
func (s *Session) finish(tx *transaction) {
	if tx.fixed != nil {
		tx.fixed.snap.Close()
		tx.fixed = nil
	}
	s.e.locks.release(tx)
	if tx.locked {
		s.e.ddl <- struct{}{}
	}
	s.tx = nil
}

// rollback undoes the transaction, if there is one.
func (s *Session) rollback() {
	s.closePortals()
	tx := s.tx
	if tx == nil {
		return
	}
	if tx.store != nil {
		tx.store.Rollback()
	}
	s.finish(tx)
	s.vals = tx.vals
	s.vals.local = nil
	s.derive()
}

// failed ends the transaction after an error: a block waits for ROLLBACK, anything else is undone.
func (s *Session) failTransaction() {
	if s.tx == nil {
		return
	}
	if !s.tx.block {
		s.rollback()
		return
	}
	s.tx.failed = true
	s.closePortals()
}

// view is what one statement reads: catalog and storage of the same instant.
type view struct {
	cat    *catalog.Snapshot
	snap   *colstore.Snapshot
	shared bool // closed by the transaction
	// queries are the rows of the statement's data-modifying WITH queries, by ID.
	queries map[int][]*vector.Batch
}

func (v *view) close() {
	if !v.shared && v.snap != nil {
		v.snap.Close()
		v.snap = nil
	}
}

// view takes the snapshot for the next statement.
func (s *Session) view() *view {
	tx := s.begin()
	tx.queried = true
	if tx.isolation == "repeatable read" {
		if tx.fixed == nil {
			tx.fixed = s.e.consistent(s.e.store.Snapshot)
			tx.fixed.shared = true
		}
		return tx.overFixed()
	}
	take := s.e.store.Snapshot
	if tx.store != nil {
		take = tx.store.Snapshot
	}
	if tx.local != nil {
		return &view{cat: tx.local, snap: take()}
	}
	return s.e.consistent(take)
}

// overFixed is the fixed view with what the transaction has written itself.
func (tx *transaction) overFixed() *view {
	if tx.store == nil {
		return tx.fixed
	}
	v := &view{cat: tx.fixed.cat, snap: tx.store.SnapshotAt(tx.fixed.snap)}
	if tx.local != nil {
		v.cat = tx.local
	}
	v.shared = v.snap == tx.fixed.snap
	return v
}

// publish makes a catalog and the storage that belongs to it visible. Between
// the two, changes is odd.
func (e *Engine) publish(cat *catalog.Snapshot, show func()) {
	e.changes.Add(1)
	show()
	e.published.Store(cat)
	e.changes.Add(1)
}

// consistent takes a storage snapshot and the catalog that belongs to it: no
// catalog was published meanwhile, nor half of one.
func (e *Engine) consistent(take func() *colstore.Snapshot) *view {
	for {
		n := e.changes.Load()
		if n%2 == 1 { // for some instructions of another goroutine
			runtime.Gosched()
			continue
		}
		cat := e.published.Load()
		snap := take()
		if e.changes.Load() == n {
			return &view{cat: cat, snap: snap}
		}
		snap.Close()
	}
}
