package functions

import (
	"math/bits"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// rowSet iterates the rows of an aggregate's input that are not NULL.
type rowSet struct {
	valid vector.Bitmap // nil: all
	n     int
}

// each calls f for every row of the set.
func (r rowSet) each(f func(i int)) {
	if r.valid == nil {
		for i := 0; i < r.n; i++ {
			f(i)
		}
		return
	}
	for w := 0; w*64 < r.n; w++ {
		word := r.valid[w]
		if left := r.n - w*64; left < 64 {
			word &= 1<<uint(left) - 1
		}
		for word != 0 {
			f(w*64 + bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
}

// present returns the rows where v is not NULL; ok is false if there are none.
func present(v *vector.Vector, n int) (rowSet, bool) {
	if v.Const {
		return rowSet{nil, n}, !v.IsNull(0)
	}
	return rowSet{v.Valid, n}, true
}

// group returns the group of row i.
func group(groups []uint32, i int) uint32 {
	if groups == nil {
		return 0
	}
	return groups[i]
}

// extend makes s n elements long; new ones are zero.
func extend[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		clear(s[old:])
		return s
	}
	t := make([]T, n, max(n, 2*cap(s)))
	copy(t, s)
	return t
}

// agg describes an aggregate of one argument whose state does not depend on the actual type.
func agg(name string, ret types.OID, state func() AggState, doc string, args ...types.OID) Aggregate {
	return Aggregate{Name: name, Args: args, Ret: ret, Doc: doc, New: func([]types.Type) AggState { return state() }}
}

// countState counts rows, or values that are not NULL.
type countState struct{ n []int64 }

func (s *countState) Grow(n int)  { s.n = extend(s.n, n) }
func (s *countState) Size() int64 { return int64(cap(s.n)) * 8 }

func (s *countState) Update(groups []uint32, args []*vector.Vector, n int) error {
	var valid vector.Bitmap
	if len(args) > 0 {
		rows, ok := present(args[0], n)
		if !ok {
			return nil
		}
		valid = rows.valid
	}
	switch {
	case groups == nil && valid == nil:
		s.n[0] += int64(n)
	case groups == nil:
		s.n[0] += int64(valid.Count(n))
	case valid == nil:
		for _, g := range groups[:n] {
			s.n[g]++
		}
	default:
		for i, g := range groups[:n] {
			s.n[g] += int64(valid[i>>6] >> (uint(i) & 63) & 1)
		}
	}
	return nil
}

func (s *countState) Merge(other AggState, to []uint32) error {
	for i, c := range other.(*countState).n {
		s.n[to[i]] += c
	}
	return nil
}

func (s *countState) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for _, c := range s.n[lo:hi] {
		out.AppendInt64(c)
	}
	return nil
}

func init() {
	newCount := func() AggState { return &countState{} }
	RegisterAggregates(
		agg("count", types.Int8, newCount, "Number of rows."),
		agg("count", types.Int8, newCount, "Number of rows whose argument is not NULL.", types.Any),
	)
}
