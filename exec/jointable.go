package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/exec/spill"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
)

// joinRows are right rows of a hash join, with the keys numbered and rows of
// equal keys chained.
type joinRows struct {
	rows  *rowStore
	group *grouper
	head  []uint32 // first row by key number
	chain []uint32 // next row with the same key, noRow: none
}

func newJoinRows(n *physical.HashJoin) *joinRows {
	return &joinRows{rows: newRowStore(kindsOf(n.Right.Columns())), group: newGrouper(columnTypes(n.RightKeys))}
}

func columnTypes(keys []scalar.Expr) []columnType {
	cols := make([]columnType, len(keys))
	for i, typ := range argTypes(keys) {
		cols[i] = columnType{typ, typ.Kind()}
	}
	return cols
}

// size returns the bytes held; a row has a byte more for a full join.
func (t *joinRows) size() int64 {
	return t.rows.size() + t.group.size() + int64(cap(t.head)+cap(t.chain))*4 + int64(t.rows.n)
}

func (t *joinRows) add(keys *keyNumbers, b *vector.Batch) error {
	nums, err := keys.of(b, t.group.assign)
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

// hashTable is the right side of a hash join: its rows in memory, or spread
// among files by the hash of their keys. Workers that probe share it.
type hashTable struct {
	n     *physical.HashJoin
	right Operator
	keys  keyNumbers
	held  account

	ctx    context.Context
	rows   *joinRows   // nil: they are in files
	spread *partitions // while rows are spread
	files  []*spill.File
	flat   vector.Batch
}

func (b *builder) newHashTable(n *physical.HashJoin) (*hashTable, error) {
	right, err := b.build(n.Right)
	if err != nil {
		return nil, err
	}
	t := &hashTable{n: n, right: right, held: b.account("Hash Join", n)}
	t.keys, err = newKeyNumbers(b.ev, n.RightKeys, n.NullEqual)
	return t, err
}

// build reads the right input.
func (t *hashTable) build(ctx context.Context) error {
	t.ctx, t.rows, t.files = ctx, newJoinRows(t.n), nil
	if err := t.right.Open(ctx); err != nil {
		return err
	}
	for {
		if err := canceled(ctx); err != nil {
			return err
		}
		b, err := t.right.Next()
		if err != nil {
			return firstError(err, t.right.Close())
		}
		if b == nil {
			return firstError(t.finish(), t.right.Close())
		}
		if err := t.add(b.Flat(&t.flat)); err != nil {
			return err
		}
	}
}

func (t *hashTable) add(b *vector.Batch) error {
	if t.spread != nil {
		return t.keys.spread(t.spread, b)
	}
	if err := t.rows.add(&t.keys, b); err != nil {
		return err
	}
	size := t.rows.size()
	if !t.held.pressed(size) {
		err := t.held.set(size)
		if err == nil || !t.held.spills() {
			return err
		}
	}
	t.held.force(size)
	return t.spreadRows()
}

// spreadRows moves the rows to files.
func (t *hashTable) spreadRows() error {
	t.spread = newPartitions(&t.held, t.rows.rows.kinds, 0)
	chunks := t.rows.rows.chunks
	t.rows = nil
	for _, c := range chunks {
		if err := canceled(t.ctx); err != nil {
			return err
		}
		if err := t.keys.spread(t.spread, c); err != nil {
			return err
		}
	}
	return t.held.set(t.spread.size())
}

func (t *hashTable) finish() error {
	if t.spread == nil {
		return nil
	}
	files, err := t.spread.finish()
	if err != nil {
		return err
	}
	t.files, t.spread = files, nil
	return t.held.set(0)
}

func (t *hashTable) close() error {
	t.rows = nil
	err := firstError(t.spread.close(), closeFiles(t.files))
	t.spread, t.files = nil, nil
	t.held.release()
	return firstError(err, t.right.Close())
}

func closeFiles(files []*spill.File) error {
	var err error
	for _, f := range files {
		if f != nil {
			err = firstError(err, f.Close())
		}
	}
	return err
}

// keyNumbers computes the key numbers of a batch's rows.
type keyNumbers struct {
	ev        *eval.Env
	progs     []*eval.Program
	nullEqual []bool // nil: a NULL never matches
	vecs      []*vector.Vector
	nums      []uint32
	hash      *rowHasher
}

func newKeyNumbers(ev *eval.Env, keys []scalar.Expr, nullEqual []bool) (keyNumbers, error) {
	progs, err := compileAll(keys)
	return keyNumbers{ev: ev, progs: progs, nullEqual: nullEqual, vecs: make([]*vector.Vector, len(keys)),
		hash: newRowHasher(columnTypes(keys))}, err
}

func (k *keyNumbers) eval(b *vector.Batch) error {
	for i, p := range k.progs {
		v, err := p.Eval(k.ev, b)
		if err != nil {
			return err
		}
		k.vecs[i] = v
	}
	return nil
}

// spread adds rows to partitions by the hash of their keys.
func (k *keyNumbers) spread(to *partitions, b *vector.Batch) error {
	if err := k.eval(b); err != nil {
		return err
	}
	return to.add(b.Cols, b.N, nil, k.hash.hash(k.vecs, b.N))
}

// of returns the numbers that f gives the keys, missing where a NULL cannot match.
func (k *keyNumbers) of(b *vector.Batch, f func([]*vector.Vector, int, []uint32)) ([]uint32, error) {
	if err := k.eval(b); err != nil {
		return nil, err
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
