package session

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec"
	"tsdb/exec/spill"
	"tsdb/planner"
	"tsdb/planner/physical"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// cursor is a running query: an open operator over a view of its own.
type cursor struct {
	op     exec.Operator
	plan   physical.Node
	view   *view
	cancel context.CancelCauseFunc
	ctx    context.Context

	rest *vector.Batch // rows [at, rest.N) wait for the next fetch; owned by op
	at   int
	done bool

	flat, part *vector.Batch // scratch
}

// open plans and starts the rows of a bound statement (Select, Insert's
// source, COPY's query) over v, which the cursor closes.
func (s *Session) open(a *planner.Bound, params []planner.ParamValue, v *view, c *functions.Ctx, profile bool) (*cursor, error) {
	cur := &cursor{view: v}
	cur.ctx, cur.cancel = context.WithCancelCause(context.Background())
	c.Running = cur.ctx
	if s.running != nil { // planning computes constants, which may take long
		defer cur.follow(s.running)()
	}
	if len(a.With) > 0 && v.queries == nil {
		cur.close()
		return nil, pgerr.Unsupported("a data-modifying WITH query here")
	}
	plan, err := planner.Plan(s.env(v.cat, c, v.snap), a, a.Root, params)
	if err != nil {
		cur.close()
		return nil, err
	}
	cur.plan = plan
	limit := s.intValue("tsdb.query_memory") << 10
	env := &exec.Env{Ctx: c, Storage: v.snap, Budget: exec.NewBudget(limit), Spill: s.newSpill(), Workers: s.workers(), Profile: profile, Queries: v.queries}
	cur.op, err = exec.Build(env, plan)
	if err != nil {
		cur.close()
		return nil, err
	}
	return cur, nil
}

// follow makes the cursor's context end when ctx does, until the returned
// function is called: a suspended cursor outlives the call that began it.
func (c *cursor) follow(ctx context.Context) func() {
	stop := context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })
	return func() { stop() }
}

// start opens the operator.
func (c *cursor) start(ctx context.Context) error {
	defer c.follow(ctx)()
	return c.op.Open(c.ctx)
}

// fetch hands up to limit rows (0: all) to f, flat, and returns how many.
// done is set when the query has no more rows.
func (c *cursor) fetch(ctx context.Context, limit int64, f func(*vector.Batch) error) (n int64, err error) {
	defer c.follow(ctx)()
	for !c.done && (limit == 0 || n < limit) {
		if c.rest == nil {
			if err := context.Cause(ctx); err != nil {
				return n, err
			}
			b, err := c.op.Next()
			if err != nil {
				return n, err
			}
			if b == nil {
				c.done = true
				break
			}
			if b.Sel != nil {
				if c.flat == nil {
					c.flat = &vector.Batch{}
				}
				b = b.Flat(c.flat)
			}
			c.rest, c.at = b, 0
		}
		b := c.rest
		take := b.N - c.at
		if limit > 0 && int64(take) > limit-n {
			take = int(limit - n)
		}
		if take < b.N {
			b = c.slice(c.rest, c.at, c.at+take)
		}
		c.at += take
		if c.at >= c.rest.N {
			c.rest = nil
		}
		n += int64(take)
		if err := f(b); err != nil {
			return n, err
		}
	}
	return n, nil
}

// slice copies rows [lo, hi) of b.
func (c *cursor) slice(b *vector.Batch, lo, hi int) *vector.Batch {
	sel := make([]int32, hi-lo)
	for i := range sel {
		sel[i] = int32(lo + i)
	}
	if c.part == nil {
		c.part = &vector.Batch{}
	}
	with := vector.Batch{Cols: b.Cols, N: b.N, Sel: sel}
	return with.Flat(c.part)
}

// close stops the query and releases its view.
func (c *cursor) close() {
	c.cancel(nil)
	if c.op != nil {
		_ = c.op.Close() // the query's result is already decided
	}
	c.view.close()
}

// newSpill returns where a query may write rows that its memory has no room for.
func (s *Session) newSpill() *spill.Space {
	if s.e.o.Temp == "" {
		return nil
	}
	limit := s.intValue("tsdb.temp_file_limit")
	if limit > 0 {
		limit <<= 10
	}
	return spill.New(s.e.o.Temp, limit)
}
