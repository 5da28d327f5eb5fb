package sql

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"tsdb/sql/pgerr"
)

// misplacedParam finds the places where the grammar in use takes $n and
// PostgreSQL does not: after a type name (interval $1), as a setting's value,
// as a password, as the field of extract. It sees tokens, not the tree, so
// that only statements with parameters pay for it.
type misplacedParam struct {
	stmt   string // first word of the statement, lower case
	p1, p2 token
	at     token // the first misplaced parameter; tokEOF: none
	junk   bool  // it is not misplaced, but a name begins right after it
}

// beforeParam are the words after which an expression can begin with $n.
var beforeParam = map[string]bool{
	"all": true, "and": true, "any": true, "asymmetric": true, "between": true, "both": true, "by": true, "case": true,
	"default": true, "distinct": true, "else": true, "escape": true, "first": true, "for": true, "from": true,
	"groups": true, "having": true, "ilike": true, "in": true, "leading": true, "like": true, "limit": true,
	"next": true, "not": true, "offset": true, "on": true, "or": true, "passing": true, "path": true, "placing": true,
	"range": true, "return": true, "returning": true, "rows": true, "select": true, "similar": true, "symmetric": true,
	"then": true, "trailing": true, "using": true, "value": true, "variadic": true, "when": true, "where": true, "zone": true,
	"some": true, "as": true, "only": true, "content": true, "document": true,
}

func (m *misplacedParam) token(src string, t token, top, first bool) {
	if first {
		m.stmt = ""
		if t.kind == tokWord {
			m.stmt = strings.ToLower(src[t.start:t.end])
		}
	}
	if m.at.kind == tokEOF {
		switch {
		case t.kind == tokParam && m.misplaced(src, top):
			m.at = t
		case t.kind == tokWord && m.p1.kind == tokParam && m.p1.end == t.start:
			_, n := utf8.DecodeRuneInString(src[t.start:])
			m.at, m.junk = token{kind: tokParam, start: m.p1.start, end: t.start + n}, true
		}
	}
	m.p2, m.p1 = m.p1, t
}

func (m *misplacedParam) misplaced(src string, top bool) bool {
	if m.stmt == "set" {
		return true
	}
	switch m.p1.kind {
	case tokQuoted:
		return true
	case tokWord:
		w := strings.ToLower(src[m.p1.start:m.p1.end])
		if w == "to" {
			return m.p2.word != kwSimilar
		}
		return !beforeParam[w]
	case tokOperator:
		return m.stmt == "alter" && top && m.p1.char == '='
	case tokPunct:
		switch m.p1.char {
		case ')':
			return m.p2.kind != tokOperator // the end of OPERATOR(+) is no operand
		case '(':
			return m.p2.kind == tokWord && strings.EqualFold(src[m.p2.start:m.p2.end], "extract")
		}
	}
	return false
}

// err is the syntax error that PostgreSQL gives, nil if there is none.
func (m *misplacedParam) err(query string) *pgerr.Error {
	if m.at.kind == tokEOF {
		return nil
	}
	what := "syntax error"
	if m.junk {
		what = "trailing junk after parameter"
	}
	return pgerr.New(pgerr.SyntaxError, "%s at or near \"%s\"", what, query[m.at.start:m.at.end]).
		At(position(query, m.at.start))
}

// FirstParam returns the number of the first $n in the statement and its
// position in the query; zeros if there is none.
func (s *Statement) FirstParam() (number, at int) {
	l := lexer{src: s.Query, pos: s.Offset}
	for end := s.Offset + len(s.Text); ; {
		t := l.next()
		if t.kind == tokEOF || t.start >= end {
			return 0, 0
		}
		if t.kind == tokParam {
			n, err := strconv.Atoi(s.Query[t.start+1 : t.end])
			if err != nil {
				return 0, 0 // out of range: the grammar has refused it
			}
			return n, position(s.Query, t.start)
		}
	}
}
