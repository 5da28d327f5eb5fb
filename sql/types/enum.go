package types

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
