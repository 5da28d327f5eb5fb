package sql

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"tsdb/sql/pgerr"
)

// Hints that name our spelling of what other time-series databases write.
const (
	hintASOF       = "Write an as-of join as: [LEFT] JOIN q ON q.k = t.k AND asof(t.ts >= q.ts)."
	hintSemi       = "Write a semi-join as WHERE EXISTS (SELECT ...) and an anti-join as WHERE NOT EXISTS (SELECT ...)."
	hintPositional = "Join on row_number() OVER (ORDER BY ...) to pair rows by position."
	hintSplice     = "Write a splice join as two as-of joins, one from each side: JOIN q ON asof(t.ts >= q.ts)."
	hintFinal      = "Tables need no FINAL: a row key holds one row. Use AS or double quotes to name a table alias \"final\"."
	hintSampleBy   = "Use time_bucket('1 hour', ts) with GROUP BY, or time_bucket_gapfill to fill gaps."
	hintSample     = "Use TABLESAMPLE SYSTEM (percentage). For buckets of time use time_bucket('1 hour', ts) with GROUP BY."
	hintLatest     = "Use SELECT DISTINCT ON (key) ... ORDER BY key, ts DESC for the latest row of each key."
	hintQualify    = "Put the window function into a subquery and filter it with WHERE outside."
	hintGroupAll   = "List the expressions of GROUP BY, or their positions: GROUP BY 1, 2."
	hintExclude    = "List the columns to return; SELECT * has no EXCLUDE."
	hintNulls      = "Use FILTER (WHERE x IS NOT NULL) to leave NULLs out, or locf(x) to carry the last value forward."
	hintFill       = "Use time_bucket_gapfill in GROUP BY with locf(v) or interpolate(v)."
)

// joinAliases are the words that other databases put before JOIN and that the
// grammar would take for a table's alias.
func joinAlias(w string) string {
	switch strings.ToLower(w) {
	case "asof":
		return hintASOF
	case "semi", "anti":
		return hintSemi
	case "positional":
		return hintPositional
	case "splice":
		return hintSplice
	}
	return ""
}

// tableAlias returns the hint for words that other databases put after a table.
func tableAlias(w string) string {
	switch strings.ToLower(w) {
	case "final":
		return hintFinal
	case "sample":
		return hintSample
	case "latest":
		return hintLatest
	}
	return ""
}

func isRival(w string) bool {
	switch len(w) {
	case 4, 5, 6, 10:
		switch w[0] | 0x20 {
		case 'a', 's', 'p', 'f', 'l':
			return joinAlias(w) != "" || tableAlias(w) != ""
		}
	}
	return false
}

// rivalAlias refuses bare aliases in a parsed query that another database
// would read as syntax. AS or quotes make them plain aliases.
func rivalAlias(query string, tree *pg_query.ParseResult) error {
	if err := rivalBeforeJoin(query); err != nil {
		return err
	}
	for _, raw := range tree.Stmts {
		if raw.Stmt != nil {
			if err := rivalAfterTable(query, raw.Stmt.ProtoReflect()); err != nil {
				return err
			}
		}
	}
	return nil
}

func rivalError(query string, t token, hint string) error {
	e := pgerr.New(pgerr.SyntaxError, "syntax error at or near \"%s\"", query[t.start:t.end])
	e.Hint = hint
	return e.At(position(query, t.start))
}

// rivalBeforeJoin looks for `table asof JOIN`. What follows FROM, JOIN or a
// comma is the name of a table.
func rivalBeforeJoin(query string) error {
	l := lexer{src: query}
	var prev, word token
	hint := ""
	for {
		t := l.next()
		if t.kind == tokEOF {
			return nil
		}
		if hint != "" && startsJoin(query, t) {
			return rivalError(query, word, hint)
		}
		hint = ""
		if t.kind == tokWord && t.word == kwNone && endsTable(prev) {
			hint, word = joinAlias(query[t.start:t.end]), t
		}
		prev = t
	}
}

func endsTable(t token) bool {
	switch t.kind {
	case tokWord:
		return t.word == kwNone
	case tokQuoted:
		return true
	case tokPunct:
		return t.char == ')'
	case tokOperator:
		return t.char == '*'
	}
	return false
}

func startsJoin(query string, t token) bool {
	if t.kind != tokWord {
		return false
	}
	if t.word == kwJoin {
		return true
	}
	switch strings.ToLower(query[t.start:t.end]) {
	case "left", "right", "full", "inner", "cross", "natural":
		return true
	}
	return false
}

// rivalAfterTable looks for tables whose alias is written bare as final,
// sample or latest.
func rivalAfterTable(query string, m protoreflect.Message) (err error) {
	if rv, ok := m.Interface().(*pg_query.RangeVar); ok {
		return rangeVarAlias(query, rv)
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() == nil || fd.IsMap():
		case fd.IsList():
			for l, i := v.List(), 0; i < l.Len() && err == nil; i++ {
				err = rivalAfterTable(query, l.Get(i).Message())
			}
		default:
			err = rivalAfterTable(query, v.Message())
		}
		return err == nil
	})
	return err
}

func rangeVarAlias(query string, rv *pg_query.RangeVar) error {
	if rv.Alias == nil || tableAlias(rv.Alias.Aliasname) == "" || rv.Location < 0 || int(rv.Location) >= len(query) {
		return nil
	}
	l := lexer{src: query, pos: int(rv.Location)}
	name := l.next()
	t := l.next()
	for t.kind == tokPunct && t.char == '.' || t.kind == tokOperator && t.char == '*' {
		if t.kind == tokPunct {
			name = l.next()
		}
		t = l.next()
	}
	if name.kind == tokEOF || t.kind != tokWord || t.word != kwNone {
		return nil
	}
	if hint := tableAlias(query[t.start:t.end]); hint != "" {
		return rivalError(query, t, hint)
	}
	return nil
}

// rivalHint looks at the words around a syntax error for another database's
// syntax and returns our spelling, empty if it recognises none.
func rivalHint(text string, offset int) string {
	l := lexer{src: text}
	var at, p1, p2, p3 token // the error's token and those before it
	for {
		at = l.next()
		if at.kind == tokEOF || at.start >= offset {
			break
		}
		p3, p2, p1 = p2, p1, at
	}
	word := func(t token) string {
		if t.kind != tokWord {
			return ""
		}
		return strings.ToLower(text[t.start:t.end])
	}
	w, w1, w2, w3 := word(at), word(p1), word(p2), word(p3)
	for _, x := range []string{w, w1, w2} {
		if h := joinAlias(x); h != "" {
			return h
		}
	}
	switch {
	case w1 == "sample" || w == "sample" || w2 == "sample" && w1 == "by":
		return hintSampleBy
	case w1 == "latest" || w == "latest" || w2 == "latest" && (w1 == "on" || w1 == "by"):
		return hintLatest
	case w == "qualify" || w1 == "qualify":
		return hintQualify
	case w == "all" && w1 == "by" && w2 == "group", w1 == "all" && w2 == "by" && w3 == "group":
		return hintGroupAll
	case w == "exclude" || w1 == "exclude" || w1 == "except" && p2.char == '*' || p1.char == '(' && w2 == "except" && p3.char == '*':
		return hintExclude
	case w == "nulls" && (w1 == "ignore" || w1 == "respect"), w == "ignore" || w == "respect":
		return hintNulls
	case w == "fill" || w1 == "fill":
		return hintFill
	case w == "final" || w1 == "final":
		return hintFinal
	}
	return hintNone(w, w1)
}

// hintNone is for our own traps: OPTIONS of a column after its constraints.
func hintNone(w, w1 string) string {
	if w == "options" || w1 == "options" {
		return "Column OPTIONS (...) stand right after the type, before NOT NULL and DEFAULT; or use tsdb_catalog.alter_column(...)."
	}
	return ""
}
