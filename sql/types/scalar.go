package types

import (
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"tsdb/sql/pgerr"
)

// view reads b as a string without copying; the result must not outlive b.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func isSpace(c byte) bool { return c == ' ' || (c >= '\t' && c <= '\r') }

func isDigit(c byte) bool { return c-'0' < 10 }

func isAlpha(c byte) bool { return (c|0x20)-'a' < 26 }

func trimSpace(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func lowerByte(c byte) byte {
	if c-'A' < 26 {
		return c + 0x20
	}
	return c
}

// foldEqual reports whether s equals the lower-case word, ignoring ASCII case.
func foldEqual(s []byte, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i := range s {
		if lowerByte(s[i]) != word[i] {
			return false
		}
	}
	return true
}

func syntaxError(typ string, s []byte) error {
	return pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type %s: \"%s\"", typ, s)
}

func rangeError(typ string, s []byte) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "value \"%s\" is out of range for type %s", s, typ)
}

func errBadBinary() error {
	return pgerr.New(pgerr.InvalidBinaryRepresentation, "incorrect binary data format")
}

// ParseBool reads a boolean as PostgreSQL does: any unambiguous prefix of
// true, false, yes, no, on, off, and 1, 0.
func ParseBool(s []byte) (bool, error) {
	t := trimSpace(s)
	if len(t) > 0 && len(t) <= 5 {
		for _, w := range [...]struct {
			word string
			min  int
			val  bool
		}{{"true", 1, true}, {"false", 1, false}, {"yes", 1, true}, {"no", 1, false},
			{"on", 2, true}, {"off", 2, false}, {"1", 1, true}, {"0", 1, false}} {
			if len(t) >= w.min && len(t) <= len(w.word) && foldEqual(t, w.word[:len(t)]) {
				return w.val, nil
			}
		}
	}
	return false, syntaxError("boolean", s)
}

// ParseInt reads a decimal integer of the given width (16, 32 or 64 bits); it
// allocates only to report an error.
func ParseInt(s []byte, bits int) (int64, error) {
	t := s
	if len(t) == 0 || isSpace(t[0]) || isSpace(t[len(t)-1]) {
		t = trimSpace(s)
	}
	neg := false
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		neg = t[0] == '-'
		t = t[1:]
	}
	if len(t) == 0 {
		return 0, syntaxError(intName(bits), s)
	}
	var n uint64
	over := false
	for _, c := range t {
		d := uint64(c - '0')
		if d > 9 {
			return 0, syntaxError(intName(bits), s)
		}
		if n > (math.MaxUint64-9)/10 {
			over = true
		}
		n = n*10 + d
	}
	limit := uint64(1)<<(bits-1) - 1
	if neg {
		limit++
	}
	if over || n > limit {
		return 0, rangeError(intName(bits), s)
	}
	if neg {
		return -int64(n), nil
	}
	return int64(n), nil
}

func intName(bits int) string {
	switch bits {
	case 16:
		return "smallint"
	case 32:
		return "integer"
	}
	return "bigint"
}

// ParseOid reads an oid; a negative number wraps as in PostgreSQL.
func ParseOid(s []byte, typ string) (uint32, error) {
	t := trimSpace(s)
	digits := t
	neg := false
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		neg, digits = t[0] == '-', t[1:]
	}
	if len(digits) == 0 {
		return 0, syntaxError(typ, s)
	}
	var n uint64
	for _, c := range digits {
		if !isDigit(c) {
			return 0, syntaxError(typ, s)
		}
		if n = n*10 + uint64(c-'0'); n > 1<<40 {
			n = 1 << 40
		}
	}
	if n > math.MaxUint32 || (neg && n > 1<<31) {
		return 0, rangeError(typ, s)
	}
	if neg {
		return uint32(-int64(n)), nil
	}
	return uint32(n), nil
}

// parseReg reads a reg* value given as a number, "-" being 0, or as a name where
// c knows names; those of types are known without.
func parseReg(t Type, s []byte, c *Context) (uint32, error) {
	if len(s) == 1 && s[0] == '-' {
		return 0, nil
	}
	if len(s) > 0 && isDigit(s[0]) {
		return ParseOid(s, "oid")
	}
	if c != nil && c.Names != nil {
		return c.Names.ObjectID(t.OID, string(s))
	}
	switch t.OID {
	case Regtype:
		if in, ok := ByName(string(s)); ok {
			return in.OID, nil
		}
		return 0, pgerr.New(pgerr.UndefinedObject, "type \"%s\" does not exist", s)
	case Regclass:
		return 0, pgerr.New(pgerr.UndefinedTable, "relation \"%s\" does not exist", s)
	case Regnamespace:
		return 0, pgerr.New(pgerr.InvalidSchemaName, "schema \"%s\" does not exist", s)
	case Regrole:
		return 0, pgerr.New(pgerr.UndefinedObject, "role \"%s\" does not exist", s)
	}
	return 0, pgerr.New(pgerr.UndefinedFunction, "function \"%s\" does not exist", s)
}

// CheckUTF8 returns 22021 if s is not valid UTF-8 or holds a zero byte.
func CheckUTF8(s []byte) error {
	if utf8.Valid(s) {
		for _, c := range s {
			if c == 0 {
				return pgerr.New(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00")
			}
		}
		return nil
	}
	i := 0
	for i < len(s) {
		r, n := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	bad := s[i:]
	if n := utf8Width(bad[0]); len(bad) > n {
		bad = bad[:n]
	}
	msg := "invalid byte sequence for encoding \"UTF8\":"
	for _, c := range bad {
		msg += " 0x" + hex.EncodeToString([]byte{c})
	}
	return pgerr.New(pgerr.CharacterNotInRepertoire, "%s", msg)
}

// utf8Width is the length that a lead byte announces.
func utf8Width(c byte) int {
	switch {
	case c&0xe0 == 0xc0:
		return 2
	case c&0xf0 == 0xe0:
		return 3
	case c&0xf8 == 0xf0:
		return 4
	}
	return 1
}

// cutRunes returns the bytes of the first n characters of s.
func cutRunes(s []byte, n int) []byte {
	if len(s) <= n {
		return s
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRune(s[i:])
		i += w
	}
	return s[:i]
}

// FitText applies the length modifier of varchar(n) and bpchar(n) to s, which
// it may return as it is or cut. truncate cuts silently, as an explicit cast
// does; otherwise only spaces may be lost. bpchar needs PadLen besides.
//
// Errors: 22001.
func FitText(t Type, s []byte, truncate bool) ([]byte, error) {
	if t.Mod < 4 || (t.OID != Varchar && t.OID != BPChar) {
		return s, nil
	}
	n := int(t.Mod) - 4
	cut := cutRunes(s, n)
	if !truncate {
		for _, c := range s[len(cut):] {
			if c != ' ' {
				name := "character varying"
				if t.OID == BPChar {
					name = "character"
				}
				return nil, pgerr.New(pgerr.StringDataRightTruncation, "value too long for type %s(%d)", name, n)
			}
		}
	}
	return cut, nil
}

// PadLen returns how many spaces bpchar(n) appends to s.
func PadLen(t Type, s []byte) int {
	if t.OID != BPChar || t.Mod < 4 {
		return 0
	}
	return max(0, int(t.Mod)-4-utf8.RuneCount(s))
}

// trimPad removes the trailing spaces that bpchar ignores.
func trimPad(s []byte) []byte {
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// nameLen is the longest name in bytes.
const nameLen = 63

// cutName returns s cut to a name's length at a character boundary.
func cutName(s []byte) []byte {
	if len(s) <= nameLen {
		return s
	}
	n := nameLen
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

const hexDigits = "0123456789abcdef"

func unhex(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case (c|0x20)-'a' < 6:
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// parseBytea appends the bytes that s spells in hex or escape form.
func parseBytea(dst, s []byte) ([]byte, error) {
	if len(s) >= 2 && s[0] == '\\' && s[1] == 'x' {
		return parseByteaHex(dst, s[2:])
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' {
			dst = append(dst, c)
			continue
		}
		switch {
		case i+3 < len(s) && s[i+1]-'0' < 4 && s[i+2]-'0' < 8 && s[i+3]-'0' < 8:
			dst = append(dst, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
		case i+1 < len(s) && s[i+1] == '\\':
			dst = append(dst, '\\')
			i++
		default:
			return nil, pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return dst, nil
}

func parseByteaHex(dst, s []byte) ([]byte, error) {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			continue
		}
		hi, ok := unhex(s[i])
		if !ok {
			return nil, badHex(s[i:])
		}
		i++
		if i >= len(s) {
			return nil, pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		lo, ok := unhex(s[i])
		if !ok {
			return nil, badHex(s[i:])
		}
		dst = append(dst, hi<<4|lo)
	}
	return dst, nil
}

func badHex(s []byte) error {
	return pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", s[:min(len(s), utf8Width(s[0]))])
}

func appendBytea(dst, b []byte, escape bool) []byte {
	if !escape {
		dst = append(dst, '\\', 'x')
		return hex.AppendEncode(dst, b)
	}
	for _, c := range b {
		switch {
		case c == '\\':
			dst = append(dst, '\\', '\\')
		case c < 0x20 || c > 0x7e:
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func parseUUID(s []byte) (u [16]byte, err error) {
	t := s
	if len(t) > 1 && t[0] == '{' && t[len(t)-1] == '}' {
		t = t[1 : len(t)-1]
	}
	p := 0
	for i := range u {
		if p+2 > len(t) {
			return u, syntaxError("uuid", s)
		}
		hi, ok1 := unhex(t[p])
		lo, ok2 := unhex(t[p+1])
		if !ok1 || !ok2 {
			return u, syntaxError("uuid", s)
		}
		u[i] = hi<<4 | lo
		p += 2
		if i%2 == 1 && i < 15 && p < len(t) && t[p] == '-' {
			p++
		}
	}
	if p != len(t) {
		return u, syntaxError("uuid", s)
	}
	return u, nil
}

func appendUUID(dst []byte, u [16]byte) []byte {
	for i, c := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

// appendPad appends n in at least width decimal digits; n >= 0.
func appendPad(dst []byte, n, width int) []byte {
	if width == 2 && n < 100 {
		return append(dst, byte('0'+n/10), byte('0'+n%10))
	}
	if width == 4 && n < 10000 {
		return append(dst, byte('0'+n/1000), byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
	}
	for limit := pow10int(width - 1); limit > 1 && n < limit; limit /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

func pow10int(n int) int {
	p := 1
	for ; n > 0; n-- {
		p *= 10
	}
	return p
}
