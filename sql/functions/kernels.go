package functions

import (
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Accessors of the slices behind the kinds, for generic kernels.
func i16s(v *vector.Vector) []int16    { return v.I16 }
func i32s(v *vector.Vector) []int32    { return v.I32 }
func i64s(v *vector.Vector) []int64    { return v.I64 }
func u32s(v *vector.Vector) []uint32   { return v.U32 }
func f32s(v *vector.Vector) []float32  { return v.F32 }
func f64s(v *vector.Vector) []float64  { return v.F64 }
func f16s(v *vector.Vector) [][16]byte { return v.F16 }

type access[T any] func(*vector.Vector) []T

type integer interface {
	~int16 | ~int32 | ~int64
}

type float interface {
	~float32 | ~float64
}

type number interface {
	integer | float | ~uint32
}

// maxBatchBytes bounds the bytes that one kernel call may produce: offsets are
// 32 bits wide, and a larger batch would not be useful to anyone.
const maxBatchBytes = 1 << 30

// endRow ends the row whose bytes were appended to out.Data. Unlike
// vector.FinishBytes it leaves out.Valid alone.
func endRow(out *vector.Vector) {
	out.Offsets = append(out.Offsets, int32(len(out.Data)))
	out.N++
}

// addRow appends one row of bytes, leaving out.Valid alone.
func addRow(out *vector.Vector, b []byte) {
	out.Data = append(out.Data, b...)
	endRow(out)
}

// checkRoom refuses results that outgrow a batch.
func checkRoom(out *vector.Vector, more int) error {
	if more > maxBatchBytes || len(out.Data)+more > maxBatchBytes {
		return pgerr.New(pgerr.ProgramLimitExceeded, "requested length too large")
	}
	return nil
}

// setNull makes row i of a result of n rows NULL.
func setNull(out *vector.Vector, i, n int) {
	if out.Valid == nil {
		out.Valid = vector.NewBitmap(n, true)
	}
	out.Valid.Clear(i)
}

// live reports whether row i of a result is to be computed: it is not NULL yet.
func live(out *vector.Vector, i int) bool {
	return out.Valid == nil || out.Valid.Get(i)
}

// str returns row i as a string that aliases nothing.
func str(v *vector.Vector, i int) string { return string(v.Bytes(i)) }

// outOfRange is the overflow error of a type.
func outOfRange(t types.OID) error {
	switch t {
	case types.Int2:
		return pgerr.New(pgerr.NumericValueOutOfRange, "smallint out of range")
	case types.Int4:
		return pgerr.New(pgerr.NumericValueOutOfRange, "integer out of range")
	case types.Int8:
		return pgerr.New(pgerr.NumericValueOutOfRange, "bigint out of range")
	case types.Date:
		return pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range")
	case types.Timestamp, types.TimestampTZ:
		return pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range")
	case types.Interval:
		return pgerr.New(pgerr.DatetimeFieldOverflow, "interval out of range")
	}
	return pgerr.New(pgerr.NumericValueOutOfRange, "value out of range")
}

func floatOverflow() error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: overflow")
}

func floatUnderflow() error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: underflow")
}

func divisionByZero() error { return pgerr.New(pgerr.DivisionByZero, "division by zero") }

// map1 makes a kernel of a unary row function that cannot fail.
func map1[A, R any](a access[A], r access[R], f func(A) R) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, dst, m := a(args[0]), r(out), args[0].Mask()
		for i := 0; i < n; i++ {
			dst[i] = f(x[i&m])
		}
		return nil
	}
}

// try1 makes a kernel of a unary row function that can fail.
func try1[A, R any](a access[A], r access[R], f func(A) (R, error)) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, dst, m := a(args[0]), r(out), args[0].Mask()
		for i := 0; i < n; i++ {
			if !live(out, i) {
				continue
			}
			y, err := f(x[i&m])
			if err != nil {
				return err
			}
			dst[i] = y
		}
		return nil
	}
}

// try2 makes a kernel of a binary row function that can fail.
func try2[A, B, R any](a access[A], b access[B], r access[R], f func(A, B) (R, error)) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, y, dst := a(args[0]), b(args[1]), r(out)
		mx, my := args[0].Mask(), args[1].Mask()
		for i := 0; i < n; i++ {
			if !live(out, i) {
				continue
			}
			z, err := f(x[i&mx], y[i&my])
			if err != nil {
				return err
			}
			dst[i] = z
		}
		return nil
	}
}

// bool1 makes a predicate kernel of a unary row function.
func bool1[A any](a access[A], f func(A) bool) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		x, m := a(args[0]), args[0].Mask()
		for i := 0; i < n; i++ {
			out.Bits.Put(i, f(x[i&m]))
		}
		return nil
	}
}

// b2u is 1 for true; written so that the compiler makes no branch of it.
func b2u(b bool) uint64 {
	var x uint64
	if b {
		x = 1
	}
	return x
}

func isNaN[T float](x T) bool { return x != x }

func isInf[T float](x T) bool { return math.IsInf(float64(x), 0) }

// decimal is the working form of numeric.
type decimal = types.Decimal

// fn describes a strict immutable function that cannot fail; chain the setters for others.
func fn(name string, ret types.OID, k Kernel, args ...types.OID) Overload {
	return Overload{Name: name, Args: args, Ret: ret, Eval: k}
}

// op describes a strict immutable operator that cannot fail.
func op(symbol string, ret types.OID, k Kernel, args ...types.OID) Overload {
	return Overload{Name: symbol, Operator: true, Args: args, Ret: ret, Eval: k}
}

func (o Overload) fails() Overload                { o.CanFail = true; return o }
func (o Overload) stable() Overload               { o.Volatility = Stable; return o }
func (o Overload) volatile() Overload             { o.Volatility = Volatile; return o }
func (o Overload) takesNulls() Overload           { o.NotStrict = true; return o }
func (o Overload) named(names ...string) Overload { o.ArgNames = names; return o }
func (o Overload) variadic() Overload             { o.Variadic = true; return o }
func (o Overload) doc(sentence string) Overload   { o.Doc = sentence; return o }

func outOfRangeName(what string) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "%s out of range", what)
}
