package sql

import (
	"errors"
	"strings"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"tsdb/sql/pgerr"
)

// treeDepth bounds the nesting of the grammar's tree when it is decoded. The
// guard admits maxDepth units of two messages; the rest is reserve. Higher
// values cost Go stack only.
const treeDepth = 10 * maxDepth

const space = " \t\n\r\f\v"

// Parse splits and parses a query string. An empty or comment-only string
// gives no statements.
//
// Errors: *pgerr.Error with position and hint: 42601, 54001, 22021, 0A000, 22023, 22025.
func Parse(query string) ([]*Statement, error) {
	out, _, err := parse(query)
	return out, err
}

// parse is Parse; size is the length of the encoded tree.
func parse(query string) (out []*Statement, size int, err error) {
	if err := checkEncoding(query); err != nil {
		return nil, 0, err
	}
	sc := scannerPool.Get().(*scanner)
	defer scannerPool.Put(sc)
	if err := sc.scan(query); err != nil {
		return nil, 0, err
	}
	if sc.tokens == 0 {
		return nil, 0, nil
	}
	text := sc.reduced()
	tree, size, err := parseTree(text)
	if err != nil {
		var pe *parser.Error
		if errors.As(err, &pe) {
			err = earlier(grammarError(text, pe, sc), sc.params.err(query))
		}
		return nil, 0, err
	}
	if err := sc.params.err(query); err != nil {
		return nil, 0, err
	}
	if sc.rivals {
		if err := rivalAlias(query, tree); err != nil {
			return nil, 0, err
		}
	}
	sc.relocate(tree)
	out = make([]*Statement, 0, len(tree.Stmts))
	for _, raw := range tree.Stmts {
		out = append(out, newStatement(query, raw, sc))
	}
	return out, size, nil
}

// earlier returns the error that stands first in the text.
func earlier(a, b *pgerr.Error) *pgerr.Error {
	if b != nil && a.Position > b.Position {
		return b
	}
	return a
}

func newStatement(query string, raw *pg_query.RawStmt, sc *scanner) *Statement {
	from, to := int(raw.StmtLocation), len(query)
	if raw.StmtLen > 0 {
		to = from + int(raw.StmtLen)
	}
	text := query[from:to]
	trimmed := strings.TrimLeft(text, space)
	st := &Statement{
		Text:   strings.TrimRight(trimmed, space),
		Offset: from + len(text) - len(trimmed),
		Query:  query,
		Node:   raw.Stmt,
	}
	if b := sc.bulkWithin(from, to); b != nil {
		st.Bulk = b
		st.Normalized, st.NumParams = normalize(query[from:b.firstEnd] + query[b.end:to])
	} else {
		st.Normalized, st.NumParams = normalize(st.Text)
	}
	return st
}

// parseTree runs the grammar over guarded text.
func parseTree(text string) (*pg_query.ParseResult, int, error) {
	buf, err := parser.ParseToProtobuf(text)
	if err != nil {
		return nil, 0, err
	}
	tree := &pg_query.ParseResult{}
	if err := (proto.UnmarshalOptions{RecursionLimit: treeDepth}).Unmarshal(buf, tree); err != nil {
		return nil, 0, depthError().WithCause(err)
	}
	return tree, len(buf), nil
}

// checkEncoding refuses text that is not UTF-8 or holds NUL.
func checkEncoding(query string) error {
	valid := utf8.ValidString(query)
	nul := strings.IndexByte(query, 0)
	if valid && nul < 0 {
		return nil
	}
	for i := 0; i < len(query); {
		if query[i] < utf8.RuneSelf && query[i] != 0 {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(query[i:])
		if query[i] == 0 || r == utf8.RuneError && n == 1 {
			return encodingError(query[i:])
		}
		i += n
	}
	return nil
}

// encodingError words the bad sequence at the start of s as PostgreSQL does:
// as many bytes as the first one announces, as far as they are there.
func encodingError(s string) *pgerr.Error {
	n := 1
	switch c := s[0]; {
	case c >= 0xc0 && c < 0xe0:
		n = 2
	case c >= 0xe0 && c < 0xf0:
		n = 3
	case c >= 0xf0 && c < 0xf8:
		n = 4
	}
	const hex = "0123456789abcdef"
	var b strings.Builder
	for i := 0; i < min(n, len(s)); i++ {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("0x")
		b.WriteByte(hex[s[i]>>4])
		b.WriteByte(hex[s[i]&15])
	}
	return pgerr.New(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", b.String())
}

// Position turns a byte offset of the grammar into the 1-based character
// position that the wire reports; 0 for a negative location.
func (s *Statement) Position(location int32) int { return position(s.Query, int(location)) }

func position(query string, offset int) int {
	if offset < 0 || offset > len(query) {
		return 0
	}
	return utf8.RuneCountInString(query[:offset]) + 1
}

// relocate makes the locations of a tree that was parsed from the reduced text
// byte offsets into the query.
func (sc *scanner) relocate(tree *pg_query.ParseResult) {
	if len(sc.bulks) == 0 {
		return
	}
	for _, raw := range tree.Stmts {
		from, to := int(raw.StmtLocation), int(raw.StmtLocation+raw.StmtLen)
		raw.StmtLocation = int32(sc.original(from))
		if raw.StmtLen > 0 {
			raw.StmtLen = int32(sc.original(to)) - raw.StmtLocation
		}
		if raw.Stmt != nil {
			sc.relocateMessage(raw.Stmt.ProtoReflect())
		}
	}
}

func (sc *scanner) relocateMessage(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsList() && fd.Message() != nil:
			for l, i := v.List(), 0; i < l.Len(); i++ {
				sc.relocateMessage(l.Get(i).Message())
			}
		case fd.IsMap() || fd.IsList():
		case fd.Message() != nil:
			sc.relocateMessage(v.Message())
		case fd.Kind() == protoreflect.Int32Kind && strings.HasSuffix(string(fd.Name()), "location"):
			if at := int(v.Int()); at > 0 {
				m.Set(fd, protoreflect.ValueOfInt32(int32(sc.original(at))))
			}
		}
		return true
	})
}
