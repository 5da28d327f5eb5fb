package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
)

// hashJoin looks left rows up in a hashTable, its own or one that it shares
// with other workers. Where the table is in files, the left rows are spread
// likewise, and then file is joined with file (joinFiles).
type hashJoin struct {
	n         *physical.HashJoin
	left      Operator
	keys      keyNumbers
	rightKeys keyNumbers // of right rows read back from files
	table     *hashTable
	own       bool
	held      account // of rows read back from files

	ctx   context.Context
	ready bool
	rows  *joinRows // right rows in work; nil: the next are to be loaded
	group *grouper  // view of its keys
	nums  []uint32
	pairs pairs
	row   int    // left row in work
	next  uint32 // its next right row
	flat  vector.Batch
	files *joinFiles // nil: the table is in memory

	leftKinds []vector.Kind // of a full join
}

func (b *builder) newHashJoin(n *physical.HashJoin, source *sharedScan) (Operator, error) {
	o := &hashJoin{n: n, own: source == nil, held: b.account("Hash Join", n)}
	o.pairs = pairs{kind: n.Kind, ev: b.ev}
	var err error
	if o.left, err = b.input(n.Left, source); err != nil {
		return nil, err
	}
	if o.own {
		o.table, err = b.newHashTable(n)
	} else {
		o.held = o.held.among(source.workers)
		o.table, err = source.table(b, n)
	}
	if err != nil {
		return nil, err
	}
	if o.keys, err = newKeyNumbers(b.ev, n.LeftKeys, n.NullEqual); err != nil {
		return nil, err
	}
	if o.rightKeys, err = newKeyNumbers(b.ev, n.RightKeys, n.NullEqual); err != nil {
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
	o.ctx, o.ready, o.rows, o.files, o.pairs.left = ctx, false, nil, nil, nil
	o.pairs.l, o.pairs.r = o.pairs.l[:0], o.pairs.r[:0]
	return o.left.Open(ctx)
}

// start builds the table, or takes the one that is built.
func (o *hashJoin) start() error {
	o.ready = true
	if o.own {
		if err := o.table.build(o.ctx); err != nil {
			return err
		}
	}
	if o.table.rows == nil {
		return o.spreadLeft()
	}
	o.use(o.table.rows)
	return nil
}

// use makes rows the right rows in work.
func (o *hashJoin) use(rows *joinRows) {
	o.rows, o.group, o.pairs.right = rows, rows.group.view(), rows.rows
	o.pairs.seen, o.pairs.at = nil, 0
}

// pointless reports whether nothing can come of no right rows.
func (o *hashJoin) pointless() bool { return o.n.Kind == logical.Inner || o.n.Kind == logical.Semi }

// Next implements Operator.
func (o *hashJoin) Next() (*vector.Batch, error) {
	if !o.ready {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	if o.files == nil && o.pairs.right.n == 0 && o.pointless() {
		return nil, nil
	}
	for {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		if o.rows == nil {
			if more, err := o.files.load(o); err != nil || !more {
				return nil, err
			}
		}
		if o.pairs.left == nil {
			b, err := o.nextLeft()
			if err != nil {
				return nil, err
			}
			if b == nil {
				rest, err := o.endLeft()
				if rest != nil || err != nil || o.files == nil {
					return rest, err
				}
				continue
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
			rest := o.rest()
			o.pairs.left = nil
			if rest != nil {
				return rest, nil
			}
		}
	}
}

func (o *hashJoin) nextLeft() (*vector.Batch, error) {
	if o.files != nil {
		return o.files.nextLeft()
	}
	return o.left.Next()
}

// endLeft returns what is left to return when all left rows have met the right
// rows in work.
func (o *hashJoin) endLeft() (*vector.Batch, error) {
	if b := o.pairs.unmatched(o.leftKinds); b != nil || o.files == nil {
		return b, nil
	}
	return nil, o.files.end(o)
}

// rest returns what a left batch yields when all its pairs are done.
func (o *hashJoin) rest() *vector.Batch {
	if o.files != nil && o.files.moreRight() {
		return nil
	}
	return o.pairs.rest()
}

// probe starts a left batch.
func (o *hashJoin) probe(b *vector.Batch) error {
	var err error
	if o.nums, err = o.keys.of(b, o.group.find); err != nil {
		return err
	}
	o.pairs.startLeft(b)
	if o.files != nil {
		o.files.marks(&o.pairs)
	}
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
			o.next = o.rows.chain[o.next]
			if first {
				o.next = noRow
			}
		}
		if o.row++; o.row >= p.left.N {
			o.row = p.left.N
			return true
		}
		if x := o.nums[o.row]; x != missing {
			o.next = o.rows.head[x]
		}
	}
}

// Close implements Operator.
func (o *hashJoin) Close() error {
	o.ready, o.rows, o.group, o.pairs.right, o.pairs.left, o.pairs.seen = true, nil, nil, nil, nil, nil
	err := o.files.close()
	o.files = nil
	o.held.release()
	err = firstError(err, o.left.Close())
	if o.own {
		err = firstError(err, o.table.close())
	}
	return err
}
