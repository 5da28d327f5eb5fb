package functions

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A template is the second argument of to_char, to_date, to_timestamp and
// to_number: patterns with modifiers, and text between them.

// templateKind tells the parts of a template apart.
type templateKind uint8

const (
	templatePattern   templateKind = iota
	templateText                   // a character that stands for itself
	templateSpace                  // a blank of a time template
	templateSeparator              // punctuation of a time template
)

// templatePart is a pattern, or one character.
type templatePart struct {
	kind    templateKind
	name    string // of a pattern, as written
	id      string // of a pattern, in upper case
	text    []byte
	fill    bool // FM: no padding
	locale  bool // TM
	th      bool // ordinal suffix
	upperTH bool
}

// grammar is what patterns a template knows, longest first where one begins another.
type grammar struct {
	names []string
	time  bool // it has the modifiers FM, TM, TH and SP, and tells separators from text
}

var timeGrammar = newGrammar(true,
	"A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "CC", "DAY", "Day", "day", "DDD", "DD", "DY", "Dy", "dy", "D", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6",
	"FX", "HH24", "HH12", "HH", "IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I", "J", "MI", "MM", "MONTH", "Month", "month", "MON", "Mon", "mon", "MS", "OF",
	"P.M.", "PM", "Q", "RM", "SSSSS", "SSSS", "SS", "TZH", "TZM", "TZ", "US", "WW", "W", "Y,YYY", "YYYY", "YYY", "YY", "Y")

var numberGrammar = newGrammar(false, ",", ".", "0", "9", "B", "C", "D", "EEEE", "FM", "G", "L", "MI", "PL", "PR", "RN", "SG", "SP", "S", "TH", "V")

func newGrammar(isTime bool, names ...string) *grammar {
	g := &grammar{time: isTime}
	for _, n := range names {
		for _, form := range []string{n, string(bytes.ToLower([]byte(n)))} {
			if !slices.Contains(g.names, form) {
				g.names = append(g.names, form)
			}
		}
	}
	slices.SortStableFunc(g.names, func(a, b string) int { return len(b) - len(a) })
	return g
}

func (g *grammar) match(s []byte) string {
	for _, n := range g.names {
		if len(n) <= len(s) && string(s[:len(n)]) == n {
			return n
		}
	}
	return ""
}

func isSeparator(c byte) bool {
	return c > 0x20 && c < 0x7f && !(c >= '0' && c <= '9') && !(lowerASCII(c) >= 'a' && lowerASCII(c) <= 'z')
}

func prefixFold(s []byte, upper, lower string) bool {
	return bytes.HasPrefix(s, []byte(upper)) || bytes.HasPrefix(s, []byte(lower))
}

// parse splits a template.
func (g *grammar) parse(s []byte) []templatePart {
	s = bytes.Clone(s)
	var parts []templatePart
	for len(s) > 0 {
		p := templatePart{}
		if g.time && prefixFold(s, "FM", "fm") {
			p.fill, s = true, s[2:]
		} else if g.time && prefixFold(s, "TM", "tm") {
			p.locale, s = true, s[2:]
		}
		if len(s) == 0 {
			break
		}
		if name := g.match(s); name != "" {
			p.name, p.id, s = name, string(bytes.ToUpper([]byte(name))), s[len(name):]
			if g.time {
				s = p.suffix(s)
			}
			parts = append(parts, p)
			continue
		}
		parts, s = g.text(parts, s)
	}
	return parts
}

// suffix takes TH and SP off the start of s.
func (p *templatePart) suffix(s []byte) []byte {
	switch {
	case prefixFold(s, "TH", "th"):
		p.th, p.upperTH = true, s[0] == 'T'
		return s[2:]
	case prefixFold(s, "SP", "sp"):
		return s[2:]
	}
	return s
}

// text takes one character, or a quoted string, off the start of s.
func (g *grammar) text(parts []templatePart, s []byte) ([]templatePart, []byte) {
	if s[0] != '"' {
		if s[0] == '\\' && len(s) > 1 && s[1] == '"' {
			s = s[1:]
		}
		w := runeOffset(s, 1)
		p := templatePart{kind: templateText, text: s[:w]}
		if g.time && isSeparator(s[0]) {
			p.kind = templateSeparator
		} else if g.time && identSpace(s[0]) {
			p.kind = templateSpace
		}
		return append(parts, p), s[w:]
	}
	for s = s[1:]; len(s) > 0; {
		if s[0] == '"' {
			return parts, s[1:]
		}
		if s[0] == '\\' && len(s) > 1 {
			s = s[1:]
		}
		_, w := utf8.DecodeRune(s)
		parts = append(parts, templatePart{kind: templateText, text: s[:w]})
		s = s[w:]
	}
	return parts, s
}

// templateCache keeps the last template of a kernel call: they are mostly constant.
type templateCache struct {
	text  []byte
	parts []templatePart
	num   numberShape
	known bool
}

func (c *templateCache) get(g *grammar, text []byte) ([]templatePart, error) {
	if c.known && bytes.Equal(c.text, text) {
		return c.parts, nil
	}
	c.known = false
	c.parts = g.parse(text)
	c.text = append(c.text[:0], text...)
	if !g.time {
		c.num = numberShape{}
		for i := range c.parts {
			if c.parts[i].kind == templatePattern {
				if err := c.num.add(c.parts[i].id); err != nil {
					return nil, err
				}
			}
		}
	}
	c.known = true
	return c.parts, nil
}

// ordinal is the English suffix of a number by its last digits.
func ordinal(digits []byte, upper bool) string {
	n := len(digits)
	last := byte('0')
	if n > 0 {
		last = digits[n-1]
	}
	if n > 1 && digits[n-2] == '1' {
		last = '0'
	}
	s := "TH"
	switch last {
	case '1':
		s = "ST"
	case '2':
		s = "ND"
	case '3':
		s = "RD"
	}
	if !upper {
		s = string([]byte{s[0] + 32, s[1] + 32})
	}
	return s
}
