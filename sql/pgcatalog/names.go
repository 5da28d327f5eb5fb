package pgcatalog

import (
	"strconv"
	"strings"

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

// typeName is format_type's text; a table's row type has the table's name.
func (s *source) typeName(t types.Type) (string, bool) {
	if _, ok := types.Lookup(t.OID); ok {
		return types.FormatType(t), true
	}
	for _, tab := range s.cat.Tables() {
		if tab.TypeOID == t.OID {
			if s.visible(object{oid: tab.OID, name: tab.Name}) {
				return QuoteIdent(tab.Name), true
			}
			return QuoteIdent(s.schemaName(tab.Schema)) + "." + QuoteIdent(tab.Name), true
		}
	}
	return "", false
}

func procName(t types.OID, id uint32) (string, bool) {
	for o := range functions.AllFunctions {
		if o.OID == id && !o.Operator {
			if t == types.Regproc {
				return QuoteIdent(o.Name), true
			}
			args := make([]string, len(o.Args))
			for i, a := range o.Args {
				args[i] = types.FormatType(types.T(a))
			}
			return QuoteIdent(o.Name) + "(" + strings.Join(args, ",") + ")", true
		}
	}
	return "", false
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
	if !ok && t != types.Regtype {
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
		return 0, pgerr.New(pgerr.InvalidSchemaName, "schema %q does not exist", parts[0])
	case types.Regrole:
		if r, ok := s.cat.Role(parts[0]); ok {
			return r.OID, nil
		}
		return 0, pgerr.New(pgerr.UndefinedObject, "role %q does not exist", parts[0])
	}
	name := parts[len(parts)-1]
	fs := functions.Functions(name)
	switch len(fs) {
	case 0:
		return 0, pgerr.New(pgerr.UndefinedFunction, "function %q does not exist", text)
	case 1:
		return fs[0].OID, nil
	}
	return 0, pgerr.New(pgerr.AmbiguousFunction, "more than one function named %q", text)
}

func (s *source) regclass(parts []string, text string) (uint32, error) {
	schema, name := "", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
		if _, ok := s.cat.Schema(schema); !ok {
			return 0, pgerr.New(pgerr.InvalidSchemaName, "schema %q does not exist", schema)
		}
	}
	if o, ok := s.objectByName(schema, name); ok {
		return o.oid, nil
	}
	return 0, pgerr.New(pgerr.UndefinedTable, "relation %q does not exist", strings.Join(parts, "."))
}

func (s *source) regtype(text string) (uint32, error) {
	name := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "pg_catalog.")
	if info, ok := types.ByName(name); ok {
		return info.OID, nil
	}
	if elem, ok := strings.CutSuffix(name, "[]"); ok {
		if info, ok := types.ByName(elem); ok && info.Array != 0 {
			return info.Array, nil
		}
	}
	return 0, pgerr.New(pgerr.UndefinedObject, "type %q does not exist", text)
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
