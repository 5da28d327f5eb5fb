package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// joinState is string_agg: per group the values, each after its delimiter. The
// first delimiter is cut off at the end, so that partial results can be appended.
type joinState struct {
	buf   [][]byte
	first []int // length of the first delimiter
	seen  []bool
	size  int64
}

func (s *joinState) Grow(n int) {
	s.buf, s.first, s.seen = extend(s.buf, n), extend(s.first, n), extend(s.seen, n)
}

func (s *joinState) Size() int64 { return int64(cap(s.buf))*33 + s.size }

func (s *joinState) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	full := false
	rows.each(func(i int) {
		g := group(groups, i)
		old := cap(s.buf[g])
		if !args[1].IsNull(i) {
			s.buf[g] = append(s.buf[g], args[1].Bytes(i)...)
		}
		if !s.seen[g] {
			s.seen[g], s.first[g] = true, len(s.buf[g])
		}
		s.buf[g] = append(s.buf[g], args[0].Bytes(i)...)
		s.size += int64(cap(s.buf[g]) - old)
		full = full || len(s.buf[g]) > maxBatchBytes
	})
	return valueLimit(full)
}

// valueLimit is PostgreSQL's bound of 1 GB for one value.
func valueLimit(full bool) error {
	if full {
		return pgerr.New(pgerr.ProgramLimitExceeded, "out of memory").
			WithDetail("Cannot enlarge a value beyond 1 GB.")
	}
	return nil
}

func (s *joinState) Merge(other AggState, to []uint32) error {
	o := other.(*joinState)
	full := false
	for i, ok := range o.seen {
		if !ok {
			continue
		}
		g := to[i]
		old := cap(s.buf[g])
		if !s.seen[g] {
			s.seen[g], s.first[g] = true, o.first[i]
		}
		s.buf[g] = append(s.buf[g], o.buf[i]...)
		s.size += int64(cap(s.buf[g]) - old)
		full = full || len(s.buf[g]) > maxBatchBytes
	}
	return valueLimit(full)
}

func (s *joinState) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for g := lo; g < hi; g++ {
		if !s.seen[g] {
			out.AppendNull()
			continue
		}
		if err := checkRoom(out, len(s.buf[g])); err != nil {
			return err
		}
		out.AppendBytes(s.buf[g][s.first[g]:])
	}
	return nil
}

// arrayState is array_agg: per group the encoded elements, NULLs included.
type arrayState struct {
	elem    types.Type
	buf     [][]byte
	count   []int
	hasNull []bool
	size    int64
}

func (s *arrayState) Grow(n int) {
	s.buf, s.count, s.hasNull = extend(s.buf, n), extend(s.count, n), extend(s.hasNull, n)
}

func (s *arrayState) Size() int64 { return int64(cap(s.buf))*33 + s.size }

func (s *arrayState) Update(groups []uint32, args []*vector.Vector, n int) error {
	full := false
	for i := 0; i < n; i++ {
		g := group(groups, i)
		old := cap(s.buf[g])
		s.buf[g] = appendArrayElem(s.buf[g], s.elem, args[0], i)
		s.count[g]++
		s.hasNull[g] = s.hasNull[g] || args[0].IsNull(i)
		s.size += int64(cap(s.buf[g]) - old)
		full = full || len(s.buf[g]) > maxBatchBytes
	}
	return valueLimit(full)
}

func (s *arrayState) Merge(other AggState, to []uint32) error {
	o := other.(*arrayState)
	full := false
	for i, c := range o.count {
		g := to[i]
		old := cap(s.buf[g])
		s.buf[g] = append(s.buf[g], o.buf[i]...)
		s.count[g] += c
		s.hasNull[g] = s.hasNull[g] || o.hasNull[i]
		s.size += int64(cap(s.buf[g]) - old)
		full = full || len(s.buf[g]) > maxBatchBytes
	}
	return valueLimit(full)
}

func (s *arrayState) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for g := lo; g < hi; g++ {
		if s.count[g] == 0 {
			out.AppendNull()
			continue
		}
		if err := checkRoom(out, len(s.buf[g])+20); err != nil {
			return err
		}
		out.Data = appendArrayHeader(out.Data, s.elem.OID, s.count[g], s.hasNull[g])
		out.Data = append(out.Data, s.buf[g]...)
		out.FinishBytes()
	}
	return nil
}

func init() {
	join := func() AggState { return &joinState{} }
	text := agg("string_agg", types.Text, join, "The values that are not NULL, joined by a delimiter.", types.Text, types.Text)
	bytea := agg("string_agg", types.Bytea, join, "The values that are not NULL, joined by a delimiter.", types.Bytea, types.Bytea)
	text.Ordered, bytea.Ordered = true, true
	RegisterAggregates(text, bytea, Aggregate{
		Name: "array_agg", Args: []types.OID{types.AnyNonArray}, Ret: types.AnyArray, Ordered: true,
		New: func(args []types.Type) AggState { return &arrayState{elem: args[0]} },
		Doc: "All values, NULLs included, as an array.",
	})
}
