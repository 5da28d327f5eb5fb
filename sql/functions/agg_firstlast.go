package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// edgeState is first(value, time) or last(value, time): per group the value at
// the least or greatest time; rows without a time do not count. Of equal times
// the one seen first stays.
//
// The kept rows live in vals and times; at maps a group to its row there (-1:
// none). Rows that lost are swept out when they are the majority.
type edgeState struct {
	last    bool
	time    types.Type
	vals    *vector.Vector
	times   *vector.Vector
	at      []int32
	cand    []int32 // within a batch: best row of each group, -1: none
	touched []uint32
}

func newEdge(last bool, args []types.Type) *edgeState {
	return &edgeState{last: last, time: args[1],
		vals: vector.New(args[0].Kind(), 0), times: vector.New(args[1].Kind(), 0)}
}

func (s *edgeState) Grow(n int) {
	for len(s.at) < n {
		s.at, s.cand = append(s.at, -1), append(s.cand, -1)
	}
}

func (s *edgeState) Size() int64 {
	return s.vals.Size() + s.times.Size() + int64(cap(s.at)+cap(s.cand))*4
}

// better reports whether row i of a beats row j of b.
func (s *edgeState) better(a *vector.Vector, i int, b *vector.Vector, j int) bool {
	i, j = i&a.Mask(), j&b.Mask()
	if a.Kind == vector.Int64 {
		if s.last {
			return a.I64[i] > b.I64[j]
		}
		return a.I64[i] < b.I64[j]
	}
	c := types.Compare(s.time, a, i, b, j)
	return s.last && c > 0 || !s.last && c < 0
}

func (s *edgeState) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[1], n)
	if !ok {
		return nil
	}
	t := args[1]
	rows.each(func(i int) {
		g := group(groups, i)
		switch c := s.cand[g]; {
		case c < 0:
			s.touched = append(s.touched, g)
		case !s.better(t, i, t, int(c)):
			return
		}
		s.cand[g] = int32(i)
	})
	for _, g := range s.touched {
		s.offer(g, args[0], t, int(s.cand[g]))
		s.cand[g] = -1
	}
	s.touched = s.touched[:0]
	s.sweep()
	return nil
}

func (s *edgeState) offer(g uint32, v, t *vector.Vector, row int) {
	if a := s.at[g]; a >= 0 && !s.better(t, row, s.times, int(a)) {
		return
	}
	s.at[g] = int32(s.vals.N)
	s.vals.AppendFrom(v, row)
	s.times.AppendFrom(t, row)
}

// sweep drops rows that no group refers to.
func (s *edgeState) sweep() {
	if s.vals.N < 2*len(s.at)+1024 {
		return
	}
	var sel []int32
	for g, a := range s.at {
		if a >= 0 {
			s.at[g] = int32(len(sel))
			sel = append(sel, a)
		}
	}
	vals, times := vector.New(s.vals.Kind, 0), vector.New(s.times.Kind, 0)
	s.vals.GatherInto(vals, sel)
	s.times.GatherInto(times, sel)
	s.vals, s.times = vals, times
}

func (s *edgeState) Merge(other AggState, to []uint32) error {
	o := other.(*edgeState)
	for i, a := range o.at {
		if a >= 0 {
			s.offer(to[i], o.vals, o.times, int(a))
		}
	}
	s.sweep()
	return nil
}

func (s *edgeState) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for _, a := range s.at[lo:hi] {
		if a < 0 {
			out.AppendNull()
		} else {
			out.AppendFrom(s.vals, int(a))
		}
	}
	return nil
}

func init() {
	for _, e := range []struct {
		name, doc string
		last      bool
	}{{"first", "The value at the least time.", false}, {"last", "The value at the greatest time.", true}} {
		RegisterAggregates(Aggregate{
			Name: e.name, Args: []types.OID{types.AnyElement, types.Any}, Ret: types.AnyElement, Doc: e.doc,
			New: func(args []types.Type) AggState { return newEdge(e.last, args) },
		})
	}
}
