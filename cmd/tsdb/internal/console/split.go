package console

import "strings"

// Splitter cuts a stream of text into statements at semicolons outside of
// quotes, comments and dollar quotes. The zero value is ready.
type Splitter struct {
	buf     strings.Builder
	state   splitState
	depth   int    // of nested comments
	escapes bool   // the quoted string is E'': a backslash hides the next character
	tag     string // of the dollar quote: $tag$
	text    bool   // something but white space and comments was seen
	prev    byte   // last byte of plain text, for E'' and identifiers with $
}

type splitState uint8

const (
	plain splitState = iota
	quoted
	identifier
	lineComment
	blockComment
	dollar
)

// Pending reports whether a statement has begun and not ended.
func (s *Splitter) Pending() bool { return s.text || s.state != plain }

// Rest returns the text after the last semicolon and forgets it.
func (s *Splitter) Rest() string {
	out := strings.TrimSpace(s.buf.String())
	if !s.text {
		out = ""
	}
	*s = Splitter{}
	return out
}

// Feed reads text, whole lines at a time, and calls f with each statement that
// ends in it, without the semicolon. f returns how much of the text after its
// statement it has consumed itself (the data of a COPY).
func (s *Splitter) Feed(text string, f func(stmt, after string) (consumed int)) {
	for i := 0; i < len(text); {
		n, done := s.scan(text[i:])
		if !done {
			s.buf.WriteString(text[i : i+n])
			i += n
			continue
		}
		i += n
		if stmt := s.Rest(); stmt != "" {
			i += f(stmt, text[i:])
		}
	}
}

// scan moves over one token and returns its length; done is true at a semicolon that ends a statement.
func (s *Splitter) scan(t string) (n int, done bool) {
	switch s.state {
	case plain:
		return s.scanPlain(t)
	case quoted:
		return s.scanQuoted(t), false
	case identifier:
		return s.until(t, `"`), false
	case lineComment:
		return s.until(t, "\n"), false
	case dollar:
		return s.until(t, s.tag), false
	}
	return s.scanComment(t), false
}

// until moves behind end, or to the end of the text, and back to plain text.
func (s *Splitter) until(t, end string) int {
	i := strings.Index(t, end)
	if i < 0 {
		return len(t)
	}
	s.state = plain
	return i + len(end)
}

func (s *Splitter) scanPlain(t string) (n int, done bool) {
	c := t[0]
	switch {
	case c == ';':
		return 1, true
	case c == '\'':
		s.state, s.escapes = quoted, s.prev == 'E' || s.prev == 'e'
	case c == '"':
		s.state = identifier
	case strings.HasPrefix(t, "--"):
		s.state = lineComment
		return 2, false
	case strings.HasPrefix(t, "/*"):
		s.state = blockComment
		s.depth = 1
		return 2, false
	case c == '$' && !wordByte(s.prev):
		if tag := dollarTag(t); tag != "" {
			s.state, s.tag, s.text, s.prev = dollar, tag, true, 0
			return len(tag), false
		}
	}
	if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
		s.text = true
	}
	s.prev = c
	return 1, false
}

func (s *Splitter) scanQuoted(t string) int {
	for i := 0; i < len(t); i++ {
		switch {
		case t[i] == '\\' && s.escapes:
			i++
		case t[i] == '\'':
			s.state, s.prev = plain, '\''
			return i + 1
		}
	}
	return len(t)
}

func (s *Splitter) scanComment(t string) int {
	switch {
	case strings.HasPrefix(t, "*/"):
		s.depth--
		if s.depth == 0 {
			s.state = plain
		}
		return 2
	case strings.HasPrefix(t, "/*"):
		s.depth++
		return 2
	}
	return 1
}

// dollarTag returns the opening tag of a dollar quote at the start of t, empty if there is none.
func dollarTag(t string) string {
	for i := 1; i < len(t); i++ {
		switch c := t[i]; {
		case c == '$':
			return t[:i+1]
		case !wordByte(c) || (i == 1 && c >= '0' && c <= '9'):
			return ""
		}
	}
	return ""
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
