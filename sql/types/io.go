package types

import (
	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// AppendText appends the text form of row i of v, as PostgreSQL's output
// function of the type prints it. The row is not NULL.
func AppendText(dst []byte, t Type, v *vector.Vector, i int, c *Context) []byte {
	panic("written by the types package")
}

// ParseText appends to v the value that s spells, as PostgreSQL's input
// function of the type reads it, with t.Mod applied (length, precision, scale).
//
// Errors: *pgerr.Error, 22P02, 22007, 22008, 22003, 22001; v is unchanged then.
func ParseText(v *vector.Vector, t Type, s []byte, c *Context) error {
	return pgerr.Unsupported("type %d", t.OID)
}

// AppendBinary appends the binary wire form of row i of v. The row is not NULL.
func AppendBinary(dst []byte, t Type, v *vector.Vector, i int) []byte {
	panic("written by the types package")
}

// ParseBinary appends to v the value whose binary wire form is b.
//
// Errors: *pgerr.Error, 22P03; v is unchanged then.
func ParseBinary(v *vector.Vector, t Type, b []byte) error {
	return pgerr.Unsupported("type %d", t.OID)
}

// Compare orders row i of a against row j of b, both not NULL and of type t,
// as the type's btree operator class does. Text orders by bytes.
func Compare(t Type, a *vector.Vector, i int, b *vector.Vector, j int) int {
	panic("written by the types package")
}

// FormatType returns the SQL spelling as PostgreSQL's format_type gives it,
// such as "timestamp with time zone" or "numeric(10,2)".
func FormatType(t Type) string { return "" }

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

// Lookup returns the type of an OID.
func Lookup(oid OID) (*Info, bool) { return nil, false }

// ByName returns the type of a typname or SQL spelling in lower case: int4,
// integer, varchar, timestamptz. ok is false for an unknown one.
func ByName(name string) (*Info, bool) { return nil, false }

// All returns every type, ordered by OID. The slice is shared: read only.
func All() []Info { return nil }

// ArrayOf returns the array type over oid, 0 if there is none.
func ArrayOf(oid OID) OID { return 0 }

// ElemOf returns the element type of an array type (also int2vector,
// oidvector), 0 if oid is not one.
func ElemOf(oid OID) OID { return 0 }
