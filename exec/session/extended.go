package session

import (
	"context"
	"time"

	"tsdb/colstore/vector"
	"tsdb/planner"
	"tsdb/planner/logical"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// prepared is a statement of Parse or PREPARE.
type prepared struct {
	st       *sql.Statement // nil: an empty query string
	declared []types.OID    // as the client gave them
	a        *analyzed      // nil for an empty one
	fromSQL  bool
}

// portal is a bound statement that Execute runs.
type portal struct {
	p       *prepared
	a       *analyzed
	params  []planner.ParamValue
	formats []int16 // as given
	cur     *cursor // a query that has begun
	ran     bool
}

// extended runs one message of the extended protocol.
func (s *Session) extended(ctx context.Context, f func(context.Context) error) error {
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s.begin()
	if err := s.wrap(ctx, f(ctx)); err != nil {
		s.e.metrics.failed(err)
		return err
	}
	return nil
}

// Parse prepares a statement ("" is the unnamed one).
func (s *Session) Parse(ctx context.Context, name, query string, params []types.OID) error {
	return s.extended(ctx, func(context.Context) error { return s.parse(name, query, params) })
}

func (s *Session) parse(name, query string, params []types.OID) error {
	sts, err := s.e.parse(query)
	if err != nil {
		return err
	}
	if len(sts) > 1 {
		return pgerr.New(pgerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	p := &prepared{declared: params}
	if len(sts) == 1 {
		p.st = sts[0]
		if s.tx.failed && !exitsTransaction(p.st.Node) {
			return inFailedTransaction()
		}
		if p.a, err = s.analyze(p.st, params, s.catalog()); err != nil {
			return err
		}
		if p.a.bound == nil && p.st.NumParams > 0 && p.st.Node.GetPrepareStmt() == nil {
			return missingParameter(p.st)
		}
	}
	return s.keepStatement(name, p)
}

func (s *Session) keepStatement(name string, p *prepared) error {
	if _, dup := s.prepared[name]; dup && name != "" {
		return pgerr.New(pgerr.DuplicatePreparedStatement, `prepared statement "%s" already exists`, name)
	}
	s.prepared[name] = p
	return nil
}

func (s *Session) findStatement(name string) (*prepared, error) {
	p, ok := s.prepared[name]
	if !ok && name == "" {
		return nil, pgerr.New(pgerr.InvalidSQLStatementName, "unnamed prepared statement does not exist")
	}
	if !ok {
		return nil, pgerr.New(pgerr.InvalidSQLStatementName, `prepared statement "%s" does not exist`, name)
	}
	return p, nil
}

// refresh binds a prepared statement again if cat is not the catalog or the
// settings not those that it was bound with, and refuses a change of its result.
func (s *Session) refresh(p *prepared, cat *catalog.Snapshot) error {
	if p.a == nil || p.a.bound == nil || p.a.cat == cat && p.a.key == s.settingsKey {
		return nil
	}
	declared := make([]types.OID, len(p.a.params))
	for i, t := range p.a.params {
		declared[i] = t.OID
	}
	a, err := s.analyze(p.st, declared, cat)
	if err != nil {
		return err
	}
	if !sameRow(a.cols, p.a.cols) {
		return pgerr.New(pgerr.FeatureNotSupported, "cached plan must not change result type")
	}
	p.a = a
	return nil
}

// DescribeStatement describes a prepared statement.
func (s *Session) DescribeStatement(ctx context.Context, name string) (d *Describe, err error) {
	err = s.extended(ctx, func(context.Context) error {
		p, err := s.findStatement(name)
		if err != nil {
			return err
		}
		d = &Describe{}
		if p.a == nil {
			return nil
		}
		if s.tx.failed && p.a.cols != nil {
			return inFailedTransaction()
		}
		if err := s.refresh(p, s.catalog()); err != nil {
			return err
		}
		for _, t := range p.a.params {
			d.Params = append(d.Params, t.OID)
		}
		d.Cols = p.a.cols
		return nil
	})
	return d, err
}

// Bind makes a portal. Formats follow the protocol's rules (none, one for all, one each); a nil value is NULL.
func (s *Session) Bind(ctx context.Context, name, stmt string, formats []int16, values [][]byte, results []int16) error {
	return s.extended(ctx, func(context.Context) error { return s.bindPortal(name, stmt, formats, values, results) })
}

func (s *Session) bindPortal(name, stmt string, formats []int16, values [][]byte, results []int16) error {
	p, err := s.findStatement(stmt)
	if err != nil {
		return err
	}
	if len(formats) > 1 && len(formats) != len(values) {
		return pgerr.New(pgerr.ProtocolViolation, "bind message has %d parameter formats but %d parameters", len(formats), len(values))
	}
	if p.a != nil && s.tx.failed && !exitsTransaction(p.st.Node) {
		return inFailedTransaction()
	}
	if _, dup := s.portals[name]; dup && name != "" {
		return pgerr.New(pgerr.DuplicateCursor, `cursor "%s" already exists`, name)
	}
	s.closePortal(name)
	if p.a != nil {
		if err := s.refresh(p, s.catalog()); err != nil {
			return err
		}
	}
	po := &portal{p: p, a: p.a, formats: results}
	want, cols := 0, 0
	if p.a != nil {
		want, cols = len(p.a.params), len(p.a.cols)
	}
	if len(values) != want {
		return pgerr.New(pgerr.ProtocolViolation, `bind message supplies %d parameters, but prepared statement "%s" requires %d`,
			len(values), stmt, want)
	}
	if len(results) > 1 && len(results) != cols {
		return pgerr.New(pgerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", len(results), cols)
	}
	for i, v := range values {
		pv, err := s.paramValue(p.a.params[i], formatOf(formats, i), v, i+1, name)
		if err != nil {
			return err
		}
		po.params = append(po.params, pv)
	}
	s.portals[name] = po
	return nil
}

func formatOf(formats []int16, i int) int16 {
	switch len(formats) {
	case 0:
		return 0
	case 1:
		return formats[0]
	}
	return formats[i]
}

// paramValue decodes one parameter to a one-row vector.
func (s *Session) paramValue(t types.Type, format int16, value []byte, number int, portal string) (planner.ParamValue, error) {
	v := vector.New(t.Kind(), 1)
	if value == nil {
		v.AppendNull()
		return v, nil
	}
	var err error
	switch format {
	case 0:
		if err = validText(value); err == nil {
			err = types.ParseText(v, t, value, &s.tctx)
		}
	case 1:
		err = types.ParseWire(v, t, value, &s.tctx)
		if err != nil {
			e := *pgerr.From(err)
			if e.Message == "incorrect binary data format" {
				e.Message += " in bind parameter " + itoa(int64(number))
			}
			err = &e
		}
	default:
		return nil, pgerr.New(pgerr.InvalidParameterValue, "unsupported format code: %d", format)
	}
	if err != nil {
		e := *pgerr.From(err)
		if portal == "" {
			e.Where = "unnamed portal parameter $" + itoa(int64(number))
		} else {
			e.Where = `portal "` + portal + `" parameter $` + itoa(int64(number))
		}
		if format == 0 && len(value) <= maxFieldText {
			e.Where += " = '" + string(value) + "'"
		}
		return nil, &e
	}
	return v, nil
}

// DescribePortal describes a portal.
func (s *Session) DescribePortal(name string) (d *Describe, err error) {
	err = s.extended(context.Background(), func(context.Context) error {
		po, err := s.findPortal(name)
		if err != nil {
			return err
		}
		d = &Describe{}
		if po.a == nil {
			return nil
		}
		d.Cols = po.a.cols
		for i := range d.Cols {
			d.Formats = append(d.Formats, formatOf(po.formats, i))
		}
		return nil
	})
	return d, err
}

func (s *Session) findPortal(name string) (*portal, error) {
	po, ok := s.portals[name]
	if !ok {
		return nil, pgerr.New(pgerr.InvalidCursorName, `portal "%s" does not exist`, name)
	}
	return po, nil
}

// Execute runs a portal to its end or for maxRows rows (0: all).
func (s *Session) Execute(ctx context.Context, name string, maxRows int64, r Result) error {
	return s.extended(ctx, func(ctx context.Context) error {
		po, err := s.findPortal(name)
		if err != nil {
			return err
		}
		if po.a == nil {
			return r.Empty()
		}
		if s.tx.failed && !exitsTransaction(po.p.st.Node) {
			return inFailedTransaction()
		}
		s.setActivity("active", po.p.st.Text)
		ctx, stop := s.withTimeout(ctx)
		defer stop()
		s.stmtTime = micros(s.e.now())
		start := time.Now()
		defer s.logSlow(start, "extended", po.p.st.Text)
		if err := s.execute(ctx, name, po, max(0, maxRows), r); err != nil {
			return s.wrap(ctx, err)
		}
		s.e.metrics.observe(kindOf(po.p.st.Node), time.Since(start))
		return nil
	})
}

func (s *Session) execute(ctx context.Context, name string, po *portal, maxRows int64, r Result) error {
	if po.a.bound != nil && po.a.bound.Kind == planner.Select && len(po.a.bound.With) == 0 {
		return s.executeQuery(ctx, po, maxRows, r)
	}
	if po.ran {
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, `portal "%s" cannot be run`, name)
	}
	po.ran = true
	var tag string
	var err error
	if po.a.bound == nil {
		tag, err = s.utility(ctx, po.a, r)
	} else {
		var v *view
		if v, err = s.portalView(po); err == nil {
			tag, err = s.run(ctx, po.a, po.params, v, r)
		}
	}
	if err != nil {
		return err
	}
	return r.Complete(tag)
}

// portalView takes the portal's view and binds again if the catalog changed since Bind.
func (s *Session) portalView(po *portal) (*view, error) {
	v := s.view()
	if po.a.cat == v.cat && po.a.key == s.settingsKey {
		return v, nil
	}
	declared := make([]types.OID, len(po.a.params))
	for i, t := range po.a.params {
		declared[i] = t.OID
	}
	a, err := s.analyze(po.p.st, declared, v.cat)
	if err == nil && !sameRow(a.cols, po.a.cols) {
		err = pgerr.New(pgerr.FeatureNotSupported, "cached plan must not change result type")
	}
	if err != nil {
		v.close()
		return nil, err
	}
	po.a = a
	return v, nil
}

func (s *Session) executeQuery(ctx context.Context, po *portal, maxRows int64, r Result) error {
	if po.cur == nil {
		v, err := s.portalView(po)
		if err != nil {
			return err
		}
		if po.cur, err = s.open(po.a.bound, po.params, v, s.functionCtx(), false); err != nil {
			return err
		}
		if err := po.cur.start(ctx); err != nil {
			return err
		}
	}
	if err := r.Columns(po.a.cols); err != nil {
		return err
	}
	n, err := po.cur.fetch(ctx, maxRows, r.Rows)
	if err != nil {
		return err
	}
	if !po.cur.done {
		return r.Suspended()
	}
	return r.Complete("SELECT " + itoa(n))
}

// CloseStatement drops a prepared statement; unknown names are fine.
func (s *Session) CloseStatement(name string) {
	s.inside.Lock()
	defer s.inside.Unlock()
	s.dropStatement(name)
}

func (s *Session) dropStatement(name string) { delete(s.prepared, name) }

// ClosePortal drops a portal; unknown names are fine.
func (s *Session) ClosePortal(name string) {
	s.inside.Lock()
	defer s.inside.Unlock()
	s.closePortal(name)
}

func (s *Session) closePortal(name string) {
	if po, ok := s.portals[name]; ok {
		if po.cur != nil {
			po.cur.close()
		}
		delete(s.portals, name)
	}
}

func (s *Session) closePortals() {
	for name := range s.portals {
		s.closePortal(name)
	}
}

// Sync ends the implicit transaction of the extended protocol: commits, or rolls back after an error.
//
// Errors: what COMMIT may return.
func (s *Session) Sync(ctx context.Context) error {
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	defer s.reportChanges()
	defer func() { s.setActivity(s.activityState(), "") }()
	s.stmtTime = 0
	if s.failedWait {
		s.failedWait = false
		s.failTransaction()
		return nil
	}
	if s.tx == nil || s.tx.block {
		return nil
	}
	if err := s.commit(ctx); err != nil {
		s.e.metrics.failed(err)
		return err
	}
	return nil
}

// Fail tells the session that an extended-protocol message failed: the implicit transaction is to be rolled back.
func (s *Session) Fail() {
	s.inside.Lock()
	defer s.inside.Unlock()
	s.failedWait = true
	s.failTransaction()
}

// resultShape is one text column.
func textColumns(names ...string) []logical.Column {
	out := make([]logical.Column, len(names))
	for i, n := range names {
		out[i] = logical.Column{Name: n, Type: types.T(types.Text)}
	}
	return out
}
