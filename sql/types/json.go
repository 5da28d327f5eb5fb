package types

import (
	"unicode/utf8"

	"tsdb/sql/pgerr"
)

// jsonMaxDepth bounds nesting, so that the recursion's stack stays small.
const jsonMaxDepth = 6_000

// jsonReader walks a JSON text. With a builder's methods (jsonb.go) it also
// makes jsonb's canonical text.
type jsonReader struct {
	text       []byte
	start, end int // the current token
	depth      int
	unescape   bool   // check and decode escapes: jsonb
	str        []byte // the decoded string token, if unescape
}

// ValidateJSON returns an error if s is not a JSON text.
//
// Errors: 22P02 with PostgreSQL's detail and context.
func ValidateJSON(s []byte) error {
	r := jsonReader{text: s}
	if err := r.next(); err != nil {
		return err
	}
	if err := r.skipValue(); err != nil {
		return err
	}
	return r.expectEnd()
}

func (r *jsonReader) expectEnd() error {
	if r.start < len(r.text) {
		return r.unexpected("end of input")
	}
	return nil
}

func (r *jsonReader) error(format string, args ...any) error {
	e := pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type json").WithDetail(format, args...)
	e.Where = r.where()
	return e
}

// unexpected reports the current token where something else was expected.
func (r *jsonReader) unexpected(what string) error {
	if r.start >= len(r.text) {
		return r.error("The input string ended unexpectedly.")
	}
	return r.error("Expected %s, but found \"%s\".", what, r.text[r.start:r.end])
}

// where shows the line of the error up to the current token.
func (r *jsonReader) where() string {
	line, from := 1, 0
	end := min(r.end, len(r.text))
	for i := 0; i < min(r.start, end); i++ {
		if r.text[i] == '\n' {
			line++
			from = i + 1
		}
	}
	const shown = 50
	prefix, suffix := "", ""
	for end-from >= shown && from < end {
		_, w := utf8.DecodeRune(r.text[from:])
		from += w
		prefix = "..."
	}
	if from <= 3 && prefix != "" && line == 1 {
		from, prefix = 0, ""
	}
	if end < len(r.text) && r.text[end] != '\n' && r.text[end] != '\r' {
		suffix = "..."
	}
	return "JSON data, line " + string(appendInt(nil, line%10000)) + ": " + prefix + string(r.text[from:end]) + suffix
}

// kind returns the first byte of the current token, 0 at the end.
func (r *jsonReader) kind() byte {
	if r.start >= len(r.text) {
		return 0
	}
	return r.text[r.start]
}

// next moves to the next token.
func (r *jsonReader) next() error {
	i := r.end
	for i < len(r.text) && (r.text[i] == ' ' || r.text[i] == '\t' || r.text[i] == '\n' || r.text[i] == '\r') {
		i++
	}
	r.start, r.end = i, i
	if i == len(r.text) {
		return nil
	}
	switch c := r.text[i]; {
	case c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':':
		r.end++
		return nil
	case c == '"':
		return r.stringToken()
	case c == '-' || isDigit(c):
		return r.numberToken()
	}
	for r.end < len(r.text) && jsonWordByte(r.text[r.end]) {
		r.end++
	}
	switch string(r.text[r.start:r.end]) {
	case "true", "false", "null":
		return nil
	}
	if r.end == r.start {
		r.end++
	}
	return r.invalidToken()
}

func (r *jsonReader) invalidToken() error {
	return r.error("Token \"%s\" is invalid.", r.text[r.start:r.end])
}

func jsonWordByte(c byte) bool { return isDigit(c) || isAlpha(c) || c == '_' || c >= 0x80 }

func (r *jsonReader) numberToken() error {
	t, i := r.text, r.start
	digits := func() bool {
		from := i
		for i < len(t) && isDigit(t[i]) {
			i++
		}
		return i > from
	}
	if t[i] == '-' {
		i++
	}
	ok := true
	if i < len(t) && t[i] == '0' {
		i++
	} else {
		ok = digits()
	}
	if i < len(t) && t[i] == '.' {
		i++
		ok = digits() && ok
	}
	if i < len(t) && t[i]|0x20 == 'e' {
		i++
		if i < len(t) && (t[i] == '+' || t[i] == '-') {
			i++
		}
		ok = digits() && ok
	}
	for i < len(t) && jsonWordByte(t[i]) {
		ok = false
		i++
	}
	r.end = i
	if !ok {
		return r.invalidToken()
	}
	return nil
}

func (r *jsonReader) stringToken() error {
	r.str = r.str[:0]
	t := r.text
	high := rune(0)
	for i := r.start + 1; ; i++ {
		if i >= len(t) {
			r.end = len(t)
			return r.invalidToken()
		}
		c := t[i]
		if high != 0 && c != '\\' {
			r.end = i
			return r.error("Unicode low surrogate must follow a high surrogate.")
		}
		switch {
		case c == '"':
			r.end = i + 1
			return nil
		case c < ' ':
			r.end = i
			return r.error("Character with value 0x%02x must be escaped.", c)
		case c != '\\':
			if r.unescape {
				r.str = append(r.str, c)
			}
			continue
		}
		i++
		if i >= len(t) {
			r.end = len(t)
			return r.invalidToken()
		}
		if t[i] == 'u' {
			var err error
			if high, err = r.unicodeEscape(i, high); err != nil {
				return err
			}
			i += 4
			continue
		}
		if err := r.simpleEscape(i, high); err != nil {
			return err
		}
	}
}

func (r *jsonReader) simpleEscape(i int, high rune) error {
	c := r.text[i]
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	at := indexByte([]byte(from), c)
	if high != 0 {
		r.end = i
		return r.error("Unicode low surrogate must follow a high surrogate.")
	}
	if at < 0 {
		_, w := utf8.DecodeRune(r.text[i:])
		r.end = i + w
		return r.error("Escape sequence \"\\%s\" is invalid.", r.text[i:i+w])
	}
	if r.unescape {
		r.str = append(r.str, to[at])
	}
	return nil
}

// unicodeEscape reads the four digits after the u at i. It returns a high
// surrogate that waits for its other half.
func (r *jsonReader) unicodeEscape(i int, high rune) (rune, error) {
	var v rune
	for k := 1; k <= 4; k++ {
		if i+k >= len(r.text) {
			r.end = len(r.text)
			return 0, r.invalidToken()
		}
		d, ok := unhex(r.text[i+k])
		if !ok {
			_, w := utf8.DecodeRune(r.text[i+k:])
			r.end = i + k + w
			return 0, r.error("\"\\u\" must be followed by four hexadecimal digits.")
		}
		v = v<<4 | rune(d)
	}
	if !r.unescape {
		return 0, nil
	}
	r.end = i + 5
	isHigh, isLow := v >= 0xd800 && v < 0xdc00, v >= 0xdc00 && v < 0xe000
	switch {
	case isHigh && high != 0:
		return 0, r.error("Unicode high surrogate must not follow a high surrogate.")
	case isHigh:
		return v, nil
	case isLow != (high != 0):
		return 0, r.error("Unicode low surrogate must follow a high surrogate.")
	case isLow:
		v = (high-0xd800)<<10 + v - 0xdc00 + 0x10000
	case v == 0:
		e := pgerr.New(untranslatable, "unsupported Unicode escape sequence").
			WithDetail("\\u0000 cannot be converted to text.")
		e.Where = r.where()
		return 0, e
	}
	r.str = utf8.AppendRune(r.str, v)
	return 0, nil
}

// skipValue checks the value that starts at the current token and moves
// behind it.
func (r *jsonReader) skipValue() error {
	switch r.kind() {
	case '{':
		return r.skipObject()
	case '[':
		return r.skipArray()
	case 0, '}', ']', ',', ':':
		return r.unexpected("JSON value")
	}
	return r.next()
}

func (r *jsonReader) enter() error {
	if r.depth++; r.depth > jsonMaxDepth {
		return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded")
	}
	return r.next()
}

func (r *jsonReader) skipArray() error {
	if err := r.enter(); err != nil {
		return err
	}
	if r.kind() != ']' {
		for {
			if err := r.skipValue(); err != nil {
				return err
			}
			if r.kind() != ',' {
				break
			}
			if err := r.next(); err != nil {
				return err
			}
		}
	}
	if r.kind() != ']' {
		return r.unexpected(`"," or "]"`)
	}
	r.depth--
	return r.next()
}

func (r *jsonReader) skipObject() error {
	if err := r.enter(); err != nil {
		return err
	}
	if r.kind() != '}' {
		for first := true; ; first = false {
			if err := r.key(first); err != nil {
				return err
			}
			if err := r.skipValue(); err != nil {
				return err
			}
			if r.kind() != ',' {
				break
			}
			if err := r.next(); err != nil {
				return err
			}
		}
	}
	if r.kind() != '}' {
		return r.unexpected(`"," or "}"`)
	}
	r.depth--
	return r.next()
}

// key reads a key and its colon. The decoded key stays in r.str only until the
// next string token.
func (r *jsonReader) key(first bool) error {
	if r.kind() != '"' {
		if first {
			return r.unexpected(`string or "}"`)
		}
		return r.unexpected("string")
	}
	if err := r.next(); err != nil {
		return err
	}
	if r.kind() != ':' {
		return r.unexpected(`":"`)
	}
	return r.next()
}
