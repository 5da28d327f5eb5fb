package exec

import (
	"context"
	"errors"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/physical"
	"tsdb/sql/functions"
)

// aggTable is the groups of one worker.
type aggTable struct {
	n    *physical.Aggregate
	ev   *eval.Env
	keys []*eval.Program
	aggs []*aggRun
	held account

	ctx        context.Context
	canRestart bool     // the input can be read twice
	gather     bool     // rows of states that grow with them are sorted by group
	shared     bool     // other workers have groups too
	level      int      // how often the rows were spread before
	group      *grouper // nil: no keys
	number     []uint32 // group of each row of a batch
	vecs       []*vector.Vector
	flat       vector.Batch
	max        int // groups the states have room for
	hash       *rowHasher
	spread     *partitions // not nil: rows of new groups go there
	frozen     int64       // size when spread began
	known      []int32     // rows of the batch whose group is there
	unknown    []int32
	part       vector.Batch
}

// errGather says that the states that grow with their rows have no room, and
// that the input is to be read again for them.
var errGather = errors.New("states without room")

func newAggTable(ev *eval.Env, n *physical.Aggregate, held account) (*aggTable, error) {
	t := &aggTable{n: n, ev: ev, held: held, vecs: make([]*vector.Vector, len(n.Keys))}
	var err error
	if t.keys, err = compileAll(n.Keys); err != nil {
		return nil, err
	}
	for i := range n.Aggs {
		a, err := newAggRun(ev, &n.Aggs[i], held.among(1+len(n.Aggs)))
		if err != nil {
			return nil, err
		}
		t.aggs = append(t.aggs, a)
	}
	return t, nil
}

// start makes the table empty, for rows that were spread level times before.
func (t *aggTable) start(ctx context.Context, level int) {
	t.ctx, t.level, t.group, t.max, t.spread, t.shared, t.frozen = ctx, level, nil, 0, nil, false, 0
	t.held.release()
	if len(t.keys) > 0 {
		t.group = newGrouper(columnTypes(t.n.Keys))
	}
	for _, a := range t.aggs {
		a.start(ctx, t.gather && len(t.keys) > 0)
	}
	t.room()
}

// drop releases the memory of the groups and removes files.
func (t *aggTable) drop() error {
	t.group = nil
	err := t.spread.close()
	t.spread = nil
	for _, a := range t.aggs {
		err = firstError(err, a.drop())
	}
	t.held.release()
	return err
}

func (t *aggTable) groups() int {
	if t.group == nil {
		return 1
	}
	return t.group.count()
}

// room makes the states hold all groups.
func (t *aggTable) room() {
	n := t.groups()
	if n <= t.max {
		return
	}
	t.max = n
	for _, a := range t.aggs {
		a.room(n)
	}
}

func (t *aggTable) size() int64 {
	s := t.spread.size()
	if t.group != nil {
		s += t.group.size()
	}
	for _, a := range t.aggs {
		s += a.size()
	}
	return s
}

// collects reports whether a state grows with its rows.
func (t *aggTable) collects() bool {
	for _, a := range t.aggs {
		if a.collects() && a.buffer == nil {
			return true
		}
	}
	return false
}

// account sets what the table holds. Where that is too much, and spill is set,
// the table takes no more groups.
func (t *aggTable) account(spill bool) error {
	size := t.size()
	if !t.held.pressed(size) {
		err := t.held.set(size)
		if err == nil || !t.held.spills() {
			return err
		}
	}
	if t.group == nil { // there is one group: nothing could be put off
		return t.held.set(size)
	}
	if spill && t.spread == nil {
		if t.collects() && t.canRestart {
			return errGather
		}
		t.freeze()
		t.frozen = t.size()
		t.held.force(t.frozen)
		return nil
	}
	if !spill || size <= t.frozen+t.frozen/4 { // what the groups that stay may grow by
		t.held.force(size)
		return nil
	}
	return t.held.set(size)
}

// freeze makes rows of groups that are not there go to files.
func (t *aggTable) freeze() {
	t.hash = newRowHasher(columnTypes(t.n.Keys))
	t.spread = newPartitions(&t.held, kindsOf(t.n.Input.Columns()), t.level)
	if t.shared { // another worker may have the group: all are looked at again
		t.spread.whole()
	}
}

func (t *aggTable) add(b *vector.Batch) error {
	b = b.Flat(&t.flat)
	var groups []uint32
	if t.group != nil {
		for i, p := range t.keys {
			v, err := p.Eval(t.ev, b)
			if err != nil {
				return err
			}
			t.vecs[i] = v
		}
		t.number = numbersFor(t.number, b.N)
		groups = t.number
		if t.spread != nil {
			var err error
			if b, groups, err = t.addKnown(b, groups); b == nil || err != nil {
				return err
			}
		} else {
			t.group.assign(t.vecs, b.N, groups)
			t.room()
		}
	}
	for _, a := range t.aggs {
		if err := a.add(b, groups); err != nil {
			return err
		}
	}
	return t.account(true)
}

// addKnown writes the rows of groups that are not there to files and returns
// the others, nil if there are none.
func (t *aggTable) addKnown(b *vector.Batch, groups []uint32) (*vector.Batch, []uint32, error) {
	t.group.find(t.vecs, b.N, groups)
	t.known, t.unknown = t.known[:0], t.unknown[:0]
	for i, g := range groups {
		if g == missing {
			t.unknown = append(t.unknown, int32(i))
		} else {
			t.known = append(t.known, int32(i))
		}
	}
	if len(t.unknown) == 0 {
		return b, groups, nil
	}
	if err := t.spread.add(b.Cols, b.N, t.unknown, t.hash.hash(t.vecs, b.N)); err != nil {
		return nil, nil, err
	}
	if len(t.known) == 0 {
		return nil, nil, nil
	}
	for to, i := range t.known {
		groups[to] = groups[i]
	}
	return gatherRows(&t.part, b, t.known), groups[:len(t.known)], nil
}

// merge adds the groups of other, which has seen its whole input.
func (t *aggTable) merge(other *aggTable) error {
	to := make([]uint32, other.groups())
	if t.group != nil {
		for lo := 0; lo < len(to); lo += vector.BatchSize {
			hi := min(len(to), lo+vector.BatchSize)
			for k := range t.keys {
				v := vector.New(t.n.Keys[k].ResultType().Kind(), hi-lo)
				other.group.appendKey(k, v, lo, hi)
				t.vecs[k] = v
			}
			t.group.assign(t.vecs, hi-lo, to[lo:hi])
		}
		t.room()
	}
	for i, a := range t.aggs {
		if err := a.state.Merge(other.aggs[i].state, to); err != nil {
			return err
		}
	}
	return nil
}

// finish ends the input.
func (t *aggTable) finish() error {
	for _, a := range t.aggs {
		if err := a.finish(); err != nil {
			return err
		}
	}
	return nil
}

// result makes out hold groups from lo on and returns where they end.
func (t *aggTable) result(c *functions.Ctx, out *vector.Batch, lo, total int) (int, error) {
	hi := min(total, lo+vector.BatchSize)
	for _, a := range t.aggs {
		hi = a.until(lo, hi)
	}
	shape(out, len(t.keys)+len(t.aggs))
	out.N = hi - lo
	for i := range t.keys {
		v := out.Cols[i]
		v.Reset(t.n.Keys[i].ResultType().Kind())
		t.group.appendKey(i, v, lo, hi)
	}
	for i, a := range t.aggs {
		v := out.Cols[len(t.keys)+i]
		v.Reset(a.call.Typ.Kind())
		if err := a.result(c, v, lo, hi); err != nil {
			return hi, err
		}
	}
	return hi, nil
}
