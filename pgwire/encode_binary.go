package pgwire

import (
	"encoding/binary"
	"math"

	"tsdb/sql/types"
)

// Distance of PostgreSQL's epoch, 2000-01-01, from Unix's.
const (
	epochDays   = 10957
	epochMicros = epochDays * dayMicros
)

func (c *column) appendBinary(dst []byte, row int, ctx *types.Context) []byte {
	v, p := c.vec, row&c.mask
	switch c.enc {
	case binBool:
		if v.Bits.Get(p) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case binInt16:
		return binary.BigEndian.AppendUint16(dst, uint16(v.I16[p]))
	case binInt32:
		return binary.BigEndian.AppendUint32(dst, uint32(v.I32[p]))
	case binInt64:
		return binary.BigEndian.AppendUint64(dst, uint64(v.I64[p]))
	case binUint32:
		return binary.BigEndian.AppendUint32(dst, v.U32[p])
	case binFloat32:
		return binary.BigEndian.AppendUint32(dst, math.Float32bits(v.F32[p]))
	case binFloat64:
		if v.F64[p] != v.F64[p] {
			return binary.BigEndian.AppendUint64(dst, 0x7FF8<<48) // C's NaN; Go's has another low bit
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.F64[p]))
	case binDate:
		x := v.I32[p]
		if x != math.MaxInt32 && x != math.MinInt32 {
			x -= epochDays
		}
		return binary.BigEndian.AppendUint32(dst, uint32(x))
	case binTimestamp:
		x := v.I64[p]
		if x != math.MaxInt64 && x != math.MinInt64 {
			x -= epochMicros
		}
		return binary.BigEndian.AppendUint64(dst, uint64(x))
	case binFixed16:
		return append(dst, v.F16[p][:]...)
	case binJSONB:
		return append(append(dst, 1), v.Bytes(row)...)
	}
	return types.AppendWire(dst, c.typ, v, row, ctx)
}
