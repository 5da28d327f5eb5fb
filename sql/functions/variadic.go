package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// Spread returns a variadic function in the form that a call with VARIADIC takes:
// the last argument is an array, whose elements are the arguments. A NULL array
// gives NULL, except for format(), to which it is no arguments.
func (o *Overload) Spread(array types.OID) *Overload {
	s := *o
	s.Variadic, s.Eval = false, nil
	s.Args = append(append([]types.OID{}, o.Args[:len(o.Args)-1]...), array)
	s.Bind = func(in []types.Type) Kernel { return spreadKernel(o, in) }
	return &s
}

func spreadKernel(o *Overload, in []types.Type) Kernel {
	fixed := len(in) - 1
	elem := types.T(types.ElemOf(in[fixed].OID))
	kernels := map[int]Kernel{} // by number of elements
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		row, one := make([]*vector.Vector, 0, 8), vector.New(out.Kind, 1)
		for i := 0; i < n; i++ {
			if args[fixed].IsNull(i) && o.Name != "format" {
				appendSpread(out, nil, i, n)
				continue
			}
			list, _, err := items(args[fixed], i, elem)
			if err != nil {
				return err
			}
			k := kernels[list.N]
			if k == nil {
				ts := append([]types.Type{}, in[:fixed]...)
				for range list.N {
					ts = append(ts, elem)
				}
				k = o.Kernel(ts)
				kernels[list.N] = k
			}
			row = row[:0]
			for _, a := range args[:fixed] {
				row = append(row, cell(a, i))
			}
			for j := range list.N {
				row = append(row, cell(list, j))
			}
			one.Reset(out.Kind)
			if out.Kind != vector.Bytes {
				one.Resize(1)
			}
			if err := k(c, one, row, 1); err != nil {
				return err
			}
			one.N = 1
			appendSpread(out, one, i, n)
		}
		return nil
	}
}

// cell is one row of a vector as a constant.
func cell(v *vector.Vector, i int) *vector.Vector {
	out := vector.New(v.Kind, 1)
	out.AppendFrom(v, i)
	return out
}

// appendSpread puts the result of row i into out; nil is NULL.
func appendSpread(out, one *vector.Vector, i, n int) {
	if one == nil || one.IsNull(0) {
		setNull(out, i, n)
	} else if out.Kind == vector.Bytes {
		out.Data = append(out.Data, one.Bytes(0)...)
	} else {
		out.I32[i] = one.I32[0]
	}
	if out.Kind == vector.Bytes {
		endRow(out)
	}
}

// UnnestMany returns unnest of several arrays, which FROM takes: their elements side by side.
func UnnestMany(arrays []types.OID) *SetReturning {
	f := &SetReturning{Name: "unnest", Args: arrays, Open: openUnnestMany, Doc: "The elements of arrays side by side."}
	for _, a := range arrays {
		f.Columns = append(f.Columns, "unnest")
		f.Types = append(f.Types, types.ElemOf(a))
	}
	return f
}

// columnsOfArrays yields the elements of arrays, NULL beyond the end of a shorter one.
type columnsOfArrays struct {
	items []*vector.Vector
	next  int
}

func (s *columnsOfArrays) Next(out *vector.Batch, limit int) (bool, error) {
	total := 0
	for _, v := range s.items {
		total = max(total, v.N)
	}
	from := s.next
	for end := min(total, from+limit); s.next < end; s.next++ {
		for k, v := range s.items {
			if s.next < v.N {
				out.Cols[k].AppendFrom(v, s.next)
			} else {
				out.Cols[k].AppendNull()
			}
		}
		out.N++
	}
	return s.next > from, nil
}

func openUnnestMany(_ *Ctx, args []*vector.Vector) (Rows, error) {
	s := &columnsOfArrays{}
	for _, a := range args {
		if a.IsNull(0) {
			s.items = append(s.items, vector.New(vector.Bytes, 0))
			continue
		}
		h, err := readArray(a.Bytes(0))
		if err != nil {
			return nil, err
		}
		v := vector.New(types.T(h.elem).Kind(), h.total)
		if err := ArrayElements(v, a.Bytes(0)); err != nil {
			return nil, err
		}
		s.items = append(s.items, v)
	}
	return s, nil
}
