package eval

import (
	"math"
	"sort"

	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// callTraits is what matters about a function besides its kernel.
type callTraits struct {
	strict   bool
	volatile bool
	fails    bool
}

// callNode applies a kernel.
type callNode struct {
	nodeInfo
	kernel functions.Kernel
	args   []node
	order  []int // in which operands are evaluated
	kind   vector.Kind
	callTraits
	vals []value
	vecs []*vector.Vector
}

func newCall(k functions.Kernel, args []node, kind vector.Kind, t callTraits) *callNode {
	c := &callNode{kernel: k, args: args, kind: kind, callTraits: t}
	c.nodeInfo.fails = t.fails || t.volatile
	c.order = make([]int, len(args))
	for i, a := range args {
		c.order[i] = i
		c.nodeInfo.fails = c.nodeInfo.fails || a.info().fails
	}
	sort.SliceStable(c.order, func(i, j int) bool { return args[c.order[i]].info().need > args[c.order[j]].info().need })
	c.need = 1
	for held, i := range c.order {
		c.need = max(c.need, args[i].info().need+held)
	}
	c.vals = make([]value, len(args))
	c.vecs = make([]*vector.Vector, len(args))
	return c
}

func (c *callNode) eval(f *frame) (value, error) {
	for _, i := range c.order {
		v, err := c.args[i].eval(f)
		if err != nil {
			return value{}, err
		}
		c.vals[i], c.vecs[i] = v, v.Vector
	}
	out, err := c.apply(f)
	for i := range c.vals {
		f.m.release(c.vals[i])
		c.vals[i], c.vecs[i] = value{}, nil
	}
	return out, err
}

// apply calls the kernel on the evaluated operands.
func (c *callNode) apply(f *frame) (value, error) {
	if d := c.dictionary(f.n); d >= 0 {
		if out, ok := c.applyDict(f, d); ok {
			return out, nil
		}
	}
	constant := !c.volatile
	for i, v := range c.vecs {
		if v.Dict != nil {
			c.flatten(f, i)
		}
		constant = constant && v.Const
		if c.strict && v.Const && v.IsNull(0) {
			return f.m.nullConst(c.kind, f.n), nil
		}
	}
	n := f.n
	if constant {
		n = 1
	}
	out := f.m.vector(c.kind)
	if err := c.call(f.m, out, n); err != nil {
		f.m.release(value{out, true})
		return value{}, err
	}
	if constant {
		out.Const, out.N = true, f.n
	}
	return value{out, true}, nil
}

// call prepares out, sets its NULLs, and runs the kernel for n rows.
func (c *callNode) call(m *machine, out *vector.Vector, n int) error {
	if c.kind != vector.Bytes {
		out.Resize(n)
	}
	if c.strict {
		for _, v := range c.vecs {
			m.intersect(out, v, n)
		}
	}
	if err := m.env.Ctx.Canceled(); err != nil {
		return err
	}
	if err := c.kernel(m.env.Ctx, out, c.vecs, n); err != nil {
		return err
	}
	if len(out.Data) > math.MaxInt32 {
		return pgerr.New(pgerr.ProgramLimitExceeded, "the results of one batch of rows exceed 2 GB")
	}
	out.N = n
	return nil
}

// intersect makes out's rows NULL where v's are. A constant v is not NULL here.
func (m *machine) intersect(out, v *vector.Vector, n int) {
	if v.Valid == nil || v.Const {
		return
	}
	if out.Valid == nil {
		out.Valid = m.bitmap(n)
		copy(out.Valid, v.Valid[:vector.Words(n)])
		return
	}
	for w := range out.Valid[:vector.Words(n)] {
		out.Valid[w] &= v.Valid[w]
	}
}

// flatten replaces operand i by one without a dictionary.
func (c *callNode) flatten(f *frame, i int) {
	if col, ok := c.args[i].(*columnNode); ok {
		c.vecs[i] = f.flatColumn(col.index)
		return
	}
	v := value{f.m.expand(c.vecs[i]), true}
	f.m.release(c.vals[i])
	c.vals[i], c.vecs[i] = v, v.Vector
}

// dictionary returns the operand to evaluate per distinct value: the only one
// that is not constant, if its dictionary is smaller than the batch; else -1.
func (c *callNode) dictionary(n int) int {
	if !c.strict || c.volatile {
		return -1
	}
	found := -1
	for i, v := range c.vecs {
		if v.Const {
			if v.IsNull(0) || v.Dict != nil {
				return -1
			}
			continue
		}
		if found >= 0 || v.Dict == nil || v.Dict.N == 0 || v.Dict.N >= n {
			return -1
		}
		found = i
	}
	return found
}

// applyDict computes the distinct values and spreads the results. ok is false if
// the kernel fails: the failing value may not occur in this batch.
func (c *callNode) applyDict(f *frame, d int) (value, bool) {
	col := c.vecs[d]
	c.vecs[d] = col.Dict
	per := f.m.vector(c.kind)
	err := c.call(f.m, per, col.Dict.N)
	c.vecs[d] = col
	defer f.m.release(value{per, true})
	if err != nil {
		return value{}, false
	}
	out := f.m.vector(c.kind)
	if c.kind == vector.Bool && per.Valid == nil {
		out.Resize(f.n)
		spreadBits(out.Bits, per.Bits, col.I32[:f.n])
	} else {
		per.GatherInto(out, col.I32[:f.n])
	}
	f.m.intersect(out, col, f.n)
	return value{out, true}, true
}

func spreadBits(out, per vector.Bitmap, codes []int32) {
	for w := 0; w*64 < len(codes); w++ {
		var word uint64
		for j, c := range codes[w*64 : min(len(codes), w*64+64)] {
			word |= (per[uint32(c)>>6] >> (uint32(c) & 63) & 1) << uint(j)
		}
		out[w] = word
	}
}

// nullConst returns n rows of NULL.
func (m *machine) nullConst(k vector.Kind, n int) value {
	v := m.vector(k)
	v.AppendNull()
	v.Const, v.N = true, n
	return value{v, true}
}
