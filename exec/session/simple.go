package session

import (
	"context"
	"time"

	"tsdb/sql"
)

// Simple runs a query string of the simple protocol: all its statements, in one implicit
// transaction where they do not say otherwise. The error, if any, is *pgerr.Error and already rolled back as PostgreSQL does.
func (s *Session) Simple(ctx context.Context, query string, r Result) error {
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	defer s.reportChanges()
	s.setActivity("active", query)
	defer func() { s.setActivity(s.activityState(), "") }()
	s.failedWait = false
	s.dropStatement("")
	s.closePortal("")
	defer s.logSlow(time.Now(), "simple", query)
	if err := s.simple(ctx, query, r); err != nil {
		err = s.wrap(ctx, err)
		s.e.metrics.failed(err)
		s.failTransaction()
		return err
	}
	return nil
}

func (s *Session) activityState() string {
	switch s.TxStatus() {
	case 'T':
		return "idle in transaction"
	case 'E':
		return "idle in transaction (aborted)"
	}
	return "idle"
}

func (s *Session) simple(ctx context.Context, query string, r Result) error {
	sts, err := s.e.parse(query)
	if err != nil {
		s.begin()
		return err
	}
	if len(sts) == 0 {
		return r.Empty()
	}
	for i, st := range sts {
		last, start := i == len(sts)-1, time.Now()
		if tx := s.begin(); !last && !tx.block {
			tx.several = true
		}
		tag, err := s.statement(ctx, st, r)
		if err != nil {
			return err
		}
		if last && s.tx != nil && !s.tx.block {
			if err := s.commit(ctx); err != nil {
				return err
			}
		}
		s.e.metrics.observe(kindOf(st.Node), time.Since(start))
		if err := r.Complete(tag); err != nil {
			return err
		}
	}
	return nil
}

// statement analyses and runs one statement to its end and returns its tag.
func (s *Session) statement(ctx context.Context, st *sql.Statement, r Result) (string, error) {
	ctx, stop := s.withTimeout(ctx)
	defer stop()
	s.stmtTime = micros(s.e.now())
	tag, err := s.runStatement(ctx, st, r)
	if err != nil {
		return "", s.wrap(ctx, err)
	}
	return tag, nil
}

func (s *Session) runStatement(ctx context.Context, st *sql.Statement, r Result) (string, error) {
	if s.tx != nil && s.tx.failed && !exitsTransaction(st.Node) {
		return "", inFailedTransaction()
	}
	if !planned(st.Node) {
		return s.utility(ctx, &analyzed{st: st, cols: s.utilityColumns(st.Node)}, r)
	}
	v := s.view()
	a, err := s.analyze(st, nil, v.cat)
	if err != nil {
		v.close()
		return "", err
	}
	if err := noParameters(a); err != nil {
		v.close()
		return "", err
	}
	return s.run(ctx, a, nil, v, r)
}
