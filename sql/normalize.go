package sql

import "strconv"

// normalize returns text with each literal replaced by a placeholder of its
// class, keywords and unquoted names in lower case and one space between
// tokens, and the highest $n. Two statements with equal normalised text differ
// in literals, comments, spacing and case only.
//
// The classes are ?i an integer of int4, ?l one of int8, ?n numeric, ?s a
// string, ?b a bit string. Sign and typed literals stay visible.
func normalize(text string) (string, int) {
	dst := make([]byte, 0, len(text)+len(text)/4)
	l := lexer{src: text}
	params := 0
	for {
		t := l.next()
		if t.kind == tokEOF {
			return string(dst), params
		}
		if len(dst) > 0 {
			dst = append(dst, ' ')
		}
		raw := text[t.start:t.end]
		switch t.kind {
		case tokInt:
			dst = append(dst, intClass(raw)...)
		case tokNumeric:
			dst = append(dst, "?n"...)
		case tokRadix:
			dst = append(dst, raw...)
		case tokString, tokEscape, tokUnicode, tokDollar:
			dst = append(dst, "?s"...)
		case tokBits:
			dst = append(dst, "?b"...)
		case tokWord:
			for i := 0; i < len(raw); i++ {
				c := raw[i]
				if c >= 'A' && c <= 'Z' {
					c |= 0x20
				}
				dst = append(dst, c)
			}
		case tokParam:
			if n, err := strconv.Atoi(raw[1:]); err == nil {
				params = max(params, n)
			}
			dst = append(dst, raw...)
		default:
			dst = append(dst, raw...)
		}
	}
}

func intClass(digits string) string {
	if len(digits) < 10 {
		return "?i"
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil:
		return "?n"
	case n <= 1<<31-1:
		return "?i"
	}
	return "?l"
}
