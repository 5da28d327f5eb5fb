package functions

import (
	"bytes"

	"tsdb/sql/pgerr"
)

// numberReader collects the digits of a text by a number template.
type numberReader struct {
	numberShape
	s                 []byte // the text
	at                int
	digits            []byte // sign, a blank for none, digits and point
	readPre, readPost int
	pointRead         bool
}

func (r *numberReader) done() bool { return r.at >= len(r.s) }

func (r *numberReader) peek(k int) byte {
	if r.at+k < len(r.s) {
		return r.s[r.at+k]
	}
	return 0
}

// read returns the number as text.
func (r *numberReader) read(parts []templatePart) ([]byte, error) {
	for _, what := range []struct {
		is   bool
		name string
	}{{r.science, "EEEE"}, {r.roman, "RN"}} {
		if what.is {
			return nil, pgerr.New(pgerr.FeatureNotSupported, "\"%s\" not supported for input", what.name)
		}
	}
	r.digits = append(r.digits, ' ')
	for i := range parts {
		if r.done() {
			break
		}
		p := &parts[i]
		if p.kind != templatePattern {
			r.at += runeOffset(r.s[r.at:], 1)
			continue
		}
		switch p.id {
		case "9", "0", ".", "D":
			r.position(p.id)
		case ",", "G":
			if p.id == "," && r.fill && r.readPre+r.readPost == 0 || r.s[r.at] != ',' {
				continue
			}
		case "L", "MI", "PL", "SG":
			r.skip(1)
			continue
		case "TH":
			r.skip(2)
			continue
		default:
			continue
		}
		r.at++
	}
	return bytes.TrimSuffix(r.digits, []byte(".")), nil
}

// skip drops up to n characters that cannot belong to a number.
func (r *numberReader) skip(n int) {
	for ; n > 0 && !r.done() && bytes.IndexByte([]byte("0123456789.,+-"), r.s[r.at]) < 0; n-- {
		r.at += runeOffset(r.s[r.at:], 1)
	}
}

// position reads what may stand at a digit or the point: a sign before it, the digit, a sign behind it.
func (r *numberReader) position(id string) {
	if r.peek(0) == ' ' {
		r.at++
	}
	unsigned := r.digits[0] == ' '
	if !r.done() && unsigned && (id == "0" || id == "9") && r.readPre+r.readPost == 0 {
		r.leadingSign()
	}
	if r.done() {
		return
	}
	read := false
	switch c := r.s[r.at]; {
	case c >= '0' && c <= '9':
		if r.pointRead && r.readPost == r.post {
			return
		}
		r.digits = append(r.digits, c)
		if r.pointRead {
			r.readPost++
		} else {
			r.readPre++
		}
		read = true
	case r.decimal && !r.pointRead && c == '.':
		r.digits = append(r.digits, '.')
		r.pointRead, read = true, true
	}
	if r.digits[0] != ' ' || r.readPre+r.readPost == 0 {
		return
	}
	next := r.peek(1)
	switch {
	case r.sign != signNowhere && read && next != 0 && !(next >= '0' && next <= '9'):
		if next == '-' || next == '+' {
			r.digits[0] = next
			r.at++
		}
	case !read && r.sign == signNowhere && (r.plus || r.minus):
		if c := r.s[r.at]; c == '-' || c == '+' {
			r.digits[0] = c
		}
	}
}

func (r *numberReader) leadingSign() {
	c := r.s[r.at]
	switch {
	case r.sign == signAfter:
		return
	case c == '-', r.bracket && c == '<':
		r.digits[0] = '-'
	case c == '+':
		r.digits[0] = '+'
	default:
		return
	}
	r.at++
}
