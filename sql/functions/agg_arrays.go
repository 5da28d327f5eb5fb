package functions

import (
	"encoding/binary"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// nestState is array_agg of arrays: per group the shape that all inputs share
// and their elements one after the other.
type nestState struct {
	elem    types.OID
	shape   [][]byte // lengths and lower bounds as stored; nil: no input yet
	body    [][]byte
	count   []int
	hasNull []bool
	size    int64
}

func (s *nestState) Grow(n int) {
	s.shape, s.body = extend(s.shape, n), extend(s.body, n)
	s.count, s.hasNull = extend(s.count, n), extend(s.hasNull, n)
}

func (s *nestState) Size() int64 { return int64(cap(s.body))*57 + s.size }

func (s *nestState) Update(groups []uint32, args []*vector.Vector, n int) error {
	for i := 0; i < n; i++ {
		if args[0].IsNull(i) {
			return pgerr.New(pgerr.NullValueNotAllowed, "cannot accumulate null arrays")
		}
		value := args[0].Bytes(i)
		h, err := readArray(value)
		switch {
		case err != nil:
			return err
		case h.dims == 0:
			return pgerr.New(pgerr.ArraySubscriptError, "cannot accumulate empty arrays")
		case h.dims == maxDims:
			return pgerr.New(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", maxDims+1, maxDims)
		}
		hasNull := binary.BigEndian.Uint32(value[4:]) != 0
		if err := s.add(group(groups, i), value[12:12+8*h.dims], h.body, 1, hasNull); err != nil {
			return err
		}
	}
	return nil
}

func (s *nestState) add(g uint32, shape, body []byte, count int, hasNull bool) error {
	if s.shape[g] == nil {
		s.shape[g] = slices.Clone(shape)
	} else if !slices.Equal(s.shape[g], shape) {
		return pgerr.New(pgerr.ArraySubscriptError, "cannot accumulate arrays of different dimensionality")
	}
	old := cap(s.body[g])
	s.body[g] = append(s.body[g], body...)
	s.size += int64(cap(s.body[g]) - old)
	s.count[g] += count
	s.hasNull[g] = s.hasNull[g] || hasNull
	return valueLimit(len(s.body[g]) > maxBatchBytes)
}

func (s *nestState) Merge(other AggState, to []uint32) error {
	o := other.(*nestState)
	for i, shape := range o.shape {
		if shape == nil {
			continue
		}
		if err := s.add(to[i], shape, o.body[i], o.count[i], o.hasNull[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *nestState) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for g := lo; g < hi; g++ {
		if s.shape[g] == nil {
			out.AppendNull()
			continue
		}
		if err := checkRoom(out, len(s.body[g])+80); err != nil {
			return err
		}
		d := binary.BigEndian.AppendUint32(out.Data, uint32(len(s.shape[g])/8+1))
		d = binary.BigEndian.AppendUint32(d, uint32(b2u(s.hasNull[g])))
		d = binary.BigEndian.AppendUint32(d, s.elem)
		d = binary.BigEndian.AppendUint32(d, uint32(s.count[g]))
		d = binary.BigEndian.AppendUint32(d, 1)
		out.Data = append(append(d, s.shape[g]...), s.body[g]...)
		out.FinishBytes()
	}
	return nil
}

func init() {
	RegisterAggregates(Aggregate{
		Name: "array_agg", Args: []types.OID{types.AnyArray}, Ret: types.AnyArray, Ordered: true,
		New: func(args []types.Type) AggState { return &nestState{elem: types.ElemOf(args[0].OID)} },
		Doc: "All arrays, of one shape, as an array with a dimension more.",
	})
}
