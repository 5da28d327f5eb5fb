package exec

import (
	"tsdb/colstore/vector"
	"tsdb/exec/spill"
	"tsdb/planner/logical"
)

// joinFiles is the part of a hash join whose rows are in files: pairs of a file
// of right and one of left rows, of the same hash bits, joined one after the
// other. A pair whose right rows have no room is spread again; if that does not
// help, for they have one key, it is joined with a part of the right rows at a
// time, and the left rows are read once per part.
type joinFiles struct {
	tasks  []joinTask
	spread *partitions // while rows are spread

	task  joinTask
	open  bool // task has files
	left  *fileRows
	right *fileRows     // of a task that is joined in parts
	more  *vector.Batch // the first rows of the next part, nil: this is the last

	matched []bool // of all left rows of a task that is joined in parts
	unknown []bool
	at      int // left rows read
}

// joinTask is a pair of files; nil: no rows.
type joinTask struct {
	right, left *spill.File
	level       int  // how often the rows were spread
	ownRight    bool // the right file is this join's, not the table's
	parts       bool // to be joined in parts
}

func (t *joinTask) close() error {
	var err error
	if t.left != nil {
		err = t.left.Close()
	}
	if t.right != nil && t.ownRight {
		err = firstError(err, t.right.Close())
	}
	t.left, t.right = nil, nil
	return err
}

// spreadLeft spreads the left input as the right one is.
func (o *hashJoin) spreadLeft() error {
	f := &joinFiles{}
	o.files = f // Close finds what is half done
	f.spread = newPartitions(&o.held, kindsOf(o.n.Left.Columns()), 0)
	o.held.force(f.spread.size())
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := o.left.Next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := o.keys.spread(f.spread, b.Flat(&o.flat)); err != nil {
			return err
		}
	}
	left, err := f.spread.finish()
	if err != nil {
		return err
	}
	f.spread = nil
	for i := range left {
		if err := f.add(o, joinTask{right: o.table.files[i], left: left[i], level: 1}); err != nil {
			return err
		}
	}
	return o.held.set(0)
}

// add adds a task unless nothing can come of it.
func (f *joinFiles) add(o *hashJoin, t joinTask) error {
	if t.left == nil && (t.right == nil || o.n.Kind != logical.Full) || t.right == nil && o.pointless() {
		return t.close()
	}
	f.tasks = append(f.tasks, t)
	return nil
}

// load makes the right rows of the next task, or their next part, those in
// work; false: there are no more.
func (f *joinFiles) load(o *hashJoin) (bool, error) {
	if f.open {
		return true, f.part(o)
	}
	for len(f.tasks) > 0 {
		last := len(f.tasks) - 1
		f.task = f.tasks[last]
		f.tasks = f.tasks[:last]
		f.open, f.right, f.more = true, nil, nil
		done, err := f.loadTask(o)
		if err != nil || done {
			return done, err
		}
	}
	return false, nil
}

// loadTask loads the right rows of the task; false: they had no room and the
// task was divided.
func (f *joinFiles) loadTask(o *hashJoin) (bool, error) {
	if f.task.right == nil {
		return true, f.begin(o, newJoinRows(o.n))
	}
	if f.task.parts {
		return true, f.startParts(o)
	}
	rows, in := newJoinRows(o.n), readRows(f.task.right)
	for {
		if err := canceled(o.ctx); err != nil {
			return false, err
		}
		b, err := in.next()
		if err != nil {
			return false, err
		}
		if b == nil {
			return true, f.begin(o, rows)
		}
		if err := rows.add(&o.rightKeys, b); err != nil {
			return false, err
		}
		if f.tooMany(o, rows) {
			return false, f.divide(o)
		}
	}
}

// tooMany accounts for the right rows and reports whether they have no room.
func (f *joinFiles) tooMany(o *hashJoin, rows *joinRows) bool {
	size := rows.size() + int64(len(f.matched)+len(f.unknown))
	if o.held.pressed(size) {
		return true
	}
	return o.held.set(size) != nil
}

// begin makes rows the right rows in work, and reads the left rows from the front.
func (f *joinFiles) begin(o *hashJoin, rows *joinRows) error {
	o.use(rows)
	f.left, f.at = nil, 0
	if f.task.left != nil {
		f.left = readRows(f.task.left)
	}
	return nil
}

// divide spreads both files of the task by further bits.
func (f *joinFiles) divide(o *hashJoin) error {
	t := f.task
	right, err := f.spreadFile(o, t.right, &o.rightKeys, kindsOf(o.n.Right.Columns()))
	if err != nil {
		return err
	}
	var left []*spill.File
	if t.left != nil {
		if left, err = f.spreadFile(o, t.left, &o.keys, kindsOf(o.n.Left.Columns())); err != nil {
			return firstError(err, closeFiles(right))
		}
	} else {
		left = make([]*spill.File, len(right))
	}
	for i, r := range right {
		next := joinTask{right: r, left: left[i], level: t.level + 1, ownRight: true}
		next.parts = r != nil && r.Rows() == t.right.Rows() || next.level > maxLevel
		if err := f.add(o, next); err != nil {
			return err
		}
	}
	f.open = false
	return f.task.close()
}

func (f *joinFiles) spreadFile(o *hashJoin, from *spill.File, keys *keyNumbers, kinds []vector.Kind) ([]*spill.File, error) {
	f.spread = newPartitions(&o.held, kinds, f.task.level)
	o.held.force(f.spread.size())
	in := readRows(from)
	for {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		b, err := in.next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			files, err := f.spread.finish()
			if err == nil {
				f.spread = nil
			}
			return files, err
		}
		if err := keys.spread(f.spread, b); err != nil {
			return nil, err
		}
	}
}

// startParts begins a task whose right rows are taken a part at a time.
func (f *joinFiles) startParts(o *hashJoin) error {
	f.matched, f.unknown = nil, nil
	if f.task.left != nil && o.n.Kind != logical.Inner {
		f.matched = make([]bool, f.task.left.Rows())
		if o.n.Kind == logical.Mark {
			f.unknown = make([]bool, f.task.left.Rows())
		}
	}
	f.right = readRows(f.task.right)
	var err error
	if f.more, err = f.right.next(); err != nil {
		return err
	}
	return f.part(o)
}

// part loads the next part of the right rows.
func (f *joinFiles) part(o *hashJoin) error {
	rows := newJoinRows(o.n)
	for f.more != nil {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		if err := rows.add(&o.rightKeys, f.more); err != nil {
			return err
		}
		var err error
		if f.more, err = f.right.next(); err != nil {
			return err
		}
		if f.tooMany(o, rows) {
			o.held.force(rows.size() + int64(len(f.matched)+len(f.unknown)))
			break
		}
	}
	return f.begin(o, rows)
}

// moreRight reports whether further right rows will meet the left rows.
func (f *joinFiles) moreRight() bool { return f.right != nil && f.more != nil }

func (f *joinFiles) nextLeft() (*vector.Batch, error) {
	if f.left == nil {
		return nil, nil
	}
	return f.left.next()
}

// marks gives a left batch what is known of its rows from the parts before.
func (f *joinFiles) marks(p *pairs) {
	if f.right == nil || p.kind == logical.Inner {
		return
	}
	lo, hi := f.at, f.at+p.left.N
	p.matched = f.matched[lo:hi:hi]
	if p.kind == logical.Mark {
		p.unknown = f.unknown[lo:hi:hi]
	}
	f.at = hi
}

// end ends the task, or the part of it that was in work.
func (f *joinFiles) end(o *hashJoin) error {
	o.rows, o.pairs.seen = nil, nil
	if f.moreRight() {
		return nil
	}
	if f.right != nil { // the memory of the marks is the task's
		o.pairs.matched, o.pairs.unknown = nil, nil
		f.matched, f.unknown, f.right = nil, nil, nil
	}
	f.open, f.left = false, nil
	return f.task.close()
}

// close removes the files.
func (f *joinFiles) close() error {
	if f == nil {
		return nil
	}
	err := firstError(f.spread.close(), f.task.close())
	for i := range f.tasks {
		err = firstError(err, f.tasks[i].close())
	}
	f.tasks = nil
	return err
}
