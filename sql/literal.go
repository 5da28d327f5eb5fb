package sql

// literalKind classes the plain literals of bulk VALUES.
type literalKind uint8

const (
	litNull literalKind = iota
	litTrue
	litFalse
	litInt
	litNumeric
	litString
)

// literal is one value of bulk VALUES. start is where the grammar would locate
// it: at the sign or the opening quote.
type literal struct {
	kind     literalKind
	neg      bool // a minus sign
	plus     bool // a plus sign
	doubled  bool // litString: has '' for '
	escape   bool // litString: E'...' with backslashes
	start    int
	from, to int // content: digits without sign, string without quotes
}

// scanLiteral reads a plain literal at s[i] and returns the position after it,
// -1 if there is none: anything else is for the grammar.
func scanLiteral(s string, i int, lit *literal) int {
	if i >= len(s) {
		return -1
	}
	lit.start, lit.neg, lit.plus = i, false, false
	c := s[i]
	switch {
	case c == '\'':
		return scanString(s, i+1, lit)
	case class[c]&clsDigit != 0 || c == '.':
		return scanNumber(s, i, lit)
	case c == '-' || c == '+':
		lit.neg, lit.plus = c == '-', c == '+'
		i++
		for i < len(s) && s[i] == ' ' {
			i++
		}
		if i < len(s) && (class[s[i]]&clsDigit != 0 || s[i] == '.') {
			return scanNumber(s, i, lit)
		}
		return -1
	case c|0x20 == 'e' && i+1 < len(s) && s[i+1] == '\'':
		return scanEscaped(s, i+2, lit)
	case c|0x20 == 'n':
		lit.kind = litNull
		return scanWord(s, i, "null")
	case c|0x20 == 't':
		lit.kind = litTrue
		return scanWord(s, i, "true")
	case c|0x20 == 'f':
		lit.kind = litFalse
		return scanWord(s, i, "false")
	}
	return -1
}

func scanWord(s string, i int, word string) int {
	if len(s)-i < len(word) {
		return -1
	}
	for j := 1; j < len(word); j++ {
		if s[i+j]|0x20 != word[j] {
			return -1
		}
	}
	return i + len(word)
}

func scanString(s string, i int, lit *literal) int {
	lit.kind, lit.doubled, lit.escape, lit.from = litString, false, false, i
	for i < len(s) {
		if s[i] != '\'' {
			i++
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			lit.doubled = true
			i += 2
			continue
		}
		lit.to = i
		return i + 1
	}
	return -1
}

// scanEscaped reads the content of E'...'. Only one-letter escapes are plain.
func scanEscaped(s string, i int, lit *literal) int {
	lit.kind, lit.doubled, lit.escape, lit.from = litString, false, true, i
	for i < len(s) {
		switch s[i] {
		case '\\':
			if i+1 >= len(s) || !simpleEscape(s[i+1]) {
				return -1
			}
			i += 2
		case '\'':
			if i+1 >= len(s) || s[i+1] != '\'' {
				lit.to = i
				return i + 1
			}
			lit.doubled = true
			i += 2
		default:
			i++
		}
	}
	return -1
}

// simpleEscape reports whether \c stands for one character that is not given
// by number.
func simpleEscape(c byte) bool {
	return c < 0x80 && c != 'x' && c != 'u' && c != 'U' && !(c >= '0' && c <= '7')
}

func scanNumber(s string, i int, lit *literal) int {
	lit.kind, lit.from = litInt, i
	j := digits(s, i)
	n := j - i
	if j < len(s) && s[j] == '.' {
		lit.kind = litNumeric
		k := digits(s, j+1)
		n += k - j - 1
		j = k
	}
	if n == 0 {
		return -1
	}
	if j < len(s) && s[j]|0x20 == 'e' {
		k := j + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		end := digits(s, k)
		if end == k {
			return -1
		}
		lit.kind = litNumeric
		j = end
	}
	lit.to = j
	return j
}

// appendContent appends the value of a string literal.
func (lit *literal) appendContent(dst []byte, s string) []byte {
	if !lit.doubled && !lit.escape {
		return append(dst, s[lit.from:lit.to]...)
	}
	for i := lit.from; i < lit.to; i++ {
		c := s[i]
		if c == '\'' {
			i++
		} else if c == '\\' && lit.escape {
			i++
			c = unescape(s[i])
		}
		dst = append(dst, c)
	}
	return dst
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'v':
		return '\v'
	}
	return c
}
