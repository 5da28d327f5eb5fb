package types

// tokenKind classes the pieces of date, time and interval input.
type tokenKind uint8

const (
	tokNumber  tokenKind = iota // digits, maybe with one point
	tokDate                     // pieces joined by - / . or a zone's name
	tokTime                     // digits with colons
	tokZone                     // a sign, then digits
	tokWord                     // letters
	tokSpecial                  // a sign, then letters
)

type token struct {
	kind tokenKind
	text []byte // in lower case, in tokens.buf
}

// Limits of date and interval input, PostgreSQL's own.
const (
	maxTokens  = 25
	maxDateLen = 128
)

// dateError is why input was refused.
type dateError uint8

const (
	dateOK        dateError = iota
	badFormat               // 22007
	fieldOverflow           // 22008
	mdOverflow              // 22008 with a hint at DateStyle
	zoneOverflow            // 22009
	unknownZone             // 22023
)

type tokens struct {
	list [maxTokens]token
	n    int
	buf  [maxDateLen + maxTokens]byte
	used int
	s    []byte // what remains
}

func (t *tokens) peek() byte {
	if len(t.s) == 0 {
		return 0
	}
	return t.s[0]
}

// take moves one character to the current token.
func (t *tokens) take() {
	if t.used < len(t.buf) {
		t.buf[t.used] = lowerByte(t.s[0])
	}
	t.used++
	t.s = t.s[1:]
}

func (t *tokens) digits() {
	for isDigit(t.peek()) {
		t.take()
	}
}

// takeWhile moves letters, digits and the characters of extra.
func (t *tokens) takeWhile(letters bool, extra string) {
	for len(t.s) > 0 {
		c := t.s[0]
		ok := isDigit(c) || letters && (isAlpha(c) || c >= 0x80)
		for i := 0; !ok && i < len(extra); i++ {
			ok = c == extra[i]
		}
		if !ok {
			return
		}
		t.take()
	}
}

func isPunct(c byte) bool { return c > ' ' && c < 0x7f && !isDigit(c) && !isAlpha(c) }

// split breaks s into tokens.
func (t *tokens) split(s []byte) dateError {
	t.s, t.n, t.used = s, 0, 0
	for len(t.s) > 0 {
		c := t.s[0]
		if isSpace(c) {
			t.s = t.s[1:]
			continue
		}
		if t.n == maxTokens {
			return badFormat
		}
		start := t.used
		var kind tokenKind
		switch {
		case isDigit(c):
			kind = t.number()
		case c == '.':
			t.take()
			t.digits()
			kind = tokNumber
		case isAlpha(c):
			kind = t.word(start)
		case c == '+' || c == '-':
			t.take()
			for len(t.s) > 0 && isSpace(t.s[0]) {
				t.s = t.s[1:]
			}
			switch {
			case isDigit(t.peek()):
				t.takeWhile(false, ":.-")
				kind = tokZone
			case isAlpha(t.peek()):
				for isAlpha(t.peek()) {
					t.take()
				}
				kind = tokSpecial
			default:
				return badFormat
			}
		case isPunct(c):
			t.s = t.s[1:]
			continue
		default:
			return badFormat
		}
		if t.used > len(t.buf) {
			return badFormat
		}
		t.list[t.n] = token{kind, t.buf[start:t.used:t.used]}
		t.n++
	}
	return dateOK
}

// number reads a token that starts with a digit.
func (t *tokens) number() tokenKind {
	t.digits()
	switch c := t.peek(); c {
	case ':':
		t.takeWhile(false, ":.")
		return tokTime
	case '-', '/', '.':
		t.take()
		if !isDigit(t.peek()) {
			t.takeWhile(true, string(c))
			return tokDate
		}
		kind := tokDate
		if c == '.' {
			kind = tokNumber
		}
		t.digits()
		if t.peek() == c {
			t.takeWhile(false, string(c))
			kind = tokDate
		}
		return kind
	}
	return tokNumber
}

// word reads a token that starts with a letter: a word, a date such as
// Jan-1-2000, or a zone's name such as Etc/GMT+5.
func (t *tokens) word(start int) tokenKind {
	for isAlpha(t.peek()) {
		t.take()
	}
	c := t.peek()
	joined := c == '-' || c == '/' || c == '.'
	if !joined && (c == '+' || isDigit(c)) && t.used <= len(t.buf) {
		_, known := dateWords[string(cutWord(t.buf[start:t.used]))]
		joined = !known
	}
	if !joined {
		return tokWord
	}
	t.takeWhile(true, "+-/_.:")
	return tokDate
}

// atoi reads leading digits (after an optional sign) of s; over is true beyond
// 32 bits.
func atoi(s []byte) (n int, rest []byte, over bool) {
	i, neg := 0, false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		i = 1
	}
	start := i
	for i < len(s) && isDigit(s[i]) {
		if n = n*10 + int(s[i]-'0'); n > 1<<40 {
			n = 1 << 40
		}
		i++
	}
	if i == start {
		return 0, s, false
	}
	if neg {
		n = -n
	}
	return n, s[i:], n > 1<<31-1 || n < -1<<31
}
