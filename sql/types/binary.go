package types

import (
	"encoding/binary"
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// DecodeTimeTZ reads a stored timetz: microseconds since midnight and the zone
// in seconds east of UTC. (The stored form counts the zone westwards.)
func DecodeTimeTZ(b []byte) (us int64, east int32) {
	return int64(binary.BigEndian.Uint64(b)), -int32(binary.BigEndian.Uint32(b[8:]))
}

// AppendTimeTZ appends the stored form of a timetz.
func AppendTimeTZ(dst []byte, us int64, east int32) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(us))
	return binary.BigEndian.AppendUint32(dst, uint32(-east))
}

// AppendBinary appends the binary wire form of row i of v. The row is not NULL.
func AppendBinary(dst []byte, t Type, v *vector.Vector, i int) []byte {
	p := i & v.Mask()
	switch t.OID {
	case Date:
		return binary.BigEndian.AppendUint32(dst, uint32(wireDate(v.I32[p])))
	case Timestamp, TimestampTZ:
		us := v.I64[p]
		if !isInfinite(us) {
			us -= pgEpochMicros
		}
		return binary.BigEndian.AppendUint64(dst, uint64(us))
	case Interval:
		iv := DecodeInterval(v.F16[p])
		dst = binary.BigEndian.AppendUint64(dst, uint64(iv.Micros))
		dst = binary.BigEndian.AppendUint32(dst, uint32(iv.Days))
		return binary.BigEndian.AppendUint32(dst, uint32(iv.Months))
	case JSONB:
		dst = append(dst, 1)
		return append(dst, v.Bytes(i)...)
	case Char:
		if b := v.Bytes(i); len(b) > 0 {
			return append(dst, b[0])
		}
		return append(dst, 0)
	}
	switch t.Kind() {
	case vector.Bool:
		if v.Bool(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case vector.Int16:
		return binary.BigEndian.AppendUint16(dst, uint16(v.I16[p]))
	case vector.Int32:
		return binary.BigEndian.AppendUint32(dst, uint32(v.I32[p]))
	case vector.Int64:
		return binary.BigEndian.AppendUint64(dst, uint64(v.I64[p]))
	case vector.Uint32:
		return binary.BigEndian.AppendUint32(dst, v.U32[p])
	case vector.Float32:
		return binary.BigEndian.AppendUint32(dst, math.Float32bits(v.F32[p]))
	case vector.Float64:
		bits := math.Float64bits(v.F64[p])
		if v.F64[p] != v.F64[p] {
			bits = 0x7FF8 << 48 // C's NaN; Go's has another low bit
		}
		return binary.BigEndian.AppendUint64(dst, bits)
	case vector.Fixed16:
		return append(dst, v.F16[p][:]...)
	}
	return append(dst, v.Bytes(i)...)
}

func wireDate(d int32) int32 {
	if d == DateInfinity || d == DateNegInfinity {
		return d
	}
	return d - pgEpochDays
}

// binaryWidth is the length of the binary form of fixed-width types, 0 for others.
func binaryWidth(t Type) int {
	switch t.OID {
	case TimeTZ:
		return 12
	case Char:
		return 1
	}
	if t.Kind() == vector.Bool {
		return 1
	}
	return t.Kind().Width()
}

// ParseBinary appends to v the value whose binary wire form is b, with t.Mod
// applied.
//
// Errors: *pgerr.Error, 22P03, and those of the type's ranges and modifier; v
// is unchanged then.
func ParseBinary(v *vector.Vector, t Type, b []byte) error {
	if w := binaryWidth(t); w != 0 && len(b) != w {
		if len(b) < w {
			return pgerr.New(pgerr.ProtocolViolation, "insufficient data left in message")
		}
		return errBadBinary()
	}
	switch t.OID {
	case Date:
		return parseDateBinary(v, b)
	case Time:
		us := int64(binary.BigEndian.Uint64(b))
		if us < 0 || us > usecPerDay {
			return pgerr.New(pgerr.DatetimeFieldOverflow, "time out of range")
		}
		v.AppendInt64(RoundTime(us, t.Mod))
		return nil
	case Timestamp, TimestampTZ:
		return parseTimestampBinary(v, t, b)
	case Interval:
		iv := IntervalValue{int64(binary.BigEndian.Uint64(b)), int32(binary.BigEndian.Uint32(b[8:])),
			int32(binary.BigEndian.Uint32(b[12:]))}
		v.AppendFixed16(iv.ApplyMod(t.Mod).Encode())
		return nil
	}
	switch t.Kind() {
	case vector.Bool:
		v.AppendBool(b[0] != 0)
	case vector.Int16:
		v.AppendInt16(int16(binary.BigEndian.Uint16(b)))
	case vector.Int32:
		v.AppendInt32(int32(binary.BigEndian.Uint32(b)))
	case vector.Int64:
		v.AppendInt64(int64(binary.BigEndian.Uint64(b)))
	case vector.Uint32:
		v.AppendUint32(binary.BigEndian.Uint32(b))
	case vector.Float32:
		v.AppendFloat32(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case vector.Float64:
		v.AppendFloat64(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case vector.Fixed16:
		v.AppendFixed16([16]byte(b))
	default:
		return parseBytesBinary(v, t, b)
	}
	return nil
}

func parseDateBinary(v *vector.Vector, b []byte) error {
	d := int32(binary.BigEndian.Uint32(b))
	if d != DateInfinity && d != DateNegInfinity {
		wide := int64(d) + pgEpochDays
		if wide < int64(MinDate) || wide > int64(MaxDate) {
			return pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range")
		}
		d = int32(wide)
	}
	v.AppendInt32(d)
	return nil
}

func parseTimestampBinary(v *vector.Vector, t Type, b []byte) error {
	us := int64(binary.BigEndian.Uint64(b))
	if !isInfinite(us) {
		if us > MaxTimestamp-pgEpochMicros || us+pgEpochMicros < MinTimestamp {
			return pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range")
		}
		us += pgEpochMicros
	}
	v.AppendInt64(RoundMicros(us, t.Mod))
	return nil
}

// parseBytesBinary reads the types of Kind Bytes.
func parseBytesBinary(v *vector.Vector, t Type, b []byte) error {
	switch t.OID {
	case Bytea:
		v.AppendBytes(b)
		return nil
	case Char:
		if b[0] == 0 {
			b = nil
		}
		v.AppendBytes(b)
		return nil
	case TimeTZ:
		us, east := DecodeTimeTZ(b)
		if us < 0 || us > usecPerDay {
			return pgerr.New(pgerr.DatetimeFieldOverflow, "time out of range")
		}
		if east <= -16*3600 || east >= 16*3600 {
			return pgerr.New(pgerr.InvalidTimeZone, "time zone displacement out of range")
		}
		v.Data = AppendTimeTZ(v.Data, RoundTime(us, t.Mod), east)
		v.FinishBytes()
		return nil
	case Numeric:
		n := decimals.Get().(*Decimal)
		defer decimals.Put(n)
		if err := n.decodeWire(b); err != nil {
			return err
		}
		if err := n.ApplyMod(t.Mod); err != nil {
			return err
		}
		v.Data = n.AppendStored(v.Data)
		v.FinishBytes()
		return nil
	case JSONB:
		if len(b) == 0 {
			return pgerr.New(pgerr.ProtocolViolation, "insufficient data left in message")
		}
		if b[0] != 1 {
			return pgerr.New(pgerr.InternalError, "unsupported jsonb version number %d", b[0])
		}
		return parseBytesText(v, t, b[1:], nil)
	}
	if elem := ElemOf(t.OID); elem != 0 {
		return parseArrayBinary(v, Type{elem, t.Mod}, b)
	}
	return parseBytesText(v, t, b, nil)
}

// parseArrayBinary normalises the elements: a numeric among them may come with
// leading zeros, a jsonb in another order of keys.
func parseArrayBinary(v *vector.Vector, elem Type, b []byte) error {
	if err := checkArray(b, elem); err != nil {
		return err
	}
	a, err := DecodeArray(b)
	if err != nil {
		return err
	}
	a.Elem = elem.OID
	elems := vector.New(elem.Kind(), a.n)
	if err := a.AppendElems(elems); err != nil {
		return err
	}
	v.Data = AppendArray(v.Data, elem, elems, 0, elems.N, a.Dims)
	v.FinishBytes()
	return nil
}
