package copyio

import (
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// converter appends rows from..from+n of an array to the empty vector v. bad
// is the row of the array that err is about.
type converter func(v *vector.Vector, a arrow.Array, from, n int) (bad int, err error)

// mismatch is the error of a file's type that has no lossless conversion.
func (r *columnarReader) mismatch(i int, t arrow.DataType) error {
	return pgerr.New(pgerr.DatatypeMismatch, "column \"%s\" is of type %s but the file's column is of type %s",
		r.cols[i].Name, types.FormatType(r.cols[i].Type), t)
}

// each makes a converter of a function that appends one value that is present.
func each(appendRow func(v *vector.Vector, a arrow.Array, i int) error) converter {
	return func(v *vector.Vector, a arrow.Array, from, n int) (int, error) {
		for i := from; i < from+n; i++ {
			if a.IsNull(i) {
				v.AppendNull()
			} else if err := appendRow(v, a, i); err != nil {
				return i, err
			}
		}
		return 0, nil
	}
}

// convert finds the conversion from an Arrow type to a SQL type, nil if there
// is none that keeps every value.
func convert(from arrow.DataType, to types.Type) converter {
	switch t := from.(type) {
	case *arrow.NullType:
		return func(v *vector.Vector, _ arrow.Array, _, n int) (int, error) {
			for range n {
				v.AppendNull()
			}
			return 0, nil
		}
	case *arrow.DictionaryType:
		return dictionary(t, to)
	case arrow.ExtensionType:
		inner := convert(t.StorageType(), to)
		if inner == nil {
			return nil
		}
		return func(v *vector.Vector, a arrow.Array, from, n int) (int, error) {
			return inner(v, a.(array.ExtensionArray).Storage(), from, n)
		}
	}
	switch from.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return integers(from, to)
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return floats(from, to)
	case arrow.BOOL:
		return bools(to)
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return strs(from, to)
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
		return instants(from, to)
	case arrow.TIME32, arrow.TIME64:
		return times(from, to)
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		return decimals(from, to)
	case arrow.DURATION, arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return intervals(from, to)
	}
	return nil
}

// dictionary converts the distinct values once and copies them per row.
func dictionary(t *arrow.DictionaryType, to types.Type) converter {
	inner := convert(t.ValueType, to)
	if inner == nil {
		return nil
	}
	values := vector.New(to.Kind(), 0)
	var have arrow.Array
	return func(v *vector.Vector, a arrow.Array, from, n int) (int, error) {
		d := a.(*array.Dictionary)
		if have != d.Dictionary() {
			values.Reset(values.Kind)
			if _, err := inner(values, d.Dictionary(), 0, d.Dictionary().Len()); err != nil {
				have = nil
				return from, err
			}
			have = d.Dictionary()
		}
		for i := from; i < from+n; i++ {
			if d.IsNull(i) {
				v.AppendNull()
				continue
			}
			at := d.GetValueIndex(i)
			if at < 0 || at >= values.N {
				return i, pgerr.New(pgerr.BadCopyFileFormat, "dictionary index %d is out of range", at)
			}
			v.AppendFrom(values, at)
		}
		return 0, nil
	}
}

func outOfRange(to types.Type) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "%s out of range", types.FormatType(types.T(to.OID)))
}

func inexact(value string, to types.Type) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value %s cannot be stored exactly as type %s", value, types.FormatType(types.T(to.OID)))
}

// copyFixed copies values whose form is that of the vector.
func copyFixed[T any](dst func(v *vector.Vector) []T, src func(a arrow.Array) []T) converter {
	return func(v *vector.Vector, a arrow.Array, from, n int) (int, error) {
		v.Resize(n)
		copy(dst(v), src(a)[from:from+n])
		if a.NullN() > 0 {
			for i := range n {
				if a.IsNull(from + i) {
					v.SetNull(i)
				}
			}
		}
		return 0, nil
	}
}

// asInt64 reads an integer; ok is false above the range of int64.
func asInt64(a arrow.Array, i int) (x int64, ok bool) {
	switch a := a.(type) {
	case *array.Int8:
		return int64(a.Value(i)), true
	case *array.Int16:
		return int64(a.Value(i)), true
	case *array.Int32:
		return int64(a.Value(i)), true
	case *array.Int64:
		return a.Value(i), true
	case *array.Uint8:
		return int64(a.Value(i)), true
	case *array.Uint16:
		return int64(a.Value(i)), true
	case *array.Uint32:
		return int64(a.Value(i)), true
	case *array.Uint64:
		u := a.Value(i)
		return int64(u), u <= math.MaxInt64
	}
	return 0, false
}

func integers(from arrow.DataType, to types.Type) converter {
	switch {
	case from.ID() == arrow.INT16 && to.OID == types.Int2:
		return copyFixed(func(v *vector.Vector) []int16 { return v.I16 }, func(a arrow.Array) []int16 { return a.(*array.Int16).Int16Values() })
	case from.ID() == arrow.INT32 && to.OID == types.Int4:
		return copyFixed(func(v *vector.Vector) []int32 { return v.I32 }, func(a arrow.Array) []int32 { return a.(*array.Int32).Int32Values() })
	case from.ID() == arrow.INT64 && to.OID == types.Int8:
		return copyFixed(func(v *vector.Vector) []int64 { return v.I64 }, func(a arrow.Array) []int64 { return a.(*array.Int64).Int64Values() })
	}
	switch to.OID {
	case types.Int2, types.Int4, types.Int8, types.Oid, types.Float4, types.Float8:
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			x, ok := asInt64(a, i)
			if !ok {
				if to.OID == types.Float4 || to.OID == types.Float8 {
					return appendFloat(v, float64(uint64(x)), strconv.FormatUint(uint64(x), 10), to)
				}
				return outOfRange(to)
			}
			return appendInt(v, x, to)
		})
	case types.Numeric, types.Text, types.Varchar, types.BPChar:
		var buf []byte
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			x, ok := asInt64(a, i)
			if ok {
				buf = strconv.AppendInt(buf[:0], x, 10)
			} else {
				buf = strconv.AppendUint(buf[:0], uint64(x), 10)
			}
			return types.ParseText(v, to, buf, utc)
		})
	}
	return nil
}

func appendInt(v *vector.Vector, x int64, to types.Type) error {
	switch to.OID {
	case types.Int2:
		if x != int64(int16(x)) {
			return outOfRange(to)
		}
		v.AppendInt16(int16(x))
	case types.Int4:
		if x != int64(int32(x)) {
			return outOfRange(to)
		}
		v.AppendInt32(int32(x))
	case types.Int8:
		v.AppendInt64(x)
	case types.Oid:
		if x != int64(uint32(x)) {
			return pgerr.New(pgerr.NumericValueOutOfRange, "OID out of range")
		}
		v.AppendUint32(uint32(x))
	default:
		f := float64(x)
		if f >= 0x1p63 || int64(f) != x {
			return inexact(strconv.FormatInt(x, 10), to)
		}
		return appendFloat(v, f, strconv.FormatInt(x, 10), to)
	}
	return nil
}

// appendFloat appends x to a float column; text shows it in an error.
func appendFloat(v *vector.Vector, x float64, text string, to types.Type) error {
	if to.OID == types.Float8 {
		v.AppendFloat64(x)
		return nil
	}
	if f := float32(x); float64(f) == x || x != x {
		v.AppendFloat32(f)
		return nil
	}
	return inexact(text, to)
}

func asFloat64(a arrow.Array, i int) float64 {
	switch a := a.(type) {
	case *array.Float16:
		return float64(a.Value(i).Float32())
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	}
	return 0
}

func floats(from arrow.DataType, to types.Type) converter {
	bits := 64
	if from.ID() != arrow.FLOAT64 {
		bits = 32
	}
	switch {
	case from.ID() == arrow.FLOAT32 && to.OID == types.Float4:
		return copyFixed(func(v *vector.Vector) []float32 { return v.F32 }, func(a arrow.Array) []float32 { return a.(*array.Float32).Float32Values() })
	case from.ID() == arrow.FLOAT64 && to.OID == types.Float8:
		return copyFixed(func(v *vector.Vector) []float64 { return v.F64 }, func(a arrow.Array) []float64 { return a.(*array.Float64).Float64Values() })
	}
	show := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, bits) }
	switch to.OID {
	case types.Float4, types.Float8:
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			x := asFloat64(a, i)
			return appendFloat(v, x, show(x), to)
		})
	case types.Int2, types.Int4, types.Int8:
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			x := asFloat64(a, i)
			if x != math.Trunc(x) {
				return inexact(show(x), to)
			}
			if x < -0x1p63 || x >= 0x1p63 {
				return outOfRange(to)
			}
			return appendInt(v, int64(x), to)
		})
	case types.Numeric:
		var buf []byte
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			buf = strconv.AppendFloat(buf[:0], asFloat64(a, i), 'g', -1, bits)
			return types.ParseText(v, to, numericSpelling(buf), utc)
		})
	}
	return nil
}

// numericSpelling replaces Go's spelling of infinities by PostgreSQL's.
func numericSpelling(b []byte) []byte {
	switch string(b) {
	case "+Inf":
		return []byte("Infinity")
	case "-Inf":
		return []byte("-Infinity")
	}
	return b
}

func bools(to types.Type) converter {
	switch to.OID {
	case types.Bool:
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			v.AppendBool(a.(*array.Boolean).Value(i))
			return nil
		})
	case types.Text, types.Varchar, types.BPChar:
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			return types.ParseText(v, to, strconv.AppendBool(nil, a.(*array.Boolean).Value(i)), utc)
		})
	}
	return nil
}

// view is s without copying; it is not written to.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// utc is how texts in files are read: no session stands behind them.
var utc = &types.Context{}

func asBytes(a arrow.Array, i int) []byte {
	switch a := a.(type) {
	case *array.String:
		return view(a.Value(i))
	case *array.LargeString:
		return view(a.Value(i))
	case *array.StringView:
		return view(a.Value(i))
	case *array.Binary:
		return a.Value(i)
	case *array.LargeBinary:
		return a.Value(i)
	case *array.BinaryView:
		return a.Value(i)
	case *array.FixedSizeBinary:
		return a.Value(i)
	}
	return nil
}

// strs converts strings and bytes: to bytea as they are, to uuid from 16
// bytes, to any other type through its text form.
func strs(from arrow.DataType, to types.Type) converter {
	if to.OID == types.Bytea {
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			v.AppendBytes(asBytes(a, i))
			return nil
		})
	}
	if f, ok := from.(*arrow.FixedSizeBinaryType); ok && to.OID == types.UUID && f.ByteWidth == 16 {
		return each(func(v *vector.Vector, a arrow.Array, i int) error {
			v.AppendFixed16([16]byte(asBytes(a, i)))
			return nil
		})
	}
	return each(func(v *vector.Vector, a arrow.Array, i int) error {
		b := asBytes(a, i)
		if !utf8.Valid(b) {
			return badBytes(b)
		}
		for _, c := range b {
			if c == 0 {
				return badBytes(b)
			}
		}
		if to.OID == types.Text {
			v.AppendBytes(b)
			return nil
		}
		return types.ParseText(v, to, b, utc)
	})
}
