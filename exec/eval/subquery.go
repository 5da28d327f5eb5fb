package eval

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// subqueryNode runs a plan, once if it is not correlated, else per row.
type subqueryNode struct {
	nodeInfo
	sub   *scalar.Subquery
	outer []node
	test  node
	tests []node // of a row
	match node   // over the tests and the plan's columns; nil: Test and Op
	kind  vector.Kind
	once  *vector.Batch // rows of a plan that is not correlated
	set   *inNode       // of these rows, for = ANY and <> ALL
}

func compileSubquery(e *scalar.Subquery) (node, error) {
	outer, err := compileAll(e.Outer)
	if err != nil {
		return nil, err
	}
	n := &subqueryNode{sub: e, outer: outer, kind: e.Typ.Kind(), nodeInfo: nodeInfo{fails: true, need: 1 + len(outer)}}
	if e.Test != nil {
		if n.test, err = compile(e.Test); err != nil {
			return nil, err
		}
	}
	if n.tests, err = compileAll(e.Tests); err != nil {
		return nil, err
	}
	n.need += len(n.tests)
	if e.Match != nil {
		n.match, err = compile(e.Match)
	}
	return n, err
}

func (x *subqueryNode) eval(f *frame) (value, error) {
	if f.m.env.Run == nil {
		return value{}, pgerr.Unsupported("a subquery here")
	}
	var test value
	var err error
	if x.test != nil {
		if test, err = x.test.eval(f); err != nil {
			return value{}, err
		}
		defer func() { f.m.release(test) }()
	}
	if x.match != nil {
		return x.rows(f)
	}
	if len(x.outer) == 0 {
		return x.uncorrelated(f, test)
	}
	slots, release, err := evalAll(f, x.outer)
	if err != nil {
		return value{}, err
	}
	defer release()
	out := f.m.vector(x.kind)
	for i := 0; i < f.n; i++ {
		b, err := f.m.env.Run.Run(x.sub, slots, i)
		if err != nil {
			return value{}, err
		}
		if err := x.appendResult(f.m, out, b, test.Vector, i); err != nil {
			return value{}, err
		}
	}
	return value{out, true}, nil
}

// evalAll evaluates nodes; the vectors are valid until release.
func evalAll(f *frame, list []node) (out []*vector.Vector, release func(), err error) {
	vals := make([]value, 0, len(list))
	release = func() {
		for _, v := range vals {
			f.m.release(v)
		}
	}
	for _, n := range list {
		v, err := n.eval(f)
		if err != nil {
			release()
			return nil, nil, err
		}
		vals, out = append(vals, v), append(out, v.Vector)
	}
	return out, release, nil
}

func (x *subqueryNode) uncorrelated(f *frame, test value) (value, error) {
	if x.once == nil {
		b, err := f.m.env.Run.Run(x.sub, nil, 0)
		if err != nil {
			return value{}, err
		}
		x.once = b.Clone()
	}
	if x.test != nil && x.once.N > 0 && x.membership() {
		return x.testSet(f, test)
	}
	out := f.m.vector(x.kind)
	if x.test == nil {
		if err := x.appendResult(f.m, out, x.once, nil, 0); err != nil {
			return value{}, err
		}
		out.Const, out.N = true, f.n
		return value{out, true}, nil
	}
	for i := 0; i < f.n; i++ {
		if err := x.appendResult(f.m, out, x.once, test.Vector, i); err != nil {
			return value{}, err
		}
	}
	return value{out, true}, nil
}

// membership reports whether the test is = ANY or <> ALL over one lookup key.
func (x *subqueryNode) membership() bool {
	op := x.sub.Op
	if !op.Operator || !sameKey(op.Args[0], op.Args[1]) || !sameKey(op.Args[0], x.sub.Test.ResultType().OID) {
		return false
	}
	return op.Name == "=" && x.sub.Kind == scalar.SubAny || op.Name == "<>" && x.sub.Kind == scalar.SubAll
}

func (x *subqueryNode) testSet(f *frame, test value) (value, error) {
	if x.set == nil {
		x.set = newIn(nil, x.sub.Test.ResultType(), x.once.Cols[0], false, x.sub.Kind == scalar.SubAll)
	}
	out := f.m.boolResult(test.Vector, f.n)
	x.set.test(f.m, out, test.Vector)
	return finishBool(out, test.Vector, f.n), nil
}

// appendResult appends what the subquery's rows b mean for row i of the test.
func (x *subqueryNode) appendResult(m *machine, out *vector.Vector, b *vector.Batch, test *vector.Vector, i int) error {
	rows := 0
	if b != nil {
		rows = b.Rows()
	}
	switch x.sub.Kind {
	case scalar.SubExists:
		out.AppendBool(rows > 0)
	case scalar.SubScalar:
		if rows > 1 {
			return pgerr.New(pgerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")
		}
		if rows == 0 {
			out.AppendNull()
		} else {
			out.AppendFrom(flatRows(b, rows, x.kind), 0)
		}
	case scalar.SubArray:
		items := flatRows(b, rows, types.T(types.ElemOf(x.sub.Typ.OID)).Kind())
		out.Data = functions.AppendArray(out.Data, types.ElemOf(x.sub.Typ.OID), items, 0, rows)
		out.FinishBytes()
	case scalar.SubAny, scalar.SubAll:
		items := flatRows(b, rows, x.sub.Test.ResultType().Kind())
		one := vector.New(test.Kind, 1)
		one.AppendFrom(test, i)
		one.Const, one.N = true, rows
		v, err := quantify(&frame{m: m, n: rows}, x.sub.Op.Eval, one, items, x.sub.Kind == scalar.SubAll)
		if err != nil {
			return err
		}
		appendTruth(out, v)
	}
	return nil
}

// flatRows returns the first column of b without selection, dictionary and constant form.
func flatRows(b *vector.Batch, rows int, k vector.Kind) *vector.Vector {
	if rows == 0 {
		return vector.New(k, 0)
	}
	c := b.Cols[0]
	if b.Sel == nil && !c.Const && c.Dict == nil {
		return c
	}
	v := vector.New(c.Kind, rows)
	v.AppendVector(c, b.Sel)
	return v
}
