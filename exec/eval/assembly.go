package eval

import (
	"tsdb/colstore/vector"
)

// assembly puts a result together from the values of disjoint sets of rows.
// Fixed-width values go to their rows at once; byte strings are collected and
// permuted at the end.
type assembly struct {
	m    *machine
	n    int
	out  *vector.Vector
	pool *vector.Vector // byte strings in order of arrival
	from []int32        // row → row of pool
}

func (m *machine) assembly(k vector.Kind, n int) *assembly {
	a := &assembly{m: m, n: n, out: m.vector(k)}
	if k == vector.Bytes {
		a.pool = m.vector(k)
		a.from = grown(m.sel(), n)
		return a
	}
	a.out.Resize(n)
	return a
}

// put stores row i of v at rows[i]; rows nil means all in order.
func (a *assembly) put(rows []int32, v *vector.Vector) {
	count := len(rows)
	if rows == nil {
		count = a.n
	}
	if a.pool != nil {
		a.collect(rows, v, count)
		return
	}
	mask := v.Mask()
	switch v.Kind {
	case vector.Bool:
		for i := 0; i < count; i++ {
			a.out.Bits.Put(at(rows, i), v.Bits.Get(i&mask))
		}
	case vector.Int16:
		scatter(a.out.I16, v.I16, rows, mask, count)
	case vector.Int32:
		scatter(a.out.I32, v.I32, rows, mask, count)
	case vector.Int64:
		scatter(a.out.I64, v.I64, rows, mask, count)
	case vector.Uint32:
		scatter(a.out.U32, v.U32, rows, mask, count)
	case vector.Float32:
		scatter(a.out.F32, v.F32, rows, mask, count)
	case vector.Float64:
		scatter(a.out.F64, v.F64, rows, mask, count)
	case vector.Fixed16:
		scatter(a.out.F16, v.F16, rows, mask, count)
	}
	if v.Valid != nil {
		for i := 0; i < count; i++ {
			if !v.Valid.Get(i & mask) {
				a.out.SetNull(at(rows, i))
			}
		}
	}
}

func at(rows []int32, i int) int {
	if rows == nil {
		return i
	}
	return int(rows[i])
}

func scatter[T any](dst, src []T, rows []int32, mask, n int) {
	if rows == nil {
		for i := range dst[:n] {
			dst[i] = src[i&mask]
		}
		return
	}
	for i, r := range rows {
		dst[r] = src[i&mask]
	}
}

func (a *assembly) collect(rows []int32, v *vector.Vector, count int) {
	base, mask := int32(a.pool.N), int32(v.Mask())
	if v.Const {
		a.pool.AppendFrom(v, 0)
	} else {
		a.pool.AppendVector(v, nil)
	}
	for i := 0; i < count; i++ {
		a.from[at(rows, i)] = base + int32(i)&mask
	}
}

// null makes rows NULL.
func (a *assembly) null(rows []int32) {
	if len(rows) == 0 {
		return
	}
	if a.pool == nil {
		for _, r := range rows {
			a.out.SetNull(int(r))
		}
		return
	}
	for _, r := range rows {
		a.from[r] = int32(a.pool.N)
	}
	a.pool.AppendNull()
}

func (a *assembly) finish() value {
	if a.pool != nil {
		a.pool.GatherInto(a.out, a.from)
		a.m.release(value{a.pool, true})
		a.m.releaseSel(a.from)
	}
	return value{a.out, true}
}
