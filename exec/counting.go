package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/spill"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
)

// setOp is INTERSECT and EXCEPT: it counts the right rows per distinct value,
// then passes or drops left rows by these counts. When memory runs short, rows
// of values that are not there are spread among files, right and left ones
// alike, and then it does the same with each pair of files.
type setOp struct {
	n           *physical.SetOp
	left, right Operator
	cols        []columnType
	held        account

	ctx    context.Context
	built  bool
	group  *grouper
	counts []int64 // right rows by number
	nums   []uint32
	sel    []int32
	flat   vector.Batch
	out    vector.Batch

	hash                    *rowHasher
	level                   int
	spreadRight, spreadLeft *partitions // not nil: rows of new values go there
	task                    setTask
	fromRight, fromLeft     *fileRows // of the task in work
	inFiles                 bool      // tasks are in work, the inputs are read
	tasks                   []setTask
}

// setTask is a pair of files; nil: no rows.
type setTask struct {
	right, left *spill.File
	level       int
}

func (t *setTask) close() error {
	err := closeFiles([]*spill.File{t.right, t.left})
	t.right, t.left = nil, nil
	return err
}

func (b *builder) newSetOp(n *physical.SetOp) (Operator, error) {
	l, err := b.build(n.Left)
	if err != nil {
		return nil, err
	}
	r, err := b.build(n.Right)
	return &setOp{n: n, left: l, right: r, cols: newColumns(n.Cols), held: b.account("SetOp", n)}, err
}

// Open implements Operator.
func (o *setOp) Open(ctx context.Context) error {
	o.ctx, o.inFiles, o.level = ctx, false, 0
	o.hash = newRowHasher(o.cols)
	o.restart()
	return firstError(o.left.Open(ctx), o.right.Open(ctx))
}

// restart forgets all values.
func (o *setOp) restart() {
	o.built, o.counts, o.group = false, nil, newGrouper(o.cols)
}

// Next implements Operator.
func (o *setOp) Next() (*vector.Batch, error) {
	for {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		if !o.built {
			if err := o.countRight(); err != nil {
				return nil, err
			}
			o.built = true
		}
		b, err := o.nextLeft()
		if err != nil {
			return nil, err
		}
		if b == nil {
			if more, err := o.nextTask(); err != nil || !more {
				return nil, err
			}
			continue
		}
		b = b.Flat(&o.flat)
		if err := o.number(b, o.spreadLeft); err != nil {
			return nil, err
		}
		o.sel = o.sel[:0]
		for i, x := range o.nums {
			if x != missing && o.passes(&o.counts[x]) {
				o.sel = append(o.sel, int32(i))
			}
		}
		if len(o.sel) > 0 {
			return gatherRows(&o.out, b, o.sel), nil
		}
	}
}

func (o *setOp) nextLeft() (*vector.Batch, error) {
	switch {
	case o.fromLeft != nil:
		return o.fromLeft.next()
	case o.inFiles:
		return nil, nil
	}
	return o.left.Next()
}

func (o *setOp) nextRight() (*vector.Batch, error) {
	switch {
	case o.fromRight != nil:
		return o.fromRight.next()
	case o.inFiles:
		return nil, nil
	}
	return o.right.Next()
}

// returned marks a value that was returned and is not to be returned again.
const returned = -1

// passes decides on one left row and updates the count of its value.
func (o *setOp) passes(count *int64) bool {
	intersect := o.n.Kind == logical.Intersect
	if o.n.All {
		if *count > 0 {
			*count--
			return intersect
		}
		return !intersect
	}
	pass := *count > 0
	if !intersect {
		pass = *count == 0
	}
	if pass {
		*count = returned
	}
	return pass
}

func (o *setOp) countRight() error {
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := o.nextRight()
		if b == nil || err != nil {
			return err
		}
		if err := o.number(b.Flat(&o.flat), o.spreadRight); err != nil {
			return err
		}
		for _, x := range o.nums {
			if x != missing {
				o.counts[x]++
			}
		}
	}
}

// number sets nums to the numbers of the rows of b, missing where a row went to
// a file of spread.
func (o *setOp) number(b *vector.Batch, spread *partitions) error {
	o.nums = numbersFor(o.nums, b.N)
	if spread != nil {
		o.group.find(b.Cols, b.N, o.nums)
		o.sel = o.sel[:0]
		for i, x := range o.nums {
			if x == missing {
				o.sel = append(o.sel, int32(i))
			}
		}
		if len(o.sel) == 0 {
			return nil
		}
		return spread.add(b.Cols, b.N, o.sel, o.hash.hash(b.Cols, b.N))
	}
	o.group.assign(b.Cols, b.N, o.nums)
	for len(o.counts) < o.group.count() {
		o.counts = append(o.counts, 0)
	}
	return o.account()
}

// account sets what the values hold; where that is too much, there will be no more.
func (o *setOp) account() error {
	size := o.group.size() + int64(cap(o.counts))*8
	if !o.held.pressed(size) {
		err := o.held.set(size)
		if err == nil || !o.held.spills() {
			return err
		}
	}
	kinds := kindsOf(o.n.Cols)
	o.spreadLeft = newPartitions(&o.held, kinds, o.level)
	if !o.built {
		o.spreadRight = newPartitions(&o.held, kinds, o.level)
	}
	o.held.force(size + o.spreadLeft.size() + o.spreadRight.size())
	return nil
}

// nextTask goes on with the next pair of files; false: there is none.
func (o *setOp) nextTask() (bool, error) {
	if err := o.addTasks(); err != nil {
		return false, err
	}
	if err := o.task.close(); err != nil {
		return false, err
	}
	o.fromLeft, o.fromRight, o.inFiles = nil, nil, true
	if len(o.tasks) == 0 {
		return false, nil
	}
	last := len(o.tasks) - 1
	o.task = o.tasks[last]
	o.tasks = o.tasks[:last]
	o.level = o.task.level
	if o.task.left != nil {
		o.fromLeft = readRows(o.task.left)
	}
	if o.task.right != nil {
		o.fromRight = readRows(o.task.right)
	}
	o.restart()
	return true, o.held.set(0)
}

// addTasks makes tasks of the rows that were spread.
func (o *setOp) addTasks() error {
	if o.spreadLeft == nil {
		return nil
	}
	left, err := o.spreadLeft.finish()
	if err != nil {
		return err
	}
	o.spreadLeft = nil
	right := make([]*spill.File, len(left))
	if o.spreadRight != nil {
		if right, err = o.spreadRight.finish(); err != nil {
			return err
		}
		o.spreadRight = nil
	}
	for i := range left {
		t := setTask{right: right[i], left: left[i], level: o.level + 1}
		if t.left != nil {
			o.tasks = append(o.tasks, t)
		} else if err := t.close(); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Operator.
func (o *setOp) Close() error {
	err := firstError(o.spreadLeft.close(), o.spreadRight.close(), o.task.close())
	for i := range o.tasks {
		err = firstError(err, o.tasks[i].close())
	}
	o.group, o.counts, o.spreadLeft, o.spreadRight, o.tasks, o.fromLeft, o.fromRight = nil, nil, nil, nil, nil, nil, nil
	o.held.release()
	return firstError(err, o.left.Close(), o.right.Close())
}
