package types

import (
	"strconv"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// AppendText appends the text form of row i of v, as PostgreSQL's output
// function of the type prints it. The row is not NULL.
func AppendText(dst []byte, t Type, v *vector.Vector, i int, c *Context) []byte {
	p := i & v.Mask()
	if IsEnum(t.OID) {
		return appendEnumLabel(dst, t.OID, v.I64[p], c)
	}
	switch t.OID {
	case Bool:
		if v.Bool(i) {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case Int2:
		return strconv.AppendInt(dst, int64(v.I16[p]), 10)
	case Int4:
		return strconv.AppendInt(dst, int64(v.I32[p]), 10)
	case Int8:
		return strconv.AppendInt(dst, v.I64[p], 10)
	case Float4:
		return AppendFloat(dst, float64(v.F32[p]), 32, orDefault(c).ExtraFloatDigits)
	case Float8:
		return AppendFloat(dst, v.F64[p], 64, orDefault(c).ExtraFloatDigits)
	case Numeric:
		return AppendNumericText(dst, v.Bytes(i))
	case Timestamp:
		return AppendTimestamp(dst, v.I64[p], c)
	case TimestampTZ:
		return AppendTimestampTZ(dst, v.I64[p], c)
	case Date:
		return AppendDate(dst, v.I32[p], c)
	case Time:
		return AppendTime(dst, v.I64[p])
	case TimeTZ:
		us, east := DecodeTimeTZ(v.Bytes(i))
		return appendOffset(AppendTime(dst, us), int(east))
	case Interval:
		return AppendInterval(dst, DecodeInterval(v.F16[p]), c)
	case UUID:
		return appendUUID(dst, v.F16[p])
	case Bytea:
		return appendBytea(dst, v.Bytes(i), c != nil && c.ByteaEscape)
	case Oid, Xid:
		return strconv.AppendUint(dst, uint64(v.U32[p]), 10)
	case Regproc, Regprocedure, Regclass, Regtype, Regnamespace, Regrole:
		if v.U32[p] == 0 {
			return append(dst, '-')
		}
		if c != nil && c.Names != nil {
			if name, ok := c.Names.ObjectName(t.OID, v.U32[p]); ok {
				return append(dst, name...)
			}
		}
		return strconv.AppendUint(dst, uint64(v.U32[p]), 10)
	}
	if t.OID == Record {
		return appendRecordText(dst, v.Bytes(i), c)
	}
	if ElemOf(t.OID) != 0 {
		return appendArrayText(dst, t, v.Bytes(i), c)
	}
	return append(dst, v.Bytes(i)...)
}

// ParseText appends to v the value that s spells, as PostgreSQL's input
// function of the type reads it, with t.Mod applied (length, precision, scale).
//
// Errors: *pgerr.Error, 22P02, 22007, 22008, 22003, 22001; v is unchanged then.
func ParseText(v *vector.Vector, t Type, s []byte, c *Context) error {
	if IsEnum(t.OID) {
		return parseEnum(v, t.OID, s, c)
	}
	switch t.OID {
	case Bool:
		b, err := ParseBool(s)
		if err != nil {
			return err
		}
		v.AppendBool(b)
		return nil
	case Int2, Int4, Int8:
		return parseIntText(v, t, s)
	case Float4, Float8:
		return parseFloatText(v, t, s)
	case Timestamp, TimestampTZ, Time:
		return parseMicrosText(v, t, s, c)
	case Date:
		d, err := ParseDate(s, c)
		if err != nil {
			return err
		}
		v.AppendInt32(d)
		return nil
	case Interval, UUID:
		return parseFixedText(v, t, s, c)
	case Oid, Xid, Regproc, Regprocedure, Regclass, Regtype, Regnamespace, Regrole:
		return parseOidText(v, t, s, c)
	}
	return parseBytesText(v, t, s, c)
}

func parseIntText(v *vector.Vector, t Type, s []byte) error {
	width := 64
	switch t.OID {
	case Int2:
		width = 16
	case Int4:
		width = 32
	}
	n, err := ParseInt(s, width)
	if err != nil {
		return err
	}
	switch t.OID {
	case Int2:
		v.AppendInt16(int16(n))
	case Int4:
		v.AppendInt32(int32(n))
	default:
		v.AppendInt64(n)
	}
	return nil
}

func parseFloatText(v *vector.Vector, t Type, s []byte) error {
	if t.OID == Float4 {
		f, err := ParseFloat(s, 32)
		if err != nil {
			return err
		}
		v.AppendFloat32(float32(f))
		return nil
	}
	f, err := ParseFloat(s, 64)
	if err != nil {
		return err
	}
	v.AppendFloat64(f)
	return nil
}

func parseMicrosText(v *vector.Vector, t Type, s []byte, c *Context) (err error) {
	var us int64
	switch t.OID {
	case Timestamp:
		us, err = ParseTimestamp(s, c, t.Mod)
	case TimestampTZ:
		us, err = ParseTimestampTZ(s, c, t.Mod)
	default:
		us, err = ParseTime(s, c, t.Mod)
	}
	if err != nil {
		return err
	}
	v.AppendInt64(us)
	return nil
}

func parseFixedText(v *vector.Vector, t Type, s []byte, c *Context) error {
	if t.OID == UUID {
		u, err := parseUUID(s)
		if err != nil {
			return err
		}
		v.AppendFixed16(u)
		return nil
	}
	iv, err := ParseInterval(s, c, t.Mod)
	if err != nil {
		return err
	}
	v.AppendFixed16(iv.Encode())
	return nil
}

func parseOidText(v *vector.Vector, t Type, s []byte, c *Context) error {
	var n uint32
	var err error
	switch t.OID {
	case Oid:
		n, err = ParseOid(s, "oid")
	case Xid:
		n, err = ParseOid(s, "xid")
	default:
		n, err = parseReg(t, s, c)
	}
	if err != nil {
		return err
	}
	v.AppendUint32(n)
	return nil
}

// parseBytesText reads the types of Kind Bytes, building the row in place.
func parseBytesText(v *vector.Vector, t Type, s []byte, c *Context) error {
	data := v.Data
	var err error
	switch t.OID {
	case Text, Unknown, Void, PgNodeTree, Varchar, BPChar:
		if err = CheckUTF8(s); err == nil {
			s, err = FitText(t, s, false)
		}
		if err == nil {
			data = append(data, s...)
			for range PadLen(t, s) {
				data = append(data, ' ')
			}
		}
	case Name:
		if err = CheckUTF8(s); err == nil {
			data = append(data, cutName(s)...)
		}
	case Char:
		data = append(data, s[:min(1, len(s))]...)
	case JSON:
		if err = CheckUTF8(s); err == nil {
			if err = ValidateJSON(s); err == nil {
				data = append(data, s...)
			}
		}
	case JSONB:
		if err = CheckUTF8(s); err == nil {
			data, err = AppendJSONB(data, s)
		}
	case Bytea:
		data, err = parseBytea(data, s)
	case Numeric:
		data, err = AppendParsedNumeric(data, s, t.Mod)
	case TimeTZ:
		var us int64
		var east int32
		if us, east, err = ParseTimeTZ(s, c, t.Mod); err == nil {
			data = AppendTimeTZ(data, us, east)
		}
	case Int2Vector, OidVector:
		data, err = parseVector(data, t, s)
	default:
		elem := ElemOf(t.OID)
		if elem == 0 {
			return pgerr.New(pgerr.FeatureNotSupported, "cannot accept a value of type %s", FormatType(T(t.OID)))
		}
		data, err = parseArray(data, Type{elem, t.Mod}, s, c)
	}
	if err != nil {
		return err
	}
	v.Data = data
	v.FinishBytes()
	return nil
}
