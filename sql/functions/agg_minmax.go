package functions

import (
	"bytes"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// extremeFixed keeps the least or greatest value of a fixed-width type per group.
type extremeFixed[T number] struct {
	get   access[T]
	max   bool
	isNaN func(T) bool // nil for integers
	best  []T
	seen  []bool
}

func (s *extremeFixed[T]) Grow(n int)  { s.best, s.seen = extend(s.best, n), extend(s.seen, n) }
func (s *extremeFixed[T]) Size() int64 { return int64(cap(s.best)) * 9 }

func (s *extremeFixed[T]) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok || n == 0 {
		return nil
	}
	x, m := s.get(args[0]), args[0].Mask()
	switch {
	case groups == nil && rows.valid == nil:
		s.offer(0, s.extreme(x[:args[0].Phys()]))
	case rows.valid == nil && m != 0 && s.isNaN == nil:
		for i, g := range groups[:n] {
			if v := x[i]; !s.seen[g] || s.max && v > s.best[g] || !s.max && v < s.best[g] {
				s.best[g], s.seen[g] = v, true
			}
		}
	default:
		rows.each(func(i int) { s.offer(group(groups, i), x[i&m]) })
	}
	return nil
}

// extreme returns the least or greatest of x, which is not empty.
func (s *extremeFixed[T]) extreme(x []T) T {
	if s.isNaN != nil {
		return floatExtreme(x, s.max)
	}
	lo, hi := x[0], x[0]
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	if s.max {
		return hi
	}
	return lo
}

// floatExtreme orders NaN above everything: it wins max, and min only if nothing else is there.
func floatExtreme[T number](x []T, greatest bool) T {
	best, nan := x[0], false
	for _, v := range x {
		nan = nan || v != v
		if best != best || greatest && v > best || !greatest && v < best {
			best = v
		}
	}
	if nan && greatest {
		for _, v := range x {
			if v != v {
				return v
			}
		}
	}
	return best
}

func (s *extremeFixed[T]) offer(g uint32, v T) {
	if !s.seen[g] {
		s.best[g], s.seen[g] = v, true
		return
	}
	b := s.best[g]
	better := v < b
	if s.max {
		better = v > b
	}
	if s.isNaN != nil && (s.isNaN(v) || s.isNaN(b)) {
		// NaN is the largest: it wins max, and anything else wins min.
		better = s.max == s.isNaN(v) && !(s.isNaN(v) && s.isNaN(b))
	}
	if better {
		s.best[g] = v
	}
}

func (s *extremeFixed[T]) Merge(other AggState, to []uint32) error {
	o := other.(*extremeFixed[T])
	for i, ok := range o.seen {
		if ok {
			s.offer(to[i], o.best[i])
		}
	}
	return nil
}

func (s *extremeFixed[T]) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	at := out.N
	for g := lo; g < hi; g++ {
		if !s.seen[g] {
			out.AppendNull()
			continue
		}
		appendZero(out)
		s.get(out)[at+g-lo] = s.best[g]
	}
	return nil
}

// appendZero appends a zero row to a fixed-width vector.
func appendZero(out *vector.Vector) {
	switch out.Kind {
	case vector.Int16:
		out.AppendInt16(0)
	case vector.Int32:
		out.AppendInt32(0)
	case vector.Int64:
		out.AppendInt64(0)
	case vector.Uint32:
		out.AppendUint32(0)
	case vector.Float32:
		out.AppendFloat32(0)
	case vector.Float64:
		out.AppendFloat64(0)
	case vector.Fixed16:
		out.AppendFixed16([16]byte{})
	}
}

// extremeBytes keeps the least or greatest byte string per group under an order.
type extremeBytes struct {
	max   bool
	order func(a, b []byte) int
	best  [][]byte
	seen  []bool
	size  int64
}

func (s *extremeBytes) Grow(n int)  { s.best, s.seen = extend(s.best, n), extend(s.seen, n) }
func (s *extremeBytes) Size() int64 { return int64(cap(s.best))*25 + s.size }

func (s *extremeBytes) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	rows.each(func(i int) { s.offer(group(groups, i), args[0].Bytes(i)) })
	return nil
}

func (s *extremeBytes) offer(g uint32, v []byte) {
	if s.seen[g] {
		if c := s.order(v, s.best[g]); c == 0 || c > 0 != s.max {
			return
		}
	}
	s.size -= int64(cap(s.best[g]))
	s.best[g] = append(s.best[g][:0], v...)
	s.size += int64(cap(s.best[g]))
	s.seen[g] = true
}

func (s *extremeBytes) Merge(other AggState, to []uint32) error {
	o := other.(*extremeBytes)
	for i, ok := range o.seen {
		if ok {
			s.offer(to[i], o.best[i])
		}
	}
	return nil
}

func (s *extremeBytes) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for g := lo; g < hi; g++ {
		if s.seen[g] {
			out.AppendBytes(s.best[g])
		} else {
			out.AppendNull()
		}
	}
	return nil
}

// extremeInterval keeps the least or greatest interval per group.
type extremeInterval struct {
	max  bool
	best [][16]byte
	seen []bool
}

func (s *extremeInterval) Grow(n int)  { s.best, s.seen = extend(s.best, n), extend(s.seen, n) }
func (s *extremeInterval) Size() int64 { return int64(cap(s.best)) * 17 }

func (s *extremeInterval) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	m := args[0].Mask()
	rows.each(func(i int) { s.offer(group(groups, i), args[0].F16[i&m]) })
	return nil
}

func (s *extremeInterval) offer(g uint32, v [16]byte) {
	if s.seen[g] {
		if c := intervalSpan(v).compare(intervalSpan(s.best[g])); c == 0 || c > 0 != s.max {
			return
		}
	}
	s.best[g], s.seen[g] = v, true
}

func (s *extremeInterval) Merge(other AggState, to []uint32) error {
	o := other.(*extremeInterval)
	for i, ok := range o.seen {
		if ok {
			s.offer(to[i], o.best[i])
		}
	}
	return nil
}

func (s *extremeInterval) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for g := lo; g < hi; g++ {
		if s.seen[g] {
			out.AppendFixed16(s.best[g])
		} else {
			out.AppendNull()
		}
	}
	return nil
}

func compareDecimals(a, b []byte) int { return types.CompareNumeric(a, b) }

func comparePaddedBytes(a, b []byte) int { return bytes.Compare(trimBlanks(a), trimBlanks(b)) }

// compareTimeTZ orders 12-byte time with zone values: by the instant, then by the zone.
func compareTimeTZ(a, b []byte) int {
	one := func(x []byte) *vector.Vector {
		v := vector.New(vector.Bytes, 1)
		v.AppendBytes(x)
		return v
	}
	return types.Compare(types.T(types.TimeTZ), one(a), 0, one(b), 0)
}

func compareArrayValues(a, b []byte) int {
	c, _ := arrayOrder(a, b)
	return c
}

func init() {
	for _, side := range []struct {
		name, doc string
		max       bool
	}{{"min", "Least of the values that are not NULL.", false}, {"max", "Greatest of the values that are not NULL.", true}} {
		m := side.max
		reg := func(t types.OID, state func() AggState) {
			RegisterAggregates(agg(side.name, t, state, side.doc, t))
		}
		texts := func(t types.OID, order func(a, b []byte) int) {
			reg(t, func() AggState { return &extremeBytes{max: m, order: order} })
		}
		reg(types.Int2, func() AggState { return &extremeFixed[int16]{get: i16s, max: m} })
		reg(types.Int4, func() AggState { return &extremeFixed[int32]{get: i32s, max: m} })
		reg(types.Date, func() AggState { return &extremeFixed[int32]{get: i32s, max: m} })
		for _, t := range []types.OID{types.Int8, types.Time, types.Timestamp, types.TimestampTZ, types.AnyEnum} {
			reg(t, func() AggState { return &extremeFixed[int64]{get: i64s, max: m} })
		}
		reg(types.Oid, func() AggState { return &extremeFixed[uint32]{get: u32s, max: m} })
		reg(types.Float4, func() AggState { return &extremeFixed[float32]{get: f32s, max: m, isNaN: isNaN[float32]} })
		reg(types.Float8, func() AggState { return &extremeFixed[float64]{get: f64s, max: m, isNaN: isNaN[float64]} })
		reg(types.Interval, func() AggState { return &extremeInterval{max: m} })
		texts(types.Text, bytes.Compare)
		texts(types.BPChar, comparePaddedBytes)
		texts(types.Numeric, compareDecimals)
		texts(types.TimeTZ, compareTimeTZ)
		texts(types.AnyArray, compareArrayValues)
	}
}
