package session

import (
	"runtime"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore"
	"tsdb/colstore/table"
	"tsdb/planner"
	"tsdb/planner/logical"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgcatalog"
	"tsdb/sql/types"
)

// analyzed is a statement that is ready to run, until the catalog or a
// setting that binding depends on changes.
type analyzed struct {
	st     *sql.Statement
	bound  *planner.Bound // nil for commands that the session runs itself
	params []types.Type
	cols   []logical.Column

	cat *catalog.Snapshot
	key string // settings at binding
}

// parse splits and parses a query string through the cache, which never
// holds a text with a password.
func (e *Engine) parse(query string) ([]*sql.Statement, error) {
	if len(query) < 1<<12 && strings.Contains(strings.ToLower(query), "password") {
		return sql.Parse(query)
	}
	return e.parsed.Parse(query)
}

// planned reports whether the planner binds a statement.
func planned(n *pg_query.Node) bool {
	switch n.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		return selectInto(n.GetSelectStmt()) == nil
	case *pg_query.Node_InsertStmt, *pg_query.Node_UpdateStmt, *pg_query.Node_DeleteStmt,
		*pg_query.Node_MergeStmt, *pg_query.Node_ExplainStmt:
		return true
	}
	return false
}

// analyze binds a statement against a catalog.
func (s *Session) analyze(st *sql.Statement, declared []types.OID, cat *catalog.Snapshot) (*analyzed, error) {
	a := &analyzed{st: st, cat: cat, key: s.settingsKey}
	if !planned(st.Node) {
		a.cols = s.utilityColumns(st.Node)
		return a, nil
	}
	b, err := s.bind(st, declared, cat)
	if err != nil {
		return nil, err
	}
	a.bound, a.params, a.cols = b, b.Params, b.Cols
	if b.Kind == planner.Explain && a.cols == nil {
		a.cols = []logical.Column{{Name: "QUERY PLAN", Type: types.T(types.Text)}}
	}
	return a, nil
}

func (s *Session) bind(st *sql.Statement, declared []types.OID, cat *catalog.Snapshot) (*planner.Bound, error) {
	cacheable := st.Bulk == nil && len(st.Text) <= boundText && cat == s.e.published.Load() && !timeLiteral(st.Text)
	key := ""
	if cacheable {
		key = boundKey(st, declared, cat, s.settingsKey)
		if _, own := s.tempSchema(cat); own {
			key = s.tempName + key // names mean something else here
		}
		if b, ok := s.e.bound.get(key); ok {
			return b, nil
		}
	}
	b, err := planner.Bind(s.env(cat, s.functionCtx(), nil), st, declared)
	if err == nil && cacheable {
		s.e.bound.put(key, b)
	}
	return b, err
}

func boundKey(st *sql.Statement, declared []types.OID, cat *catalog.Snapshot, settings string) string {
	var k strings.Builder
	k.WriteString(strconv.FormatUint(cat.Version(), 36))
	for _, d := range declared {
		k.WriteByte(',')
		k.WriteString(strconv.FormatUint(uint64(d), 36))
	}
	k.WriteByte(0)
	k.WriteString(settings)
	k.WriteByte(0)
	k.WriteString(st.Text)
	return k.String()
}

// timeLiteral reports whether a text may hold a literal such as 'now' whose
// value is fixed while binding.
func timeLiteral(text string) bool {
	l := strings.ToLower(text)
	for _, w := range []string{"now'", "today'", "tomorrow'", "yesterday'"} {
		if strings.Contains(l, w) {
			return true
		}
	}
	return false
}

// env is what binding and planning read. snap is nil while only binding.
func (s *Session) env(cat *catalog.Snapshot, c *functions.Ctx, snap *colstore.Snapshot) *planner.Env {
	temp := types.OID(0)
	if sc, ok := s.tempSchema(cat); ok {
		temp = sc.OID
	}
	return &planner.Env{Catalog: cat, SearchPath: s.searchOIDs(cat), Temp: temp, Ctx: c, Virtual: pgcatalog.Find,
		Pruning:  s.boolValue("tsdb.pruning"),
		Sequence: func(q *catalog.Sequence, schema string) catalog.VirtualRelation { return sequenceRelation{q, schema} },
		Stats: func(id table.ID) table.Stats {
			if snap == nil {
				return table.Stats{}
			}
			return snap.Stats(id)
		}}
}

// functionCtx makes what functions of the next statement read.
func (s *Session) functionCtx() *functions.Ctx {
	tx := s.begin()
	c := &functions.Ctx{Context: s.tctx, StatementTime: s.stmtTime, Session: s,
		Clock: func() int64 { return micros(s.e.now()) }}
	c.Now = tx.start
	if c.StatementTime == 0 {
		c.StatementTime = tx.start
	}
	return c
}

func (s *Session) workers() int {
	if n := s.intValue("tsdb.workers"); n > 0 {
		return int(n)
	}
	return runtime.GOMAXPROCS(0)
}

// sameRow reports whether two shapes give a client the same RowDescription.
func sameRow(a, b []logical.Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Type.OID != b[i].Type.OID || a[i].Type.Mod != b[i].Type.Mod {
			return false
		}
	}
	return true
}
