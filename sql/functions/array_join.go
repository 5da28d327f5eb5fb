package functions

import (
	"slices"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// joinRow appends the array that append ('a': element last), prepend ('p': element
// first) or concatenation ('c') makes of row i.
func joinRow(out *vector.Vector, args []*vector.Vector, i int, elem types.Type, kind byte) error {
	if kind == 'c' {
		return concatArrays(out, args, i, elem)
	}
	array, element := args[0], args[1]
	if kind == 'p' {
		array, element = args[1], args[0]
	}
	part, h, err := items(array, i, elem)
	if err != nil {
		return err
	}
	dims := []types.ArrayDim{{Len: int32(part.N) + 1, Lower: 1}}
	switch {
	case h.dims > 1:
		return pgerr.New("22000", "argument must be empty or one-dimensional array")
	case h.dims == 1:
		dims[0].Lower = h.lower[0]
	}
	all := vector.New(elem.Kind(), part.N+1)
	if kind == 'p' {
		all.AppendFrom(element, i)
	}
	all.AppendVector(part, nil)
	if kind == 'a' {
		all.AppendFrom(element, i)
	}
	out.Data = types.AppendArray(out.Data, elem, all, 0, all.N, dims)
	return checkRoom(out, 0)
}

// concatArrays joins two arrays of equal dimensions, or one with an array of its elements.
func concatArrays(out *vector.Vector, args []*vector.Vector, i int, elem types.Type) error {
	a, ha, err := items(args[0], i, elem)
	if err != nil {
		return err
	}
	b, hb, err := items(args[1], i, elem)
	if err != nil {
		return err
	}
	dims, err := joinedShape(ha.dimsOf(), hb.dimsOf())
	if err != nil {
		return err
	}
	a.AppendVector(b, nil)
	out.Data = types.AppendArray(out.Data, elem, a, 0, a.N, dims)
	return checkRoom(out, 0)
}

// joinedShape returns the dimensions of the concatenation of arrays of two shapes.
func joinedShape(a, b []types.ArrayDim) ([]types.ArrayDim, error) {
	bad := func(format string, args ...any) error {
		return pgerr.New(pgerr.ArraySubscriptError, "cannot concatenate incompatible arrays").WithDetail(format, args...)
	}
	switch {
	case len(a) == 0:
		return b, nil
	case len(b) == 0:
		return a, nil
	case len(a) == len(b):
		if !slices.Equal(a[1:], b[1:]) {
			return nil, bad("Arrays with differing element dimensions are not compatible for concatenation.")
		}
		a[0].Len += b[0].Len
		return a, nil
	case len(a) == len(b)-1:
		if !slices.Equal(a, b[1:]) {
			return nil, bad("Arrays with differing dimensions are not compatible for concatenation.")
		}
		b[0].Len++
		return b, nil
	case len(a) == len(b)+1:
		if !slices.Equal(b, a[1:]) {
			return nil, bad("Arrays with differing dimensions are not compatible for concatenation.")
		}
		a[0].Len++
		return a, nil
	}
	return nil, bad("Arrays of %d and %d dimensions are not compatible for concatenation.", len(a), len(b))
}
