package functions

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"tsdb/sql/pgerr"
)

// regexFlags are the options of one regular expression.
type regexFlags struct {
	fold    bool // i
	newline bool // n, m: . and [^ do not match a newline, ^ and $ match at lines
	partial bool // p: the former only
	weird   bool // w: the latter only
	literal bool // q
	expand  bool // x
	global  bool // g, for functions that replace
}

func errRegex(what string) error {
	return pgerr.New(pgerr.InvalidRegularExpression, "invalid regular expression: %s", what)
}

// parseRegexFlags reads the option letters of regexp_replace and kin.
func parseRegexFlags(s []byte, f *regexFlags) error {
	for _, c := range s {
		switch c {
		case 'g':
			f.global = true
		case 'i':
			f.fold = true
		case 'c':
			f.fold = false
		case 'n', 'm':
			f.newline = true
		case 'p':
			f.partial = true
		case 'w':
			f.weird = true
		case 's':
			f.newline, f.partial, f.weird = false, false, false
		case 'q':
			f.literal = true
		case 'x':
			f.expand = true
		case 't':
			f.expand = false
		case 'e':
		default:
			return pgerr.New(pgerr.InvalidParameterValue, "invalid regular expression option: \"%c\"", c)
		}
	}
	return nil
}

// compileRegex translates PostgreSQL's advanced regular expressions to those of
// package regexp. What the latter cannot do (back-references, look-around, word
// starts and ends) is refused.
func compileRegex(pattern []byte, f regexFlags) (*regexp.Regexp, error) {
	t := translator{in: string(pattern), f: f}
	if err := t.prefix(); err != nil {
		return nil, err
	}
	if t.f.literal {
		t.out.WriteString(regexp.QuoteMeta(t.in))
	} else if err := t.run(); err != nil {
		return nil, err
	}
	flags := ""
	if t.f.fold {
		flags += "i"
	}
	if !t.f.newline && !t.f.partial {
		flags += "s"
	}
	if t.f.newline || t.f.weird {
		flags += "m"
	}
	expr := t.out.String()
	if flags != "" {
		expr = "(?" + flags + ")" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, regexError(err)
	}
	if !t.lazy {
		re.Longest()
	}
	return re, nil
}

func regexError(err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return errRegex(err.Error())
	}
	switch e.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return errRegex("parentheses () not balanced")
	case syntax.ErrMissingBracket:
		return errRegex("brackets [] not balanced")
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		return errRegex("quantifier operand invalid")
	case syntax.ErrInvalidRepeatSize:
		return errRegex("invalid repetition count(s)")
	case syntax.ErrInvalidCharRange:
		return errRegex("invalid character range")
	case syntax.ErrInvalidEscape, syntax.ErrTrailingBackslash:
		return errRegex("invalid escape \\ sequence")
	case syntax.ErrLarge, syntax.ErrNestingDepth:
		return errRegex("regular expression is too complex")
	}
	return errRegex(string(e.Code))
}

type translator struct {
	in   string
	out  strings.Builder
	f    regexFlags
	lazy bool
}

// prefix reads directors (***:, ***=) and embedded options, (?i) and kin.
func (t *translator) prefix() error {
	switch {
	case strings.HasPrefix(t.in, "***="):
		t.in, t.f.literal = t.in[4:], true
		return nil
	case strings.HasPrefix(t.in, "***:"):
		t.in = t.in[4:]
	case strings.HasPrefix(t.in, "***"):
		return errRegex("quantifier operand invalid")
	}
	if t.f.literal || !strings.HasPrefix(t.in, "(?") {
		return nil
	}
	end := 2
	for end < len(t.in) && 'a' <= t.in[end] && t.in[end] <= 'z' {
		end++
	}
	if end == 2 || end == len(t.in) || t.in[end] != ')' {
		return nil
	}
	if err := parseRegexFlags([]byte(t.in[2:end]), &t.f); err != nil {
		return errRegex("invalid embedded option")
	}
	t.in = t.in[end+1:]
	return nil
}

func (t *translator) run() error {
	for len(t.in) > 0 {
		c := t.in[0]
		var err error
		switch {
		case c == '\\':
			err = t.escape(false)
		case c == '[':
			err = t.bracket()
		case strings.HasPrefix(t.in, "(?"):
			err = t.group()
		case t.f.expand && strings.IndexByte(" \t\n\r\v\f", c) >= 0:
			t.in = t.in[1:]
		case t.f.expand && c == '#':
			if k := strings.IndexByte(t.in, '\n'); k >= 0 {
				t.in = t.in[k:]
			} else {
				t.in = ""
			}
		default:
			err = t.plain(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *translator) plain(c byte) error {
	if strings.IndexByte("*+?}", c) >= 0 && len(t.in) > 1 && t.in[1] == '?' {
		t.lazy = true
	}
	_, w := utf8.DecodeRuneInString(t.in)
	t.out.WriteString(t.in[:w])
	t.in = t.in[w:]
	return nil
}

func (t *translator) group() error {
	for _, la := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(t.in, la) {
			return pgerr.Unsupported("look-around in a regular expression")
		}
	}
	switch {
	case strings.HasPrefix(t.in, "(?:"):
		t.out.WriteString("(?:")
		t.in = t.in[3:]
	case strings.HasPrefix(t.in, "(?#"):
		k := strings.IndexByte(t.in, ')')
		if k < 0 {
			return errRegex("parentheses () not balanced")
		}
		t.in = t.in[k+1:]
	default:
		return errRegex("quantifier operand invalid")
	}
	return nil
}

// Character classes, as they stand inside brackets.
const (
	classWord  = `\p{L}\p{N}_`
	classSpace = `\t-\r \x{85}\p{Z}`
)

// escape translates what follows a backslash; inside says within brackets.
func (t *translator) escape(inside bool) error {
	if len(t.in) < 2 {
		return errRegex("invalid escape \\ sequence")
	}
	c := t.in[1]
	rest := t.in[2:]
	class := func(in, out string, negated bool) error {
		t.in = rest
		switch {
		case !inside && negated:
			t.out.WriteString("[^" + in + "]")
		case !inside:
			t.out.WriteString("[" + in + "]")
		case negated && out == "":
			return errRegex("invalid escape \\ sequence")
		case negated:
			t.out.WriteString(out)
		default:
			t.out.WriteString(in)
		}
		return nil
	}
	switch c {
	case 'd':
		return class("0-9", "", false)
	case 'D':
		return class("0-9", `\D`, true)
	case 'w':
		return class(classWord, "", false)
	case 'W':
		return class(classWord, "", true)
	case 's':
		return class(classSpace, "", false)
	case 'S':
		return class(classSpace, "", true)
	}
	if !inside {
		if done, err := t.constraint(c, rest); done || err != nil {
			return err
		}
	}
	return t.character(c, rest)
}

// constraint translates escapes that match at a place, and refuses what cannot be.
func (t *translator) constraint(c byte, rest string) (bool, error) {
	anchor := map[byte]string{'A': `\A`, 'Z': `\z`, 'y': `\b`, 'Y': `\B`}[c]
	switch {
	case anchor != "":
		t.out.WriteString(anchor)
		t.in = rest
		return true, nil
	case c == 'm' || c == 'M':
		return true, pgerr.Unsupported("\\%c in a regular expression", c)
	case '1' <= c && c <= '9':
		return true, pgerr.Unsupported("a back-reference in a regular expression")
	}
	return false, nil
}

// character translates escapes that stand for one character.
func (t *translator) character(c byte, rest string) error {
	simple := map[byte]rune{'a': 7, 'b': 8, 'B': '\\', 'e': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11, '0': 0}
	if r, ok := simple[c]; ok {
		t.emit(r)
		t.in = rest
		return nil
	}
	digits := map[byte]int{'u': 4, 'U': 8, 'x': len(rest)}[c]
	if digits > 0 {
		k := 0
		var r rune
		for k < len(rest) && k < digits && hexValue(rest[k]) >= 0 && r <= utf8.MaxRune {
			r = r<<4 | rune(hexValue(rest[k]))
			k++
		}
		if k == 0 || c != 'x' && k != digits || r > utf8.MaxRune {
			return errRegex("invalid escape \\ sequence")
		}
		t.emit(r)
		t.in = rest[k:]
		return nil
	}
	if c == 'c' && len(rest) > 0 {
		t.emit(rune(rest[0] & 31))
		t.in = rest[1:]
		return nil
	}
	if c < utf8.RuneSelf && ('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9') {
		return errRegex("invalid escape \\ sequence")
	}
	r, w := utf8.DecodeRuneInString(t.in[1:])
	t.emit(r)
	t.in = t.in[1+w:]
	return nil
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// emit writes a character so that it stands for itself inside and outside brackets.
func (t *translator) emit(r rune) { fmt.Fprintf(&t.out, `\x{%x}`, r) }

var regexClasses = map[string]string{
	"alpha": `\p{L}`, "digit": "0-9", "alnum": `\p{L}\p{N}`, "upper": `\p{Lu}`, "lower": `\p{Ll}`,
	"space": classSpace, "blank": `\t `, "punct": "!-/:-@\\[-`{-~\\p{P}", "xdigit": "0-9A-Fa-f",
	"cntrl": `\x00-\x1f\x7f`, "print": `\x20-\x7e\x{a0}-\x{10ffff}`, "graph": `\x21-\x7e\x{a1}-\x{10ffff}`, "word": classWord,
}

// bracket translates a bracket expression.
func (t *translator) bracket() error {
	if strings.HasPrefix(t.in, "[[:<:]]") || strings.HasPrefix(t.in, "[[:>:]]") {
		return pgerr.Unsupported("%s in a regular expression", t.in[:7])
	}
	t.out.WriteByte('[')
	t.in = t.in[1:]
	if strings.HasPrefix(t.in, "^") {
		t.out.WriteByte('^')
		t.in = t.in[1:]
		if t.f.newline || t.f.partial {
			t.out.WriteString(`\n`)
		}
	}
	for first := true; len(t.in) > 0; first = false {
		c := t.in[0]
		switch {
		case c == ']' && !first:
			t.out.WriteByte(']')
			t.in = t.in[1:]
			return nil
		case c == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case strings.HasPrefix(t.in, "[:"), strings.HasPrefix(t.in, "[."), strings.HasPrefix(t.in, "[="):
			if err := t.named(t.in[1:2]); err != nil {
				return err
			}
		case c == '-':
			t.dash(first)
		default:
			r, w := utf8.DecodeRuneInString(t.in)
			t.emit(r)
			t.in = t.in[w:]
		}
	}
	return errRegex("brackets [] not balanced")
}

// dash writes a range sign, or the character where it starts or ends the list.
func (t *translator) dash(first bool) {
	if first || strings.HasPrefix(t.in, "-]") {
		t.emit('-')
	} else {
		t.out.WriteByte('-')
	}
	t.in = t.in[1:]
}

// named translates [:class:], [.element.] and [=class=].
func (t *translator) named(kind string) error {
	end := strings.Index(t.in[2:], kind+"]")
	if end < 0 {
		return errRegex("brackets [] not balanced")
	}
	name := t.in[2 : 2+end]
	t.in = t.in[end+4:]
	if kind == ":" {
		class, ok := regexClasses[name]
		if !ok {
			return errRegex("invalid character class")
		}
		t.out.WriteString(class)
		return nil
	}
	if utf8.RuneCountInString(name) != 1 {
		return errRegex("invalid collating element")
	}
	r, _ := utf8.DecodeRuneInString(name)
	t.emit(r)
	return nil
}
