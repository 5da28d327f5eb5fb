package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
)

// nestedLoop joins by testing every pair. The right input is kept; what of it
// has no room in memory is read from a file once per left batch.
type nestedLoop struct {
	n           *physical.NestedLoop
	left, right Operator
	rows        *rowSpool
	none        *rowStore // stands for right rows where there are none

	ctx   context.Context
	built bool
	pairs pairs
	read  spoolReader // of the right rows, for the left batch in work
	base  int         // number of the first right row in work
	row   int
	r     uint32
	seen  []bool // of a full join: right rows with a pair that counts
	tail  bool   // the left side is through: unmatched right rows are returned
	flat  vector.Batch

	leftKinds []vector.Kind // of a full join
}

func (b *builder) newNestedLoop(n *physical.NestedLoop) (Operator, error) {
	kinds := kindsOf(n.Right.Columns())
	o := &nestedLoop{n: n, rows: newRowSpool(b.account("Nested Loop", n), kinds), none: newRowStore(kinds)}
	o.pairs = pairs{kind: n.Kind, ev: b.ev}
	var err error
	if o.left, err = b.build(n.Left); err != nil {
		return nil, err
	}
	if o.right, err = b.build(n.Right); err != nil {
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
	if n.On != nil {
		o.pairs.cond, err = eval.Compile(n.On)
	}
	return o, err
}

// Open implements Operator.
func (o *nestedLoop) Open(ctx context.Context) error {
	o.ctx, o.built, o.pairs.left, o.seen, o.tail = ctx, false, nil, nil, false
	o.pairs.l, o.pairs.r = o.pairs.l[:0], o.pairs.r[:0]
	return firstError(o.rows.reset(), o.right.Open(ctx), o.left.Open(ctx))
}

func (o *nestedLoop) build() error {
	for {
		if err := canceled(o.ctx); err != nil {
			return err
		}
		b, err := o.right.Next()
		if err != nil {
			return err
		}
		if b == nil {
			o.built = true
			if o.n.Kind == logical.Full {
				o.seen = make([]bool, o.rows.n)
			}
			return nil
		}
		if err := o.rows.add(b.Flat(&o.flat), 0); err != nil {
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
	}
	p := &o.pairs
	for {
		if err := canceled(o.ctx); err != nil {
			return nil, err
		}
		if o.tail {
			return o.unmatched()
		}
		if p.left == nil {
			if more, err := o.nextLeft(); err != nil {
				return nil, err
			} else if !more {
				o.tail = true
				if err := o.rewind(); err != nil {
					return nil, err
				}
				continue
			}
		}
		done := o.collect()
		out, err := p.flush()
		if err != nil {
			return nil, err
		}
		var rest *vector.Batch
		if done {
			if rest, err = o.endRight(out == nil); err != nil {
				return nil, err
			}
		}
		if out != nil {
			return out, nil
		}
		if rest != nil {
			return rest, nil
		}
	}
}

// nextLeft takes the next left batch into work; false: there is none.
func (o *nestedLoop) nextLeft() (bool, error) {
	b, err := o.left.Next()
	if b == nil || err != nil {
		return false, err
	}
	if err := o.rewind(); err != nil {
		return false, err
	}
	o.pairs.startLeft(b.Flat(&o.flat))
	o.row, o.r = 0, 0
	return true, nil
}

// rewind makes the first right rows those in work.
func (o *nestedLoop) rewind() error {
	o.read = spoolReader{s: o.rows, out: o.read.out}
	rows, err := o.read.store(o.ctx)
	if rows == nil {
		rows = o.none
	}
	o.work(rows, 0)
	return err
}

// work makes rows, whose first has number base, the right rows in work.
func (o *nestedLoop) work(rows *rowStore, base int) {
	o.pairs.right, o.base, o.pairs.at = rows, base, 0
	if o.n.Kind == logical.Full {
		o.pairs.seen = o.seen[base : base+rows.n : base+rows.n]
	}
}

// endRight goes on to the right rows after those in work. When there are none,
// the left batch ends, if its pairs are all returned (idle), with what that yields.
func (o *nestedLoop) endRight(idle bool) (*vector.Batch, error) {
	if o.rows.file != nil {
		if !idle {
			return nil, nil // collect finds nothing more, and this is called again
		}
		more, err := o.advance()
		if more || err != nil {
			o.row, o.r = 0, 0
			return nil, err
		}
	} else if !idle {
		return nil, nil
	}
	rest := o.pairs.rest()
	o.pairs.left = nil
	return rest, nil
}

// advance makes the next right rows those in work; false: there are none.
func (o *nestedLoop) advance() (bool, error) {
	base := o.base + o.pairs.right.n
	rows, err := o.read.store(o.ctx)
	if rows == nil || err != nil {
		return false, err
	}
	o.work(rows, base)
	return true, nil
}

// unmatched returns right rows of a full join that have no pair.
func (o *nestedLoop) unmatched() (*vector.Batch, error) {
	for o.n.Kind == logical.Full {
		if b := o.pairs.unmatched(o.leftKinds); b != nil {
			return b, nil
		}
		if more, err := o.advance(); err != nil || !more {
			return nil, err
		}
	}
	return nil, nil
}

// collect gathers pairs until the batch is full; true: the left batch is through.
func (o *nestedLoop) collect() bool {
	p := &o.pairs
	for ; o.row < p.left.N; o.row, o.r = o.row+1, 0 {
		for ; o.r < uint32(p.right.n) && p.wanted(o.row); o.r++ {
			if p.full() {
				return false
			}
			p.add(int32(o.row), o.r)
		}
	}
	return true
}

// Close implements Operator.
func (o *nestedLoop) Close() error {
	o.pairs.right, o.pairs.left, o.pairs.seen, o.seen, o.built = nil, nil, nil, nil, true
	o.read = spoolReader{}
	o.rows.rows = newRowStore(o.rows.kinds)
	return firstError(o.rows.reset(), o.left.Close(), o.right.Close())
}
