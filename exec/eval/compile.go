package eval

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// node computes one expression for the rows of a frame.
type node interface {
	eval(f *frame) (value, error)
	info() *nodeInfo
}

// nodeInfo is what a node's parent plans by.
type nodeInfo struct {
	// fails says that the node may raise an error, has an effect, or is
	// expensive: it is evaluated on needed rows only.
	fails bool
	// need is the number of scratch vectors held at once while evaluating; the
	// operand with the largest goes first, so that unbalanced trees stay small.
	need int
}

func (i *nodeInfo) info() *nodeInfo { return i }

// combine derives a node's info from its operands evaluated one after the other.
func combine(fails bool, args ...node) nodeInfo {
	out := nodeInfo{fails: fails, need: 1}
	for _, a := range args {
		out.fails = out.fails || a.info().fails
		out.need = max(out.need, a.info().need+1)
	}
	return out
}

func compileAll(es []scalar.Expr) ([]node, error) {
	out := make([]node, len(es))
	for i, e := range es {
		n, err := compile(e)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func compile(e scalar.Expr) (node, error) {
	switch e := e.(type) {
	case *scalar.Column:
		return &columnNode{index: e.Index}, nil
	case *scalar.Const:
		return newConst(e.Value), nil
	case *scalar.Slot:
		return &slotNode{index: e.Index}, nil
	case *scalar.Param:
		return nil, pgerr.New(pgerr.InternalError, "parameter $%d reached execution without a value", e.Number)
	case *scalar.Call:
		return compileCall(e)
	case *scalar.Cast:
		arg, err := compile(e.Arg)
		if err != nil || e.Kernel == nil {
			return arg, err
		}
		return newCall(e.Kernel, []node{arg}, e.Typ.Kind(), callTraits{strict: true, fails: e.CanFail}), nil
	case *scalar.Logic:
		return compileLogic(e)
	case *scalar.Not:
		return compileUnary(e.Arg, func(a node) node { return &notNode{nodeInfo: combine(false, a), arg: a} })
	case *scalar.IsNull:
		return compileUnary(e.Arg, func(a node) node { return &isNullNode{nodeInfo: combine(false, a), arg: a, negate: e.Negate} })
	case *scalar.BoolTest:
		return compileUnary(e.Arg, func(a node) node {
			return &boolTestNode{nodeInfo: combine(false, a), arg: a, test: e.Value, negate: e.Negate}
		})
	case *scalar.Distinct:
		args, err := compileAll([]scalar.Expr{e.Left, e.Right})
		if err != nil {
			return nil, err
		}
		return &distinctNode{nodeInfo: combine(e.Eq.CanFail, args...), left: args[0], right: args[1], eq: e.Eq.Eval, negate: e.Negate}, nil
	case *scalar.Case:
		return compileCase(e)
	case *scalar.Coalesce:
		args, err := compileAll(e.Args)
		if err != nil {
			return nil, err
		}
		return &coalesceNode{nodeInfo: combine(false, args...), args: args, kind: e.Typ.Kind()}, nil
	case *scalar.MinMax:
		args, err := compileAll(e.Args)
		if err != nil {
			return nil, err
		}
		return &minMaxNode{nodeInfo: combine(false, args...), args: args, typ: e.Typ, greatest: e.Greatest}, nil
	case *scalar.InList:
		return compileUnary(e.Arg, func(a node) node { return newIn(a, e.Arg.ResultType(), e.List, e.HasNull, e.Negate) })
	case *scalar.ArrayCompare:
		return compileArrayCompare(e)
	case *scalar.Subquery:
		return compileSubquery(e)
	}
	return nil, pgerr.New(pgerr.InternalError, "unknown expression %T", e)
}

func compileUnary(arg scalar.Expr, make func(node) node) (node, error) {
	a, err := compile(arg)
	if err != nil {
		return nil, err
	}
	return make(a), nil
}

func compileCall(e *scalar.Call) (node, error) {
	args, err := compileAll(e.Args)
	if err != nil {
		return nil, err
	}
	t := callTraits{
		strict:   !e.Fn.NotStrict,
		volatile: e.Fn.Volatility == functions.Volatile,
		fails:    e.Fn.CanFail,
	}
	in := make([]types.Type, len(e.Args))
	for i, a := range e.Args {
		in[i] = a.ResultType()
	}
	return newCall(e.Fn.Kernel(in), args, e.Typ.Kind(), t), nil
}

// columnNode reads a column of the batch.
type columnNode struct {
	nodeInfo
	index int
}

func (c *columnNode) eval(f *frame) (value, error) {
	return value{Vector: f.column(c.index)}, nil
}

// constNode is a literal: a constant vector as long as the frame.
type constNode struct {
	nodeInfo
	v vector.Vector
}

func newConst(row *vector.Vector) *constNode {
	c := &constNode{v: *row}
	c.v.Const = true
	return c
}

func (c *constNode) eval(f *frame) (value, error) {
	c.v.N = f.n
	return value{Vector: &c.v}, nil
}

// slotNode reads a value of the enclosing query's row.
type slotNode struct {
	nodeInfo
	index int
	v     vector.Vector
}

func (s *slotNode) eval(f *frame) (value, error) {
	if s.index >= len(f.m.env.Slots) {
		return value{}, pgerr.New(pgerr.InternalError, "value %d of the outer row is not set", s.index)
	}
	s.v = *f.m.env.Slots[s.index]
	s.v.Const, s.v.N = true, f.n
	return value{Vector: &s.v}, nil
}

// constOf returns the value of a constant expression node, nil for others.
func constOf(e scalar.Expr) *vector.Vector {
	if c, ok := e.(*scalar.Const); ok {
		return c.Value
	}
	return nil
}

// equality recognises left = constant, where both compare by one lookup key.
func equality(e scalar.Expr) (left scalar.Expr, c *vector.Vector, t types.Type, ok bool) {
	call, isCall := e.(*scalar.Call)
	if !isCall || !call.Fn.Operator || call.Fn.Name != "=" || len(call.Args) != 2 {
		return nil, nil, t, false
	}
	l, r := call.Args[0], call.Args[1]
	if constOf(r) == nil {
		l, r = r, l
	}
	c = constOf(r)
	t = l.ResultType()
	if c == nil || constOf(l) != nil || !sameKey(t.OID, r.ResultType().OID) || !sameKey(call.Fn.Args[0], call.Fn.Args[1]) {
		return nil, nil, t, false
	}
	return l, c, t, true
}

func isInteger(t types.OID) bool { return t == types.Int2 || t == types.Int4 || t == types.Int8 }

// sameKey reports whether values of the two types are equal exactly when their lookup keys are.
func sameKey(a, b types.OID) bool { return a == b || isInteger(a) && isInteger(b) }

// sameExpr reports whether two expressions certainly have the same value.
func sameExpr(a, b scalar.Expr) bool {
	if a == b {
		return true
	}
	switch a := a.(type) {
	case *scalar.Column:
		b, ok := b.(*scalar.Column)
		return ok && a.Index == b.Index
	case *scalar.Cast:
		b, ok := b.(*scalar.Cast)
		return ok && a.Typ == b.Typ && a.Kernel == nil && b.Kernel == nil && sameExpr(a.Arg, b.Arg)
	}
	return false
}
