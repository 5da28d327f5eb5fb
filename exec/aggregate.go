package exec

import (
	"context"
	"errors"

	"tsdb/colstore/vector"
	"tsdb/exec/spill"
	"tsdb/planner/physical"
)

// aggregateOp groups rows and computes aggregates. Over a chain worth several
// workers, each worker groups its share and the groups are merged.
//
// When memory runs short, the groups that are there stay and take their rows;
// rows of other groups are spread by hash among files, which are grouped one
// after the other once these groups are returned. States that grow with their
// rows instead of their groups (array_agg, percentiles) cannot be kept like
// that: then the input is read anew, and these rows are sorted by group.
type aggregateOp struct {
	b      *builder
	n      *physical.Aggregate
	inputs []Operator  // one, or one per worker
	tables []*aggTable // likewise
	scan   *sharedScan // of the workers
	source *physical.Scan

	ctx     context.Context
	started bool // the input is read
	loaded  bool // tables[0] has groups to return
	next    int  // group to return next
	tasks   []aggTask
	out     vector.Batch
}

// aggTask is a file of rows that are yet to be grouped.
type aggTask struct {
	file  *spill.File
	level int
}

func (b *builder) newAggregate(n *physical.Aggregate) (Operator, error) {
	o := &aggregateOp{b: b, n: n}
	parallel, scan := b.parallelChain(n.Input)
	ordered := false
	for i := range n.Aggs {
		a := &n.Aggs[i]
		ordered = ordered || a.Fn.Ordered
		parallel = parallel && !a.Distinct && !a.Fn.Ordered && !aggHasSubquery(a)
	}
	var err error
	if parallel && !hasSubquery(n.Keys...) {
		o.source = scan
		o.scan, o.inputs, err = b.buildChains(n.Input, b.workerCount(scan))
	} else {
		o.inputs = make([]Operator, 1)
		serial := b.serial
		b.serial = serial || ordered
		o.inputs[0], err = b.build(n.Input)
		b.serial = serial
	}
	if err != nil {
		return nil, err
	}
	held := b.account("Aggregate", n)
	for range o.inputs {
		t, err := newAggTable(b.ev, n, held.among(len(o.inputs)))
		if err != nil {
			return nil, err
		}
		t.canRestart = !readsGiven(n.Input)
		o.tables = append(o.tables, t)
	}
	return o, nil
}

// readsGiven reports whether a plan reads rows that come once.
func readsGiven(n physical.Node) bool {
	if _, ok := n.(*physical.Given); ok {
		return true
	}
	for _, in := range n.Inputs() {
		if readsGiven(in) {
			return true
		}
	}
	return false
}

// Open implements Operator.
func (o *aggregateOp) Open(ctx context.Context) error {
	o.ctx, o.started, o.loaded, o.tasks = ctx, false, false, nil
	for _, t := range o.tables {
		t.gather = false
	}
	if o.scan == nil {
		return o.inputs[0].Open(ctx)
	}
	return nil
}

// Next implements Operator.
func (o *aggregateOp) Next() (*vector.Batch, error) {
	t := o.tables[0]
	for {
		if !o.loaded {
			more, err := o.load()
			if err != nil || !more {
				return nil, err
			}
			o.loaded, o.next = true, 0
		}
		if total := t.groups(); o.next < total {
			if err := canceled(o.ctx); err != nil {
				return nil, err
			}
			hi, err := t.result(o.b.env.Ctx, &o.out, o.next, total)
			o.next = hi
			return &o.out, err
		}
		o.loaded = false
	}
}

// load makes tables[0] hold the next groups; false: there are none.
func (o *aggregateOp) load() (bool, error) {
	if !o.started {
		o.started = true
		err := o.consume()
		if errors.Is(err, errGather) {
			err = o.again()
		}
		return err == nil, err
	}
	if len(o.tasks) == 0 {
		return false, nil
	}
	last := len(o.tasks) - 1
	task := o.tasks[last]
	o.tasks = o.tasks[:last]
	o.tables[0].start(o.ctx, task.level)
	if err := o.feedFile(task.file); err != nil {
		return false, err
	}
	return true, o.finish()
}

// again reads the input anew for aggregates whose states had no room.
func (o *aggregateOp) again() error {
	err := o.closeInputs()
	for _, t := range o.tables {
		err = firstError(err, t.drop())
	}
	if err != nil {
		return err
	}
	t := o.tables[0]
	t.gather = true
	t.start(o.ctx, 0)
	if o.scan != nil {
		if err := o.scan.open(o.ctx, o.b, o.source); err != nil {
			return err
		}
	}
	if err := o.inputs[0].Open(o.ctx); err != nil {
		return err
	}
	if err := o.feed(o.ctx, 0); err != nil {
		return err
	}
	return o.finish()
}

func (o *aggregateOp) consume() error {
	for _, t := range o.tables {
		t.start(o.ctx, 0)
	}
	if o.scan == nil {
		if err := o.feed(o.ctx, 0); err != nil {
			return err
		}
		return o.finish()
	}
	if err := o.scan.open(o.ctx, o.b, o.source); err != nil {
		return err
	}
	return o.consumeParallel(min(len(o.inputs), max(1, o.scan.scan.Morsels())))
}

// finish ends the input of tables[0]; files of rows not yet grouped become tasks.
func (o *aggregateOp) finish() error {
	t := o.tables[0]
	if t.spread != nil {
		level := t.spread.level + 1
		files, err := t.spread.finish()
		if err != nil {
			return err
		}
		t.spread = nil
		for _, f := range files {
			if f != nil {
				o.tasks = append(o.tasks, aggTask{f, level})
			}
		}
	}
	return t.finish()
}

// feed adds all rows of input i to its table.
func (o *aggregateOp) feed(ctx context.Context, i int) error {
	for {
		if err := canceled(ctx); err != nil {
			return err
		}
		b, err := o.inputs[i].Next()
		if b == nil || err != nil {
			return err
		}
		if err := o.tables[i].add(b); err != nil {
			return err
		}
	}
}

// feedFile adds the rows of a file to tables[0] and removes the file.
func (o *aggregateOp) feedFile(f *spill.File) error {
	rows := readRows(f)
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := rows.next()
		if err != nil {
			return err
		}
		if b == nil {
			return f.Close()
		}
		if err := o.tables[0].add(b); err != nil {
			return err
		}
	}
}

func (o *aggregateOp) consumeParallel(workers int) error {
	ctx, cancel := context.WithCancel(o.ctx)
	defer cancel()
	errs := make(chan error, workers)
	for i := range workers {
		o.tables[i].shared = workers > 1
		go func() {
			err := o.inputs[i].Open(ctx)
			if err == nil {
				err = o.feed(ctx, i)
			}
			errs <- err // before the others notice that they are to stop
			if err != nil {
				cancel()
			}
		}()
	}
	var first error
	for range workers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	if s := o.tables[0].held.stats; s != nil {
		s.workers.Store(int64(workers))
	}
	if first != nil {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		return first
	}
	return o.mergeTables(workers)
}

// mergeTables makes tables[0] hold the groups of all workers, and gives it the
// rows that some of them had no room for.
func (o *aggregateOp) mergeTables(workers int) error {
	all := o.tables[0]
	all.shared = false
	var files []*spill.File
	for i, t := range o.tables[:workers] {
		if t.spread != nil {
			rest, err := t.spread.finish()
			if err != nil {
				return err
			}
			files, t.spread = append(files, rest...), nil
		}
		if i == 0 {
			continue
		}
		if err := canceled(o.ctx); err != nil {
			return err
		}
		if err := all.merge(t); err != nil {
			return err
		}
		if err := firstError(t.drop(), all.account(false)); err != nil {
			return err
		}
	}
	if len(files) > 0 {
		all.freeze()
	}
	for _, f := range files {
		if f == nil {
			continue
		}
		if err := o.feedFile(f); err != nil {
			return err
		}
	}
	return o.finish()
}

func (o *aggregateOp) closeInputs() error {
	var err error
	for _, in := range o.inputs {
		err = firstError(err, in.Close())
	}
	if o.scan != nil {
		err = firstError(err, o.scan.close())
	}
	return err
}

// Close implements Operator.
func (o *aggregateOp) Close() error {
	err := o.closeInputs()
	for _, t := range o.tables {
		err = firstError(err, t.drop())
	}
	for _, t := range o.tasks {
		err = firstError(err, t.file.Close())
	}
	o.tasks = nil
	return err
}
