package session

import (
	"bytes"
	"unicode/utf8"

	"tsdb/sql/pgerr"
)

// validText checks that a text value is UTF-8 without NUL.
func validText(b []byte) error {
	if bytes.IndexByte(b, 0) >= 0 {
		return pgerr.New(pgerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": 0x00`)
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return invalidSequence(b[i:])
		}
		i += n
	}
	return nil
}

// invalidSequence names the bytes that PostgreSQL names: as many as the first one announces.
func invalidSequence(b []byte) error {
	n := 1
	switch {
	case b[0] >= 0xF0 && b[0] < 0xF8:
		n = 4
	case b[0] >= 0xE0:
		n = 3
	case b[0] >= 0xC0:
		n = 2
	}
	e := pgerr.New(pgerr.CharacterNotInRepertoire, "")
	text := []byte(`invalid byte sequence for encoding "UTF8":`)
	const hex = "0123456789abcdef"
	for _, c := range b[:min(n, len(b))] {
		text = append(text, ' ', '0', 'x', hex[c>>4], hex[c&15])
	}
	e.Message = string(text)
	return e
}
