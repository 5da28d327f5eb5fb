package copyio

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"tsdb/sql/pgerr"
)

// maxShown is the number of bytes of a value or line that an error's context
// shows.
const maxShown = 100

// shown cuts s as PostgreSQL does, at a character.
func shown(s string) string {
	if len(s) <= maxShown {
		return s
	}
	n := maxShown
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// where adds the context of an error; text is added in double quotes.
func where(err error, table string, line int64, column string, text []byte, quoted bool) error {
	e := pgerr.From(err)
	if e.Where != "" {
		return e
	}
	w := fmt.Sprintf("COPY %s, line %d", table, line)
	if column != "" {
		w += ", column " + column
	}
	if quoted {
		w += ": \"" + shown(string(text)) + "\""
	}
	e.Where = w
	return e
}

// badBytes is the error of text that is not UTF-8 or holds NUL, nil if b is
// good.
func badBytes(b []byte) *pgerr.Error {
	for i := 0; i < len(b); {
		if c := b[i]; c < utf8.RuneSelf && c != 0 {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if b[i] == 0 || r == utf8.RuneError && n == 1 {
			return invalidBytes(b[i:])
		}
		i += n
	}
	return nil
}

// invalidBytes shows as many bytes as the first one announces.
func invalidBytes(b []byte) *pgerr.Error {
	n := 1
	switch c := b[0]; {
	case c >= 0xf0 && c < 0xf8:
		n = 4
	case c >= 0xe0 && c < 0xf0:
		n = 3
	case c >= 0xc0 && c < 0xe0:
		n = 2
	}
	var w strings.Builder
	for _, c := range b[:min(n, len(b))] {
		fmt.Fprintf(&w, " 0x%02x", c)
	}
	return pgerr.New(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\":%s", w.String())
}
