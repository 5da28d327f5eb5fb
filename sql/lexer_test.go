package sql

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

func TestLexer(t *testing.T) {
	for _, c := range []struct {
		src  string
		want string // tokens between bars
	}{
		{"select a.b::int", "select|a|.|b|::|int"},
		{"a/* x /* y */ z */b--c\nd", "a|b|d"},
		{`'it''s' E'a\'b' e'\\' U&'\0041' U&"x" "a""b"`, `'it''s'|E'a\'b'|e'\\'|U&'\0041'|U&"x"|"a""b"`},
		{"'a'\n 'b' 'c' 'd' -- x\n'e' E'f'\n'\\'g'", "'a'\n 'b'|'c'|'d'|'e'|E'f'\n'\\'g'"},
		{"$$a$$ $x$ $$ $x$ $1 $12", "$$a$$|$x$ $$ $x$|$1|$12"},
		{"b'01' X'ff' N'x'", "b'01'|X'ff'|N|'x'"},
		{"1 1.5 .5 1. 1e5 1.5E-3 1..2 0x1F 1_000", "1|1.5|.5|1.|1e5|1.5E-3|1|..|2|0x1F|1_000"},
		{"a->>'b' a-- c\n -1 +-1 <>-1 @-1 ~-- x", "a|->>|'b'|a|-|1|+|-|1|<>|-|1|@-|1|~"},
		{"a:=1 b=>2 c:d[1:2]", "a|:=|1|b|=>|2|c|:|d|[|1|:|2|]"},
		{"a$1 é名 _x", "a$1|é名|_x"},
	} {
		var got []string
		l := lexer{src: c.src}
		for {
			tok := l.next()
			if tok.kind == tokEOF {
				break
			}
			if tok.kind == tokBad {
				t.Errorf("%q: bad token at %d", c.src, tok.start)
			}
			got = append(got, c.src[tok.start:tok.end])
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.src, s, c.want)
		}
	}
}

// sameTokens compares the lexer with the grammar's scanner, which refuses some
// texts; what it accepts must fall into the same tokens.
func sameTokens(t *testing.T, src string) {
	t.Helper()
	res, err := pg_query.Scan(src)
	if err != nil {
		return
	}
	l := lexer{src: src}
	for _, want := range res.Tokens {
		if want.Token == pg_query.Token_SQL_COMMENT || want.Token == pg_query.Token_C_COMMENT {
			continue
		}
		got := l.next()
		if got.start != int(want.Start) || got.end != int(want.End) {
			t.Fatalf("%q: token %d:%d, the grammar has %d:%d (%v)", src, got.start, got.end, want.Start, want.End, want.Token)
		}
	}
	if got := l.next(); got.kind != tokEOF {
		t.Fatalf("%q: token %d:%d after the grammar's last", src, got.start, got.end)
	}
}

func TestLexerEqualsGrammar(t *testing.T) {
	pieces := []string{"'", "''", "\\", "\"", "$$", "$a$", "$", "--", "/*", "*/", "-", "+", "*", "/", "@", "<", ">", "=", ":", ".", "..", "1", "0", "e", "E", "x",
		"U&", "b'", "N'", " ", "\n", "\r", "\t", "a", "_", "é", "(", ")", "[", "]", ",", ";", "?", "|", "~", "!", "#", "%", "^", "&", "`", "12", "1.", ".5", "1e", "0x"}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 2))
	t.Logf("seed %d", seed)
	for range 30_000 {
		var b strings.Builder
		for n := 1 + rng.IntN(12); n > 0; n-- {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		sameTokens(t, b.String())
	}
}

func FuzzLexer(f *testing.F) {
	for _, s := range []string{dashboard, "'a'\n'b'", "$a$ $b$ $a$", "/* /* */ */ 1", `E'\'' U&"a" uescape '!'`, "1..2 .5e-1 0b1", "@-- x\n-+*/", bulkText(40), "a[1:2]:=:b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if !utf8.ValidString(src) || strings.IndexByte(src, 0) >= 0 || len(src) > 1<<16 {
			if _, err := Parse(src[:min(len(src), 1<<16)]); err == nil && (!utf8.ValidString(src) || strings.IndexByte(src, 0) >= 0) && len(src) <= 1<<16 {
				t.Fatal("bad encoding accepted")
			}
			return
		}
		sameTokens(t, src)
		sc := scannerPool.Get().(*scanner)
		defer scannerPool.Put(sc)
		if sc.scan(src) == nil && len(sc.frames) > maxDepth+1 {
			t.Fatalf("%d open brackets", len(sc.frames))
		}
		sts, err := Parse(src)
		if err != nil {
			return
		}
		for _, st := range sts {
			if src[st.Offset:st.Offset+len(st.Text)] != st.Text {
				t.Fatalf("offset %d", st.Offset)
			}
			if b := st.Bulk; b != nil {
				cols := make([]types.Type, b.Columns())
				for i := range cols {
					cols[i] = []types.Type{types.T(types.Text), types.T(types.Int4), types.T(types.Float8), types.T(types.Numeric)}[i%4]
				}
				b.Read(cols, &types.Context{}, func(*vector.Batch) error { return nil })
			}
		}
	})
}
