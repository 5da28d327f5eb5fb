package functions

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// normalForm reads the name of a form of Unicode normalization.
func normalForm(name []byte) (norm.Form, error) {
	switch strings.ToUpper(string(name)) {
	case "NFC":
		return norm.NFC, nil
	case "NFD":
		return norm.NFD, nil
	case "NFKC":
		return norm.NFKC, nil
	case "NFKD":
		return norm.NFKD, nil
	}
	return norm.NFC, pgerr.New(pgerr.InvalidParameterValue, "invalid normalization form: %s", name)
}

func formOf(args []*vector.Vector, i int) (norm.Form, error) {
	if len(args) < 2 {
		return norm.NFC, nil
	}
	return normalForm(args[1].Bytes(i))
}

func normalize(out *vector.Vector, args []*vector.Vector, i int) error {
	f, err := formOf(args, i)
	if err != nil {
		return err
	}
	out.Data = f.Append(out.Data, args[0].Bytes(i)...)
	return nil
}

func isNormalized(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := 0; i < n; i++ {
		if !live(out, i) {
			continue
		}
		f, err := formOf(args, i)
		if err != nil {
			return err
		}
		out.Bits.Put(i, f.IsNormal(args[0].Bytes(i)))
	}
	return nil
}

func errSurrogate() error { return pgerr.New(pgerr.SyntaxError, "invalid Unicode surrogate pair") }

// unescape resolves the escapes \XXXX, \uXXXX, \+XXXXXX and \UXXXXXXXX.
func unescape(out *vector.Vector, args []*vector.Vector, i int) error {
	first := rune(0) // the first half of a surrogate pair
	for s := args[0].Bytes(i); len(s) > 0; {
		if s[0] != '\\' || len(s) > 1 && s[1] == '\\' {
			if first != 0 {
				return errSurrogate()
			}
			out.Data = append(out.Data, s[0])
			s = s[1+b2u(s[0] == '\\'):]
			continue
		}
		r, width, ok := unicodeEscape(s)
		if !ok {
			return pgerr.New(pgerr.SyntaxError, "invalid Unicode escape").
				WithHint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
		}
		s = s[width:]
		switch {
		case r <= 0 || r > utf8.MaxRune:
			return pgerr.New(pgerr.InvalidParameterValue, "invalid Unicode code point: %04X", r)
		case first != 0:
			if r = utf16.DecodeRune(first, r); r == utf8.RuneError {
				return errSurrogate()
			}
			first = 0
		case 0xDC00 <= r && r <= 0xDFFF:
			return errSurrogate()
		case 0xD800 <= r && r <= 0xDBFF:
			first = r
			continue
		}
		out.Data = utf8.AppendRune(out.Data, r)
	}
	if first != 0 {
		return errSurrogate()
	}
	return nil
}

// unicodeEscape reads an escape at the start of s.
func unicodeEscape(s []byte) (r rune, width int, ok bool) {
	skip, digits := 1, 4
	if len(s) > 1 {
		switch s[1] {
		case 'u':
			skip = 2
		case '+':
			skip, digits = 2, 6
		case 'U':
			skip, digits = 2, 8
		}
	}
	if len(s) < skip+digits {
		return 0, 0, false
	}
	for _, c := range s[skip : skip+digits] {
		if hexValue(c) < 0 {
			return 0, 0, false
		}
	}
	v, _ := strconv.ParseUint(string(s[skip:skip+digits]), 16, 32)
	return rune(min(v, utf8.MaxRune+1)), skip + digits, true
}

// toASCII refuses as PostgreSQL does where the database is UTF8.
func toASCII(*vector.Vector, []*vector.Vector, int) error {
	return pgerr.New(pgerr.FeatureNotSupported, "encoding conversion from UTF8 to ASCII not supported")
}

func init() {
	t := types.Text
	form := fn("normalize", t, textRows(normalize), t, t).fails().doc("In a form of Unicode normalization, NFC by default.")
	is := fn("is_normalized", types.Bool, isNormalized, t, t).fails().doc("Whether a string is in a form of Unicode normalization.")
	form.Defaults, is.Defaults = 1, 1
	RegisterFunctions(form, is,
		fn("unistr", t, textRows(unescape), t).fails().doc("Unicode escapes resolved."),
		fn("to_ascii", t, textRows(toASCII), t).fails().doc("Refused, as in any UTF8 database."),
		fn("to_ascii", t, textRows(func(*vector.Vector, []*vector.Vector, int) error {
			return pgerr.Unsupported("to_ascii of another encoding")
		}), t, types.Name).fails().doc("Not supported."),
	)
}
