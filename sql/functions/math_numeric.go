package functions

import (
	"bytes"
	"sort"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// leastScale is how many decimals a finite number needs; buf is scratch.
func leastScale(d *decimal, buf []byte) (int, []byte) {
	buf = d.AppendText(buf[:0])
	point := bytes.IndexByte(buf, '.')
	if point < 0 {
		return 0, buf
	}
	return len(bytes.TrimRight(buf, "0")) - point - 1, buf
}

func minScale(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var d decimal
	var buf []byte
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		if err := d.Decode(args[0].Bytes(i)); err != nil {
			return err
		}
		if d.IsNaN() || d.IsInf() {
			setNull(out, i, n)
			continue
		}
		var k int
		k, buf = leastScale(&d, buf)
		out.I32[i] = int32(k)
	}
	return nil
}

func trimScale(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var buf []byte
	return numeric1(func(r *decimal) error {
		if r.IsNaN() || r.IsInf() {
			return nil
		}
		var k int
		k, buf = leastScale(r, buf)
		r.Round(k)
		return nil
	})(c, out, args, n)
}

func factorialKernel(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var r decimal
	for i := 0; i < n; i++ {
		if live(out, i) {
			if err := factorial(c, args[0].I64[i&args[0].Mask()], &r); err != nil {
				return err
			}
			out.Data = r.AppendStored(out.Data)
		}
		endRow(out)
	}
	return nil
}

// bucketOfArray finds a value among ascending thresholds: how many are not above it.
func bucketOfArray(in []types.Type) Kernel {
	elem := types.T(types.ElemOf(in[1].OID))
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var steps *vector.Vector
		for i := range out.I32[:n] {
			if !live(out, i) {
				continue
			}
			if steps == nil || !args[1].Const {
				var err error
				if steps, err = thresholds(args[1], i, elem); err != nil {
					return err
				}
			}
			at := i & args[0].Mask()
			out.I32[i] = int32(sort.Search(steps.N, func(k int) bool { return types.Compare(elem, steps, k, args[0], at) > 0 }))
		}
		return nil
	}
}

func thresholds(v *vector.Vector, i int, elem types.Type) (*vector.Vector, error) {
	list, h, err := items(v, i, elem)
	switch {
	case err != nil:
		return nil, err
	case h.dims > 1:
		return nil, pgerr.New(pgerr.ArraySubscriptError, "thresholds must be one-dimensional array")
	case list.HasNulls():
		return nil, pgerr.New(pgerr.NullValueNotAllowed, "thresholds array must not contain NULLs")
	}
	return list, nil
}

func init() {
	n := types.Numeric
	RegisterFunctions(
		fn("min_scale", types.Int4, minScale, n).doc("Number of decimals that the value needs."),
		fn("trim_scale", n, trimScale, n).doc("Without zeros at the end of the decimals."),
		fn("factorial", n, factorialKernel, types.Int8).fails().doc("Product of the integers up to one."),
		boundFn("width_bucket", types.Int4, bucketOfArray, types.AnyCompatible, types.AnyCompatibleArray).fails().
			doc("Number of the bucket of a value among thresholds."),
	)
}
