package bind

import (
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

const (
	maxSubscripts = 6
	nameLength    = 64
)

// shape is the form of a list of subscripts. For every one of them a slice has
// two arguments, its bounds; those of omitted ones are NULL.
type shape struct {
	elem    types.OID
	count   int
	slice   bool
	omitted [2 * maxSubscripts]bool
	assign  bool
}

// shapeOf binds subscripts of a value of type t; it returns the arguments.
func (b *binder) shapeOf(t types.OID, list []*pg_query.Node, location int32, c exprCtx) (shape, []scalar.Expr, error) {
	s := shape{elem: types.ElemOf(t), count: len(list)}
	for _, n := range list {
		s.slice = s.slice || n.GetAIndices().IsSlice
	}
	switch {
	case t == types.Name && s.slice:
		return s, nil, pgerr.New(pgerr.FeatureNotSupported, "slices of fixed-length arrays not implemented")
	case t == types.Name:
		s.elem = types.Char
	case t == types.Int2Vector:
		s.elem = types.Int2
	case t == types.OidVector:
		s.elem = types.Oid
	case t == types.JSONB:
		return s, nil, b.unsupportedAt(location, "a jsonb subscript")
	}
	if s.elem == 0 {
		return s, nil, b.errorAt(location, pgerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", typeText(t))
	}
	if len(list) > maxSubscripts {
		return s, nil, pgerr.New(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", len(list), maxSubscripts)
	}
	var args []scalar.Expr
	for k, n := range list {
		ix := n.GetAIndices()
		if s.slice {
			lower, err := b.subscript(ix.Lidx, c)
			if err != nil {
				return s, nil, err
			}
			if !ix.IsSlice {
				lower = int4Const(1)
			}
			s.omitted[2*k], s.omitted[2*k+1] = ix.IsSlice && ix.Lidx == nil, ix.Uidx == nil
			args = append(args, lower)
		}
		upper, err := b.subscript(ix.Uidx, c)
		if err != nil {
			return s, nil, err
		}
		args = append(args, upper)
	}
	return s, args, nil
}

// subscript binds one bound; one that is not there is NULL.
func (b *binder) subscript(n *pg_query.Node, c exprCtx) (scalar.Expr, error) {
	if n == nil {
		return nullConst(types.T(types.Int4)), nil
	}
	e, err := b.expr(n, c)
	if err != nil {
		return nil, err
	}
	at := locate(n)
	index, ok, err := b.convert(e, types.T(types.Int4), conversion{context: functions.CastAssignment, location: at})
	if err == nil && !ok {
		err = b.errorAt(at, pgerr.DatatypeMismatch, "array subscript must have type integer")
	}
	return index, err
}

// subscripts binds e[...][...].
func (b *binder) subscripts(e scalar.Expr, list []*pg_query.Node, location int32, c exprCtx) (scalar.Expr, error) {
	t := e.ResultType().OID
	s, args, err := b.shapeOf(t, list, location, c)
	if err != nil {
		return nil, err
	}
	out := types.T(s.elem)
	if s.slice {
		out = types.T(types.ArrayOf(s.elem))
	}
	fn := subscriptCall(s, t, out.OID)
	return &scalar.Call{Fn: fn, Args: append([]scalar.Expr{e}, args...), Typ: out}, nil
}

// subscriptCalls holds the functions behind subscripts, one per form.
var subscriptCalls struct {
	sync.Mutex
	fns map[subscriptKey]*functions.Overload
}

type subscriptKey struct {
	shape
	of types.OID
}

func subscriptCall(s shape, of, ret types.OID) *functions.Overload {
	subscriptCalls.Lock()
	defer subscriptCalls.Unlock()
	key := subscriptKey{s, of}
	if fn, ok := subscriptCalls.fns[key]; ok {
		return fn
	}
	if subscriptCalls.fns == nil {
		subscriptCalls.fns = map[subscriptKey]*functions.Overload{}
	}
	fn := &functions.Overload{Name: scalar.ArraySubscript, Args: []types.OID{of}, Ret: ret, NotStrict: true}
	switch {
	case s.assign:
		fn.Name = "array_assign"
		fn.CanFail, fn.Eval = true, s.change
		if s.slice {
			fn.Args = append(fn.Args, types.ArrayOf(s.elem))
		} else {
			fn.Args = append(fn.Args, s.elem)
		}
	case of == types.Name:
		fn.Eval = s.letter
	default:
		fn.Eval = s.read
		if s.slice {
			fn.Name = "array_slice"
		}
	}
	for range s.count {
		fn.Args = append(fn.Args, types.Int4)
		if s.slice {
			fn.Args = append(fn.Args, types.Int4)
		}
	}
	subscriptCalls.fns[key] = fn
	return fn
}

// bounds reads the subscripts of row i; ok is false if one is NULL.
func (s *shape) bounds(dst []types.Bound, args []*vector.Vector, i int) (list []types.Bound, ok bool) {
	at := func(k int) (int32, bool, bool) {
		if s.omitted[k] && s.slice {
			return 0, true, true
		}
		v := args[k]
		if v.IsNull(i) {
			return 0, false, false
		}
		return v.I32[i&v.Mask()], false, true
	}
	dst = dst[:0]
	for k := range s.count {
		var b types.Bound
		if !s.slice {
			if b.Upper, _, ok = at(k); !ok {
				return dst, false
			}
			b.Lower = b.Upper
			dst = append(dst, b)
			continue
		}
		if b.Lower, b.NoLower, ok = at(2 * k); !ok {
			return dst, false
		}
		if b.Upper, b.NoUpper, ok = at(2*k + 1); !ok {
			return dst, false
		}
		dst = append(dst, b)
	}
	return dst, true
}

// read is the kernel of a[i] and a[i:j].
func (s shape) read(_ *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	kind := vector.Bytes
	if !s.slice {
		kind = types.T(s.elem).Kind()
	}
	res := vector.New(kind, n)
	var list []types.Bound
	var buf []byte
	for i := range n {
		var ok bool
		if list, ok = s.bounds(list, args[1:], i); !ok || args[0].IsNull(i) {
			res.AppendNull()
			continue
		}
		var err error
		if s.slice {
			if buf, err = types.AppendSlice(buf[:0], args[0].Bytes(i), list); err == nil {
				res.AppendBytes(buf)
			}
		} else {
			err = types.AppendElement(res, args[0].Bytes(i), list)
		}
		if err != nil {
			return err
		}
	}
	*out = *res
	return nil
}

// letter is the kernel of a subscript of a name, whose letters count from 0.
func (s shape) letter(_ *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	res := vector.New(vector.Bytes, n)
	var list []types.Bound
	for i := range n {
		var ok bool
		list, ok = s.bounds(list, args[1:], i)
		if !ok || args[0].IsNull(i) || len(list) != 1 || list[0].Upper < 0 || list[0].Upper >= nameLength {
			res.AppendNull()
			continue
		}
		if name, at := args[0].Bytes(i), int(list[0].Upper); at < len(name) {
			res.AppendBytes(name[at : at+1])
		} else {
			res.AppendBytes(nil)
		}
	}
	*out = *res
	return nil
}

// change is the kernel of an assignment: (array, value, subscripts) gives the new array.
func (s shape) change(_ *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	res := vector.New(vector.Bytes, n)
	var list []types.Bound
	var buf, elem []byte
	for i := range n {
		var ok bool
		if list, ok = s.bounds(list, args[2:], i); !ok {
			return pgerr.New(pgerr.NullValueNotAllowed, "array subscript in assignment must not be null")
		}
		var array, value []byte
		if !args[0].IsNull(i) {
			array = args[0].Bytes(i)
		}
		switch v := args[1]; {
		case v.IsNull(i) && s.slice:
			if array == nil {
				res.AppendNull()
			} else {
				res.AppendBytes(array)
			}
			continue
		case v.IsNull(i):
		case s.slice:
			value = v.Bytes(i)
		default:
			elem = types.AppendBinary(elem[:0], types.T(s.elem), v, i&v.Mask())
			value = elem[:len(elem):len(elem)]
			if value == nil {
				value = []byte{}
			}
		}
		var err error
		if buf, err = types.AssignSlice(buf[:0], array, s.elem, list, s.slice, value); err != nil {
			return err
		}
		res.AppendBytes(buf)
	}
	*out = *res
	return nil
}
