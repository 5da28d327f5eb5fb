package types

import (
	"sort"
	"strconv"
	"strings"
)

// Info is what pg_type says about a type.
type Info struct {
	OID         OID
	Name        string // typname: int4, _text
	Len         int16
	Elem, Array OID // element type of an array; array type over this one
	Category    byte
	Preferred   bool
	Delim       byte
}

// infos holds the pg_type rows of all types, ordered by OID.
var infos = []Info{
	{16, "bool", 1, 0, 1000, 'B', true, ','},
	{17, "bytea", -1, 0, 1001, 'U', false, ','},
	{18, "char", 1, 0, 1002, 'Z', false, ','},
	{19, "name", 64, 18, 1003, 'S', false, ','},
	{20, "int8", 8, 0, 1016, 'N', false, ','},
	{21, "int2", 2, 0, 1005, 'N', false, ','},
	{22, "int2vector", -1, 21, 1006, 'A', false, ','},
	{23, "int4", 4, 0, 1007, 'N', false, ','},
	{24, "regproc", 4, 0, 1008, 'N', false, ','},
	{25, "text", -1, 0, 1009, 'S', true, ','},
	{26, "oid", 4, 0, 1028, 'N', true, ','},
	{28, "xid", 4, 0, 1011, 'U', false, ','},
	{30, "oidvector", -1, 26, 1013, 'A', false, ','},
	{114, "json", -1, 0, 199, 'U', false, ','},
	{194, "pg_node_tree", -1, 0, 0, 'Z', false, ','},
	{199, "_json", -1, 114, 0, 'A', false, ','},
	{700, "float4", 4, 0, 1021, 'N', false, ','},
	{701, "float8", 8, 0, 1022, 'N', true, ','},
	{705, "unknown", -2, 0, 0, 'X', false, ','},
	{1000, "_bool", -1, 16, 0, 'A', false, ','},
	{1001, "_bytea", -1, 17, 0, 'A', false, ','},
	{1002, "_char", -1, 18, 0, 'A', false, ','},
	{1003, "_name", -1, 19, 0, 'A', false, ','},
	{1005, "_int2", -1, 21, 0, 'A', false, ','},
	{1006, "_int2vector", -1, 22, 0, 'A', false, ','},
	{1007, "_int4", -1, 23, 0, 'A', false, ','},
	{1008, "_regproc", -1, 24, 0, 'A', false, ','},
	{1009, "_text", -1, 25, 0, 'A', false, ','},
	{1011, "_xid", -1, 28, 0, 'A', false, ','},
	{1013, "_oidvector", -1, 30, 0, 'A', false, ','},
	{1014, "_bpchar", -1, 1042, 0, 'A', false, ','},
	{1015, "_varchar", -1, 1043, 0, 'A', false, ','},
	{1016, "_int8", -1, 20, 0, 'A', false, ','},
	{1021, "_float4", -1, 700, 0, 'A', false, ','},
	{1022, "_float8", -1, 701, 0, 'A', false, ','},
	{1028, "_oid", -1, 26, 0, 'A', false, ','},
	{1033, "aclitem", 12, 0, 1034, 'U', false, ','},
	{1034, "_aclitem", -1, 1033, 0, 'A', false, ','},
	{1042, "bpchar", -1, 0, 1014, 'S', false, ','},
	{1043, "varchar", -1, 0, 1015, 'S', false, ','},
	{1082, "date", 4, 0, 1182, 'D', false, ','},
	{1083, "time", 8, 0, 1183, 'D', false, ','},
	{1114, "timestamp", 8, 0, 1115, 'D', false, ','},
	{1115, "_timestamp", -1, 1114, 0, 'A', false, ','},
	{1182, "_date", -1, 1082, 0, 'A', false, ','},
	{1183, "_time", -1, 1083, 0, 'A', false, ','},
	{1184, "timestamptz", 8, 0, 1185, 'D', true, ','},
	{1185, "_timestamptz", -1, 1184, 0, 'A', false, ','},
	{1186, "interval", 16, 0, 1187, 'T', true, ','},
	{1187, "_interval", -1, 1186, 0, 'A', false, ','},
	{1231, "_numeric", -1, 1700, 0, 'A', false, ','},
	{1266, "timetz", 12, 0, 1270, 'D', false, ','},
	{1270, "_timetz", -1, 1266, 0, 'A', false, ','},
	{1700, "numeric", -1, 0, 1231, 'N', false, ','},
	{2202, "regprocedure", 4, 0, 2207, 'N', false, ','},
	{2205, "regclass", 4, 0, 2210, 'N', false, ','},
	{2206, "regtype", 4, 0, 2211, 'N', false, ','},
	{2207, "_regprocedure", -1, 2202, 0, 'A', false, ','},
	{2210, "_regclass", -1, 2205, 0, 'A', false, ','},
	{2211, "_regtype", -1, 2206, 0, 'A', false, ','},
	{2249, "record", -1, 0, 2287, 'P', false, ','},
	{2276, "any", 4, 0, 0, 'P', false, ','},
	{2277, "anyarray", -1, 0, 0, 'P', false, ','},
	{2278, "void", 4, 0, 0, 'P', false, ','},
	{2283, "anyelement", 4, 0, 0, 'P', false, ','},
	{2287, "_record", -1, 2249, 0, 'P', false, ','},
	{2776, "anynonarray", 4, 0, 0, 'P', false, ','},
	{2950, "uuid", 16, 0, 2951, 'U', false, ','},
	{2951, "_uuid", -1, 2950, 0, 'A', false, ','},
	{3500, "anyenum", 4, 0, 0, 'P', false, ','},
	{3802, "jsonb", -1, 0, 3807, 'U', false, ','},
	{3807, "_jsonb", -1, 3802, 0, 'A', false, ','},
	{4089, "regnamespace", 4, 0, 4090, 'N', false, ','},
	{4090, "_regnamespace", -1, 4089, 0, 'A', false, ','},
	{4096, "regrole", 4, 0, 4097, 'N', false, ','},
	{4097, "_regrole", -1, 4096, 0, 'A', false, ','},
	{5077, "anycompatible", 4, 0, 0, 'P', false, ','},
	{5078, "anycompatiblearray", -1, 0, 0, 'P', false, ','},
}

// spellings are the SQL names that differ from the typname.
var spellings = map[string]OID{
	"boolean": Bool, "smallint": Int2, "integer": Int4, "int": Int4, "bigint": Int8,
	"real": Float4, "double precision": Float8, "float": Float8, "decimal": Numeric, "dec": Numeric,
	"character varying": Varchar, "char varying": Varchar, "character": BPChar,
	"timestamp without time zone": Timestamp, "timestamp with time zone": TimestampTZ,
	"time without time zone": Time, "time with time zone": TimeTZ,
	`"char"`: Char,
}

var byName = func() map[string]*Info {
	m := make(map[string]*Info, len(infos)+len(spellings))
	for i := range infos {
		m[infos[i].Name] = &infos[i]
	}
	for s, oid := range spellings {
		m[s] = find(oid)
	}
	return m
}()

func find(oid OID) *Info {
	i := sort.Search(len(infos), func(i int) bool { return infos[i].OID >= oid })
	if i < len(infos) && infos[i].OID == oid {
		return &infos[i]
	}
	return nil
}

// Lookup returns the type of an OID.
//
// Of an enum and its array it knows all but the name.
func Lookup(oid OID) (*Info, bool) {
	switch {
	case IsEnum(oid):
		return &Info{OID: oid, Len: 4, Array: enumArray(oid), Category: 'E', Delim: ','}, true
	case IsEnumArray(oid):
		return &Info{OID: oid, Len: -1, Elem: enumOfArray(oid), Category: 'A', Delim: ','}, true
	}
	in := find(oid)
	return in, in != nil
}

// ByName returns the type of a typname or SQL spelling in lower case: int4,
// integer, varchar, timestamptz, "integer[]". ok is false for an unknown one.
// The bare word char is the typname of "char" (OID 18): SQL's char(n) reaches
// the binder as bpchar.
func ByName(name string) (*Info, bool) {
	if in, ok := byName[name]; ok {
		return in, true
	}
	if elem, ok := strings.CutSuffix(name, "[]"); ok {
		if in, ok := byName[strings.TrimSpace(elem)]; ok && in.Array != 0 {
			return find(in.Array), true
		}
	}
	return nil, false
}

// All returns every type, ordered by OID. The slice is shared: read only.
func All() []Info { return infos }

// ArrayOf returns the array type over oid, 0 if there is none.
func ArrayOf(oid OID) OID {
	if IsEnum(oid) {
		return enumArray(oid)
	}
	if in := find(oid); in != nil {
		return in.Array
	}
	return 0
}

// ElemOf returns the element type of an array type (also int2vector,
// oidvector), 0 if oid is not one.
func ElemOf(oid OID) OID {
	if IsEnumArray(oid) {
		return enumOfArray(oid)
	}
	if in := find(oid); in != nil && in.Category == 'A' {
		return in.Elem
	}
	return 0
}

// sqlNames are the spellings of format_type where they differ from the typname.
var sqlNames = map[OID]string{
	Bool: "boolean", Char: `"char"`, Int8: "bigint", Int2: "smallint", Int4: "integer",
	Float4: "real", Float8: "double precision", BPChar: "character", Varchar: "character varying",
	Time: "time without time zone", Timestamp: "timestamp without time zone",
	TimestampTZ: "timestamp with time zone", TimeTZ: "time with time zone",
	Any: `"any"`,
}

// FormatType returns the SQL spelling as PostgreSQL's format_type gives it,
// such as "timestamp with time zone" or "numeric(10,2)". The name of an
// enum is only known to the catalog: NameEnums puts it into a text later.
func FormatType(t Type) string {
	switch {
	case t.OID == 0:
		return "-"
	case IsEnum(t.OID):
		return enumMark(t.OID)
	case IsEnumArray(t.OID):
		return enumMark(enumOfArray(t.OID)) + "[]"
	}
	in := find(t.OID)
	if in == nil {
		return "???"
	}
	if in.Category == 'A' && in.Len == -1 && in.Array == 0 {
		return FormatType(Type{in.Elem, t.Mod}) + "[]"
	}
	name, ok := sqlNames[t.OID]
	if !ok {
		name = in.Name
	}
	if t.Mod < 0 {
		if t.OID == BPChar && t.Mod < 0 {
			return "character"
		}
		return name
	}
	return formatMod(t, name)
}

func formatMod(t Type, name string) string {
	n := strconv.Itoa(int(t.Mod))
	switch t.OID {
	case BPChar, Varchar:
		if t.Mod > 4 {
			return name + "(" + strconv.Itoa(int(t.Mod)-4) + ")"
		}
	case Numeric:
		p, s := NumericMod(t.Mod)
		return name + "(" + strconv.Itoa(p) + "," + strconv.Itoa(s) + ")"
	case Timestamp, TimestampTZ, Time, TimeTZ:
		word, rest, _ := strings.Cut(name, " ")
		return word + "(" + n + ") " + rest
	case Interval:
		return name + intervalModText(t.Mod)
	}
	return name
}

// NumericMod returns precision and scale of numeric's modifier, which is not -1.
func NumericMod(mod int32) (precision, scale int) {
	m := mod - 4
	return int(m >> 16 & 0xffff), int(m&0x7ff^1024) - 1024
}

// Interval field numbers in an interval's modifier.
const (
	ivMonth, ivYear, ivDay     = 1, 2, 3
	ivHour, ivMinute, ivSecond = 10, 11, 12
	intervalFullRange          = 0x7fff
	intervalFullPrecision      = 0xffff
	maskYM                     = 1<<ivYear | 1<<ivMonth
	maskDH                     = 1<<ivDay | 1<<ivHour
	maskHM                     = 1<<ivHour | 1<<ivMinute
	maskMS                     = 1<<ivMinute | 1<<ivSecond
	maskDHM                    = maskDH | 1<<ivMinute
	maskHMS                    = maskHM | 1<<ivSecond
	maskDHMS                   = maskDHM | 1<<ivSecond
)

var intervalRanges = map[int32]string{
	1 << ivYear: " year", 1 << ivMonth: " month", 1 << ivDay: " day", 1 << ivHour: " hour",
	1 << ivMinute: " minute", 1 << ivSecond: " second", maskYM: " year to month", maskDH: " day to hour",
	maskDHM: " day to minute", maskDHMS: " day to second", maskHM: " hour to minute",
	maskHMS: " hour to second", maskMS: " minute to second", intervalFullRange: "",
}

func intervalModText(mod int32) string {
	s := intervalRanges[mod>>16&0x7fff]
	if p := mod & 0xffff; p != intervalFullPrecision {
		s += "(" + strconv.Itoa(int(p)) + ")"
	}
	return s
}
