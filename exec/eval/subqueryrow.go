package eval

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
)

// rows compares a row with the rows of the plan: each is tested by match over
// the row's fields and the plan's columns.
func (x *subqueryNode) rows(f *frame) (value, error) {
	tests, releaseTests, err := evalAll(f, x.tests)
	if err != nil {
		return value{}, err
	}
	defer releaseTests()
	slots, releaseSlots, err := evalAll(f, x.outer)
	if err != nil {
		return value{}, err
	}
	defer releaseSlots()
	out := f.m.vector(x.kind)
	for i := 0; i < f.n; i++ {
		b := x.once
		if len(x.outer) > 0 || b == nil {
			if b, err = f.m.env.Run.Run(x.sub, slots, i); err != nil {
				return value{}, err
			}
			if len(x.outer) == 0 {
				b = b.Clone()
				x.once = b
			}
		}
		if err := x.appendMatch(f.m, out, b, tests, i); err != nil {
			return value{}, err
		}
	}
	return value{out, true}, nil
}

// appendMatch appends what the plan's rows b mean for row i of the tests.
func (x *subqueryNode) appendMatch(m *machine, out *vector.Vector, b *vector.Batch, tests []*vector.Vector, i int) error {
	rows := 0
	if b != nil {
		rows = b.Rows()
	}
	if x.sub.Kind == scalar.SubRow && rows > 1 {
		return pgerr.New(pgerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")
	}
	if rows == 0 {
		switch x.sub.Kind {
		case scalar.SubRow:
			out.AppendNull()
		default:
			out.AppendBool(x.sub.Kind == scalar.SubAll)
		}
		return nil
	}
	joined := vector.Batch{N: rows}
	for _, t := range tests {
		one := vector.New(t.Kind, 1)
		one.AppendFrom(t, i)
		one.Const, one.N = true, rows
		joined.Cols = append(joined.Cols, one)
	}
	for _, c := range b.Cols {
		v := c
		if b.Sel != nil || c.Const || c.Dict != nil {
			v = vector.New(c.Kind, rows)
			v.AppendVector(c, b.Sel)
		}
		joined.Cols = append(joined.Cols, v)
	}
	f := m.frame(&joined)
	defer m.free(f)
	v, err := x.match.eval(f)
	if err != nil {
		return err
	}
	defer m.release(v)
	appendTruth(out, reduceTruth(v.Vector, rows, x.sub.Kind == scalar.SubAll))
	return nil
}
