package functions

import (
	"bytes"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

func identStart(c byte) bool {
	return c == '_' || lowerASCII(c) >= 'a' && lowerASCII(c) <= 'z' || c >= 0x80
}
func identPart(c byte) bool  { return identStart(c) || '0' <= c && c <= '9' || c == '$' }
func identSpace(c byte) bool { return isSpace(c) || c == '\f' || c == '\v' }

// splitIdent appends the parts of a qualified name; strict refuses what follows it.
func splitIdent(parts *vector.Vector, name []byte, strict bool) error {
	bad := func(detail string) error {
		e := pgerr.New(pgerr.InvalidParameterValue, "string is not a valid identifier: \"%s\"", name)
		if detail != "" {
			return e.WithDetail("%s", detail)
		}
		return e
	}
	s, afterDot := bytes.TrimLeftFunc(name, func(r rune) bool { return r < 0x80 && identSpace(byte(r)) }), false
	for {
		part, rest, detail := nextIdent(s)
		switch {
		case detail != "":
			return bad(detail)
		case part != nil:
		case len(s) > 0 && s[0] == '.':
			return bad("No valid identifier before \".\".")
		case afterDot:
			return bad("No valid identifier after \".\".")
		default:
			return bad("")
		}
		parts.AppendBytes(part)
		s = skipIdentSpace(rest)
		if len(s) == 0 || s[0] != '.' {
			if len(s) > 0 && strict {
				return bad("")
			}
			return nil
		}
		afterDot, s = true, skipIdentSpace(s[1:])
	}
}

func skipIdentSpace(s []byte) []byte {
	for len(s) > 0 && identSpace(s[0]) {
		s = s[1:]
	}
	return s
}

// nextIdent cuts one identifier off; nil if none begins there, detail if it is malformed.
func nextIdent(s []byte) (part, rest []byte, detail string) {
	switch {
	case len(s) == 0:
		return nil, s, ""
	case s[0] == '"':
		part = []byte{}
		for s = s[1:]; ; {
			k := bytes.IndexByte(s, '"')
			if k < 0 {
				return nil, s, "String has unclosed double quotes."
			}
			part = append(part, s[:k]...)
			if s = s[k+1:]; len(s) == 0 || s[0] != '"' {
				break
			}
			part, s = append(part, '"'), s[1:]
		}
		if len(part) == 0 {
			return nil, s, "Quoted identifier must not be empty."
		}
		return part, s, ""
	case !identStart(s[0]):
		return nil, s, ""
	}
	for len(s) > 0 && identPart(s[0]) {
		part, s = append(part, lowerASCII(s[0])), s[1:]
	}
	return part, s, ""
}

func parseIdent(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	parts := vector.New(vector.Bytes, 2)
	for i := 0; i < n; i++ {
		if live(out, i) {
			parts.Reset(vector.Bytes)
			if err := splitIdent(parts, args[0].Bytes(i), len(args) < 2 || args[1].Bool(i)); err != nil {
				return err
			}
			out.Data = AppendArray(out.Data, types.Text, parts, 0, parts.N)
		}
		endRow(out)
	}
	return nil
}

// openStringToTable opens string_to_table: the fields of string_to_array as rows.
func openStringToTable(c *Ctx, args []*vector.Vector) (Rows, error) {
	if args[0].IsNull(0) {
		return noRows{}, nil
	}
	array := vector.New(vector.Bytes, 1)
	if err := stringToArray(c, array, args, 1); err != nil {
		return nil, err
	}
	array.N = 1
	return openUnnest(c, []*vector.Vector{array})
}

func init() {
	t := types.Text
	p := fn("parse_ident", types.TextArray, parseIdent, t, types.Bool).fails().doc("Parts of a qualified name.")
	p.Defaults, p.ArgNames, p.DefaultText = 1, []string{"str", "strict"}, []string{"true"}
	RegisterFunctions(p)
	for _, args := range [][]types.OID{{t, t}, {t, t, t}} {
		RegisterSetReturning(SetReturning{Name: "string_to_table", Args: args, Columns: []string{"string_to_table"}, Types: []types.OID{t},
			Open: openStringToTable, Doc: "Fields of a string."})
	}
}
