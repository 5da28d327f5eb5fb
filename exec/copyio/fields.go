package copyio

import (
	"bytes"

	"tsdb/sql/pgerr"
)

// splitEscaped takes the first field of a text line that has backslashes.
func (r *delimitedReader) splitEscaped(rest []byte) (f field, after []byte, more bool) {
	out := r.buf[:0]
	i, end := 0, len(rest)
	for i < len(rest) {
		c := rest[i]
		if c == r.o.Delimiter {
			end, more = i, true
			i++
			break
		}
		i++
		if c == '\\' {
			if i >= len(rest) {
				end = i - 1 // a backslash at the end of a line is dropped
				break
			}
			c = rest[i]
			i++
			switch c {
			case '0', '1', '2', '3', '4', '5', '6', '7':
				c, i = octal(rest, c-'0', i)
				f.decoded = f.decoded || c == 0 || c >= 0x80
			case 'x':
				if v, n := hexByte(rest[i:]); n > 0 {
					c, i = v, i+n
					f.decoded = f.decoded || c == 0 || c >= 0x80
				}
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'v':
				c = '\v'
			}
		}
		out = append(out, c)
	}
	r.buf, f.content = out, out
	f.null = bytes.Equal(rest[:end], r.null)
	return f, rest[i:], more
}

// octal reads up to two more octal digits at rest[i].
func octal(rest []byte, v byte, i int) (byte, int) {
	for n := 0; n < 2 && i < len(rest) && rest[i] >= '0' && rest[i] <= '7'; n++ {
		v = v<<3 + rest[i] - '0'
		i++
	}
	return v, i
}

// hexByte reads one or two hexadecimal digits.
func hexByte(b []byte) (v byte, n int) {
	for n < 2 && n < len(b) {
		c := b[n]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return v, n
		}
		v = v<<4 + c
		n++
	}
	return v, n
}

// countEscaped counts the fields of a text line that has backslashes.
func (r *delimitedReader) countEscaped() int {
	n := 1
	for i := 0; i < len(r.line); i++ {
		switch r.line[i] {
		case '\\':
			i++
		case r.o.Delimiter:
			n++
		}
	}
	return n
}

// splitQuoted takes the first field of a CSV line when it has quotes. count
// has seen that they are closed.
func (r *delimitedReader) splitQuoted(rest []byte) (f field, after []byte, more bool) {
	if rest[0] == r.o.Quote {
		if f, after, more, ok := r.wholeQuoted(rest); ok {
			return f, after, more
		}
	}
	out := r.buf[:0]
	i := 0
	inQuote := false
	for i < len(rest) {
		c := rest[i]
		i++
		switch {
		case !inQuote && c == r.o.Delimiter:
			r.buf = out
			return field{content: out}, rest[i:], true
		case !inQuote && c == r.o.Quote:
			inQuote = true
		case inQuote && c == r.o.Escape && i < len(rest) && (rest[i] == r.o.Escape || rest[i] == r.o.Quote):
			out = append(out, rest[i])
			i++
		case inQuote && c == r.o.Quote:
			inQuote = false
		default:
			out = append(out, c)
		}
	}
	r.buf = out
	return field{content: out}, nil, false
}

// wholeQuoted takes a field that is quoted as a whole and has no escapes: its
// content is part of the line.
func (r *delimitedReader) wholeQuoted(rest []byte) (f field, after []byte, more, ok bool) {
	n := bytes.IndexByte(rest[1:], r.o.Quote)
	if n < 0 {
		return f, nil, false, false
	}
	f.content, after = rest[1:n+1], rest[n+2:]
	if r.o.Escape != r.o.Quote && bytes.IndexByte(f.content, r.o.Escape) >= 0 {
		return f, nil, false, false
	}
	if len(after) == 0 {
		return f, nil, false, true
	}
	if after[0] != r.o.Delimiter {
		return f, nil, false, false
	}
	return f, after[1:], true, true
}

// skipField moves past a field that has no quotes or is quoted as a whole;
// simple is false, and nothing is skipped, for any other.
func (r *delimitedReader) skipField(rest []byte) (after []byte, more, simple bool) {
	if len(rest) > 0 && rest[0] == r.o.Quote {
		if _, after, more, ok := r.wholeQuoted(rest); ok {
			return after, more, true
		}
		return rest, false, false
	}
	n := bytes.IndexByte(rest, r.o.Delimiter)
	if n < 0 {
		return rest, false, bytes.IndexByte(rest, r.o.Quote) < 0
	}
	if bytes.IndexByte(rest[:n], r.o.Quote) >= 0 {
		return rest, false, false
	}
	return rest[n+1:], true, true
}

// countQuoted counts the fields of a CSV line that has quotes.
//
// Errors: 22P04 for a quote that is not closed.
func (r *delimitedReader) countQuoted() (int, error) {
	n, rest, simple := 1, r.line, true
	for simple {
		var more bool
		if rest, more, simple = r.skipField(rest); simple {
			if !more {
				return n, nil
			}
			n++
		}
	}
	inQuote := false
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case !inQuote && c == r.o.Delimiter:
			n++
		case !inQuote && c == r.o.Quote:
			inQuote = true
		case inQuote && c == r.o.Escape && i+1 < len(rest) && (rest[i+1] == r.o.Escape || rest[i+1] == r.o.Quote):
			i++
		case inQuote && c == r.o.Quote:
			inQuote = false
		}
	}
	if inQuote {
		return 0, pgerr.New(pgerr.BadCopyFileFormat, "unterminated CSV quoted field")
	}
	return n, nil
}
