package sql

import (
	"errors"
	"strings"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
	"google.golang.org/protobuf/proto"

	"tsdb/sql/pgerr"
)

// treeDepth bounds the nesting of the grammar's tree when it is decoded. The
// guard admits maxDepth levels; each is several messages deep. Higher values
// cost nothing but Go stack.
const treeDepth = 100_000

// Parse splits and parses a query string. An empty or comment-only string
// gives no statements.
//
// Errors: *pgerr.Error with position and hint: 42601, 54001, 22021, 0A000, 22023, 22025.
func Parse(query string) ([]*Statement, error) {
	if err := checkEncoding(query); err != nil {
		return nil, err
	}
	tree, err := parseTree(query)
	if err != nil {
		return nil, err
	}
	out := make([]*Statement, 0, len(tree.Stmts))
	for _, raw := range tree.Stmts {
		out = append(out, newStatement(query, raw))
	}
	return out, nil
}

func newStatement(query string, raw *pg_query.RawStmt) *Statement {
	from := int(raw.StmtLocation)
	to := len(query)
	if raw.StmtLen > 0 {
		to = from + int(raw.StmtLen)
	}
	text := query[from:to]
	trimmed := strings.TrimLeft(text, " \t\n\r\f\v")
	return &Statement{
		Text:       strings.TrimRight(trimmed, " \t\n\r\f\v"),
		Offset:     from + len(text) - len(trimmed),
		Query:      query,
		Node:       raw.Stmt,
		Normalized: trimmed,
	}
}

// parseTree runs the grammar over guarded text.
func parseTree(query string) (*pg_query.ParseResult, error) {
	buf, err := parser.ParseToProtobuf(query)
	if err != nil {
		var pe *parser.Error
		if errors.As(err, &pe) {
			return nil, grammarError(query, pe)
		}
		return nil, err
	}
	tree := &pg_query.ParseResult{}
	if err := (proto.UnmarshalOptions{RecursionLimit: treeDepth}).Unmarshal(buf, tree); err != nil {
		return nil, pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded").WithCause(err)
	}
	return tree, nil
}

func grammarError(query string, pe *parser.Error) *pgerr.Error {
	return pgerr.New(pgerr.SyntaxError, "%s", pe.Message).At(pe.Cursorpos)
}

// checkEncoding refuses text that is not UTF-8 or holds NUL.
func checkEncoding(query string) error {
	if utf8.ValidString(query) && strings.IndexByte(query, 0) < 0 {
		return nil
	}
	return pgerr.New(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
}

// Position turns a byte offset of the grammar into the 1-based character
// position that the wire reports; 0 for a negative location.
func (s *Statement) Position(location int32) int {
	if location < 0 || int(location) > len(s.Query) {
		return 0
	}
	return utf8.RuneCountInString(s.Query[:location]) + 1
}
