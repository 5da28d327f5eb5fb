package bind

import (
	"encoding/binary"
	"sync"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// arrayCalls holds the functions behind ARRAY[...] and a[i], one of each per
// element type: they have syntax, no name, so the registry does not list them.
var arrayCalls struct {
	sync.Mutex
	construct, subscript map[types.OID]*functions.Overload
}

// arrayOf returns the function that makes an array of its arguments.
func arrayOf(elem types.OID) *functions.Overload {
	return arrayCall(&arrayCalls.construct, elem, &functions.Overload{
		Name: scalar.ArrayConstructor, Args: []types.OID{elem}, Variadic: true, Ret: types.ArrayOf(elem),
		NotStrict: true, Eval: constructArray(elem)})
}

// elementOf returns the function (array, index) that reads an element.
func elementOf(elem types.OID) *functions.Overload {
	return arrayCall(&arrayCalls.subscript, elem, &functions.Overload{
		Name: scalar.ArraySubscript, Args: []types.OID{types.ArrayOf(elem), types.Int4}, Ret: elem,
		NotStrict: true, Eval: readElement(types.T(elem))})
}

func arrayCall(m *map[types.OID]*functions.Overload, elem types.OID, fn *functions.Overload) *functions.Overload {
	arrayCalls.Lock()
	defer arrayCalls.Unlock()
	if have, ok := (*m)[elem]; ok {
		return have
	}
	if *m == nil {
		*m = map[types.OID]*functions.Overload{}
	}
	(*m)[elem] = fn
	return fn
}

func constructArray(elem types.OID) functions.Kernel {
	return func(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		row := vector.New(types.T(elem).Kind(), len(args))
		var buf []byte
		for i := range n {
			row.Reset(row.Kind)
			for _, a := range args {
				row.AppendFrom(a, i&a.Mask())
			}
			buf = functions.AppendArray(buf[:0], elem, row, 0, row.N)
			out.AppendBytes(buf)
		}
		return nil
	}
}

// readElement reads one element of a one-dimensional array per row; other
// arrays and positions outside give NULL.
func readElement(elem types.Type) functions.Kernel {
	return func(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		array, index := args[0], args[1]
		res := vector.New(elem.Kind(), n)
		all := vector.New(elem.Kind(), 0)
		for i := range n {
			if array.IsNull(i) || index.IsNull(i) {
				res.AppendNull()
				continue
			}
			value := array.Bytes(i)
			at := int(index.I32[i&index.Mask()]) - lowerBound(value)
			all.Reset(all.Kind)
			if err := functions.ArrayElements(all, value); err != nil {
				return err
			}
			if dimensions(value) != 1 || at < 0 || at >= all.N {
				res.AppendNull()
				continue
			}
			res.AppendFrom(all, at)
		}
		*out = *res
		return nil
	}
}

func dimensions(array []byte) int {
	if len(array) < 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(array))
}

// lowerBound is the index of the first element; it follows the first length.
func lowerBound(array []byte) int {
	const at = 16
	if len(array) < at+4 {
		return 1
	}
	return int(int32(binary.BigEndian.Uint32(array[at:])))
}
