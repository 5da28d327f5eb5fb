package bind

import (
	"sync"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// arrayCalls holds the functions behind ARRAY[...], one of each per element
// type: they have syntax, no name, so the registry does not list them.
var arrayCalls struct {
	sync.Mutex
	construct, nest map[types.OID]*functions.Overload
}

// arrayOf returns the function that makes an array of its arguments.
func arrayOf(elem types.OID) *functions.Overload {
	return arrayCall(&arrayCalls.construct, elem, &functions.Overload{
		Name: scalar.ArrayConstructor, Args: []types.OID{elem}, Variadic: true, Ret: types.ArrayOf(elem),
		NotStrict: true, Eval: constructArray(elem)})
}

// nestOf returns the function that makes an array of arrays.
func nestOf(elem types.OID) *functions.Overload {
	array := types.ArrayOf(elem)
	return arrayCall(&arrayCalls.nest, elem, &functions.Overload{
		Name: scalar.ArrayConstructor, Args: []types.OID{array}, Variadic: true, Ret: array,
		NotStrict: true, CanFail: true, Eval: nestArrays(elem)})
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

func nestArrays(elem types.OID) functions.Kernel {
	return func(_ *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		arrays := make([][]byte, len(args))
		var buf []byte
		for i := range n {
			for k, a := range args {
				arrays[k] = nil
				if !a.IsNull(i) {
					arrays[k] = a.Bytes(i)
				}
			}
			var err error
			if buf, err = types.Nest(buf[:0], elem, arrays); err != nil {
				return err
			}
			out.AppendBytes(buf)
		}
		return nil
	}
}
