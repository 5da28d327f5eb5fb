package exec

import (
	"context"
	"reflect"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
	"tsdb/planner/scalar"
)

// distinctOp passes the first row of each distinct value of its keys: all
// columns, or the expressions of DISTINCT ON. When memory runs short, rows of
// values that are not there are spread among files, which are looked at one
// after the other at the end. The order of DISTINCT ON's rows would suffer: but
// where they are sorted by its keys, equal rows are neighbours, and only the
// last value need be known.
type distinctOp struct {
	Operator // input
	ev       *eval.Env
	cols     []columnType
	kinds    []vector.Kind   // of the input
	on       []*eval.Program // nil: all columns
	sorted   bool
	held     account

	ctx    context.Context
	group  *grouper
	keys   []*vector.Vector
	nums   []uint32
	sel    []int32
	flat   vector.Batch
	out    vector.Batch
	hash   *rowHasher
	spread *partitions // not nil: rows of new values go there
	tasks  []aggTask
	from   *fileRows // the file in work; nil: the input
	level  int
}

func (b *builder) newDistinct(n *physical.Distinct) (Operator, error) {
	serial := b.serial
	b.serial = serial || n.On != nil // the order of the rows counts
	in, err := b.build(n.Input)
	b.serial = serial
	if err != nil {
		return nil, err
	}
	o := &distinctOp{Operator: in, ev: b.ev, held: b.account("Distinct", n), kinds: kindsOf(n.Input.Columns())}
	if n.On == nil {
		o.cols = newColumns(n.Columns())
		return o, nil
	}
	o.cols = columnTypes(n.On)
	o.sorted = sortedBy(n.Input, n.On)
	o.keys = make([]*vector.Vector, len(n.On))
	o.on, err = compileAll(n.On)
	return o, err
}

// sortedBy reports whether the rows of n are sorted by the keys first, in any order of the keys.
func sortedBy(n physical.Node, keys []scalar.Expr) bool {
	s, ok := n.(*physical.Sort)
	if !ok || len(s.Keys) < len(keys) {
		return false
	}
	for _, k := range s.Keys[:len(keys)] {
		if !slices.ContainsFunc(keys, func(e scalar.Expr) bool { return reflect.DeepEqual(e, k.Expr) }) {
			return false
		}
	}
	return true
}

// Open implements Operator.
func (o *distinctOp) Open(ctx context.Context) error {
	o.ctx, o.group, o.from, o.level = ctx, newGrouper(o.cols), nil, 0
	o.hash = newRowHasher(o.cols)
	return o.Operator.Open(ctx)
}

// Next implements Operator.
func (o *distinctOp) Next() (*vector.Batch, error) {
	for {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		b, err := o.input()
		if err != nil {
			return nil, err
		}
		if b == nil {
			if more, err := o.nextFile(); err != nil || !more {
				return nil, err
			}
			continue
		}
		b = b.Flat(&o.flat)
		if err := o.pick(b); err != nil {
			return nil, err
		}
		if len(o.sel) == 0 {
			continue
		}
		if len(o.sel) == b.N {
			return b, nil
		}
		return gatherRows(&o.out, b, o.sel), nil
	}
}

func (o *distinctOp) input() (*vector.Batch, error) {
	if o.from != nil {
		return o.from.next()
	}
	return o.Operator.Next()
}

// nextFile goes on with the rows of the next file; false: there is none.
func (o *distinctOp) nextFile() (bool, error) {
	if o.from != nil {
		if err := o.from.file.Close(); err != nil {
			return false, err
		}
		o.from = nil
	}
	if o.spread != nil {
		files, err := o.spread.finish()
		if err != nil {
			return false, err
		}
		for _, f := range files {
			if f != nil {
				o.tasks = append(o.tasks, aggTask{f, o.level + 1})
			}
		}
		o.spread = nil
	}
	if len(o.tasks) == 0 {
		return false, nil
	}
	last := len(o.tasks) - 1
	o.from, o.level = readRows(o.tasks[last].file), o.tasks[last].level
	o.tasks = o.tasks[:last]
	o.group = newGrouper(o.cols)
	return true, o.held.set(0)
}

// pick sets sel to the rows of b that are new.
func (o *distinctOp) pick(b *vector.Batch) error {
	keys := b.Cols
	if o.on != nil {
		for i, p := range o.on {
			v, err := p.Eval(o.ev, b)
			if err != nil {
				return err
			}
			o.keys[i] = v
		}
		keys = o.keys
	}
	o.nums = numbersFor(o.nums, b.N)
	o.sel = o.sel[:0]
	if o.spread != nil {
		o.group.find(keys, b.N, o.nums)
		for i, x := range o.nums {
			if x == missing {
				o.sel = append(o.sel, int32(i))
			}
		}
		if len(o.sel) == 0 {
			return nil
		}
		err := o.spread.add(b.Cols, b.N, o.sel, o.hash.hash(keys, b.N))
		o.sel = o.sel[:0]
		return err
	}
	seen := uint32(o.group.count())
	if len(o.cols) == 0 { // rows without columns are all equal
		seen = 0
		if o.held.held > 0 {
			seen = 1
		}
	}
	o.group.assign(keys, b.N, o.nums)
	for i, x := range o.nums {
		if x == seen {
			seen++
			o.sel = append(o.sel, int32(i))
		}
	}
	return o.account(keys, b.N)
}

// account sets what the values hold, and makes room where that is too much; the
// keys are those of the batch in work, of n rows.
func (o *distinctOp) account(keys []*vector.Vector, n int) error {
	size := o.group.size() + 1
	if !o.held.pressed(size) {
		err := o.held.set(size)
		if err == nil || !o.held.spills() {
			return err
		}
	}
	if o.sorted {
		last := make([]*vector.Vector, len(keys))
		for i, k := range keys {
			last[i] = vector.New(k.Kind, 1)
			last[i].AppendFrom(k, n-1)
		}
		o.group = newGrouper(o.cols)
		o.group.assign(last, 1, o.nums[:1])
		return o.held.set(o.group.size() + 1)
	}
	o.spread = newPartitions(&o.held, o.kinds, o.level)
	o.held.force(size + o.spread.size())
	return nil
}

// numbersFor returns room for n numbers.
func numbersFor(s []uint32, n int) []uint32 {
	if cap(s) < n {
		s = make([]uint32, max(n, vector.BatchSize))
	}
	return s[:n]
}

// Close implements Operator.
func (o *distinctOp) Close() error {
	err := o.spread.close()
	for _, t := range o.tasks {
		err = firstError(err, t.file.Close())
	}
	if o.from != nil {
		err = firstError(err, o.from.file.Close())
	}
	o.group, o.spread, o.tasks, o.from = nil, nil, nil, nil
	o.held.release()
	return firstError(err, o.Operator.Close())
}
