package vector

// Kind is the physical storage of a column.
type Kind uint8

// The physical kinds; see the package comment for their Arrow types. The
// numbers are written into files: append only.
const (
	Invalid Kind = 0
	Bool    Kind = 1
	Int16   Kind = 2
	Int32   Kind = 3
	Int64   Kind = 4
	Float32 Kind = 5
	Float64 Kind = 6
	Bytes   Kind = 7
	Fixed16 Kind = 8
	Uint32  Kind = 9
)

var kindNames = [...]string{"invalid", "bool", "int16", "int32", "int64", "float32", "float64", "bytes", "fixed16", "uint32"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Width returns the bytes per value of a fixed-width kind, 0 for Bool and Bytes.
func (k Kind) Width() int {
	switch k {
	case Int16:
		return 2
	case Int32, Float32, Uint32:
		return 4
	case Int64, Float64:
		return 8
	case Fixed16:
		return 16
	}
	return 0
}

// Vector is one column of a batch. Fill it with the Append methods, or call
// Resize and write to the slice of its kind.
//
// Shape: N logical rows; one physical row when Const is set.
type Vector struct {
	Kind  Kind
	Const bool
	N     int
	Valid Bitmap

	Bits Bitmap
	I16  []int16
	I32  []int32
	I64  []int64
	U32  []uint32
	F32  []float32
	F64  []float64
	F16  [][16]byte

	Offsets []int32
	Data    []byte

	// Dict, if not nil, makes a Bytes vector dictionary encoded: row i is
	// Dict row I32[i]. Dict itself is flat and has no NULLs; a NULL row's code
	// is 0 and its Valid bit clear. Only table scans produce it. A Dict is
	// never changed once a batch with it was returned: two batches with the same
	// Dict pointer have the same codes.
	Dict *Vector
}

// New returns an empty vector of the kind with room for capacity rows.
func New(k Kind, capacity int) *Vector {
	v := &Vector{Kind: k}
	v.reserve(capacity)
	return v
}

func (v *Vector) reserve(n int) {
	switch v.Kind {
	case Bool:
		v.Bits = make(Bitmap, 0, Words(n))
	case Int16:
		v.I16 = make([]int16, 0, n)
	case Int32:
		v.I32 = make([]int32, 0, n)
	case Int64:
		v.I64 = make([]int64, 0, n)
	case Uint32:
		v.U32 = make([]uint32, 0, n)
	case Float32:
		v.F32 = make([]float32, 0, n)
	case Float64:
		v.F64 = make([]float64, 0, n)
	case Fixed16:
		v.F16 = make([][16]byte, 0, n)
	case Bytes:
		v.Offsets = make([]int32, 1, n+1)
	}
}

// Phys returns the number of physical rows: 1 for a constant, else N.
func (v *Vector) Phys() int {
	if v.Const {
		return 1
	}
	return v.N
}

// Mask returns 0 for a constant and -1 otherwise, so that row&mask indexes the
// physical row in a loop that serves both.
func (v *Vector) Mask() int {
	if v.Const {
		return 0
	}
	return -1
}

// Reset empties the vector for reuse as kind k, keeping its memory.
func (v *Vector) Reset(k Kind) {
	v.Kind, v.Const, v.N, v.Valid, v.Dict = k, false, 0, v.Valid[:0], nil
	v.Valid = nil
	v.Bits, v.I16, v.I32, v.I64, v.U32 = v.Bits[:0], v.I16[:0], v.I32[:0], v.I64[:0], v.U32[:0]
	v.F32, v.F64, v.F16, v.Data = v.F32[:0], v.F64[:0], v.F16[:0], v.Data[:0]
	if k == Bytes {
		v.Offsets = append(v.Offsets[:0], 0)
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	ns := make([]T, n, max(n, 2*cap(s)))
	copy(ns, s)
	return ns
}

// Resize makes the vector n rows long without NULLs; values of new rows are
// unspecified until written. Not for Bytes, whose rows are appended.
func (v *Vector) Resize(n int) {
	v.N, v.Const = n, false
	switch v.Kind {
	case Bool:
		v.Bits = v.Bits.Resize(n)
	case Int16:
		v.I16 = grow(v.I16, n)
	case Int32:
		v.I32 = grow(v.I32, n)
	case Int64:
		v.I64 = grow(v.I64, n)
	case Uint32:
		v.U32 = grow(v.U32, n)
	case Float32:
		v.F32 = grow(v.F32, n)
	case Float64:
		v.F64 = grow(v.F64, n)
	case Fixed16:
		v.F16 = grow(v.F16, n)
	}
}

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool {
	if v.Valid == nil {
		return false
	}
	return !v.Valid.Get(i & v.Mask())
}

// HasNulls reports whether any row is NULL.
func (v *Vector) HasNulls() bool {
	return v.Valid != nil && v.Valid.Count(v.Phys()) < v.Phys()
}

// SetNull makes row i NULL. The row must exist.
func (v *Vector) SetNull(i int) {
	v.ensureValid(v.Phys())
	v.Valid.Clear(i & v.Mask())
}

func (v *Vector) ensureValid(n int) {
	if v.Valid == nil {
		v.Valid = NewBitmap(n, true)
	} else if len(v.Valid) < Words(n) {
		old := len(v.Valid)
		v.Valid = v.Valid.Resize(n)
		Bitmap(v.Valid[old:]).Fill(true)
	}
}

// Bytes returns row i of a Bytes vector, flat, constant or dictionary encoded.
// The slice aliases the vector.
func (v *Vector) Bytes(i int) []byte {
	i &= v.Mask()
	if v.Dict != nil {
		return v.Dict.Bytes(int(v.I32[i]))
	}
	return v.Data[v.Offsets[i]:v.Offsets[i+1]]
}

// Bool returns row i of a Bool vector.
func (v *Vector) Bool(i int) bool { return v.Bits.Get(i & v.Mask()) }

func (v *Vector) appended() {
	v.N++
	if v.Valid != nil {
		v.Valid = v.Valid.Resize(v.N)
		v.Valid.Set(v.N - 1)
	}
}

// AppendBool appends a row to a Bool vector.
func (v *Vector) AppendBool(x bool) {
	v.Bits = v.Bits.Resize(v.N + 1)
	v.Bits.Put(v.N, x)
	v.appended()
}

// AppendInt16 appends a row to an Int16 vector.
func (v *Vector) AppendInt16(x int16) { v.I16 = append(v.I16, x); v.appended() }

// AppendInt32 appends a row to an Int32 vector.
func (v *Vector) AppendInt32(x int32) { v.I32 = append(v.I32, x); v.appended() }

// AppendInt64 appends a row to an Int64 vector.
func (v *Vector) AppendInt64(x int64) { v.I64 = append(v.I64, x); v.appended() }

// AppendUint32 appends a row to a Uint32 vector.
func (v *Vector) AppendUint32(x uint32) { v.U32 = append(v.U32, x); v.appended() }

// AppendFloat32 appends a row to a Float32 vector.
func (v *Vector) AppendFloat32(x float32) { v.F32 = append(v.F32, x); v.appended() }

// AppendFloat64 appends a row to a Float64 vector.
func (v *Vector) AppendFloat64(x float64) { v.F64 = append(v.F64, x); v.appended() }

// AppendFixed16 appends a row to a Fixed16 vector.
func (v *Vector) AppendFixed16(x [16]byte) { v.F16 = append(v.F16, x); v.appended() }

// AppendBytes appends a copy of x to a flat Bytes vector.
func (v *Vector) AppendBytes(x []byte) {
	v.Data = append(v.Data, x...)
	v.Offsets = append(v.Offsets, int32(len(v.Data)))
	v.appended()
}

// AppendString appends a copy of x to a flat Bytes vector.
func (v *Vector) AppendString(x string) {
	v.Data = append(v.Data, x...)
	v.Offsets = append(v.Offsets, int32(len(v.Data)))
	v.appended()
}

// FinishBytes ends a row whose bytes the caller appended to v.Data directly.
func (v *Vector) FinishBytes() {
	v.Offsets = append(v.Offsets, int32(len(v.Data)))
	v.appended()
}

// AppendNull appends a NULL row.
func (v *Vector) AppendNull() {
	n := v.N
	switch v.Kind {
	case Bool:
		v.Bits = v.Bits.Resize(n + 1)
		v.Bits.Clear(n)
	case Int16:
		v.I16 = append(v.I16, 0)
	case Int32:
		v.I32 = append(v.I32, 0)
	case Int64:
		v.I64 = append(v.I64, 0)
	case Uint32:
		v.U32 = append(v.U32, 0)
	case Float32:
		v.F32 = append(v.F32, 0)
	case Float64:
		v.F64 = append(v.F64, 0)
	case Fixed16:
		v.F16 = append(v.F16, [16]byte{})
	case Bytes:
		if v.Dict != nil {
			v.I32 = append(v.I32, 0)
		} else {
			v.Offsets = append(v.Offsets, int32(len(v.Data)))
		}
	}
	v.ensureValid(n)
	v.appended()
	v.Valid.Clear(n)
}

// AppendFrom appends row i of src, which has the same kind. v must be flat.
func (v *Vector) AppendFrom(src *Vector, i int) {
	if src.IsNull(i) {
		v.AppendNull()
		return
	}
	p := i & src.Mask()
	switch v.Kind {
	case Bool:
		v.AppendBool(src.Bits.Get(p))
	case Int16:
		v.AppendInt16(src.I16[p])
	case Int32:
		v.AppendInt32(src.I32[p])
	case Int64:
		v.AppendInt64(src.I64[p])
	case Uint32:
		v.AppendUint32(src.U32[p])
	case Float32:
		v.AppendFloat32(src.F32[p])
	case Float64:
		v.AppendFloat64(src.F64[p])
	case Fixed16:
		v.AppendFixed16(src.F16[p])
	case Bytes:
		v.AppendBytes(src.Bytes(i))
	}
}
