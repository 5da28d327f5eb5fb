package types

import (
	"encoding/binary"
	"strconv"
	"strings"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// The OIDs of enums and of arrays over them lie in ranges of their own, so that
// what a value looks like is known from its type's OID alone.
const (
	EnumBase      OID = 0x4000_0000 // an enum: EnumBase + number of the object
	EnumArrayBase OID = 0x6000_0000 // the array over it: EnumArrayBase + the same number
	enumEnd       OID = 0x8000_0000
)

// IsEnum reports whether oid is that of an enum.
func IsEnum(oid OID) bool { return oid >= EnumBase && oid < EnumArrayBase }

// IsEnumArray reports whether oid is that of an array of an enum.
func IsEnumArray(oid OID) bool { return oid >= EnumArrayBase && oid < enumEnd }

func enumArray(enum OID) OID { return enum - EnumBase + EnumArrayBase }

func enumOfArray(array OID) OID { return array - EnumArrayBase + EnumBase }

// EnumLabels knows the labels of enums; the session's catalog implements it.
type EnumLabels interface {
	// EnumName is the name of the type in messages.
	EnumName(t OID) (string, bool)
	// EnumLabel returns the label that the number stands for.
	EnumLabel(t OID, order int64) (string, bool)
	// EnumOrder returns the number of a label.
	EnumOrder(t OID, label []byte) (int64, bool)
	// EnumOrders returns the numbers of all labels, in order.
	EnumOrders(t OID) []int64
}

func appendEnumLabel(dst []byte, t OID, order int64, c *Context) []byte {
	if c != nil && c.Enums != nil {
		if label, ok := c.Enums.EnumLabel(t, order); ok {
			return append(dst, label...)
		}
	}
	return strconv.AppendInt(dst, order, 10)
}

// parseEnum appends the number of the label s.
func parseEnum(v *vector.Vector, t OID, s []byte, c *Context) error {
	if c != nil && c.Enums != nil {
		if err := CheckUTF8(s); err != nil {
			return err
		}
		if order, ok := c.Enums.EnumOrder(t, s); ok {
			v.AppendInt64(order)
			return nil
		}
	}
	return pgerr.New(pgerr.InvalidTextRepresentation, `invalid input value for enum %s: "%s"`, enumMark(t), s)
}

// enumQuote stands around the OID of an enum in a text whose maker does not
// know the enum's name.
const enumQuote = '\x01'

func enumMark(t OID) string {
	return string(enumQuote) + strconv.FormatUint(uint64(t), 10) + string(enumQuote)
}

// NameEnums replaces what FormatType wrote for enums by their names.
func NameEnums(text string, names EnumLabels) string {
	if names == nil || strings.IndexByte(text, enumQuote) < 0 {
		return text
	}
	var b strings.Builder
	for {
		head, rest, ok := strings.Cut(text, string(enumQuote))
		b.WriteString(head)
		if !ok {
			return b.String()
		}
		digits, tail, ok := strings.Cut(rest, string(enumQuote))
		if n, err := strconv.ParseUint(digits, 10, 32); ok && err == nil {
			if name, known := names.EnumName(OID(n)); known {
				b.WriteString(name)
				text = tail
				continue
			}
		}
		b.WriteByte(enumQuote)
		text = rest
	}
}

// AppendWire appends the form of row i of v that clients get as binary. It is
// AppendBinary's for all types but enums, whose form is the label.
func AppendWire(dst []byte, t Type, v *vector.Vector, i int, c *Context) []byte {
	switch {
	case IsEnum(t.OID):
		return appendEnumLabel(dst, t.OID, v.I64[i&v.Mask()], c)
	case IsEnumArray(t.OID):
		return appendEnumArray(dst, v.Bytes(i), c)
	case t.OID == Record:
		return appendRecordWire(dst, v.Bytes(i), c)
	}
	return AppendBinary(dst, t, v, i)
}

// ParseWire reads what AppendWire writes; see ParseBinary.
func ParseWire(v *vector.Vector, t Type, b []byte, c *Context) error {
	switch {
	case IsEnum(t.OID):
		return parseEnum(v, t.OID, b, c)
	case IsEnumArray(t.OID):
		return parseEnumArray(v, enumOfArray(t.OID), b, c)
	}
	return ParseBinary(v, t, b)
}

// appendEnumArray appends a stored array with labels as its elements.
func appendEnumArray(dst, stored []byte, c *Context) []byte {
	a, err := DecodeArray(stored)
	if err != nil {
		return append(dst, stored...)
	}
	dst = append(dst, stored[:len(stored)-len(a.elems)]...)
	for range a.n {
		elem, null, err := a.Next()
		if err != nil || null || len(elem) != 8 {
			dst = binary.BigEndian.AppendUint32(dst, 0xffffffff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = appendEnumLabel(dst, a.Elem, int64(binary.BigEndian.Uint64(elem)), c)
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}

func parseEnumArray(v *vector.Vector, enum OID, b []byte, c *Context) error {
	a, err := DecodeArray(b)
	if err != nil {
		return err
	}
	if a.Elem != enum && a.n > 0 {
		return pgerr.New(pgerr.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			a.Elem, FormatType(T(a.Elem)), enum, FormatType(T(enum)))
	}
	elems := vector.New(vector.Int64, a.n)
	for range a.n {
		label, null, err := a.Next()
		switch {
		case err != nil:
			return err
		case null:
			elems.AppendNull()
			continue
		}
		if err := parseEnum(elems, enum, label, c); err != nil {
			return err
		}
	}
	if len(a.elems) > 0 {
		return errBadBinary()
	}
	v.Data = AppendArray(v.Data, T(enum), elems, 0, elems.N, a.Dims)
	v.FinishBytes()
	return nil
}
