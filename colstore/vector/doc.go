// Package vector is the memory form of data: columns (Vector) and batches of
// rows (Batch) whose buffers have the Apache Arrow layout.
//
// It stands below everything that touches rows: storage fills vectors, kernels
// read and write their slices, the wire encodes from them. It knows physical
// kinds, not SQL types; the SQL type of a column travels beside it in a plan's
// schema.
//
// # Layout
//
//	Kind     Arrow type            slice
//	Bool     Boolean               Bits  (bitmap, least significant bit first)
//	Int16    Int16                 I16
//	Int32    Int32, Date32         I32
//	Int64    Int64, Timestamp(us)  I64
//	Uint32   Uint32                U32
//	Float32  Float32               F32
//	Float64  Float64               F64
//	Bytes    Binary, Utf8          Offsets (n+1) and Data
//	Fixed16  FixedSizeBinary(16)   F16
//
// Valid is Arrow's validity bitmap (bit set: value present); nil means that no
// row is NULL. A Vector of Kind Bytes may instead be dictionary encoded: Dict
// holds the distinct values and I32 one code per row (Arrow Dictionary<Int32>).
// A constant vector (Const) stores one physical row that stands for all N.
//
// # Ownership
//
// A batch is valid until the next call of Next or Close on the operator that
// returned it. Whoever keeps rows longer copies them (Batch.Clone, AppendFrom).
// Vectors are not safe for concurrent writes.
package vector
