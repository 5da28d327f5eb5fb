package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
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

// hashTable is the right side of a hash join: its rows, with the keys numbered
// and rows of equal keys chained. Workers that probe share it.
type hashTable struct {
	n     *physical.HashJoin
	ev    *eval.Env
	right Operator
	keys  keyNumbers
	held  account

	rows  *rowStore
	group *grouper
	head  []uint32 // first row by key number
	chain []uint32 // next row with the same key, noRow: none
	flat  vector.Batch
}

func (b *builder) newHashTable(n *physical.HashJoin) (*hashTable, error) {
	right, err := b.build(n.Right)
	if err != nil {
		return nil, err
	}
	t := &hashTable{n: n, ev: b.ev, right: right, held: b.account("Hash Join", n)}
	t.keys, err = newKeyNumbers(b.ev, n.RightKeys, n.NullEqual)
	return t, err
}

// build reads the right input.
func (t *hashTable) build(ctx context.Context) error {
	t.rows = newRowStore(kindsOf(t.n.Right.Columns()))
	cols := make([]columnType, len(t.n.RightKeys))
	for i, typ := range argTypes(t.n.RightKeys) {
		cols[i] = columnType{typ, typ.Kind()}
	}
	t.group, t.head, t.chain = newGrouper(cols), nil, nil
	if err := t.right.Open(ctx); err != nil {
		return err
	}
	for {
		if err := canceled(ctx); err != nil {
			return err
		}
		b, err := t.right.Next()
		if b == nil || err != nil {
			return firstError(err, t.right.Close())
		}
		if err := t.add(b.Flat(&t.flat)); err != nil {
			return err
		}
		size := t.rows.size() + t.group.size() + int64(cap(t.head)+cap(t.chain))*4
		if err := t.held.set(size); err != nil {
			return err
		}
	}
}

func (t *hashTable) add(b *vector.Batch) error {
	nums, err := t.keys.of(b, t.group.assign)
	if err != nil {
		return err
	}
	base := uint32(t.rows.n)
	t.rows.add(b.Cols, b.N, nil)
	for len(t.head) < t.group.count() {
		t.head = append(t.head, noRow)
	}
	for i, x := range nums {
		t.chain = append(t.chain, noRow)
		if x != missing {
			t.chain[len(t.chain)-1] = t.head[x]
			t.head[x] = base + uint32(i)
		}
	}
	return nil
}

func (t *hashTable) close() error {
	t.rows, t.group, t.head, t.chain = nil, nil, nil, nil
	t.held.release()
	return t.right.Close()
}

// keyNumbers computes the key numbers of a batch's rows.
type keyNumbers struct {
	ev        *eval.Env
	progs     []*eval.Program
	nullEqual []bool // nil: a NULL never matches
	vecs      []*vector.Vector
	nums      []uint32
}

func newKeyNumbers(ev *eval.Env, keys []scalar.Expr, nullEqual []bool) (keyNumbers, error) {
	progs, err := compileAll(keys)
	return keyNumbers{ev: ev, progs: progs, nullEqual: nullEqual, vecs: make([]*vector.Vector, len(keys))}, err
}

// of returns the numbers that f gives the keys, missing where a NULL cannot match.
func (k *keyNumbers) of(b *vector.Batch, f func([]*vector.Vector, int, []uint32)) ([]uint32, error) {
	for i, p := range k.progs {
		v, err := p.Eval(k.ev, b)
		if err != nil {
			return nil, err
		}
		k.vecs[i] = v
	}
	k.nums = numbersFor(k.nums, b.N)
	f(k.vecs, b.N, k.nums)
	for c, v := range k.vecs {
		if v.Valid == nil || k.nullEqual != nil && k.nullEqual[c] {
			continue
		}
		for i := range k.nums {
			if v.IsNull(i) {
				k.nums[i] = missing
			}
		}
	}
	return k.nums, nil
}

// hashJoin looks left rows up in a hashTable, its own or one that it shares
// with other workers.
type hashJoin struct {
	n     *physical.HashJoin
	left  Operator
	keys  keyNumbers
	table *hashTable
	own   bool

	ctx   context.Context
	group *grouper // view of the table's; nil: not ready
	nums  []uint32
	pairs pairs
	row   int    // left row in work
	next  uint32 // its next right row
	flat  vector.Batch

	leftKinds []vector.Kind // of a full join
}

func (b *builder) newHashJoin(n *physical.HashJoin, source *sharedScan) (Operator, error) {
	o := &hashJoin{n: n, own: source == nil}
	o.pairs = pairs{kind: n.Kind, ev: b.ev}
	var err error
	if o.left, err = b.input(n.Left, source); err != nil {
		return nil, err
	}
	if o.own {
		o.table, err = b.newHashTable(n)
	} else {
		o.table, err = source.table(b, n)
	}
	if err != nil {
		return nil, err
	}
	if o.keys, err = newKeyNumbers(b.ev, n.LeftKeys, n.NullEqual); err != nil {
		return nil, err
	}
	if n.Kind == logical.Full {
		o.leftKinds = kindsOf(n.Left.Columns())
	}
	if n.Test != nil {
		if o.pairs.test, err = eval.Compile(n.Test); err != nil {
			return nil, err
		}
	}
	if n.Residual != nil {
		o.pairs.cond, err = eval.Compile(n.Residual)
	}
	return o, err
}

// Open implements Operator.
func (o *hashJoin) Open(ctx context.Context) error {
	o.ctx, o.group, o.pairs.left, o.pairs.seen, o.pairs.at = ctx, nil, nil, nil, 0
	o.pairs.l, o.pairs.r = o.pairs.l[:0], o.pairs.r[:0]
	return o.left.Open(ctx)
}

// ready builds the table, or takes the one that is built.
func (o *hashJoin) ready() error {
	if o.own {
		if err := o.table.build(o.ctx); err != nil {
			return err
		}
	}
	o.group = o.table.group.view()
	o.pairs.right = o.table.rows
	return nil
}

// Next implements Operator.
func (o *hashJoin) Next() (*vector.Batch, error) {
	if o.group == nil {
		if err := o.ready(); err != nil {
			return nil, err
		}
	}
	if o.pairs.right.n == 0 && (o.n.Kind == logical.Inner || o.n.Kind == logical.Semi) {
		return nil, nil
	}
	for {
		if o.pairs.left == nil {
			b, err := o.left.Next()
			if err != nil {
				return nil, err
			}
			if b == nil {
				return o.pairs.unmatched(o.leftKinds), nil
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
	var err error
	if o.nums, err = o.keys.of(b, o.group.find); err != nil {
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
			o.next = o.table.chain[o.next]
			if first {
				o.next = noRow
			}
		}
		if o.row++; o.row >= p.left.N {
			o.row = p.left.N
			return true
		}
		if x := o.nums[o.row]; x != missing {
			o.next = o.table.head[x]
		}
	}
}

// Close implements Operator.
func (o *hashJoin) Close() error {
	o.group, o.pairs.right, o.pairs.left, o.pairs.seen = nil, nil, nil, nil
	if o.own {
		return firstError(o.left.Close(), o.table.close())
	}
	return o.left.Close()
}
