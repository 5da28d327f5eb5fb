package functions

import (
	"bytes"
	"encoding/json"
	"strconv"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// The functions below walk JSON text that is known to be valid: values of type
// json as written, those of jsonb in canonical form.

func skipBlanks(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

// cutJSON splits off the value at the start of s.
func cutJSON(s []byte) (value, rest []byte) {
	s = skipBlanks(s)
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return s[:min(i+1, len(s))], s[min(i+1, len(s)):]
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return s[:i], s[i:]
			}
			if depth--; depth == 0 {
				return s[:i+1], s[i+1:]
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return s[:i], s[i:]
			}
		}
	}
	return s, nil
}

// stringOf unescapes a JSON string.
func stringOf(s []byte) []byte {
	if len(s) < 2 {
		return nil
	}
	if bytes.IndexByte(s, '\\') < 0 {
		return s[1 : len(s)-1]
	}
	var out string
	if json.Unmarshal(s, &out) != nil {
		return s[1 : len(s)-1]
	}
	return []byte(out)
}

// eachMember calls f for the members of an object (key set) or the elements of
// an array, until f returns false.
func eachMember(s []byte, f func(key, value []byte) bool) {
	s = skipBlanks(s)
	if len(s) == 0 || s[0] != '{' && s[0] != '[' {
		return
	}
	object := s[0] == '{'
	s = skipBlanks(s[1:])
	for len(s) > 0 && s[0] != '}' && s[0] != ']' {
		var key, value []byte
		if object {
			if key, s = cutJSON(s); len(key) == 0 {
				return
			}
			key = stringOf(key)
			s = skipBlanks(s)
			s = s[min(1, len(s)):]
		}
		value, s = cutJSON(s)
		if len(value) == 0 || !f(key, value) {
			return
		}
		if s = skipBlanks(s); len(s) > 0 && s[0] == ',' {
			s = skipBlanks(s[1:])
		}
	}
}

// memberOf returns the member of an object, nil if there is none; the last of equal keys.
func memberOf(s, key []byte) (found []byte) {
	if s = skipBlanks(s); len(s) == 0 || s[0] != '{' {
		return nil
	}
	eachMember(s, func(k, v []byte) bool {
		if bytes.Equal(k, key) {
			found = v
		}
		return true
	})
	return found
}

// elementOf returns an element of an array, counted from 0 or from the end.
func elementOf(s []byte, at int) (found []byte) {
	if s = skipBlanks(s); len(s) == 0 || s[0] != '[' {
		return nil
	}
	if at < 0 {
		at += countMembers(s)
		if at < 0 {
			return nil
		}
	}
	eachMember(s, func(_, v []byte) bool {
		if at == 0 {
			found = v
		}
		at--
		return at >= 0
	})
	return found
}

func countMembers(s []byte) int {
	n := 0
	eachMember(s, func(_, _ []byte) bool { n++; return true })
	return n
}

// addJSON appends a found value: as JSON, or as text, where null is NULL.
func addJSON(out *vector.Vector, v []byte, text bool, i, n int) {
	switch {
	case v == nil || text && string(v) == "null":
		setNull(out, i, n)
	case text && v[0] == '"':
		out.Data = append(out.Data, stringOf(v)...)
	default:
		out.Data = append(out.Data, v...)
	}
	endRow(out)
}

// jsonGet makes -> and ->>.
func jsonGet(text bool, get func(doc []byte, arg *vector.Vector, i int) []byte) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			if !live(out, i) {
				endRow(out)
				continue
			}
			addJSON(out, get(args[0].Bytes(i), args[1], i), text, i, n)
		}
		return nil
	}
}

func byKey(doc []byte, arg *vector.Vector, i int) []byte { return memberOf(doc, arg.Bytes(i)) }

func byIndex(doc []byte, arg *vector.Vector, i int) []byte { return elementOf(doc, int4(arg, i)) }

// byIndexB is byIndex of jsonb, where a scalar counts as an array of itself.
func byIndexB(doc []byte, arg *vector.Vector, i int) []byte {
	if at := int4(arg, i); len(doc) > 0 && doc[0] != '[' && doc[0] != '{' && (at == 0 || at == -1) {
		return doc
	}
	return byIndex(doc, arg, i)
}

// byPath follows an array of keys and indexes.
func byPath(doc []byte, arg *vector.Vector, i int) []byte {
	path := vector.New(vector.Bytes, 4)
	if ArrayElements(path, arg.Bytes(i)) != nil {
		return nil
	}
	doc, _ = cutJSON(doc)
	for k := 0; k < path.N && doc != nil; k++ {
		if path.IsNull(k) {
			return nil
		}
		if len(doc) > 0 && doc[0] == '[' {
			at, err := strconv.ParseInt(string(path.Bytes(k)), 10, 32)
			if err != nil {
				return nil
			}
			doc = elementOf(doc, int(at))
		} else {
			doc = memberOf(doc, path.Bytes(k))
		}
	}
	return doc
}

func jsonTypeOf(dst, s []byte) []byte {
	if s = skipBlanks(s); len(s) == 0 {
		return dst
	}
	switch s[0] {
	case '{':
		return append(dst, "object"...)
	case '[':
		return append(dst, "array"...)
	case '"':
		return append(dst, "string"...)
	case 't', 'f':
		return append(dst, "boolean"...)
	case 'n':
		return append(dst, "null"...)
	}
	return append(dst, "number"...)
}

func jsonArrayLength(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		switch kind := string(jsonTypeOf(nil, args[0].Bytes(i))); kind {
		case "array":
			out.I32[i] = int32(countMembers(args[0].Bytes(i)))
		case "object":
			return pgerr.New(pgerr.InvalidParameterValue, "cannot get array length of a non-array")
		default:
			return pgerr.New(pgerr.InvalidParameterValue, "cannot get array length of a scalar")
		}
	}
	return nil
}

// jsonbTo makes the explicit casts of jsonb to scalar types: from a number
// through numeric, or from a boolean.
func jsonbTo(to types.OID) Cast {
	return Cast{From: types.JSONB, To: to, Context: CastExplicit, CanFail: true, Make: func(mod int32, _ bool) Kernel {
		target := types.Type{OID: to, Mod: mod}
		return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			want := "number"
			if to == types.Bool {
				want = "boolean"
			}
			one := vector.New(vector.Bytes, 1)
			return rebuild(out, n, func(i int) error {
				b := args[0].Bytes(i)
				if kind := string(jsonTypeOf(nil, b)); kind != want {
					if kind == "number" {
						kind = "numeric"
					}
					return pgerr.New(pgerr.InvalidParameterValue, "cannot cast jsonb %s to type %s", kind, typeName(to))
				}
				if want == "boolean" || to == types.Numeric {
					return types.ParseText(out, target, b, &c.Context)
				}
				one.Reset(vector.Bytes)
				if err := types.ParseText(one, types.T(types.Numeric), b, &c.Context); err != nil {
					return err
				}
				return appendConverted(c, out, one, types.Numeric, target)
			})
		}
	}}
}

// appendConverted appends the only row of v, cast to another type.
func appendConverted(c *Ctx, out, v *vector.Vector, from types.OID, to types.Type) error {
	cast, ok := FindCast(from, to.OID, CastExplicit)
	if !ok {
		return pgerr.New(pgerr.InternalError, "no cast from %s to %s", typeName(from), typeName(to.OID))
	}
	res := vector.New(to.Kind(), 1)
	if res.Kind != vector.Bytes {
		res.Resize(1)
	}
	if err := cast.Make(to.Mod, true)(c, res, []*vector.Vector{v}, 1); err != nil {
		return err
	}
	res.N = 1
	out.AppendFrom(res, 0)
	return nil
}

// reparse converts between json and jsonb through the text.
func reparse(from, to types.OID) Cast {
	c := ioCast(types.Text, to, CastAssignment)
	c.From, c.Context, c.CanFail = from, CastAssignment, to == types.JSONB
	return *c
}

func init() {
	t, i4, path := types.Text, types.Int4, types.TextArray
	for _, j := range []types.OID{types.JSON, types.JSONB} {
		name := map[types.OID]string{types.JSON: "json", types.JSONB: "jsonb"}[j]
		at := byIndex
		if j == types.JSONB {
			at = byIndexB
		}
		RegisterFunctions(
			op("->", j, jsonGet(false, byKey), j, t),
			op("->", j, jsonGet(false, at), j, i4),
			op("->>", t, jsonGet(true, byKey), j, t),
			op("->>", t, jsonGet(true, at), j, i4),
			op("#>", j, jsonGet(false, byPath), j, path),
			op("#>>", t, jsonGet(true, byPath), j, path),
			fn(name+"_typeof", t, text1(jsonTypeOf), j).doc("Kind of a JSON value."),
			fn(name+"_array_length", i4, jsonArrayLength, j).fails().doc("Number of elements of a JSON array."),
		)
	}
	b, ta := types.JSONB, types.TextArray
	for _, o := range []struct {
		symbol     string
		right, ret types.OID
	}{
		{"||", b, b}, {"-", t, b}, {"-", i4, b}, {"-", ta, b}, {"#-", ta, b},
		{"@>", b, types.Bool}, {"<@", b, types.Bool}, {"?", t, types.Bool}, {"?|", ta, types.Bool}, {"?&", ta, types.Bool},
	} {
		RegisterFunctions(op(o.symbol, o.ret, unsupported("operator "+o.symbol+" of jsonb"), b, o.right).fails())
	}
	RegisterCasts(reparse(types.JSON, types.JSONB), reparse(types.JSONB, types.JSON))
	for _, to := range []types.OID{types.Bool, types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric} {
		RegisterCasts(jsonbTo(to))
	}
}
