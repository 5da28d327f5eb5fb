package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// sequencePrefix begins the keys of the values of sequences in key space M.
const sequencePrefix = "sequence/"

// aheadValues is how many values are made durable at once, as PostgreSQL does:
// after a crash a sequence goes on behind them. More would skip more then,
// fewer would write more often.
const aheadValues = 32

// sequences holds the values of all sequences. They are outside of
// transactions: a value that was taken is taken, whatever becomes of the
// transaction.
type sequences struct {
	mu  sync.Mutex
	all map[sequenceID]*sequenceValue
}

// sequenceID names the values of one generation of a sequence: until a RESTART
// is committed, others go on with those of before.
type sequenceID struct {
	oid        types.OID
	generation uint64
}

// sequenceValue is the value of one sequence. The lock is held while values are
// made durable: who else wants one needs what that write brings.
type sequenceValue struct {
	mu sync.Mutex
	sequenceRecord
	ahead int // values that may be given without another write
}

// sequenceRecord is the stored form.
type sequenceRecord struct {
	Last   int64 `json:"last"`
	Called bool  `json:"called"`
}

func (id sequenceID) key() []byte {
	return fmt.Appendf(nil, "%s%08x/%x", sequencePrefix, id.oid, id.generation)
}

// loadSequences reads the values, and removes those of sequences and
// generations that are gone.
func (e *Engine) loadSequences(cat *catalog.Snapshot) error {
	e.sequences.all = map[sequenceID]*sequenceValue{}
	var gone []catalog.Record
	err := e.store.Meta([]byte(sequencePrefix), func(k, v []byte) error {
		var id sequenceID
		if _, err := fmt.Sscanf(strings.TrimPrefix(string(k), sequencePrefix), "%x/%x", &id.oid, &id.generation); err != nil {
			return nil
		}
		if q, ok := cat.SequenceByOID(id.oid); !ok || q.Generation != id.generation {
			gone = append(gone, catalog.Record{Key: append([]byte(nil), k...)})
			return nil
		}
		val := &sequenceValue{}
		if err := json.Unmarshal(v, &val.sequenceRecord); err != nil {
			return fmt.Errorf("value of sequence %d: %w", id.oid, err)
		}
		e.sequences.all[id] = val
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return e.persist(gone)
}

// storeSequences makes the exact values durable, so that an orderly end skips
// none.
func (e *Engine) storeSequences() error {
	e.sequences.mu.Lock()
	defer e.sequences.mu.Unlock()
	cat := e.published.Load()
	var recs []catalog.Record
	for id, v := range e.sequences.all {
		v.mu.Lock()
		if q, ok := cat.SequenceByOID(id.oid); ok && q.Generation == id.generation && v.ahead > 0 {
			recs = append(recs, id.record(v.sequenceRecord))
			v.ahead = 0
		}
		v.mu.Unlock()
	}
	if len(recs) == 0 {
		return nil
	}
	return e.persist(recs)
}

func (id sequenceID) record(r sequenceRecord) catalog.Record {
	b, err := json.Marshal(r)
	if err != nil { // numbers only
		b = []byte("{}")
	}
	return catalog.Record{Key: id.key(), Value: b}
}

func idOf(q *catalog.Sequence) sequenceID { return sequenceID{q.OID, q.Generation} }

// sequenceValue returns the value of a sequence, locked.
func (e *Engine) sequenceValue(q *catalog.Sequence) *sequenceValue {
	e.sequences.mu.Lock()
	v := e.sequences.all[idOf(q)]
	if v == nil {
		v = &sequenceValue{sequenceRecord: sequenceRecord{Last: q.First()}}
		e.sequences.all[idOf(q)] = v
		if now, ok := e.published.Load().SequenceByOID(q.OID); ok { // what is older serves nobody any more
			maps.DeleteFunc(e.sequences.all, func(id sequenceID, _ *sequenceValue) bool {
				return id.oid == q.OID && id.generation < now.Generation
			})
		}
	}
	e.sequences.mu.Unlock()
	v.mu.Lock()
	return v
}

// following returns the value after last; ok is false at the end.
func following(q *catalog.Sequence, last int64) (next int64, ok bool) {
	next = last + q.Increment
	switch {
	case q.Increment > 0 && (next < last || next > q.Max):
		return q.Min, q.Cycle
	case q.Increment < 0 && (next > last || next < q.Min):
		return q.Max, q.Cycle
	}
	return next, true
}

// take fills dst with the next values and returns how many there were before
// the end.
func (v *sequenceValue) take(q *catalog.Sequence, dst []int64) int {
	for i := range dst {
		if !v.Called {
			v.Called = true
		} else {
			next, ok := following(q, v.Last)
			if !ok {
				return i
			}
			v.Last = next
		}
		dst[i] = v.Last
	}
	return len(dst)
}

// nextValues takes values of a sequence and makes sure that no crash gives them
// again.
func (e *Engine) nextValues(q *catalog.Sequence, dst []int64) error {
	v := e.sequenceValue(q)
	defer v.mu.Unlock()
	before := v.sequenceRecord
	if n := v.take(q, dst); n < len(dst) {
		v.sequenceRecord = before
		if q.Increment > 0 {
			return functions.SequenceLimit(q.Name, true, q.Max)
		}
		return functions.SequenceLimit(q.Name, false, q.Min)
	}
	if v.ahead >= len(dst) {
		v.ahead -= len(dst)
		return nil
	}
	durable := v.sequenceRecord
	ahead := 0
	for ahead < aheadValues {
		next, ok := following(q, durable.Last)
		if !ok {
			break
		}
		durable.Last = next
		ahead++
	}
	if err := e.persist([]catalog.Record{idOf(q).record(durable)}); err != nil {
		v.sequenceRecord, v.ahead = before, 0
		return err
	}
	v.ahead = ahead
	return nil
}

// takenValues are values of CACHE that a session has taken and not yet given.
type takenValues struct {
	generation uint64
	values     []int64
	last       int64 // given last
	defined    bool
}

// sequence finds a sequence that a function was called for.
func (s *Session) sequence(oid types.OID) (*catalog.Sequence, error) {
	cat := s.catalog()
	if q, ok := cat.SequenceByOID(oid); ok {
		return q, nil
	}
	if name, ok := s.tctx.Names.ObjectName(types.Regclass, oid); ok && name != "" {
		return nil, pgerr.New(pgerr.WrongObjectType, `"%s" is not a sequence`, name)
	}
	return nil, pgerr.New(pgerr.UndefinedTable, "could not open relation with OID %d", oid)
}

// taken returns what the session knows of a sequence.
func (s *Session) taken(oid types.OID) *takenValues {
	if s.sequences == nil {
		s.sequences = map[types.OID]*takenValues{}
	}
	t := s.sequences[oid]
	if t == nil {
		t = &takenValues{}
		s.sequences[oid] = t
	}
	return t
}

// NextVal implements what nextval() asks of a session.
func (s *Session) NextVal(oid types.OID, dst []int64) error {
	q, err := s.sequence(oid)
	if err != nil {
		return err
	}
	if s.readOnly() && !q.Temp {
		return pgerr.New(pgerr.ReadOnlySQLTransaction, "cannot execute nextval() in a read-only transaction")
	}
	t := s.taken(oid)
	if t.generation != q.Generation {
		t.values, t.generation = nil, q.Generation
	}
	n := copy(dst, t.values)
	t.values = t.values[n:]
	if rest := dst[n:]; len(rest) > 0 {
		if q.Cache <= 1 || int64(len(rest)) >= q.Cache {
			if err := s.e.nextValues(q, rest); err != nil {
				return err
			}
		} else if err := s.fillCache(q, t, rest); err != nil {
			return err
		}
	}
	t.last, t.defined = dst[len(dst)-1], true
	s.lastSequence = oid
	return nil
}

// fillCache takes CACHE values, or as many as are left, and gives the first.
func (s *Session) fillCache(q *catalog.Sequence, t *takenValues, dst []int64) error {
	values := make([]int64, min(q.Cache, maxCache))
	err := s.e.nextValues(q, values)
	for err != nil && len(values) > len(dst) { // near the end
		values = values[:max(len(values)/2, len(dst))]
		err = s.e.nextValues(q, values)
	}
	if err != nil {
		return err
	}
	n := copy(dst, values)
	t.values = values[n:]
	return nil
}

// maxCache bounds what a session takes at once: the values are memory.
const maxCache = 1 << 16

// CurrVal implements what currval() asks of a session.
func (s *Session) CurrVal(oid types.OID) (int64, error) {
	q, err := s.sequence(oid)
	if err != nil {
		return 0, err
	}
	t := s.taken(oid)
	if !t.defined {
		return 0, pgerr.New(pgerr.ObjectNotInPrerequisiteState, `currval of sequence "%s" is not yet defined in this session`, q.Name)
	}
	return t.last, nil
}

// LastVal implements what lastval() asks of a session.
func (s *Session) LastVal() (int64, error) {
	t := s.sequences[s.lastSequence]
	if _, ok := s.catalog().SequenceByOID(s.lastSequence); !ok || t == nil || !t.defined {
		return 0, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "lastval is not yet defined in this session")
	}
	return t.last, nil
}

// SetVal implements what setval() asks of a session.
func (s *Session) SetVal(oid types.OID, value int64, called bool) error {
	q, err := s.sequence(oid)
	if err != nil {
		return err
	}
	if s.readOnly() && !q.Temp {
		return pgerr.New(pgerr.ReadOnlySQLTransaction, "cannot execute setval() in a read-only transaction")
	}
	if value < q.Min || value > q.Max {
		return pgerr.New(pgerr.NumericValueOutOfRange, `setval: value %d is out of bounds for sequence "%s" (%d..%d)`, value, q.Name, q.Min, q.Max)
	}
	v := s.e.sequenceValue(q)
	defer v.mu.Unlock()
	next := sequenceRecord{Last: value, Called: called}
	if err := s.e.persist([]catalog.Record{idOf(q).record(next)}); err != nil {
		return err
	}
	v.sequenceRecord, v.ahead = next, 0
	t := s.taken(oid)
	t.values = nil
	if called {
		t.last, t.defined = value, true
	}
	return nil
}

// SequenceState implements pgcatalog.SequenceReader.
func (s *Session) SequenceState(q *catalog.Sequence) (last int64, ahead int, called bool) {
	v := s.e.sequenceValue(q)
	defer v.mu.Unlock()
	return v.Last, v.ahead, v.Called
}

// Columns of SELECT * FROM sequence.
var sequenceColumns = []catalog.VirtualColumn{
	{Name: "last_value", Type: types.T(types.Int8)}, {Name: "log_cnt", Type: types.T(types.Int8)}, {Name: "is_called", Type: types.T(types.Bool)}}

// sequenceRelation is a sequence as FROM reads it: one row.
type sequenceRelation struct {
	q      *catalog.Sequence
	schema string
}

// SchemaName implements catalog.VirtualRelation.
func (r sequenceRelation) SchemaName() string { return r.schema }

// RelName implements catalog.VirtualRelation.
func (r sequenceRelation) RelName() string { return r.q.Name }

// RelOID implements catalog.VirtualRelation.
func (r sequenceRelation) RelOID() types.OID { return r.q.OID }

// RelColumns implements catalog.VirtualRelation.
func (r sequenceRelation) RelColumns() []catalog.VirtualColumn { return sequenceColumns }

// Rows implements catalog.VirtualRelation.
func (r sequenceRelation) Rows(c *functions.Ctx) (*vector.Batch, error) {
	s, ok := c.Session.(*Session)
	if !ok {
		return nil, pgerr.New(pgerr.InternalError, "there is no session to ask")
	}
	last, ahead, called := s.SequenceState(r.q)
	b := &vector.Batch{N: 1}
	for _, n := range []int64{last, int64(ahead)} {
		v := vector.New(vector.Int64, 1)
		v.AppendInt64(n)
		b.Cols = append(b.Cols, v)
	}
	v := vector.New(vector.Bool, 1)
	v.AppendBool(called)
	b.Cols = append(b.Cols, v)
	return b, nil
}

// closeSequences runs when the engine ends. Without it values are skipped, no
// more.
func (e *Engine) closeSequences() {
	if err := e.storeSequences(); err != nil {
		e.o.Logger.Warn("values of sequences", "error", err)
	}
}
