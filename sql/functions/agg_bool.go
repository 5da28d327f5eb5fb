package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// boolState is bool_and or bool_or: per group whether the deciding value was
// seen (false for and, true for or), and whether any value was.
type boolState struct {
	or            bool
	decided, seen []bool
}

func (s *boolState) Grow(n int)  { s.decided, s.seen = extend(s.decided, n), extend(s.seen, n) }
func (s *boolState) Size() int64 { return int64(cap(s.seen)) * 2 }

func (s *boolState) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	rows.each(func(i int) {
		g := group(groups, i)
		s.seen[g] = true
		if args[0].Bool(i) == s.or {
			s.decided[g] = true
		}
	})
	return nil
}

func (s *boolState) Merge(other AggState, to []uint32) error {
	o := other.(*boolState)
	for i, g := range to[:len(o.seen)] {
		s.seen[g] = s.seen[g] || o.seen[i]
		s.decided[g] = s.decided[g] || o.decided[i]
	}
	return nil
}

func (s *boolState) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for g := lo; g < hi; g++ {
		if s.seen[g] {
			out.AppendBool(s.decided[g] == s.or)
		} else {
			out.AppendNull()
		}
	}
	return nil
}

// bitState is bit_and, bit_or or bit_xor of an integer type.
type bitState[T integer] struct {
	get  access[T]
	fold func(a, b T) T
	acc  []T
	seen []bool
}

func (s *bitState[T]) Grow(n int)  { s.acc, s.seen = extend(s.acc, n), extend(s.seen, n) }
func (s *bitState[T]) Size() int64 { return int64(cap(s.acc)) * 9 }

func (s *bitState[T]) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	x, m := s.get(args[0]), args[0].Mask()
	rows.each(func(i int) { s.offer(group(groups, i), x[i&m]) })
	return nil
}

func (s *bitState[T]) offer(g uint32, v T) {
	if s.seen[g] {
		v = s.fold(s.acc[g], v)
	}
	s.acc[g], s.seen[g] = v, true
}

func (s *bitState[T]) Merge(other AggState, to []uint32) error {
	o := other.(*bitState[T])
	for i, ok := range o.seen {
		if ok {
			s.offer(to[i], o.acc[i])
		}
	}
	return nil
}

func (s *bitState[T]) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	at := out.N
	for g := lo; g < hi; g++ {
		if !s.seen[g] {
			out.AppendNull()
			continue
		}
		appendZero(out)
		s.get(out)[at+g-lo] = s.acc[g]
	}
	return nil
}

func bitAggregates[T integer](get access[T], t types.OID) {
	state := func(fold func(a, b T) T) func() AggState {
		return func() AggState { return &bitState[T]{get: get, fold: fold} }
	}
	RegisterAggregates(
		agg("bit_and", t, state(func(a, b T) T { return a & b }), "Bitwise AND of the values that are not NULL.", t),
		agg("bit_or", t, state(func(a, b T) T { return a | b }), "Bitwise OR of the values that are not NULL.", t),
		agg("bit_xor", t, state(func(a, b T) T { return a ^ b }), "Bitwise exclusive OR of the values that are not NULL.", t),
	)
}

func init() {
	and := func() AggState { return &boolState{} }
	RegisterAggregates(
		agg("bool_and", types.Bool, and, "Whether all values are true.", types.Bool),
		agg("every", types.Bool, and, "Whether all values are true.", types.Bool),
		agg("bool_or", types.Bool, func() AggState { return &boolState{or: true} }, "Whether any value is true.", types.Bool),
	)
	bitAggregates(i16s, types.Int2)
	bitAggregates(i32s, types.Int4)
	bitAggregates(i64s, types.Int8)
}
