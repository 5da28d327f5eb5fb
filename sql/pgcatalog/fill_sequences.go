package pgcatalog

import (
	"strconv"

	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// SequenceReader is implemented by a session that knows the values of sequences.
type SequenceReader interface {
	// SequenceState returns the last value, how many values are logged ahead,
	// and whether the last value has been handed out.
	SequenceState(q *catalog.Sequence) (last int64, ahead int, called bool)
}

func init() {
	fills["pg_catalog.pg_sequence"] = fillSequence
	fills["pg_catalog.pg_sequences"] = fillSequences
	fills["information_schema.sequences"] = fillInfoSequences
	functions.RegisterFunctions(
		fn(4032, "pg_sequence_last_value", []types.OID{types.Regclass}, types.Int8, sequenceLast, "Last value that a sequence gave, NULL before the first"),
		fn(1665, "pg_get_serial_sequence", []types.OID{types.Text, types.Text}, types.Text, serialSequence, "Sequence that a column uses"),
	)
}

// lastValue is the last value that a sequence gave.
func (s *source) lastValue(q *catalog.Sequence) (int64, bool) {
	if s.ctx == nil {
		return 0, false
	}
	r, ok := s.ctx.Session.(SequenceReader)
	if !ok {
		return 0, false
	}
	last, _, called := r.SequenceState(q)
	return last, called
}

func sequenceLast(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	s := newSource(c)
	for i := range n {
		if out.IsNull(i) {
			continue
		}
		q, ok := s.cat.SequenceByOID(oidAt(args[0], i))
		if ok {
			out.I64[i], ok = s.lastValue(q)
		}
		if !ok {
			out.SetNull(i)
		}
	}
	return nil
}

// serialSequence is the kernel of pg_get_serial_sequence.
func serialSequence(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	s := newSource(c)
	valid := out.Valid
	out.Valid = nil
	for i := range n {
		if valid != nil && !valid.Get(i) {
			out.AppendNull()
			continue
		}
		name, err := s.ownedSequence(string(args[0].Bytes(i)), string(args[1].Bytes(i)))
		switch {
		case err != nil:
			return err
		case name == "":
			out.AppendNull()
		default:
			out.AppendString(name)
		}
	}
	return nil
}

func (s *source) ownedSequence(table, column string) (string, error) {
	parts, ok := splitName(table)
	if !ok {
		return "", pgerr.New(pgerr.InvalidName, "invalid name syntax")
	}
	oid, err := s.regclass(parts, table)
	if err != nil {
		return "", err
	}
	o, _ := s.object(oid)
	num := int16(0)
	for _, a := range s.attributes(o) {
		if a.name == column {
			num = int16(a.num)
		}
	}
	if num == 0 {
		return "", pgerr.New(pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", column, o.name)
	}
	if q := s.sequenceOf(oid, num); q != nil {
		return QuoteIdent(s.schemaName(q.Schema)) + "." + QuoteIdent(q.Name), nil
	}
	return "", nil
}

// sequenceOf is the sequence that belongs to a column, nil: none.
func (s *source) sequenceOf(table types.OID, num int16) *catalog.Sequence {
	for _, q := range s.cat.Sequences() {
		if q.OwnedBy.OID == table && q.OwnedBy.Column == num {
			return q
		}
	}
	return nil
}

// attributes lists the columns of a relation.
func (s *source) attributes(o object) []attribute {
	switch {
	case o.index != nil:
		return nil
	case o.table != nil:
		return tableAttributes(o.table)
	case o.view != nil:
		return viewAttributes(o.view)
	case o.sequence != nil:
		return sequenceAttributes
	case o.virtual != nil:
		return virtualAttributes(o.virtual)
	}
	return nil
}

func fillSequence(w *rows, s *source) {
	for _, q := range s.cat.Sequences() {
		w.oid("seqrelid", q.OID).oid("seqtypid", q.Type).num("seqstart", q.Start).num("seqincrement", q.Increment)
		w.num("seqmax", q.Max).num("seqmin", q.Min).num("seqcache", q.Cache).bool("seqcycle", q.Cycle).end()
	}
}

func fillSequences(w *rows, s *source) {
	for _, q := range s.cat.Sequences() {
		w.text("schemaname", s.schemaName(q.Schema)).text("sequencename", q.Name).text("sequenceowner", s.roleName(q.Owner))
		w.oid("data_type", q.Type).num("start_value", q.Start).num("min_value", q.Min).num("max_value", q.Max)
		w.num("increment_by", q.Increment).bool("cycle", q.Cycle).num("cache_size", q.Cache)
		if last, ok := s.lastValue(q); ok {
			w.num("last_value", last)
		}
		w.end()
	}
}

func fillInfoSequences(w *rows, s *source) {
	for _, q := range s.cat.Sequences() {
		if q.Identity {
			continue
		}
		w.text("sequence_catalog", s.database()).text("sequence_schema", s.schemaName(q.Schema)).text("sequence_name", q.Name)
		w.text("data_type", types.FormatType(types.T(q.Type)))
		typeFacts(w, types.T(q.Type))
		w.text("start_value", decimal(q.Start)).text("minimum_value", decimal(q.Min)).text("maximum_value", decimal(q.Max))
		w.text("increment", decimal(q.Increment)).text("cycle_option", yesNo(q.Cycle)).end()
	}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
