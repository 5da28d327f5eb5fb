package functions

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"strconv"
	"unicode"
	"unicode/utf8"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// text1 makes a kernel that appends the result for one string.
func text1(f func(dst, s []byte) []byte) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			if live(out, i) {
				out.Data = f(out.Data, args[0].Bytes(i))
			}
			endRow(out)
		}
		return nil
	}
}

// textRows makes a kernel from a function of a row, which appends to out.Data.
func textRows(f func(out *vector.Vector, args []*vector.Vector, i int) error) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			if live(out, i) {
				if err := f(out, args, i); err != nil {
					return err
				}
			}
			endRow(out)
		}
		return nil
	}
}

// intOfText makes a kernel of a function from a string to int4.
func intOfText(f func(s []byte) int32) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := range out.I32[:n] {
			if live(out, i) {
				out.I32[i] = f(args[0].Bytes(i))
			}
		}
		return nil
	}
}

// int4 returns row i of an int4 argument.
func int4(v *vector.Vector, i int) int { return int(v.I32[i&v.Mask()]) }

func concatBytes(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	a, b := args[0], args[1]
	for i := 0; i < n; i++ {
		if live(out, i) {
			out.Data = append(out.Data, a.Bytes(i)...)
			out.Data = append(out.Data, b.Bytes(i)...)
		}
		endRow(out)
	}
	return nil
}

func runes(s []byte) int32 { return int32(utf8.RuneCount(s)) }

// runeOffset returns the byte offset of character k of s, len(s) beyond the end.
func runeOffset(s []byte, k int) int {
	off := 0
	for ; k > 0 && off < len(s); k-- {
		if s[off] < utf8.RuneSelf {
			off++
			continue
		}
		_, w := utf8.DecodeRune(s[off:])
		off += w
	}
	return off
}

func mapCase(ascii func(byte) byte, wide func(rune) rune) func(dst, s []byte) []byte {
	return func(dst, s []byte) []byte {
		for i := 0; i < len(s); {
			if s[i] < utf8.RuneSelf {
				dst = append(dst, ascii(s[i]))
				i++
				continue
			}
			r, w := utf8.DecodeRune(s[i:])
			dst = utf8.AppendRune(dst, wide(r))
			i += w
		}
		return dst
	}
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func upperASCII(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

func initcap(dst, s []byte) []byte {
	inWord := false
	for len(s) > 0 {
		r, w := utf8.DecodeRune(s)
		if inWord {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		} else {
			dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		}
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
		s = s[w:]
	}
	return dst
}

func reverse(dst, s []byte) []byte {
	for len(s) > 0 {
		_, w := utf8.DecodeLastRune(s)
		dst = append(dst, s[len(s)-w:]...)
		s = s[:len(s)-w]
	}
	return dst
}

// substring cuts characters from..from+count-1, positions counting from 1; a
// negative position takes part of the count away.
func substring(out *vector.Vector, s []byte, from, count int64, counted bool) error {
	end := int64(len(s)) + 1
	if counted {
		if count < 0 {
			return pgerr.New("22011", "negative substring length not allowed")
		}
		end = from + count
	}
	from = max(from, 1)
	if from >= end {
		return nil
	}
	lo := runeOffset(s, int(min(from-1, int64(len(s)))))
	hi := lo + runeOffset(s[lo:], int(min(end-from, int64(len(s)))))
	out.Data = append(out.Data, s[lo:hi]...)
	return nil
}

func substringBytes(out *vector.Vector, s []byte, from, count int64, counted bool) error {
	end := int64(len(s)) + 1
	if counted {
		if count < 0 {
			return pgerr.New("22011", "negative substring length not allowed")
		}
		end = min(end, from+count)
	}
	if from = max(from, 1); from < end {
		out.Data = append(out.Data, s[from-1:end-1]...)
	}
	return nil
}

type cutter func(out *vector.Vector, s []byte, from, count int64, counted bool) error

func cutFrom(cut cutter) Kernel {
	return textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
		return cut(out, args[0].Bytes(i), int64(int4(args[1], i)), 0, false)
	})
}

func cutFromFor(cut cutter) Kernel {
	return textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
		return cut(out, args[0].Bytes(i), int64(int4(args[1], i)), int64(int4(args[2], i)), true)
	})
}

func left(out *vector.Vector, args []*vector.Vector, i int) error {
	s, k := args[0].Bytes(i), int4(args[1], i)
	if k < 0 {
		k = max(0, utf8.RuneCount(s)+k)
	}
	out.Data = append(out.Data, s[:runeOffset(s, k)]...)
	return nil
}

func right(out *vector.Vector, args []*vector.Vector, i int) error {
	s, k := args[0].Bytes(i), int4(args[1], i)
	skip := -k
	if k >= 0 {
		skip = max(0, utf8.RuneCount(s)-k)
	}
	out.Data = append(out.Data, s[runeOffset(s, skip):]...)
	return nil
}

// trim removes characters of a set from the ends of s.
func trim(s, set []byte, start, end bool) []byte {
	if len(set) == 1 && set[0] < utf8.RuneSelf {
		for start && len(s) > 0 && s[0] == set[0] {
			s = s[1:]
		}
		for end && len(s) > 0 && s[len(s)-1] == set[0] {
			s = s[:len(s)-1]
		}
		return s
	}
	for start && len(s) > 0 {
		_, w := utf8.DecodeRune(s)
		if !containsRune(set, s[:w]) {
			break
		}
		s = s[w:]
	}
	for end && len(s) > 0 {
		_, w := utf8.DecodeLastRune(s)
		if !containsRune(set, s[len(s)-w:]) {
			break
		}
		s = s[:len(s)-w]
	}
	return s
}

func containsRune(set, r []byte) bool { return len(r) > 0 && bytes.Contains(set, r) }

func trims(name, doc string, start, end bool) {
	RegisterFunctions(
		fn(name, types.Text, text1(func(dst, s []byte) []byte { return append(dst, trim(s, []byte(" "), start, end)...) }), types.Text).doc(doc),
		fn(name, types.Text, textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
			out.Data = append(out.Data, trim(args[0].Bytes(i), args[1].Bytes(i), start, end)...)
			return nil
		}), types.Text, types.Text).doc(doc),
	)
}

// position returns the character at which sub starts in s, from 1; 0 if it does not occur.
func position(s, sub []byte) int32 {
	k := bytes.Index(s, sub)
	if k < 0 {
		return 0
	}
	return int32(utf8.RuneCount(s[:k])) + 1
}

func positions(byteCount bool) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := range out.I32[:n] {
			if !live(out, i) {
				continue
			}
			if byteCount {
				out.I32[i] = int32(bytes.Index(args[0].Bytes(i), args[1].Bytes(i))) + 1
			} else {
				out.I32[i] = position(args[0].Bytes(i), args[1].Bytes(i))
			}
		}
		return nil
	}
}

func startsWith(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := 0; i < n; i++ {
		out.Bits.Put(i, bytes.HasPrefix(args[0].Bytes(i), args[1].Bytes(i)))
	}
	return nil
}

func ascii(s []byte) int32 {
	if len(s) == 0 {
		return 0
	}
	r, _ := utf8.DecodeRune(s)
	return int32(r)
}

func chr(out *vector.Vector, args []*vector.Vector, i int) error {
	k := int4(args[0], i)
	switch {
	case k < 0:
		return pgerr.New(pgerr.InvalidParameterValue, "character number must be positive")
	case k == 0:
		return pgerr.New(pgerr.ProgramLimitExceeded, "null character not permitted")
	case k >= 0xD800 && k < 0xE000:
		return pgerr.New(pgerr.ProgramLimitExceeded, "requested character not valid for encoding: %d", k)
	case k > utf8.MaxRune:
		return pgerr.New(pgerr.ProgramLimitExceeded, "requested character too large for encoding: %d", k)
	}
	out.Data = utf8.AppendRune(out.Data, rune(k))
	return nil
}

func md5Hex(dst, s []byte) []byte {
	sum := md5.Sum(s)
	return hex.AppendEncode(dst, sum[:])
}

func hexOf[T integer](get access[T], mask uint64) Kernel {
	return textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
		out.Data = strconv.AppendUint(out.Data, uint64(int64(get(args[0])[i&args[0].Mask()]))&mask, 16)
		return nil
	})
}

func init() {
	t := types.Text
	RegisterFunctions(
		op("||", t, concatBytes, t, t),
		op("||", types.Bytea, concatBytes, types.Bytea, types.Bytea),
		fn("textcat", t, concatBytes, t, t).doc("Concatenation of two strings."),
		fn("length", types.Int4, intOfText(runes), t).doc("Number of characters."),
		fn("length", types.Int4, intOfText(func(s []byte) int32 { return runes(trimBlanks(s)) }), types.BPChar).doc("Number of characters, trailing blanks not counted."),
		fn("length", types.Int4, intOfText(func(s []byte) int32 { return int32(len(s)) }), types.Bytea).doc("Number of bytes."),
		fn("char_length", types.Int4, intOfText(runes), t).doc("Number of characters."),
		fn("char_length", types.Int4, intOfText(func(s []byte) int32 { return runes(trimBlanks(s)) }), types.BPChar).doc("Number of characters, trailing blanks not counted."),
		fn("character_length", types.Int4, intOfText(runes), t).doc("Number of characters."),
		fn("octet_length", types.Int4, intOfText(func(s []byte) int32 { return int32(len(s)) }), t).doc("Number of bytes."),
		fn("octet_length", types.Int4, intOfText(func(s []byte) int32 { return int32(len(s)) }), types.BPChar).doc("Number of bytes, blanks included."),
		fn("octet_length", types.Int4, intOfText(func(s []byte) int32 { return int32(len(s)) }), types.Bytea).doc("Number of bytes."),
		fn("bit_length", types.Int4, intOfText(func(s []byte) int32 { return 8 * int32(len(s)) }), t).doc("Number of bits."),
		fn("bit_length", types.Int4, intOfText(func(s []byte) int32 { return 8 * int32(len(s)) }), types.Bytea).doc("Number of bits."),
		fn("lower", t, text1(mapCase(lowerASCII, unicode.ToLower)), t).doc("In lower case."),
		fn("upper", t, text1(mapCase(upperASCII, unicode.ToUpper)), t).doc("In upper case."),
		fn("initcap", t, text1(initcap), t).doc("First letter of each word in upper case, the others in lower case."),
		fn("reverse", t, text1(reverse), t).doc("Characters in reverse order."),
		fn("substring", t, cutFrom(substring), t, types.Int4).doc("From a character position on."),
		fn("substring", t, cutFromFor(substring), t, types.Int4, types.Int4).fails().doc("A number of characters from a position on."),
		fn("substr", t, cutFrom(substring), t, types.Int4).doc("From a character position on."),
		fn("substr", t, cutFromFor(substring), t, types.Int4, types.Int4).fails().doc("A number of characters from a position on."),
		fn("substring", types.Bytea, cutFrom(substringBytes), types.Bytea, types.Int4).doc("From a byte position on."),
		fn("substring", types.Bytea, cutFromFor(substringBytes), types.Bytea, types.Int4, types.Int4).fails().doc("A number of bytes from a position on."),
		fn("substr", types.Bytea, cutFrom(substringBytes), types.Bytea, types.Int4).doc("From a byte position on."),
		fn("substr", types.Bytea, cutFromFor(substringBytes), types.Bytea, types.Int4, types.Int4).fails().doc("A number of bytes from a position on."),
		fn("left", t, textRows(left), t, types.Int4).doc("The first characters; a negative number leaves that many out at the end."),
		fn("right", t, textRows(right), t, types.Int4).doc("The last characters; a negative number leaves that many out at the start."),
		fn("position", types.Int4, positions(false), t, t).doc("Where the second string starts in the first, from 1; 0 if it does not occur."),
		fn("strpos", types.Int4, positions(false), t, t).doc("Where the second string starts in the first, from 1; 0 if it does not occur."),
		fn("position", types.Int4, positions(true), types.Bytea, types.Bytea).doc("Where the second byte string starts in the first, from 1."),
		fn("starts_with", types.Bool, startsWith, t, t).doc("Whether the first string starts with the second."),
		op("^@", types.Bool, startsWith, t, t),
		fn("ascii", types.Int4, intOfText(ascii), t).doc("Code of the first character."),
		fn("chr", t, textRows(chr), types.Int4).fails().doc("Character of a code."),
		fn("md5", t, text1(md5Hex), t).doc("MD5 hash, in hexadecimal."),
		fn("md5", t, text1(md5Hex), types.Bytea).doc("MD5 hash, in hexadecimal."),
		fn("to_hex", t, hexOf(i32s, 0xFFFFFFFF), types.Int4).doc("Hexadecimal digits."),
		fn("to_hex", t, hexOf(i64s, 0xFFFFFFFFFFFFFFFF), types.Int8).doc("Hexadecimal digits."),
	)
	trims("btrim", "Without blanks, or characters of a set, at both ends.", true, true)
	trims("ltrim", "Without blanks, or characters of a set, at the start.", true, false)
	trims("rtrim", "Without blanks, or characters of a set, at the end.", false, true)
}
