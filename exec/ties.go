package exec

import (
	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/scalar"
)

// ties finds the rows after the last of a LIMIT that are equal to it by the
// keys of the order.
type ties struct {
	ev    *eval.Env
	progs []*eval.Program
	cols  []columnType
	keys  []*vector.Vector
	group *grouper // of the last row alone
	nums  []uint32
	one   vector.Batch
	open  bool // all rows so far were equal to the last
}

func newTies(ev *eval.Env, keys []scalar.Expr) (*ties, error) {
	t := &ties{ev: ev, keys: make([]*vector.Vector, len(keys))}
	for _, typ := range argTypes(keys) {
		t.cols = append(t.cols, columnType{typ, typ.Kind()})
	}
	var err error
	t.progs, err = compileAll(keys)
	return t, err
}

// last takes row hi-1 of b as the last and returns where the rows equal to it end.
func (t *ties) last(b *vector.Batch, hi int64) (int64, error) {
	t.open = hi > 0
	if !t.open {
		return hi, nil
	}
	if err := t.eval(b); err != nil {
		return 0, err
	}
	t.group = newGrouper(t.cols)
	shape(&t.one, len(t.keys))
	for i, k := range t.keys {
		t.one.Cols[i].Reset(k.Kind)
		t.one.Cols[i].AppendFrom(k, int(hi-1))
	}
	t.nums = numbersFor(t.nums, 1)
	t.group.assign(t.one.Cols, 1, t.nums)
	return t.end(b, int(hi)), nil
}

func (t *ties) eval(b *vector.Batch) error {
	for i, p := range t.progs {
		v, err := p.Eval(t.ev, b)
		if err != nil {
			return err
		}
		t.keys[i] = v
	}
	return nil
}

// end returns where the rows from at on that equal the last end.
func (t *ties) end(b *vector.Batch, at int) int64 {
	t.nums = numbersFor(t.nums, b.N)
	t.group.find(t.keys, b.N, t.nums)
	for at < b.N && t.nums[at] != missing {
		at++
	}
	t.open = at == b.N
	return int64(at)
}

// more returns the rows of the next batch of in that equal the last.
func (t *ties) more(in Operator, flat, out *vector.Batch) (*vector.Batch, error) {
	b, err := in.Next()
	if b == nil || err != nil {
		t.open = false
		return nil, err
	}
	b = b.Flat(flat)
	if err := t.eval(b); err != nil {
		return nil, err
	}
	n := t.end(b, 0)
	switch n {
	case 0:
		return nil, nil
	case int64(b.N):
		return b, nil
	}
	return slice(out, b, 0, int(n)), nil
}
