package pgcatalog

import (
	"slices"
	"strconv"
	"strings"

	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Names spells the reg* types from a session's catalog; it implements
// types.ObjectNames.
type Names struct{ Ctx *functions.Ctx }

// ObjectName implements types.ObjectNames.
func (n Names) ObjectName(t types.OID, id uint32) (string, bool) {
	if id == 0 {
		return "-", true
	}
	s := newSource(n.Ctx)
	switch t {
	case types.Regclass:
		o, ok := s.object(id)
		if !ok {
			return "", false
		}
		if s.visible(o) {
			return QuoteIdent(o.name), true
		}
		return QuoteIdent(o.schema) + "." + QuoteIdent(o.name), true
	case types.Regtype:
		return s.typeName(types.T(id))
	case types.Regnamespace:
		if sc, ok := s.cat.SchemaByOID(id); ok {
			return QuoteIdent(sc.Name), true
		}
	case types.Regrole:
		if r, ok := s.cat.RoleByOID(id); ok {
			return QuoteIdent(r.Name), true
		}
	case types.Regproc, types.Regprocedure:
		return procName(t, id)
	}
	return "", false
}

// typeName is format_type's text; a type of the user's has its own name.
func (s *source) typeName(t types.Type) (string, bool) {
	if _, ok := types.Lookup(t.OID); ok && !types.IsEnum(t.OID) && !types.IsEnumArray(t.OID) {
		return types.FormatType(t), true
	}
	named := func(schema types.OID, name, suffix string) (string, bool) {
		if s.typeVisible(schema, name) {
			return QuoteIdent(name) + suffix, true
		}
		return QuoteIdent(s.schemaName(schema)) + "." + QuoteIdent(name) + suffix, true
	}
	for _, tab := range s.cat.Tables() {
		if tab.TypeOID == t.OID {
			return named(tab.Schema, tab.Name, "")
		}
	}
	for _, v := range s.cat.Views() {
		if v.TypeOID == t.OID {
			return named(v.Schema, v.Name, "")
		}
	}
	for _, e := range s.cat.Enums() {
		switch t.OID {
		case e.OID:
			return named(e.Schema, e.Name, "")
		case types.ArrayOf(e.OID):
			return named(e.Schema, e.Name, "[]")
		}
	}
	for _, d := range s.cat.Domains() {
		switch t.OID {
		case d.OID:
			return named(d.Schema, d.Name, "")
		case d.ArrayOID:
			return named(d.Schema, d.Name, "[]")
		}
	}
	for name, oid := range typeNames() {
		if oid == t.OID {
			return name, true
		}
	}
	return "", false
}

// typeVisible tells whether the search path finds the type of a schema first.
func (s *source) typeVisible(schema types.OID, name string) bool {
	for _, p := range s.searchPath() {
		sc, ok := s.cat.Schema(p)
		if !ok {
			continue
		}
		if sc.OID == schema {
			return true
		}
		if s.ownType(sc.OID, name) != 0 {
			return false
		}
	}
	return false
}

// ownType finds a type of the user's by name; 0: none.
func (s *source) ownType(schema types.OID, name string) types.OID {
	if e, ok := s.cat.Enum(schema, name); ok {
		return e.OID
	}
	if d, ok := s.cat.Domain(schema, name); ok {
		return d.OID
	}
	if r, ok := s.cat.Relation(schema, name); ok {
		switch {
		case r.View != nil:
			return r.View.TypeOID
		case r.Table != nil && r.Kind != catalog.RelIndex:
			return r.Table.TypeOID
		}
	}
	return 0
}

// arrayOf is the array type over a type; 0: none.
func (s *source) arrayOf(oid types.OID) types.OID {
	if d, ok := s.cat.DomainByOID(oid); ok {
		return d.ArrayOID
	}
	return types.ArrayOf(oid)
}

func procName(t types.OID, id uint32) (string, bool) {
	for _, p := range ioProcs() {
		if p.oid == id {
			return procText(t, p.name, p.args), true
		}
	}
	for o := range functions.AllFunctions {
		if o.OID == id && !o.Operator {
			return procText(t, o.Name, o.Args), true
		}
	}
	return "", false
}

// procText spells a function as regproc or regprocedure does.
func procText(t types.OID, name string, in []types.OID) string {
	if t == types.Regproc {
		return QuoteIdent(name)
	}
	args := make([]string, len(in))
	for i, a := range in {
		args[i] = types.FormatType(types.T(a))
	}
	return QuoteIdent(name) + "(" + strings.Join(args, ",") + ")"
}

// ObjectID implements types.ObjectNames.
func (n Names) ObjectID(t types.OID, text string) (uint32, error) {
	if text == "-" {
		return 0, nil
	}
	if v, err := strconv.ParseUint(text, 10, 32); err == nil {
		return uint32(v), nil
	}
	s := newSource(n.Ctx)
	parts, ok := splitName(text)
	if !ok && t != types.Regtype && t != types.Regproc && t != types.Regprocedure {
		return 0, pgerr.New(pgerr.InvalidName, "invalid name syntax")
	}
	switch t {
	case types.Regclass:
		return s.regclass(parts, text)
	case types.Regtype:
		return s.regtype(text)
	case types.Regnamespace:
		if sc, ok := s.cat.Schema(parts[0]); ok {
			return sc.OID, nil
		}
		return 0, pgerr.New(pgerr.InvalidSchemaName, "schema \"%s\" does not exist", parts[0])
	case types.Regrole:
		if r, ok := s.cat.Role(parts[0]); ok {
			return r.OID, nil
		}
		return 0, pgerr.New(pgerr.UndefinedObject, "role \"%s\" does not exist", parts[0])
	}
	return s.procedure(t, text)
}

// procedure finds a function by name, for regprocedure with its argument types.
func (s *source) procedure(t types.OID, text string) (uint32, error) {
	name, rest, signed := strings.Cut(text, "(")
	parts, ok := splitName(name)
	if !ok || signed != (t == types.Regprocedure) {
		return 0, pgerr.New(pgerr.InvalidName, "invalid name syntax")
	}
	var want []types.OID
	if list := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), ")")); list != "" {
		for _, a := range strings.Split(list, ",") {
			oid, err := s.regtype(strings.TrimSpace(a))
			if err != nil {
				return 0, err
			}
			want = append(want, oid)
		}
	}
	var found []types.OID
	try := func(oid types.OID, args []types.OID) {
		if !signed || slices.Equal(args, want) {
			found = append(found, oid)
		}
	}
	last := parts[len(parts)-1]
	if len(parts) == 1 || parts[len(parts)-2] == "pg_catalog" {
		eachProcedure(last, try)
	}
	switch len(found) {
	case 0:
		return 0, pgerr.New(pgerr.UndefinedFunction, "function \"%s\" does not exist", text)
	case 1:
		return found[0], nil
	}
	return 0, pgerr.New(pgerr.AmbiguousFunction, "more than one function named \"%s\"", text)
}

// eachProcedure calls f for all that pg_proc lists under a name.
func eachProcedure(name string, f func(oid types.OID, args []types.OID)) {
	for _, o := range functions.Functions(name) {
		f(o.OID, o.Args)
	}
	for _, a := range functions.Aggregates(name) {
		f(a.OID, a.Args)
	}
	for _, r := range functions.SetReturningFunctions(name) {
		f(r.OID, r.Args)
	}
	for _, p := range ioProcs() {
		if p.name == name {
			f(p.oid, p.args)
		}
	}
}

func (s *source) regclass(parts []string, text string) (uint32, error) {
	schema, name := "", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
		if _, ok := s.cat.Schema(schema); !ok {
			return 0, pgerr.New(pgerr.InvalidSchemaName, "schema \"%s\" does not exist", schema)
		}
	}
	if o, ok := s.objectByName(schema, name); ok {
		return o.oid, nil
	}
	return 0, pgerr.New(pgerr.UndefinedTable, "relation \"%s\" does not exist", strings.Join(parts, "."))
}

func (s *source) regtype(text string) (uint32, error) {
	name := strings.TrimSpace(text)
	elem, array := strings.CutSuffix(name, "[]")
	oid := s.namedType(strings.TrimSpace(elem))
	if array && oid != 0 {
		oid = s.arrayOf(oid)
	}
	if oid == 0 {
		return 0, pgerr.New(pgerr.UndefinedObject, "type \"%s\" does not exist", text)
	}
	return oid, nil
}

func (s *source) namedType(text string) types.OID {
	if info, ok := types.ByName(strings.ToLower(text)); ok {
		return info.OID
	}
	if base, _, ok := strings.Cut(text, "("); ok { // the modifier does not matter
		return s.namedType(strings.TrimSpace(base))
	}
	parts, ok := splitName(text)
	if !ok {
		return 0
	}
	name := parts[len(parts)-1]
	path := s.searchPath()
	if len(parts) > 1 {
		path = parts[len(parts)-2 : len(parts)-1]
	}
	for _, p := range path {
		if p == "pg_catalog" {
			if info, ok := types.ByName(name); ok {
				return info.OID
			}
			if oid := typeNames()[name]; oid != 0 {
				return oid
			}
		}
		if sc, ok := s.cat.Schema(p); ok {
			if oid := s.ownType(sc.OID, name); oid != 0 {
				return oid
			}
		}
	}
	return 0
}

// splitName splits a possibly quoted, possibly qualified name and folds the
// unquoted parts to lower case.
func splitName(s string) ([]string, bool) {
	var parts []string
	for {
		s = strings.TrimLeft(s, " ")
		var part string
		if strings.HasPrefix(s, `"`) {
			end := 1
			var b strings.Builder
			for {
				i := strings.IndexByte(s[end:], '"')
				if i < 0 {
					return nil, false
				}
				b.WriteString(s[end : end+i])
				end += i + 1
				if !strings.HasPrefix(s[end:], `"`) {
					break
				}
				b.WriteByte('"')
				end++
			}
			part, s = b.String(), s[end:]
		} else {
			i := strings.IndexAny(s, ". ")
			if i < 0 {
				i = len(s)
			}
			part, s = strings.ToLower(s[:i]), s[i:]
		}
		if part == "" {
			return nil, false
		}
		parts = append(parts, part)
		s = strings.TrimLeft(s, " ")
		if s == "" {
			return parts, true
		}
		if s[0] != '.' {
			return nil, false
		}
		s = s[1:]
	}
}
