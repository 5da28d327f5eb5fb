package session

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/pgerr"
)

// exitsTransaction reports whether a statement is served in a failed transaction.
func exitsTransaction(n *pg_query.Node) bool {
	switch n.GetTransactionStmt().GetKind() {
	case pg_query.TransactionStmtKind_TRANS_STMT_COMMIT, pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK,
		pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO, pg_query.TransactionStmtKind_TRANS_STMT_PREPARE:
		return true
	}
	return false
}

func inFailedTransaction() error {
	return pgerr.New(pgerr.InFailedSQLTransaction, "current transaction is aborted, commands ignored until end of transaction block")
}

// transactionCommand runs BEGIN, COMMIT, SAVEPOINT and kin and returns the tag.
func (s *Session) transactionCommand(ctx context.Context, n *pg_query.TransactionStmt) (string, error) {
	switch n.Kind {
	case pg_query.TransactionStmtKind_TRANS_STMT_BEGIN:
		return "BEGIN", s.beginBlock(n.Options)
	case pg_query.TransactionStmtKind_TRANS_STMT_START:
		return "START TRANSACTION", s.beginBlock(n.Options)
	case pg_query.TransactionStmtKind_TRANS_STMT_COMMIT:
		return s.commitBlock(ctx, n.Chain)
	case pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		return "ROLLBACK", s.rollbackBlock(n.Chain)
	case pg_query.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		return "SAVEPOINT", s.savepoint(n.SavepointName)
	case pg_query.TransactionStmtKind_TRANS_STMT_RELEASE:
		return "RELEASE", s.release(n.SavepointName)
	case pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return "ROLLBACK", s.rollbackTo(n.SavepointName)
	case pg_query.TransactionStmtKind_TRANS_STMT_PREPARE:
		return "", pgerr.Unsupported("PREPARE TRANSACTION")
	case pg_query.TransactionStmtKind_TRANS_STMT_COMMIT_PREPARED:
		return "", pgerr.Unsupported("COMMIT PREPARED")
	case pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_PREPARED:
		return "", pgerr.Unsupported("ROLLBACK PREPARED")
	}
	return "", pgerr.Unsupported("this transaction command")
}

func (s *Session) beginBlock(options []*pg_query.Node) error {
	tx := s.begin()
	if tx.block {
		s.warn(pgerr.ActiveSQLTransaction, "there is already a transaction in progress")
	}
	if err := s.transactionModes(options, "transaction_"); err != nil {
		return err
	}
	tx.block, tx.several = true, false
	return nil
}

// transactionModes applies ISOLATION LEVEL, READ ONLY and DEFERRABLE; prefix
// is that of the settings they stand for.
func (s *Session) transactionModes(options []*pg_query.Node, prefix string) error {
	for _, o := range options {
		d := o.GetDefElem()
		v := constText(d.GetArg())
		switch d.GetDefname() {
		case "transaction_isolation":
			if err := s.set(prefix+"isolation", v, false); err != nil {
				return err
			}
		case "transaction_read_only":
			if err := s.set(prefix+"read_only", v, false); err != nil {
				return err
			}
		case "transaction_deferrable":
			if err := s.set(prefix+"deferrable", v, prefix == "transaction_"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Session) commitBlock(ctx context.Context, chain bool) (string, error) {
	tx := s.tx
	if tx == nil || !tx.block {
		if chain {
			return "", pgerr.New(pgerr.NoActiveSQLTransaction, "COMMIT AND CHAIN can only be used in transaction blocks")
		}
		s.warn(pgerr.NoActiveSQLTransaction, "there is no transaction in progress")
		return "COMMIT", s.commit(ctx)
	}
	tag := "COMMIT"
	if tx.failed {
		tag = "ROLLBACK"
	}
	if err := s.commit(ctx); err != nil {
		return "", err
	}
	s.chain(tx, chain)
	return tag, nil
}

func (s *Session) rollbackBlock(chain bool) error {
	tx := s.tx
	if tx == nil || !tx.block {
		if chain {
			return pgerr.New(pgerr.NoActiveSQLTransaction, "ROLLBACK AND CHAIN can only be used in transaction blocks")
		}
		s.warn(pgerr.NoActiveSQLTransaction, "there is no transaction in progress")
	}
	s.rollback()
	if tx != nil {
		s.chain(tx, chain)
	}
	return nil
}

// chain begins a block with the modes of the one that ended.
func (s *Session) chain(old *transaction, chain bool) {
	if chain {
		tx := s.begin()
		tx.block, tx.readOnly, tx.isolation = true, old.readOnly, old.isolation
	}
}

func (s *Session) needBlock(command string) error {
	if s.tx == nil || !s.tx.block {
		return pgerr.New(pgerr.NoActiveSQLTransaction, "%s can only be used in transaction blocks", command)
	}
	return nil
}

func (s *Session) savepoint(name string) error {
	if err := s.needBlock("SAVEPOINT"); err != nil {
		return err
	}
	sp := savepoint{name: name, local: s.tx.local, vals: s.vals, wait: s.tx.waiting()}
	sp.mark = s.writeTx().Savepoint()
	s.tx.saves = append(s.tx.saves, sp)
	return nil
}

func (s *Session) findSavepoint(name string) (int, error) {
	for i := len(s.tx.saves) - 1; i >= 0; i-- {
		if s.tx.saves[i].name == name {
			return i, nil
		}
	}
	return 0, pgerr.New(pgerr.InvalidSavepoint, `savepoint "%s" does not exist`, name)
}

func (s *Session) release(name string) error {
	if err := s.needBlock("RELEASE SAVEPOINT"); err != nil {
		return err
	}
	i, err := s.findSavepoint(name)
	if err != nil {
		return err
	}
	s.tx.saves = s.tx.saves[:i]
	return nil
}

// rollbackTo goes back to a savepoint, which stays.
func (s *Session) rollbackTo(name string) error {
	if err := s.needBlock("ROLLBACK TO SAVEPOINT"); err != nil {
		return err
	}
	i, err := s.findSavepoint(name)
	if err != nil {
		return err
	}
	s.closePortals()
	sp := s.tx.saves[i]
	s.tx.saves = s.tx.saves[:i+1]
	s.tx.store.RollbackTo(sp.mark)
	s.tx.local, s.tx.failed = sp.local, false
	s.tx.restore(sp.wait)
	s.vals = sp.vals
	s.derive()
	return nil
}
