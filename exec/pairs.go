package exec

import (
	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
)

// pairs is what the joins share: it collects pairs of a row of the current left
// batch and a stored right row, filters them by a condition, and makes output.
type pairs struct {
	kind  logical.JoinKind
	cond  *eval.Program // nil: every pair counts
	test  *eval.Program // of a mark join; nil: every pair that counts is true
	ev    *eval.Env
	right *rowStore

	left    *vector.Batch
	matched []bool // left rows with a pair that counts, and is true
	unknown []bool // left rows of a mark join with a pair whose test is NULL
	seen    []bool // of a full join: right rows with a pair that counts
	at      int    // right rows done once the left side is
	l       []int32
	r       []uint32
	sel     []int32
	joined  vector.Batch
	picked  vector.Batch
	marks   vector.Batch // the left batch with its marks: shares its columns
}

func (p *pairs) startLeft(b *vector.Batch) {
	p.left = b
	p.matched = allFalse(p.matched, b.N)
	if p.kind == logical.Mark {
		p.unknown = allFalse(p.unknown, b.N)
	}
	if p.kind == logical.Full && len(p.seen) != p.right.n {
		p.seen, p.at = make([]bool, p.right.n), 0
	}
}

// wanted reports whether more pairs of left row i matter.
func (p *pairs) wanted(i int) bool { return !logical.LeftOnly(p.kind) || !p.matched[i] }

func (p *pairs) full() bool { return len(p.l) >= vector.BatchSize }

func (p *pairs) add(l int32, r uint32) {
	p.l = append(p.l, l)
	p.r = append(p.r, r)
}

// flush filters the collected pairs, marks their left rows and returns the
// joined rows, nil if there are none or the kind returns left rows only.
func (p *pairs) flush() (*vector.Batch, error) {
	if len(p.l) == 0 {
		return nil, nil
	}
	rowsOnly := logical.LeftOnly(p.kind)
	out := &p.joined
	if p.cond != nil || p.test != nil || !rowsOnly {
		p.combine()
	}
	var passed []int32 // nil: all
	if p.cond != nil {
		var err error
		if p.sel, err = p.cond.Filter(p.ev, out, p.sel[:0]); err != nil {
			return nil, err
		}
		if len(p.sel) < out.N {
			passed = p.sel
			switch {
			case len(p.sel) == 0:
				passed, out = []int32{}, nil
			case !rowsOnly || p.test != nil:
				out = gatherRows(&p.picked, out, p.sel)
			}
		}
	}
	if err := p.note(out, passed); err != nil {
		return nil, err
	}
	p.l, p.r = p.l[:0], p.r[:0]
	if rowsOnly {
		return nil, nil
	}
	return out, nil
}

// combine makes joined hold left ++ right of the collected pairs.
func (p *pairs) combine() {
	nl := len(p.left.Cols)
	shape(&p.joined, nl+len(p.right.kinds))
	for i, c := range p.left.Cols {
		c.GatherInto(p.joined.Cols[i], p.l)
	}
	for i := range p.right.kinds {
		p.right.gather(p.joined.Cols[nl+i], i, p.r)
	}
	p.joined.N = len(p.l)
}

// rest returns what the left batch yields when all its pairs are done: rows
// without a match (left, anti) or with one (semi); nil if there are none.
func (p *pairs) rest() *vector.Batch {
	switch p.kind {
	case logical.Inner:
		return nil
	case logical.Mark:
		return p.marked()
	}
	p.sel = p.sel[:0]
	for i, m := range p.matched {
		if m == (p.kind == logical.Semi) {
			p.sel = append(p.sel, int32(i))
		}
	}
	if len(p.sel) == 0 {
		return nil
	}
	if logical.LeftOnly(p.kind) {
		return gatherRows(&p.picked, p.left, p.sel)
	}
	p.l = append(p.l[:0], p.sel...)
	p.r = p.r[:0]
	for range p.l {
		p.r = append(p.r, noRow)
	}
	p.combine()
	p.l, p.r = p.l[:0], p.r[:0]
	return &p.joined
}
