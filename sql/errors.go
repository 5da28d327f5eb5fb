package sql

import (
	"strings"

	"github.com/pganalyze/pg_query_go/v6/parser"

	"tsdb/sql/pgerr"
)

// grammarRule maps the grammar's messages that start with prefix. The grammar
// hands over message and position only, so that SQLSTATE and hint are given
// here; a message in no rule is 42601.
type grammarRule struct {
	prefix string
	code   pgerr.Code
	hint   string
}

var grammarRules = []grammarRule{
	{"UNENCRYPTED PASSWORD is no longer supported", pgerr.FeatureNotSupported, "Remove UNENCRYPTED to store the password in encrypted form instead."},
	{"CREATE SCHEMA IF NOT EXISTS cannot", pgerr.FeatureNotSupported, ""},
	{"current database cannot be changed", pgerr.FeatureNotSupported, ""},
	{"column number must be in range", pgerr.InvalidParameterValue, ""},
	{"modulus for hash partition provided more than once", pgerr.DuplicateObject, ""},
	{"remainder for hash partition provided more than once", pgerr.DuplicateObject, ""},
	{"MATCH PARTIAL not yet implemented", pgerr.FeatureNotSupported, ""},
	{"a column list with ", pgerr.FeatureNotSupported, ""},
	{"CREATE EXTENSION ... FROM is no longer supported", pgerr.FeatureNotSupported, ""},
	{"unrecognized row security option", pgerr.SyntaxError, "Only PERMISSIVE or RESTRICTIVE policies are supported currently."},
	{"CREATE OR REPLACE CONSTRAINT TRIGGER is not supported", pgerr.FeatureNotSupported, ""},
	{"CREATE ASSERTION is not yet implemented", pgerr.FeatureNotSupported, ""},
	{"dropping an enum value is not implemented", pgerr.FeatureNotSupported, ""},
	{"RECHECK is no longer required", pgerr.FeatureNotSupported, "Update your data type."},
	{"aggregates cannot have output arguments", pgerr.FeatureNotSupported, ""},
	{"missing argument", pgerr.SyntaxError, "Use NONE to denote the missing argument of a unary operator."},
	{"WITH CHECK OPTION not supported on recursive views", pgerr.FeatureNotSupported, ""},
	{"LIMIT #,# syntax is not supported", pgerr.SyntaxError, "Use separate LIMIT and OFFSET clauses."},
	{"only string constants are supported in JSON_TABLE path", pgerr.FeatureNotSupported, ""},
	{"precision for type float", pgerr.InvalidParameterValue, ""},
	{"UNIQUE predicate is not yet implemented", pgerr.FeatureNotSupported, ""},
	{"frame start cannot be", pgerr.WindowingError, ""},
	{"frame end cannot be", pgerr.WindowingError, ""},
	{"frame starting from", pgerr.WindowingError, ""},
	{"unrecognized JSON encoding", pgerr.InvalidParameterValue, ""},
	{"role name ", pgerr.ReservedName, ""},
	{"SESSION_USER cannot be used as a role name", pgerr.ReservedName, ""},
	{"CURRENT_USER cannot be used as a role name", pgerr.ReservedName, ""},
	{"CURRENT_ROLE cannot be used as a role name", pgerr.ReservedName, ""},
	{"an ordered-set aggregate with a VARIADIC", pgerr.FeatureNotSupported, ""},
	{"unrecognized partitioning strategy", pgerr.InvalidParameterValue, ""},
	{"invalid byte sequence for encoding", pgerr.CharacterNotInRepertoire, ""},
	{"identifier too long", pgerr.NameTooLong, ""},
}

// suffixRules are messages that start with a name.
var suffixRules = []struct {
	suffix string
	code   pgerr.Code
}{
	{" constraints cannot be marked DEFERRABLE", pgerr.FeatureNotSupported},
	{" constraints cannot be marked NOT VALID", pgerr.FeatureNotSupported},
	{" constraints cannot be marked NO INHERIT", pgerr.FeatureNotSupported},
}

// grammarError turns the grammar's error over text (the reduced query) into
// what the user sees.
func grammarError(text string, pe *parser.Error, sc *scanner) *pgerr.Error {
	e := pgerr.New(pgerr.SyntaxError, "%s", pe.Message)
	offset := characterOffset(text, pe.Cursorpos-1)
	if pe.Cursorpos > 0 {
		e.At(position(sc.src, sc.original(offset)))
	}
	for _, r := range grammarRules {
		if strings.HasPrefix(pe.Message, r.prefix) {
			e.Code, e.Hint = r.code, r.hint
			return e
		}
	}
	for _, r := range suffixRules {
		if strings.HasSuffix(pe.Message, r.suffix) {
			e.Code = r.code
			return e
		}
	}
	switch {
	case pe.Message == "invalid Unicode escape" && pe.Funcname == "str_udeescape":
		e.Hint = `Unicode escapes must be \XXXX or \+XXXXXX.`
	case pe.Message == "invalid Unicode escape":
		e.Code = pgerr.InvalidEscapeSequence
		e.Hint = `Unicode escapes must be \uXXXX or \UXXXXXXXX.`
	case strings.HasPrefix(pe.Message, "syntax error"):
		e.Hint = rivalHint(text, offset)
	}
	return e
}

// characterOffset returns the byte offset of the n-th character.
func characterOffset(text string, n int) int {
	for i := range text {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(text)
}
