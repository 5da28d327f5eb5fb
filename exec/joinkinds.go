package exec

import (
	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/sql/pgerr"
)

// allFalse returns n false values in the memory of s.
func allFalse(s []bool, n int) []bool {
	s = s[:0]
	for range n {
		s = append(s, false)
	}
	return s
}

// note records what the collected pairs mean for their rows: all of them, or
// those in passed. out has the joined rows of these pairs if there is a test.
func (p *pairs) note(out *vector.Batch, passed []int32) error {
	if p.test != nil {
		return p.noteTests(out, passed)
	}
	if passed == nil {
		for i := range p.l {
			if err := p.noteMatch(i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range passed {
		if err := p.noteMatch(int(i)); err != nil {
			return err
		}
	}
	return nil
}

func (p *pairs) noteMatch(i int) error {
	l := p.l[i]
	switch {
	case p.kind == logical.Full:
		p.seen[p.r[i]] = true
	case p.kind == logical.Single && p.matched[l]:
		return pgerr.New(pgerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")
	}
	p.matched[l] = true
	return nil
}

// noteTests evaluates the test of a mark join.
func (p *pairs) noteTests(out *vector.Batch, passed []int32) error {
	if out == nil {
		return nil
	}
	v, err := p.test.Eval(p.ev, out)
	if err != nil {
		return err
	}
	for i := range out.N {
		l := p.l[i]
		if passed != nil {
			l = p.l[passed[i]]
		}
		switch {
		case v.IsNull(i):
			p.unknown[l] = true
		case v.Bool(i):
			p.matched[l] = true
		}
	}
	return nil
}

// marked returns the left batch with its marks.
func (p *pairs) marked() *vector.Batch {
	nl := len(p.left.Cols)
	mark := vector.New(vector.Bool, p.left.N)
	for i, m := range p.matched {
		if !m && p.unknown[i] {
			mark.AppendNull()
		} else {
			mark.AppendBool(m)
		}
	}
	p.marks = vector.Batch{N: p.left.N, Cols: append(p.left.Cols[:nl:nl], mark)}
	return &p.marks
}

// unmatched returns right rows of a full join without a pair, NULLs on the left
// side; nil if there are no more.
func (p *pairs) unmatched(left []vector.Kind) *vector.Batch {
	if p.kind != logical.Full {
		return nil
	}
	p.r = p.r[:0]
	for ; p.at < p.right.n && len(p.r) < vector.BatchSize; p.at++ {
		if p.seen == nil || !p.seen[p.at] {
			p.r = append(p.r, uint32(p.at))
		}
	}
	if len(p.r) == 0 {
		return nil
	}
	shape(&p.joined, len(left)+len(p.right.kinds))
	for i, k := range left {
		p.joined.Cols[i].Reset(k)
		for range p.r {
			p.joined.Cols[i].AppendNull()
		}
	}
	for i := range p.right.kinds {
		p.right.gather(p.joined.Cols[len(left)+i], i, p.r)
	}
	p.joined.N = len(p.r)
	p.r = p.r[:0]
	return &p.joined
}
