package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// intervalSum sums intervals part by part.
type intervalSum struct {
	avg bool
	sum []types.IntervalValue
	n   []int64
}

func (s *intervalSum) Grow(n int)  { s.sum, s.n = extend(s.sum, n), extend(s.n, n) }
func (s *intervalSum) Size() int64 { return int64(cap(s.sum)) * 24 }

func (s *intervalSum) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	var err error
	m := args[0].Mask()
	rows.each(func(i int) {
		if e := s.add(group(groups, i), types.DecodeInterval(args[0].F16[i&m]), 1); e != nil {
			err = e
		}
	})
	return err
}

func (s *intervalSum) add(g uint32, v types.IntervalValue, count int64) (err error) {
	s.sum[g], err = s.sum[g].Add(v)
	s.n[g] += count
	return err
}

func (s *intervalSum) Merge(other AggState, to []uint32) error {
	o := other.(*intervalSum)
	for i, v := range o.sum {
		if err := s.add(to[i], v, o.n[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *intervalSum) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for g := lo; g < hi; g++ {
		if s.n[g] == 0 {
			out.AppendNull()
			continue
		}
		v := s.sum[g]
		if s.avg {
			var err error
			if v, err = v.Div(float64(s.n[g])); err != nil {
				return err
			}
		}
		out.AppendFixed16(v.Encode())
	}
	return nil
}

func init() {
	RegisterAggregates(
		agg("sum", types.Interval, func() AggState { return &intervalSum{} }, "Sum of the values that are not NULL.", types.Interval),
		agg("avg", types.Interval, func() AggState { return &intervalSum{avg: true} }, "Mean of the values that are not NULL.", types.Interval),
	)
}
