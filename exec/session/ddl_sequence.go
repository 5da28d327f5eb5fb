package session

import (
	"context"
	"math"
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/bind"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// createSequence runs CREATE SEQUENCE.
func (s *Session) createSequence(st *sql.Statement, n *pg_query.CreateSeqStmt) error {
	sc, err := s.targetSchema(n.Sequence)
	if err != nil {
		return err
	}
	name := n.Sequence.GetRelname()
	if s.relationExists(sc.OID, name) {
		e := pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, name)
		if n.IfNotExists {
			e.Severity, e.Message = pgerr.SevNotice, e.Message+", skipping"
			s.notice(e)
			return nil
		}
		return e
	}
	q := &catalog.Sequence{Schema: sc.OID, Name: name, Owner: s.userOID(), Type: types.Int8, Temp: isTemp(sc)}
	o := sequenceOptions{s: s, st: st, q: q}
	if err := o.read(n.Options); err != nil {
		return err
	}
	return s.addSequence(q)
}

func (s *Session) addSequence(q *catalog.Sequence) error {
	var err error
	if q.OID == 0 {
		if q.OID, err = s.e.newOID(); err != nil {
			return err
		}
	}
	s.tx.local = s.tx.local.WithSequence(q)
	return nil
}

// alterSequence runs ALTER SEQUENCE ... with options.
func (s *Session) alterSequence(ctx context.Context, st *sql.Statement, n *pg_query.AlterSeqStmt) error {
	r, err := s.anyRelation(n.Sequence)
	if err != nil {
		if n.MissingOk && pgerr.From(err).Code == pgerr.UndefinedTable {
			s.notice(pgerr.Notice(`relation "%s" does not exist, skipping`, n.Sequence.GetRelname()))
			return nil
		}
		return err
	}
	if r.Sequence == nil {
		return pgerr.New(pgerr.WrongObjectType, `"%s" is not a sequence`, r.Name).
			WithDetail("This operation is not supported for %s.", relationPlural(r.Kind))
	}
	if err := s.mustOwnRelation(r); err != nil {
		return err
	}
	q := *r.Sequence
	o := sequenceOptions{s: s, st: st, q: &q, alter: true}
	if err := o.read(n.Options); err != nil {
		return err
	}
	s.tx.local = s.tx.local.WithSequence(&q)
	return nil
}

func relationPlural(k catalog.RelationKind) string {
	switch k {
	case catalog.RelView:
		return "views"
	case catalog.RelMaterialized:
		return "materialized views"
	case catalog.RelIndex:
		return "indexes"
	}
	return "tables"
}

// sequenceOptions reads the options of CREATE and ALTER SEQUENCE and of
// identity columns.
type sequenceOptions struct {
	s        *Session
	st       *sql.Statement
	q        *catalog.Sequence
	alter    bool
	identity bool
	given    map[string]*pg_query.Node
	seen     map[string]bool
}

func (o *sequenceOptions) read(list []*pg_query.Node) error {
	o.given, o.seen = map[string]*pg_query.Node{}, map[string]bool{}
	for _, n := range list {
		d := n.GetDefElem()
		if o.seen[d.Defname] {
			return pgerr.New(pgerr.SyntaxError, "conflicting or redundant options").At(o.st.Position(d.Location))
		}
		o.seen[d.Defname], o.given[d.Defname] = true, d.Arg
	}
	for _, step := range []func() error{o.readType, o.readIncrement, o.readBounds, o.readStart, o.readCache, o.readOwner} {
		if err := step(); err != nil {
			return err
		}
	}
	if n, ok := o.given["cycle"]; ok {
		o.q.Cycle = n.GetBoolean().GetBoolval()
	}
	return nil
}

// number returns the value of an option; ok is false where it is not given or
// is NO MINVALUE and kin.
func (o *sequenceOptions) number(name string) (v int64, ok bool, err error) {
	n := o.given[name]
	if n.GetNode() == nil {
		return 0, false, nil
	}
	text := constText(n)
	v, err = strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, false, pgerr.New(pgerr.NumericValueOutOfRange, `value "%s" is out of range for type bigint`, text)
	}
	return v, true, nil
}

var sequenceTypes = map[types.OID]struct {
	name     string
	min, max int64
}{
	types.Int2: {"smallint", math.MinInt16, math.MaxInt16},
	types.Int4: {"integer", math.MinInt32, math.MaxInt32},
	types.Int8: {"bigint", math.MinInt64, math.MaxInt64},
}

// readType reads AS. Bounds that were the old type's become the new one's.
func (o *sequenceOptions) readType() error {
	n := o.given["as"]
	if n == nil {
		return nil
	}
	if o.identity {
		return pgerr.New(pgerr.SyntaxError, "identity column type must be smallint, integer, or bigint")
	}
	t, err := bind.TypeNameIn(nil, o.st, n.GetTypeName())
	if err != nil {
		return err
	}
	return o.setType(t.OID)
}

func (o *sequenceOptions) setType(t types.OID) error {
	next, ok := sequenceTypes[t]
	if !ok {
		return pgerr.New(pgerr.InvalidParameterValue, "sequence type must be smallint, integer, or bigint")
	}
	old := sequenceTypes[o.q.Type]
	if o.alter {
		if o.q.Max == old.max {
			o.q.Max = next.max
		}
		if o.q.Min == old.min {
			o.q.Min = next.min
		}
	}
	o.q.Type = t
	return nil
}

func (o *sequenceOptions) readIncrement() error {
	v, ok, err := o.number("increment")
	switch {
	case err != nil:
		return err
	case !ok && !o.alter:
		v = 1
	case !ok:
		return nil
	case v == 0:
		return pgerr.New(pgerr.InvalidParameterValue, "INCREMENT must not be zero")
	}
	o.q.Increment = v
	return nil
}

func (o *sequenceOptions) readBounds() error {
	q, t := o.q, sequenceTypes[o.q.Type]
	v, ok, err := o.number("maxvalue")
	switch {
	case err != nil:
		return err
	case ok:
		q.Max = v
	case o.seen["maxvalue"] || !o.alter:
		q.Max = -1
		if q.Increment > 0 {
			q.Max = t.max
		}
	}
	if q.Max < t.min || q.Max > t.max {
		return pgerr.New(pgerr.InvalidParameterValue, "MAXVALUE (%d) is out of range for sequence data type %s", q.Max, t.name)
	}
	v, ok, err = o.number("minvalue")
	switch {
	case err != nil:
		return err
	case ok:
		q.Min = v
	case o.seen["minvalue"] || !o.alter:
		q.Min = 1
		if q.Increment < 0 {
			q.Min = t.min
		}
	}
	if q.Min < t.min || q.Min > t.max {
		return pgerr.New(pgerr.InvalidParameterValue, "MINVALUE (%d) is out of range for sequence data type %s", q.Min, t.name)
	}
	if q.Min >= q.Max {
		return pgerr.New(pgerr.InvalidParameterValue, "MINVALUE (%d) must be less than MAXVALUE (%d)", q.Min, q.Max)
	}
	return nil
}

// within words a value outside of the bounds.
func (o *sequenceOptions) within(what string, v int64) error {
	switch {
	case v < o.q.Min:
		return pgerr.New(pgerr.InvalidParameterValue, "%s value (%d) cannot be less than MINVALUE (%d)", what, v, o.q.Min)
	case v > o.q.Max:
		return pgerr.New(pgerr.InvalidParameterValue, "%s value (%d) cannot be greater than MAXVALUE (%d)", what, v, o.q.Max)
	}
	return nil
}

func (o *sequenceOptions) readStart() error {
	q := o.q
	v, ok, err := o.number("start")
	switch {
	case err != nil:
		return err
	case ok:
		q.Start = v
	case !o.alter:
		q.Start = q.Min
		if q.Increment < 0 {
			q.Start = q.Max
		}
	}
	if err := o.within("START", q.Start); err != nil {
		return err
	}
	if _, restart := o.given["restart"]; restart && o.alter {
		first := q.Start
		if v, ok, err := o.number("restart"); err != nil {
			return err
		} else if ok {
			first = v
		}
		if err := o.within("RESTART", first); err != nil {
			return err
		}
		q.From = &first
		return o.s.renew(q)
	} else if o.alter {
		last, _, _ := o.s.SequenceState(q)
		return o.within("RESTART", last)
	}
	return nil
}

// renew begins another generation of a sequence's values. Its number is one that
// no generation has had, not even in a transaction that was rolled back.
func (s *Session) renew(q *catalog.Sequence) error {
	n, err := s.e.newOID()
	q.Generation = uint64(n)
	return err
}

func (o *sequenceOptions) readCache() error {
	v, ok, err := o.number("cache")
	switch {
	case err != nil:
		return err
	case !ok && !o.alter:
		v = 1
	case !ok:
		return nil
	case v <= 0:
		return pgerr.New(pgerr.InvalidParameterValue, "CACHE (%d) must be greater than zero", v)
	}
	o.q.Cache = v
	return nil
}

// readOwner reads OWNED BY table.column or NONE.
func (o *sequenceOptions) readOwner() error {
	n, ok := o.given["owned_by"]
	if !ok {
		return nil
	}
	if o.identity || o.q.Identity {
		return pgerr.New(pgerr.FeatureNotSupported, "cannot change ownership of identity sequence")
	}
	names := n.GetList().GetItems()
	if len(names) == 1 {
		if stringOf(names[0]) == "none" {
			o.q.OwnedBy = catalog.Ref{}
			return nil
		}
		return pgerr.New(pgerr.SyntaxError, "invalid OWNED BY option").WithHint("Specify OWNED BY table.column or OWNED BY NONE.")
	}
	rv := &pg_query.RangeVar{Relname: stringOf(names[len(names)-2])}
	if len(names) > 2 {
		rv.Schemaname = stringOf(names[len(names)-3])
	}
	t, err := o.s.relation(rv)
	if err != nil {
		return err
	}
	column := stringOf(names[len(names)-1])
	i := t.ColumnIndex(column)
	switch {
	case i < 0:
		return pgerr.New(pgerr.UndefinedColumn, `column "%s" of relation "%s" does not exist`, column, t.Name)
	case t.Schema != o.q.Schema:
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "sequence must be in same schema as table it is linked to")
	case t.Owner != o.q.Owner:
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "sequence must have same owner as table it is linked to")
	}
	o.q.OwnedBy = columnRef(t.OID, t.Columns[i].AttNum)
	return nil
}

func stringOf(n *pg_query.Node) string { return n.GetString_().GetSval() }

// serialTypes are the type names that stand for a column with a sequence.
var serialTypes = map[string]types.OID{
	"serial": types.Int4, "serial4": types.Int4, "bigserial": types.Int8, "serial8": types.Int8, "smallserial": types.Int2, "serial2": types.Int2,
}

// serialType returns the integer type behind a column declared serial.
func serialType(n *pg_query.TypeName) (types.OID, bool) {
	names := n.GetNames()
	if len(names) != 1 || len(n.ArrayBounds) > 0 {
		return 0, false
	}
	t, ok := serialTypes[stringOf(names[0])]
	return t, ok
}

// columnSequence makes the sequence of a serial or identity column, named as
// PostgreSQL names it. It becomes the catalog's when the table does.
func (b *tableBuilder) columnSequence(col int, identity bool, options []*pg_query.Node) (*catalog.Sequence, error) {
	c := &b.t.Columns[col]
	oid, err := b.s.e.newOID()
	if err != nil {
		return nil, err
	}
	q := &catalog.Sequence{OID: oid, Schema: b.t.Schema, Owner: b.t.Owner, Type: c.Type.OID, Identity: identity, Temp: b.t.Temp}
	var rest []*pg_query.Node
	for _, o := range options {
		if d := o.GetDefElem(); d.Defname == "sequence_name" {
			q.Name = nameOf(d.Arg.GetList().GetItems())
			continue
		}
		rest = append(rest, o)
	}
	if err := (&sequenceOptions{s: b.s, st: b.st, q: q, identity: identity}).read(rest); err != nil {
		return nil, err
	}
	for n := 0; q.Name == ""; n++ {
		end := "seq"
		if n > 0 {
			end += itoa(int64(n))
		}
		if name := objectNameFor(b.t.Name, c.Name, end); !b.nameTaken(name) && !b.sequenceNamed(name) {
			q.Name = name
		}
	}
	b.sequences = append(b.sequences, ownedSequence{q, c.AttNum})
	return q, nil
}

// ownedSequence is a sequence that a column of the table under construction owns.
type ownedSequence struct {
	q   *catalog.Sequence
	num int16
}

func (b *tableBuilder) sequenceNamed(name string) bool {
	for _, o := range b.sequences {
		if o.q.Name == name {
			return true
		}
	}
	return false
}

// addSequences makes the columns' sequences the catalog's.
func (b *tableBuilder) addSequences() error {
	for _, o := range b.sequences {
		o.q.OwnedBy = columnRef(b.t.OID, o.num)
		if err := b.s.addSequence(o.q); err != nil {
			return err
		}
	}
	return nil
}

// nextvalText is the DEFAULT that takes a sequence's next value. It names the
// sequence by OID, so that it may be renamed.
func nextvalText(seq types.OID) string { return "nextval('" + itoa(int64(seq)) + "'::regclass)" }

// identitySequence finds the sequence of an identity column.
func identitySequence(cat *catalog.Snapshot, t *catalog.Table, c *catalog.Column) *catalog.Sequence {
	for _, q := range cat.Sequences() {
		if q.Identity && q.OwnedBy == columnRef(t.OID, c.AttNum) {
			return q
		}
	}
	return nil
}
