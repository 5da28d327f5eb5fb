package sql

import "strings"

// tokenKind classes the tokens of PostgreSQL's scanner.
type tokenKind uint8

const (
	tokEOF      tokenKind = iota
	tokWord               // unquoted identifier or keyword
	tokQuoted             // "identifier", also U&"..."
	tokString             // '...'
	tokEscape             // E'...'
	tokUnicode            // U&'...'
	tokDollar             // $tag$...$tag$
	tokBits               // B'...' or X'...'
	tokInt                // digits only
	tokNumeric            // with a point or an exponent
	tokRadix              // 0x, 0o, 0b or digits with underscores
	tokParam              // $1
	tokOperator           // operator characters, one or more
	tokCast               // ::
	tokAssign             // :=
	tokDots               // ..
	tokPunct              // one of , ( ) [ ] . ; :
	tokBad                // unterminated or malformed; the grammar reports it
)

// token is one token; its text is src[start:end].
type token struct {
	start, end int
	kind       tokenKind
	char       byte // tokPunct and one-character operators: the character
	word       keyword
	joined     bool // a string constant in several pieces over line ends
}

// lexer reads SQL text token by token, as PostgreSQL's scan.l does with
// standard_conforming_strings on. It allocates nothing.
type lexer struct {
	src string
	pos int
}

// Character classes.
const (
	clsSpace = 1 << iota
	clsIdentStart
	clsIdent
	clsDigit
	clsOp
	clsSelf
	clsTag // may continue a dollar quote's tag
)

var class = func() (t [256]uint8) {
	for _, c := range " \t\n\r\f\v" {
		t[c] |= clsSpace
	}
	for c := 0; c < 256; c++ {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
		digit := c >= '0' && c <= '9'
		if letter {
			t[c] |= clsIdentStart | clsIdent | clsTag
		}
		if digit {
			t[c] |= clsDigit | clsIdent | clsTag
		}
	}
	t['$'] |= clsIdent
	for _, c := range "~!@#^&|`?+-*/%<>=" {
		t[c] |= clsOp
	}
	for _, c := range ",()[].;:" {
		t[c] |= clsSelf
	}
	return t
}()

// next returns the next token; tokEOF at the end.
func (l *lexer) next() token {
	l.skipSpace()
	s, i := l.src, l.pos
	if i >= len(s) {
		return token{start: len(s), end: len(s)}
	}
	c := s[i]
	t := token{start: i}
	switch cl := class[c]; {
	case cl&clsIdentStart != 0:
		l.word(&t)
	case cl&clsDigit != 0:
		l.number(&t)
	case cl&clsOp != 0:
		l.operator(&t)
	case c == '.':
		l.dot(&t)
	case cl&clsSelf != 0:
		t.kind, t.char, t.end = tokPunct, c, i+1
		if c == ':' && i+1 < len(s) {
			if s[i+1] == ':' {
				t.kind, t.end = tokCast, i+2
			} else if s[i+1] == '=' {
				t.kind, t.end = tokAssign, i+2
			}
		}
	case c == '\'':
		l.quoted(&t, i+1, tokString)
	case c == '"':
		l.quotedName(&t, i+1)
	case c == '$':
		l.dollar(&t)
	default:
		t.kind, t.char, t.end = tokBad, c, i+1
	}
	l.pos = t.end
	return t
}

// skipSpace moves past white space and comments. An unterminated comment runs
// to the end of the text.
func (l *lexer) skipSpace() {
	s, i := l.src, l.pos
	for i < len(s) {
		c := s[i]
		if class[c]&clsSpace != 0 {
			i++
			continue
		}
		if c == '-' && i+1 < len(s) && s[i+1] == '-' {
			i = lineEnd(s, i+2)
			continue
		}
		if c == '/' && i+1 < len(s) && s[i+1] == '*' {
			i = commentEnd(s, i+2)
			continue
		}
		break
	}
	l.pos = i
}

// lineEnd returns the position of the line end at or after i.
func lineEnd(s string, i int) int {
	for i < len(s) && s[i] != '\n' && s[i] != '\r' {
		i++
	}
	return i
}

// commentEnd returns the position after the comment whose text starts at i;
// comments nest.
func commentEnd(s string, i int) int {
	depth := 1
	for i < len(s) {
		switch s[i] {
		case '*':
			if i+1 < len(s) && s[i+1] == '/' {
				i += 2
				if depth--; depth == 0 {
					return i
				}
				continue
			}
		case '/':
			if i+1 < len(s) && s[i+1] == '*' {
				depth++
				i += 2
				continue
			}
		}
		i++
	}
	return len(s)
}

func (l *lexer) word(t *token) {
	s, i := l.src, t.start
	if i+1 < len(s) {
		switch s[i+1] {
		case '\'':
			switch s[i] | 0x20 {
			case 'e':
				l.quoted(t, i+2, tokEscape)
				return
			case 'b', 'x':
				l.quoted(t, i+2, tokBits)
				return
			}
		case '&':
			if s[i]|0x20 == 'u' && i+2 < len(s) {
				if s[i+2] == '\'' {
					l.quoted(t, i+3, tokUnicode)
					return
				}
				if s[i+2] == '"' {
					l.quotedName(t, i+3)
					return
				}
			}
		}
	}
	j := i + 1
	for j < len(s) && class[s[j]]&clsIdent != 0 {
		j++
	}
	t.kind, t.end = tokWord, j
	t.word = lookupKeyword(s[i:j])
}

// quoted reads a string constant whose content starts at i, with the pieces
// that continue it on later lines.
func (l *lexer) quoted(t *token, i int, kind tokenKind) {
	s := l.src
	t.kind = kind
	for {
		if kind == tokBits {
			i = bitsEnd(s, i)
		} else {
			i = stringEnd(s, i, kind == tokEscape)
		}
		if i < 0 {
			t.kind, t.end = tokBad, len(s)
			return
		}
		next := continuation(s, i)
		if next < 0 {
			t.end = i
			return
		}
		t.joined = true
		i = next
	}
}

// stringEnd returns the position after the closing quote of the string
// content at i, -1 if there is none.
func stringEnd(s string, i int, escapes bool) int {
	for i < len(s) {
		c := s[i]
		if c == '\'' {
			if i+1 < len(s) && s[i+1] == '\'' {
				i += 2
				continue
			}
			return i + 1
		}
		if c == '\\' && escapes {
			i++
		}
		i++
	}
	return -1
}

// bitsEnd is stringEnd for bit strings, in which a doubled quote means nothing.
func bitsEnd(s string, i int) int {
	j := strings.IndexByte(s[i:], '\'')
	if j < 0 {
		return -1
	}
	return i + j + 1
}

// continuation returns where the content goes on when the string that ended
// before i continues: white space with at least one line end and another quote.
// The grammar in use does not allow comments there, as PostgreSQL's does.
func continuation(s string, i int) int {
	newline := false
	for i < len(s) {
		switch c := s[i]; {
		case c == '\n' || c == '\r':
			newline = true
			i++
		case class[c]&clsSpace != 0:
			i++
		case c == '\'' && newline:
			return i + 1
		default:
			return -1
		}
	}
	return -1
}

func (l *lexer) quotedName(t *token, i int) {
	s := l.src
	for {
		j := strings.IndexByte(s[i:], '"')
		if j < 0 {
			t.kind, t.end = tokBad, len(s)
			return
		}
		i += j + 1
		if i < len(s) && s[i] == '"' {
			i++
			continue
		}
		t.kind, t.end = tokQuoted, i
		return
	}
}

// dollar reads $1 or a dollar-quoted string.
func (l *lexer) dollar(t *token) {
	s, i := l.src, t.start+1
	if i < len(s) && class[s[i]]&clsDigit != 0 {
		for i < len(s) && class[s[i]]&clsDigit != 0 {
			i++
		}
		t.kind, t.end = tokParam, i
		return
	}
	j := i
	if j < len(s) && class[s[j]]&clsIdentStart != 0 {
		for j < len(s) && class[s[j]]&clsTag != 0 {
			j++
		}
	}
	if j >= len(s) || s[j] != '$' {
		t.kind, t.char, t.end = tokBad, '$', i
		return
	}
	tag := s[t.start : j+1]
	k := strings.Index(s[j+1:], tag)
	if k < 0 {
		t.kind, t.end = tokBad, len(s)
		return
	}
	t.kind, t.end = tokDollar, j+1+k+len(tag)
}

func (l *lexer) dot(t *token) {
	s, i := l.src, t.start
	if i+1 < len(s) {
		if s[i+1] == '.' {
			t.kind, t.end = tokDots, i+2
			return
		}
		if class[s[i+1]]&clsDigit != 0 {
			l.number(t)
			return
		}
	}
	t.kind, t.char, t.end = tokPunct, '.', i+1
}

func digits(s string, i int) int {
	for i < len(s) && class[s[i]]&clsDigit != 0 {
		i++
	}
	return i
}

// group reads digits with single underscores between them.
func group(s string, i int) (end int, underscores bool) {
	end = digits(s, i)
	for end > i && end+1 < len(s) && s[end] == '_' && class[s[end+1]]&clsDigit != 0 {
		end = digits(s, end+1)
		underscores = true
	}
	return end, underscores
}

// number reads an integer or numeric constant. Digit groups with underscores
// and the prefixes 0x, 0o, 0b are tokRadix.
func (l *lexer) number(t *token) {
	s, i := l.src, t.start
	t.kind = tokInt
	if s[i] == '0' && i+1 < len(s) {
		switch s[i+1] | 0x20 {
		case 'x', 'o', 'b':
			l.radix(t)
			return
		}
	}
	i, u1 := group(s, i)
	u2, u3 := false, false
	if i < len(s) && s[i] == '.' && !(i+1 < len(s) && s[i+1] == '.') {
		t.kind = tokNumeric
		i, u2 = group(s, i+1)
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		var k int
		if k, u3 = group(s, j); k > j {
			t.kind = tokNumeric
			i = k
		}
	}
	t.end = i
	if u1 || u2 || u3 {
		t.kind = tokRadix
	}
	if i < len(s) && class[s[i]]&clsIdentStart != 0 {
		l.radix(t)
		t.kind = tokBad
	}
}

// radix reads the rest of an unusual number: everything that may belong to it.
func (l *lexer) radix(t *token) {
	s, i := l.src, t.start
	for i < len(s) && class[s[i]]&clsIdent != 0 {
		i++
	}
	t.kind, t.end = tokRadix, max(i, t.end)
}

// operator reads operator characters as PostgreSQL does: a comment start ends
// the operator, and a trailing + or - belongs to it only after one of ~!@#^&|`?%.
func (l *lexer) operator(t *token) {
	s, i := l.src, t.start
	j, special := i, false
	for j < len(s) && class[s[j]]&clsOp != 0 {
		c := s[j]
		if j > i && j+1 < len(s) && (c == '-' && s[j+1] == '-' || c == '/' && s[j+1] == '*') {
			break
		}
		switch c {
		case '~', '!', '@', '#', '^', '&', '|', '`', '?', '%':
			special = true
		}
		j++
	}
	if !special {
		for j > i+1 && (s[j-1] == '+' || s[j-1] == '-') {
			j--
		}
	}
	t.kind, t.end = tokOperator, j
	if j == i+1 {
		t.char = s[i]
	}
}
