package session

import (
	"context"
	"crypto/rand"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tsdb/colstore"
	"tsdb/colstore/kernels"
	"tsdb/exec/spill"
	"tsdb/planner"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgcatalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Engine is the state that all sessions share: store, catalog, caches, and who is connected.
type Engine struct {
	store *colstore.Store
	o     Options

	published atomic.Pointer[catalog.Snapshot]
	changes   atomic.Uint64 // of published: 2 each, odd while one is shown
	ddl       chan struct{} // holds one token: the right to change the catalog
	locks     *tableLocks

	parsed *sql.Cache
	bound  *lru[*planner.Bound]

	metrics metrics

	sequences sequences

	followRows int64 // tables with fewer rows are rewritten while writers wait

	mu       sync.Mutex // guards the fields below
	sessions map[int32]*Session
	rewrites map[types.OID]*rewriting // by table
	nextPID  int32
	closed   bool

	stopping chan struct{} // closed when Close begins
}

const (
	// boundEntries bounds the cache of bound statements. A dashboard's are
	// tens; more would keep statements that do not come back.
	boundEntries = 1024
	// boundText is the longest text whose bound form is kept.
	boundText = 16 << 10
)

const defaultQueryMemory = 1 << 30

// NewEngine loads the catalog from the store, creating it in a new one.
func NewEngine(store *colstore.Store, o Options) (*Engine, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.QueryMemory <= 0 {
		o.QueryMemory = defaultQueryMemory
	}
	if o.Connections <= 0 {
		o.Connections = 1000
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	e := &Engine{store: store, o: o, stopping: make(chan struct{}), ddl: make(chan struct{}, 1), locks: newTableLocks(), sessions: map[int32]*Session{}, rewrites: map[types.OID]*rewriting{}, nextPID: 1000, followRows: followRows,
		parsed: sql.NewCache(0, 0), bound: newLRU[*planner.Bound](boundEntries)}
	e.ddl <- struct{}{}
	if o.Temp != "" {
		if err := spill.Clear(o.Temp); err != nil {
			return nil, err
		}
	}
	snap, ok, err := catalog.Load(store.Meta)
	if err != nil {
		return nil, err
	}
	if !ok {
		snap = catalog.Bootstrap()
		if err := e.persist(catalog.Changes(nil, snap)); err != nil {
			return nil, err
		}
	}
	e.published.Store(snap)
	if err := e.loadSequences(snap); err != nil {
		return nil, err
	}
	return e, e.dropLeftTemp()
}

func (e *Engine) persist(records []catalog.Record) error {
	tx := e.store.Begin()
	defer tx.Rollback()
	for _, r := range records {
		if err := tx.SetMeta(r.Key, r.Value); err != nil {
			return err
		}
	}
	return tx.Commit(context.Background(), true, nil)
}

func (e *Engine) now() time.Time { return e.o.Clock() }

func micros(t time.Time) int64 { return t.UnixMicro() }

// Verifier returns the SCRAM verifier of a role; ok is false if the role does not exist or may not log in.
func (e *Engine) Verifier(role string) (verifier string, ok bool) {
	r, ok := e.published.Load().Role(role)
	if !ok || !r.Login {
		return "", false
	}
	return r.Verifier, true
}

// HasPasswords reports whether a superuser has a password (needed to listen beyond loopback).
func (e *Engine) HasPasswords() bool {
	return slices.ContainsFunc(e.published.Load().Roles(), func(r *catalog.Role) bool {
		return r.Superuser && r.Login && r.Verifier != ""
	})
}

// SetPassword sets the password of a role (--password-file); durable when it returns.
func (e *Engine) SetPassword(role, password string) error {
	verifier, err := scramVerifier(password)
	if err != nil {
		return err
	}
	<-e.ddl
	defer func() { e.ddl <- struct{}{} }()
	old := e.published.Load()
	r, ok := old.Role(role)
	if !ok {
		return noRole(role)
	}
	changed := *r
	changed.Verifier = verifier
	next := old.WithRole(&changed)
	if err := e.persist(catalog.Changes(old, next)); err != nil {
		return err
	}
	e.published.Store(next)
	return nil
}

// Databases returns the names that a client may connect to.
func (e *Engine) Databases() []string { return []string{"tsdb", "postgres"} }

// Cancel cancels the running statement of the session with this key pair, if any.
func (e *Engine) Cancel(pid int32, secret [4]byte) {
	e.mu.Lock()
	s := e.sessions[pid]
	e.mu.Unlock()
	if s != nil && s.secret == secret {
		s.interrupt(userCancel())
	}
}

func userCancel() *pgerr.Error {
	return pgerr.New(pgerr.QueryCanceled, "canceling statement due to user request")
}

func adminShutdown() *pgerr.Error {
	e := pgerr.New(pgerr.AdminShutdown, "terminating connection due to administrator command")
	e.Severity = pgerr.SevFatal
	return e
}

// Close ends all sessions (57P01) and waits for them.
func (e *Engine) Close() error {
	e.mu.Lock()
	if !e.closed {
		close(e.stopping)
	}
	e.closed = true
	var all []*Session
	for _, s := range e.sessions {
		all = append(all, s)
	}
	e.mu.Unlock()
	for _, s := range all {
		s.terminate()
	}
	for _, s := range all {
		s.inside.Lock()
		s.end(adminShutdown())
		s.inside.Unlock()
	}
	e.closeSequences()
	return nil
}

// terminate ends a session from outside: its running statement fails, later calls are refused.
func (s *Session) terminate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return
	}
	s.ended = adminShutdown()
	close(s.done)
	if s.cancel != nil {
		s.cancel(s.ended)
	}
}

func (e *Engine) remove(s *Session) {
	e.mu.Lock()
	delete(e.sessions, s.pid)
	e.mu.Unlock()
}

// NewSession opens a session.
//
// Errors: 28000 unknown role, 3D000 unknown database, 22023 and kin for bad settings.
func (e *Engine) NewSession(st Start) (*Session, error) {
	role, ok := e.published.Load().Role(st.User)
	switch {
	case !ok:
		return nil, fatal(pgerr.New(pgerr.InvalidAuthorization, `role "%s" does not exist`, st.User))
	case !role.Login:
		return nil, fatal(pgerr.New(pgerr.InvalidAuthorization, `role "%s" is not permitted to log in`, st.User))
	}
	if st.Database == "" {
		st.Database = st.User
	}
	if !slices.Contains(e.Databases(), st.Database) {
		return nil, fatal(pgerr.New(pgerr.InvalidCatalogName, `database "%s" does not exist`, st.Database))
	}
	s := &Session{e: e, client: st.Client, user: st.User, database: st.Database, started: e.now(), state: "idle",
		done: make(chan struct{}), known: map[string]string{}, prepared: map[string]*prepared{}, portals: map[string]*portal{}}
	names := pgcatalog.Names{Ctx: &functions.Ctx{Session: s}}
	s.tctx.Names, s.tctx.Enums = names, names
	s.reset = map[string]string{
		"session_authorization": st.User,
		"is_superuser":          onOff(role.Superuser),
		"tsdb.version":          e.o.Version,
		"tsdb.kernels":          kernels.Name(),
		"tsdb.query_memory":     itoa(max(64, e.o.QueryMemory>>10)),
		"tsdb.workers":          itoa(int64(e.o.Workers)),
		"max_connections":       itoa(int64(e.o.Connections)),
	}
	if e.o.LogSlow > 0 {
		s.reset["log_min_duration_statement"] = itoa(e.o.LogSlow - 1)
	}
	s.derive()
	if err := s.applyStart(st.Settings); err != nil {
		return nil, fatal(pgerr.From(err))
	}
	if err := e.register(s); err != nil {
		return nil, err
	}
	return s, nil
}

// applyStart makes the start-up packet's settings the session's defaults.
func (s *Session) applyStart(settings map[string]string) error {
	names := make([]string, 0, len(settings))
	for n := range settings {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		p, err := lookup(n)
		if err != nil {
			return err
		}
		v := settings[n]
		if old, ok := s.reset[strings.ToLower(p.name)]; ok && old == v {
			continue
		}
		if err := s.mayChange(p); err != nil {
			return err
		}
		if v, err = p.canonical(s, v); err != nil {
			return err
		}
		s.reset = with(s.reset, strings.ToLower(p.name), v)
		s.derive()
	}
	return nil
}

func fatal(e *pgerr.Error) *pgerr.Error {
	e.Severity = pgerr.SevFatal
	return e
}

func (e *Engine) register(s *Session) error {
	var key [4]byte
	if _, err := rand.Read(key[:]); err != nil {
		return pgerr.From(err)
	}
	s.secret = key
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fatal(pgerr.New(pgerr.CannotConnectNow, "the database system is shutting down"))
	}
	for {
		e.nextPID++
		if e.nextPID <= 0 {
			e.nextPID = 1001
		}
		if _, used := e.sessions[e.nextPID]; !used {
			break
		}
	}
	s.pid, s.tempName = e.nextPID, tempPrefix+itoa(int64(e.nextPID))
	e.sessions[s.pid] = s
	return nil
}

// ListActivity implements pgcatalog.ActivityLister.
func (s *Session) ListActivity() []pgcatalog.Activity {
	s.e.mu.Lock()
	all := make([]*Session, 0, len(s.e.sessions))
	for _, o := range s.e.sessions {
		all = append(all, o)
	}
	s.e.mu.Unlock()
	slices.SortFunc(all, func(a, b *Session) int { return int(a.pid - b.pid) })
	out := make([]pgcatalog.Activity, 0, len(all))
	for _, o := range all {
		a := pgcatalog.Activity{PID: o.pid, Database: o.database, User: o.user, BackendStart: micros(o.started)}
		if o.client != nil {
			a.Client = o.client.RemoteAddr()
		}
		o.mu.Lock()
		a.State, a.Query, a.Application = o.state, o.query, o.application
		if !o.since.IsZero() {
			a.QueryStart = micros(o.since)
		}
		o.mu.Unlock()
		out = append(out, a)
	}
	return out
}

// newOID returns an OID for a catalog object.
func (e *Engine) newOID() (types.OID, error) {
	id, err := e.store.NewID()
	if err != nil {
		return 0, err
	}
	if id > 1<<31 {
		return 0, pgerr.New(pgerr.ProgramLimitExceeded, "object identifiers are used up")
	}
	return catalog.FirstUserOID + types.OID(id), nil
}
