package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// intSum sums int2 or int4 in 64 bits, which 2^32 rows cannot overflow.
type intSum[T int16 | int32] struct {
	get access[T]
	avg bool
	sum []int64
	n   []int64
}

func (s *intSum[T]) Grow(n int)  { s.sum, s.n = extend(s.sum, n), extend(s.n, n) }
func (s *intSum[T]) Size() int64 { return int64(cap(s.sum)+cap(s.n)) * 8 }

func (s *intSum[T]) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	x, m := s.get(args[0]), args[0].Mask()
	switch {
	case groups == nil && rows.valid == nil && m != 0:
		total := int64(0)
		for _, v := range x[:n] {
			total += int64(v)
		}
		s.sum[0] += total
		s.n[0] += int64(n)
	case rows.valid == nil && m != 0:
		for i, g := range groups[:n] {
			s.sum[g] += int64(x[i])
			s.n[g]++
		}
	default:
		rows.each(func(i int) {
			g := group(groups, i)
			s.sum[g] += int64(x[i&m])
			s.n[g]++
		})
	}
	return nil
}

func (s *intSum[T]) Merge(other AggState, to []uint32) error {
	o := other.(*intSum[T])
	for i := range o.n {
		s.sum[to[i]] += o.sum[i]
		s.n[to[i]] += o.n[i]
	}
	return nil
}

func (s *intSum[T]) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	var num, count decimal
	for g := lo; g < hi; g++ {
		switch {
		case s.n[g] == 0:
			out.AppendNull()
		case !s.avg:
			out.AppendInt64(s.sum[g])
		default:
			num.SetInt64(s.sum[g])
			count.SetInt64(s.n[g])
			if err := num.Div(&num, &count); err != nil {
				return err
			}
			appendDecimal(out, &num)
		}
	}
	return nil
}

// bigSum sums int8 in 128 bits; the result is numeric.
type bigSum struct {
	avg bool
	sum []types.Int128
	n   []int64
}

func (s *bigSum) Grow(n int)  { s.sum, s.n = extend(s.sum, n), extend(s.n, n) }
func (s *bigSum) Size() int64 { return int64(cap(s.sum))*16 + int64(cap(s.n))*8 }

func (s *bigSum) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	x, m := args[0].I64, args[0].Mask()
	switch {
	case groups == nil && rows.valid == nil && m != 0:
		// Halves cannot overflow within a batch.
		var low, high int64
		for _, v := range x[:n] {
			low += v & 0xFFFFFFFF
			high += v >> 32
		}
		s.sum[0].AddProduct(high, 1<<32)
		s.sum[0].Add(low)
		s.n[0] += int64(n)
	case rows.valid == nil && m != 0:
		for i, g := range groups[:n] {
			s.sum[g].Add(x[i])
			s.n[g]++
		}
	default:
		rows.each(func(i int) {
			g := group(groups, i)
			s.sum[g].Add(x[i&m])
			s.n[g]++
		})
	}
	return nil
}

func (s *bigSum) Merge(other AggState, to []uint32) error {
	o := other.(*bigSum)
	for i := range o.n {
		s.sum[to[i]].AddSum(o.sum[i])
		s.n[to[i]] += o.n[i]
	}
	return nil
}

func (s *bigSum) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	var num, count decimal
	for g := lo; g < hi; g++ {
		if s.n[g] == 0 {
			out.AppendNull()
			continue
		}
		s.sum[g].Decimal(&num)
		if s.avg {
			count.SetInt64(s.n[g])
			if err := num.Div(&num, &count); err != nil {
				return err
			}
		}
		appendDecimal(out, &num)
	}
	return nil
}

// numericSumBytes is what one exact sum takes: the struct and some digits.
const numericSumBytes = 80 + 8*8

// numericSum sums numerics exactly.
type numericSum struct {
	avg bool
	sum []types.NumericSum
}

func (s *numericSum) Grow(n int) { s.sum = extend(s.sum, n) }

// Size estimates: it is asked for often, and a sum mostly takes a few digits.
func (s *numericSum) Size() int64 { return int64(cap(s.sum)) * numericSumBytes }

func (s *numericSum) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	rows.each(func(i int) { s.sum[group(groups, i)].AddStored(args[0].Bytes(i)) })
	return nil
}

func (s *numericSum) Merge(other AggState, to []uint32) error {
	o := other.(*numericSum)
	for i := range o.sum {
		s.sum[to[i]].Merge(&o.sum[i])
	}
	return nil
}

func (s *numericSum) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	var num decimal
	for g := lo; g < hi; g++ {
		if s.sum[g].Count == 0 {
			out.AppendNull()
			continue
		}
		var err error
		if s.avg {
			err = s.sum[g].Avg(&num)
		} else {
			err = s.sum[g].Sum(&num)
		}
		if err != nil {
			return err
		}
		appendDecimal(out, &num)
	}
	return nil
}

// appendDecimal appends a number to a numeric vector.
func appendDecimal(out *vector.Vector, d *decimal) {
	out.Data = d.AppendStored(out.Data)
	out.FinishBytes()
}

// floatSum sums floats as they are typed. Infinity from finite values is an error.
type floatSum[T float] struct {
	get     access[T]
	sum     []T
	n       []int64
	special bool // an infinity was among the inputs
}

func (s *floatSum[T]) Grow(n int)  { s.sum, s.n = extend(s.sum, n), extend(s.n, n) }
func (s *floatSum[T]) Size() int64 { return int64(cap(s.sum)+cap(s.n)) * 8 }

func (s *floatSum[T]) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	x, m := s.get(args[0]), args[0].Mask()
	if groups == nil && rows.valid == nil && m != 0 {
		total, special := s.sum[0], T(0)
		for _, v := range x[:n] {
			total += v
			special += v * 0 // NaN for infinities and NaNs; the adder is waiting anyway
		}
		s.sum[0] = total
		s.n[0] += int64(n)
		s.special = s.special || special != 0
		return nil
	}
	s.special = s.special || anySpecial(x[:args[0].Phys()])
	switch {
	case rows.valid == nil && m != 0:
		for i, g := range groups[:n] {
			s.sum[g] += x[i]
			s.n[g]++
		}
	default:
		rows.each(func(i int) {
			g := group(groups, i)
			s.sum[g] += x[i&m]
			s.n[g]++
		})
	}
	return nil
}

// anySpecial reports whether an infinity or NaN is among x.
func anySpecial[T float](x []T) bool {
	var acc T
	for _, v := range x {
		acc += v * 0
	}
	return acc != 0
}

func (s *floatSum[T]) Merge(other AggState, to []uint32) error {
	o := other.(*floatSum[T])
	s.special = s.special || o.special
	for i := range o.n {
		s.sum[to[i]] += o.sum[i]
		s.n[to[i]] += o.n[i]
	}
	return nil
}

func (s *floatSum[T]) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for g := lo; g < hi; g++ {
		switch {
		case s.n[g] == 0:
			out.AppendNull()
			continue
		case isInf(s.sum[g]) && !s.special:
			return floatOverflow()
		case out.Kind == vector.Float32:
			out.AppendFloat32(float32(s.sum[g]))
		default:
			out.AppendFloat64(float64(s.sum[g]))
		}
	}
	return nil
}

func init() {
	const sumDoc, avgDoc = "Sum of the values that are not NULL.", "Mean of the values that are not NULL."
	RegisterAggregates(
		agg("sum", types.Int8, func() AggState { return &intSum[int16]{get: i16s} }, sumDoc, types.Int2),
		agg("sum", types.Int8, func() AggState { return &intSum[int32]{get: i32s} }, sumDoc, types.Int4),
		agg("sum", types.Numeric, func() AggState { return &bigSum{} }, sumDoc, types.Int8),
		agg("sum", types.Numeric, func() AggState { return &numericSum{} }, sumDoc, types.Numeric),
		agg("sum", types.Float4, func() AggState { return &floatSum[float32]{get: f32s} }, sumDoc, types.Float4),
		agg("sum", types.Float8, func() AggState { return &floatSum[float64]{get: f64s} }, sumDoc, types.Float8),
		agg("avg", types.Numeric, func() AggState { return &intSum[int16]{get: i16s, avg: true} }, avgDoc, types.Int2),
		agg("avg", types.Numeric, func() AggState { return &intSum[int32]{get: i32s, avg: true} }, avgDoc, types.Int4),
		agg("avg", types.Numeric, func() AggState { return &bigSum{avg: true} }, avgDoc, types.Int8),
		agg("avg", types.Numeric, func() AggState { return &numericSum{avg: true} }, avgDoc, types.Numeric),
	)
}
