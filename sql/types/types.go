// Package types holds SQL's data types: their OIDs, how each is stored in a
// vector, and its text and binary forms, exactly PostgreSQL's.
//
// It is not where operators and casts are looked up (sql/functions) nor where
// names resolve (sql/catalog).
//
// # Storage
//
//	type                        Kind     content
//	bool                        Bool
//	int2, int4, int8            Int16, Int32, Int64
//	oid, regclass and kin, xid  Uint32
//	float4, float8              Float32, Float64   NaN = NaN and largest
//	numeric                     Bytes    PostgreSQL's binary form: base-10,000 digits and display scale
//	text, varchar, bpchar, name, "char", json, unknown, void   Bytes   UTF-8; bpchar padded
//	jsonb                       Bytes    canonical text
//	bytea                       Bytes
//	date                        Int32    days since 1970-01-01; math.MaxInt32 / MinInt32 = ±infinity
//	time                        Int64    microseconds since midnight, 24:00:00 legal
//	timetz                      Bytes    12 bytes: PostgreSQL's binary form
//	timestamp, timestamptz      Int64    microseconds since 1970-01-01; math.MaxInt64 / MinInt64 = ±infinity
//	interval                    Fixed16  little-endian int64 microseconds, int32 days, int32 months
//	uuid                        Fixed16  the 16 bytes in order
//	arrays                      Bytes    PostgreSQL's binary form of the array
//	record                      Bytes    PostgreSQL's binary form of the row
//	enums                       Int64    numbers that order as the labels do; in arrays 8 bytes
//
// # Beyond input and output
//
//	Decimal, NumericSum, Int128   arithmetic and sums of numerics and integers
//	IntervalValue                 arithmetic, order and justify_ of intervals
//	AddInterval, Age, DateBin,... arithmetic of dates and times
//	Field                         extract, date_part, date_trunc
//	Zone, LoadZone, ToLocal,...   time zones
//	Array, AppendArray            elements of stored arrays
//	Compare, AppendEqualKey       order, and keys for hashing
//
// Per-value functions such as ParseTimestamp, ParseInt, AppendParsedNumeric
// and AppendFloat serve loops that know their type. The common forms of
// integers, floats, decimals, dates and times are read and printed without
// allocation.
//
// # Differences from PostgreSQL 15
//
//   - Timestamps end at 294247-01-10 04:00:54.775806, 30 years earlier, for
//     they count from 1970; what is later is out of range.
//   - age of an infinite timestamp is out of range, where PostgreSQL computes
//     with the number that stands for infinity.
//   - The zone names localtime and posixrules, which depend on the machine,
//     are unknown.
package types

import (
	"time"

	"tsdb/colstore/vector"
)

// OID is a PostgreSQL object identifier; type OIDs are PostgreSQL's own.
type OID = uint32

// Type OIDs, from PostgreSQL 15's pg_type.
const (
	Bool               OID = 16
	Bytea              OID = 17
	Char               OID = 18 // "char"
	Name               OID = 19
	Int8               OID = 20
	Int2               OID = 21
	Int2Vector         OID = 22
	Int4               OID = 23
	Regproc            OID = 24
	Text               OID = 25
	Oid                OID = 26
	Xid                OID = 28
	OidVector          OID = 30
	JSON               OID = 114
	PgNodeTree         OID = 194
	Float4             OID = 700
	Float8             OID = 701
	Unknown            OID = 705
	ACLItem            OID = 1033
	BPChar             OID = 1042
	Varchar            OID = 1043
	Date               OID = 1082
	Time               OID = 1083
	Timestamp          OID = 1114
	TimestampTZ        OID = 1184
	Interval           OID = 1186
	TimeTZ             OID = 1266
	Numeric            OID = 1700
	Regprocedure       OID = 2202
	Regclass           OID = 2205
	Regtype            OID = 2206
	UUID               OID = 2950
	JSONB              OID = 3802
	Regnamespace       OID = 4089
	Regrole            OID = 4096
	Record             OID = 2249
	Void               OID = 2278
	Any                OID = 2276
	AnyArray           OID = 2277
	AnyElement         OID = 2283
	AnyNonArray        OID = 2776
	AnyEnum            OID = 3500
	AnyCompatible      OID = 5077
	AnyCompatibleArray OID = 5078

	BoolArray        OID = 1000
	ByteaArray       OID = 1001
	CharArray        OID = 1002
	NameArray        OID = 1003
	Int2Array        OID = 1005
	Int4Array        OID = 1007
	TextArray        OID = 1009
	BPCharArray      OID = 1014
	VarcharArray     OID = 1015
	Int8Array        OID = 1016
	Float4Array      OID = 1021
	Float8Array      OID = 1022
	OidArray         OID = 1028
	ACLItemArray     OID = 1034
	TimestampArray   OID = 1115
	DateArray        OID = 1182
	TimeArray        OID = 1183
	TimestampTZArray OID = 1185
	IntervalArray    OID = 1187
	NumericArray     OID = 1231
	TimeTZArray      OID = 1270
	UUIDArray        OID = 2951
	JSONArray        OID = 199
	JSONBArray       OID = 3807
	RegclassArray    OID = 2210
	RegtypeArray     OID = 2211
)

// Type is a SQL type with its modifier.
//
// Mod is PostgreSQL's typmod, -1 for none: varchar(n) is n+4, numeric(p,s) is
// (p<<16|s)+4, timestamp(p) is p.
type Type struct {
	OID OID
	Mod int32
}

// T returns the type with no modifier.
func T(oid OID) Type { return Type{OID: oid, Mod: -1} }

// Kind returns the physical kind that holds the type's values.
func (t Type) Kind() vector.Kind {
	if IsEnum(t.OID) {
		return vector.Int64
	}
	switch t.OID {
	case Bool:
		return vector.Bool
	case Int2:
		return vector.Int16
	case Int4, Date:
		return vector.Int32
	case Int8, Time, Timestamp, TimestampTZ:
		return vector.Int64
	case Oid, Xid, Regproc, Regprocedure, Regclass, Regtype, Regnamespace, Regrole:
		return vector.Uint32
	case Float4:
		return vector.Float32
	case Float8:
		return vector.Float64
	case Interval, UUID:
		return vector.Fixed16
	}
	return vector.Bytes
}

// Context is what text forms depend on besides the value: a session's settings.
type Context struct {
	Zone             *time.Location // TimeZone; nil means UTC
	DateStyle        DateStyle
	DateOrder        DateOrder // how ambiguous dates are read
	IntervalStyle    IntervalStyle
	ExtraFloatDigits int   // extra_float_digits, default 1: shortest exact
	ByteaEscape      bool  // bytea_output = escape
	Now              int64 // start of the transaction, microseconds since 1970, for 'now', 'today'
	// Names spells and reads the values of regclass, regtype, regproc,
	// regnamespace and regrole; nil: as numbers only.
	Names ObjectNames
	// Enums spells and reads the values of enums; nil: as numbers only.
	Enums EnumLabels
}

// ObjectNames resolves the names behind the reg* types; the session's catalog
// implements it.
type ObjectNames interface {
	// ObjectName returns the text form of object id of the reg* type t.
	ObjectName(t OID, id uint32) (string, bool)
	// ObjectID finds the object that s names.
	//
	// Errors: *pgerr.Error, 42P01, 42704, 42883, 3F000.
	ObjectID(t OID, s string) (uint32, error)
}

// DateStyle is the output half of the setting DateStyle.
type DateStyle uint8

// Date output styles.
const (
	StyleISO DateStyle = iota
	StylePostgres
	StyleSQL
	StyleGerman
)

// DateOrder is the input half of the setting DateStyle.
type DateOrder uint8

// Orders of day, month and year.
const (
	OrderMDY DateOrder = iota
	OrderDMY
	OrderYMD
)

// IntervalStyle is the setting of that name.
type IntervalStyle uint8

// Interval output styles.
const (
	IntervalPostgres IntervalStyle = iota
	IntervalPostgresVerbose
	IntervalSQLStandard
	IntervalISO8601
)
