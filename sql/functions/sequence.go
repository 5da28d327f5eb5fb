package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// sequencer is a Session that has sequences.
type sequencer interface {
	// NextVal fills dst with the next values of a sequence.
	//
	// Errors: 2200H at its end, 42809 for what is no sequence.
	NextVal(seq types.OID, dst []int64) error
	// CurrVal returns what NextVal gave last in this session; 55000 before that.
	CurrVal(seq types.OID) (int64, error)
	// LastVal is CurrVal of the sequence that NextVal was called for last.
	LastVal() (int64, error)
	// SetVal sets a sequence's value; called says that the next one follows it.
	SetVal(seq types.OID, value int64, called bool) error
}

func sequences(c *Ctx) (sequencer, error) {
	if s, ok := c.Session.(sequencer); ok {
		return s, nil
	}
	return nil, errNoSession()
}

// nextVal asks once for each run of rows with the same sequence.
func nextVal(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	s, err := sequences(c)
	if err != nil {
		return err
	}
	seq := args[0]
	for from := 0; from < n; {
		if !live(out, from) {
			from++
			continue
		}
		oid, to := seq.U32[from&seq.Mask()], from+1
		for to < n && live(out, to) && seq.U32[to&seq.Mask()] == oid {
			to++
		}
		if err := s.NextVal(oid, out.I64[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func currVal(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	s, err := sequences(c)
	if err != nil {
		return err
	}
	for i := range n {
		if live(out, i) {
			if out.I64[i], err = s.CurrVal(args[0].U32[i&args[0].Mask()]); err != nil {
				return err
			}
		}
	}
	return nil
}

func lastVal(c *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	s, err := sequences(c)
	if err != nil {
		return err
	}
	v, err := s.LastVal()
	if err != nil {
		return err
	}
	for i := range out.I64[:n] {
		out.I64[i] = v
	}
	return nil
}

func setVal(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	s, err := sequences(c)
	if err != nil {
		return err
	}
	for i := range n {
		if !live(out, i) {
			continue
		}
		v := args[1].I64[i&args[1].Mask()]
		called := len(args) < 3 || args[2].Bool(i)
		if err := s.SetVal(args[0].U32[i&args[0].Mask()], v, called); err != nil {
			return err
		}
		out.I64[i] = v
	}
	return nil
}

// SequenceLimit is the error of a sequence that has no further value.
func SequenceLimit(name string, up bool, bound int64) *pgerr.Error {
	word := "minimum"
	if up {
		word = "maximum"
	}
	return pgerr.New(pgerr.SequenceGeneratorLimitExceeded, `nextval: reached %s value of sequence "%s" (%d)`, word, name, bound)
}

func init() {
	RegisterFunctions(
		fn("nextval", types.Int8, nextVal, types.Regclass).volatile().fails().doc("Takes the next value of a sequence."),
		fn("currval", types.Int8, currVal, types.Regclass).volatile().fails().doc("The value that nextval gave last in this session."),
		fn("lastval", types.Int8, lastVal).volatile().fails().doc("The value that nextval gave last in this session, of any sequence."),
		fn("setval", types.Int8, setVal, types.Regclass, types.Int8).volatile().fails().doc("Sets the value of a sequence."),
		fn("setval", types.Int8, setVal, types.Regclass, types.Int8, types.Bool).volatile().fails().doc("Sets the value of a sequence."),
	)
}
