package bind

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Limits of type modifiers, PostgreSQL's.
const (
	maxCharLength       = 10485760
	maxNumericPrecision = 1000
	maxNumericScale     = 1000
	maxTimePrecision    = 6
	intervalFullRange   = 0x7FFF
	intervalFullPrec    = 0xFFFF
)

// absentTypes are PostgreSQL's types that tsdb does not have.
var absentTypes = map[string]bool{
	"bit": true, "varbit": true, "money": true, "inet": true, "cidr": true, "macaddr": true, "macaddr8": true,
	"point": true, "line": true, "lseg": true, "box": true, "path": true, "polygon": true, "circle": true,
	"tsvector": true, "tsquery": true, "xml": true, "int4range": true, "int8range": true, "numrange": true,
	"tsrange": true, "tstzrange": true, "daterange": true, "pg_lsn": true, "jsonpath": true, "refcursor": true,
}

// TypeNameIn resolves the name of a type, with modifiers and array bounds, in
// the text of st. For a domain it returns the type that its values have.
//
// Errors: 42704 unknown type, 42601 and 22023 bad modifier, 0A000 serial types.
func TypeNameIn(env *Env, st *sql.Statement, node *pg_query.TypeName) (types.Type, error) {
	t, _, err := DeclaredType(env, st, node)
	return t, err
}

// DeclaredType is TypeNameIn that also tells which domain the name is, nil for
// other types.
func DeclaredType(env *Env, st *sql.Statement, node *pg_query.TypeName) (types.Type, *catalog.Domain, error) {
	t, d, err := env.resolveTypeName(node)
	if err != nil {
		return t, nil, pgerr.From(err).At(st.Position(node.GetLocation()))
	}
	return t, d, nil
}

func (env *Env) resolveTypeName(n *pg_query.TypeName) (types.Type, *catalog.Domain, error) {
	none := types.Type{}
	if n.GetPctType() {
		return none, nil, unsupported("%TYPE")
	}
	if n.GetSetof() {
		return none, nil, unsupported("SETOF")
	}
	if oid, d := env.catalogType(n.GetNames()); oid != 0 {
		return declaredType(n, oid, d)
	}
	t, err := builtinType(n)
	return t, nil, err
}

// catalogType finds an enum, an array of an enum by its name "_mood", or a
// domain, whose OID it returns too.
func (env *Env) catalogType(names []*pg_query.Node) (types.OID, *catalog.Domain) {
	if env == nil || env.Catalog == nil || len(names) == 0 || len(names) > 2 {
		return 0, nil
	}
	name, path := lastName(names), env.SearchPath
	if len(names) == 2 {
		sc, ok := env.Catalog.Schema(stringOf(names[0]))
		if !ok {
			return 0, nil
		}
		path = []types.OID{sc.OID}
	}
	for _, schema := range path {
		if e, ok := env.Catalog.Enum(schema, name); ok {
			return e.OID, nil
		}
		if d, ok := env.Catalog.Domain(schema, name); ok {
			return d.OID, d
		}
		if rest, ok := strings.CutPrefix(name, "_"); ok {
			if e, ok := env.Catalog.Enum(schema, rest); ok {
				return types.ArrayOf(e.OID), nil
			}
		}
		if _, ok := typeByName(name); ok && schema == catalog.PgCatalogOID {
			return 0, nil
		}
	}
	return 0, nil
}

func declaredType(n *pg_query.TypeName, oid types.OID, d *catalog.Domain) (types.Type, *catalog.Domain, error) {
	none, array := types.Type{}, len(n.GetArrayBounds()) > 0
	switch {
	case len(n.GetTypmods()) > 0:
		return none, nil, pgerr.New(pgerr.SyntaxError, "type modifier is not allowed for type \"%s\"", lastName(n.GetNames()))
	case d != nil && array:
		return none, nil, pgerr.Unsupported("an array of the domain %s", d.Name)
	case d != nil:
		return types.Type{OID: d.Base, Mod: d.Mod}, d, nil
	case array && types.ElemOf(oid) == 0:
		oid = types.ArrayOf(oid)
	}
	return types.T(oid), nil, nil
}

func builtinType(n *pg_query.TypeName) (types.Type, error) {
	none := types.Type{}
	names := n.GetNames()
	name := lastName(names)
	if len(names) > 1 && stringOf(names[0]) != "pg_catalog" || len(names) > 2 {
		return none, unknownType(dotted(names))
	}
	info, ok := typeByName(name)
	if !ok {
		switch {
		case len(names) == 1 && isSerial(name):
			return none, pgerr.Unsupported("type %s", name)
		case absentTypes[name]:
			return none, pgerr.Unsupported("type %s", name)
		}
		return none, unknownType(dotted(names))
	}
	mod, err := typeModifier(info, n.GetTypmods())
	if err != nil {
		return none, err
	}
	oid := info.OID
	if len(n.GetArrayBounds()) > 0 && types.ElemOf(oid) == 0 {
		if oid = types.ArrayOf(oid); oid == 0 {
			return none, pgerr.New(pgerr.UndefinedObject, "could not find array type for data type %s", typeText(info.OID))
		}
	}
	return types.Type{OID: oid, Mod: mod}, nil
}

func unknownType(name string) error {
	return pgerr.New(pgerr.UndefinedObject, "type \"%s\" does not exist", name)
}

func isSerial(name string) bool {
	switch name {
	case "serial", "bigserial", "smallserial", "serial2", "serial4", "serial8":
		return true
	}
	return false
}

// typeByName finds a type by its typname only: the grammar has replaced the
// SQL spellings, so "integer" comes from a quoted name and is no type.
func typeByName(name string) (*types.Info, bool) {
	if name == "char" {
		return types.Lookup(types.Char)
	}
	info, ok := types.ByName(name)
	if !ok || info.Name != name {
		return nil, false
	}
	return info, true
}

// typeModifier computes the typmod of TYPE(a, b).
func typeModifier(info *types.Info, mods []*pg_query.Node) (int32, error) {
	if len(mods) == 0 {
		return -1, nil
	}
	list := make([]int32, len(mods))
	for i, m := range mods {
		c := m.GetAConst()
		if c == nil {
			return -1, pgerr.New(pgerr.SyntaxError, "type modifiers must be simple constants or identifiers")
		}
		if _, ok := c.Val.(*pg_query.A_Const_Ival); !ok {
			return -1, pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type integer: \"%s\"", constText(c))
		}
		list[i] = c.GetIval().GetIval()
	}
	switch info.OID {
	case types.Varchar, types.BPChar:
		return charModifier(info, list)
	case types.Numeric:
		return numericModifier(list)
	case types.Timestamp, types.TimestampTZ, types.Time, types.TimeTZ:
		return timeModifier(info, list)
	case types.Interval:
		return intervalModifier(list)
	}
	return -1, pgerr.New(pgerr.SyntaxError, "type modifier is not allowed for type \"%s\"", info.Name)
}

func constText(c *pg_query.A_Const) string {
	switch v := c.Val.(type) {
	case *pg_query.A_Const_Fval:
		return v.Fval.GetFval()
	case *pg_query.A_Const_Sval:
		return v.Sval.GetSval()
	case *pg_query.A_Const_Bsval:
		return v.Bsval.GetBsval()
	case *pg_query.A_Const_Boolval:
		if v.Boolval.GetBoolval() {
			return "true"
		}
		return "false"
	}
	return ""
}

func charModifier(info *types.Info, list []int32) (int32, error) {
	name := "varchar"
	if info.OID == types.BPChar {
		name = "char"
	}
	switch {
	case len(list) != 1:
		return -1, pgerr.New(pgerr.InvalidParameterValue, "invalid type modifier")
	case list[0] < 1:
		return -1, pgerr.New(pgerr.InvalidParameterValue, "length for type %s must be at least 1", name)
	case list[0] > maxCharLength:
		return -1, pgerr.New(pgerr.InvalidParameterValue, "length for type %s cannot exceed %d", name, maxCharLength)
	}
	return list[0] + 4, nil
}

func numericModifier(list []int32) (int32, error) {
	if len(list) > 2 {
		return -1, pgerr.New(pgerr.InvalidParameterValue, "invalid NUMERIC type modifier")
	}
	p, s := list[0], int32(0)
	if len(list) == 2 {
		s = list[1]
	}
	if p < 1 || p > maxNumericPrecision {
		return -1, pgerr.New(pgerr.InvalidParameterValue, "NUMERIC precision %d must be between 1 and %d", p, maxNumericPrecision)
	}
	if s < -maxNumericScale || s > maxNumericScale {
		return -1, pgerr.New(pgerr.InvalidParameterValue, "NUMERIC scale %d must be between %d and %d", s, -maxNumericScale, maxNumericScale)
	}
	return (p<<16 | s&0x7FF) + 4, nil
}

func timeModifier(info *types.Info, list []int32) (int32, error) {
	if len(list) != 1 {
		return -1, pgerr.New(pgerr.InvalidParameterValue, "invalid type modifier")
	}
	if list[0] < 0 {
		name, zone := strings.ToUpper(strings.TrimSuffix(info.Name, "tz")), ""
		if strings.HasSuffix(info.Name, "tz") {
			zone = " WITH TIME ZONE"
		}
		return -1, pgerr.New(pgerr.InvalidParameterValue, "%s(%d)%s precision must not be negative", name, list[0], zone)
	}
	return min(list[0], maxTimePrecision), nil
}

func intervalModifier(list []int32) (int32, error) {
	fields := list[0]
	switch {
	case len(list) == 1 && fields == intervalFullRange:
		return -1, nil
	case len(list) == 1:
		return fields<<16 | intervalFullPrec, nil
	case len(list) != 2:
		return -1, pgerr.New(pgerr.InvalidParameterValue, "invalid INTERVAL type modifier")
	case list[1] < 0:
		return -1, pgerr.New(pgerr.InvalidParameterValue, "INTERVAL(%d) precision must not be negative", list[1])
	}
	return fields<<16 | min(list[1], maxTimePrecision), nil
}
