package functions

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// charset is an encoding of text that convert() knows.
type charset struct {
	name  string           // as PostgreSQL prints it
	table *charmap.Charmap // nil: UTF8 or SQL_ASCII
}

// charsets are the encodings by name, letters and digits in lower case.
var charsets = func() map[string]charset {
	m := map[string]charset{}
	add := func(table *charmap.Charmap, name string, also ...string) {
		for _, n := range append(also, name) {
			m[plainName(n)] = charset{name, table}
		}
	}
	add(nil, "UTF8", "UNICODE")
	add(nil, "SQL_ASCII")
	add(charmap.ISO8859_1, "LATIN1", "ISO88591")
	add(charmap.ISO8859_2, "LATIN2", "ISO88592")
	add(charmap.ISO8859_3, "LATIN3", "ISO88593")
	add(charmap.ISO8859_4, "LATIN4", "ISO88594")
	add(charmap.ISO8859_9, "LATIN5", "ISO88599")
	add(charmap.ISO8859_10, "LATIN6", "ISO885910")
	add(charmap.ISO8859_13, "LATIN7", "ISO885913")
	add(charmap.ISO8859_14, "LATIN8", "ISO885914")
	add(charmap.ISO8859_15, "LATIN9", "ISO885915")
	add(charmap.ISO8859_16, "LATIN10", "ISO885916")
	add(charmap.ISO8859_5, "ISO_8859_5")
	add(charmap.ISO8859_6, "ISO_8859_6")
	add(charmap.ISO8859_7, "ISO_8859_7")
	add(charmap.ISO8859_8, "ISO_8859_8")
	add(charmap.KOI8R, "KOI8R", "KOI8")
	add(charmap.KOI8U, "KOI8U")
	add(charmap.CodePage866, "WIN866", "ALT")
	add(charmap.Windows874, "WIN874")
	add(charmap.Windows1250, "WIN1250", "WINDOWS1250")
	add(charmap.Windows1251, "WIN1251", "WINDOWS1251", "WIN")
	add(charmap.Windows1252, "WIN1252", "WINDOWS1252")
	add(charmap.Windows1253, "WIN1253", "WINDOWS1253")
	add(charmap.Windows1254, "WIN1254", "WINDOWS1254")
	add(charmap.Windows1255, "WIN1255", "WINDOWS1255")
	add(charmap.Windows1256, "WIN1256", "WINDOWS1256")
	add(charmap.Windows1257, "WIN1257", "WINDOWS1257")
	add(charmap.Windows1258, "WIN1258", "WINDOWS1258", "TCVN", "ABC", "VSCII", "TCVN5712")
	return m
}()

func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		}
		return -1
	}, name)
}

func charsetOf(name, role string) (charset, error) {
	if c, ok := charsets[plainName(name)]; ok {
		return c, nil
	}
	return charset{}, pgerr.New(pgerr.InvalidParameterValue, "invalid %s encoding name \"%s\"", role, name)
}

// hexBytes prints bytes as errors of encodings do.
func hexBytes(b []byte) string {
	parts := make([]string, len(b))
	for i, c := range b {
		parts[i] = fmt.Sprintf("0x%02x", c)
	}
	return strings.Join(parts, " ")
}

func errNoEquivalent(b []byte, from, to charset) error {
	return pgerr.New(pgerr.UntranslatableCharacter, "character with byte sequence %s in encoding \"%s\" has no equivalent in encoding \"%s\"",
		hexBytes(b), from.name, to.name)
}

// checkUTF8 refuses what is not valid, and NUL.
func checkUTF8(s []byte) error {
	for len(s) > 0 {
		r, w := utf8.DecodeRune(s)
		if r == 0 || r == utf8.RuneError && w <= 1 {
			return pgerr.New(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", hexBytes(s[:brokenLength(s)]))
		}
		s = s[w:]
	}
	return nil
}

// brokenLength is how many bytes PostgreSQL shows of a broken character: what its first byte announces.
func brokenLength(s []byte) int {
	n := 1
	switch {
	case s[0]&0xE0 == 0xC0:
		n = 2
	case s[0]&0xF0 == 0xE0:
		n = 3
	case s[0]&0xF8 == 0xF0:
		n = 4
	}
	return min(n, len(s))
}

// recode appends s in another encoding.
func recode(out *vector.Vector, s []byte, from, to charset) error {
	if from.table == nil && from.name == "UTF8" {
		if err := checkUTF8(s); err != nil {
			return err
		}
	}
	switch {
	case from.name == to.name || from.name == "SQL_ASCII" || to.name == "SQL_ASCII":
		if to.name == "UTF8" {
			if err := checkUTF8(s); err != nil {
				return err
			}
		}
		out.Data = append(out.Data, s...)
		return nil
	case from.table != nil && to.table != nil:
		return pgerr.New(pgerr.UndefinedFunction, "default conversion function for encoding \"%s\" to \"%s\" does not exist", from.name, to.name)
	case from.table != nil:
		for i, c := range s {
			r := from.table.DecodeByte(c)
			if r == utf8.RuneError {
				return errNoEquivalent(s[i:i+1], from, to)
			}
			out.Data = utf8.AppendRune(out.Data, r)
		}
		return nil
	}
	for len(s) > 0 {
		r, w := utf8.DecodeRune(s)
		c, ok := to.table.EncodeRune(r)
		if !ok {
			return errNoEquivalent(s[:w], from, to)
		}
		out.Data = append(out.Data, c)
		s = s[w:]
	}
	return nil
}

// convert makes convert(bytes, from, to) and its kin; a place of 0 means UTF8.
func convert(from, to int) Kernel {
	return textRows(func(out *vector.Vector, args []*vector.Vector, i int) (err error) {
		src, dst := charsets["utf8"], charsets["utf8"]
		if from > 0 {
			if src, err = charsetOf(str(args[from], i), "source"); err != nil {
				return err
			}
		}
		if to > 0 {
			if dst, err = charsetOf(str(args[to], i), "destination"); err != nil {
				return err
			}
		}
		return recode(out, args[0].Bytes(i), src, dst)
	})
}

// encodedLength is the number of characters of bytes in an encoding.
func encodedLength(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		name := str(args[1], i)
		c, ok := charsets[plainName(name)]
		if !ok {
			return pgerr.New(pgerr.InvalidParameterValue, "invalid encoding name \"%s\"", name)
		}
		s := args[0].Bytes(i)
		if out.I32[i] = int32(len(s)); c.name == "UTF8" {
			if err := checkUTF8(s); err != nil {
				return err
			}
			out.I32[i] = runes(s)
		}
	}
	return nil
}

func init() {
	b, t, name := types.Bytea, types.Text, types.Name
	RegisterFunctions(
		fn("convert", b, convert(1, 2), b, name, name).fails().doc("Text in one encoding turned into another."),
		fn("convert_from", t, convert(1, 0), b, name).fails().stable().doc("Text of bytes in an encoding."),
		fn("convert_to", b, convert(0, 1), t, name).fails().stable().doc("Bytes of a text in an encoding."),
		fn("length", types.Int4, encodedLength, b, name).fails().stable().doc("Number of characters in an encoding."),
	)
}
