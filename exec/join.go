package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
)

// pairs is what the joins share: it collects pairs of a row of the current left
// batch and a stored right row, filters them by a condition, and makes output.
type pairs struct {
	kind  logical.JoinKind
	cond  *eval.Program // nil: every pair counts
	ev    *eval.Env
	right *rowStore

	left    *vector.Batch
	matched []bool // left rows with a pair that counts
	l       []int32
	r       []uint32
	sel     []int32
	joined  vector.Batch
	picked  vector.Batch
}

func (p *pairs) startLeft(b *vector.Batch) {
	p.left = b
	p.matched = p.matched[:0]
	for range b.N {
		p.matched = append(p.matched, false)
	}
}

// wanted reports whether more pairs of left row i matter.
func (p *pairs) wanted(i int) bool {
	return p.kind == logical.Inner || p.kind == logical.Left || !p.matched[i]
}

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
	rowsOnly := p.kind == logical.Semi || p.kind == logical.Anti
	out := &p.joined
	if p.cond != nil || !rowsOnly {
		p.combine()
	}
	if p.cond != nil {
		var err error
		if p.sel, err = p.cond.Filter(p.ev, out, p.sel[:0]); err != nil {
			return nil, err
		}
		for _, s := range p.sel {
			p.matched[p.l[s]] = true
		}
		if len(p.sel) == 0 {
			out = nil
		} else if len(p.sel) < out.N && !rowsOnly {
			out = gatherRows(&p.picked, out, p.sel)
		}
	} else {
		for _, l := range p.l {
			p.matched[l] = true
		}
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
	if p.kind == logical.Inner {
		return nil
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
	if p.kind != logical.Left {
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

// hashJoin numbers the keys of the right rows, chains rows with equal keys, and
// looks the left rows up.
type hashJoin struct {
	n           *physical.HashJoin
	ev          *eval.Env
	left, right Operator
	lkeys       []*eval.Program
	rkeys       []*eval.Program
	held        account

	ctx   context.Context
	built bool
	group *grouper
	head  []uint32 // first row by key number, noRow: none
	chain []uint32 // next row with the same key
	vecs  []*vector.Vector
	nums  []uint32
	pairs pairs
	row   int    // left row in work
	next  uint32 // its next right row
	flat  vector.Batch
}

func (b *builder) newHashJoin(n *physical.HashJoin) (Operator, error) {
	o := &hashJoin{n: n, ev: b.ev, held: b.account("Hash Join", n), vecs: make([]*vector.Vector, len(n.LeftKeys))}
	o.pairs = pairs{kind: n.Kind, ev: b.ev}
	var err error
	if o.left, err = b.build(n.Left); err != nil {
		return nil, err
	}
	if o.right, err = b.build(n.Right); err != nil {
		return nil, err
	}
	if o.lkeys, err = compileAll(n.LeftKeys); err != nil {
		return nil, err
	}
	if o.rkeys, err = compileAll(n.RightKeys); err != nil {
		return nil, err
	}
	if n.Residual != nil {
		o.pairs.cond, err = eval.Compile(n.Residual)
	}
	return o, err
}

// Open implements Operator.
func (o *hashJoin) Open(ctx context.Context) error {
	o.ctx, o.built, o.pairs.left = ctx, false, nil
	o.head, o.chain = nil, nil
	o.pairs.l, o.pairs.r = o.pairs.l[:0], o.pairs.r[:0]
	o.pairs.right = newRowStore(kindsOf(o.n.Right.Columns()))
	cols := make([]columnType, len(o.n.RightKeys))
	for i, t := range argTypes(o.n.RightKeys) {
		cols[i] = columnType{t, t.Kind()}
	}
	o.group = newGrouper(cols)
	return firstError(o.right.Open(ctx), o.left.Open(ctx))
}

func (o *hashJoin) build() error {
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := o.right.Next()
		if b == nil || err != nil {
			return err
		}
		b = b.Flat(&o.flat)
		if err := o.number(o.rkeys, b, o.group.assign); err != nil {
			return err
		}
		base := uint32(o.pairs.right.n)
		o.pairs.right.add(b.Cols, b.N, nil)
		for len(o.head) < o.group.count() {
			o.head = append(o.head, noRow)
		}
		for i, x := range o.nums {
			o.chain = append(o.chain, noRow)
			if x != missing {
				o.chain[len(o.chain)-1] = o.head[x]
				o.head[x] = base + uint32(i)
			}
		}
		size := o.pairs.right.size() + o.group.size() + int64(cap(o.head)+cap(o.chain))*4
		if err := o.held.set(size); err != nil {
			return err
		}
	}
}

// number sets nums to the key numbers of the rows of b, missing where a NULL cannot match.
func (o *hashJoin) number(progs []*eval.Program, b *vector.Batch, f func([]*vector.Vector, int, []uint32)) error {
	for i, p := range progs {
		v, err := p.Eval(o.ev, b)
		if err != nil {
			return err
		}
		o.vecs[i] = v
	}
	o.nums = numbersFor(o.nums, b.N)
	f(o.vecs, b.N, o.nums)
	for k, v := range o.vecs {
		if v.Valid == nil || o.n.NullEqual != nil && o.n.NullEqual[k] {
			continue
		}
		for i := range o.nums {
			if v.IsNull(i) {
				o.nums[i] = missing
			}
		}
	}
	return nil
}

// Next implements Operator.
func (o *hashJoin) Next() (*vector.Batch, error) {
	if !o.built {
		if err := o.build(); err != nil {
			return nil, err
		}
		o.built = true
	}
	if o.pairs.right.n == 0 && (o.n.Kind == logical.Inner || o.n.Kind == logical.Semi) {
		return nil, nil
	}
	for {
		if o.pairs.left == nil {
			b, err := o.left.Next()
			if b == nil || err != nil {
				return nil, err
			}
			if err := o.probe(b.Flat(&o.flat)); err != nil {
				return nil, err
			}
		}
		done := o.collect()
		out, err := o.pairs.flush()
		if err != nil {
			return nil, err
		}
		if out != nil {
			return out, nil
		}
		if done {
			rest := o.pairs.rest()
			o.pairs.left = nil
			if rest != nil {
				return rest, nil
			}
		}
	}
}

// probe starts a left batch.
func (o *hashJoin) probe(b *vector.Batch) error {
	if err := o.number(o.lkeys, b, o.group.find); err != nil {
		return err
	}
	o.pairs.startLeft(b)
	o.row, o.next = -1, noRow
	return nil
}

// collect gathers pairs until the batch is full; true: the left batch is through.
func (o *hashJoin) collect() bool {
	p := &o.pairs
	first := p.cond == nil && (p.kind == logical.Semi || p.kind == logical.Anti)
	for {
		for o.next != noRow {
			if p.full() {
				return false
			}
			if !p.wanted(o.row) {
				o.next = noRow
				break
			}
			p.add(int32(o.row), o.next)
			o.next = o.chain[o.next]
			if first {
				o.next = noRow
			}
		}
		if o.row++; o.row >= p.left.N {
			o.row = p.left.N
			return true
		}
		if x := o.nums[o.row]; x != missing {
			o.next = o.head[x]
		}
	}
}

// Close implements Operator.
func (o *hashJoin) Close() error {
	o.group, o.head, o.chain, o.pairs.right, o.pairs.left = nil, nil, nil, nil, nil
	o.held.release()
	return firstError(o.left.Close(), o.right.Close())
}

// nestedLoop joins by testing every pair; the right input is kept in memory.
type nestedLoop struct {
	n           *physical.NestedLoop
	left, right Operator
	held        account

	ctx   context.Context
	built bool
	pairs pairs
	row   int
	next  uint32
	flat  vector.Batch
}

func (b *builder) newNestedLoop(n *physical.NestedLoop) (Operator, error) {
	o := &nestedLoop{n: n, held: b.account("Nested Loop", n)}
	o.pairs = pairs{kind: n.Kind, ev: b.ev}
	var err error
	if o.left, err = b.build(n.Left); err != nil {
		return nil, err
	}
	if o.right, err = b.build(n.Right); err != nil {
		return nil, err
	}
	if n.On != nil {
		o.pairs.cond, err = eval.Compile(n.On)
	}
	return o, err
}

// Open implements Operator.
func (o *nestedLoop) Open(ctx context.Context) error {
	o.ctx, o.built, o.pairs.left = ctx, false, nil
	o.pairs.l, o.pairs.r = o.pairs.l[:0], o.pairs.r[:0]
	o.pairs.right = newRowStore(kindsOf(o.n.Right.Columns()))
	return firstError(o.right.Open(ctx), o.left.Open(ctx))
}

func (o *nestedLoop) build() error {
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := o.right.Next()
		if b == nil || err != nil {
			return err
		}
		b = b.Flat(&o.flat)
		o.pairs.right.add(b.Cols, b.N, nil)
		if err := o.held.set(o.pairs.right.size()); err != nil {
			return err
		}
	}
}

// Next implements Operator.
func (o *nestedLoop) Next() (*vector.Batch, error) {
	if !o.built {
		if err := o.build(); err != nil {
			return nil, err
		}
		o.built = true
	}
	p := &o.pairs
	for {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		if p.left == nil {
			b, err := o.left.Next()
			if b == nil || err != nil {
				return nil, err
			}
			p.startLeft(b.Flat(&o.flat))
			o.row, o.next = 0, 0
		}
		done := o.collect()
		out, err := p.flush()
		if err != nil {
			return nil, err
		}
		if out != nil {
			return out, nil
		}
		if done {
			rest := p.rest()
			p.left = nil
			if rest != nil {
				return rest, nil
			}
		}
	}
}

// collect gathers pairs until the batch is full; true: the left batch is through.
func (o *nestedLoop) collect() bool {
	p := &o.pairs
	for ; o.row < p.left.N; o.row, o.next = o.row+1, 0 {
		for ; o.next < uint32(p.right.n) && p.wanted(o.row); o.next++ {
			if p.full() {
				return false
			}
			p.add(int32(o.row), o.next)
		}
	}
	return true
}

// Close implements Operator.
func (o *nestedLoop) Close() error {
	o.pairs.right, o.pairs.left = nil, nil
	o.held.release()
	return firstError(o.left.Close(), o.right.Close())
}
