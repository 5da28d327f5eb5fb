package functions

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// arrayInt makes a kernel of a property of an array's shape; ok false gives NULL.
func arrayInt(f func(h *arrayHeader, dim int) (int32, bool)) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := range out.I32[:n] {
			if !live(out, i) {
				continue
			}
			h, err := readArray(args[0].Bytes(i))
			if err != nil {
				return err
			}
			dim := 0
			if len(args) > 1 {
				dim = int4(args[1], i)
			}
			r, ok := f(&h, dim)
			if !ok {
				setNull(out, i, n)
			}
			out.I32[i] = r
		}
		return nil
	}
}

func inDims(f func(h *arrayHeader, d int) int32) func(*arrayHeader, int) (int32, bool) {
	return func(h *arrayHeader, dim int) (int32, bool) {
		if dim < 1 || dim > h.dims {
			return 0, false
		}
		return f(h, dim-1), true
	}
}

// arrayDims prints the bounds: [1:3][0:1].
func arrayDims(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := 0; i < n; i++ {
		if live(out, i) {
			h, err := readArray(args[0].Bytes(i))
			if err != nil {
				return err
			}
			if h.dims == 0 {
				setNull(out, i, n)
			}
			for d := 0; d < h.dims; d++ {
				out.Data = append(out.Data, '[')
				out.Data = strconv.AppendInt(out.Data, int64(h.lower[d]), 10)
				out.Data = append(out.Data, ':')
				out.Data = strconv.AppendInt(out.Data, int64(h.lower[d])+int64(h.lengths[d])-1, 10)
				out.Data = append(out.Data, ']')
			}
		}
		endRow(out)
	}
	return nil
}

// items returns the elements of row i of an array argument, nothing for NULL.
func items(v *vector.Vector, i int, elem types.Type) (*vector.Vector, arrayHeader, error) {
	out := vector.New(elem.Kind(), 0)
	if v.IsNull(i) {
		return out, arrayHeader{elem: elem.OID}, nil
	}
	h, err := readArray(v.Bytes(i))
	if err != nil {
		return out, h, err
	}
	return out, h, ArrayElements(out, v.Bytes(i))
}

// joinArrays makes append (element last), prepend (first) and concatenation.
func joinArrays(kind byte) func(in []types.Type) Kernel {
	return func(in []types.Type) Kernel {
		array := in[0].OID
		if kind == 'p' {
			array = in[1].OID
		}
		elem := types.T(types.ElemOf(array))
		return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			for i := 0; i < n; i++ {
				if kind == 'c' && args[0].IsNull(i) && args[1].IsNull(i) {
					setNull(out, i, n)
					endRow(out)
					continue
				}
				if err := joinRow(out, args, i, elem, kind); err != nil {
					return err
				}
				endRow(out)
			}
			return nil
		}
	}
}

// arrayPosition finds the first element that is not distinct from a value.
func arrayPosition(in []types.Type) Kernel {
	elem := types.T(types.ElemOf(in[0].OID))
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := range out.I32[:n] {
			list, h, err := items(args[0], i, elem)
			if err != nil {
				return err
			}
			if h.dims > 1 {
				return pgerr.New(pgerr.FeatureNotSupported, "searching for elements in multidimensional arrays is not supported")
			}
			from := 0
			if len(args) > 2 && args[2].IsNull(i) && !args[0].IsNull(i) {
				return pgerr.New(pgerr.NullValueNotAllowed, "initial position must not be null")
			}
			if len(args) > 2 && !args[2].IsNull(i) {
				from = max(0, int4(args[2], i)-int(h.lower[0]))
			}
			found := false
			for k := from; k < list.N && !found; k++ {
				if found = sameItem(elem, list, k, args[1], i); found {
					out.I32[i] = h.lower[0] + int32(k)
				}
			}
			if !found {
				setNull(out, i, n)
			}
		}
		return nil
	}
}

func sameItem(t types.Type, a *vector.Vector, i int, b *vector.Vector, j int) bool {
	na, nb := a.IsNull(i), b.IsNull(j)
	if na || nb {
		return na && nb
	}
	return types.Compare(t, a, i&a.Mask(), b, j&b.Mask()) == 0
}

// arrayRemove drops all elements that equal a value.
func arrayRemove(in []types.Type) Kernel {
	elem := types.T(types.ElemOf(in[0].OID))
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
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
				return pgerr.New(pgerr.FeatureNotSupported, "removing elements from multidimensional arrays is not supported")
			}
			kept := vector.New(elem.Kind(), list.N)
			for k := 0; k < list.N; k++ {
				if !sameItem(elem, list, k, args[1], i) {
					kept.AppendFrom(list, k)
				}
			}
			dims := h.dimsOf()
			if h.dims == 1 {
				dims[0].Len = int32(kept.N)
			}
			out.Data = types.AppendArray(out.Data, elem, kept, 0, kept.N, dims)
			endRow(out)
		}
		return nil
	}
}

// contained makes @> (and <@ with operands exchanged) and && of arrays.
func contained(container int, any bool) func([]types.Type) Kernel {
	return func(in []types.Type) Kernel {
		elem := types.T(types.ElemOf(in[0].OID))
		return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			for i := 0; i < n; i++ {
				if !live(out, i) {
					continue
				}
				big, _, err := items(args[container], i, elem)
				if err != nil {
					return err
				}
				small, _, err := items(args[1-container], i, elem)
				if err != nil {
					return err
				}
				out.Bits.Put(i, overlaps(elem, big, small, any))
			}
			return nil
		}
	}
}

// overlaps reports whether any, or else every, element of small is in big. A NULL
// equals nothing.
func overlaps(t types.Type, big, small *vector.Vector, any bool) bool {
	for k := 0; k < small.N; k++ {
		found := false
		for j := 0; j < big.N && !found && !small.IsNull(k); j++ {
			found = sameItem(t, big, j, small, k)
		}
		if found == any {
			return any
		}
	}
	return !any
}

// stringToArray splits at a delimiter; a NULL one splits into characters. A
// field that equals the third argument is NULL.
func stringToArray(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	parts := vector.New(vector.Bytes, 8)
	for i := 0; i < n; i++ {
		if args[0].IsNull(i) {
			setNull(out, i, n)
			endRow(out)
			continue
		}
		parts.Reset(vector.Bytes)
		add := func(f []byte) {
			if len(args) > 2 && !args[2].IsNull(i) && bytes.Equal(f, args[2].Bytes(i)) {
				parts.AppendNull()
			} else {
				parts.AppendBytes(f)
			}
		}
		s := args[0].Bytes(i)
		switch {
		case len(s) == 0:
		case args[1].IsNull(i):
			for len(s) > 0 {
				_, w := utf8.DecodeRune(s)
				add(s[:w])
				s = s[w:]
			}
		case len(args[1].Bytes(i)) == 0:
			add(s)
		default:
			for _, f := range bytes.Split(s, args[1].Bytes(i)) {
				add(f)
			}
		}
		out.Data = AppendArray(out.Data, types.Text, parts, 0, parts.N)
		endRow(out)
	}
	return nil
}

// arrayToString joins the printed elements; NULLs are left out or spelled by the third argument.
func arrayToString(in []types.Type) Kernel {
	elem := types.T(types.ElemOf(in[0].OID))
	print := printerOf(elem)
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			if args[0].IsNull(i) || args[1].IsNull(i) {
				setNull(out, i, n)
				endRow(out)
				continue
			}
			list, _, err := items(args[0], i, elem)
			if err != nil {
				return err
			}
			first := true
			for k := 0; k < list.N; k++ {
				null := list.IsNull(k)
				if null && (len(args) < 3 || args[2].IsNull(i)) {
					continue
				}
				if !first {
					out.Data = append(out.Data, args[1].Bytes(i)...)
				}
				first = false
				if null {
					out.Data = append(out.Data, args[2].Bytes(i)...)
				} else {
					out.Data = print(out.Data, c, list, k)
				}
			}
			endRow(out)
		}
		return nil
	}
}

func init() {
	arr, i4, t := types.AnyArray, types.Int4, types.Text
	ca, ce := types.AnyCompatibleArray, types.AnyCompatible
	RegisterFunctions(
		fn("array_length", i4, arrayInt(inDims(func(h *arrayHeader, d int) int32 { return h.lengths[d] })), arr, i4).doc("Length of a dimension."),
		fn("array_lower", i4, arrayInt(inDims(func(h *arrayHeader, d int) int32 { return h.lower[d] })), arr, i4).doc("Lower bound of a dimension."),
		fn("array_upper", i4, arrayInt(inDims(func(h *arrayHeader, d int) int32 { return h.lower[d] + h.lengths[d] - 1 })), arr, i4).doc("Upper bound of a dimension."),
		fn("array_ndims", i4, arrayInt(func(h *arrayHeader, _ int) (int32, bool) { return int32(h.dims), h.dims > 0 }), arr).doc("Number of dimensions."),
		fn("cardinality", i4, arrayInt(func(h *arrayHeader, _ int) (int32, bool) { return int32(h.total), true }), arr).doc("Number of elements."),
		fn("array_dims", t, arrayDims, arr).doc("Bounds of the dimensions."),
		boundFn("array_append", ca, joinArrays('a'), ca, ce).takesNulls().fails().doc("Array with an element more at the end."),
		boundFn("array_prepend", ca, joinArrays('p'), ce, ca).takesNulls().fails().doc("Array with an element more at the start."),
		boundFn("array_cat", ca, joinArrays('c'), ca, ca).takesNulls().fails().doc("Two arrays joined."),
		boundFn("array_position", i4, arrayPosition, ca, ce).takesNulls().fails().doc("Subscript of the first element that equals a value."),
		boundFn("array_position", i4, arrayPosition, ca, ce, i4).takesNulls().fails().doc("Subscript of the first element that equals a value."),
		boundFn("array_remove", ca, arrayRemove, ca, ce).takesNulls().fails().doc("Array without the elements that equal a value."),
		fn("string_to_array", types.TextArray, stringToArray, t, t).takesNulls().doc("Fields of a string."),
		fn("string_to_array", types.TextArray, stringToArray, t, t, t).takesNulls().doc("Fields of a string, one spelling meaning NULL."),
		boundFn("array_to_string", t, arrayToString, arr, t).stable().takesNulls().doc("Elements joined by a delimiter."),
		boundFn("array_to_string", t, arrayToString, arr, t, t).stable().takesNulls().doc("Elements joined by a delimiter."),
	)
	operator := func(o Overload) Overload { o.Operator = true; return o }
	RegisterFunctions(
		operator(boundFn("||", ca, joinArrays('a'), ca, ce).takesNulls().fails()),
		operator(boundFn("||", ca, joinArrays('p'), ce, ca).takesNulls().fails()),
		operator(boundFn("||", ca, joinArrays('c'), ca, ca).takesNulls().fails()),
		operator(boundFn("@>", types.Bool, contained(0, false), arr, arr)),
		operator(boundFn("<@", types.Bool, contained(1, false), arr, arr)),
		operator(boundFn("&&", types.Bool, contained(0, true), arr, arr)),
	)
}
