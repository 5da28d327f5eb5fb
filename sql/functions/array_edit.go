package functions

import (
	"encoding/binary"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// maxArrayItems is PostgreSQL's bound of the elements of an array.
const maxArrayItems = 134217727

func errArraySize() error {
	return pgerr.New(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArrayItems)
}

// dimsOf returns the shape of an array as types.AppendArray wants it.
func (h *arrayHeader) dimsOf() []types.ArrayDim {
	dims := make([]types.ArrayDim, h.dims)
	for d := range dims {
		dims[d] = types.ArrayDim{Len: h.lengths[d], Lower: h.lower[d]}
	}
	return dims
}

// arrayReplace puts a value in the place of all elements that are not distinct from another.
func arrayReplace(in []types.Type) Kernel {
	elem := types.T(types.ElemOf(in[0].OID))
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		res := vector.New(elem.Kind(), 0)
		for i := 0; i < n; i++ {
			if args[0].IsNull(i) {
				setNull(out, i, n)
				endRow(out)
				continue
			}
			list, h, err := items(args[0], i, elem)
			if err != nil {
				return err
			}
			res.Reset(elem.Kind())
			for k := 0; k < list.N; k++ {
				if sameItem(elem, list, k, args[1], i) {
					res.AppendFrom(args[2], i)
				} else {
					res.AppendFrom(list, k)
				}
			}
			out.Data = types.AppendArray(out.Data, elem, res, 0, res.N, h.dimsOf())
			endRow(out)
		}
		return nil
	}
}

// arrayPositions lists the subscripts of all elements that are not distinct from a value.
func arrayPositions(in []types.Type) Kernel {
	elem := types.T(types.ElemOf(in[0].OID))
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		res := vector.New(vector.Int32, 0)
		for i := 0; i < n; i++ {
			if args[0].IsNull(i) {
				setNull(out, i, n)
				endRow(out)
				continue
			}
			list, h, err := items(args[0], i, elem)
			if err != nil {
				return err
			}
			if h.dims > 1 {
				return pgerr.New(pgerr.FeatureNotSupported, "searching for elements in multidimensional arrays is not supported")
			}
			res.Reset(vector.Int32)
			for k := 0; k < list.N; k++ {
				if sameItem(elem, list, k, args[1], i) {
					res.AppendInt32(h.lower[0] + int32(k))
				}
			}
			out.Data = AppendArray(out.Data, types.Int4, res, 0, res.N)
			endRow(out)
		}
		return nil
	}
}

// trimArray drops elements at the end of the first dimension.
func trimArray(in []types.Type) Kernel {
	elem := types.T(types.ElemOf(in[0].OID))
	return textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
		list, h, err := items(args[0], i, elem)
		if err != nil {
			return err
		}
		cut := int4(args[1], i)
		if cut < 0 || cut > int(h.lengths[0]) {
			return pgerr.New(pgerr.ArraySubscriptError, "number of elements to trim must be between 0 and %d", h.lengths[0])
		}
		dims := h.dimsOf()
		keep := 0
		if len(dims) > 0 {
			dims[0].Len -= int32(cut)
			keep = list.N / int(h.lengths[0]) * int(dims[0].Len)
			for d := range dims {
				dims[d].Lower = 1
			}
		}
		out.Data = types.AppendArray(out.Data, elem, list, 0, keep, dims)
		return nil
	})
}

// fillShape reads the dimensions, and the lower bounds if there are any, of array_fill.
func fillShape(args []*vector.Vector, i int) ([]types.ArrayDim, int, error) {
	var lists [2]*vector.Vector
	for k, a := range args[1:] {
		if a.IsNull(i) {
			return nil, 0, pgerr.New(pgerr.NullValueNotAllowed, "dimension array or low bound array cannot be null")
		}
		list, h, err := items(a, i, types.T(types.Int4))
		switch {
		case err != nil:
			return nil, 0, err
		case h.dims > 1:
			return nil, 0, pgerr.New(pgerr.ArraySubscriptError, "wrong number of array subscripts").WithDetail("Dimension array must be one dimensional.")
		case list.HasNulls():
			return nil, 0, pgerr.New(pgerr.NullValueNotAllowed, "dimension values cannot be null")
		case k == 0 && list.N > maxDims:
			return nil, 0, pgerr.New(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", list.N, maxDims)
		case k == 1 && list.N != lists[0].N:
			return nil, 0, pgerr.New(pgerr.ArraySubscriptError, "wrong number of array subscripts").
				WithDetail("Low bound array has different size than dimensions array.")
		}
		lists[k] = list
	}
	dims, total := make([]types.ArrayDim, lists[0].N), int64(1)
	for d := range dims {
		dims[d] = types.ArrayDim{Len: lists[0].I32[d], Lower: 1}
		if lists[1] != nil {
			dims[d].Lower = lists[1].I32[d]
		}
		if total *= int64(dims[d].Len); dims[d].Len < 0 || total > maxArrayItems {
			return nil, 0, errArraySize()
		}
	}
	if len(dims) == 0 {
		total = 0
	}
	return dims, int(total), nil
}

// arrayFill makes an array of one value.
func arrayFill(in []types.Type) Kernel {
	elem := in[0]
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			dims, total, err := fillShape(args, i)
			if err != nil {
				return err
			}
			one := appendArrayElem(nil, elem, args[0], i)
			if total > 0 {
				if err := checkRoom(out, 64+total*len(one)); err != nil {
					return err
				}
			} else {
				dims = nil
			}
			out.Data = appendShape(out.Data, elem.OID, dims, total > 0 && args[0].IsNull(i))
			for range total {
				out.Data = append(out.Data, one...)
			}
			endRow(out)
		}
		return nil
	}
}

// appendShape starts an array of any dimensions.
func appendShape(dst []byte, elem types.OID, dims []types.ArrayDim, hasNull bool) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(dims)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(b2u(hasNull)))
	dst = binary.BigEndian.AppendUint32(dst, elem)
	for _, d := range dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Len))
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Lower))
	}
	return dst
}

func init() {
	arr, i4s := types.AnyArray, types.ArrayOf(types.Int4)
	ca, ce := types.AnyCompatibleArray, types.AnyCompatible
	RegisterFunctions(
		boundFn("array_replace", ca, arrayReplace, ca, ce, ce).takesNulls().fails().doc("Array with elements that equal a value replaced."),
		boundFn("array_positions", i4s, arrayPositions, ca, ce).takesNulls().fails().doc("Subscripts of all elements that equal a value."),
		boundFn("trim_array", arr, trimArray, arr, types.Int4).fails().doc("Array without its last elements."),
		boundFn("array_fill", arr, arrayFill, types.AnyElement, i4s).takesNulls().fails().doc("Array of one value, of given dimensions."),
		boundFn("array_fill", arr, arrayFill, types.AnyElement, i4s, i4s).takesNulls().fails().doc("Array of one value, of given dimensions and lower bounds."),
	)
}
